/**
 * The type of a kernel, and what the editor accepts as its arguments.
 *
 * A parameter annotated `Vec<f32>` takes a 1-D array of f32 from the device or the host, `Mat<f32>` a 2-D one, and so on; arrays
 * whose rank the type system does not know go anywhere. Types only.
 */

import type { DeviceRecord } from '../array/device-record.ts';
import type { PageImage } from '../array/image.ts';
import type { Namespace, NamespaceMark, RankMark } from '../array/rank.ts';
import type { ExecutableAttributes } from '../driver/driver.ts';
import type { DType, PlainName } from '../dtype/index.ts';
import type { Complex, DataByName, ElementIn, IsComplex, NameOf } from '../dtype/types.ts';
import type { Stream } from '../stream/stream.ts';
import type { AsyncLaunchOptions } from './async-launch.ts';
import type { Dim } from './dims.ts';
import type { Hinted } from './hints.ts';
import type { LaunchOptions } from './launch-shape.ts';
import type { ScalarArgument } from './scalar.ts';
import type { Viewed } from './types.ts';

/** A device array of `T` and rank `R`, or of a rank that is not known. */
export interface DeviceArgument<T, R extends number, N extends Namespace = Namespace> {
  readonly '~namespace'?: NamespaceMark<N> | undefined;
  readonly gpuData: unknown;
  readonly dtype: DType<T>;
  readonly '~rank'?: RankMark<R> | undefined;
}

/** A host `NDArray` of `T` and rank `R`, or of a rank that is not known. */
export interface HostArgument<T, R extends number> {
  readonly bytes: Uint8Array;
  readonly dtype: DType<T>;
  readonly '~rank'?: RankMark<R> | undefined;
}

/** A `SmartArray` of `T` and rank `R`, or of a rank that is not known. */
export interface SmartArgument<T, R extends number> {
  markChanged(where?: 'host' | 'gpu'): void;
  readonly dtype: DType<T>;
  readonly '~rank'?: RankMark<R> | undefined;
}

/** The TypedArray whose elements are a `T`. There is none for bool, narrow floats, complex numbers and structs. */
type PlainData<T> = NameOf<T> extends PlainName ? DataByName[NameOf<T> & PlainName] : never;

/** An array of npm `ndarray` or `@stdlib/ndarray`: strides and offset count elements. */
export interface ForeignArgument<T> {
  readonly data: PlainData<T>;
  readonly shape: ArrayLike<number>;
  readonly stride?: ArrayLike<number>;
  readonly strides?: ArrayLike<number>;
  readonly offset?: number;
  /** Tells it from an `NDArray`. */
  readonly bytes?: never;
}

type HostArray<T, R extends number> = HostArgument<T, R> | ForeignArgument<T> | (R extends 1 ? PlainData<T> : never);

/** A picture of the page goes where (height, width, 4) of u8 is wanted. */
type ImageArgument<T, R extends number> = 3 extends R ? ([NameOf<T>] extends ['u8'] ? PageImage : never) : never;

type ArrayArgument<T, R extends number, N extends Namespace> =
  | DeviceArgument<T, R, N>
  | SmartArgument<T, R>
  | HostArray<T, R>
  | ImageArgument<T, R>
  | Hinted<DeviceArgument<T, R, N> | HostArray<T, R>>;

/** One record: on the device, or a 0-d array on the host. */
type RecordArgument<P, N extends Namespace> =
  | DeviceRecord<P>
  | DeviceArgument<P, 0, N>
  | HostArgument<P, 0>
  | Hinted<HostArgument<P, 0>>;

type AnyFunction = (...args: never[]) => unknown;

/** What may be passed for a parameter of type `P`. */
export type Argument<P, N extends Namespace = Namespace> = unknown extends P
  ? unknown
  : P extends Viewed<infer T, infer R>
    ? ArrayArgument<ElementIn<T>, R, N>
    : P extends bigint
      ? (1n extends P ? bigint | number : P) | ScalarArgument<P> | DateArgument<P>
      : P extends boolean
        ? boolean | ScalarArgument<boolean>
        : P extends number
          ? IsComplex<P> extends true
            ? Complex | ScalarArgument<P>
            : // Members of an enum stay what they are.
              (0.5 extends P ? number : P) | ScalarArgument<P>
          : P extends readonly unknown[]
            ? Arguments<P, N>
            : P extends string | null | undefined | AnyFunction
              ? P
              : P extends object
                ? RecordArgument<P, N> | FieldArguments<P, N> | P
                : never;

/** A `Date` goes where a date is expected. */
type DateArgument<P> = [NameOf<P>] extends [`datetime64[${string}]`]
  ? [NameOf<P>] extends [never]
    ? never
    : Date
  : never;

/** A plain object, or one of a class: an argument a field. */
export type FieldArguments<P, N extends Namespace> = { readonly [K in keyof P]: Argument<P[K], N> };

/** What may be passed for a list of parameters. */
export type Arguments<P extends readonly unknown[], N extends Namespace = Namespace> = {
  readonly [K in keyof P]: Argument<P[K], N>;
};

/** One specialisation, as `kernel.stats` shows it. */
export interface SpecialisationStats {
  /** `scale(f32[::1], number)`. */
  readonly signature: string;
  /** Width of indices: 64 if an array or the grid has more than 2³¹ elements. */
  readonly indexBits: 32 | 64;
  /** The device that it was compiled for. */
  readonly device: string;
  /** How often it has been launched. */
  readonly launches: number;
}

/** How often a launch found its code compiled. */
export interface KernelStats {
  /** Launches whose code was already compiled. */
  readonly hits: number;
  /** Launches that had to be compiled. */
  readonly misses: number;
  /** The specialisations, in the order in which they were compiled. */
  readonly specialisations: readonly SpecialisationStats[];
}

/**
 * What `inspect` can show: what the device makes of the kernel (`'passes'`: the IR after each of the compiler's passes; `'wasm'`, `'js'`), and the others
 * always.
 */
export type InspectTarget = 'types' | 'ir' | 'passes' | 'wasm' | 'js' | 'ptx' | 'opencl' | 'wgsl' | 'sass' | 'amdgcn';

/** Options of `forAll`. */
export interface ForAllOptions {
  /** The stream to enqueue on; without one the default stream. */
  readonly stream?: Stream | 0 | null | undefined;
  /** Bytes of dynamic shared memory per block. */
  readonly sharedBytes?: number | undefined;
  /** Threads per block; by default, chosen by Tsamba. Numba's `tpb`. */
  readonly block?: number | undefined;
}

/** A launch that waits for its arguments. */
export type Configured<P extends readonly unknown[], N extends Namespace = Namespace> = (
  ...args: Arguments<P, N>
) => void;

/**
 * A kernel, made by `jit`. It is compiled at its first launch, once for each combination of argument types; launches are enqueued and return at once,
 * unless host arrays have to be copied back and no stream is given.
 */
export interface Kernel<P extends readonly unknown[], N extends Namespace = Namespace> {
  /**
   * In another kernel: its function, as a device function. On the host it throws E_NOT_CONFIGURED: a kernel is launched there. Numba: a
   * `@cuda.jit` function that is called in another.
   */
  (...args: P): void;
  /** Runs the kernel: `k.launch({ grid, block }, …)`, `k.launch({ threads: n }, …)`. Throws if arguments do not fit. */
  launch(options: LaunchOptions, ...args: Arguments<P, N>): void;
  /**
   * As `launch`, without blocking the event loop while the kernel runs: `await k.launchAsync({ threads: n, onProgress, signal }, …)`. Resolves when
   * it is done and host arrays among the arguments are filled; do not touch these until then. Rejects if it failed. The launch has its place in the
   * order of its stream as soon as the call returns.
   */
  launchAsync(options: AsyncLaunchOptions, ...args: Arguments<P, N>): Promise<void>;
  /** Numba's `k[grid, block, stream, sharedmem]`: a function that launches, to be kept and called again. */
  configure(grid: Dim, block: Dim, stream?: Stream | 0 | null, sharedBytes?: number): Configured<P, N>;
  /** Numba's `k.forall(n)`: at least `n` threads in one dimension, so the kernel compares its index with the length. With 0, nothing runs. */
  forAll(threads: number, options?: ForAllOptions): Configured<P, N>;
  /** Compiles for arguments of these types without running. */
  compile(...args: Arguments<P, N>): void;
  /** As `compile`; rejects with what `compile` would throw. */
  compileAsync(...args: Arguments<P, N>): Promise<void>;
  /** Discards compiled code and captured values: these are read again at the next launch (or now, if there is a signature). */
  recompile(): void;
  /**
   * What was compiled, as text; throws if nothing was, or the device has no such code. PTX, OpenCL C, WGSL and AMD's instructions are available
   * without a GPU, for the architecture `arch` (default `'sm_90'`, `'gfx90a'`). AMD's need ROCm's compiler and take seconds; NVIDIA's (`'sass'`) need
   * the CUDA toolkit.
   */
  inspect(options?: { readonly target?: InspectTarget | undefined; readonly arch?: string | undefined }): string;
  /** Registers, memory and block size of the specialisation used last. Throws if there is none. */
  attributes(): ExecutableAttributes;
  /**
   * Blocks of this size that one multiprocessor holds at the same time, by registers and shared memory of the specialisation that was last used: what
   * a persistent grid is sized by. 1 where a block runs by itself. Synchronous. Numba: `max_cooperative_grid_blocks`, per multiprocessor.
   * CUDA driver API: `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
   * @throws when nothing was compiled, RangeError for a block that no launch may have.
   */
  maxActiveBlocks(block: Dim, sharedBytes?: number): number;
  /**
   * Threads of a block, along one axis, with which most of the device is busy, for the specialisation that was last used. Synchronous. CUDA driver API:
   * `cuOccupancyMaxPotentialBlockSize`.
   * @throws when nothing was compiled.
   */
  suggestBlock(sharedBytes?: number): number;
  /** How often the kernel was launched and compiled, and its specialisations. */
  readonly stats: KernelStats;
  /** The function's name, or the option `name`. */
  readonly name: string;
  /** The phantom of the parameter types. */
  readonly parameters?: P;
}
