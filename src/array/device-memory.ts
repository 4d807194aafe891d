/**
 * What a device array is to the functions that copy and assign: elements at an address on one device.
 *
 * `DeviceNDArray` implements the interface; that the functions ask for it alone keeps them and the class apart.
 */
import type { DType } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import type { StridedLayout } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { MemoryOwner } from '../memory/owner.ts';
import { type Stream, streamOption } from '../stream/stream.ts';

/** An option that every transfer has: a stream, or Numba's 0 (or nothing) for none. */
export interface StreamOption {
  readonly stream?: Stream | 0 | null | undefined;
}

/** Elements in device memory. */
export interface DeviceMemory {
  readonly context: Context;
  readonly owner: MemoryOwner;
  /** Device address of the first element; 0 when there are none. */
  readonly pointer: number;
  readonly shape: readonly number[];
  /** Byte strides. */
  readonly strides: readonly number[];
  readonly dtype: DType;
  readonly itemSize: number;
  readonly size: number;
  /** Nothing may write to it: memory of another library that says so. */
  readonly readOnly: boolean;
  /** Where operations go that are given no stream. */
  readonly stream: Stream | undefined;
  /** Throws when the array was disposed, or its context is gone. */
  checkUsable(): void;
}

/** Brand of what is device memory: device arrays, and host arrays that the device reaches. Its value is a `DeviceMemory`. */
export const DEVICE_MEMORY: unique symbol = Symbol.for('tsamba.devicememory') as never;

/** The device memory that a value is, or has; undefined when it is none. Of whichever copy of the library. */
export function deviceMemoryOf(value: unknown): DeviceMemory | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as { readonly [DEVICE_MEMORY]?: DeviceMemory })[DEVICE_MEMORY];
}

/** Throws TypeError for memory that its owner lets others read only. */
export function checkWritable(array: DeviceMemory, call: string): void {
  if (!array.readOnly) return;
  throw new TsambaTypeError(
    'E_READ_ONLY',
    `${call}: the array is read-only, as its __cuda_array_interface__ says; copy it to an array of its own: deviceArrayLike(a)`,
  );
}

/** The layout of a device array, with offsets counted from its first element. */
export function layoutOf(array: DeviceMemory): StridedLayout {
  return { shape: array.shape, strides: array.strides, offset: 0, itemSize: array.itemSize };
}

/** Where an operation runs, and whether the caller has to wait for it. */
export interface Placement {
  readonly stream: Stream | undefined;
  /** A stream was named in the call: the operation is only enqueued. */
  readonly named: boolean;
}

/**
 * The stream that an array is bound to; none when that was disposed. Arrays outlive their streams: what is done with them then comes
 * after the work that was left there, on the default stream.
 */
export function boundStream({ stream }: Pick<DeviceMemory, 'stream'>): Stream | undefined {
  if (stream === undefined || !stream.disposed) return stream;
  stream.ref.handOver();
  return undefined;
}

/** The stream of a call, else the array's own, else none. Throws TypeError for anything that is not a stream of this device. */
export function placement(array: DeviceMemory, option: unknown): Placement {
  const named = streamOption(option, array.context);
  return { stream: named ?? boundStream(array), named: named !== undefined };
}
