/**
 * What the editor knows of the arguments of primitives. Types only.
 */
import type { DType, ElementOf, InKernel, Plain, Scalar } from '../dtype/index.ts';
import type { DeviceArgument, HostArgument } from '../kernel/kernel-types.ts';
import type { Stream } from '../stream/stream.ts';
import type { OperatorName } from './operator.ts';

/** The TypedArrays of numbers. */
export type NumberArray =
  | (Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array)
  | (Float32Array | Float64Array);
/** The TypedArrays of bigints. */
export type BigArray = BigInt64Array | BigUint64Array;

/** A lazy input, as `lazy.ts` makes it. */
export interface LazyLike<out T> {
  /** Of the elements, for the editor alone. */
  readonly '~element'?: T;
  /** How many elements there are. */
  readonly length: number;
  /** The dtype of the elements where it was said; otherwise what is read decides. */
  readonly stated: DType | undefined;
  /** The arrays, host arrays and lazy inputs that it reads. */
  readonly sources: readonly unknown[];
}

/** What primitives read: arrays on the device or the host, JavaScript arrays, and lazy inputs. */
export type Sequence =
  | DeviceArgument<Scalar, number>
  | DeviceArgument<never, number>
  | { readonly gpuData: unknown; readonly dtype: DType }
  | HostArgument<never, number>
  | { readonly bytes: Uint8Array; readonly dtype: DType }
  | NumberArray
  | BigArray
  | readonly (number | bigint | boolean | object)[]
  | LazyLike<unknown>;

/** An element of a sequence as the host has it: number, bigint, boolean, complex number or struct. */
export type Elements<X> =
  X extends LazyLike<infer T>
    ? T
    : X extends NumberArray
      ? number
      : X extends BigArray
        ? bigint
        : X extends { readonly dtype: DType<infer T> }
          ? Plain<T>
          : X extends readonly (infer T)[]
            ? T extends number
              ? number
              : T extends bigint
                ? bigint
                : T extends boolean
                  ? boolean
                  : T
            : never;

/** The element type of the device arrays that results are: `f32` of a Float32Array and of an array of f32. */
export type ElementTypes<X> = X extends NumberArray | BigArray
  ? ElementOf<X>
  : X extends { readonly dtype: DType<infer T> }
    ? T
    : Elements<X>;

/** The same in kernels. */
export type InKernels<X> = X extends { readonly dtype: DType<infer T> } ? InKernel<T> : Elements<X>;

/** What combines two values of a sequence: a name, or a function. It must be associative. */
export type OperatorLike<T> = OperatorName | ((a: T, b: T) => T);

/** Which stream work is enqueued on. */
export interface OnStream {
  /** The stream that the work is enqueued on. A value that is returned is waited for all the same. */
  readonly stream?: Stream | 0 | null | undefined;
}
