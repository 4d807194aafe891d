/**
 * What products of matrices look like to the editor.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { HostTarget } from '../array/device-copy.ts';
import type { NDArray } from '../array/ndarray.ts';
import type { Plain, TypedArray } from '../dtype/index.ts';
import type { DeviceArgument, ForeignArgument, HostArgument } from '../kernel/kernel-types.ts';
import type { CallOptions } from '../ufunc/types.ts';
import type { Chosen, ProductMaker } from './library.ts';

/** Any array on the device. */
type OnDevice = DeviceArgument<never, number> | DeviceArgument<unknown, number>;

/** Nested JavaScript arrays of numbers. */
type Nested = readonly (number | bigint | Nested)[];

/** An array of numbers with one axis or more, on the device or the host. */
export type MatrixOperand =
  | OnDevice
  | HostArgument<never, number>
  | HostArgument<unknown, number>
  | TypedArray
  | ForeignArgument<unknown>
  | Nested;

/** The type of the elements. */
type ElementsOf<A> = A extends DeviceNDArray<infer T, never> ? T : unknown;
type Element<A> = A extends { readonly dtype: { readonly '~value'?: infer T } } ? T : ElementsOf<A>;

/** Options of products. */
export interface MatmulOptions<O = unknown> extends CallOptions<O> {
  /**
   * The implementation that multiplies: Tsamba's kernels, or NVIDIA's cuBLAS. Default: cuBLAS where it is installed and the product is a large one.
   * @throws NotSupportedError for 'cublas' where that is not installed, or cannot multiply such elements.
   */
  readonly library?: ProductMaker | undefined;
}

/** The result: on the device if any operand is there, else on the host; a number of two arrays with one axis. */
type ProductOf<A, B> = [Extract<A | B, OnDevice>] extends [never]
  ? NDArray | TypedArray | number
  : A extends { readonly ndim: 1 }
    ? B extends { readonly ndim: 1 }
      ? Plain<Element<A>>
      : DeviceNDArray<Element<A>>
    : DeviceNDArray<Element<A>>;

/** Multiplies matrices. */
export interface Matmul {
  /**
   * `matmul(a, b)`, `matmul(a, b, { out, stream })`.
   * @throws TypeError for anything but arrays of numbers, RangeError for shapes that do not match.
   */
  <A extends MatrixOperand, B extends MatrixOperand, O extends OnDevice | HostTarget>(
    a: A,
    b: B,
    options: MatmulOptions<O> & { readonly out: O },
  ): O;
  <A extends MatrixOperand, B extends MatrixOperand>(a: A, b: B, options?: MatmulOptions<undefined>): ProductOf<A, B>;
  /** The same without blocking; the only form on devices that only answer through promises for results on the host. */
  async<A extends MatrixOperand, B extends MatrixOperand, O extends OnDevice | HostTarget>(
    a: A,
    b: B,
    options: MatmulOptions<O> & { readonly out: O },
  ): Promise<O>;
  async<A extends MatrixOperand, B extends MatrixOperand>(
    a: A,
    b: B,
    options?: MatmulOptions<undefined>,
  ): Promise<ProductOf<A, B>>;
  /** Who would compute a product, `own` kernels or `cublas`, and why; for the latter with its version. Computes nothing. */
  inspect(a: MatrixOperand, b: MatrixOperand, options?: MatmulOptions): Chosen;
}

/** Any operand of `dot`. */
export type DotOperand = MatrixOperand | number | bigint;

/** NumPy's `dot`. */
export interface Dot {
  /**
   * `dot(a, b)`, `dot(a, b, { out, stream })`.
   * @throws TypeError for anything but arrays of numbers, RangeError for shapes that do not match.
   */
  <A extends DotOperand, B extends DotOperand, O extends OnDevice | HostTarget>(
    a: A,
    b: B,
    options: MatmulOptions<O> & { readonly out: O },
  ): O;
  <A extends DotOperand, B extends DotOperand>(a: A, b: B, options?: MatmulOptions<undefined>): ProductOf<A, B>;
  /** The same without blocking; the only form on devices that only answer through promises for results on the host. */
  async<A extends DotOperand, B extends DotOperand, O extends OnDevice | HostTarget>(
    a: A,
    b: B,
    options: MatmulOptions<O> & { readonly out: O },
  ): Promise<O>;
  async<A extends DotOperand, B extends DotOperand>(
    a: A,
    b: B,
    options?: MatmulOptions<undefined>,
  ): Promise<ProductOf<A, B>>;
}

/** The result of `einsum`: on the device if any operand is there, a number where no axes are left. */
type SumOf<S extends string, A extends readonly unknown[]> = S extends `${string}->` | `${string}-> `
  ? Plain<Element<A[0]>>
  : [Extract<A[number], OnDevice>] extends [never]
    ? NDArray | TypedArray | number
    : DeviceNDArray<Element<A[0]>>;

type Operands = readonly [MatrixOperand, ...MatrixOperand[]];

/** Sums of products over labelled axes. */
export interface Einsum {
  /**
   * `einsum('ij,jk->ik', a, b)`, `einsum(subscripts, ...operands, { out, stream })`.
   * @throws TypeError for anything but arrays of numbers, RangeError for subscripts that cannot be read, or do not match the operands.
   */
  <A extends Operands, O extends OnDevice | HostTarget>(
    subscripts: string,
    ...given: readonly [...operands: A, options: MatmulOptions<O> & { readonly out: O }]
  ): O;
  <S extends string, A extends Operands>(subscripts: S, ...operands: A): SumOf<S, A>;
  <S extends string, A extends Operands>(
    subscripts: S,
    ...given: readonly [...operands: A, options: MatmulOptions<undefined>]
  ): SumOf<S, A>;
  /** The same without blocking; the only form on devices that only answer through promises for results on the host. */
  async<A extends Operands, O extends OnDevice | HostTarget>(
    subscripts: string,
    ...given: readonly [...operands: A, options: MatmulOptions<O> & { readonly out: O }]
  ): Promise<O>;
  async<S extends string, A extends Operands>(subscripts: S, ...operands: A): Promise<SumOf<S, A>>;
  async<S extends string, A extends Operands>(
    subscripts: S,
    ...given: readonly [...operands: A, options: MatmulOptions<undefined>]
  ): Promise<SumOf<S, A>>;
}
