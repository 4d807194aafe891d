/**
 * Arrays of `roc`: those of `array/`, made on `roc`'s device. `copyToHost` of them has filled the host array when it returns, also
 * with a stream: its context says so.
 */
import { DeviceNDArray as SharedDeviceNDArray } from '../array/device-array.ts';
import {
  deviceOf,
  givingBack,
  deviceArray as sharedDeviceArray,
  deviceArrayLike as sharedDeviceArrayLike,
  toDevice as sharedToDevice,
  type TypedToDeviceOptions,
} from '../array/device-create.ts';
import type { StreamOption } from '../array/device-memory.ts';
import { DeviceRecord as SharedDeviceRecord } from '../array/device-record.ts';
import type { MappedNDArray, PinnedNDArray } from '../array/host-array.ts';
import { mappedArray, type PinnedArrayOptions, pinnedArray } from '../array/host-create.ts';
import type { NDArray, RankOf } from '../array/ndarray.ts';
import type { NestedInput } from '../array/ndarray-create.ts';
import type { HostArrayLike } from '../array/ndarray-input.ts';
import type {
  DType,
  DTypeLike,
  ElementOf,
  f64 as F64,
  Scalar,
  StructDType,
  TypedArray,
  ValueOf,
} from '../dtype/index.ts';
import type { Order, ShapeLike } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { readOptions } from '../options.ts';
import { contextOption, within } from './device.ts';

/** An array of `T` with `R` axes in the memory of `roc`'s device. */
export type DeviceNDArray<T = Scalar, R extends number = number> = SharedDeviceNDArray<T, R>;

/**
 * The class of device arrays. `new roc.DeviceNDArray(shape, strides, dtype, { gpuData? })` makes one on `roc`'s device. Numba:
 * `DeviceNDArray(shape, strides, dtype, dgpu_data=None)`.
 */
export const DeviceNDArray: typeof SharedDeviceNDArray = /* @__PURE__ */ new Proxy(SharedDeviceNDArray, {
  construct: (target, args, made) => within(() => Reflect.construct(target, args, made) as SharedDeviceNDArray),
});

/** One struct in the memory of `roc`'s device. */
export type DeviceRecord<T = unknown> = SharedDeviceRecord<T>;

/** The class of structs on the device. `new roc.DeviceRecord(dtype)` makes one on `roc`'s device. Numba: `DeviceRecord`. */
export const DeviceRecord: typeof SharedDeviceRecord = /* @__PURE__ */ new Proxy(SharedDeviceRecord, {
  construct: (target, args, made) => within(() => Reflect.construct(target, args, made) as SharedDeviceRecord),
});

/** Options of `roc.deviceArray`. */
export interface RocArrayOptions {
  /** Bytes between elements along each axis, taken as given: may be zero, negative or overlapping. Overrides `order`. */
  readonly strides?: ShapeLike | null | undefined;
  /** C (default): last axis fastest. F: first axis fastest. */
  readonly order?: Order | undefined;
}

/**
 * An uninitialised device array; f64 unless told otherwise. Numba: `roc.device_array(shape, dtype, strides, order)`.
 * @throws TypeError for a shape that is not of integers, RangeError for negative lengths, bad strides or order, OutOfMemoryError.
 */
export function deviceArray<const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options: RocArrayOptions = {},
): DeviceNDArray<ValueOf<D>, RankOf<S>> {
  const own = readOptions('deviceArray', options, ['strides', 'order']);
  return within(() => sharedDeviceArray(shape, dtype, own));
}

/**
 * An uninitialised device array of the shape and dtype of a host or device array, compact, with its axes in the same order in memory.
 * Numba: `roc.device_array_like(ary)`.
 */
export function deviceArrayLike<T, R extends number>(like: DeviceNDArray<T, R> | NDArray<T, R>): DeviceNDArray<T, R>;
export function deviceArrayLike<A extends TypedArray>(like: A): DeviceNDArray<ElementOf<A>, 1>;
export function deviceArrayLike(like: HostArrayLike): DeviceNDArray;
export function deviceArrayLike(like: unknown): unknown {
  return within(() => sharedDeviceArrayLike(like as HostArrayLike));
}

/** Options of `roc.toDevice`. */
export interface RocToDeviceOptions extends StreamOption {
  /** Where a new array is made; `roc.currentContext()` unless given. */
  readonly context?: Context | null | undefined;
  /** False: allocate only, the elements are undefined. */
  readonly copy?: boolean | undefined;
  /** Copy into this array instead of a new one. */
  readonly to?: DeviceNDArray<never> | DeviceNDArray | DeviceRecord<never> | null | undefined;
  /** Of nested arrays and numbers: what elements convert to. Of a plain object: the struct that it is, which makes a `DeviceRecord`. */
  readonly dtype?: DTypeLike | undefined;
}

/**
 * A new device array with the elements of a host array (of any layout), of nested arrays, a number or another device array; of a plain
 * object with a struct `dtype`, or of a `DeviceRecord`, a new `DeviceRecord`. A stream becomes its own, and the copy is enqueued on it. Numba: `roc.to_device(obj, stream, context, copy, to)`.
 * @throws TypeError for what is no array, OutOfMemoryError; with `to` what `copyToDevice` throws.
 */
export function toDevice<T, R extends number>(
  object: DeviceNDArray<T, R> | NDArray<T, R>,
  options?: RocToDeviceOptions,
): DeviceNDArray<T, R>;
export function toDevice<T>(object: DeviceRecord<T>, options?: RocToDeviceOptions): DeviceRecord<T>;
export function toDevice<T extends object>(
  object: T,
  options: RocToDeviceOptions & Pick<TypedToDeviceOptions<StructDType<T>>, 'dtype'>,
): DeviceRecord<T>;
export function toDevice<A extends TypedArray>(object: A, options?: RocToDeviceOptions): DeviceNDArray<ElementOf<A>, 1>;
export function toDevice(object: number, options?: RocToDeviceOptions): DeviceNDArray<F64, 0>;
export function toDevice(object: readonly number[], options?: RocToDeviceOptions): DeviceNDArray<F64, 1>;
export function toDevice(object: readonly (readonly number[])[], options?: RocToDeviceOptions): DeviceNDArray<F64, 2>;
export function toDevice(object: NestedInput<Scalar> | HostArrayLike, options?: RocToDeviceOptions): DeviceNDArray;
export function toDevice(object: unknown, options: RocToDeviceOptions = {}): unknown {
  const own = readOptions('toDevice', options, ['stream', 'context', 'copy', 'to', 'dtype']);
  const { stream, copy, to, dtype } = own;
  const context = contextOption(own.context, 'toDevice');
  return within(() => {
    const device = to === undefined || to === null ? deviceOf(object) : undefined;
    if (device === undefined) return sharedToDevice(object as HostArrayLike, { stream, copy, to, dtype });
    return givingBack(device, object, () => {
      device.checkUsable();
      const array = sharedDeviceArrayLike(device, { stream });
      if (copy ?? true) array.copyToDevice(device, { stream });
      return object instanceof SharedDeviceRecord ? recordOver(array, stream) : array;
    });
  }, context);
}

/** A record over the memory of an array without axes, which is given up. */
function recordOver(array: DeviceNDArray, stream: StreamOption['stream']): DeviceRecord {
  const record = new SharedDeviceRecord(array.dtype, { stream, gpuData: array.gpuData });
  array.dispose();
  return record;
}

/**
 * A host array in memory of the driver, f64 unless told otherwise: copies between it and the device are faster, and on a stream they do
 * not hold up the host. What a kernel writes to it is seen when the kernel is done. Numba: `roc.coarsegrain_array(shape, dtype, strides, order)`.
 * @throws TypeError for a shape that is not of integers, RangeError for bad strides or order, OutOfMemoryError.
 */
export function coarsegrainArray<const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options: PinnedArrayOptions = {},
): PinnedNDArray<ValueOf<D>, RankOf<S>> {
  const own = readOptions('coarsegrainArray', options, ['strides', 'order']);
  return within(() => pinnedArray(shape, dtype, own));
}

/**
 * A host array that kernels read and write in place, f64 unless told otherwise: pass it to a kernel as it is, then synchronise. Numba:
 * `roc.finegrain_array(shape, dtype, strides, order)`.
 * @throws as `coarsegrainArray`, and NotSupportedError where the device cannot reach host memory.
 */
export function finegrainArray<const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options: PinnedArrayOptions = {},
): MappedNDArray<ValueOf<D>, RankOf<S>> {
  const own = readOptions('finegrainArray', options, ['strides', 'order']);
  return within(() => mappedArray(shape, dtype, own));
}
