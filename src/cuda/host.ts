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
import { rehearsed } from '../kernel/rehearsal.ts';
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
 * Creates an uninitialised device array, f64 by default. With a stream, the array is bound to it. Numba:
 * `device_array(shape, dtype, strides, order, stream)`.
 * @throws TypeError for a shape that is not made of integers, RangeError for negative lengths, bad strides or order, OutOfMemoryError.
 * @example
 * const d = cuda.deviceArray([2, 3], f32);
 * d.set(1);
 * console.log(d.shape, d.get(1, 2)); // [ 2, 3 ] 1
 */
export const deviceArray: DeviceArray = /* @__PURE__ */ deviceArrayOf(cudaDevices);

/**
 * Creates an uninitialised device array with the shape and dtype of a host or device array: compact, with its axes in the same order in memory (broadcast axes fastest). Numba: `device_array_like(ary, stream)`.
 * @example
 * const d = cuda.deviceArrayLike(new Float32Array(8));
 * console.log(d.shape, d.dtype.name); // [ 8 ] f32
 */
export const deviceArrayLike: DeviceArrayLike = /* @__PURE__ */ deviceArrayLikeOf(cudaDevices);

/**
 * Copies a host array (of any layout), nested arrays or a number to the device; returns a device array as it is. The new array keeps shape and
 * strides if the host array is one block of memory (apart from broadcast axes); otherwise it is compact, with the axes in the same order. A plain
 * object with a struct `dtype` becomes a `DeviceRecord`. With a stream, the array is bound to it and the copy is enqueued on it. Numba: `to_device(obj, stream, copy, to)`.
 * @throws TypeError for anything that is not an array, OutOfMemoryError; with `to` what `copyToDevice` throws.
 * @example
 * const d = cuda.toDevice(Float32Array.of(1, 2, 3));
 * console.log(d.copyToHost()); // Float32Array(3) [ 1, 2, 3 ]
 */
export const toDevice: ToDevice = /* @__PURE__ */ toDeviceOf(cudaDevices);

/**
 * Wraps an object of another library that has the CUDA array interface, versions 0 to 3, in a device array over the same memory. Nothing is copied,
 * and the object is kept alive. Its stream becomes the array's own and is waited for, unless `sync` is false or `TSAMBA_CUDA_ARRAY_INTERFACE_SYNC` is
 * 0. Read-only memory stays read-only. Numba: `as_cuda_array(obj, sync=True)`.
 * @throws TypeError when the object has no such interface or an invalid one, NotSupportedError for masked arrays.
 * @example
 * const d = cuda.toDevice(Float32Array.of(1, 2));
 * const same = cuda.asCudaArray(d); // or an array of another library
 * console.log(same.size); // 2
 */
export const asCudaArray: AsCudaArray = /* @__PURE__ */ asCudaArrayOf(cudaDevices);

/**
 * Imports a DLPack tensor, from a pointer to a DLManagedTensor(Versioned) or the result of `toDlpack`: device memory of the current GPU as a
 * `DeviceNDArray`, host memory as an `NDArray`. Nothing is copied, except read-only host memory. The tensor's deleter is called once, when the last
 * array over it has been disposed of (for an `NDArray`: collected) and its memory is no longer in use. The data must be ready: DLPack's structs name
 * no stream. If this throws, the tensor has not been consumed.
 * @throws NotSupportedError for tensors of other devices, versions and types, RangeError for one that was already consumed.
 * @example
 * if (cuda.isAvailable()) {
 *   const tensor = cuda.toDlpack(cuda.deviceArray(4, f32)); // or one of another library
 *   console.log(cuda.fromDlpack(tensor).shape);
 * }
 */
export const fromDlpack: FromDlpack = /* @__PURE__ */ fromDlpackOf(cudaDevices);

/**
 * Wraps a GPUBuffer of `cuda.gpuDevice()` in a device array, with its elements in C order from `offset` on. Nothing is copied, and the buffer stays
 * yours: destroy it after disposing of the array. It needs the usages STORAGE, COPY_SRC and COPY_DST.
 * @throws NotSupportedError on devices other than WebGPU's, TypeError for anything that is not such a buffer, RangeError where it is too small.
 * @example
 * const wrap = (buffer: Parameters<typeof cuda.fromGpuBuffer>[0]) => cuda.fromGpuBuffer(buffer, { shape: [480, 640], dtype: 'f32' });
 */
export const fromGpuBuffer: FromGpuBuffer = /* @__PURE__ */ fromGpuBufferOf(cudaDevices);

/**
 * The GPUDevice that computes, for creating your own buffers, textures and passes: WebGPU shares nothing between devices.
 * @throws NotSupportedError on devices other than WebGPU's.
 * @example
 * if (cuda.currentDevice().kind === 'webgpu') {
 *   const device = cuda.gpuDevice();
 * }
 */
export const gpuDevice: () => PageGpuDevice = /* @__PURE__ */ gpuDeviceOf(cudaDevices);

/**
 * Shows a picture on a canvas: red, green, blue and alpha of each pixel, opaque; the canvas gets its size. On WebGPU the canvas is drawn from the
 * array's own memory, after all earlier launches, and nothing is copied to the host; on the CPU device it is copied once. Resolves when that has been
 * enqueued, or done.
 * @throws TypeError for anything that is not a picture, or not a canvas, NotSupportedError on devices that do not exist in pages.
 * @example
 * const picture = cuda.deviceArray([480, 640], 'u8x4'); // or [480, 640, 4] of u8
 * const show = (canvas: { width: number; height: number; getContext(kind: string): unknown }) => cuda.present(picture, canvas);
 */
export const present: Present = /* @__PURE__ */ presentOf(cudaDevices);

/**
 * Creates a host array in page-locked memory, f64 by default: copies between it and the device are faster, and on a stream they do not block the
 * host. Dispose of it: page-locked memory is scarce. Numba: `pinned_array(shape, dtype, strides, order)`.
 * @throws TypeError for a shape that is not made of integers, RangeError for bad strides or order, OutOfMemoryError.
 * @example
 * const host = cuda.pinnedArray(4, f32);
 * host.set(1);
 * const d = cuda.toDevice(host);
 * host.dispose();
 */
export const pinnedArray: PinnedArray = /* @__PURE__ */ pinnedArrayOf(cudaDevices);

/**
 * Creates a pinned array with the shape and dtype of another array, compact, with its axes in the same order in memory. Numba: `pinned_array_like(ary)`.
 * @example
 * const host = cuda.pinnedArrayLike(new Float32Array(4));
 * console.log(host.shape, host.dtype.name); // [ 4 ] f32
 */
export const pinnedArrayLike: PinnedArrayLike = /* @__PURE__ */ pinnedArrayLikeOf(cudaDevices);

/**
 * Creates a host array that kernels read and write in place, f64 by default: pass it to a kernel directly, then synchronise. With a stream, its
 * `device` array is bound to it. Numba: `mapped_array(shape, dtype, strides, order, stream, portable, wc)`.
 * @throws as `pinnedArray`, and NotSupportedError if the device cannot access host memory.
 * @example
 * const y = cuda.mappedArray(2, f32);
 * cuda.jit((y: Vec<f32>) => { y[cuda.grid(1)] = 7; }).launch({ grid: 1, block: 2 }, y);
 * cuda.synchronize();
 * console.log(y.get(1)); // 7
 */
export const mappedArray: MappedArray = /* @__PURE__ */ mappedArrayOf(cudaDevices);

/**
 * Creates a mapped array with the shape and dtype of another array, compact, with its axes in the same order in memory. Numba: `mapped_array_like(ary, …)`.
 * @example
 * const y = cuda.mappedArrayLike(new Float32Array(4));
 * console.log(y.shape, y.device.size); // [ 4 ] 4
 */
export const mappedArrayLike: MappedArrayLike = /* @__PURE__ */ mappedArrayLikeOf(cudaDevices);

/**
 * Creates an array whose memory pages migrate to whichever side accesses them, host or device; f64 by default. The host may read and write it once
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
 * @throws TypeError for anything that is not a host array, RangeError for part of an array that is already pinned, DriverError; then nothing is pinned.
 * @example
 * const x = Float32Array.of(1, 2);
 * const d = cuda.pinned(x, () => cuda.toDevice(x));
 * console.log(d.get(1)); // 2
 */
export const pinned: Pinned = /* @__PURE__ */ pinnedOf(cudaDevices);

/**
 * Lets kernels read and write host arrays in place for a while, through device arrays over the same memory: `arrays` of the result, which the body
 * also receives. Host and kernels write to the same memory: synchronise in between. With a function as the last argument, runs it (sync or async) and
 * returns its result. With `stream`, the device arrays are bound to it. Numba: `with cuda.mapped(*arylist, stream=0)`.
 * @throws as `pinned`, and NotSupportedError if the device cannot access host memory.
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
 * Opens an array of another process on the same GPU, through the result of its `ipcHandle()`. Dispose of it before that process frees the memory.
 * Also accepts the 64 bytes of a CUipcMemHandle, as returned by Numba's `get_ipc_handle()` and CuPy's `ipcGetMemHandle()`, with shape and dtype.
 * Numba: `open_ipc_array(handle, shape, dtype, strides, offset)`.
 * @throws NotSupportedError if processes cannot share memory, RangeError for a handle of this process, TypeError for anything that is not a handle.
 * @example
 * if (cuda.isAvailable()) {
 *   const handle = cuda.deviceArray(4, f32, { ipc: true }).ipcHandle(); // goes to another process, which calls
 *   const open = () => cuda.openIpcArray(handle);
 * }
 */
export const openIpcArray: OpenIpcArray = /* @__PURE__ */ openIpcArrayOf(cudaDevices);

/**
 * Makes a kernel from a function. Nothing is compiled until the first launch, unless there is a `signature`. Captured values are read then, once.
 * Throws TypeError for invalid options; compiling throws KernelError. Numba: `cuda.jit`.
 * @example
 * const scale = cuda.jit((y: Vec<f32>, k: number) => {
 *   const i = cuda.grid(1);
 *   if (i < y.length) y[i]! *= k;
 * });
 * const d = cuda.toDevice(Float32Array.of(1, 2, 3));
 * scale.launch({ threads: 3 }, d, 10);
 * console.log(d.copyToHost()); // Float32Array(3) [ 10, 20, 30 ]
 */
export const jit: Jit<'cuda'> = /* @__PURE__ */ jitOf(/* @__PURE__ */ rehearsed(cudaDevices));

/**
 * Creates an event on the current device; `timing: false` makes it cheaper. Numba: `cuda.event(timing=True)`.
 * @example
 * const [start, end] = [cuda.event(), cuda.event()];
 * start.record();
 * end.record();
 * end.synchronize();
 * console.log(start.elapsedTime(end) >= 0); // true
 */
export const event: CreateEvent = /* @__PURE__ */ createEventOf(cudaDevices);

/**
 * Creates a stream on the current device. Numba: `cuda.stream()`.
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
 * Wraps a stream created by another library, given its CUDA handle (0 and 1 are the legacy default stream, 2 that of this thread). It still belongs
 * to that library: disposing of it does nothing, and it must live until work on it is done. Numba: `external_stream(ptr)`.
 * @throws TypeError for anything but an integer, RangeError for a negative one, NotSupportedError on devices without CUDA streams.
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
 * Makes a device the current one: the number of an NVIDIA GPU, or a kind of device, such as `'cpu'`, with an index among those (0). Numba:
 * `select_device(i)`.
 * @throws NotSupportedError if there is no such device or opening it takes a promise, RangeError for an unknown name.
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
 * Closes all devices that `cuda` has opened: its arrays, streams and kernels on them become invalid. Numba: `close()`.
 * @example
 * const d = cuda.deviceArray(4, f32);
 * cuda.close();
 * console.log(d.disposed); // true
 */
export const close: () => void = /* @__PURE__ */ closeOf(cudaDevices);

/**
 * As `close`, without blocking: resolves when all earlier work of the devices is done and they are closed. Unreported failures become warnings.
 * @example
 * const d = cuda.deviceArray(4, f32);
 * await cuda.closeAsync();
 * console.log(d.disposed); // true
 */
export const closeAsync: () => Promise<void> = /* @__PURE__ */ closeAsyncOf(cudaDevices);

/**
 * Blocks until all work of the current device is done, then throws the error if something failed. Numba:
 * `cuda.synchronize()`.
 * @example
 * cuda.synchronize(); // all launches so far are done
 */
export const synchronize: () => void = /* @__PURE__ */ synchronizeOf(cudaDevices);

/**
 * Resolves when the work now on the current device is done, without blocking the event loop; rejects if it failed. On devices that cannot be waited
 * for, it is the only form of `synchronize()`.
 * @example
 * await cuda.synchronizeAsync(); // all launches so far are done
 */
export const synchronizeAsync: () => Promise<void> = /* @__PURE__ */ synchronizeAsyncOf(cudaDevices);

/**
 * Bytes that are live, pending and pooled, and their peak; counts of allocations, frees, copies and synchronisations.
 * @example
 * const d = cuda.deviceArray(1000, f32);
 * console.log(cuda.memoryStats().live >= d.nbytes); // true
 */
export const memoryStats: () => MemoryStats = /* @__PURE__ */ memoryStatsOf(cudaDevices);

/**
 * Runs `body` (sync or async) and reports what was done meanwhile, in the whole process: launches, copies, fills, graphs, products, collectives,
 * compiling and waiting, with the host's times and, from events, the device's. Resolves to a `Profile` when the body and all work it has enqueued are
 * done: `events`, `summary()`, `save(file)` for ui.perfetto.dev, and `result`. Profiles may nest and overlap. `file` saves it, even if the body
 * fails.
 * @throws as promise: what the body throws, after ending the profile. TypeError for invalid options.
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
 * Makes a profiler record from here on: Nsight Systems with `--capture-range=cudaProfilerApi`, Nsight Compute with `--profile-from-start off`. Does
 * nothing if no profiler can watch. Numba: `cuda.profile_start()`.
 * @example
 * cuda.profileStart();
 * cuda.deviceArray(4, f32).dispose(); // recorded
 * cuda.profileStop();
 */
export const profileStart: () => void = /* @__PURE__ */ profileOf(cudaDevices, 'profileStart', true);

/**
 * Makes the profiler stop recording. First wait for launched work that is to be recorded: `cuda.synchronize()`. Numba: `cuda.profile_stop()`.
 * @example
 * cuda.profileStart();
 * cuda.profileStop();
 */
export const profileStop: () => void = /* @__PURE__ */ profileOf(cudaDevices, 'profileStop', false);

/**
 * Makes a profiler record until the result is disposed of, or until `body` (sync or async) is done. Numba: `cuda.profiling()`.
 * @example
 * cuda.profiling(() => {
 *   cuda.deviceArray(4, f32).dispose(); // recorded
 * });
 */
export const profiling: Profiling = /* @__PURE__ */ profilingOf(cudaDevices);

/**
 * Postpones all freeing on the current context until the result is disposed of, or until `body` (sync or async) is done. May be nested. Leaving it
 * frees nothing: the next deallocation beyond the limits does. While it is in effect, running out of memory cannot free what is pending. Numba: `defer_cleanup()`.
 * @example
 * cuda.deferCleanup(() => {
 *   cuda.deviceArray(4, f32).dispose(); // freed later
 * });
 */
export const deferCleanup: DeferCleanup = /* @__PURE__ */ deferCleanupOf(cudaDevices);
