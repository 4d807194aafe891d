/**
 * Making device arrays: `deviceArray`, `deviceArrayLike`, `toDevice`.
 */
import {
  asDType,
  type DType,
  type DTypeLike,
  type ElementOf,
  type f64 as F64,
  f64,
  type Scalar,
  type TypedArray,
  type ValueOf,
} from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import {
  coreOf,
  isSingleRegion,
  likeStrides,
  normalizeOrder,
  normalizeShape,
  type Order,
  type ShapeLike,
  stridesFor,
} from '../layout/index.ts';
import { checkOptionsObject } from '../options.ts';
import { DeviceNDArray } from './device-array.ts';
import { isDeviceMemory, placement, type StreamOption } from './device-memory.ts';
import { upload } from './device-transfer.ts';
import type { NDArray, RankOf } from './ndarray.ts';
import type { HostMemory } from './ndarray-copy.ts';
import { type NestedInput, ndarray } from './ndarray-create.ts';
import { describeHostArray, type HostArrayLike } from './ndarray-input.ts';

/** Options of `deviceArray`. */
export interface DeviceArrayOptions extends StreamOption {
  /** Bytes between elements along each axis, taken as given: may be zero, negative or overlapping. Overrides `order`. */
  readonly strides?: ShapeLike | null | undefined;
  /** C (default): last axis fastest. F: first axis fastest. */
  readonly order?: Order | undefined;
}

/**
 * An uninitialised device array; f64 unless told otherwise. A stream becomes the array's own. Numba:
 * `device_array(shape, dtype, strides, order, stream)`.
 * @throws TypeError for a shape that is not of integers, RangeError for negative lengths, bad strides or order, OutOfMemoryError.
 */
export function deviceArray<const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options: DeviceArrayOptions = {},
): DeviceNDArray<ValueOf<D>, RankOf<S>> {
  checkOptionsObject('deviceArray', options, ['strides', 'order', 'stream']);
  const type = dtype === undefined ? f64 : asDType(dtype);
  const order = normalizeOrder(options.order);
  const lengths = normalizeShape(shape, type.itemSize);
  const strides = given(options.strides) ?? stridesFor(lengths, type.itemSize, order);
  return new DeviceNDArray(lengths, strides, type, options) as DeviceNDArray<ValueOf<D>, RankOf<S>>;
}

/** Numba takes an empty tuple of strides for none. */
function given(strides: ShapeLike | null | undefined): ShapeLike | undefined {
  if (strides === undefined || strides === null) return undefined;
  if (Array.isArray(strides) && strides.length === 0) return undefined;
  return strides;
}

/**
 * An uninitialised device array of the shape and dtype of a host or device array, compact, with its axes in the same order in
 * memory (broadcast axes fastest). Numba: `device_array_like(ary, stream)`.
 */
export function deviceArrayLike<T, R extends number>(
  like: DeviceNDArray<T, R> | NDArray<T, R>,
  options?: StreamOption,
): DeviceNDArray<T, R>;
export function deviceArrayLike<A extends TypedArray>(like: A, options?: StreamOption): DeviceNDArray<ElementOf<A>, 1>;
export function deviceArrayLike(like: HostArrayLike, options?: StreamOption): DeviceNDArray;
export function deviceArrayLike(like: unknown, options: StreamOption = {}): unknown {
  checkOptionsObject('deviceArrayLike', options, ['stream']);
  const { shape, strides, dtype } = likeness(like);
  return new DeviceNDArray<Scalar>(shape, likeStrides(shape, strides, dtype.itemSize), dtype as DType<Scalar>, options);
}

function likeness(like: unknown): { shape: readonly number[]; strides: readonly number[]; dtype: DType } {
  if (isDeviceMemory(like)) return like;
  const host = describeHostArray(like);
  if (host !== undefined) return { shape: host.layout.shape, strides: host.layout.strides, dtype: host.dtype };
  throw new TsambaTypeError(
    'E_HOST_ARRAY',
    `deviceArrayLike needs a host or device array, got ${Array.isArray(like) ? 'a JavaScript array' : `a value of type ${typeof like}`}` +
      '; for a shape use deviceArray(shape, dtype)',
  );
}

/** Options of `toDevice`. */
export interface ToDeviceOptions extends StreamOption {
  /** False: allocate only, the elements are undefined. */
  readonly copy?: boolean | undefined;
  /** Copy into this array instead of a new one. */
  readonly to?: DeviceNDArray<never> | DeviceNDArray | null | undefined;
}

/**
 * A host array (of any layout), nested arrays or a number, copied to the device; a device array as it is. The new array keeps
 * shape and strides where the host array is one block of memory (broadcast axes apart), else it is compact with the axes in the
 * same order. A stream becomes the array's own, and the copy is enqueued on it. Numba: `to_device(obj, stream, copy, to)`.
 * @throws TypeError for what is no array, OutOfMemoryError; with `to` what `copyToDevice` throws.
 */
export function toDevice<T, R extends number>(
  object: DeviceNDArray<T, R>,
  options?: ToDeviceOptions,
): DeviceNDArray<T, R>;
export function toDevice<T, R extends number>(object: NDArray<T, R>, options?: ToDeviceOptions): DeviceNDArray<T, R>;
export function toDevice<A extends TypedArray>(object: A, options?: ToDeviceOptions): DeviceNDArray<ElementOf<A>, 1>;
export function toDevice(object: number, options?: ToDeviceOptions): DeviceNDArray<F64, 0>;
export function toDevice(object: readonly number[], options?: ToDeviceOptions): DeviceNDArray<F64, 1>;
export function toDevice(object: readonly (readonly number[])[], options?: ToDeviceOptions): DeviceNDArray<F64, 2>;
export function toDevice(object: NestedInput<Scalar> | HostArrayLike, options?: ToDeviceOptions): DeviceNDArray;
export function toDevice(object: unknown, options: ToDeviceOptions = {}): unknown {
  checkOptionsObject('toDevice', options, ['stream', 'copy', 'to']);
  const copy = options.copy ?? true;
  const to = options.to ?? undefined;
  if (to !== undefined) {
    if (!(to instanceof DeviceNDArray)) {
      throw new TsambaTypeError(
        'E_DEVICE_ARRAY',
        `toDevice: \`to\` must be a device array, got a value of type ${typeof to}`,
      );
    }
    if (copy) to.copyToDevice(object, { stream: options.stream });
    return to as DeviceNDArray;
  }
  if (object instanceof DeviceNDArray) {
    object.checkUsable();
    return object as DeviceNDArray;
  }
  const host = describeHostArray(object) ?? (ndarray(object as number[]) as HostMemory);
  return uploadNew(host, copy, options);
}

function uploadNew(host: HostMemory, copy: boolean, options: StreamOption): DeviceNDArray {
  const { layout, dtype } = host;
  const { shape, itemSize } = layout;
  const oneBlock = isSingleRegion(layout);
  const strides = oneBlock ? layout.strides : likeStrides(shape, layout.strides, itemSize);
  const array = new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, options);
  if (!copy) return array;
  const region = oneBlock ? coreOf(layout).shape : shape;
  const from = { bytes: host.bytes, offset: layout.offset, strides: layout.strides };
  try {
    upload(region, { array, pointer: array.pointer, strides }, from, placement(array, options.stream).stream);
  } catch (error) {
    array.dispose();
    throw error;
  }
  return array;
}
