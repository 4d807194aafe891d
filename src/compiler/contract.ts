/**
 * What the layer above the compiler says to it and gets back: argument types in, a typed kernel out.
 *
 * One specialisation is made for each combination of these argument types, the index width and the options. The captured
 * values are part of the captured function and frozen with it.
 */
import type { DType, TimeToken, VectorToken } from '../dtype/index.ts';
import type { LinkItem } from './intrinsics/external.ts';
import type { ElemType, Kernel } from './ir/ops.ts';

/** C: contiguous, last axis fastest. F: first axis fastest. A: any strides. A rank-1 contiguous array is C. */
export type Layout = 'C' | 'F' | 'A';

/** Elements that are structs or complex numbers. */
export interface RecordElements {
  readonly dtype: DType;
  /** What the address of every element is a multiple of: a power of two up to 16. */
  readonly align: number;
}

/** What a number is that the type of others does not hold. */
export type NumberKind = 'fraction' | 'word';

/** The type of one kernel argument, as far as compilation depends on it. */
export type ArgType =
  | {
      readonly kind: 'array';
      /** The scalar; of records what their memory is made of (`elements.ts`). */
      readonly elem: ElemType;
      /** Stores clamp and round: u8c. */
      readonly clamped?: true | undefined;
      /** Set when the elements are structs or complex numbers. */
      readonly record?: RecordElements | undefined;
      readonly ndim: number;
      readonly layout: Layout;
      /** Layout A: byte unit of strides; the item size when every stride is a multiple of it, else 1. */
      readonly unit: number;
      /** Scalars: what the address of every element is a multiple of, where that is less than the item size. */
      readonly align?: number | undefined;
      /** Stores are compile errors. */
      readonly readonly?: boolean | undefined;
    }
  /**
   * A JavaScript number: polymorphic, typed by its uses. `only`: one that is not an integer, so that they make it a float, or an integer of 32 bits
   * beyond i32, which is u32.
   */
  | { readonly kind: 'number'; readonly only?: NumberKind }
  /** A JavaScript bigint: polymorphic between i64 and u64. */
  | { readonly kind: 'bigint' }
  /** A boolean, `cuda.scalar(dtype, x)`, or what a signature says. `time`: the count of a date or duration. */
  | { readonly kind: 'scalar'; readonly type: ElemType; readonly time?: TimeToken | undefined }
  /**
   * A JavaScript array of fixed length; with names an object, of the class that `maker` is if it is of one. `complex`: the two parts of a
   * complex number. `vector`: the lanes of one, scalars of its type.
   */
  | {
      readonly kind: 'tuple';
      readonly items: readonly ArgType[];
      readonly names?: readonly string[] | undefined;
      readonly complex?: true;
      readonly vector?: VectorToken<unknown> | undefined;
      readonly maker?: ((...args: never[]) => unknown) | undefined;
    }
  /** What the kernel is compiled for as it is: undefined, null, a string, a function. */
  | { readonly kind: 'constant'; readonly value: Constant };

/** Arguments that are part of the type. */
export type Constant = string | undefined | null | ((...args: never[]) => unknown);

/** What a kernel is compiled for, besides the types of its arguments. */
export interface CompileOptions {
  readonly name: string;
  readonly checked: boolean;
  readonly contract: boolean;
  readonly fastMath: boolean;
  /** `throw` and `console.assert` report. */
  readonly debug: boolean;
  readonly defaultFloat: 'f32' | 'f64';
  readonly indexBits: 32 | 64;
  /** Threads of a block at most: the memory that collectives find is for so many. Default: 1024. */
  readonly maxThreads?: number | undefined;
  /** How many calls of one function may be inside each other; undefined: one. */
  readonly maxRecursion?: number | undefined;
  /** The memory of an object of another library that has the CUDA array interface. */
  readonly importArray?: ((object: object) => CapturedArray) | undefined;
  /** Code that the kernel is linked with. */
  readonly link?: readonly LinkItem[] | undefined;
}

/** The outcome for one variable or argument, for `inspect({ target: 'types' })`. */
export interface TypeNote {
  readonly name: string;
  readonly type: string;
  readonly line: number;
}

/** One specialisation: the kernel as IR, and what was found out on the way. */
export interface CompiledKernel {
  readonly kernel: Kernel;
  /** Device arrays captured by the kernel, in the order that `capturedBase` origins number them. */
  readonly captured: readonly CapturedArray[];
  /** What has become of arguments and variables. */
  types(): readonly TypeNote[];
  /** Names of number arguments that nothing decided and that fell to the default float. */
  readonly defaulted: readonly string[];
  /** Positions in the argument list (path) of arrays that the kernel stores to or updates atomically. */
  readonly written: readonly (readonly number[])[];
  /** Parameters, in pairs, that are addresses of arrays which the kernel takes not to share memory. */
  readonly apart: readonly (readonly [number, number])[];
}

/** Brand of host NDArrays: `{ data, dtype, shape, strides (bytes), byteOffset }`. */
export const NDARRAY: unique symbol = Symbol.for('tsamba.ndarray') as never;
/** Brand of device arrays; its value is a `CapturedArray`. */
export const DEVICE_ARRAY: unique symbol = Symbol.for('tsamba.devicearray') as never;

/** What the compiler must know of a device array that a kernel captures. The kernel keeps `owner` alive. */
export interface CapturedArray {
  readonly owner: object;
  readonly dtype: DType;
  /** Device address of the first element. */
  readonly pointer: number;
  readonly shape: readonly number[];
  /** Byte strides. */
  readonly strides: readonly number[];
  /** Stores are compile errors. */
  readonly readonly?: boolean | undefined;
}
