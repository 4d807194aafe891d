/**
 * What counts as a host array: TypedArrays, NDArrays, and the `{ data, shape, stride }` objects of other packages.
 *
 * This file describes them as memory (data, dtype, layout) and reads nested JavaScript arrays; `ndarray-create.ts` makes
 * NDArrays of the descriptions.
 */
import { DEVICE_ARRAY, NDARRAY } from '../compiler/contract.ts';
import {
  asDType,
  bytesOf,
  type DType,
  dataClassOf,
  dtypeOfTypedArray,
  isTypedArray,
  type TypedArray,
} from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import {
  checkBounds,
  compactLayout,
  cStrides,
  normalizeShape,
  normalizeStrides,
  type ShapeLike,
  type StridedLayout,
} from '../layout/index.ts';
import { describedValue, describes } from '../options.ts';
import { show } from '../show.ts';
import type { HostMemory } from './ndarray-copy.ts';
import { readNested } from './ndarray-nested.ts';

/** A host array, whatever it came as. */
export interface Described extends HostMemory {
  readonly data: TypedArray;
}

/** The objects of npm `ndarray` and `@stdlib/ndarray`: strides and offset count elements, not bytes. */
export interface ForeignArray {
  readonly data: TypedArray;
  readonly shape: ShapeLike;
  readonly stride?: ShapeLike;
  readonly strides?: ShapeLike;
  readonly offset?: number;
}

/** An NDArray by what it has: strides and offset count bytes. At run time it must carry the brand. */
export interface NDArrayLike {
  readonly data: TypedArray;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly byteOffset: number;
  /** All bytes of `data`. */
  readonly bytes?: Uint8Array;
}

let readOwn: (value: object) => Described | undefined = () => undefined;

/** By what the arrays of this copy of the library are read: their private state, whatever their class says of them. */
export function readOwnArraysBy(read: (value: object) => Described | undefined): void {
  readOwn = read;
}

/** Anything that is accepted as a host array. */
export type HostArrayLike = TypedArray | ForeignArray | NDArrayLike;

/**
 * The memory behind a host array; undefined when the value is none. Throws TypeError or RangeError for an object that looks
 * like an array of another package and is not sound.
 */
export function describeHostArray(value: unknown): Described | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isTypedArray(value)) return describeTypedArray(value);
  if (NDARRAY in value) return describeBranded(value);
  if (DEVICE_ARRAY in value || Array.isArray(value) || !isForeign(value)) return undefined;
  return describeForeign(value);
}

/** A TypedArray as an array with one axis. */
function describeTypedArray(data: TypedArray): Described {
  const dtype = dtypeOfTypedArray(data);
  return {
    data: normalData(data, dtype),
    bytes: bytesOf(data),
    dtype,
    layout: compactLayout([data.length], dtype.itemSize),
  };
}

/** Buffer and Float16Array as the plain class that arrays of their dtype are kept in, sharing memory. */
function normalData(data: TypedArray, dtype: DType): TypedArray {
  const Data = dataClassOf(dtype);
  return data.constructor === Data ? data : new Data(data.buffer, data.byteOffset, data.length);
}

/**
 * The right side of an assignment to an array of `dtype` as memory; undefined when it is a scalar (a plain object too: a struct
 * or a complex number).
 */
export function describeSource(value: unknown, dtype: DType): HostMemory | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return readNested(value, dtype);
  if (DEVICE_ARRAY in value) {
    throw new TsambaTypeError(
      'E_HOST_ARRAY',
      'the value is a device array: copy it to the host first, with copyToHost()',
    );
  }
  // A struct may well have fields called data and shape.
  if (dtype.fields !== undefined && !isTypedArray(value) && !(NDARRAY in value)) return undefined;
  return describeHostArray(value);
}

/**
 * The TypedArray of a dtype over the memory of another, and a layout's offset in that. It is the same one where it can be, and
 * bytes when the elements are not aligned.
 */
export function dataOver(
  memory: TypedArray,
  dtype: DType,
  layout: StridedLayout,
): { readonly data: TypedArray; readonly offset: number } {
  const Data = dataClassOf(dtype);
  const unit = Data.BYTES_PER_ELEMENT;
  const first = memory.byteOffset + layout.offset;
  if (first % unit !== 0 || layout.strides.some((stride) => stride % unit !== 0)) {
    return { data: bytesOf(memory), offset: layout.offset };
  }
  if (memory.constructor === Data) return { data: memory, offset: layout.offset };
  const start = Math.ceil(memory.byteOffset / unit) * unit;
  const length = Math.max(0, Math.floor((memory.byteOffset + memory.byteLength - start) / unit));
  return { data: new Data(memory.buffer, start, length), offset: first - start };
}

/** An NDArray of any copy of the library. */
function describeBranded(value: { readonly [NDARRAY]: unknown }): Described {
  const own = readOwn(value);
  if (own !== undefined) return checked(own);
  const array = value[NDARRAY] as NDArrayLike;
  const { data, shape, strides } = array;
  const dtype = asDType(array.dtype);
  if (!isTypedArray(data)) {
    throw new TsambaTypeError('E_HOST_ARRAY', `the data of a host array must be a TypedArray, got ${show(data)}`);
  }
  // Arrays of another copy of the library say in `bytes` when their memory is gone; what they say besides is not believed.
  void array.bytes;
  const bytes = bytesOf(data);
  const layout = {
    shape: normalizeShape(shape, dtype.itemSize),
    strides: normalizeStrides(strides, shape.length),
    offset: wholeOffset(array.byteOffset),
    itemSize: dtype.itemSize,
  };
  return checked({ data, bytes, dtype, layout });
}

function checked(array: Described): Described {
  checkBounds(array.layout, array.bytes.length, `the ${array.data.constructor.name}`);
  return array;
}

function isForeign(value: object): value is ForeignArray {
  return describes(value, 'data') && typeof describedValue(value, 'shape') === 'object';
}

function describeForeign(value: ForeignArray): Described {
  const { data } = value;
  if (!isTypedArray(data)) {
    const how =
      typeof data === 'function'
        ? 'of a tensor of tfjs write ndarray(await x.data(), { shape: x.shape })'
        : 'convert it, for example with Float64Array.from(data)';
    throw new TsambaTypeError(
      'E_HOST_ARRAY',
      `the data of a { data, shape, stride } object must be a TypedArray; ${how}`,
    );
  }
  const dtype = dtypeOfTypedArray(data);
  const { itemSize } = dtype;
  const shape = normalizeShape(value.shape, itemSize);
  const strides = foreignStrides(value, shape.length)?.map((s) => s * itemSize) ?? cStrides(shape, itemSize);
  const offset = describedValue(value, 'offset') ?? 0;
  const layout = { shape, strides, offset: wholeOffset(offset) * itemSize, itemSize };
  checkBounds(layout, data.byteLength, `the ${data.constructor.name}`);
  return { data: normalData(data, dtype), bytes: bytesOf(data), dtype, layout };
}

function wholeOffset(offset: unknown): number {
  if (typeof offset === 'number' && Number.isInteger(offset)) return offset;
  throw new TsambaTypeError('E_HOST_ARRAY', `offset must be an integer, got ${show(offset)}`);
}

/** In elements; undefined: C order. */
function foreignStrides(value: ForeignArray, ndim: number): readonly number[] | undefined {
  const given = (describedValue(value, 'strides') ?? describedValue(value, 'stride')) as ShapeLike | undefined;
  if (given === undefined) return undefined;
  // `@stdlib/ndarray` writes [0] for an array without axes.
  if (ndim === 0 && typeof given === 'object' && String(given) === '0') return [];
  return normalizeStrides(given, ndim);
}
