/**
 * Where arrays stand: constants at the top of the program or in a buffer, shared and local arrays in the kernel, and the
 * pointers through which the code names them.
 */
import type { ArraySym, Kernel } from '../../ir/ops.ts';
import { ELEM_SIZE } from '../../ir/ops.ts';
import { arrayName, elementName, type Gen, paramName, spaceName, storedName } from './code.ts';
import type { OpenCLTarget } from './module.ts';

export interface Arrays {
  /** Constant arrays that come in a buffer. */
  readonly far: ReadonlySet<ArraySym>;
  readonly farBytes: Uint8Array | undefined;
  /** Definitions of the others, at the top. */
  readonly constants: readonly string[];
  readonly dynamic: boolean;
  readonly staticSharedBytes: number;
  /** Threads of a block at most, where shared arrays have room for so many. */
  readonly threads: number | undefined;
  /** Declarations of pointers, and of arrays, in the kernel. */
  pointers(g: Gen): string[];
  owned(g: Gen): string[];
}

/** Alignment of shared arrays and of constants in their buffer. */
const ALIGN = 16;

export function declareArrays(kernel: Kernel, target: OpenCLTarget): Arrays {
  const { near, far } = placeConstants(kernel, target);
  const shared = kernel.arrays.filter((a) => a.space === 'shared');
  const fixed = shared.filter((a) => !a.dynamic);
  return {
    far: new Set(far.keys()),
    farBytes: far.size > 0 ? join(far) : undefined,
    constants: near.map((a) => constantText(a, target)),
    dynamic: fixed.length < shared.length,
    staticSharedBytes: fixed.reduce((sum, a) => sum + align(bytesOf(a)), 0),
    threads: shared.some((a) => a.name === '%lanes') ? 1024 : undefined,
    pointers: (g) => kernel.arrays.flatMap((a) => pointerTo(g, a, far.get(a))),
    owned: (g) => kernel.arrays.flatMap((a) => ownedText(g, a)),
  };
}

function align(n: number): number {
  return Math.ceil(n / ALIGN) * ALIGN;
}

function bytesOf(array: ArraySym): number {
  return Math.max(array.length ?? 0, 1) * ELEM_SIZE[array.elem];
}

/** `far`: with their offsets in the buffer. */
function placeConstants(
  kernel: Kernel,
  { maxConstantBytes }: OpenCLTarget,
): { readonly near: readonly ArraySym[]; readonly far: ReadonlyMap<ArraySym, number> } {
  const near: ArraySym[] = [];
  const far = new Map<ArraySym, number>();
  let [used, end] = [0, 0];
  for (const array of kernel.arrays) {
    if (array.space !== 'constant') continue;
    const size = align(array.data?.length ?? 0);
    if (used + size <= maxConstantBytes) {
      used += size;
      near.push(array);
    } else {
      far.set(array, end);
      end += size;
    }
  }
  return { near, far };
}

function join(far: ReadonlyMap<ArraySym, number>): Uint8Array {
  const end = Math.max(...[...far].map(([a, at]) => at + align(a.data?.length ?? 0)));
  const bytes = new Uint8Array(end);
  for (const [array, at] of far) bytes.set(array.data ?? new Uint8Array(), at);
  return bytes;
}

/** The bytes as words of the element's size. */
function constantText(array: ArraySym, { dialect }: OpenCLTarget): string {
  const data = array.data ?? new Uint8Array();
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const size = ELEM_SIZE[array.elem];
  const words: string[] = [];
  for (let at = 0; at + size <= data.length; at += size) words.push(word(view, at, size));
  if (words.length === 0) words.push('0');
  const type = { 1: 'uchar', 2: 'ushort', 4: 'uint', 8: 'ulong' }[size] ?? 'uchar';
  const space = dialect === 'hip' ? '__device__ __constant__ const' : 'constant';
  return `${space} ${type} ${arrayName(array)}_bits[${words.length}] __attribute__((aligned(${ALIGN}))) = {${words.join(', ')}};`;
}

function word(view: DataView, at: number, size: number): string {
  switch (size) {
    case 1:
      return String(view.getUint8(at));
    case 2:
      return String(view.getUint16(at, true));
    case 4:
      return `0x${view.getUint32(at, true).toString(16)}u`;
    default:
      return `0x${view.getBigUint64(at, true).toString(16)}UL`;
  }
}

function pointerTo(g: Gen, array: ArraySym, farAt: number | undefined): string[] {
  const from = startOf(g, array, farAt);
  if (from === undefined) return [];
  const space = farAt === undefined ? array.space : 'global';
  const constant = array.space === 'constant' || (array.space === 'global' && g.constant.has(array.param ?? 0));
  const type = `${constant ? 'const ' : ''}${spaceName(g, space)}${elementName(g, array.elem)} *`;
  return [`${type}const ${arrayName(array)} = (${type})${from};`];
}

function startOf(g: Gen, array: ArraySym, farAt: number | undefined): string | undefined {
  switch (array.space) {
    case 'global': {
      const name = paramName(g, array.param ?? 0);
      return g.target.dialect === 'hip' || g.options.whole === true ? name : `(${name} + ${name}_offset)`;
    }
    case 'constant':
      return farAt === undefined ? `${arrayName(array)}_bits` : `(constants + ${farAt})`;
    case 'shared':
      return array.dynamic ? 'shared_memory' : undefined;
    case 'local':
      return undefined;
  }
}

function ownedText(g: Gen, array: ArraySym): string[] {
  const hip = g.target.dialect === 'hip';
  const declared = `${elementName(g, array.elem)} ${arrayName(array)}[${Math.max(array.length ?? 0, 1)}]`;
  if (array.space === 'local') {
    const aligned = array.align > 4 ? ` __attribute__((aligned(${array.align})))` : '';
    return [`${declared}${aligned};`];
  }
  if (array.space !== 'shared') return [];
  if (array.dynamic) return hip ? ['extern __shared__ uint4 shared_memory[];'] : [];
  return [`${hip ? '__shared__' : 'local'} ${declared} __attribute__((aligned(${ALIGN})));`];
}

/** The typedefs of elements. */
export function elementTypes(g: Gen): string[] {
  return [...g.elements].map((elem) => `typedef ${storedName(elem)} ${elem}_t __attribute__((may_alias));`);
}
