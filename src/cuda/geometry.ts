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

/**
 * The thread's position in its block. CUDA's `threadIdx`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.threadIdx.x; }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 0, 1, 0, 1 ]
 */
export const threadIdx: Index3 = intrinsicObject<Index3>('threadIdx', XYZ);
/**
 * The block's position in the grid. CUDA's `blockIdx`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.blockIdx.x; }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 0, 0, 1, 1 ]
 */
export const blockIdx: Index3 = intrinsicObject<Index3>('blockIdx', XYZ);
/**
 * Threads in a block. CUDA's `blockDim`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.blockDim.x; }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 2, 2, 2, 2 ]
 */
export const blockDim: Index3 = intrinsicObject<Index3>('blockDim', XYZ);
/**
 * Blocks in the grid. CUDA's `gridDim`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.gridDim.x; }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 2, 2, 2, 2 ]
 */
export const gridDim: Index3 = intrinsicObject<Index3>('gridDim', XYZ);

/** One number, or one for each of two or three dimensions. The number of dimensions is a literal. */
export interface ByDimension {
  (ndim: 1): number;
  (ndim: 2): readonly [x: number, y: number];
  (ndim: 3): readonly [x: number, y: number, z: number];
}

/**
 * The thread's position in the whole grid: `blockIdx * blockDim + threadIdx`, x first. Numba's `cuda.grid(ndim)`.
 * @example
 * const A = cuda.deviceArray([2, 3], i32);
 * const fill = cuda.jit((A: Mat<i32>) => {
 *   const [x, y] = cuda.grid(2);
 *   if (y < A.shape[0] && x < A.shape[1]) A[y]![x] = 10 * y + x;
 * });
 * fill.launch({ threads: [3, 2] }, A);
 * console.log(A.copyToHost().toArray()); // [ [ 0, 1, 2 ], [ 10, 11, 12 ] ]
 */
export const grid: ByDimension = intrinsic<ByDimension>('grid');
/**
 * Threads in the whole grid: `gridDim * blockDim`, x first; the step of a grid-stride loop. Numba's `cuda.gridsize(ndim)`.
 * @example
 * const y = new Float32Array(5);
 * const fill = cuda.jit((y: Vec<f32>) => {
 *   for (let i = cuda.grid(1); i < y.length; i += cuda.gridSize(1)) y[i] = i;
 * });
 * fill.launch({ grid: 1, block: 2 }, y);
 * console.log(y); // Float32Array(5) [ 0, 1, 2, 3, 4 ]
 */
export const gridSize: ByDimension = intrinsic<ByDimension>('gridSize');

/**
 * The thread's position in its warp, from 0 to `warpSize - 1`. Numba's `cuda.laneid`.
 * @example
 * const y = new Int32Array(4);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.laneId; }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 0, 1, 0, 1 ]
 */
export const laneId: i32 = intrinsicNumber('laneId');
/**
 * Threads in a warp. Numba's `cuda.warpsize`.
 * @example
 * const y = new Int32Array(1);
 * cuda.jit((y: Vec<i32>) => { y[0] = cuda.warpSize; }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 32
 */
export const warpSize: i32 = intrinsicNumber('warpSize');
