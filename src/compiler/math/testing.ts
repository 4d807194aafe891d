/**
 * What tests and the exhaustive check of the math table share: kernels that map a function over an array, distances in units
 * in the last place, and the bounds that docs/math.md states.
 */
import { at, call, KernelBuilder, load, special, store } from '../ir/builder.ts';
import { type InterpretResult, interpret } from '../ir/interpret.ts';
import type { Kernel, MathFn } from '../ir/ops.ts';
import { expandMath } from '../ir/passes/expand-math.ts';

/** The largest error in ulp over all arguments, as docs/math.md gives it; of two-argument functions, over dense samples. */
export const MAX_ULP: Readonly<Record<MathFn, number>> = {
  exp: 1,
  exp2: 1.1,
  expm1: 1.1,
  log: 0.9,
  log2: 1.2,
  log10: 1.1,
  log1p: 1.1,
  sin: 0.9,
  cos: 0.9,
  tan: 1.4,
  asin: 0.9,
  acos: 0.8,
  atan: 1.8,
  atan2: 1.9,
  sinh: 1.7,
  cosh: 1.5,
  tanh: 1.5,
  asinh: 1.1,
  acosh: 1.1,
  atanh: 1.1,
  pow: 1.3,
  hypot: 1.3,
  cbrt: 0.9,
  rsqrt: 1.5,
  erf: 1.4,
  erfc: 2.2,
  tgamma: 3.9,
  /** Of positive arguments; of negative ones where |lgamma| ≥ 1, else that many 2⁻²³. */
  lgamma: 10,
};

export const MATH_FNS: readonly MathFn[] = Object.keys(MAX_ULP) as MathFn[];

export function arity(fn: MathFn): 1 | 2 {
  return fn === 'pow' || fn === 'atan2' || fn === 'hypot' ? 2 : 1;
}

/** y[i] = fn(a[i]) or fn(a[i], b[i]), one element a thread of a block of `block` threads. */
export function mapKernel(
  fn: MathFn,
  options: { contract?: boolean; fastMath?: boolean; type?: 'f32' | 'f64' } = {},
): Kernel {
  const { type = 'f32', ...flags } = options;
  const b = new KernelBuilder(fn);
  const y = b.global(type, 'y');
  const operands = (arity(fn) === 2 ? ['a', 'b'] : ['a']).map((name) => b.global(type, name));
  const i = { op: 'binary', type: 'i32', fn: 'add', a: blockStart(), b: special('threadIdx.x') } as const;
  return b.build([store(at(y, i), call(fn, ...operands.map((array) => load(at(array, i)))))], flags);
}

function blockStart() {
  return { op: 'binary', type: 'i32', fn: 'mul', a: special('blockIdx.x'), b: special('blockDim.x') } as const;
}

/** The table's results for columns of arguments, by the interpreter. */
export function evaluateTable(fn: MathFn, ...columns: readonly (readonly number[])[]): Float32Array {
  const count = columns[0]?.length ?? 0;
  const memory = new Float32Array(count * (columns.length + 1));
  columns.forEach((column, k) => {
    memory.set(column, count * (k + 1));
  });
  const kernel = expandMath(mapKernel(fn));
  const pointers = kernel.params.map((_, k) => k * count * 4);
  const bytes = new Uint8Array(memory.buffer);
  const result: InterpretResult = interpret(kernel, { grid: [count, 1, 1], block: [1, 1, 1] }, pointers, bytes);
  if (result.fault) throw new Error(result.fault.message);
  return memory.slice(0, count);
}

/** The distance between an f32 result and the true value, in units of the last place that the true value has as an f32. */
export function ulps(got: number, want: number): number {
  if (Number.isNaN(want) || Number.isNaN(got)) return Number.isNaN(want) === Number.isNaN(got) ? 0 : Infinity;
  if (Math.fround(want) === got)
    return Object.is(got, 0) !== Object.is(Math.fround(want), 0) ? Infinity : distance(got, want);
  return distance(got, want);
}

function distance(got: number, want: number): number {
  if (got === want) return 0;
  const size = Math.abs(want);
  // Overflow counts from the first power of two that an f32 cannot hold.
  if (size >= 2 ** 128) return Math.fround(want) === got ? 0 : Infinity;
  const value = Math.abs(got) === Infinity ? Math.sign(got) * 2 ** 128 : got;
  return Math.abs(value - want) / lastPlace(size);
}

const bits = new DataView(new ArrayBuffer(8));

/** The unit in the last place of an f32 of this size. */
function lastPlace(size: number): number {
  bits.setFloat64(0, size);
  const exponent = (bits.getUint32(0) >>> 20) - 1023;
  return 2 ** (Math.min(Math.max(exponent, -126), 127) - 23);
}

const pattern = new DataView(new ArrayBuffer(4));

/** The f32 with these bits. */
export function fromBits(u: number): number {
  pattern.setUint32(0, u);
  return pattern.getFloat32(0);
}

/** Arguments that tend to be special: zeros, denormals, powers of two, the ends of the range, infinities, NaN. */
export const SPECIAL: readonly number[] = [
  0,
  2 ** -149,
  2 ** -140,
  2 ** -126 - 2 ** -149,
  2 ** -126,
  1e-20,
  2 ** -24,
  0.25,
  1 / 3,
  0.5,
  1 - 2 ** -24,
  1,
  1 + 2 ** -23,
  1.5,
  2,
  2.5,
  3,
  4,
  10,
  88.72284,
  100,
  128,
  1000,
  6000.5,
  65536,
  2 ** 23 - 0.5,
  2 ** 24 - 1,
  2 ** 24,
  2 ** 31,
  2 ** 32,
  1e20,
  2 ** 127,
  (2 - 2 ** -23) * 2 ** 127,
  Infinity,
]
  .flatMap((x) => [Math.fround(x), -Math.fround(x)])
  .concat(Number.NaN);
