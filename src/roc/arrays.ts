/**
 * Arrays of `roc`: those of `array/`, made on `roc`'s device. `copyToHost` of them has filled the host array when it returns, also
 * with a stream: its context says so.
 */
import { DeviceNDArray as SharedDeviceNDArray } from '../array/device-array.ts';
import {
  copyToContext,
  type DeviceArray,
  type DeviceArrayLike,
  deviceOf,
  givingBack,
  newArray,
  newArrayLike,
} from '../array/device-create.ts';
import type { StreamOption } from '../array/device-memory.ts';
import { DeviceRecord as SharedDeviceRecord } from '../array/device-record.ts';
import type { NDArray } from '../array/ndarray.ts';
import type { NestedInput } from '../array/ndarray-create.ts';
import type { HostArrayLike } from '../array/ndarray-input.ts';
import { CALL_BEFORE, declareHostOnly, hostFunction } from '../compiler/intrinsics.ts';
import type { DTypeLike, ElementOf, f64 as F64, Scalar, StructDType, TypedArray } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import type { Order, ShapeLike } from '../layout/index.ts';
import { Context } from '../memory/context.ts';
import { isPlainObject, readOptions } from '../options.ts';
import { rocDevices } from './devices.ts';

/** An array of `T` with `R` axes in the memory of `roc`'s device. */
export type DeviceNDArray<T = Scalar, R extends number = number> = SharedDeviceNDArray<T, R, 'roc'>;

/**
 * The class of device arrays. `new roc.DeviceNDArray(shape, strides, dtype, { gpuData? })` makes one on `roc`'s device. Numba:
 * `DeviceNDArray(shape, strides, dtype, dgpu_data=None)`.
 * @example
 * const d = new roc.DeviceNDArray([2, 3], null, f32);
 * d.set(1);
 * console.log(d.T.shape); // [ 3, 2 ]
 */
export const DeviceNDArray: typeof SharedDeviceNDArray = /* @__PURE__ */ onRoc(SharedDeviceNDArray, 'DeviceNDArray', 3);

/** One struct in the memory of `roc`'s device. */
export type DeviceRecord<T = unknown> = SharedDeviceRecord<T>;

/**
 * The class of structs on the device. `new roc.DeviceRecord(dtype)` makes one on `roc`'s device. Numba: `DeviceRecord`.
 * @example
 * const p = roc.toDevice({ x: 1, y: 2 }, { dtype: struct({ x: f32, y: f32 }) });
 * p.set('x', 5);
 * console.log(p.get('x')); // 5
 */
export const DeviceRecord: typeof SharedDeviceRecord = /* @__PURE__ */ onRoc(SharedDeviceRecord, 'DeviceRecord', 1);

/** A class whose constructor has options at a place: what says nothing of memory gets new memory on `roc`'s device. */
function onRoc<C extends new (...args: never[]) => object>(made: C, name: string, at: number): C {
  const own = new Proxy(made, {
    construct(target, given: readonly unknown[], newTarget): object {
      const args = [...given];
      const options = args[at] ?? {};
      args[at] = isPlainObject(options) ? { ...options, gpuData: memoryOf(options) } : options;
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  declareHostOnly(own, { what: `roc.${name}`, help: CALL_BEFORE });
  return own;
}

function memoryOf({ gpuData }: { readonly gpuData?: unknown }): unknown {
  return gpuData ?? rocDevices.currentContext();
}

/** Options of `roc.deviceArray`. */
export interface RocArrayOptions {
  /** Bytes between elements along each axis, taken as given: may be zero, negative or overlapping. Overrides `order`. */
  readonly strides?: ShapeLike | null | undefined;
  /** C (default): last axis fastest. F: first axis fastest. */
  readonly order?: Order | undefined;
}

/**
 * An uninitialised device array; f64 unless told otherwise. Numba: `roc.device_array(shape, dtype, strides, order)`.
 * @throws TypeError for a shape that is not made of integers, RangeError for negative lengths, bad strides or order, OutOfMemoryError.
 * @example
 * const d = roc.deviceArray([2, 3], f32);
 * d.set(1);
 * console.log(d.shape, d.get(1, 2)); // [ 2, 3 ] 1
 */
export const deviceArray: DeviceArray<RocArrayOptions, 'roc'> = /* @__PURE__ */ hostFunction(
  rocDevices,
  'deviceArray',
  ((shape: ShapeLike, dtype?: DTypeLike, options: RocArrayOptions = {}) => {
    const own = readOptions('deviceArray', options, ['strides', 'order']);
    return newArray(rocDevices.currentContext(), shape, dtype, own);
  }) as DeviceArray<RocArrayOptions, 'roc'>,
);

/**
 * Creates an uninitialised device array with the shape and dtype of a host or device array: compact, with its axes in the same order in memory.
 * Numba: `roc.device_array_like(ary)`.
 * @example
 * const d = roc.deviceArrayLike(new Float32Array(8));
 * console.log(d.shape, d.dtype.name); // [ 8 ] f32
 */
export const deviceArrayLike: DeviceArrayLike<readonly [], 'roc'> = /* @__PURE__ */ hostFunction(
  rocDevices,
  'deviceArrayLike',
  ((like: unknown) => newArrayLike(rocDevices.currentContext(), like, undefined)) as DeviceArrayLike<
    readonly [],
    'roc'
  >,
);

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

/** Copies host and device arrays, nested arrays, numbers and records to `roc`'s device. */
export interface RocToDevice {
  <T, R extends number>(
    object: SharedDeviceNDArray<T, R> | NDArray<T, R>,
    options?: RocToDeviceOptions,
  ): DeviceNDArray<T, R>;
  <T>(object: DeviceRecord<T>, options?: RocToDeviceOptions): DeviceRecord<T>;
  <T extends object>(object: T, options: RocToDeviceOptions & { readonly dtype: StructDType<T> }): DeviceRecord<T>;
  <A extends TypedArray>(object: A, options?: RocToDeviceOptions): DeviceNDArray<ElementOf<A>, 1>;
  (object: number, options?: RocToDeviceOptions): DeviceNDArray<F64, 0>;
  (object: readonly number[], options?: RocToDeviceOptions): DeviceNDArray<F64, 1>;
  (object: readonly (readonly number[])[], options?: RocToDeviceOptions): DeviceNDArray<F64, 2>;
  (object: readonly string[], options?: RocToDeviceOptions): DeviceNDArray<string, 1>;
  (object: NestedInput<Scalar> | HostArrayLike, options?: RocToDeviceOptions): DeviceNDArray;
}

/**
 * A new device array with the elements of a host array (of any layout), of nested arrays, a number or another device array; of a plain
 * object with a struct `dtype`, or of a `DeviceRecord`, a new `DeviceRecord`. A stream becomes its own, and the copy is enqueued on it. Numba: `roc.to_device(obj, stream, context, copy, to)`.
 * @throws TypeError for anything that is not an array, OutOfMemoryError; with `to` what `copyToDevice` throws.
 * @example
 * const d = roc.toDevice(Float32Array.of(1, 2, 3));
 * console.log(d.copyToHost()); // Float32Array(3) [ 1, 2, 3 ]
 */
export const toDevice: RocToDevice = /* @__PURE__ */ hostFunction(
  rocDevices,
  'toDevice',
  copyToRoc as unknown as RocToDevice,
);

function copyToRoc(object: unknown, options: RocToDeviceOptions = {}): unknown {
  const own = readOptions('toDevice', options, ['stream', 'context', 'copy', 'to', 'dtype']);
  const { stream, copy, to, dtype } = own;
  const context = contextOption(own.context, 'toDevice');
  const device = to === undefined || to === null ? deviceOf(object, context) : undefined;
  if (device === undefined) return copyToContext(context, object, { stream, copy, to, dtype });
  return givingBack(device, object, () => {
    device.checkUsable();
    const array = newArrayLike(context, device, stream);
    if (copy ?? true) array.copyToDevice(device, { stream });
    return object instanceof SharedDeviceRecord ? recordOver(array, stream) : array;
  });
}

/** Reads the `context` option: a context, or nothing for the current one. Throws TypeError. */
function contextOption(value: unknown, call: string): Context {
  if (value === undefined || value === null) return rocDevices.currentContext();
  if (value instanceof Context) {
    value.checkOpen();
    return value;
  }
  throw new TsambaTypeError(
    'E_OPTION',
    `${call}: context must be a context such as roc.currentContext() gives, got a value of type ${typeof value}; ` +
      'a stream is the option stream',
  );
}

/** A record over the memory of an array without axes, which is given up. */
function recordOver(array: DeviceNDArray, stream: StreamOption['stream']): DeviceRecord {
  const record = new SharedDeviceRecord(array.dtype, { stream, gpuData: array.gpuData });
  array.dispose();
  return record;
}
