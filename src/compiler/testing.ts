/**
 * For tests of the front end: compiles a kernel and runs it in the IR's reference interpreter, without any driver.
 */
import { compileKernel } from './compile.ts';
import type { ArgType, CompiledKernel, CompileOptions } from './contract.ts';
import { captureFunction } from './frontend/capture.ts';
import { interpret } from './ir/interpret.ts';
import { ELEM_SIZE, type ElemType } from './ir/ops.ts';
import { verify } from './ir/verify.ts';

export type TestArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** An array argument with a shape. */
export interface Shaped {
  readonly data: TestArray;
  readonly shape: readonly number[];
}

type Arg = TestArray | Shaped | number | bigint | boolean;

const ELEMS: Readonly<Record<string, ElemType>> = {
  Int8Array: 'i8',
  Uint8Array: 'u8',
  Int16Array: 'i16',
  Uint16Array: 'u16',
  Int32Array: 'i32',
  Uint32Array: 'u32',
  Float32Array: 'f32',
  Float64Array: 'f64',
  BigInt64Array: 'i64',
  BigUint64Array: 'u64',
};

function shaped(a: TestArray | Shaped): Shaped {
  return ArrayBuffer.isView(a) ? { data: a, shape: [a.length] } : a;
}

function isArray(a: Arg): a is TestArray | Shaped {
  return typeof a === 'object';
}

export const DEFAULTS: CompileOptions = {
  name: 'kernel',
  checked: true,
  contract: false,
  fastMath: false,
  debug: true,
  defaultFloat: 'f64',
  indexBits: 32,
};

function elemOf(a: Shaped): ElemType {
  const elem = ELEMS[a.data.constructor.name];
  if (elem === undefined) throw new Error(a.data.constructor.name);
  return elem;
}

function typeOf(a: Arg): ArgType {
  if (typeof a === 'number' || typeof a === 'bigint') return { kind: typeof a === 'number' ? 'number' : 'bigint' };
  if (typeof a === 'boolean') return { kind: 'scalar', type: 'bool' };
  const s = shaped(a);
  return { kind: 'array', elem: elemOf(s), ndim: s.shape.length, layout: 'C', unit: ELEM_SIZE[elemOf(s)] };
}

/** Compiles for these arguments and verifies the IR. */
export function compileFor(
  fn: (...args: never[]) => unknown,
  args: readonly Arg[],
  options: Partial<CompileOptions> = {},
): CompiledKernel {
  const compiled = compileKernel(captureFunction(fn), args.map(typeOf), { ...DEFAULTS, ...options });
  verify(compiled.kernel, 'lowered');
  return compiled;
}

export interface Run {
  readonly compiled: CompiledKernel;
  readonly prints: readonly string[];
  readonly fault: string | undefined;
}

/** Runs a kernel, or what `change` makes of it, on the given arrays, in place. */
export function run(
  fn: (...args: never[]) => unknown,
  args: readonly Arg[],
  launch: { grid?: number | readonly number[]; block?: number | readonly number[]; sharedBytes?: number } = {},
  options: Partial<CompileOptions> = {},
  change: (kernel: CompiledKernel['kernel']) => CompiledKernel['kernel'] = (kernel) => kernel,
): Run {
  const compiled = compileFor(fn, args, options);
  const arrays = args.map((a) => (isArray(a) ? shaped(a) : undefined));
  let top = 64;
  const bases = arrays.map((a) => {
    const base = top;
    if (a !== undefined) top += Math.ceil(a.data.byteLength / 64) * 64 + 64;
    return base;
  });
  const memory = new Uint8Array(top);
  arrays.forEach((a, k) => {
    if (a !== undefined) memory.set(new Uint8Array(a.data.buffer, a.data.byteOffset, a.data.byteLength), bases[k] ?? 0);
  });
  const values = compiled.kernel.params.map((p) => {
    const { origin } = p;
    if (origin.kind === 'capturedBase') throw new Error('captured device arrays are not for this test');
    const k = origin.path[0] ?? 0;
    const a = args[k];
    const wide = (n: number): number | bigint => (p.type === 'i64' || p.type === 'u64' ? BigInt(n) : n);
    switch (origin.kind) {
      case 'base':
        return bases[k] ?? 0;
      case 'extent':
        return wide(arrays[k]?.shape[origin.axis] ?? 0);
      case 'stride':
        throw new Error('compact arrays have no stride parameters');
      case 'value':
        if (typeof a === 'number') return p.type === 'f32' ? Math.fround(a) : wide(a);
        return a as bigint | boolean;
    }
  });
  const dims = (d: number | readonly number[] | undefined): [number, number, number] => {
    const list = typeof d === 'number' ? [d] : (d ?? [1]);
    return [list[0] ?? 1, list[1] ?? 1, list[2] ?? 1];
  };
  const result = interpret(
    change(compiled.kernel),
    { grid: dims(launch.grid), block: dims(launch.block), sharedBytes: launch.sharedBytes },
    values,
    memory,
  );
  arrays.forEach((a, k) => {
    if (a === undefined) return;
    const bytes = new Uint8Array(a.data.buffer, a.data.byteOffset, a.data.byteLength);
    bytes.set(memory.subarray(bases[k] ?? 0, (bases[k] ?? 0) + bytes.length));
  });
  return { compiled, prints: result.prints.map((p) => p.join(' ')), fault: result.fault?.message };
}

/** A kernel that is refused for these arguments, with the words that say why and what to write instead. */
export interface RefusalCase {
  readonly what: string;
  readonly fn: (...args: never[]) => unknown;
  readonly args: Parameters<typeof compileFor>[1];
  readonly code: string;
  readonly message: RegExp;
  readonly help?: RegExp;
}
