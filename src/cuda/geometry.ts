/**
 * Where a thread is: `threadIdx`, `blockIdx`, `blockDim`, `gridDim`, and what follows from them.
 *
 * Opaque values that the compiler knows by identity; on the host they throw.
 */
import { intrinsic, intrinsicNumber, intrinsicObject } from '../compiler/intrinsics.ts';
import type { i32 } from '../dtype/index.ts';

/** Three i32 numbers: along x (neighbouring threads, and the last axis of an array), y and z. */
export interface Index3 {
  /** Along x: neighbouring threads, the last axis of an array. */
  readonly x: i32;
  /** Along y; 0 of an index and 1 of a size where there is no second dimension. */
  readonly y: i32;
  /** Along z; 0 of an index and 1 of a size where there is no third dimension. */
  readonly z: i32;
}

const XYZ = ['x', 'y', 'z'] as const;

/** The thread's place in its block. CUDA's `threadIdx`. */
export const threadIdx: Index3 = intrinsicObject<Index3>('threadIdx', XYZ);
/** The block's place in the grid. CUDA's `blockIdx`. */
export const blockIdx: Index3 = intrinsicObject<Index3>('blockIdx', XYZ);
/** Threads in a block. CUDA's `blockDim`. */
export const blockDim: Index3 = intrinsicObject<Index3>('blockDim', XYZ);
/** Blocks in the grid. CUDA's `gridDim`. */
export const gridDim: Index3 = intrinsicObject<Index3>('gridDim', XYZ);

/** One number, or one for each of two or three dimensions. The number of dimensions is a literal. */
export interface ByDimension {
  (ndim: 1): number;
  (ndim: 2): readonly [x: number, y: number];
  (ndim: 3): readonly [x: number, y: number, z: number];
}

/** The thread's place in the whole grid: `blockIdx * blockDim + threadIdx`, x first. Numba's `cuda.grid(ndim)`. */
export const grid: ByDimension = intrinsic<ByDimension>('grid');
/** Threads in the whole grid: `gridDim * blockDim`, x first; the step of a grid-stride loop. Numba's `cuda.gridsize(ndim)`. */
export const gridSize: ByDimension = intrinsic<ByDimension>('gridSize');

/** The thread's place in its warp, from 0 to `warpSize - 1`. Numba's `cuda.laneid`. */
export const laneId: i32 = intrinsicNumber('laneId');
/** Threads in a warp. Numba's `cuda.warpsize`. */
export const warpSize: i32 = intrinsicNumber('warpSize');
