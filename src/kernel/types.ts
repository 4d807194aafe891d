/**
 * What the editor sees inside a kernel: `Vec`, `Mat`, `Cube` and `In`.
 *
 * They describe a kernel's array parameters, whatever was passed for them, and the arrays that `cuda.shared.array` and its
 * like make. Types only: annotations are erased, and what a kernel is compiled for comes from the arguments of a launch.
 */
import type { FieldElement, FieldOf, Plain } from '../dtype/types.ts';

/** Phantom: element type and rank of a kernel-side array. Never present at run time. */
declare const view: unique symbol;

/** One number an axis. */
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

/** The dtype of a kernel-side array. */
export interface ElementType<T> {
  readonly [view]: T;
}

/** What arrays of every rank have in a kernel. `View<T, 0>` is a 0-d array: `a.get()` reads its element. */
export interface View<T, R extends number> {
  /** Extent of the first axis. */
  readonly length: number;
  readonly shape: Axes<R>;
  /** Bytes from one element to the next, along each axis. */
  readonly strides: Axes<R>;
  /** Number of elements. */
  readonly size: number;
  readonly ndim: R;
  /** Where a dtype is wanted: `cuda.shared.array(8, x.dtype)`. */
  readonly dtype: ElementType<T>;
  /** A view with the axes reversed. */
  readonly T: ViewOf<T, R>;
  /** One element. */
  get(...index: Axes<R>): Plain<T>;
  /** A view of the same memory, NumPy's rules: `a.slice('1:5')`, `A.slice(i, [0, n, 2])`. */
  slice<const A extends readonly SliceIndex[]>(...index: A): ViewOf<T, Remaining<Axes<R>, A>['length'] & number>;
  /** The member of every struct: `p.field('x')[i]` is `p[i].x`. A sub-array adds its axes at the end. */
  field<K extends FieldOf<Plain<T>>>(
    name: K,
  ): ViewOf<FieldElement<Plain<T>, K>, Deeper<R, Plain<T>[K & keyof Plain<T>]>>;
  readonly [view]?: readonly [T, R];
}

/** A rank, with the axes of a sub-array. */
type Deeper<R extends number, V> = V extends readonly (infer U)[]
  ? Deeper<R extends 0 ? 1 : R extends 1 ? 2 : R extends 2 ? 3 : number, U>
  : R;

/** A 1-D array of `T`. */
export interface Vec<T> extends View<T, 1> {
  [i: number]: Plain<T>;
  [Symbol.iterator](): IterableIterator<Plain<T>>;
}

/** A 2-D array: `A[i][j]`. */
export interface Mat<T> extends View<T, 2> {
  readonly [i: number]: Vec<T>;
  [Symbol.iterator](): IterableIterator<Vec<T>>;
}

/** A 3-D array: `A[i][j][k]`. */
export interface Cube<T> extends View<T, 3> {
  readonly [i: number]: Mat<T>;
  [Symbol.iterator](): IterableIterator<Mat<T>>;
}

interface InVec<T> extends View<T, 1> {
  readonly [i: number]: Plain<T>;
  [Symbol.iterator](): IterableIterator<Plain<T>>;
}

interface InMat<T> extends View<T, 2> {
  readonly [i: number]: InVec<T>;
  [Symbol.iterator](): IterableIterator<InVec<T>>;
}

interface InCube<T> extends View<T, 3> {
  readonly [i: number]: InMat<T>;
  [Symbol.iterator](): IterableIterator<InMat<T>>;
}

/** What element type and rank are read off an array type by: `V extends Viewed<infer T, infer R>`. */
export interface Viewed<T, R extends number> {
  readonly ndim: R;
  readonly [view]?: readonly [T, number];
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
