/**
 * What the editor sees inside a kernel: `Vec`, `Mat`, `Cube` and `In`.
 *
 * They describe a kernel's array parameters, whatever was passed for them, and the arrays that `cuda.shared.array` and its
 * like make. Types only: annotations are erased, and what a kernel is compiled for comes from the arguments of a launch.
 */
import type { PlainName } from '../dtype/index.ts';
import type { DataByName, DTypeLike, FieldElement, FieldOf, InKernel, NameOf, Plain, ValueOf } from '../dtype/types.ts';

/** Phantom: element type and rank of a kernel-side array. Never present at run time. */
declare const view: unique symbol;

/** One number per axis. */
export type Axes<R extends number> = number extends R
  ? readonly number[]
  : R extends 0
    ? readonly []
    : R extends 1
      ? readonly [number]
      : R extends 2
        ? readonly [number, number]
        : R extends 3
          ? readonly [number, number, number]
          : readonly number[];

/** One axis of `slice`: an element, a `[start?, stop?, step?]` range, or the same as a string: `'1:5'`, `'::2'`, `':'`. */
export type SliceIndex = number | string | readonly (number | null | undefined)[];

/** What is left of a rank when the axes given as plain numbers are dropped. */
type Remaining<All extends readonly unknown[], A extends readonly unknown[]> = A extends readonly [
  infer H,
  ...infer Rest,
]
  ? All extends readonly [unknown, ...infer More]
    ? H extends number
      ? Remaining<More, Rest>
      : readonly [number, ...Remaining<More, Rest>]
    : readonly []
  : All;

/** The array type of a rank. */
export type ViewOf<T, R extends number> = R extends 1
  ? Vec<T>
  : R extends 2
    ? Mat<T>
    : R extends 3
      ? Cube<T>
      : View<T, R>;

/** The dtype of a kernel-side array: `x.dtype(v)` converts to it, `x.dtype === f32` asks for it. */
export interface ElementType<T> {
  (value: number | bigint | boolean): InKernel<T>;
  readonly name: string;
  readonly [view]?: T;
}

/** What arrays of every rank have in a kernel that reads them. */
interface Readable<T, R extends number> {
  /** Extent of the first axis. */
  readonly length: number;
  readonly shape: Axes<R>;
  /** Bytes from one element to the next, along each axis. */
  readonly strides: Axes<R>;
  /** Number of elements. */
  readonly size: number;
  readonly ndim: R;
  /** Wherever a dtype is expected: `cuda.shared.array(8, x.dtype)`. */
  readonly dtype: ElementType<T>;
  /** A view with the axes reversed. */
  readonly T: ViewOf<T, R>;
  /** One element. */
  get(...index: Axes<R>): InKernel<T>;
  /** A view of the same memory, NumPy's rules: `a.slice('1:5')`, `A.slice(i, [0, n, 2])`. */
  slice<const A extends readonly SliceIndex[]>(...index: A): ViewOf<T, Remaining<Axes<R>, A>['length'] & number>;
  /** The member of every struct: `p.field('x')[i]` is `p[i].x`. A sub-array adds its axes at the end. */
  field<K extends FieldOf<Plain<T>>>(
    name: K,
  ): ViewOf<FieldElement<Plain<T>, K>, Deeper<R, Plain<T>[K & keyof Plain<T>]>>;
  /**
   * The same elements in another shape, of an array in C order: `a.reshape(rows, cols)`, `a.reshape([-1, 4])`. One length may be -1, which is
   * what remains.
   */
  reshape<const S extends readonly number[]>(shape: S): ViewOf<T, S['length'] & number>;
  reshape<const S extends readonly number[]>(...shape: S): ViewOf<T, S['length'] & number>;
  /** The same bytes as elements of another type: `a.view(u32)`. The last axis gets longer or shorter by the sizes of both. */
  view<const D extends DTypeLike>(dtype: D): ViewOf<ValueOf<D>, R>;
  /** The sum of all elements, in their type (8- and 16-bit integers: 32 bits). Each thread computes it on its own. NumPy: `sum`. */
  sum(): Plain<T>;
  /** The product of all elements. NumPy: `prod`. */
  prod(): Plain<T>;
  /** The smallest element; NaN if there is one. An array without elements is an error. NumPy: `min`. */
  min(): Plain<T>;
  /** The largest element; NaN if there is one. NumPy: `max`. */
  max(): Plain<T>;
  /** The mean of all elements, a float. NumPy: `mean`. */
  mean(): number;
  /** Whether any element is not 0. NumPy: `any`. */
  any(): boolean;
  /** Whether no element is 0. NumPy: `all`. */
  all(): boolean;
  /** The variance of all elements, a float: the mean of squared differences from the mean. NumPy: `var`. */
  var(): number;
  /** The standard deviation of all elements, a float. NumPy: `std`. */
  std(): number;
  /** How many elements are not 0. NumPy: `count_nonzero`. */
  countNonzero(): number;
  /** The sum of the elements that are not NaN. NumPy: `nansum`. */
  nanSum(): Plain<T>;
  /** The product of the elements that are not NaN. NumPy: `nanprod`. */
  nanProd(): Plain<T>;
  /** The mean of the elements that are not NaN, a float; NaN if there are none. NumPy: `nanmean`. */
  nanMean(): number;
  /** The smallest element that is not NaN; NaN if all are. NumPy: `nanmin`. */
  nanMin(): Plain<T>;
  /** The largest element that is not NaN. NumPy: `nanmax`. */
  nanMax(): Plain<T>;
  /** The position of the smallest element, counted in C order: the first of equal ones, and the first NaN, if there is one. NumPy: `argmin`. */
  argmin(): number;
  /** The position of the largest element. NumPy: `argmax`. */
  argmax(): number;
  readonly [view]?: readonly [T, R];
}

/** What arrays of every rank have in a kernel. `View<T, 0>` is a 0-d array: `a.get()` reads its element, `a.set(v)` stores to it. */
export interface View<T, R extends number> extends Readable<T, R> {
  /** Stores to one element: `a.set(v)` of a 0-d array, `A.set(v, i, j)`. NumPy's `a[()] = v` and `A[i, j] = v`. */
  set(value: InKernel<T>, ...index: Axes<R>): void;
}

/** JavaScript's methods of arrays, of one axis or of the rows of several. `P` is an element or a row. */
interface Sequence<P, V> {
  /** The element at an index; negative ones count from the end. */
  at(index: number): P;
  /** Whether every element passes the test. */
  every(test: (value: P, index: number) => unknown): boolean;
  /** Whether at least one element passes the test. */
  some(test: (value: P, index: number) => unknown): boolean;
  /** The first element that passes the test; undefined if none does. */
  find(test: (value: P, index: number) => unknown): P | undefined;
  /** The index of the first element that passes the test; -1 if none does. */
  findIndex(test: (value: P, index: number) => unknown): number;
  /** The last element that passes the test; undefined if none does. */
  findLast(test: (value: P, index: number) => unknown): P | undefined;
  /** The index of the last element that passes the test; -1 if none does. */
  findLastIndex(test: (value: P, index: number) => unknown): number;
  /** Calls a function for each element, in order. */
  forEach(each: (value: P, index: number) => void): void;
  /** Whether an element is the value. */
  includes(value: P): boolean;
  /** The index of the first element that is the value; -1 if none is. */
  indexOf(value: P): number;
  /** The index of the last element that is the value; -1 if none is. */
  lastIndexOf(value: P): number;
  /** A new array of the thread; the length must be known at compile time. */
  map<U>(change: (value: P, index: number) => U): U[];
  /** Combines all elements from the first to the last, in the calling thread alone. */
  reduce(combine: (before: P, value: P, index: number) => P): P;
  reduce<U>(combine: (before: U, value: P, index: number) => U, first: U): U;
  /** Combines all elements from the last to the first, in the calling thread alone. */
  reduceRight<U>(combine: (before: U, value: P, index: number) => U, first: U): U;
  /** A view of the elements from `from` to before `to`; negative ones count from the end. */
  subarray(from?: number, to?: number): V;
  /** For `for (const [i, v] of a.entries())`. */
  entries(): IterableIterator<[number, P]>;
  /** The indices. */
  keys(): IterableIterator<number>;
  /** The elements. */
  values(): IterableIterator<P>;
}

/** A rank, with the axes of a sub-array. */
type Deeper<R extends number, V> = V extends readonly (infer U)[]
  ? Deeper<R extends 0 ? 1 : R extends 1 ? 2 : R extends 2 ? 3 : number, U>
  : R;

/**
 * What a 1-D array has and a TypedArray has not. It must be optional, so that a `Float32Array` goes where a function wants a `Vec<f32>`, and only `any`
 * is read from an optional member as what is there.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
type Unshared<T> = { [K in Exclude<keyof Readable<T, 1>, 'length' | 'slice' | typeof view> | Younger]?: any };

/** What TypedArrays have only in newer libraries. */
type Younger = 'findLast' | 'findLastIndex' | 'toSorted';

/** A 1-D array, as TypedArrays are. `V` is the array itself. Results that TypedArrays type otherwise stand as type parameters. */
interface Row<T, V> extends Unshared<T>, Omit<Sequence<InKernel<T>, V>, 'at' | 'map' | Younger> {
  /** Extent of the axis. */
  readonly length: number;
  /** The element at an index; negative ones count from the end. */
  at<E = InKernel<T>>(index: number): E;
  at<E = InKernel<T>>(index: number, none: never): E;
  /** A new array of the thread; the length must be known at compile time. */
  map<U, A = U[]>(change: (value: InKernel<T>, index: number) => U): A;
  map<U, A = U[]>(change: (value: InKernel<T>, index: number) => U, none: never): A;
  /** The elements that pass the test, in a new array of the thread; the length of this one must be known at compile time. */
  filter<A = InKernel<T>[]>(test: (value: InKernel<T>, index: number) => unknown): A;
  filter<A = InKernel<T>[]>(test: (value: InKernel<T>, index: number) => unknown, none: never): A;
  /** A view of the same memory, NumPy's rules: `a.slice('1:5')`, `a.slice([0, n, 2])`. */
  slice<const A extends readonly SliceIndex[], S = ViewOf<T, Remaining<Axes<1>, A>['length'] & number>>(...index: A): S;
  slice<S = Vec<T>>(from: number, to: number, none: never): S;
  [Symbol.iterator](): IterableIterator<InKernel<T>>;
  /** Tells TypedArrays of other elements from those that go here. */
  readonly [Symbol.toStringTag]?: TagOf<T>;
  readonly [view]?: readonly [T, 1];
}

type TagOf<T> = [NameOf<T>] extends [never]
  ? string
  : NameOf<T> extends PlainName
    ? DataByName[NameOf<T>][typeof Symbol.toStringTag]
    : never;

/** A 1-D array of `T`. On the host a `Float32Array` goes where a function takes a `Vec<f32>`. */
export interface Vec<T> extends Row<T, Vec<T>> {
  /** Stores a value at an index; or values one after another, from an index on (0), as the method of typed arrays does. */
  set(value: InKernel<T> | ArrayLike<InKernel<T>>, index?: number): void;
  /** Sorts the elements, in the calling thread alone: numbers ascending, or as `compare` says. For long arrays: `tsamba/parallel`. */
  sort(compare?: (a: InKernel<T>, b: InKernel<T>) => number): this;
  /** Stores a value to all elements, or to those from `from` to before `to`. */
  fill(value: InKernel<T>, from?: number, to?: number): this;
  [i: number]: InKernel<T>;
}

/** A 2-D array: `A[i][j]`. */
export interface Mat<T> extends View<T, 2>, Sequence<Vec<T>, Mat<T>> {
  /** Stores a value to all elements. */
  fill(value: InKernel<T>): this;
  readonly [i: number]: Vec<T>;
  [Symbol.iterator](): IterableIterator<Vec<T>>;
}

/** A 3-D array: `A[i][j][k]`. */
export interface Cube<T> extends View<T, 3>, Sequence<Mat<T>, Cube<T>> {
  /** Stores a value to all elements. */
  fill(value: InKernel<T>): this;
  readonly [i: number]: Mat<T>;
  [Symbol.iterator](): IterableIterator<Mat<T>>;
}

/** `In<Vec<T>>`. */
export interface InVec<T> extends Row<T, InVec<T>> {
  readonly [i: number]: InKernel<T>;
}

/** `In<Mat<T>>`. */
export interface InMat<T> extends Readable<T, 2>, Sequence<InVec<T>, InMat<T>> {
  readonly [i: number]: InVec<T>;
  [Symbol.iterator](): IterableIterator<InVec<T>>;
}

/** `In<Cube<T>>`. */
export interface InCube<T> extends Readable<T, 3>, Sequence<InMat<T>, InCube<T>> {
  readonly [i: number]: InMat<T>;
  [Symbol.iterator](): IterableIterator<InMat<T>>;
}

/** What element type and rank are read off an array type by: `V extends Viewed<infer T, infer R>`. */
export interface Viewed<T, R extends number> {
  readonly [view]?: readonly [T, R];
}

/** An array that the kernel only reads: the editor refuses stores. `In<Vec<f32>>`, `In<Mat<f32>>`, `In<Cube<f32>>`. */
export type In<V> =
  V extends Viewed<infer T, infer R>
    ? R extends 1
      ? InVec<T>
      : R extends 2
        ? InMat<T>
        : R extends 3
          ? InCube<T>
          : V
    : never;
