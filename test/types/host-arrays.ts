/** What the editor knows of pinned, mapped and managed arrays, of arrays pinned for a while, and of other libraries' arrays. Compiled, never run. */

import type { DeviceNDArray } from '../../src/array/device-array.ts';
import type { ManagedNDArray, MappedNDArray, PinnedNDArray } from '../../src/array/host-array.ts';
import type { NDArray } from '../../src/array/ndarray.ts';
import type { Mapping, Pinning } from '../../src/array/pinning.ts';
import {
  asCudaArray,
  managedArray,
  mapped,
  mappedArray,
  mappedArrayLike,
  openIpcArray,
  pinned,
  pinnedArray,
  pinnedArrayLike,
} from '../../src/cuda/host.ts';
import { cuda } from '../../src/cuda/namespace.ts';
import type { f32, f64, i32, u8 } from '../../src/dtype/index.ts';
import { f32 as f32Token } from '../../src/dtype/index.ts';
import type { Mat, Vec } from '../../src/kernel/types.ts';

declare const host: NDArray<f64, 2>;

export const pin: PinnedNDArray<f64, 2> = pinnedArray([2, 3]);
export const plain: NDArray<f64, 2> = pin;
export const data: Float32Array = pinnedArray(3, f32Token).data;
export const pinLike: PinnedNDArray<f64, 2> = pinnedArrayLike(host);
export const map: MappedNDArray<f32, 1> = mappedArray(3, 'float32', { portable: true, writeCombined: true });
export const mapLike: MappedNDArray<u8, 1> = mappedArrayLike(new Uint8Array(3));
export const managed: ManagedNDArray<i32, 3> = managedArray([1, 2, 3], 'int32', { attachGlobal: false });
export const device: DeviceNDArray<f32, 1> = map.device;
export const copied: Float32Array = map.copyToHost();
export const part: MappedNDArray<f32> = map.slice('1:2');
export const turned: MappedNDArray<i32, 3> = managed.T;
// @ts-expect-error: pinned memory is for copies only
export const none: unknown = pin.device;
// @ts-expect-error: such an option does not exist
mappedArray(3, 'float32', { wc: true });
// @ts-expect-error: nor do pinned arrays have a stream
pinnedArray(3, 'float32', { stream: 0 });

export const kernel = cuda.jit((a: Vec<f32>) => {
  a[0] = 1;
});
kernel.launch({ threads: 1 }, map);
kernel.launch({ threads: 1 }, map.device);
kernel.launch({ threads: 1 }, map.slice('::2'));
kernel.launch({ threads: 1 }, pinnedArray(3, 'float32'));
// @ts-expect-error: i32 is not f32
kernel.launch({ threads: 1 }, mappedArray(3, 'int32'));
// @ts-expect-error: two axes are not one
kernel.launch({ threads: 1 }, mappedArray([3, 3], 'float32'));

export const guard: Pinning = pinned(host, new Float32Array(3));
export const result: number = pinned(host, () => 3);
export const promised: Promise<string> = pinned(host, async () => 'done');
export const mapping: Mapping = mapped(host);
export const arrays: readonly [DeviceNDArray<f64, 2>, DeviceNDArray<f32, 1>] = mapped(host, new Float32Array(3)).arrays;
export const within: DeviceNDArray<f64, 2> = mapped(host, ([d]) => d);
export const onStream: number = mapped(host, new Uint8Array(2), { stream: 0 }, ([a, b]) => a.size + b.size);
// @ts-expect-error: a device array is on the device already
pinned(device);
// @ts-expect-error: nor are numbers pinned
pinned(3);
export const matrices = cuda.jit((m: Mat<f64>) => {
  m[0][0] = 1;
});
mapped(host, ([d]) => matrices.launch({ threads: [1, 1] }, d));

export const foreign: DeviceNDArray = asCudaArray({ __cuda_array_interface__: {} });
// @ts-expect-error: host arrays have no such interface
asCudaArray(new Float32Array(3));
export const opened: DeviceNDArray = openIpcArray(device.ipcHandle());
export const openedBytes: DeviceNDArray<f32, 2> = openIpcArray(new Uint8Array(64), [2, 3], 'float32', { offset: 4 });
