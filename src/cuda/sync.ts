/**
 * Barriers, fences and what else orders the threads of a kernel.
 *
 * A barrier must be reached by all threads of a block or by none; the compiler proves that or refuses the kernel.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

/**
 * Waits for all threads of the block; what they wrote to memory before is then visible. All threads that have not returned must
 * reach it: a kernel in which only some would does not compile (K401). Numba's `cuda.syncthreads()`.
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
export const syncThreads: () => void = intrinsic<() => void>('syncThreads');
/**
 * A barrier that tells every thread for how many of them `predicate` holds: an i32. Numba's `cuda.syncthreads_count`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.threadIdx.x] = cuda.syncThreadsCount(cuda.threadIdx.x > 0); }).launch({ grid: 1, block: 4 }, y);
 * console.log(y[0]); // 3
 */
export const syncThreadsCount: Reduce = intrinsic<Reduce>('syncThreadsCount');
/**
 * A barrier that tells every thread whether `predicate` holds for all of them: 1 or 0. Numba's `cuda.syncthreads_and`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.threadIdx.x] = cuda.syncThreadsAnd(cuda.threadIdx.x > 0); }).launch({ grid: 1, block: 4 }, y);
 * console.log(y[0]); // 0
 */
export const syncThreadsAnd: Reduce = intrinsic<Reduce>('syncThreadsAnd');
/**
 * A barrier that tells every thread whether `predicate` holds for any of them: 1 or 0. Numba's `cuda.syncthreads_or`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.threadIdx.x] = cuda.syncThreadsOr(cuda.threadIdx.x > 0); }).launch({ grid: 1, block: 4 }, y);
 * console.log(y[0]); // 1
 */
export const syncThreadsOr: Reduce = intrinsic<Reduce>('syncThreadsOr');
/**
 * Waits for the threads of the warp that are named in `mask` (all). Numba's `cuda.syncwarp(mask)`.
 * @example
 * const y = Int32Array.of(1, 2, 3, 4);
 * const reverse = cuda.jit((y: Vec<i32>) => {
 *   const [s, t] = [cuda.shared.array(4, i32), cuda.threadIdx.x];
 *   s[t] = y[t]!;
 *   cuda.syncWarp();
 *   y[t] = s[3 - t]!;
 * });
 * reverse.launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
 */
export const syncWarp: (mask?: number) => void = intrinsic<(mask?: number) => void>('syncWarp');

/** A barrier with a reduction: a boolean or an integer in, an i32 out. */
export type Reduce = (predicate: boolean | number) => number;

/**
 * Orders this thread's memory accesses as seen by the device; no barrier. Numba's `cuda.threadfence()`.
 * @example
 * const y = new Int32Array(2);
 * cuda.jit((y: Vec<i32>) => { y[0] = 7; cuda.threadFence(); cuda.atomic.add(y, 1, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Int32Array(2) [ 7, 1 ]
 */
export const threadFence: () => void = intrinsic<() => void>('threadFence');
/**
 * The same as seen by the block. Numba's `cuda.threadfence_block()`.
 * @example
 * const y = new Int32Array(2);
 * cuda.jit((y: Vec<i32>) => { y[0] = 7; cuda.threadFenceBlock(); cuda.atomic.add(y, 1, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Int32Array(2) [ 7, 1 ]
 */
export const threadFenceBlock: () => void = intrinsic<() => void>('threadFenceBlock');
/**
 * The same as seen by the whole system, the host included. Numba's `cuda.threadfence_system()`.
 * @example
 * const y = new Int32Array(2);
 * cuda.jit((y: Vec<i32>) => { y[0] = 7; cuda.threadFenceSystem(); cuda.atomic.add(y, 1, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Int32Array(2) [ 7, 1 ]
 */
export const threadFenceSystem: () => void = intrinsic<() => void>('threadFenceSystem');

/**
 * Promises that `value` is the same in the whole block, so that it may decide about a barrier. Checked mode verifies it: a fault
 * where it is not. Gives `value`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { if (cuda.uniform(y[0]! === 0)) cuda.syncThreads(); y[cuda.threadIdx.x] = 1; }).launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 1, 1, 1, 1 ]
 */
export const uniform: Uniform = intrinsic<Uniform>('uniform');

/** A value in, the same value out. */
export interface Uniform {
  (value: number): number;
  (value: bigint): bigint;
  (value: boolean): boolean;
}

/**
 * Sleeps for about so many nanoseconds. Numba's `cuda.nanosleep(ns)`.
 * @example
 * const y = new Int32Array(1);
 * cuda.jit((y: Vec<i32>) => { cuda.nanosleep(100); y[0] = 1; }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const nanosleep: (nanoseconds: number) => void = intrinsic<(nanoseconds: number) => void>('nanosleep');

/** All blocks of a launch as one group. */
export interface GridGroup {
  /** A barrier of the whole grid. */
  sync(): number;
}

/**
 * Cooperative groups. Numba's `cuda.cg`.
 * @example
 * const y = new Int32Array(2);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = 1; cuda.cg.thisGrid().sync(); y[cuda.grid(1)]! += y[0]!; }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Int32Array(2) [ 2, 0 ]
 */
export const cg: {
  /**
   * The group of all threads of this launch. Numba's `cuda.cg.this_grid()`.
   * @example
   * const y = new Int32Array(2);
   * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = 1; cuda.cg.thisGrid().sync(); y[cuda.grid(1)]! += y[0]!; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y); // Int32Array(2) [ 2, 0 ]
   */
  readonly thisGrid: () => GridGroup;
} = Object.freeze({
  thisGrid: intrinsic<() => GridGroup>('cg.thisGrid'),
});
