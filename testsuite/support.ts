/**
 * How the chapters on kernels compare: a body runs as a device function in many threads at once, and again as the plain
 * JavaScript that it is.
 *
 * Blocks come in three sizes: a warp, one that is no multiple of a vector's lanes, and one that is less than a vector.
 */
import {
  cuda,
  type DTypeLike,
  type f32,
  type f64,
  type In,
  type i32,
  NotSupportedError,
  type Vec,
} from '../src/index.ts';
import { sameElements, ulpElements } from './assert.ts';
import { launch, read } from './waiting.ts';

/** Threads of a test: not a multiple of anything. */
export const N = 203;

/** Integers of all sizes and signs, small ones often; 16 more than there are threads, so that `x[k + 1]` exists. */
export function mixedIntegers(): Int32Array {
  let seed = 12345;
  return Int32Array.from({ length: N + 16 }, (_, k) => {
    seed = (Math.imul(seed, 1103515245) + 12345) | 0;
    return k % 3 === 0 ? seed >> 8 : (seed >> 16) % 50;
  });
}

/** A body's view of a host array: what the kernel sees as a device array. */
export function asVec<T>(array: ArrayLike<unknown>): Vec<T> {
  return array as unknown as Vec<T>;
}

/** Runs `body` on the device for each k, into i32, and compares with the host. */
export function integers(body: (k: number, x: Vec<i32>) => number): () => Promise<void> {
  return async () => {
    const x = mixedIntegers();
    const expected = Int32Array.from({ length: N }, (_, k) => body(k, asVec(x)));
    const kernel = cuda.jit((y: Vec<i32>, values: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(k, values);
    });
    const dx = cuda.toDevice(x);
    for (const block of [32, 50, 3]) {
      const y = cuda.deviceArray(N, 'int32');
      await launch(kernel, { threads: N, block }, y, dx);
      sameElements(await read(y), expected, `block ${block}, thread`);
    }
  };
}

/** Finite, infinite, tiny, huge, halfway and signed-zero doubles. */
export const EDGES: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  1e-300,
  5e-324,
  1e300,
  -1e300,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
  0.5 - 2 ** -54,
  2 ** 51 + 0.5,
  2 ** 52 + 1,
  2 ** 31,
  -(2 ** 31) - 1,
  3.7,
  -3.7,
];

/** The same kind of numbers within f32. */
export const EDGES32: readonly number[] = Array.from(
  Float32Array.of(
    ...[0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-38, 1e-45, -1e-45, 3e38, -3e38, 0.49999997, 8388609, 16777217],
    ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 2147483648, -2147483904, 3.7, -3.7, 0.1, 1e10],
  ),
);

/** Those that no device may take for 0: f32 without what is subnormal. */
export const NORMAL32: readonly number[] = EDGES32.filter((v) => v === 0 || !(Math.abs(v) < 2 ** -126));

/** Runs `body` on the device for each value, in double precision and without contraction, which is JavaScript's own arithmetic. */
export function doubles(
  body: (v: number) => number,
  values: readonly number[] = EDGES,
  expected: (v: number) => number = body,
): () => Promise<void> {
  return async () => {
    const x = Float64Array.from(values);
    const kernel = cuda.jit(
      (y: Vec<f64>, v: Vec<f64>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(v[k]);
      },
      { contract: false },
    );
    const y = cuda.deviceArray(x.length, 'float64');
    await launch(kernel, { threads: x.length, block: 16 }, y, cuda.toDevice(x));
    sameElements(await read(y), x.map(expected), 'value');
  };
}

/**
 * Runs `body` on f32 values. `expected` says in doubles what comes out, which is then rounded to f32; of a single operation
 * (+ - * / sqrt) that is exactly its f32 result.
 */
export function singles(
  body: (v: number) => number,
  values: readonly number[] = EDGES32,
  expected: (v: number) => number = body,
): () => Promise<void> {
  return async () => {
    const x = Float32Array.from(values);
    const kernel = cuda.jit(
      (y: Vec<f32>, v: Vec<f32>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(v[k]);
      },
      { contract: false },
    );
    const y = cuda.deviceArray(x.length, 'float32');
    await launch(kernel, { threads: x.length, block: 16 }, y, cuda.toDevice(x));
    sameElements(await read(y), x.map(expected), 'value');
  };
}

/** How far a function may be from `expected`, in units of the last place of its type. */
export interface Accuracy {
  readonly f32: number;
  readonly f64: number;
}

/** Runs a function on f32 and on f64 values and holds it to a number of ulps. */
export function accurate(
  body: (v: number) => number,
  values: readonly number[],
  ulps: Accuracy,
  expected: (v: number) => number = body,
): () => Promise<void> {
  return () =>
    eachType(['float32', 'float64'] as const, async (type) => {
      const x = type === 'float32' ? Float32Array.from(values) : Float64Array.from(values);
      const kernel = cuda.jit((y: Vec<f64>, v: Vec<f64>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(v[k]);
      });
      const y = cuda.deviceArray(x.length, type);
      await launch(kernel, { threads: x.length, block: 32 }, y as never, cuda.toDevice(x) as never);
      const exact = Array.from(x, (v) => expected(v));
      ulpElements(await read(y), exact, type === 'float32' ? ulps.f32 : ulps.f64, type, (k) => `f(${x[k]})`);
    });
}

/** What a device of WebGPU has for some types and not for others. */
const PARTS: readonly string[] = ['E_F64', 'E_ATOMIC64'];

function lacksPart(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof NotSupportedError && PARTS.includes(e.code)) return true;
  }
  return false;
}

/**
 * Runs a test for each of several types, one after another. On WebGPU, which has neither f64 nor atomics of 64 bits, it goes on with the
 * others where it refuses one for that; where it refuses all of them, so does the test.
 */
export async function eachType<T>(types: Iterable<T>, test: (type: T) => Promise<void>): Promise<void> {
  let passed = 0;
  const refused: unknown[] = [];
  for (const type of types) {
    try {
      await test(type);
      passed++;
    } catch (error) {
      if (cuda.currentDevice().kind !== 'webgpu' || !lacksPart(error)) throw error;
      refused.push(error);
    }
  }
  if (passed === 0 && refused.length > 0) throw refused[0];
}

/** A new device array of zeros. */
export function zeros<const D extends DTypeLike>(
  length: number,
  dtype: D,
): ReturnType<typeof cuda.deviceArray<number, D>> {
  const array = cuda.deviceArray(length, dtype);
  array.set(0);
  return array;
}

/** Numbers from `from` to `to`, evenly. */
export function linspace(from: number, to: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, k) => from + ((to - from) * k) / (count - 1));
}

/** All pairs of some numbers, and what a function of two makes of each on the device, in one type. */
export async function ofPairs(
  type: 'float32' | 'float64',
  body: (a: number, b: number) => number,
  first: readonly number[],
  second: readonly number[],
): Promise<{ readonly a: ArrayLike<number>; readonly b: ArrayLike<number>; readonly got: ArrayLike<number> }> {
  const Data = type === 'float32' ? Float32Array : Float64Array;
  const a = Data.from(first.flatMap((v) => second.map(() => v)));
  const b = Data.from(first.flatMap(() => second));
  const kernel = cuda.jit((y: Vec<f64>, u: In<Vec<f64>>, v: In<Vec<f64>>) => {
    const k = cuda.grid(1);
    if (k < y.length) y[k] = body(u[k], v[k]);
  });
  const y = cuda.deviceArray(a.length, type);
  const shape = { threads: a.length, block: 64 };
  await launch(kernel, shape, y as never, cuda.toDevice(a) as never, cuda.toDevice(b) as never);
  return { a, b, got: (await read(y)) as ArrayLike<number> };
}
