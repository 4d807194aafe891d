/**
 * Checked by the compiler alone: what the editor knows of device arrays, their ranks and what copies of them give.
 */

import { DeviceNDArray } from '../../src/array/device-array.ts';
import type { NDArray } from '../../src/array/ndarray.ts';
import { ndarray } from '../../src/array/ndarray-create.ts';
import { deviceArray, deviceArrayLike, toDevice } from '../../src/cuda/host.ts';
import type { bool, c64, f16, f32, f64, i64, u8 } from '../../src/dtype/index.ts';
import { f32 as f32Token } from '../../src/dtype/index.ts';

declare const vector: DeviceNDArray<f64, 1>;
declare const matrix: DeviceNDArray<f64, 2>;
declare const unknownRank: DeviceNDArray<f64>;
declare const anyArray: DeviceNDArray;
declare const bytes: DeviceNDArray<u8, 1>;
declare const halves: DeviceNDArray<f16, 1>;
declare const row: () => NDArray<f64, 1>;

// An array goes where less is known of it.
export const any: DeviceNDArray = vector;
export const ofF64: DeviceNDArray<f64> = vector;
export const list: DeviceNDArray[] = [vector, matrix];
// @ts-expect-error: one axis is not two
export const wrongRank: DeviceNDArray<f64, 2> = vector;
// @ts-expect-error: f64 is not f32
export const wrongType: DeviceNDArray<f32, 1> = vector;

// Copies of one axis of numbers are TypedArrays, all else are NDArrays.
export const plain: Float64Array = vector.copyToHost();
export const later: Promise<Float64Array> = vector.copyToHostAsync();
export const big: BigInt64Array = (vector as unknown as DeviceNDArray<i64, 1>).copyToHost();
export const square: NDArray<f64, 2> = matrix.copyToHost();
export const complex: NDArray<c64, 1> = (vector as unknown as DeviceNDArray<c64, 1>).copyToHost();
export const flags: NDArray<bool, 1> = (vector as unknown as DeviceNDArray<bool, 1>).copyToHost();
export const either: NDArray<f64> | Float64Array = unknownRank.copyToHost();
export const into: Float64Array = vector.copyToHost(new Float64Array(3));
export const intoArray: NDArray<f64, 1> = vector.copyToHost(row());
export const intoUnknown: Float32Array = anyArray.copyToHost(new Float32Array(3));
export const clamped: Uint8ClampedArray = bytes.copyToHost(new Uint8ClampedArray(3));
// @ts-expect-error: nothing is converted
vector.copyToHost(new Float32Array(3));
// @ts-expect-error: nor into host arrays of another type
vector.copyToHost(ndarray.zeros(3, f32Token));
// @ts-expect-error: nor later
vector.copyToHostAsync(new Float32Array(3));
// @ts-expect-error: narrow floats are no numbers to TypedArrays
halves.copyToHost(new Uint16Array(3));

// Shapes and dtypes tell ranks and element types.
export const made: DeviceNDArray<f32, 2> = deviceArray([2, 3], 'float32');
export const byToken: DeviceNDArray<f32, 1> = deviceArray(3, f32Token);
export const byDefault: DeviceNDArray<f64, 3> = deviceArray([2, 3, 4]);
export const like: DeviceNDArray<f32, 1> = deviceArrayLike(new Float32Array(3));
export const sent: DeviceNDArray<f32, 1> = toDevice(new Float32Array(3));
export const scalar: DeviceNDArray<f64, 0> = toDevice(2);
export const reshaped: DeviceNDArray<f64, 2> = vector.reshape([2, -1]);
export const flat: DeviceNDArray<f64, 1> = matrix.ravel();
export const bits: DeviceNDArray<i64, 1> = vector.view('int64');
export const element: number = vector.get(0);
export const constructed: DeviceNDArray<f32> = new DeviceNDArray(3, null, f32Token);
// @ts-expect-error: an element of an i64 array is a bigint
export const notNumber: number = bits.get(0);

// Nested arrays tell their rank, and a shape overrides it.
export const nested: NDArray<f64, 1> = ndarray([1, 2]);
export const none: NDArray<f64, 1> = ndarray([]);
export const rows: NDArray<f64, 2> = ndarray([
  [1, 2],
  [3, 4],
]);
export const cube: NDArray<i64, 3> = ndarray([[[1n], [2n]]]);
export const switches: NDArray<bool, 2> = ndarray([[true], [false]]);
export const ofTyped: NDArray<f64, 2> = ndarray([new Float64Array(2), new Float64Array(2)]);
export const single: NDArray<f64, 0> = ndarray(2);
export const cast: NDArray<f32, 2> = ndarray([[1, 2]], { dtype: f32Token });
export const shaped: NDArray<f64, 2> = ndarray([1, 2, 3, 4], { shape: [2, 2] });
export const open: NDArray<f64> = ndarray([] as number[][][][][]);
export const sentRows: DeviceNDArray<f64, 2> = toDevice([[1, 2]]);
// @ts-expect-error: two axes are not one
export const notRow: NDArray<f64, 1> = ndarray([[1, 2]]);
