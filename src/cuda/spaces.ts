/**
 * Memory that a kernel declares for itself: shared by a block, private to a thread, or constant.
 */
import type { NDArray } from '../array/ndarray.ts';
import { intrinsic } from '../compiler/intrinsics.ts';
import type { f64 } from '../dtype/index.ts';
import type { DTypeLike, ElementOf, TypedArray, ValueOf } from '../dtype/types.ts';
import type { Cube, ElementType, In, Mat, Vec, View, ViewOf } from '../kernel/types.ts';

/** What arrays of a kernel's own may ask for. */
export interface AlignOption {
  /** Bytes that the first element lies at a multiple of, a power of two up to 16. */
  readonly align?: number;
}

/** Makes an array of a shape that is known when the kernel is compiled. Its elements are not initialised. */
export interface ArrayMaker {
  <const D extends DTypeLike>(shape: number | readonly [number], dtype: D, options?: AlignOption): Vec<ValueOf<D>>;
  <const D extends DTypeLike>(shape: readonly [number, number], dtype: D, options?: AlignOption): Mat<ValueOf<D>>;
  <const D extends DTypeLike>(
    shape: readonly [number, number, number],
    dtype: D,
    options?: AlignOption,
  ): Cube<ValueOf<D>>;
  /** A 0-d array: one element, `s.get()` and `s.set(v)`. */
  <const D extends DTypeLike>(shape: readonly [], dtype: D, options?: AlignOption): View<ValueOf<D>, 0>;
  /** Of elements as another array has them: `x.dtype`. */
  <T>(shape: number | readonly [number], dtype: ElementType<T>): Vec<T>;
  <T>(shape: readonly [number, number], dtype: ElementType<T>): Mat<T>;
  <T>(shape: readonly [number, number, number], dtype: ElementType<T>): Cube<T>;
}

/**
 * Shared memory: one array for all threads of a block. A 1-D size of 0 gives the dynamic shared memory of the launch
 * (`sharedBytes`); all dynamic arrays of a kernel start at the same place. Numba's `cuda.shared`.
 * @example
 * const y = Int32Array.of(1, 2, 3, 4);
 * const reverse = cuda.jit((y: Vec<i32>) => {
 *   const [s, t] = [cuda.shared.array(4, i32), cuda.threadIdx.x];
 *   s[t] = y[t]!;
 *   cuda.syncThreads();
 *   y[t] = s[3 - t]!;
 * });
 * reverse.launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
 */
export const shared: {
  /**
   * An array in shared memory: `cuda.shared.array([16, 16], f32)`. Lengths are constants; 0 is the dynamic shared memory.
   * @example
   * const y = Int32Array.of(1, 2, 3, 4);
   * const reverse = cuda.jit((y: Vec<i32>) => {
   *   const [s, t] = [cuda.shared.array(4, i32), cuda.threadIdx.x];
   *   s[t] = y[t]!;
   *   cuda.syncThreads();
   *   y[t] = s[3 - t]!;
   * });
   * reverse.launch({ grid: 1, block: 4 }, y);
   * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
   */
  readonly array: ArrayMaker;
} = Object.freeze({
  array: intrinsic<ArrayMaker>('shared.array'),
});

/**
 * Local memory: an array of each thread's own. Numba's `cuda.local`.
 * @example
 * const y = Float32Array.of(1, 2, 3);
 * cuda.jit((y: Vec<f32>) => { const t = cuda.local.array(3, f32); for (let k = 0; k < 3; k++) t[k] = y[2 - k]!; y[0] = t[0]!; }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 3
 */
export const local: {
  /**
   * An array in local memory: `cuda.local.array(8, f32)`. Lengths are constants.
   * @example
   * const y = Float32Array.of(1, 2, 3);
   * cuda.jit((y: Vec<f32>) => { const t = cuda.local.array(3, f32); for (let k = 0; k < 3; k++) t[k] = y[2 - k]!; y[0] = t[0]!; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 3
   */
  readonly array: ArrayMaker;
} = Object.freeze({
  array: intrinsic<ArrayMaker>('local.array'),
});

/** Takes a host array that the kernel captured into constant memory. */
export interface ConstantMaker {
  <T, R extends number>(array: NDArray<T, R>): In<ViewOf<T, R>>;
  <T, R extends number>(array: View<T, R>): In<ViewOf<T, R>>;
  <A extends TypedArray>(array: A): In<Vec<ElementOf<A>>>;
  /** Nested arrays of plain numbers, which are f64. */
  (array: readonly number[]): In<Vec<f64>>;
  (array: readonly (readonly number[])[]): In<Mat<f64>>;
  (array: readonly (readonly (readonly number[])[])[]): In<Cube<f64>>;
}

/**
 * Constant memory: a read-only copy of a host array, made when the kernel is compiled. Numba's `cuda.const`.
 * @example
 * const weights = Float32Array.of(0.25, 0.5);
 * const y = new Float32Array(1);
 * cuda.jit((y: Vec<f32>) => { y[0] = cuda.const.arrayLike(weights)[1]!; }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0.5
 */
export const constant: {
  /**
   * A captured host array in constant memory: `cuda.const.arrayLike(weights)`. Read-only.
   * @example
   * const weights = Float32Array.of(0.25, 0.5);
   * const y = new Float32Array(1);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.const.arrayLike(weights)[1]!; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.5
   */
  readonly arrayLike: ConstantMaker;
} = Object.freeze({
  arrayLike: intrinsic<ConstantMaker>('const.arrayLike'),
});
