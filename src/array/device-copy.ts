/**
 * Copies of whole arrays between host and device: what `copyToHost`, `copyToHostAsync` and `copyToDevice` do.
 *
 * The checks come in Numba's order: dtype (TypeError), then shape (RangeError), where axes of length 1 do not count. Layouts
 * need not agree: elements go to the element of the same index, and nothing else is touched.
 */

import type { HostSide } from '../driver/driver.ts';
import {
  bytesOf,
  type DataOf,
  type DType,
  dataClassOf,
  describeDTypes,
  hasPlainData,
  type PlainName,
  sameBytes,
  type TypedArray,
} from '../dtype/index.ts';
import type { NameOf } from '../dtype/types.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { formatShape, likeStrides, type StridedLayout, sizeOf, squeezeLayout } from '../layout/index.ts';
import { refuseWaiting } from '../memory/recording.ts';
import { describes, isPlainObject, readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';
import { afterDefault, beforeDefault } from '../stream/transfer-stream.ts';
import { done } from '../stream/waiting.ts';
import { foreignMemory } from './cuda-interface.ts';
import {
  checkWritable,
  type DeviceMemory,
  deviceMemoryOf,
  layoutOf,
  placement,
  type StreamOption,
} from './device-memory.ts';
import { arePeers, moveBetween } from './device-peer.ts';
import { type ArraySide, download, downloadLater, move, upload } from './device-transfer.ts';
import { NDArray } from './ndarray.ts';
import type { HostMemory } from './ndarray-copy.ts';
import { create } from './ndarray-create.ts';
import { describeHostArray, type ForeignArray } from './ndarray-input.ts';

/** What copies can be made into: a TypedArray, an NDArray, or the arrays of other packages. */
export type HostTarget = TypedArray | NDArray<never> | NDArray | ForeignArray;

/** What copies of elements of type `T` can be made into: nothing is converted. */
export type HostTargetOf<T> = [NameOf<T>] extends [never]
  ? HostTarget
  : DataFor<T> | NDArray<T> | (ForeignArray & { readonly data: DataFor<T> });

/** The TypedArrays of elements; clamped bytes are bytes. */
type DataFor<T> =
  NameOf<T> extends 'u8' | 'u8c' ? Uint8Array | Uint8ClampedArray : NameOf<T> extends PlainName ? DataOf<T> : never;

/**
 * What a copy to the host gives: rank 1 of a number type its TypedArray, all else an NDArray; either where the editor does not
 * know. `R` is only ever asked about and never asked for, or TypeScript would take arrays to be invariant in their rank.
 */
export type HostResult<T, R extends number> = R extends 1
  ? VectorResult<T, R>
  : R extends 0 | 2 | 3 | 4 | 5 | 6 | 7 | 8
    ? NDArray<T, R>
    : NDArray<T, R> | VectorResult<T, R>;

type VectorResult<T, R extends number> = [NameOf<T>] extends [never]
  ? // A struct, or an element type that the editor does not know.
    [T] extends [object]
    ? NDArray<T, R>
    : NDArray<T, R> | DataOf<T>
  : // The TypedArray is all there is to an array with one axis.
    [NameOf<T>] extends [PlainName]
    ? DataOf<T>
    : NDArray<T, R>;

/** A copy to the host: what to give to the caller, and where its elements go. */
interface Download extends Transfer {
  readonly result: unknown;
}

/** Where the elements of a copy to the host come from and go. */
export interface Transfer {
  readonly shape: readonly number[];
  readonly to: HostSide;
  readonly from: ArraySide;
}

/** `array.copyToHost(into?, options?)`. `call` is what was called, where that is something else, and `instead` what to write where nothing can wait. */
export function copyToHost(array: DeviceMemory, args: readonly unknown[], call?: string, instead?: string): unknown {
  const { into, stream: option } = hostArguments(args);
  array.checkUsable();
  const { stream, named } = placement(array, option);
  const copy = planDownload(array, into);
  download(copy.shape, copy.to, copy.from, stream, call, instead);
  if (!named || array.context.readsWait) stream?.synchronize();
  return copy.result;
}

/** What a device array holds, on the host: for `method` of an array to which it cannot be copied directly. */
export function fetched(source: DeviceMemory, method: 'set' | 'copyToDevice'): NDArray {
  const call = `${method}() of an array of another dtype or device`;
  return create(copyToHost(source, [], call, `array.${method}(await source.copyToHostAsync())`) as TypedArray);
}

/** `array.copyToHostAsync(into?, options?)`. */
export async function copyToHostAsync(array: DeviceMemory, args: readonly unknown[]): Promise<unknown> {
  const { into, stream: option } = hostArguments(args);
  array.checkUsable();
  const { stream } = placement(array, option);
  const copy = planDownload(array, into);
  await downloadAsync(copy, stream);
  return copy.result;
}

/** Copies to the host, in the turn of the call; resolves when the copy is done. */
export async function downloadAsync(copy: Transfer, stream: Stream | undefined): Promise<void> {
  refuseWaiting('an asynchronous read');
  const { context } = copy.from.array;
  const { turns } = context;
  if (turns.waiting === 0) return void (await enqueueDownload(copy, stream));
  // In an object: the turn is over when the copy is enqueued, and not when it is done.
  const turn = await turns.take(context, async (enter) => ({ done: enter(() => enqueueDownload(copy, stream)) }));
  await turn.done;
}

/** Resolves when the copy is done; enqueued at once. */
function enqueueDownload({ shape, to, from }: Transfer, stream: Stream | undefined): Promise<unknown> {
  const { context } = from.array;
  if (stream?.handle !== undefined) {
    const filled = downloadLater(shape, to, from, stream);
    return Promise.all([filled, done(context, stream.use())]);
  }
  // A copy without a stream would block. It goes to a stream of its own, after the work and before later work without one.
  const own = afterDefault(context);
  const filled = downloadLater(shape, to, from, own);
  beforeDefault(own);
  return Promise.all([filled, done(context, own.use())]);
}

/** `array.copyToDevice(source, { stream })`. */
export function copyToDevice(array: DeviceMemory, source: unknown, option: unknown): void {
  array.checkUsable();
  checkWritable(array, 'copyToDevice');
  const { stream } = placement(array, option);
  // Looking for the properties of foreign arrays takes longer than the rest of a small copy.
  const device = ArrayBuffer.isView(source)
    ? undefined
    : (deviceMemoryOf(source) ?? foreignMemory(source, array.context));
  if (device !== undefined) {
    device.checkUsable();
    if (device.context.isWith(array.context)) copyWithin(array, device, stream);
    else if (arePeers(array, device)) copyWithin(array, device, stream, moveBetween);
    else copyFromHost(array, fetched(device, 'copyToDevice'), stream);
    return;
  }
  copyFromHost(array, describeHostArray(source) ?? fromNested(source as number[], array.dtype), stream);
}

/** Objects do not say what struct they are: the array does. Numbers are f64, as everywhere. */
function fromNested(source: number[], dtype: DType): HostMemory {
  return dtype.fields === undefined ? create(source) : (create(source, { dtype }) as HostMemory);
}

function copyFromHost(array: DeviceMemory, source: HostMemory, stream: Stream | undefined): void {
  const sides = pairUp(array, layoutOf(array), source.dtype, source.layout, 'copyToDevice');
  const { shape, mine, other } = writable(sides);
  const from: HostSide = { bytes: source.bytes, offset: other.offset, strides: other.strides };
  upload(shape, { array, pointer: array.pointer, strides: mine.strides }, from, stream);
}

function copyWithin(array: DeviceMemory, source: DeviceMemory, stream: Stream | undefined, transfer = move): void {
  const sides = pairUp(array, layoutOf(array), source.dtype, layoutOf(source), 'copyToDevice');
  const { shape, mine, other } = writable(sides);
  const from: ArraySide = { array: source, pointer: source.pointer, strides: other.strides };
  transfer(shape, { array, pointer: array.pointer, strides: mine.strides }, from, stream);
}

/** Where `copyToHost(into?, { stream }?)` is to go, in any of its forms. */
function hostArguments(args: readonly unknown[]): { into: unknown; stream: unknown } {
  const [first, second] = args;
  const options = (isOptions(first) ? first : second) as StreamOption | null | undefined;
  const { stream } = readOptions('copyToHost', options ?? undefined, ['stream']);
  return { into: isOptions(first) ? undefined : (first ?? undefined), stream };
}

/** A plain object is options, unless it is the array of another package. */
function isOptions(value: unknown): boolean {
  return isPlainObject(value) && !describes(value, 'data') && !describes(value, 'shape');
}

function planDownload(array: DeviceMemory, into: unknown): Download {
  if (into === undefined) return planNewHost(array);
  const target = describeHostArray(into);
  if (target === undefined) {
    throw new TsambaTypeError(
      'E_HOST_ARRAY',
      `copyToHost copies into a TypedArray, an NDArray or { data, shape, stride }, got ${
        Array.isArray(into) ? 'a JavaScript array' : show(into)
      }; without an argument it makes a new array`,
    );
  }
  const { shape, mine, other } = pairUp(array, layoutOf(array), target.dtype, target.layout, 'copyToHost');
  return {
    result: into,
    shape,
    to: { bytes: target.bytes, offset: other.offset, strides: other.strides },
    from: { array, pointer: array.pointer, strides: mine.strides },
  };
}

/** A new compact host array whose axes lie in memory in the order that they have on the device. */
function planNewHost(array: DeviceMemory): Download {
  const { shape, dtype, itemSize } = array;
  const Data = dataClassOf(dtype);
  const data = new Data((sizeOf(shape) * itemSize) / Data.BYTES_PER_ELEMENT);
  const strides = likeStrides(shape, array.strides, itemSize);
  const plain = shape.length === 1 && hasPlainData(dtype);
  return {
    result: plain ? data : new NDArray(data, dtype, { shape, strides, offset: 0 }),
    shape,
    to: { bytes: bytesOf(data), offset: 0, strides },
    from: { array, pointer: array.pointer, strides: array.strides },
  };
}

/** Two arrays of one dtype and, axes of length 1 apart, one shape. */
interface Pair {
  readonly shape: readonly number[];
  readonly mine: StridedLayout;
  readonly other: StridedLayout;
}

function pairUp(array: DeviceMemory, own: StridedLayout, dtype: DType, layout: StridedLayout, call: string): Pair {
  if (!sameBytes(array.dtype, dtype)) {
    const [mineIs, otherIs] = describeDTypes(array.dtype, dtype);
    const isStruct = array.dtype.fields !== undefined;
    throw new TsambaTypeError(
      'E_DTYPE_MISMATCH',
      `${call}: incompatible dtype: the device array has ${mineIs}, the other ${otherIs}; ` +
        (call.startsWith('copyToHost')
          ? `copy into an array of ${isStruct ? 'the same struct' : mineIs}, or pass none to get a new one`
          : isStruct
            ? 'structs do not convert: make the host array of that struct, with ndarray(records, { dtype: d.dtype })'
            : `convert with ndarray(x, { dtype: ${mineIs} })`),
    );
  }
  if (sameShape(own.shape, layout.shape)) return { shape: own.shape, mine: own, other: layout };
  const mine = squeezeLayout(own);
  const other = squeezeLayout(layout);
  if (String(mine.shape) === String(other.shape)) return { shape: mine.shape, mine, other };
  throw new TsambaRangeError(
    'E_SHAPE_MISMATCH',
    `${call}: incompatible shape: the device array has ${formatShape(own.shape)}, the other ${formatShape(layout.shape)}`,
  );
}

function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((length, axis) => length === b[axis]);
}

/**
 * A pair whose device side is written to. An axis that is broadcast there (stride 0) is one element of memory: it can take only
 * what is broadcast along the same axis.
 */
function writable({ shape, mine, other }: Pair): Pair {
  const lengths = shape.map((length, axis) => {
    if (mine.strides[axis] !== 0 || length <= 1) return length;
    if (other.strides[axis] === 0) return 1;
    throw new TsambaRangeError(
      'E_BROADCAST_TARGET',
      `copyToDevice: ${length} elements along an axis cannot be copied to the one element that a broadcast axis has; ` +
        'copy to an array that is not broadcast',
    );
  });
  return { shape: lengths, mine, other };
}
