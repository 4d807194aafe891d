/**
 * Making host arrays that the device reaches: `pinnedArray`, `mappedArray`, `managedArray` and their `…Like`.
 */
import type { HostMemoryOptions } from '../driver/driver.ts';
import {
  asDType,
  type DType,
  type DTypeLike,
  type ElementOf,
  type f64 as F64,
  f64,
  type TypedArray,
  type ValueOf,
} from '../dtype/index.ts';
import {
  extentOf,
  likeStrides,
  normalizeOrder,
  normalizeShape,
  normalizeStrides,
  type Order,
  type ShapeLike,
  stridesFor,
} from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { currentContext } from '../memory/devices.ts';
import { allocateHostMemory } from '../memory/host/host-allocation.ts';
import { readOptions } from '../options.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import type { DeviceNDArray } from './device-array.ts';
import { given, likeness } from './device-create.ts';
import type { StreamOption } from './device-memory.ts';
import { type HostBlock, ManagedNDArray, MappedNDArray, PinnedNDArray } from './host-array.ts';
import type { NDArray, RankOf } from './ndarray.ts';
import { dataOver, type HostArrayLike } from './ndarray-input.ts';

/** Options of `pinnedArray`. */
export interface PinnedArrayOptions {
  /** Bytes between elements along each axis, taken as given. Overrides `order`. */
  readonly strides?: ShapeLike | null | undefined;
  /** C (default): last axis fastest. F: first axis fastest. */
  readonly order?: Order | undefined;
}

/** Options of `mappedArray`, those of `mappedArrayLike` among them. */
export interface MappedArrayOptions extends PinnedArrayOptions, MappedLikeOptions {}

/** Options of `mappedArrayLike`. */
export interface MappedLikeOptions extends StreamOption {
  /** Pinned for all contexts of the process. CUDA's `CU_MEMHOSTALLOC_PORTABLE`. */
  readonly portable?: boolean | undefined;
  /** Not cached by the host: quick to write, very slow to read there. CUDA's `CU_MEMHOSTALLOC_WRITECOMBINED`. */
  readonly writeCombined?: boolean | undefined;
}

/** Options of `managedArray`. */
export interface ManagedArrayOptions extends PinnedArrayOptions, StreamOption {
  /** True (default): any stream may use it. False: the host only, until it is attached to a stream. Numba: `attach_global`. */
  readonly attachGlobal?: boolean | undefined;
}

/** Two of the lists of options. */
const LAYOUT = ['strides', 'order'] as const;
const MAPPED = ['stream', 'portable', 'writeCombined'] as const;

/**
 * A host array in page-locked memory, f64 unless told otherwise: copies between it and the device are faster, and on a stream they do not hold
 * up the host. Dispose it: page-locked memory is scarce. Numba: `pinned_array(shape, dtype, strides, order)`.
 * @throws TypeError for a shape that is not of integers, RangeError for bad strides or order, OutOfMemoryError.
 */
export function pinnedArray<const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options: PinnedArrayOptions = {},
): PinnedNDArray<ValueOf<D>, RankOf<S>> {
  const wanted = layoutOf(shape, dtype, readOptions('pinnedArray', options, LAYOUT));
  return make(PINNED, wanted, { kind: 'pinned' }, undefined) as PinnedNDArray<ValueOf<D>, RankOf<S>>;
}

/** A pinned array of the shape and dtype of another array, compact, with its axes in the same order in memory. Numba: `pinned_array_like(ary)`. */
export function pinnedArrayLike<T, R extends number>(like: DeviceNDArray<T, R> | NDArray<T, R>): PinnedNDArray<T, R>;
export function pinnedArrayLike<A extends TypedArray>(like: A): PinnedNDArray<ElementOf<A>, 1>;
export function pinnedArrayLike(like: HostArrayLike): PinnedNDArray;
export function pinnedArrayLike(like: unknown): unknown {
  return make(PINNED, layoutLike(like, 'pinnedArrayLike', 'pinnedArray'), { kind: 'pinned' }, undefined);
}

/**
 * A host array that kernels read and write in place, f64 unless told otherwise: pass it to a kernel as it is, then synchronise. A stream becomes
 * that of its `device` array. Numba: `mapped_array(shape, dtype, strides, order, stream, portable, wc)`.
 * @throws as `pinnedArray`, and NotSupportedError where the device cannot reach host memory.
 */
export function mappedArray<const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options: MappedArrayOptions = {},
): MappedNDArray<ValueOf<D>, RankOf<S>> {
  const own = readOptions('mappedArray', options, [...LAYOUT, ...MAPPED]);
  return mapped(layoutOf(shape, dtype, own), own) as MappedNDArray<ValueOf<D>, RankOf<S>>;
}

/** A mapped array of the shape and dtype of another array, compact, with its axes in the same order in memory. Numba: `mapped_array_like(ary, …)`. */
export function mappedArrayLike<T, R extends number>(
  like: DeviceNDArray<T, R> | NDArray<T, R>,
  options?: MappedLikeOptions,
): MappedNDArray<T, R>;
export function mappedArrayLike<A extends TypedArray>(
  like: A,
  options?: MappedLikeOptions,
): MappedNDArray<ElementOf<A>, 1>;
export function mappedArrayLike(like: HostArrayLike, options?: MappedLikeOptions): MappedNDArray;
export function mappedArrayLike(like: unknown, options: MappedLikeOptions = {}): unknown {
  const own = readOptions('mappedArrayLike', options, MAPPED);
  return mapped(layoutLike(like, 'mappedArrayLike', 'mappedArray'), own);
}

function mapped(wanted: Wanted, { stream, portable, writeCombined }: MappedLikeOptions): PinnedNDArray {
  return make(MAPPED_KIND, wanted, { kind: 'mapped', portable, writeCombined }, stream);
}

/**
 * An array in memory whose pages move to whoever touches them, host or device; f64 unless told otherwise. The host may read and write it once
 * the kernels that use it have been waited for. Numba: `managed_array(shape, dtype, strides, order, stream, attach_global)`.
 * @throws as `pinnedArray`.
 */
export function managedArray<const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options: ManagedArrayOptions = {},
): ManagedNDArray<ValueOf<D>, RankOf<S>> {
  const own = readOptions('managedArray', options, [...LAYOUT, 'stream', 'attachGlobal']);
  const memory: HostMemoryOptions = { kind: 'managed', attachGlobal: own.attachGlobal ?? true };
  return make(MANAGED, layoutOf(shape, dtype, own), memory, own.stream) as ManagedNDArray<ValueOf<D>, RankOf<S>>;
}

interface Wanted {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

function layoutOf(shapeLike: ShapeLike, like: DTypeLike | undefined, options: PinnedArrayOptions): Wanted {
  const dtype = like === undefined ? f64 : asDType(like);
  const order = normalizeOrder(options.order);
  const shape = normalizeShape(shapeLike, dtype.itemSize);
  const strides = given(options.strides);
  return {
    dtype,
    shape,
    strides: strides === undefined ? stridesFor(shape, dtype.itemSize, order) : normalizeStrides(strides, shape.length),
  };
}

function layoutLike(like: unknown, call: string, instead: string): Wanted {
  const { shape, strides, dtype } = likeness(like, call, instead);
  return { dtype, shape, strides: likeStrides(shape, strides, dtype.itemSize) };
}

type Make = (
  data: TypedArray,
  dtype: DType,
  layout: { readonly shape: readonly number[]; readonly strides: readonly number[]; readonly offset: number },
  block: HostBlock,
  stream: Stream | undefined,
) => PinnedNDArray;

const PINNED: Make = (data, dtype, layout, block) => new PinnedNDArray(data, dtype, layout, block) as PinnedNDArray;
const MAPPED_KIND: Make = (...args) => new MappedNDArray(...args) as MappedNDArray;
const MANAGED: Make = (...args) => new ManagedNDArray(...args) as ManagedNDArray;

function make(
  kind: Make,
  { dtype, shape, strides }: Wanted,
  options: HostMemoryOptions,
  stream: unknown,
): PinnedNDArray {
  const context = currentContext();
  const { low, bytes } = extentOf(shape, strides, dtype.itemSize);
  const { block, view } = bytes === 0 ? noBlock(context) : newBlock(context, bytes, options);
  const layout = { shape, strides, offset: -low, itemSize: dtype.itemSize };
  const { data, offset } = dataOver(view, dtype, layout);
  return kind(data, dtype, { shape, strides, offset }, block, streamOption(stream, context));
}

function newBlock(context: Context, bytes: number, options: HostMemoryOptions): { block: HostBlock; view: Uint8Array } {
  const { owner, bytes: view, pointer, keepAliveWith } = allocateHostMemory(context, bytes, options);
  return { block: { context, owner, origin: view.byteOffset, pointer, keepAliveWith }, view };
}

function noBlock(context: Context): { block: HostBlock; view: Uint8Array } {
  const view = new Uint8Array();
  return { block: { context, owner: context.noMemory, origin: 0, pointer: 0, keepAliveWith: () => undefined }, view };
}
