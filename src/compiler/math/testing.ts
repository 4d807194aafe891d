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

/**
 * The largest error in ulp of the GPU table in f32, as measured on a GPU over all arguments. The hardware's 2^x alone is
 * 2.06 ulp off at worst.
 */
export const GPU_MAX_ULP_F32: Readonly<Record<MathFn, number>> = {
  exp: 2,
  exp2: 1.7,
  expm1: 1.5,
  log: 1,
  log2: 1.6,
  log10: 1.6,
  log1p: 1.6,
  sin: 1.6,
  cos: 1.6,
  tan: 2,
  asin: 0.8,
  acos: 0.8,
  atan: 2,
  atan2: 1.9,
  sinh: 2.8,
  cosh: 2.3,
  tanh: 1.7,
  asinh: 1.1,
  acosh: 1.1,
  atanh: 1.1,
  pow: 1.5,
  hypot: 1.3,
  cbrt: 1.2,
  rsqrt: 1.6,
  erf: 1.5,
  erfc: 1.9,
  tgamma: 3.7,
  lgamma: 10,
};

/** The same in f64, over 25 million samples of each function; lgamma as in `MAX_ULP`, in units of 2⁻⁵². */
export const GPU_MAX_ULP_F64: Readonly<Record<MathFn, number>> = {
  exp: 1.1,
  exp2: 1,
  expm1: 1.2,
  log: 0.9,
  log2: 0.9,
  log10: 0.8,
  log1p: 1,
  sin: 0.9,
  cos: 0.9,
  tan: 1.1,
  asin: 0.7,
  acos: 0.7,
  atan: 0.8,
  atan2: 1.5,
  sinh: 1.7,
  cosh: 1.6,
  tanh: 1.5,
  asinh: 1.4,
  acosh: 2.2,
  atanh: 1,
  pow: 1.4,
  hypot: 1.2,
  cbrt: 0.6,
  rsqrt: 1.4,
  erf: 1,
  erfc: 2.3,
  tgamma: 1,
  lgamma: 2.8,
};

/** The largest error in ulp of the f64 table for processors, as docs/math.md gives it, over 60,000 samples of each function. */
export const MAX_ULP_F64: Readonly<Partial<Record<MathFn, number>>> = {
  exp: 0.8,
  exp2: 1,
  log: 0.8,
  log2: 0.8,
  log10: 0.7,
  sin: 0.9,
  cos: 0.9,
  tanh: 1.5,
  pow: 0.8,
  hypot: 1.1,
  rsqrt: 1.1,
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

/** The table's results for columns of f32 arguments, by the interpreter. */
export function evaluateTable(fn: MathFn, ...columns: readonly (readonly number[])[]): Float32Array {
  const memory = evaluate(expandMath(mapKernel(fn)), Float32Array, columns);
  return memory as Float32Array;
}

/** The same of f64: functions without a body are the host's. */
export function evaluateF64Table(fn: MathFn, ...columns: readonly (readonly number[])[]): Float64Array {
  return evaluate(expandMath(mapKernel(fn, { type: 'f64' })), Float64Array, columns) as Float64Array;
}

/** The results of the table for GPUs, by the interpreter, to which the hardware's approximations are rounded true values. */
export function evaluateGpuTable(
  fn: MathFn,
  options: { type?: 'f32' | 'f64'; fastMath?: boolean },
  ...columns: readonly (readonly number[])[]
): Float32Array | Float64Array {
  const kernel = expandMath(mapKernel(fn, options), { target: 'gpu' });
  return evaluate(kernel, options.type === 'f64' ? Float64Array : Float32Array, columns);
}

/** The results of a `mapKernel`, or of what became of one, for columns of arguments. */
export function evaluate(
  kernel: Kernel,
  Data: typeof Float32Array | typeof Float64Array,
  columns: readonly (readonly number[])[],
): Float32Array | Float64Array {
  const count = columns[0]?.length ?? 0;
  const memory = new Data(count * (columns.length + 1));
  columns.forEach((column, k) => {
    memory.set(column, count * (k + 1));
  });
  const pointers = kernel.params.map((_, k) => k * count * Data.BYTES_PER_ELEMENT);
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
