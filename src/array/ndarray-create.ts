/**
 * Making host arrays: `ndarray(data, options)`, `ndarray.zeros` and its siblings, and `asHostArray`, by which kernels know
 * their host arguments.
 */

import { DEVICE_ARRAY } from '../compiler/contract.ts';
import { hostOnly } from '../compiler/intrinsics.ts';
import {
  asDType,
  bool,
  type Complex,
  codecOf,
  type DType,
  type DTypeLike,
  dataClassOf,
  type ElementOf,
  f64,
  hasPlainData,
  i64,
  isTypedArray,
  type Scalar,
  sameDType,
  type TypedArray,
  type ValueOf,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import {
  checkBounds,
  formatShape,
  normalizeOrder,
  normalizeShape,
  normalizeStrides,
  type Order,
  type ShapeLike,
  type StridedLayout,
  sizeOf,
  stridesFor,
} from '../layout/index.ts';
import { describes, isPlainObject, readOptions } from '../options.ts';
import { show } from '../show.ts';
import { allocate, NDArray, type RankOf } from './ndarray.ts';
import { fillElements } from './ndarray-copy.ts';
import { type Described, dataOver, describeHostArray, type HostArrayLike } from './ndarray-input.ts';
import { readNested } from './ndarray-nested.ts';
import { progression } from './progression.ts';

/** JavaScript arrays nested to any depth, TypedArrays as rows included. */
export type NestedInput<V> = V | TypedArray | readonly NestedInput<V>[];

/** Options of `ndarray`: how data is read, or converted. */
export interface NDArrayOptions<D extends DTypeLike = DTypeLike, S extends ShapeLike = ShapeLike> {
  readonly shape?: S;
  /** Of nested arrays: what elements convert to. Of a TypedArray: as `ndarray` says. */
  readonly dtype?: D;
  /** How the memory of a TypedArray is read, or that of a new array is laid out; 'C' by default. */
  readonly order?: Order;
  /** Of a TypedArray: bytes between elements along each axis. */
  readonly strides?: ShapeLike;
  /** Of a TypedArray: bytes to the first element. */
  readonly byteOffset?: number;
}

/** dtype and order of a new array; a dtype alone will do. */
export type NewArrayOptions<D extends DTypeLike = DTypeLike> = D | { readonly dtype?: D; readonly order?: Order };

type RankOfOptions<S, Otherwise extends number> = ShapeLike extends S ? Otherwise : RankOf<S>;

/** How deep arrays are nested: 2 for `[[1, 2], [3, 4]]`; `number` where rows differ, or it cannot be told. */
type RankOfNested<N> = [N] extends [never]
  ? 0
  : [N] extends [TypedArray]
    ? 1
    : [N] extends [readonly (infer Row)[]]
      ? OneMore<RankOfNested<Row>>
      : [N] extends [number | bigint | boolean | Complex]
        ? 0
        : number;

type OneMore<R extends number> = R extends 0 ? 1 : R extends 1 ? 2 : R extends 2 ? 3 : R extends 3 ? 4 : number;

/** An element of structs or complex numbers. */
type PlainRecord = Readonly<Record<string, unknown>>;

/** The type of `ndarray`. */
export interface NDArrayFactory {
  /**
   * A host array. A TypedArray, NDArray or `{ data, shape, stride, offset }` object is wrapped, sharing memory; nested arrays
   * and scalars are copied into new memory. With another `dtype`, elements are converted into new memory as by casts; but where
   * the TypedArray is what arrays of that dtype are kept in (`Uint16Array` for f16, `Float32Array` for c64, bytes for bool and
   * structs), it is taken as such and shared. Throws TypeError for mixed kinds, RangeError for ragged or misfitting shapes.
   */
  <N extends NestedInput<number | bigint | boolean>, const D extends DTypeLike, const S extends ShapeLike = ShapeLike>(
    data: N,
    options: NDArrayOptions<D, S> & { readonly dtype: D },
  ): NDArray<ValueOf<D>, RankOfOptions<S, RankOfNested<N>>>;
  <const D extends DTypeLike, const S extends ShapeLike = ShapeLike>(
    data: readonly PlainRecord[],
    options: NDArrayOptions<D, S> & { readonly dtype: D },
  ): NDArray<ValueOf<D>, RankOfOptions<S, 1>>;
  <const D extends DTypeLike, const S extends ShapeLike = ShapeLike>(
    data: NestedInput<Scalar> | HostArrayLike,
    options: NDArrayOptions<D, S> & { readonly dtype: D },
  ): NDArray<ValueOf<D>, RankOfOptions<S, number>>;
  <T, R extends number>(data: NDArray<T, R>): NDArray<T, R>;
  <A extends TypedArray, const S extends ShapeLike = 1>(
    data: A,
    options?: NDArrayOptions<never, S>,
  ): NDArray<ElementOf<A>, RankOf<S>>;
  <N extends NestedInput<number>, const S extends ShapeLike = ShapeLike>(
    data: N,
    options?: NDArrayOptions<never, S>,
  ): NDArray<f64, RankOfOptions<S, RankOfNested<N>>>;
  <N extends NestedInput<bigint>, const S extends ShapeLike = ShapeLike>(
    data: N,
    options?: NDArrayOptions<never, S>,
  ): NDArray<i64, RankOfOptions<S, RankOfNested<N>>>;
  <N extends NestedInput<boolean>, const S extends ShapeLike = ShapeLike>(
    data: N,
    options?: NDArrayOptions<never, S>,
  ): NDArray<bool, RankOfOptions<S, RankOfNested<N>>>;
  <const S extends ShapeLike = ShapeLike>(
    data: NestedInput<number | bigint | boolean | Complex> | HostArrayLike,
    options?: NDArrayOptions<never, S>,
  ): NDArray<Scalar, RankOfOptions<S, number>>;

  /** A new array; its elements are zeros too, since JavaScript gives no other memory. */
  empty<const S extends ShapeLike, const D extends DTypeLike = DType<f64>>(
    shape: S,
    options?: NewArrayOptions<D>,
  ): NDArray<ValueOf<D>, RankOf<S>>;
  /** A new array of zeros, f64 unless told otherwise. */
  zeros<const S extends ShapeLike, const D extends DTypeLike = DType<f64>>(
    shape: S,
    options?: NewArrayOptions<D>,
  ): NDArray<ValueOf<D>, RankOf<S>>;
  /** A new array with one value everywhere: a number gives f64, a bigint i64, a boolean bool, unless a dtype is given. */
  full<const S extends ShapeLike, const D extends DTypeLike = DTypeLike>(
    shape: S,
    value: Scalar,
    options?: NewArrayOptions<D>,
  ): NDArray<ValueOf<D>, RankOf<S>>;
  /** 0, 1, … as long as it is below `stop`, or from `start` on in steps of `step`; f64, of bigints i64, unless told otherwise. NumPy: `arange`. */
  arange<const D extends DTypeLike = DType<f64>>(stop: number, options?: NewArrayOptions<D>): NDArray<ValueOf<D>, 1>;
  arange<const D extends DTypeLike = DType<i64>>(stop: bigint, options?: NewArrayOptions<D>): NDArray<ValueOf<D>, 1>;
  arange<const D extends DTypeLike = DType<f64>>(
    start: number,
    stop: number,
    options?: NewArrayOptions<D>,
  ): NDArray<ValueOf<D>, 1>;
  arange<const D extends DTypeLike = DType<f64>>(
    start: number,
    stop: number,
    step: number,
    options?: NewArrayOptions<D>,
  ): NDArray<ValueOf<D>, 1>;
  arange<const D extends DTypeLike = DType<i64>>(
    start: bigint,
    stop: bigint,
    step?: bigint,
    options?: NewArrayOptions<D>,
  ): NDArray<ValueOf<D>, 1>;
}

/**
 * A TypedArray, NDArray or foreign `{ data, shape, stride, offset }` as an NDArray sharing its memory; undefined for others. It is none of
 * a class that extends NDArray, which could say something else of its memory than is so.
 */
export function asHostArray(value: unknown): NDArray | undefined {
  const described = describeHostArray(value);
  if (value instanceof NDArray && Object.getPrototypeOf(value) === NDArray.prototype) return value;
  return described === undefined
    ? undefined
    : (new NDArray(described.data, described.dtype, described.layout) as NDArray);
}

/** `ndarray(data, options)`. */
export function create(data: unknown, given: NDArrayOptions = {}): NDArray {
  const options = readOptions('ndarray', given, ['shape', 'dtype', 'order', 'strides', 'byteOffset']);
  const order = normalizeOrder(options.order);
  const dtype = options.dtype === undefined ? undefined : asDType(options.dtype);
  if (typeof data === 'object' && data !== null && DEVICE_ARRAY in data) {
    throw new TsambaTypeError('E_HOST_ARRAY', 'ndarray() makes host arrays; copy a device array with copyToHost()');
  }
  // With a struct dtype a plain object is one element, even if it has fields called data and shape.
  const described = dtype?.fields !== undefined && isPlainObject(data) ? undefined : describeHostArray(data);
  if (described === undefined) return createNew(data, dtype, order, options);
  if (isTypedArray(data)) return createOver(described, dtype, order, options);
  refuseMemoryOptions(options);
  const array = data instanceof NDArray ? data : new NDArray(described.data, described.dtype, described.layout);
  const shaped = options.shape === undefined ? array : array.reshape(options.shape);
  const converted =
    dtype === undefined || sameDType(dtype, shaped.dtype) ? shaped : (shaped.astype(dtype, { order }) as NDArray);
  return options.order === undefined || isInOrder(converted, order) ? converted : converted.copy({ order });
}

function isInOrder(array: NDArray, order: Order): boolean {
  return order === 'F' ? array.isFContiguous() : array.isCContiguous();
}

/** From nested arrays and scalars, into memory of their own. */
function createNew(data: unknown, dtype: DType | undefined, order: Order, options: NDArrayOptions): NDArray {
  refuseMemoryOptions(options);
  const nested = readNested(data, dtype);
  const array = new NDArray(nested.data, nested.dtype, nested.layout) as NDArray;
  const shaped = options.shape === undefined ? array : array.reshape(options.shape);
  return isInOrder(shaped, order) ? shaped : shaped.copy({ order });
}

/** Over the memory of a TypedArray. */
function createOver(given: Described, dtype: DType | undefined, order: Order, options: NDArrayOptions): NDArray {
  const reinterpret = dtype !== undefined && !hasPlainData(dtype) && isDataOf(given.data, dtype);
  const own = reinterpret ? dtype : given.dtype;
  const layout = layoutOver(given.bytes.length, own, order, options);
  checkBounds(layout, given.bytes.length, `the ${given.data.constructor.name}`);
  const { data, offset } = dataOver(given.data, own, layout);
  const array = new NDArray(data, own, { ...layout, offset }) as NDArray;
  return dtype === undefined || sameDType(dtype, own) ? array : (array.astype(dtype, { order }) as NDArray);
}

function isDataOf(data: TypedArray, dtype: DType): boolean {
  return data instanceof dataClassOf(dtype);
}

function layoutOver(bytes: number, dtype: DType, order: Order, options: NDArrayOptions): StridedLayout {
  const { itemSize } = dtype;
  const offset = options.byteOffset ?? 0;
  if (!Number.isInteger(offset)) {
    throw new TsambaTypeError('E_SHAPE', `byteOffset must be an integer, got ${show(options.byteOffset)}`);
  }
  if (offset < 0 || offset > bytes) {
    throw new TsambaRangeError('E_BOUNDS', `byteOffset ${offset} is outside the data of ${bytes} bytes`);
  }
  if (options.shape === undefined) {
    if (options.strides !== undefined) {
      throw new TsambaTypeError('E_STRIDES', 'strides need a shape: give { shape, strides }');
    }
    if ((bytes - offset) % itemSize !== 0) {
      throw new TsambaRangeError(
        'E_SHAPE',
        `${bytes - offset} bytes are not a whole number of ${dtype.name} elements (${itemSize} bytes each)`,
      );
    }
    return { shape: [(bytes - offset) / itemSize], strides: [itemSize], offset, itemSize };
  }
  const shape = normalizeShape(options.shape, itemSize);
  if (options.strides !== undefined) {
    return { shape, strides: normalizeStrides(options.strides, shape.length), offset, itemSize };
  }
  if (options.byteOffset === undefined && sizeOf(shape) * itemSize !== bytes) {
    throw new TsambaRangeError(
      'E_SHAPE',
      `shape ${formatShape(shape)} has ${sizeOf(shape)} elements, the data has ${bytes / itemSize}`,
    );
  }
  return { shape, strides: stridesFor(shape, itemSize, order), offset, itemSize };
}

function refuseMemoryOptions(options: NDArrayOptions): void {
  for (const name of ['strides', 'byteOffset'] as const) {
    if (options[name] !== undefined) {
      throw new TsambaTypeError(
        'E_STRIDES',
        `${name} says how a TypedArray's memory is read; the data given is not a TypedArray`,
      );
    }
  }
}

function empty(shape: ShapeLike, options?: NewArrayOptions, ...more: readonly unknown[]): NDArray {
  refuseMore(more);
  return newArray(shape, options);
}

/** `cuda.deviceArray` takes a dtype and options: here both are one, and an order that stands behind would do nothing. */
function refuseMore([more]: readonly unknown[]): void {
  if (more === undefined) return;
  throw new TsambaTypeError(
    'E_OPTION',
    `ndarray takes dtype and order as one object, { dtype, order }, got ${show(more)} after it`,
  );
}

function newArray(shape: ShapeLike, options: NewArrayOptions = {}, otherwise: DType = f64): NDArray {
  const { dtype, order } = splitOptions(options);
  const type = dtype === undefined ? otherwise : asDType(dtype);
  return allocate(normalizeShape(shape, type.itemSize), type, normalizeOrder(order)) as NDArray;
}

function splitOptions(options: NewArrayOptions): { dtype?: DTypeLike | undefined; order?: Order | undefined } {
  const isObject = typeof options === 'object' && options !== null;
  if (typeof options === 'string' || typeof options === 'function' || (isObject && describes(options, 'itemSize'))) {
    return { dtype: options as DTypeLike };
  }
  return readOptions('ndarray', options as Exclude<NewArrayOptions, DTypeLike>, ['dtype', 'order']);
}

function full(shape: ShapeLike, value: unknown, options?: NewArrayOptions, ...more: readonly unknown[]): NDArray {
  refuseMore(more);
  const otherwise = typeof value === 'bigint' ? i64 : typeof value === 'boolean' ? bool : f64;
  const array = newArray(shape, options, otherwise);
  fillElements(array, value);
  return array;
}

/** `arange(stop)`, `arange(start, stop)`, `arange(start, stop, step)`, each with a dtype or options behind. */
function arange(...given: readonly unknown[]): NDArray {
  const isBound = (x: unknown): boolean => typeof x === 'number' || typeof x === 'bigint';
  const others = given.findIndex((x) => !isBound(x));
  const bounds = given.slice(0, others < 0 ? given.length : others);
  const [options, ...more] = given.slice(bounds.length).filter((x, k) => k > 0 || x !== undefined);
  refuseMore(more);
  const { length, at, wide } = progression(bounds);
  const array = newArray(length, options as NewArrayOptions | undefined, wide ? i64 : f64);
  const { write } = codecOf(array.dtype);
  const view = new DataView(array.bytes.buffer);
  for (let i = 0; i < length; i++) write(view, i * array.itemSize, at(i));
  return array;
}

/** Makes host arrays; `ndarray.zeros`, `empty`, `full` and `arange` make new ones. NumPy's `np.array`, `np.zeros`, …. */
export const ndarray: NDArrayFactory = /* @__PURE__ */ factory();

/** A function of its own, so that what needs `create` alone does not keep the others in bundles. */
function factory(): NDArrayFactory {
  const make = (data: unknown, given?: NDArrayOptions): NDArray => create(data, given);
  const made = hostOnly('ndarray', Object.assign(make, { empty, zeros: empty, full, arange }));
  return Object.freeze(made) as unknown as NDArrayFactory;
}
