/**
 * What a device array is over: memory, shape, strides and dtype, checked when they come together and never changed.
 *
 * `DeviceNDArray` keeps one in a private field. Copies and launches read it there, and not what the array's properties say: nothing that a
 * program does to an array, its class or its prototypes leads a kernel out of the memory.
 */
import type { Layout } from '../compiler/contract.ts';
import { asDType, type DType, type DTypeLike } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import {
  classifyLayout,
  cStrides,
  type Extent,
  extentOf,
  formatShape,
  normalizeShape,
  normalizeStrides,
  type ShapeLike,
  sizeOf,
} from '../layout/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { disposedError, type Site } from '../memory/disposal.ts';
import { MemoryOwner } from '../memory/owner.ts';
import { ownValue } from '../options.ts';
import { show } from '../show.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import type { DeviceMemory, StreamOption } from './device-memory.ts';

/** Device memory from an address on: what `gpuData` is, and what a new array can be laid over. */
export interface MemoryPointer {
  /** The context that the memory belongs to. */
  readonly context: Context;
  /** The owner of the allocation: it counts the arrays that share the memory. */
  readonly owner: MemoryOwner;
  /** Device address of the first element. */
  readonly address: number;
  /** Nothing may write to it. */
  readonly readOnly?: boolean | undefined;
}

/** Options of a new array that the library itself gives: they need not be read as a program's are. */
export class OwnOptions {
  readonly stream: StreamOption['stream'];
  readonly gpuData: MemoryPointer | Context | undefined;

  constructor(stream: StreamOption['stream'], gpuData: MemoryPointer | Context | undefined) {
    this.stream = stream;
    this.gpuData = gpuData;
  }
}

/** Where the elements of an array lie. */
interface Layouted {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly layout: Layout;
  readonly size: number;
  readonly extent: Extent;
}

/** That of the last array of rank 1 that was made compact: programs make many of one length. */
let lastVector: Layouted | undefined;

function layouted(shape: ShapeLike, strides: ShapeLike | null | undefined, itemSize: number): Layouted {
  if (strides !== undefined && strides !== null) {
    const lengths = Object.freeze(normalizeShape(shape, itemSize));
    return described(lengths, Object.freeze(normalizeStrides(strides, lengths.length)), itemSize);
  }
  const known = lastVector;
  if (known !== undefined && known.shape[0] === shape && known.strides[0] === itemSize) return known;
  const lengths = Object.freeze(normalizeShape(shape, itemSize));
  const compact = described(lengths, Object.freeze(cStrides(lengths, itemSize)), itemSize);
  if (lengths.length === 1) lastVector = compact;
  return compact;
}

function described(shape: readonly number[], strides: readonly number[], itemSize: number): Layouted {
  const layout = classifyLayout(shape, strides, itemSize);
  return { shape, strides, layout, size: sizeOf(shape), extent: extentOf(shape, strides, itemSize) };
}

/** Whether an array was disposed, and where: also when it has changed its shape. */
interface Life {
  disposedAt: Site | undefined;
}

let made = 0;

/** The memory of one array. Counts as one of the arrays that share it until it is retired. */
export class ArrayMemory implements DeviceMemory {
  /** Which one it is: of no other memory, ever. Where launches meet one again nothing else of it need be looked at. */
  readonly id: number = ++made;
  readonly context: Context;
  readonly owner: MemoryOwner;
  readonly pointer: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: DType;
  readonly itemSize: number;
  readonly size: number;
  /** Bytes from the lowest to the highest byte of an element. */
  readonly allocSize: number;
  readonly layout: Layout;
  readonly readOnly: boolean;
  readonly stream: Stream | undefined;
  readonly #life: Life;

  /** New memory, in a context, or what `gpuData` names; `stream` is an option of a call. Throws as the constructor of `DeviceNDArray`. */
  constructor(
    shape: ShapeLike,
    strides: ShapeLike | null | undefined,
    dtype: DTypeLike,
    stream: unknown,
    given: MemoryPointer | Context | null | undefined,
    life: Life = { disposedAt: undefined },
  ) {
    this.#life = life;
    const gpuData = given instanceof Context ? undefined : memoryOption(given);
    this.context = gpuData?.context ?? (given instanceof Context ? given : cudaDevices.currentContext());
    this.readOnly = gpuData?.readOnly ?? false;
    this.dtype = asDType(dtype);
    const { itemSize } = this.dtype;
    this.itemSize = itemSize;
    const where = layouted(shape, strides, itemSize);
    this.shape = where.shape;
    this.strides = where.strides;
    this.stream = streamOption(stream, this.context);
    this.layout = where.layout;
    this.size = where.size;
    const { low, high, bytes } = where.extent;
    this.allocSize = bytes;
    if (this.size === 0) {
      this.owner = this.context.noMemory;
      this.pointer = 0;
    } else if (gpuData === undefined) {
      this.owner = this.context.allocate(bytes, this.stream);
      this.pointer = this.owner.address - low;
    } else {
      checkWithin(gpuData, low, high, this.shape, this.strides);
      this.owner = gpuData.owner;
      this.pointer = gpuData.address;
    }
    this.owner.retain();
    Object.freeze(this);
  }

  /** Whether it was retired, or its context reset or closed. */
  get disposed(): boolean {
    return this.#life.disposedAt !== undefined || this.owner.lost !== undefined || this.context.closed;
  }

  /** Throws RangeError when the array was disposed (saying where), or its context reset or closed. */
  checkUsable(): void {
    const { disposedAt } = this.#life;
    if (disposedAt !== undefined) {
      throw disposedError('array', disposedAt, 'dispose it after its last use, or keep a view');
    }
    if (this.owner.lost === undefined && !this.context.closed) return;
    throw disposedError('array', undefined, `${this.owner.lost ?? 'its context was closed'}: make a new one`);
  }

  /** Whether the array was disposed. */
  get retired(): boolean {
    return this.#life.disposedAt !== undefined;
  }

  /** The array is disposed at a place. */
  retire(site: Site): void {
    this.#life.disposedAt = site;
    this.owner.release();
  }

  /** The same array's memory in another layout, which takes the place of this. */
  inLayout({ shape, strides }: Pick<DeviceMemory, 'shape' | 'strides'>): ArrayMemory {
    const { context, owner, pointer, readOnly, dtype, stream } = this;
    const gpuData = this.size === 0 ? undefined : { context, owner, address: pointer, readOnly };
    const other = new ArrayMemory(shape, strides, dtype, stream, gpuData, this.#life);
    owner.release();
    return other;
  }
}

Object.freeze(ArrayMemory.prototype);

/** The memory that was given, if any. Throws TypeError for what no device array has. */
function memoryOption(given: MemoryPointer | null | undefined): MemoryPointer | undefined {
  if (given === undefined || given === null) return undefined;
  // An array has an owner as well, but its address is called `pointer`.
  const [owner, address] = [ownValue(given, 'owner'), ownValue(given, 'address')];
  if (owner instanceof MemoryOwner && Number.isSafeInteger(address)) {
    // The context is the owner's, whatever is said: nothing may be read as memory of another device.
    const readOnly = ownValue(given, 'readOnly') === true;
    return { context: owner.context as Context, owner, address: address as number, readOnly };
  }
  throw new TsambaTypeError(
    'E_DEVICE_ARRAY',
    `gpuData must be that of another device array, d.gpuData, got ${show(given)}`,
  );
}

function checkWithin(
  memory: MemoryPointer,
  low: number,
  high: number,
  shape: readonly number[],
  strides: readonly number[],
): void {
  const first = memory.address + low - memory.owner.address;
  const end = memory.address + high - memory.owner.address;
  if (first >= 0 && end <= memory.owner.bytes) return;
  throw new TsambaRangeError(
    'E_BOUNDS',
    `shape ${formatShape(shape)}, strides ${formatShape(strides)} span bytes ${first} to ${end} of gpuData that has ` +
      `${memory.owner.bytes} bytes`,
  );
}
