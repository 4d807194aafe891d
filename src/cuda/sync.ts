/**
 * Barriers, fences and what else orders the threads of a kernel.
 *
 * A barrier must be reached by all threads of a block or by none; the compiler proves that or refuses the kernel.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

/**
 * Waits for all threads of the block; what they wrote to memory before is then visible. All threads that have not returned must
 * reach it: a kernel in which only some would does not compile (K401). Numba's `cuda.syncthreads()`.
 */
export const syncThreads: () => void = intrinsic<() => void>('syncThreads');
/** A barrier that tells every thread for how many of them `predicate` holds: an i32. Numba's `cuda.syncthreads_count`. */
export const syncThreadsCount: Reduce = intrinsic<Reduce>('syncThreadsCount');
/** A barrier that tells every thread whether `predicate` holds for all of them: 1 or 0. Numba's `cuda.syncthreads_and`. */
export const syncThreadsAnd: Reduce = intrinsic<Reduce>('syncThreadsAnd');
/** A barrier that tells every thread whether `predicate` holds for any of them: 1 or 0. Numba's `cuda.syncthreads_or`. */
export const syncThreadsOr: Reduce = intrinsic<Reduce>('syncThreadsOr');
/** Waits for the threads of the warp that are named in `mask` (all). Numba's `cuda.syncwarp(mask)`. */
export const syncWarp: (mask?: number) => void = intrinsic<(mask?: number) => void>('syncWarp');

/** A barrier with a reduction: a boolean or an integer in, an i32 out. */
export type Reduce = (predicate: boolean | number) => number;

/** Orders this thread's memory accesses as seen by the device; no barrier. Numba's `cuda.threadfence()`. */
export const threadFence: () => void = intrinsic<() => void>('threadFence');
/** The same as seen by the block. Numba's `cuda.threadfence_block()`. */
export const threadFenceBlock: () => void = intrinsic<() => void>('threadFenceBlock');
/** The same as seen by the whole system, the host included. Numba's `cuda.threadfence_system()`. */
export const threadFenceSystem: () => void = intrinsic<() => void>('threadFenceSystem');

/**
 * Promises that `value` is the same in the whole block, so that it may decide about a barrier. Checked mode verifies it: a fault
 * where it is not. Gives `value`.
 */
export const uniform: Uniform = intrinsic<Uniform>('uniform');

/** A value in, the same value out. */
export interface Uniform {
  (value: number): number;
  (value: bigint): bigint;
  (value: boolean): boolean;
}

/** Sleeps for about so many nanoseconds. Numba's `cuda.nanosleep(ns)`. */
export const nanosleep: (nanoseconds: number) => void = intrinsic<(nanoseconds: number) => void>('nanosleep');

/** All blocks of a launch as one group. */
export interface GridGroup {
  /** A barrier of the whole grid. */
  sync(): number;
}

/** Cooperative groups. Numba's `cuda.cg`. */
export const cg: {
  /** The group of all threads of this launch. Numba's `cuda.cg.this_grid()`. */
  readonly thisGrid: () => GridGroup;
} = Object.freeze({
  thisGrid: intrinsic<() => GridGroup>('cg.thisGrid'),
});
