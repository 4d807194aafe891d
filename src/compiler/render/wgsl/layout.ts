/**
 * What a module binds, and where arrays and values stand: words of the uniform buffer, storage buffers, workgroup memory, memory of a thread's own.
 */
import { type ArraySym, ELEM_SIZE, type Kernel, type MemRef, type Stmt } from '../../ir/ops.ts';
import { eachStmt, written } from '../../ir/passes/walk.ts';
import { plainName } from '../names.ts';
import { isWide, type Lane, type Memory } from './code.ts';
import { arraysTogether } from './interleave.ts';
import type { WgslBinding, WgslOptions, WgslWord } from './module.ts';

export interface Layout {
  readonly memories: ReadonlyMap<ArraySym, Memory>;
  readonly values: ReadonlyMap<number, string>;
  readonly words: readonly WgslWord[];
  /** All but the one of prints. */
  readonly bindings: readonly WgslBinding[];
  readonly sharedBytes: number;
  /** The text of a word that is 0. */
  readonly zero: string;
  /** Declarations at the top of the entry point. */
  readonly starts: readonly string[];
  declarations(bindings: readonly WgslBinding[]): string[];
}

/** Alignment of shared arrays and of constants in their buffer. */
const ALIGN = 16;

function align(n: number): number {
  return Math.ceil(n / ALIGN) * ALIGN;
}

function bytesOf(array: ArraySym): number {
  return Math.max(array.length ?? 0, 1) * ELEM_SIZE[array.elem];
}

/** Which arrays are written, and which need atomic words: those of atomic operations, and those parts of whose words are stored while others look. */
interface Accesses {
  readonly written: ReadonlySet<ArraySym>;
  readonly atomic: ReadonlySet<ArraySym>;
}

function accessesOf({ body }: Kernel): Accesses {
  const [stored, atomic] = [new Set<ArraySym>(), new Set<ArraySym>()];
  eachStmt(body, (s: Stmt) => {
    const mem: MemRef | undefined = written(s) ?? (s.op === 'atomic' ? s.mem : undefined);
    if (mem === undefined) return;
    stored.add(mem.array);
    if (s.op === 'atomic' || (ELEM_SIZE[mem.elem] < 4 && mem.array.space !== 'local')) atomic.add(mem.array);
  });
  return { written: stored, atomic };
}

/** The words of the uniform buffer, in the order in which they are asked for. */
class Words {
  readonly list: WgslWord[] = [];
  #next = 0;

  /** The texts of the words of one. */
  take(word: WgslWord): readonly string[] {
    this.list.push(word);
    const count = word.kind === 'value' ? word.words : 1;
    return Array.from({ length: count }, () => {
      const at = this.#next++;
      return `words[${at >> 2}].${'xyzw'[at & 3]}`;
    });
  }

  get vectors(): number {
    return Math.max(1, Math.ceil(this.#next / 4));
  }
}

export function layOut(kernel: Kernel, options: WgslOptions, faults: boolean): Layout {
  const words = new Words();
  const starts: string[] = [];
  const one = (word: WgslWord): string => words.take(word)[0] as string;
  if (options.dispatch === 'rows') {
    starts.push(`let block_x = i32(group.y * ${one({ kind: 'row' })} + group.x);`);
    starts.push(`let blocks_x = i32(${one({ kind: 'blocks', axis: 0 })});`);
    starts.push('let block_y = 0i;', 'let blocks_y = 1i;', 'let block_z = 0i;', 'let blocks_z = 1i;');
    starts.push('if (u32(block_x) >= u32(blocks_x)) { return; }');
  } else {
    for (const [axis, along] of (['x', 'y', 'z'] as const).entries()) {
      const index = axis as 0 | 1 | 2;
      const first = options.dispatch === 'parts' ? `${one({ kind: 'firstBlock', axis: index })} + ` : '';
      starts.push(`let block_${along} = i32(${first}group.${along});`);
      starts.push(`let blocks_${along} = i32(${one({ kind: 'blocks', axis: index })});`);
    }
  }
  if (faults) starts.push(`let launch_number = ${one({ kind: 'launchNumber' })};`);
  if (options.onProcessor) starts.push(...threadPlaces(options.block));
  const values = valuesOf(kernel, options, words, starts);
  const { memories, buffers } = globalMemories(kernel, options, (param) => one({ kind: 'offset', param }), starts);
  const constants = constantMemories(kernel, memories);
  const shared = ownMemories(kernel, options, memories);
  const bindings: WgslBinding[] = [{ kind: 'words' }, ...buffers];
  if (constants !== undefined) bindings.push({ kind: 'constants', bytes: constants });
  if (faults) bindings.push({ kind: 'faults' });
  return {
    memories,
    values,
    words: words.list,
    bindings,
    sharedBytes: shared.bytes,
    zero: one({ kind: 'zero' }),
    starts,
    declarations: (all) => [
      ...all.map((binding, k) => declaration(binding, k, words.vectors, memories)),
      ...shared.declarations,
    ],
  };
}

/** Where a thread is in its block, by its number: what WGSL gives costs two divisions, which nobody makes here whose divisor is a power of two. */
function threadPlaces([x, y]: WgslOptions['block']): string[] {
  const parted = (n: string, by: number): readonly [whole: string, rest: string] => {
    if (by === 1) return [n, '0u'];
    const bits = Math.log2(by);
    return Number.isInteger(bits)
      ? [`(${n} >> ${bits}u)`, `(${n} & ${by - 1}u)`]
      : [`(${n} / ${by}u)`, `(${n} % ${by}u)`];
  };
  const [rows, inRow] = parted('number', x);
  const [planes, row] = parted(rows, y);
  return [`let thread_x = i32(${inRow});`, `let thread_y = i32(${row});`, `let thread_z = i32(${planes});`];
}

function valuesOf(kernel: Kernel, options: WgslOptions, words: Words, starts: string[]): Map<number, string> {
  const values = new Map<number, string>();
  for (const { index, type, name } of kernel.params) {
    if (type === 'ptr' || options.known?.values.has(index)) continue;
    const of: WgslWord = { kind: 'value', param: index, type, words: isWide(type) || type === 'f64' ? 2 : 1 };
    const [low = '', high = ''] = words.take(of);
    const text = `p${index}_${plainName(name)}`;
    values.set(index, text);
    const value = isWide(type)
      ? `vec2<u32>(${low}, ${high})`
      : type === 'bool'
        ? `${low} != 0u`
        : type === 'u32'
          ? low
          : `bitcast<${type}>(${low})`;
    starts.push(`let ${text} = ${value};`);
  }
  return values;
}

/** Arrays of arguments, by the buffers that they are in. */
function globalMemories(
  kernel: Kernel,
  options: WgslOptions,
  offset: (param: number) => string,
  starts: string[],
): { readonly memories: Map<ArraySym, Memory>; readonly buffers: readonly (WgslBinding & { kind: 'buffer' })[] } {
  const { written, atomic } = accessesOf(kernel);
  const memories = new Map<ArraySym, Memory>();
  const of = new Map<number, ArraySym[]>();
  for (const array of kernel.arrays) {
    if (array.space !== 'global') continue;
    const buffer = options.buffers.get(array.param ?? 0);
    if (buffer === undefined) throw new Error(`internal error: no buffer was named for ${array.name}`);
    of.set(buffer, [...(of.get(buffer) ?? []), array]);
  }
  const bases = new Map<number, string>();
  for (const [buffer, arrays] of of) {
    const together = arrays.some((a) => atomic.has(a));
    for (const array of arrays) {
      const param = array.param ?? 0;
      let base = bases.get(param);
      if (base === undefined && options.moved.has(param)) {
        base = `base_${param}`;
        bases.set(param, base);
        starts.push(`let ${base} = ${offset(param)};`);
      }
      const length = options.known?.lengths.get(buffer);
      memories.set(array, { name: `buffer_${buffer}`, atomic: together, base, words: length, shared: true });
    }
  }
  const buffers = [...of].map(([buffer, arrays]) => ({
    kind: 'buffer' as const,
    buffer,
    written: arrays.some((a) => written.has(a)),
  }));
  return { memories, buffers };
}

/** The bytes of all constant arrays; undefined without any. */
function constantMemories(kernel: Kernel, memories: Map<ArraySym, Memory>): Uint8Array | undefined {
  const constants = kernel.arrays.filter((a) => a.space === 'constant');
  if (constants.length === 0) return undefined;
  const bytes = new Uint8Array(constants.reduce((sum, a) => sum + align(Math.max(a.data?.length ?? 0, 4)), 0));
  let at = 0;
  for (const array of constants) {
    bytes.set(array.data ?? new Uint8Array(), at);
    memories.set(array, { name: 'constants', atomic: false, base: `${at}u`, words: undefined, shared: false });
    at += align(Math.max(array.data?.length ?? 0, 4));
  }
  return bytes;
}

const LANES = ['x', 'y', 'z', 'w'] as const;

/** Shared memory, and memory of one thread. All dynamic arrays are the same memory. */
function ownMemories(
  kernel: Kernel,
  options: WgslOptions,
  memories: Map<ArraySym, Memory>,
): { readonly declarations: readonly string[]; readonly bytes: number } {
  const { atomic } = accessesOf(kernel);
  const declarations: string[] = [];
  const dynamic = kernel.arrays.filter((a) => a.space === 'shared' && a.dynamic === true);
  const word = (isAtomic: boolean): string => (isAtomic ? 'atomic<u32>' : 'u32');
  let bytes = 0;
  for (const arrays of arraysTogether(kernel)) {
    const [{ length: count = 0 }] = arrays as readonly [ArraySym];
    const name = `together${arrays.map(({ id }) => `_${id}`).join('')}`;
    bytes += align(4 * count * arrays.length);
    arrays.forEach((array, k) => {
      const lane: Lane = { name: LANES[k] as Lane['name'], arrays };
      memories.set(array, { name, atomic: false, base: undefined, words: count, shared: true, lane });
    });
    declarations.push(`var<workgroup> ${name}: array<vec${arrays.length}<u32>, ${count}>;`);
  }
  for (const array of kernel.arrays) {
    if (memories.has(array)) continue;
    if (array.space !== 'local' && (array.space !== 'shared' || array.dynamic === true)) continue;
    const name = `a${array.id}_${plainName(array.name)}`;
    const size = align(bytesOf(array));
    const shared = array.space === 'shared';
    if (shared) bytes += size;
    const isAtomic = shared && atomic.has(array);
    memories.set(array, { name, atomic: isAtomic, base: undefined, words: size / 4, shared });
    declarations.push(`var<${shared ? 'workgroup' : 'private'}> ${name}: array<${word(isAtomic)}, ${size / 4}>;`);
  }
  if (dynamic.length > 0) {
    const size = Math.max(ALIGN, align(options.sharedBytes));
    const isAtomic = dynamic.some((a) => atomic.has(a));
    // An array of no length is an element long, which nobody has asked for.
    bytes += align(options.sharedBytes);
    for (const array of dynamic) {
      memories.set(array, { name: 'shared_memory', atomic: isAtomic, base: undefined, words: size / 4, shared: true });
    }
    declarations.push(`var<workgroup> shared_memory: array<${word(isAtomic)}, ${size / 4}>;`);
  }
  return { declarations, bytes };
}

function declaration(
  binding: WgslBinding,
  at: number,
  vectors: number,
  memories: ReadonlyMap<ArraySym, Memory>,
): string {
  const place = `@group(0) @binding(${at})`;
  switch (binding.kind) {
    case 'words':
      return `${place} var<uniform> words: array<vec4<u32>, ${vectors}>;`;
    case 'buffer': {
      const name = `buffer_${binding.buffer}`;
      const own = [...memories.values()].filter((m) => m.name === name);
      const isAtomic = own.some((m) => m.atomic);
      const access = isAtomic || binding.written ? 'read_write' : 'read';
      const length = own[0]?.words;
      const count = length === undefined ? '' : `, ${length}`;
      return `${place} var<storage, ${access}> ${name}: array<${isAtomic ? 'atomic<u32>' : 'u32'}${count}>;`;
    }
    case 'constants':
      return `${place} var<storage, read> constants: array<u32>;`;
    case 'faults':
    case 'prints':
      return `${place} var<storage, read_write> ${binding.kind}: array<atomic<u32>>;`;
  }
}
