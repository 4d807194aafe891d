/**
 * What universal functions look like to the editor.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { HostTarget } from '../array/device-copy.ts';
import type { NDArray } from '../array/ndarray.ts';
import type { Complex, Plain, TypedArray } from '../dtype/index.ts';
import type { DeviceArgument, ForeignArgument, HostArgument } from '../kernel/kernel-types.ts';
import type { ScalarArgument } from '../kernel/scalar.ts';
import type { SignatureInput } from '../kernel/signature.ts';
import type { UserFunctionOptions } from '../kernel/user-function.ts';
import type { NumberArray } from '../reduce/reduce.ts';
import type { StreamLike } from './operands.ts';

/** An element: what a universal function takes and gives. */
export type Element = number | bigint | boolean | Complex;

/** Options of `vectorize`. */
export interface VectorizeOptions extends UserFunctionOptions {
  /** `'float32(float32, float32)'`, or several. Without them the arguments of a call decide. */
  readonly signature?: string | readonly string[] | undefined;
  /** What the function leaves others as they are with: 0 of a sum. The result of reducing no elements. */
  readonly identity?: Element | undefined;
}

/** Nested JavaScript arrays. */
type Nested<T> = readonly (T | Nested<T>)[];

/** What may be passed for a parameter of elements: an array of any number of axes on the device or the host, or a number. */
export type Operands<T> =
  | Plain<T>
  | ScalarArgument
  | DeviceArgument<Plain<T> | T, number>
  | HostArgument<Plain<T> | T, number>
  | (Plain<T> extends bigint ? BigInt64Array | BigUint64Array : Plain<T> extends number ? NumberArray : never)
  | ForeignArgument<T>
  | Nested<Plain<T>>;

/** Options of a call. */
export interface CallOptions<O = unknown> {
  /** An array on the device or the host that gets the result; it is what the call gives. */
  readonly out?: O | null | undefined;
  /** The stream that the work is enqueued on. Results on the host are valid when it has been synchronised. */
  readonly stream?: StreamLike;
}

/** Any array on the device. */
type OnDevice = DeviceArgument<never, number> | DeviceArgument<unknown, number>;

/** The result of a call: on the device if any argument is there, a number of numbers, else an array of the host. */
export type ResultOf<A extends readonly unknown[], R> = true extends {
  [K in keyof A]: [Extract<A[K], OnDevice>] extends [never] ? never : true;
}[number]
  ? DeviceNDArray<R>
  : [A[number]] extends [Element | ScalarArgument]
    ? Plain<R>
    : HostOf<R>;

/** An array of the host that a result comes in. */
type HostOf<R> =
  | NDArray<R>
  | (Plain<R> extends bigint ? BigInt64Array | BigUint64Array : Plain<R> extends number ? NumberArray : never);

/** Arguments for the parameters of a function. */
type OperandsOf<P extends readonly unknown[]> = { readonly [K in keyof P]: Operands<P[K]> };

/** Options of `reduce`. */
export interface ReduceAxisOptions<R> extends CallOptions<OnDevice | HostTarget> {
  /** The axis that is reduced; null for all. Default 0. */
  readonly axis?: number | null | undefined;
  /** A value that is combined with the elements, once. */
  readonly init?: Plain<R> | undefined;
  /** Whether the axis stays, with a length of 1. Default false. */
  readonly keepDims?: boolean | undefined;
}

/**
 * A function of elements, applied to all elements of arrays on the device: NumPy's ufunc. Shapes are broadcast; arrays on the device stay there, host arrays give
 * host arrays, numbers a number.
 */
export interface UFunc<P extends readonly unknown[] = readonly unknown[], R = Element> {
  /**
   * `add(a, b)`, `add(a, 1, { out, stream })`.
   * @throws TypeError for arguments that no signature fits, RangeError for shapes that cannot be broadcast together, KernelError for a function that does not compile.
   */
  <A extends OperandsOf<P>>(...args: A): ResultOf<A, R>;
  <A extends OperandsOf<P>, O extends OnDevice | HostTarget>(
    ...args: [...args: A, options: CallOptions<O> & { readonly out: O }]
  ): O;
  <A extends OperandsOf<P>>(...args: [...args: A, options: CallOptions<undefined>]): ResultOf<A, R>;
  /** The same without blocking; the only form on devices that only answer through promises for results on the host. */
  async<A extends OperandsOf<P>>(...args: A): Promise<ResultOf<A, R>>;
  async<A extends OperandsOf<P>, O extends OnDevice | HostTarget>(
    ...args: [...args: A, options: CallOptions<O> & { readonly out: O }]
  ): Promise<O>;
  async<A extends OperandsOf<P>>(...args: [...args: A, options: CallOptions<undefined>]): Promise<ResultOf<A, R>>;
  /**
   * Combines the elements along an axis, of a function of two: `add.reduce(x)`, `add.reduce(x, { axis: 1 })`. The function must be associative and
   * commutative. A single number is returned and waited for. NumPy: `ufunc.reduce`.
   */
  readonly reduce: BothForms<ReduceMethod<R>, readonly [array: Operands<R> | OnDevice, options?: ReduceAxisOptions<R>]>;
  /** All the results of reducing 1, 2, 3 … elements along an axis; the function must be associative. NumPy: `ufunc.accumulate`. */
  readonly accumulate: BothForms<
    AccumulateMethod<R>,
    readonly [array: Operands<R> | OnDevice, options?: AccumulateOptions]
  >;
  /** The function of every element of `a` with every element of `b`: the shape is both of theirs, one after the other. NumPy: `ufunc.outer`. */
  readonly outer: BothForms<
    OuterMethod<R>,
    readonly [a: Operands<R> | OnDevice, b: Operands<R> | OnDevice, options?: CallOptions<OnDevice | HostTarget>]
  >;
  /**
   * `a[i] = f(a[i], b)` for each of `indices`, however often one comes: in place, in an order that is not defined. `a` and `indices` have one axis. NumPy: `ufunc.at`.
   */
  readonly at: BothForms<AtMethod<R>, Parameters<AtMethod<R>>>;
  /** Number of parameters, of results, of both. */
  readonly nin: number;
  /** Number of results. NumPy: `ufunc.nout`. */
  readonly nout: number;
  /** Number of parameters and results together. NumPy: `ufunc.nargs`. */
  readonly nargs: number;
  /** The result of `reduce` without elements; undefined if none was given. NumPy: `ufunc.identity`. */
  readonly identity: Element | undefined;
  /** The signatures. */
  readonly types: readonly string[];
  /** The name of the function. */
  readonly name: string;
}

/** A method, and its form that does not block. */
type BothForms<F, P extends readonly unknown[]> = F & { async(...args: P): Promise<unknown> };

/** One axis less: of one, a number. */
type Lower<A, R> = A extends { readonly ndim: infer N }
  ? number extends N
    ? Whole<A, R> | Plain<R>
    : N extends 1
      ? Plain<R>
      : Whole<A, R>
  : A extends TypedArray | readonly Element[]
    ? Plain<R>
    : HostOf<R> | Plain<R>;

/** An array where the argument is. */
type Whole<A, R> = A extends OnDevice ? DeviceNDArray<R> : HostOf<R>;

interface ReduceMethod<R> {
  <O extends OnDevice | HostTarget>(
    array: Operands<R> | OnDevice,
    options: ReduceAxisOptions<R> & { readonly out: O },
  ): O;
  <A extends Operands<R> | OnDevice>(
    array: A,
    options: ReduceAxisOptions<R> & { readonly keepDims: true },
  ): Whole<A, R>;
  (array: Operands<R> | OnDevice, options: ReduceAxisOptions<R> & { readonly axis: null }): Plain<R>;
  <A extends Operands<R> | OnDevice>(array: A, options?: ReduceAxisOptions<R>): Lower<A, R>;
}

interface AccumulateMethod<R> {
  <O extends OnDevice | HostTarget>(array: Operands<R> | OnDevice, options: AccumulateOptions & { readonly out: O }): O;
  <A extends Operands<R> | OnDevice>(array: A, options?: AccumulateOptions): Whole<A, R>;
}

type OuterMethod<R> = <A extends Operands<R> | OnDevice, B extends Operands<R> | OnDevice>(
  a: A,
  b: B,
  options?: CallOptions<OnDevice | HostTarget>,
) => ResultOf<[A, B], R>;

type AtMethod<R> = (
  array: OnDevice | HostTarget,
  indices: Operands<number> | Operands<bigint>,
  b?: Operands<R>,
  options?: Pick<CallOptions, 'stream'>,
) => void;

/** Options of `accumulate`. */
export interface AccumulateOptions extends CallOptions<OnDevice | HostTarget> {
  /** Default 0. */
  readonly axis?: number | undefined;
}

/** Makes universal functions. */
export interface Vectorize {
  <C extends Readonly<Record<string, unknown>>, P extends readonly Element[], R extends Element>(
    factory: (captures: C) => (...args: P) => R,
    options: VectorizeOptions & { readonly captures: C },
  ): UFunc<P, R>;
  <P extends readonly number[], R extends Element>(fn: (...args: P) => R, options?: VectorizeOptions): UFunc<P, R>;
  <P extends readonly Element[], R extends Element>(fn: (...args: P) => R, options?: VectorizeOptions): UFunc<P, R>;
  /** Numba's order: `cuda.vectorize(['float32(float32)'])(fn)`. */
  (signature: string | readonly string[], options?: Omit<VectorizeOptions, 'signature'>): Vectorize;
}

/** Options of `guvectorize`. */
export interface GUVectorizeOptions extends UserFunctionOptions {
  /** `'void(float32[:,:], float32[:,:], float32[:,:])'`, or several. Without them the arguments of a call decide. */
  readonly signature?: SignatureInput | undefined;
}

/** What a function of parts of arrays is given: the parts are its own affair. */
type CoreOperand = OnDevice | HostTarget | HostArgument<unknown, number> | Nested<Element> | Element | ScalarArgument;

/** A function of parts of arrays, applied to all such parts: NumPy's gufunc. Its last arguments are results, and may be left out. */
export interface GUFunc<out P extends readonly unknown[] = readonly unknown[]> {
  /** Phantom: the parameters of the function. */
  readonly '~parameters'?: P;
  /**
   * `matmul(A, B)`, `matmul(A, B, C)`, `matmul(A, B, { out, stream })`: the result, or a list of several.
   * @throws TypeError for arguments that no signature fits, RangeError for lengths that do not agree, KernelError for a function that does not compile.
   */
  <A extends readonly CoreOperand[]>(
    ...args: [...args: A, options: CallOptions<OnDevice | HostTarget | readonly (OnDevice | HostTarget)[]>]
  ): CoreResult<A>;
  <A extends readonly CoreOperand[]>(...args: A): CoreResult<A>;
  /** The same without blocking; the only form on devices that only answer through promises for results on the host. */
  async<A extends readonly (CoreOperand | CallOptions)[]>(...args: A): Promise<CoreResult<A>>;
  /** Number of parameters that are read. */
  readonly nin: number;
  /** Number of results. */
  readonly nout: number;
  /** Number of parameters and results together. */
  readonly nargs: number;
  /** The layout, as given: `'(m,n),(n,p)->(m,p)'`. NumPy: `ufunc.signature`. */
  readonly layout: string;
  /** The signatures. */
  readonly types: readonly string[];
  /** The name of the function. */
  readonly name: string;
}

/** On the device if any argument is there; of several results a list. */
type CoreResult<A extends readonly unknown[]> = true extends {
  [K in keyof A]: [Extract<A[K], OnDevice>] extends [never] ? never : true;
}[number]
  ? DeviceNDArray
  : NDArray | TypedArray;

/** Makes generalised universal functions. */
export interface GUVectorize {
  <C extends Readonly<Record<string, unknown>>, P extends readonly unknown[]>(
    factory: (captures: C) => (...args: P) => void,
    layout: string,
    options: GUVectorizeOptions & { readonly captures: C },
  ): GUFunc<P>;
  <P extends readonly unknown[]>(fn: (...args: P) => void, layout: string, options?: GUVectorizeOptions): GUFunc<P>;
  /** With the signatures before the layout: `cuda.guvectorize(fn, ['void(f32[:], f32[:])'], '(n)->(n)')`. */
  <P extends readonly unknown[]>(fn: (...args: P) => void, signature: SignatureInput, layout: string): GUFunc<P>;
  /** Numba's order: `cuda.guvectorize(signatures, layout)(fn)`. */
  (
    signature: string | readonly string[],
    layout: string,
    options?: Omit<GUVectorizeOptions, 'signature'>,
  ): <P extends readonly unknown[]>(fn: (...args: P) => void) => GUFunc<P>;
}
