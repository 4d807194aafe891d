/**
 * Making host arrays that the device reaches: `pinnedArray`, `mappedArray`, `managedArray` and their `…Like`, each as the function of a
 * namespace. `roc` knows the first two by other names.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
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
import type { DeviceSelection } from '../memory/device-selection.ts';
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

/** A host array in page-locked memory. */
export type PinnedArray = <const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options?: PinnedArrayOptions,
) => PinnedNDArray<ValueOf<D>, RankOf<S>>;

/** A host array that kernels read and write in place. */
export type MappedArray<O = MappedArrayOptions> = <const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options?: O,
) => MappedNDArray<ValueOf<D>, RankOf<S>>;

/** An array in memory whose pages move to whoever touches them. */
export type ManagedArray = <const S extends ShapeLike, const D extends DTypeLike = DType<F64>>(
  shape: S,
  dtype?: D,
  options?: ManagedArrayOptions,
) => ManagedNDArray<ValueOf<D>, RankOf<S>>;

/** A pinned array of the shape and dtype of another array. */
export interface PinnedArrayLike {
  <T, R extends number>(like: DeviceNDArray<T, R> | NDArray<T, R>): PinnedNDArray<T, R>;
  <A extends TypedArray>(like: A): PinnedNDArray<ElementOf<A>, 1>;
  (like: HostArrayLike): PinnedNDArray;
}

/** A mapped array of the shape and dtype of another array. */
export interface MappedArrayLike {
  <T, R extends number>(like: DeviceNDArray<T, R> | NDArray<T, R>, options?: MappedLikeOptions): MappedNDArray<T, R>;
  <A extends TypedArray>(like: A, options?: MappedLikeOptions): MappedNDArray<ElementOf<A>, 1>;
  (like: HostArrayLike, options?: MappedLikeOptions): MappedNDArray;
}

/** `name`: what the namespace calls it. */
export function pinnedArrayOf(devices: DeviceSelection, name = 'pinnedArray'): PinnedArray {
  const pinnedArray = (shape: ShapeLike, dtype?: DTypeLike, options: PinnedArrayOptions = {}): PinnedNDArray => {
    const wanted = layoutOf(shape, dtype, readOptions(name, options, LAYOUT));
    return make(devices.currentContext(), PINNED, wanted, { kind: 'pinned' }, undefined);
  };
  return hostFunction(devices, name, pinnedArray as PinnedArray);
}

export function pinnedArrayLikeOf(devices: DeviceSelection): PinnedArrayLike {
  const pinnedArrayLike = (like: unknown): PinnedNDArray => {
    const context = devices.currentContext();
    const wanted = layoutLike(like, context, 'pinnedArrayLike', 'pinnedArray');
    return make(context, PINNED, wanted, { kind: 'pinned' }, undefined);
  };
  return hostFunction(devices, 'pinnedArrayLike', pinnedArrayLike as PinnedArrayLike);
}

export function mappedArrayOf(devices: DeviceSelection): MappedArray {
  const mappedArray = (shape: ShapeLike, dtype?: DTypeLike, options: MappedArrayOptions = {}): PinnedNDArray => {
    const own = readOptions('mappedArray', options, [...LAYOUT, ...MAPPED]);
    return mapped(devices.currentContext(), layoutOf(shape, dtype, own), own);
  };
  return hostFunction(devices, 'mappedArray', mappedArray as MappedArray);
}

export function mappedArrayLikeOf(devices: DeviceSelection): MappedArrayLike {
  const mappedArrayLike = (like: unknown, options: MappedLikeOptions = {}): PinnedNDArray => {
    const own = readOptions('mappedArrayLike', options, MAPPED);
    const context = devices.currentContext();
    return mapped(context, layoutLike(like, context, 'mappedArrayLike', 'mappedArray'), own);
  };
  return hostFunction(devices, 'mappedArrayLike', mappedArrayLike as MappedArrayLike);
}

/** As `mappedArray` with a layout alone; `name`: what the namespace calls it. */
export function simpleMappedArrayOf(devices: DeviceSelection, name: string): MappedArray<PinnedArrayOptions> {
  const mappedArray = (shape: ShapeLike, dtype?: DTypeLike, options: PinnedArrayOptions = {}): PinnedNDArray =>
    mapped(devices.currentContext(), layoutOf(shape, dtype, readOptions(name, options, LAYOUT)), {});
  return hostFunction(devices, name, mappedArray as MappedArray<PinnedArrayOptions>);
}

function mapped(
  context: Context,
  wanted: Wanted,
  { stream, portable, writeCombined }: MappedLikeOptions,
): PinnedNDArray {
  return make(context, MAPPED_KIND, wanted, { kind: 'mapped', portable, writeCombined }, stream);
}

export function managedArrayOf(devices: DeviceSelection): ManagedArray {
  const managedArray = (shape: ShapeLike, dtype?: DTypeLike, options: ManagedArrayOptions = {}): PinnedNDArray => {
    const own = readOptions('managedArray', options, [...LAYOUT, 'stream', 'attachGlobal']);
    const memory: HostMemoryOptions = { kind: 'managed', attachGlobal: own.attachGlobal ?? true };
    return make(devices.currentContext(), MANAGED, layoutOf(shape, dtype, own), memory, own.stream);
  };
  return hostFunction(devices, 'managedArray', managedArray as ManagedArray);
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

function layoutLike(like: unknown, context: Context, call: string, instead: string): Wanted {
  const { shape, strides, dtype } = likeness(like, context, call, instead);
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
  context: Context,
  kind: Make,
  { dtype, shape, strides }: Wanted,
  options: HostMemoryOptions,
  stream: unknown,
): PinnedNDArray {
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
