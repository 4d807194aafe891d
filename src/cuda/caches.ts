/**
 * Loads and stores that say how caches should treat what they move, and promises about addresses. Hints for NVIDIA GPUs; elsewhere they are
 * ordinary loads and stores.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import type { Plain } from '../dtype/types.ts';
import type { Cube, Mat, Vec, Viewed } from '../kernel/types.ts';

type At1 = number | readonly [number];
type At2 = readonly [number, number];
type At3 = readonly [number, number, number];

/** `ldcg(a, i)`, `ldcg(A, [i, j])`: the element. */
export interface Load {
  <T>(array: Viewed<T, 1>, index: At1): Plain<T>;
  <T>(array: Viewed<T, 2>, index: At2): Plain<T>;
  <T>(array: Viewed<T, 3>, index: At3): Plain<T>;
}

/** `stcs(a, i, v)`, `stcs(A, [i, j], v)`. */
export interface Store {
  <T>(array: Vec<T>, index: At1, value: Plain<T>): void;
  <T>(array: Mat<T>, index: At2, value: Plain<T>): void;
  <T>(array: Cube<T>, index: At3, value: Plain<T>): void;
}

/**
 * Loads through all caches, the default. CUDA's `__ldca`, Numba's `cuda.ldca`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { y[0] = 2 * cuda.ldca(y, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
export const ldca: Load = intrinsic<Load>('ldca');
/**
 * Loads past the cache of the multiprocessor: what other blocks have written is seen. CUDA's `__ldcg`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { y[0] = 2 * cuda.ldcg(y, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
export const ldcg: Load = intrinsic<Load>('ldcg');
/**
 * Loads what is read once, so that caches may drop it first: `y[i] = 2 * cuda.ldcs(x, i)`. CUDA's `__ldcs`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { y[0] = 2 * cuda.ldcs(y, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
export const ldcs: Load = intrinsic<Load>('ldcs');
/**
 * Loads what is read for the last time. CUDA's `__ldlu`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { y[0] = 2 * cuda.ldlu(y, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
export const ldlu: Load = intrinsic<Load>('ldlu');
/**
 * Loads again, whatever the caches hold: `cuda.atomic.load`. CUDA's `__ldcv`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { y[0] = 2 * cuda.ldcv(y, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
export const ldcv: Load = intrinsic<Load>('ldcv');
/**
 * Stores past the cache of the multiprocessor. CUDA's `__stcg`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { cuda.stcg(y, 1, 5); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[1]); // 5
 */
export const stcg: Store = intrinsic<Store>('stcg');
/**
 * Stores what is not read soon. CUDA's `__stcs`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { cuda.stcs(y, 1, 5); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[1]); // 5
 */
export const stcs: Store = intrinsic<Store>('stcs');
/**
 * Stores with write-back, the default. CUDA's `__stwb`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { cuda.stwb(y, 1, 5); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[1]); // 5
 */
export const stwb: Store = intrinsic<Store>('stwb');
/**
 * Stores through to memory. CUDA's `__stwt`.
 * @example
 * const y = Float32Array.of(1, 2);
 * cuda.jit((y: Vec<f32>) => { cuda.stwt(y, 1, 5); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[1]); // 5
 */
export const stwt: Store = intrinsic<Store>('stwt');

/**
 * The array, of which the kernel promises that its first element lies at a multiple of so many bytes (a power of two): loads of wider elements
 * need not be put together from pieces. A GPU faults where the promise is broken.
 *
 * ```ts
 * const words = cuda.assumeAligned(bytes, 4).view(u32);
 * ```
 * @example
 * const bytes = Uint8Array.of(1, 1, 0, 0);
 * const out = new Uint32Array(1);
 * const read = cuda.jit((bytes: Vec<u8>, out: Vec<u32>) => {
 *   out[0] = cuda.assumeAligned(bytes, 4).view(u32)[0];
 * });
 * read.launch({ grid: 1, block: 1 }, bytes, out);
 * console.log(out[0]); // 257
 */
export const assumeAligned: <A>(array: A, bytes: number) => A =
  intrinsic<<A>(array: A, bytes: number) => A>('assumeAligned');

/**
 * Asks for the cache line that an element lies in, as a hint: an instruction of NVIDIA GPUs (PTX's `prefetch`) for arrays in global memory; nothing
 * elsewhere, and for what lies outside the array. `level`: `'L2'`, the default, or `'L1'`.
 * @example
 * const y = Float32Array.of(1, 2, 3, 4);
 * const scale = cuda.jit((y: Vec<f32>) => {
 *   for (let i = 0; i < y.length; i++) {
 *     cuda.prefetch(y, i + 2);
 *     y[i]! *= 2;
 *   }
 * });
 * scale.launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Float32Array(4) [ 2, 4, 6, 8 ]
 */
export const prefetch: Prefetch = intrinsic<Prefetch>('prefetch');

/** `prefetch(a, i)`, `prefetch(A, [i, j], { level: 'L1' })`. */
export interface Prefetch {
  (array: Viewed<unknown, 1>, index: At1, options?: { readonly level?: 'L1' | 'L2' }): void;
  (array: Viewed<unknown, 2>, index: At2, options?: { readonly level?: 'L1' | 'L2' }): void;
  (array: Viewed<unknown, 3>, index: At3, options?: { readonly level?: 'L1' | 'L2' }): void;
}

/**
 * The address of an element in memory, of the first one if there is no index, as a u64: generic on NVIDIA GPUs. One past the end has one, too. Other devices than NVIDIA's
 * and HIP's have none: there launches throw NotSupportedError.
 * @example
 * const gap = cuda.jit((y: Vec<f32>, out: Vec<u64>) => {
 *   out[0] = cuda.addressOf(y, 3) - cuda.addressOf(y);
 * });
 * const out = new BigUint64Array(1);
 * try {
 *   gap.launch({ grid: 1, block: 1 }, new Float32Array(4), out);
 *   console.log(out[0] === 12n); // true
 * } catch (error) {
 *   console.log((error as { code?: string }).code === 'E_EXTERNAL'); // true
 * }
 */
export const addressOf: AddressOf = intrinsic<AddressOf>('addressOf');

/** `addressOf(a)`, `addressOf(a, i)`, `addressOf(A, [i, j])`. */
export interface AddressOf {
  (array: Viewed<unknown, number>): bigint;
  (array: Viewed<unknown, 1>, index: At1): bigint;
  (array: Viewed<unknown, 2>, index: At2): bigint;
  (array: Viewed<unknown, 3>, index: At3): bigint;
}
