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
import type { DeviceMemory } from './device-memory.ts';

/** Device memory from an address on: what `gpuData` is, and what a new array can be laid over. */
export interface MemoryPointer {
  readonly context: Context;
  readonly owner: MemoryOwner;
  /** Device address of the first element. */
  readonly address: number;
  /** Nothing may write to it. */
  readonly readOnly?: boolean | undefined;
}

/** Whether an array was disposed, and where: also when it has changed its shape. */
interface Life {
  disposedAt: Site | undefined;
}

/** The memory of one array. Counts as one of the arrays that share it until it is retired. */
export class ArrayMemory implements DeviceMemory {
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
    this.shape = Object.freeze(normalizeShape(shape, itemSize));
    this.strides = Object.freeze(
      strides === undefined || strides === null
        ? cStrides(this.shape, itemSize)
        : normalizeStrides(strides, this.shape.length),
    );
    this.stream = streamOption(stream, this.context);
    this.layout = classifyLayout(this.shape, this.strides, itemSize);
    this.size = sizeOf(this.shape);
    const { low, high, bytes } = extentOf(this.shape, this.strides, itemSize);
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
