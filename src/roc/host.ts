/**
 * What the host calls of `roc`, made for its devices: kernels, streams, host arrays, and the choice of a device. Device arrays are
 * `arrays.ts`.
 */
import {
  type MappedArray,
  type PinnedArray,
  type PinnedArrayOptions,
  pinnedArrayOf,
  simpleMappedArrayOf,
} from '../array/host-create.ts';
import { type Jit, jitOf } from '../kernel/jit.ts';
import type { Context } from '../memory/context.ts';
import {
  closeAsyncOf,
  closeOf,
  currentContextOf,
  currentDeviceOf,
  memoryStatsOf,
  type Open,
  openOf,
  type SelectDevice,
  selectDeviceOf,
  synchronizeOf,
  type TakeProfile,
  takeProfileOf,
} from '../memory/device-functions.ts';
import type { MemoryStats } from '../memory/stats.ts';
import { type CreateStream, createStreamOf } from '../stream/stream.ts';
import { synchronizeAsyncOf } from '../stream/synchronize.ts';
import { type Agent, rocDevices } from './devices.ts';
import { RocLauncher } from './launcher.ts';

/**
 * Makes a kernel from a function, for the device of `roc`. Nothing is compiled until the first launch, unless there is a `signature`.
 * Throws TypeError for bad options; compiling throws KernelError. Numba: `roc.jit`.
 * @example
 * const scale = roc.jit((y: Vec<f32>, k: number) => {
 *   const i = roc.getGlobalId(0);
 *   if (i < y.length) y[i]! *= k;
 * });
 * const d = roc.toDevice(Float32Array.of(1, 2, 3));
 * scale.launch({ threads: 3 }, d, 10);
 * console.log(d.copyToHost()); // Float32Array(3) [ 10, 20, 30 ]
 */
export const jit: Jit<'roc'> = /* @__PURE__ */ jitOf(rocDevices, (state) => new RocLauncher(state, rocDevices));

/**
 * A host array in memory of the driver, f64 unless told otherwise: copies between it and the device are faster, and on a stream they do
 * not hold up the host. What a kernel writes to it is seen when the kernel is done. Numba: `roc.coarsegrain_array(shape, dtype, strides, order)`.
 * @throws TypeError for a shape that is not made of integers, RangeError for bad strides or order, OutOfMemoryError.
 * @example
 * const host = roc.coarsegrainArray(4, f32);
 * host.set(1);
 * const d = roc.toDevice(host);
 * console.log(d.get(0)); // 1
 */
export const coarsegrainArray: PinnedArray = /* @__PURE__ */ pinnedArrayOf(rocDevices, 'coarsegrainArray');

/**
 * A host array that kernels read and write in place, f64 unless told otherwise: pass it to a kernel as it is, then synchronise. Numba:
 * `roc.finegrain_array(shape, dtype, strides, order)`.
 * @throws as `coarsegrainArray`, and NotSupportedError if the device cannot access host memory.
 * @example
 * const y = roc.finegrainArray(2, f32);
 * roc.jit((y: Vec<f32>) => { y[roc.getGlobalId(0)] = 7; }).launch({ grid: 1, block: 2 }, y);
 * roc.synchronize();
 * console.log(y.get(1)); // 7
 */
export const finegrainArray: MappedArray<PinnedArrayOptions> = /* @__PURE__ */ simpleMappedArrayOf(
  rocDevices,
  'finegrainArray',
);

/**
 * A new stream on the device of `roc`, an in-order queue. Numba: `roc.stream()`.
 * @example
 * const stream = roc.stream();
 * const d = roc.toDevice(Float32Array.of(1, 2), { stream });
 * stream.synchronize();
 * d.dispose();
 * stream.dispose();
 */
export const stream: CreateStream = /* @__PURE__ */ createStreamOf(rocDevices);

/**
 * The context that `roc`'s arrays and launches use; opens the device if it is not open yet.
 * @example
 * const { free, total } = roc.currentContext().memoryInfo();
 * console.log(free <= total); // true
 */
export const currentContext: () => Context = /* @__PURE__ */ currentContextOf(rocDevices);

/**
 * The device that `roc` computes on.
 * @example
 * console.log(roc.currentDevice().kind);
 */
export const currentDevice: () => Agent = /* @__PURE__ */ currentDeviceOf(rocDevices);

/**
 * Makes a device the current one of `roc`: a kind of device, such as `'opencl'`, with a number among those (0); or the number of one of
 * `roc.agents`.
 * @throws NotSupportedError if there is no such device or opening it takes a promise, RangeError for an unknown kind.
 * @example
 * roc.selectDevice('cpu');
 * console.log(roc.currentDevice().kind); // cpu
 */
export const selectDevice: SelectDevice = /* @__PURE__ */ selectDeviceOf(rocDevices);

/**
 * As `selectDevice`, with a promise: for any device, including those that cannot be opened while the program waits.
 * @throws NotSupportedError when there is no such device, RangeError for an unknown kind.
 * @example
 * const device = await roc.open('cpu');
 * console.log(device.kind); // cpu
 */
export const open: Open = /* @__PURE__ */ openOf(rocDevices);

/**
 * Closes all devices that `roc` has opened: its arrays, streams and kernels on them become invalid.
 * @example
 * const d = roc.deviceArray(4, f32);
 * roc.close();
 * console.log(d.disposed); // true
 */
export const close: () => void = /* @__PURE__ */ closeOf(rocDevices);

/**
 * As `close`, without blocking: resolves when all earlier work of the devices is done and they are closed. Unreported failures become warnings.
 * @example
 * const d = roc.deviceArray(4, f32);
 * await roc.closeAsync();
 * console.log(d.disposed); // true
 */
export const closeAsync: () => Promise<void> = /* @__PURE__ */ closeAsyncOf(rocDevices);

/**
 * Blocks until all work of the current device is done, then throws the error if something failed.
 * @example
 * roc.synchronize(); // all launches so far are done
 */
export const synchronize: () => void = /* @__PURE__ */ synchronizeOf(rocDevices);

/**
 * Resolves when the work now on the current device is done, without blocking the event loop; rejects if it failed. On devices that cannot be waited
 * for, it is the only form of `synchronize()`.
 * @example
 * await roc.synchronizeAsync(); // all launches so far are done
 */
export const synchronizeAsync: () => Promise<void> = /* @__PURE__ */ synchronizeAsyncOf(rocDevices);

/**
 * Bytes live, pending, pooled and at the peak on `roc`'s device; counts of allocations, frees, copies and synchronisations.
 * @example
 * const d = roc.deviceArray(1000, f32);
 * console.log(roc.memoryStats().live >= d.nbytes); // true
 */
export const memoryStats: () => MemoryStats = /* @__PURE__ */ memoryStatsOf(rocDevices);

/**
 * Runs `body` (sync or async) and reports what was done meanwhile, in the whole process: launches, copies, fills, graphs, products, collectives,
 * compiling and waiting, with the host's times and, from events, the device's. Resolves to a `Profile` when the body and all work it has enqueued are
 * done: `events`, `summary()`, `save(file)` for ui.perfetto.dev, and `result`. Profiles may nest and overlap. `file` saves it, even if the body
 * fails.
 * @throws as promise: what the body throws, after ending the profile. TypeError for invalid options.
 * @example
 * const scale = roc.jit((y: Vec<f32>, k: number) => { y[roc.getGlobalId(0)]! *= k; });
 * const d = roc.toDevice(new Float32Array(64));
 * const profile = await roc.profile(() => {
 *   scale.launch({ grid: 1, block: 64 }, d, 2);
 * });
 * console.log(profile.events.map(({ kind }) => kind)); // [ 'compile', 'launch' ]
 * console.log(String(profile.summary()));
 */
export const profile: TakeProfile = /* @__PURE__ */ takeProfileOf(rocDevices);
