/**
 * `DeviceNDArray`: an array in device memory, strided as NumPy's are, with Numba's methods.
 *
 * The class ties together what is written elsewhere: layout algebra (`layout/`), transfers (`device-transfer.ts`), indexing
 * and assignment (`device-assign.ts`). Views share the owner of the memory; nothing is copied by making one.
 */

import { type CapturedArray, DEVICE_ARRAY, type Layout } from '../compiler/contract.ts';
import type { DType, DTypeLike } from '../dtype/index.ts';
import type { Context } from '../memory/context.ts';
import type { MemoryOwner } from '../memory/owner.ts';
import type { Stream } from '../stream/stream.ts';

/** Device memory from one address on: what `gpuData` is. */
export interface MemoryPointer {
  readonly owner: MemoryOwner;
  /** Device address of the first element. */
  readonly address: number;
}
export interface StreamOption {
  readonly stream?: Stream | 0 | null | undefined;
}

export declare class DeviceNDArray<T = unknown, R extends number = number> {
  constructor(
    shape: number | readonly number[],
    strides: number | readonly number[] | null | undefined,
    dtype: DTypeLike,
    options?: StreamOption & { readonly gpuData?: MemoryPointer | null | undefined },
  );
  // what a launch reads: plain properties, in every array
  readonly context: Context;
  readonly owner: MemoryOwner;
  /** Device address of the first logical element; 0 when there are no elements. */
  readonly pointer: number;
  readonly shape: readonly number[];
  /** Byte strides. */
  readonly strides: readonly number[];
  readonly dtype: DType<T>;
  /** As kernels see it: 'C' if C-contiguous, else 'F', else 'A'; 'A' as soon as a stride is 0 and there are elements. */
  readonly layout: Layout;
  readonly stream: Stream | undefined;
  readonly ndim: R;
  readonly size: number;
  readonly nbytes: number;
  readonly itemSize: number;
  readonly allocSize: number;
  /** Whether it was disposed (or its context reset); cheap. */
  readonly disposed: boolean;
  /** Throws the use-after-dispose error. */
  checkUsable(): void;
  readonly gpuData: MemoryPointer | undefined;
  readonly flags: { readonly C_CONTIGUOUS: boolean; readonly F_CONTIGUOUS: boolean };
  /** `owner` in it is this array: the launcher reads `pointer`, `checkUsable()` and `owner.touch` of it. */
  readonly [DEVICE_ARRAY]: CapturedArray;
  readonly T: DeviceNDArray<T, R>;
  dispose(): void;
}
/** Whether a value is a device array of this process. */
export declare function isDeviceArray(value: unknown): value is DeviceNDArray;
