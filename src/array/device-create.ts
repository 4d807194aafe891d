/**
 * Making device arrays: `deviceArray`, `deviceArrayLike`, `toDevice`, and `asCudaArray` of another library's. Each in a context that is
 * given, and as the function of a namespace.
 */

import { hostFunction } from '../compiler/intrinsics.ts';
import {
  asDType,
  type DType,
  type DTypeLike,
  describeDTypes,
  type ElementOf,
  type f64 as F64,
  f64,
  type Scalar,
  type StructDType,
  sameDType,
  type TypedArray,
  type u8 as U8,
  type ValueOf,
} from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import {
  coreOf,
  extentOf,
  isSingleRegion,
  likeStrides,
  normalizeOrder,
  normalizeShape,
  normalizeStrides,
  type Order,
  type ShapeLike,
  stridesFor,
} from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { flag, ownValue, readOptions } from '../options.ts';
import { show } from '../show.ts';
import { streamOption } from '../stream/stream.ts';
import { type MemoryPointer, OwnOptions } from './array-memory.ts';
import { type CudaArrayLike, foreignMemory, isCudaArray } from './cuda-interface.ts';
import { DeviceNDArray, memoryIn } from './device-array.ts';
import { boundStream, type DeviceMemory, deviceMemoryOf, placement, type StreamOption } from './device-memory.ts';
import { DeviceRecord, hostRecord, isPlainObject } from './device-record.ts';
import { upload } from './device-transfer.ts';
import { isImage, newImage, type PageImage, type Pixels } from './image.ts';
import { mappedArray } from './mapped.ts';
import type { NDArray, RankOf } from './ndarray.ts';
import type { HostMemory } from './ndarray-copy.ts';
import { create, type NestedInput } from './ndarray-create.ts';
import { describeHostArray, type HostArrayLike } from './ndarray-input.ts';
import type { Namespace } from './rank.ts';

/** Options of `deviceArray`. */
export interface DeviceArrayOptions extends StreamOption {
  /** Bytes between elements along each axis, taken as given: may be zero, negative or overlapping. Overrides `order`. */
  readonly strides?: ShapeLike | null | undefined;
  /** C (default): last axis fastest. F: first axis fastest. */
  readonly order?: Order | undefined;
  /** Memory that other processes on the same GPU can open: `ipcHandle()`. */
  readonly ipc?: boolean | undefined;
}

/** An uninitialised device array; f64 unless told otherwise. */
export type DeviceArray<O = DeviceArrayOptions, N extends Namespace = 'cuda'> = <
  const S extends ShapeLike,
  const D extends DTypeLike = DType<F64>,
>(
  shape: S,
  dtype?: D,
  options?: O,
) => DeviceNDArray<ValueOf<D>, RankOf<S>, N>;

/** No options were given: nothing is read, nor inherited. */
const NONE: DeviceArrayOptions = { strides: undefined, order: undefined, stream: undefined, ipc: undefined };

export function deviceArrayOf(devices: DeviceSelection): DeviceArray {
  const deviceArray = (shape: ShapeLike, dtype?: DTypeLike, options: DeviceArrayOptions = NONE): DeviceNDArray => {
    const own = options === NONE ? NONE : readOptions('deviceArray', options, ['strides', 'order', 'stream', 'ipc']);
    return newArray(devices.currentContext(), shape, dtype, own);
  };
  return hostFunction(devices, 'deviceArray', deviceArray as DeviceArray);
}

/** An uninitialised array in a context; the options have been read. */
export function newArray(
  context: Context,
  shape: ShapeLike,
  dtype: DTypeLike | undefined,
  { order: wanted, strides: asked, stream, ipc }: DeviceArrayOptions,
): DeviceNDArray {
  const type = dtype === undefined ? f64 : asDType(dtype);
  const order = normalizeOrder(wanted);
  // In the order of C the array itself finds its strides.
  if (asked === undefined && order === 'C' && ipc !== true) {
    return new DeviceNDArray<Scalar>(shape, undefined, type, new OwnOptions(stream, context));
  }
  const lengths = normalizeShape(shape, type.itemSize);
  const strides = given(asked) ?? stridesFor(lengths, type.itemSize, order);
  const gpuData = ipc === true ? shareableMemory(context, lengths, strides, type.itemSize, { stream }) : context;
  return new DeviceNDArray<Scalar>(lengths, strides, type, { stream, gpuData });
}

/** Memory for an array that other processes can open. */
function shareableMemory(
  context: Context,
  shape: readonly number[],
  strides: ShapeLike,
  itemSize: number,
  { stream }: StreamOption,
): MemoryPointer {
  if (!context.info.features.ipc) {
    throw new NotSupportedError(
      'E_IPC',
      `deviceArray: { ipc: true } needs an NVIDIA GPU on Linux; ${context.info.name} cannot share memory with other processes`,
    );
  }
  const { low, bytes } = extentOf(shape, normalizeStrides(strides, shape.length), itemSize);
  const owner = context.allocate(bytes, streamOption(stream, context), true);
  return { context, owner, address: owner.address - low };
}

/** Numba takes an empty tuple of strides for none. */
export function given(strides: ShapeLike | null | undefined): ShapeLike | undefined {
  if (strides === undefined || strides === null) return undefined;
  if (Array.isArray(strides) && strides.length === 0) return undefined;
  return strides;
}

/** An uninitialised device array of the shape and dtype of another array. */
export interface DeviceArrayLike<
  O extends readonly unknown[] = readonly [options?: StreamOption],
  N extends Namespace = 'cuda',
> {
  <T, R extends number>(like: DeviceNDArray<T, R> | NDArray<T, R>, ...options: O): DeviceNDArray<T, R, N>;
  <A extends TypedArray>(like: A, ...options: O): DeviceNDArray<ElementOf<A>, 1, N>;
  (like: HostArrayLike, ...options: O): DeviceNDArray<Scalar, number, N>;
}

export function deviceArrayLikeOf(devices: DeviceSelection): DeviceArrayLike {
  const deviceArrayLike = (like: unknown, options: StreamOption = {}): DeviceNDArray => {
    const { stream } = readOptions('deviceArrayLike', options, ['stream']);
    return newArrayLike(devices.currentContext(), like, stream);
  };
  return hostFunction(devices, 'deviceArrayLike', deviceArrayLike as DeviceArrayLike);
}

/** An uninitialised array in a context, compact, with its axes in the same order in memory as those of another array. */
export function newArrayLike(context: Context, like: unknown, stream: StreamOption['stream']): DeviceNDArray {
  const { shape, strides, dtype } = likeness(like, context, 'deviceArrayLike', 'deviceArray');
  return new DeviceNDArray<Scalar>(shape, likeStrides(shape, strides, dtype.itemSize), dtype as DType<Scalar>, {
    stream,
    gpuData: context,
  });
}

/** Shape, strides and dtype of a host or device array. `call` and `instead` word the error for what is none. */
export function likeness(like: unknown, context: Context, call: string, instead: string): Likeness {
  const device = deviceMemoryOf(like) ?? foreignMemory(like, context, false);
  if (device !== undefined) return device;
  const host = describeHostArray(like);
  if (host !== undefined) return { shape: host.layout.shape, strides: host.layout.strides, dtype: host.dtype };
  throw new TsambaTypeError(
    'E_HOST_ARRAY',
    `${call} needs a host or device array, got ${Array.isArray(like) ? 'a JavaScript array' : show(like)}` +
      `; for a shape use ${instead}(shape, dtype)`,
  );
}

/** What a new array is to have of another one. */
export interface Likeness {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: DType;
}

/** Options of `toDevice`. */
export interface ToDeviceOptions extends StreamOption {
  /** False: allocate only, the elements are undefined. */
  readonly copy?: boolean | undefined;
  /** Copy into this array instead of a new one. */
  readonly to?: DeviceNDArray<never> | DeviceNDArray | DeviceRecord<never> | CudaArrayLike | null | undefined;
  /**
   * Of nested arrays and numbers: what elements convert to. Of a plain object: the struct that it is, which makes a `DeviceRecord`. Arrays have
   * a dtype, and no other may be given.
   */
  readonly dtype?: DTypeLike | undefined;
}

/** Copies host arrays, nested arrays, numbers, records and pictures of a page to the device. */
export interface ToDevice<O = ToDeviceOptions> {
  <T, R extends number, N extends Namespace>(object: DeviceNDArray<T, R, N>, options?: O): DeviceNDArray<T, R, N>;
  <T>(object: DeviceRecord<T>, options?: O): DeviceRecord<T>;
  <T extends object>(object: T, options: O & { readonly dtype: StructDType<T> }): DeviceRecord<T>;
  <T, R extends number>(object: NDArray<T, R>, options?: O): DeviceNDArray<T, R, 'cuda'>;
  <A extends TypedArray>(object: A, options?: O): DeviceNDArray<ElementOf<A>, 1, 'cuda'>;
  (object: PageImage, options?: O): DeviceNDArray<U8, 3, 'cuda'>;
  (object: number, options?: O): DeviceNDArray<F64, 0, 'cuda'>;
  (object: readonly number[], options?: O): DeviceNDArray<F64, 1, 'cuda'>;
  (object: readonly (readonly number[])[], options?: O): DeviceNDArray<F64, 2, 'cuda'>;
  (object: readonly string[], options?: O): DeviceNDArray<string, 1, 'cuda'>;
  (object: CudaArrayLike, options?: O): DeviceNDArray;
  (object: NestedInput<Scalar> | HostArrayLike, options?: O): DeviceNDArray<Scalar, number, 'cuda'>;
}

export function toDeviceOf(devices: DeviceSelection): ToDevice {
  const toDevice = (object: unknown, given: ToDeviceOptions = {}): unknown => {
    const options = readOptions('toDevice', given, ['stream', 'copy', 'to', 'dtype']);
    return copyToContext(devices.currentContext(), object, options);
  };
  return hostFunction(devices, 'toDevice', toDevice as ToDevice);
}

/** What `toDevice` does in a context; a device array of whichever stays what it is. The options have been read. */
export function copyToContext(context: Context, object: unknown, options: ToDeviceOptions): unknown {
  const copy = flag('copy', options.copy) ?? true;
  const to = options.to ?? undefined;
  const dtype = options.dtype === undefined ? undefined : asDType(options.dtype);
  if (isImage(object) && to !== undefined) {
    const image = imageOnDevice(context, object, options);
    return givingBack(image, object, () => copyToContext(context, image, options));
  }
  if (to !== undefined) {
    const target = deviceOf(to, context);
    if (target === undefined) {
      throw new TsambaTypeError('E_DEVICE_ARRAY', `toDevice: \`to\` must be a device array, got ${show(to)}`);
    }
    givingBack(target, to, () => {
      checkDType(target.dtype, dtype);
      const value =
        isPlainObject(object) && target.dtype.fields !== undefined ? hostRecord(object, target.dtype) : object;
      if (copy) target.copyToDevice(value, { stream: options.stream });
    });
    return to;
  }
  const device =
    deviceOf(object, context) ?? (isImage(object) ? imageOnDevice(context, object, options, copy) : undefined);
  if (device !== undefined) {
    device.checkUsable();
    checkDType(device.dtype, dtype);
    return object instanceof DeviceRecord ? object : device;
  }
  if (isPlainObject(object) && dtype?.fields !== undefined) return newRecord(context, object, dtype, copy, options);
  const host = describeHostArray(object) ?? fromNested(object, dtype);
  checkDType(host.dtype, dtype);
  return uploadNew(context, host, copy, options);
}

/** What has a type is copied as it is: another one must not be asked for in vain. */
function checkDType(own: DType, asked: DType | undefined): void {
  if (asked === undefined || sameDType(own, asked)) return;
  const [has, wanted] = describeDTypes(own, asked);
  const isStruct = own.fields !== undefined || asked.fields !== undefined;
  throw new TsambaTypeError(
    'E_DTYPE_MISMATCH',
    `toDevice: the array has dtype ${has} and is copied as it is, not as ${wanted}; ` +
      (isStruct
        ? 'structs do not convert: create the array with that dtype'
        : `convert it first, with ndarray(x, { dtype: ${wanted} })`),
  );
}

/**
 * The device array that a value is or has: of a mapped or managed array its own, of an object with a CUDA array interface a view of
 * its memory, which is taken to be on the device of `context`. Undefined for anything that is not device memory.
 */
export function deviceOf(value: unknown, context: Context): DeviceNDArray | undefined {
  const own = ownDevice(value);
  if (own !== undefined) return own;
  const memory = deviceMemoryOf(value) ?? foreignMemory(value, context);
  return memory === undefined ? undefined : overMemory(memory);
}

/** Whether a value is device memory, or has or exports some. */
export function isOnDevice(value: unknown): boolean {
  return deviceMemoryOf(value) !== undefined || value instanceof DeviceRecord || isCudaArray(value);
}

/** The device array that a value is, or keeps. */
function ownDevice(value: unknown): DeviceNDArray | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (memoryIn(value) !== undefined) return value as DeviceNDArray;
  if (value instanceof DeviceRecord) return value.array;
  return mappedArray(value)?.device;
}

/** Whether what `deviceOf` gave for a value is a view that was made for that: whoever asked has to dispose it. */
export function isBorrowed(device: object, value: unknown): boolean {
  return device !== ownDevice(value);
}

/** Uses what `deviceOf` gave for a value, and disposes it where it is a view that was made for that. */
export function givingBack<R>(device: { dispose(): void }, value: unknown, use: () => R): R {
  try {
    return use();
  } finally {
    if (isBorrowed(device, value)) disposeUnseen([device]);
  }
}

/** A new array of a picture of the page: (height, width, 4) of u8, or of f32 where it is a texture of floats. */
export function imageOnDevice(context: Context, image: object, options: StreamOption, copy = true): DeviceNDArray {
  const uploaded = (pixels: Pixels): DeviceNDArray =>
    uploadNew(context, describeHostArray(pixels) as HostMemory, true, options);
  return newImage(context, image, options, uploaded, copy);
}

/** A device array over memory that exists. */
function overMemory(memory: DeviceMemory): DeviceNDArray {
  const { context, owner, pointer, shape, strides, dtype, readOnly } = memory;
  const stream = boundStream(memory);
  const gpuData = { context, owner, address: pointer, readOnly };
  return new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, { stream, gpuData });
}

/** A device array over the memory of an object of another library that has the CUDA array interface. */
export type AsCudaArray = (object: CudaArrayLike, options?: { readonly sync?: boolean | undefined }) => DeviceNDArray;

export function asCudaArrayOf(devices: DeviceSelection): AsCudaArray {
  return hostFunction(devices, 'asCudaArray', (object, options = {}) => {
    const { sync } = readOptions('asCudaArray', options, ['sync']);
    if (!isCudaArray(object)) {
      throw new TsambaTypeError(
        'E_CUDA_ARRAY',
        `asCudaArray needs an object with __cuda_array_interface__, got ${show(object)}; host arrays go to the device with toDevice()`,
      );
    }
    const memory = deviceMemoryOf(object) ?? foreignMemory(object, devices.currentContext(), sync ?? true);
    if (memory === undefined) throw new Error('a CUDA array was none');
    memory.checkUsable();
    return overMemory(memory);
  });
}

function newRecord(context: Context, object: object, dtype: DType, copy: boolean, options: StreamOption): DeviceRecord {
  const { stream } = options;
  if (!copy) return new DeviceRecord(dtype, { stream, gpuData: context });
  const array = uploadNew(context, hostRecord(object, dtype), true, options);
  const record = new DeviceRecord(dtype, { stream, gpuData: array.gpuData });
  disposeUnseen([array]);
  return record;
}

function fromNested(object: unknown, dtype: DType | undefined): HostMemory {
  if (dtype !== undefined) return create(object as number[], { dtype }) as HostMemory;
  if (isPlainObject(object) && !isComplex(object)) {
    throw new TsambaTypeError(
      'E_HOST_ARRAY',
      'toDevice: an object becomes a record and needs a struct dtype: toDevice({ … }, { dtype: struct({ … }) })',
    );
  }
  return create(object as number[]) as HostMemory;
}

function isComplex(object: object): boolean {
  const parts = ['re', 'im'].map((name) => typeof ownValue(object, name));
  return parts.every((type) => type === 'number') && Object.keys(object).length === 2;
}

function uploadNew(context: Context, host: HostMemory, copy: boolean, options: StreamOption): DeviceNDArray {
  const { layout, dtype } = host;
  const { shape, itemSize } = layout;
  const oneBlock = isSingleRegion(layout);
  const strides = oneBlock ? layout.strides : likeStrides(shape, layout.strides, itemSize);
  const { stream } = options;
  const array = new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, { stream, gpuData: context });
  if (!copy) return array;
  const region = oneBlock ? coreOf(layout).shape : shape;
  const from = { bytes: host.bytes, offset: layout.offset, strides: layout.strides };
  try {
    upload(region, { array, pointer: array.pointer, strides }, from, placement(array, stream).stream);
  } catch (error) {
    array.dispose();
    throw error;
  }
  return array;
}
