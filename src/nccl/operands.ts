/**
 * Arrays of collectives: what may be one, and how a view with gaps becomes what a transport can take.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import { checkWritable } from '../array/device-memory.ts';
import { type DType, describeDTypes, sameBytes } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { formatShape, stridesFor } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';

/** Any device array, whatever its elements and axes: so much of one as all have in common for the editor. */
export interface AnyArray {
  /** The memory of the array. */
  readonly gpuData: unknown;
  /** The type of the elements. */
  readonly dtype: DType;
  /** Length of each axis, in elements. */
  readonly shape: readonly number[];
}

/** A device array that was given. Throws TypeError for what is none, or is on another device. */
export function arrayOf(call: string, role: string, value: unknown, context: Context): DeviceNDArray {
  if (!(value instanceof DeviceNDArray)) {
    throw new TsambaTypeError(
      'E_NCCL_ARGUMENT',
      `${call}: ${role} must be a device array, got ${show(value)}; cuda.toDevice(x) makes one`,
    );
  }
  value.checkUsable();
  if (!value.context.isWith(context)) {
    throw new TsambaTypeError(
      'E_NCCL_ARGUMENT',
      `${call}: ${role} is on ${value.context.place}, the communicator on ${context.place}: make the array there`,
    );
  }
  return value;
}

/** As `arrayOf`, of what is written. */
export function targetOf(call: string, value: unknown, context: Context): DeviceNDArray {
  const array = arrayOf(call, 'the array to receive', value, context);
  checkWritable(array, call);
  return array;
}

/** Throws unless both have the same type of elements, and the second so many. */
export function checkPair(call: string, send: DeviceNDArray, recv: DeviceNDArray, size: number, why: string): void {
  if (!sameBytes(send.dtype, recv.dtype)) {
    const [from, to] = describeDTypes(send.dtype, recv.dtype);
    throw new TsambaTypeError(
      'E_NCCL_ARGUMENT',
      `${call}: ${from} cannot be received into ${to}: both need the same dtype`,
    );
  }
  checkSize(call, recv, size, why);
}

export function checkSize(call: string, array: DeviceNDArray, size: number, why: string): void {
  if (array.size === size) return;
  throw new TsambaRangeError(
    'E_NCCL_ARGUMENT',
    `${call}: an array of shape ${formatShape(array.shape)} has ${array.size} elements, and ${size} are needed: ${why}`,
  );
}

/** An array without gaps in the place of one, and what to do when the call is enqueued. */
export interface Packed {
  readonly array: DeviceNDArray;
  /** Writes back what was received, and gives back what was made. */
  finish(): void;
}

/** A copy of the array, without gaps; undefined where its elements lie in C order without gaps anyhow. */
export function packed(
  array: DeviceNDArray,
  stream: Stream | undefined,
  { reads, writes }: { readonly reads: boolean; readonly writes: boolean },
): Packed | undefined {
  if (array.isCContiguous()) return undefined;
  const { shape, dtype, context } = array;
  const strides = stridesFor(shape, dtype.itemSize, 'C');
  const copy = new DeviceNDArray(shape, strides, dtype, { gpuData: context, stream });
  if (reads) copy.copyToDevice(array, { stream });
  return {
    array: copy,
    finish: () => {
      if (writes) array.copyToDevice(copy, { stream });
      copy.dispose();
    },
  };
}
