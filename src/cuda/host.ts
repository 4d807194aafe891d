/**
 * What the host calls of `cuda`, made for its devices: arrays, streams, events, kernels, and the choice of a device.
 *
 * Each is a constant of its own, so that a bundler keeps only what a program uses. What it does is said beside its maker.
 */
import {
  type AsCudaArray,
  asCudaArrayOf,
  type DeviceArray,
  type DeviceArrayLike,
  deviceArrayLikeOf,
  deviceArrayOf,
  type ToDevice,
  toDeviceOf,
} from '../array/device-create.ts';
import { type FromDlpack, fromDlpackOf } from '../array/dlpack.ts';
import type { PageGpuDevice } from '../array/gpu-buffer.ts';
import {
  type ManagedArray,
  type MappedArray,
  type MappedArrayLike,
  managedArrayOf,
  mappedArrayLikeOf,
  mappedArrayOf,
  type PinnedArray,
  type PinnedArrayLike,
  pinnedArrayLikeOf,
  pinnedArrayOf,
} from '../array/host-create.ts';
import { type OpenIpcArray, openIpcArrayOf } from '../array/ipc.ts';
import { type FromGpuBuffer, fromGpuBufferOf, gpuDeviceOf, type Present, presentOf } from '../array/page.ts';
import { type Mapped, mappedOf, type Pinned, pinnedOf } from '../array/pinning.ts';
import { type Jit, jitOf } from '../kernel/jit.ts';
import type { Context } from '../memory/context.ts';
import type { Device } from '../memory/device.ts';
import {
  closeAsyncOf,
  closeOf,
  currentContextOf,
  currentDeviceOf,
  type DeferCleanup,
  deferCleanupOf,
  memoryStatsOf,
  type Open,
  openOf,
  type Profiling,
  profileOf,
  profilingOf,
  type SelectDevice,
  selectDeviceOf,
  synchronizeOf,
  type TakeProfile,
  takeProfileOf,
} from '../memory/device-functions.ts';
import { cudaDevices } from '../memory/devices.ts';
import type { MemoryStats } from '../memory/stats.ts';
import { type CreateEvent, createEventOf } from '../stream/event.ts';
import { type CreateStream, createStreamOf, externalStreamOf, type Stream, streamOf } from '../stream/stream.ts';
import { synchronizeAsyncOf } from '../stream/synchronize.ts';

/**
 * An uninitialised device array; f64 unless told otherwise. A stream becomes the array's own. Numba:
 * `device_array(shape, dtype, strides, order, stream)`.
 * @throws TypeError for a shape that is not made of integers, RangeError for negative lengths, bad strides or order, OutOfMemoryError.
 * @example
 * const d = cuda.deviceArray([2, 3], f32);
 * d.set(1);
 * console.log(d.shape, d.get(1, 2)); // [ 2, 3 ] 1
 */
export const deviceArray: DeviceArray = /* @__PURE__ */ deviceArrayOf(cudaDevices);

/**
 * An uninitialised device array of the shape and dtype of a host or device array, compact, with its axes in the same order in
 * memory (broadcast axes fastest). Numba: `device_array_like(ary, stream)`.
 * @example
 * const d = cuda.deviceArrayLike(new Float32Array(8));
 * console.log(d.shape, d.dtype.name); // [ 8 ] f32
 */
export const deviceArrayLike: DeviceArrayLike = /* @__PURE__ */ deviceArrayLikeOf(cudaDevices);

/**
 * A host array (of any layout), nested arrays or a number, copied to the device; a device array as it is. The new array keeps
 * shape and strides where the host array is one block of memory (broadcast axes apart), else it is compact with the axes in the
 * same order. A plain object with a struct `dtype` becomes a `DeviceRecord`. A stream becomes the array's own, and the copy is enqueued on it. Numba: `to_device(obj, stream, copy, to)`.
 * @throws TypeError for anything that is not an array, OutOfMemoryError; with `to` what `copyToDevice` throws.
 * @example
 * const d = cuda.toDevice(Float32Array.of(1, 2, 3));
 * console.log(d.copyToHost()); // Float32Array(3) [ 1, 2, 3 ]
 */
export const toDevice: ToDevice = /* @__PURE__ */ toDeviceOf(cudaDevices);

/**
 * A device array over the memory of an object of another library that has the CUDA array interface, versions 0 to 3. Nothing is copied,
 * and the object is kept alive. Its stream becomes the array's own and is waited for, unless `sync` is false or
 * `TSAMBA_CUDA_ARRAY_INTERFACE_SYNC` is 0. Memory that is read-only there is so here. Numba: `as_cuda_array(obj, sync=True)`.
 * @throws TypeError when the object has no such interface or it is not sound, NotSupportedError for masked arrays.
 * @example
 * const d = cuda.toDevice(Float32Array.of(1, 2));
 * const same = cuda.asCudaArray(d); // or an array of another library
 * console.log(same.size); // 2
 */
export const asCudaArray: AsCudaArray = /* @__PURE__ */ asCudaArrayOf(cudaDevices);

/**
 * Takes a DLPack tensor, by the pointer to a DLManagedTensor(Versioned) or what `toDlpack` gave: device memory of the current GPU as a
 * `DeviceNDArray`, host memory as an `NDArray`. Nothing is copied (but host memory that is read-only); the tensor's deleter is called, once, when the last array over it was
 * disposed (the `NDArray`: collected) and its memory is not in use any more. The data must be ready: DLPack's structs name no stream.
 * Where it throws, the tensor was not taken.
 * @throws NotSupportedError for tensors of other devices, versions and types, RangeError for one that was taken already.
 * @example
 * if (cuda.isAvailable()) {
 *   const tensor = cuda.toDlpack(cuda.deviceArray(4, f32)); // or one of another library
 *   console.log(cuda.fromDlpack(tensor).shape);
 * }
 */
export const fromDlpack: FromDlpack = /* @__PURE__ */ fromDlpackOf(cudaDevices);

/**
 * A device array over a GPUBuffer of `cuda.gpuDevice()`, with its elements in C order from `offset` on. Nothing is copied, and the buffer stays the program's, which destroys it after the array.
 * It needs the usages STORAGE, COPY_SRC and COPY_DST.
 * @throws NotSupportedError on devices other than WebGPU's, TypeError for anything that is not such a buffer, RangeError where it is too small.
 * @example
 * const wrap = (buffer: Parameters<typeof cuda.fromGpuBuffer>[0]) => cuda.fromGpuBuffer(buffer, { shape: [480, 640], dtype: 'f32' });
 */
export const fromGpuBuffer: FromGpuBuffer = /* @__PURE__ */ fromGpuBufferOf(cudaDevices);

/**
 * The GPUDevice that computes, for buffers, textures and passes of the program's own: WebGPU shares nothing between devices.
 * @throws NotSupportedError on devices other than WebGPU's.
 * @example
 * if (cuda.currentDevice().kind === 'webgpu') {
 *   const device = cuda.gpuDevice();
 * }
 */
export const gpuDevice: () => PageGpuDevice = /* @__PURE__ */ gpuDeviceOf(cudaDevices);

/**
 * Has a canvas show a picture, red, green, blue and alpha of each pixel, which becomes opaque; the canvas gets its size. On WebGPU the canvas is drawn from the array's own memory, after all that was launched
 * before, and nothing is copied to the host; on the CPU device it is copied once. Resolves when that is enqueued, or done.
 * @throws TypeError for anything that is not a picture, or not a canvas, NotSupportedError on devices that no page has.
 * @example
 * const picture = cuda.deviceArray([480, 640], 'u8x4'); // or [480, 640, 4] of u8
 * const show = (canvas: { width: number; height: number; getContext(kind: string): unknown }) => cuda.present(picture, canvas);
 */
export const present: Present = /* @__PURE__ */ presentOf(cudaDevices);

/**
 * A host array in page-locked memory, f64 unless told otherwise: copies between it and the device are faster, and on a stream they do not hold
 * up the host. Dispose it: page-locked memory is scarce. Numba: `pinned_array(shape, dtype, strides, order)`.
 * @throws TypeError for a shape that is not made of integers, RangeError for bad strides or order, OutOfMemoryError.
 * @example
 * const host = cuda.pinnedArray(4, f32);
 * host.set(1);
 * const d = cuda.toDevice(host);
 * host.dispose();
 */
export const pinnedArray: PinnedArray = /* @__PURE__ */ pinnedArrayOf(cudaDevices);

/**
 * A pinned array of the shape and dtype of another array, compact, with its axes in the same order in memory. Numba: `pinned_array_like(ary)`.
 * @example
 * const host = cuda.pinnedArrayLike(new Float32Array(4));
 * console.log(host.shape, host.dtype.name); // [ 4 ] f32
 */
export const pinnedArrayLike: PinnedArrayLike = /* @__PURE__ */ pinnedArrayLikeOf(cudaDevices);

/**
 * A host array that kernels read and write in place, f64 unless told otherwise: pass it to a kernel as it is, then synchronise. A stream becomes
 * that of its `device` array. Numba: `mapped_array(shape, dtype, strides, order, stream, portable, wc)`.
 * @throws as `pinnedArray`, and NotSupportedError where the device cannot reach host memory.
 * @example
 * const y = cuda.mappedArray(2, f32);
 * cuda.jit((y: Vec<f32>) => { y[cuda.grid(1)] = 7; }).launch({ grid: 1, block: 2 }, y);
 * cuda.synchronize();
 * console.log(y.get(1)); // 7
 */
export const mappedArray: MappedArray = /* @__PURE__ */ mappedArrayOf(cudaDevices);

/**
 * A mapped array of the shape and dtype of another array, compact, with its axes in the same order in memory. Numba: `mapped_array_like(ary, …)`.
 * @example
 * const y = cuda.mappedArrayLike(new Float32Array(4));
 * console.log(y.shape, y.device.size); // [ 4 ] 4
 */
export const mappedArrayLike: MappedArrayLike = /* @__PURE__ */ mappedArrayLikeOf(cudaDevices);

/**
 * An array in memory whose pages move to whoever touches them, host or device; f64 unless told otherwise. The host may read and write it once
 * the kernels that use it have been waited for. Numba: `managed_array(shape, dtype, strides, order, stream, attach_global)`.
 * @throws as `pinnedArray`.
 * @example
 * const y = cuda.managedArray(2, f32);
 * cuda.jit((y: Vec<f32>) => { y[cuda.grid(1)] = 7; }).launch({ grid: 1, block: 2 }, y);
 * cuda.synchronize();
 * console.log(y.get(1)); // 7
 */
export const managedArray: ManagedArray = /* @__PURE__ */ managedArrayOf(cudaDevices);

/**
 * Pins host arrays for a while: copies between them and the device are as fast as for `pinnedArray`. Arrays may be passed twice, or be pinned
 * already. With a function as the last argument, runs it (sync or async) and returns its result. Numba: `with cuda.pinned(*arylist)`.
 * @throws TypeError for anything that is not a host array, RangeError for part of what is pinned already, DriverError; then nothing is pinned.
 * @example
 * const x = Float32Array.of(1, 2);
 * const d = cuda.pinned(x, () => cuda.toDevice(x));
 * console.log(d.get(1)); // 2
 */
export const pinned: Pinned = /* @__PURE__ */ pinnedOf(cudaDevices);

/**
 * Lets kernels read and write host arrays in place for a while, through device arrays over the same memory: `arrays` of the result, also
 * given to the body. What the host writes and what kernels write is the same memory: synchronise in between. With a function last, runs that
 * (sync or async) and gives what it gives. `stream` becomes the device arrays' own. Numba: `with cuda.mapped(*arylist, stream=0)`.
 * @throws as `pinned`, and NotSupportedError where the device cannot reach host memory.
 * @example
 * const x = Float32Array.of(1, 2);
 * const double = cuda.jit((y: Vec<f32>) => { y[cuda.grid(1)]! *= 2; });
 * cuda.mapped(x, ([d]) => {
 *   double.launch({ grid: 1, block: 2 }, d);
 *   cuda.synchronize();
 * });
 * console.log(x); // Float32Array(2) [ 2, 4 ]
 */
export const mapped: Mapped = /* @__PURE__ */ mappedOf(cudaDevices);

/**
 * An array of another process on the same GPU, by the handle that its `ipcHandle()` gave. Dispose it before that process frees the memory.
 * Also takes the 64 bytes of a CUipcMemHandle, as Numba's `get_ipc_handle()` and CuPy's `ipcGetMemHandle()` give them, with shape and dtype.
 * Numba: `open_ipc_array(handle, shape, dtype, strides, offset)`.
 * @throws NotSupportedError where processes cannot share memory, RangeError for a handle of this process, TypeError for anything that is not a handle.
 * @example
 * if (cuda.isAvailable()) {
 *   const handle = cuda.deviceArray(4, f32, { ipc: true }).ipcHandle(); // goes to another process, which calls
 *   const open = () => cuda.openIpcArray(handle);
 * }
 */
export const openIpcArray: OpenIpcArray = /* @__PURE__ */ openIpcArrayOf(cudaDevices);

/**
 * Makes a kernel from a function. Nothing is compiled until the first launch, unless there is a `signature`. What the function
 * takes from outside is read then, once. Throws TypeError for bad options; compiling throws KernelError. Numba: `cuda.jit`.
 * @example
 * const scale = cuda.jit((y: Vec<f32>, k: number) => {
 *   const i = cuda.grid(1);
 *   if (i < y.length) y[i]! *= k;
 * });
 * const d = cuda.toDevice(Float32Array.of(1, 2, 3));
 * scale.launch({ threads: 3 }, d, 10);
 * console.log(d.copyToHost()); // Float32Array(3) [ 10, 20, 30 ]
 */
export const jit: Jit<'cuda'> = /* @__PURE__ */ jitOf(cudaDevices);

/**
 * A new event on the current device; `timing: false` makes it cheaper. Numba: `cuda.event(timing=True)`.
 * @example
 * const [start, end] = [cuda.event(), cuda.event()];
 * start.record();
 * end.record();
 * end.synchronize();
 * console.log(start.elapsedTime(end) >= 0); // true
 */
export const event: CreateEvent = /* @__PURE__ */ createEventOf(cudaDevices);

/**
 * A new stream on the current device. Numba: `cuda.stream()`.
 * @example
 * const stream = cuda.stream();
 * const d = cuda.toDevice(Float32Array.of(1, 2), { stream });
 * stream.synchronize();
 * d.dispose();
 * stream.dispose();
 */
export const stream: CreateStream = /* @__PURE__ */ createStreamOf(cudaDevices);

/**
 * The default stream of the current device. Numba: `cuda.default_stream()`.
 * @example
 * const stream = cuda.defaultStream();
 * const d = cuda.toDevice(Float32Array.of(1, 2), { stream });
 * stream.synchronize();
 */
export const defaultStream: () => Stream = /* @__PURE__ */ streamOf(cudaDevices, 'default', 'defaultStream');

/**
 * The default stream that waits for, and is waited for by, all other streams. Numba: `legacy_default_stream()`.
 * @example
 * const stream = cuda.legacyDefaultStream();
 * stream.synchronize();
 */
export const legacyDefaultStream: () => Stream = /* @__PURE__ */ streamOf(cudaDevices, 'legacy', 'legacyDefaultStream');

/**
 * The default stream of this thread. Numba: `per_thread_default_stream()`.
 * @example
 * const stream = cuda.perThreadDefaultStream();
 * stream.synchronize();
 */
export const perThreadDefaultStream: () => Stream = /* @__PURE__ */ streamOf(
  cudaDevices,
  'per-thread',
  'perThreadDefaultStream',
);

/**
 * A stream that another library made, by its CUDA handle (0 and 1 are the legacy default stream, 2 the one of this thread). It
 * stays that library's: disposing does nothing, and it must live until work on it is done. Numba: `external_stream(ptr)`.
 * @throws TypeError for anything but an integer, RangeError for a negative one, NotSupportedError where there are no CUDA streams.
 * @example
 * if (cuda.isAvailable()) {
 *   const stream = cuda.externalStream(1n); // or a CUstream of another library
 *   stream.synchronize();
 * }
 */
export const externalStream: (pointer: number | bigint) => Stream = /* @__PURE__ */ externalStreamOf(cudaDevices);

/**
 * The context that new arrays and launches use; opens the device if it is not open yet. Numba: `current_context()`.
 * @example
 * const { free, total } = cuda.currentContext().memoryInfo();
 * console.log(free <= total); // true
 */
export const currentContext: () => Context = /* @__PURE__ */ currentContextOf(cudaDevices);

/**
 * The device of the current context. Numba: `get_current_device()`.
 * @example
 * console.log(cuda.currentDevice().kind);
 */
export const currentDevice: () => Device = /* @__PURE__ */ currentDeviceOf(cudaDevices);

/**
 * Makes a device the current one: the number of an NVIDIA GPU, or a kind of device, such as `'cpu'`, with a number among those (0). Numba:
 * `select_device(i)`.
 * @throws NotSupportedError when there is no such device or it takes a promise to open it, RangeError for an unknown name.
 * @example
 * cuda.selectDevice('cpu');
 * console.log(cuda.currentDevice().kind); // cpu
 */
export const selectDevice: SelectDevice = /* @__PURE__ */ selectDeviceOf(cudaDevices);

/**
 * As `selectDevice`, with a promise: for any device, including those that cannot be opened while the program waits.
 * @throws NotSupportedError when there is no such device, RangeError for an unknown name.
 * @example
 * const device = await cuda.open('cpu');
 * console.log(device.kind); // cpu
 */
export const open: Open = /* @__PURE__ */ openOf(cudaDevices);

/**
 * Closes all devices that `cuda` has opened: every array, stream and kernel that it has on them is dead. Numba: `close()`.
 * @example
 * const d = cuda.deviceArray(4, f32);
 * cuda.close();
 * console.log(d.disposed); // true
 */
export const close: () => void = /* @__PURE__ */ closeOf(cudaDevices);

/**
 * As `close`, without blocking: resolves when all work of the devices has been done that was asked for before, and they are closed. What went
 * wrong there and nobody was told of is a warning.
 * @example
 * const d = cuda.deviceArray(4, f32);
 * await cuda.closeAsync();
 * console.log(d.disposed); // true
 */
export const closeAsync: () => Promise<void> = /* @__PURE__ */ closeAsyncOf(cudaDevices);

/**
 * Blocks until all work of the current device has been done, then throws what went wrong, if anything did. Numba:
 * `cuda.synchronize()`.
 * @example
 * cuda.synchronize(); // all launches so far are done
 */
export const synchronize: () => void = /* @__PURE__ */ synchronizeOf(cudaDevices);

/**
 * Resolves when the work that is on the current device now has been done, without blocking the event loop; rejects with what went
 * wrong. The only form of `synchronize()` on devices that nothing can wait for.
 * @example
 * await cuda.synchronizeAsync(); // all launches so far are done
 */
export const synchronizeAsync: () => Promise<void> = /* @__PURE__ */ synchronizeAsyncOf(cudaDevices);

/**
 * Bytes live, pending, pooled and at the peak; counts of allocations, frees, copies and synchronisations.
 * @example
 * const d = cuda.deviceArray(1000, f32);
 * console.log(cuda.memoryStats().live >= d.nbytes); // true
 */
export const memoryStats: () => MemoryStats = /* @__PURE__ */ memoryStatsOf(cudaDevices);

/**
 * Runs `body` (sync or async) and reports what was done meanwhile, in the whole process: launches, copies, fills, graphs, products, collectives,
 * compiling and waiting, with the host's times and, by events, the device's. Resolves when the body and all work that it has enqueued are done. Gives a `Profile`:
 * `events`, `summary()`, `save(file)` for ui.perfetto.dev, and `result`. Profiles may nest and overlap. `file` saves it, also when the body fails.
 * @throws as promise: what the body throws; then the profile is over. TypeError for bad options.
 * @example
 * const scale = cuda.jit((y: Vec<f32>, k: number) => { y[cuda.grid(1)]! *= k; });
 * const d = cuda.toDevice(new Float32Array(64));
 * const profile = await cuda.profile(() => {
 *   scale.launch({ grid: 1, block: 64 }, d, 2);
 * });
 * console.log(profile.events.map(({ kind }) => kind)); // [ 'compile', 'launch' ]
 * console.log(String(profile.summary()));
 */
export const profile: TakeProfile = /* @__PURE__ */ takeProfileOf(cudaDevices);

/**
 * Has a profiler record from here on: Nsight Systems with `--capture-range=cudaProfilerApi`, Nsight Compute with `--profile-from-start off`. Does nothing where
 * no profiler can watch. Numba: `cuda.profile_start()`.
 * @example
 * cuda.profileStart();
 * cuda.deviceArray(4, f32).dispose(); // recorded
 * cuda.profileStop();
 */
export const profileStart: () => void = /* @__PURE__ */ profileOf(cudaDevices, 'profileStart', true);

/**
 * Has the profiler record no more. What has been launched and is to be recorded should be waited for first: `cuda.synchronize()`. Numba: `cuda.profile_stop()`.
 * @example
 * cuda.profileStart();
 * cuda.profileStop();
 */
export const profileStop: () => void = /* @__PURE__ */ profileOf(cudaDevices, 'profileStop', false);

/**
 * Has a profiler record until the result is disposed of, or until `body` (sync or async) is done. Numba: `cuda.profiling()`.
 * @example
 * cuda.profiling(() => {
 *   cuda.deviceArray(4, f32).dispose(); // recorded
 * });
 */
export const profiling: Profiling = /* @__PURE__ */ profilingOf(cudaDevices);

/**
 * Puts off all freeing on the current context until the result is disposed of, or until `body` (sync or async) is done. Nests.
 * Leaving frees nothing by itself: the next deallocation beyond the limits does. While it is in force, running out of memory
 * cannot free what is pending. Numba: `defer_cleanup()`.
 * @example
 * cuda.deferCleanup(() => {
 *   cuda.deviceArray(4, f32).dispose(); // freed later
 * });
 */
export const deferCleanup: DeferCleanup = /* @__PURE__ */ deferCleanupOf(cudaDevices);
