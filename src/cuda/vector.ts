/**
 * Neighbours in an array of numbers, read and written as a vector: one wide access.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import type { ValueOf } from '../dtype/types.ts';
import type { VectorToken } from '../dtype/vector.ts';
import type { Viewed } from '../kernel/types.ts';

/** `vload(a, i, f32x4)`. */
export type VectorLoad = <const D extends VectorToken<unknown>>(
  array: Viewed<unknown, number>,
  index: number,
  type: D,
) => ValueOf<D>;

/** `vstore(a, i, v)`. */
export type VectorStore = (array: Viewed<unknown, number>, index: number, value: object | number | bigint) => void;

/**
 * The elements `a[i]`, `a[i + 1]`, … as one vector: `const v = cuda.vload(a, 4 * i, f32x4)`. The lanes have the type of the elements; all of them must be there.
 * One access where the address is a multiple of the vector's bytes, which it is when `i` is a multiple of its lanes and the array begins at
 * such an address, as all that Tsamba allocates does; elsewhere the elements are read one by one. In checked mode another index is
 * an error. PTX: `ld.v4`; OpenCL: `vload4`.
 * @example
 * const y = Float32Array.of(1, 2, 3, 4);
 * cuda.jit((y: Vec<f32>) => {
 *   const v: f32x4 = cuda.vload(y, 0, f32x4);
 *   y[0] = v.x + v.w;
 * }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 5
 */
export const vload: VectorLoad = intrinsic<VectorLoad>('vload');

/**
 * Stores the lanes of a vector to `a[i]`, `a[i + 1]`, …: `cuda.vstore(a, 4 * i, f32x4(x, y, z, w))`. One access where `vload` would be one.
 * PTX: `st.v4`; OpenCL: `vstore4`.
 * @example
 * const y = new Float32Array(4);
 * cuda.jit((y: Vec<f32>) => { cuda.vstore(y, 0, f32x4(1, 2, 3, 4)); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Float32Array(4) [ 1, 2, 3, 4 ]
 */
export const vstore: VectorStore = intrinsic<VectorStore>('vstore');
