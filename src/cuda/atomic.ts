/**
 * Atomic updates of elements of global and shared arrays, each giving the old value.
 *
 * Element types i32, u32, i64, u64, f32 and f64; the bit operations, `exch`, `inc`, `dec` and `cas` are for integers. The order of memory
 * accesses around them is not defined (relaxed), as on CUDA.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import type { f32, f64, i32, i64, Plain, u32, u64 } from '../dtype/types.ts';
import type { Cube, Mat, Vec } from '../kernel/types.ts';

type Integer = i32 | u32 | i64 | u64;
type Unsigned = u32 | u64;
type Numeric = Integer | f32 | f64;

/** The members of a record that are numbers. */
type NumberIn<P> = { [K in keyof P]: P[K] extends number | bigint ? K : never }[keyof P] & string;

/** `atomic.add(a, i, v)`, `atomic.add(A, [i, j], v)`, of a record `atomic.add(p[i], 'x', v)`: the old value. */
export interface Atomic<Allowed> {
  <T extends Allowed>(array: Vec<T>, index: number | readonly [number], value: Plain<T>): Plain<T>;
  <P extends object, K extends NumberIn<P>>(record: P, member: K, value: P[K]): P[K];
  <T extends Allowed>(array: Mat<T>, index: readonly [number, number], value: Plain<T>): Plain<T>;
  <T extends Allowed>(array: Cube<T>, index: readonly [number, number, number], value: Plain<T>): Plain<T>;
}

/** `atomic.cas(a, i, expected, v)` stores `v` where the element equals `expected`; the old value. */
export interface AtomicCas<Allowed> {
  <T extends Allowed>(array: Vec<T>, index: number | readonly [number], expected: Plain<T>, value: Plain<T>): Plain<T>;
  <P extends object, K extends NumberIn<P>>(record: P, member: K, expected: P[K], value: P[K]): P[K];
  <T extends Allowed>(array: Mat<T>, index: readonly [number, number], expected: Plain<T>, value: Plain<T>): Plain<T>;
  <T extends Allowed>(
    array: Cube<T>,
    index: readonly [number, number, number],
    expected: Plain<T>,
    value: Plain<T>,
  ): Plain<T>;
}

/**
 * Updates of one element without another thread coming between; each gives the element as it was before. The index is a number,
 * or one number an axis. Arrays of global or shared memory. Numba's `cuda.atomic`.
 */
export interface AtomicOperations {
  /** Adds; integers wrap. */
  readonly add: Atomic<Numeric>;
  /** Subtracts; integers wrap. */
  readonly sub: Atomic<Numeric>;
  /** Bitwise and. Numba's `and_`. */
  readonly and: Atomic<Integer>;
  /** Bitwise or. Numba's `or_`. */
  readonly or: Atomic<Integer>;
  /** Bitwise exclusive or. */
  readonly xor: Atomic<Integer>;
  /** Stores the value, gives the old one. */
  readonly exch: Atomic<Integer>;
  /** Adds one, or starts again at 0 where the old value is at least `value`. */
  readonly inc: Atomic<Unsigned>;
  /** Subtracts one, or starts again at `value` where the old value is 0 or above `value`. */
  readonly dec: Atomic<Unsigned>;
  /** Stores the larger of both. Floats: nothing changes when either is NaN. */
  readonly max: Atomic<Numeric>;
  /** Stores the smaller of both. Floats: nothing changes when either is NaN. */
  readonly min: Atomic<Numeric>;
  /** Stores the larger of both. Floats: a NaN in memory is replaced, a NaN value is ignored. */
  readonly nanMax: Atomic<Numeric>;
  /** Stores the smaller of both. Floats: a NaN in memory is replaced, a NaN value is ignored. */
  readonly nanMin: Atomic<Numeric>;
  /** Stores the value where the element equals `expected`. Numba's `cas`, `compare_and_swap`. */
  readonly cas: AtomicCas<Integer>;
}

const numeric = (name: string): Atomic<Numeric> => intrinsic<Atomic<Numeric>>(`atomic.${name}`);
const integer = (name: string): Atomic<Integer> => intrinsic<Atomic<Integer>>(`atomic.${name}`);
const unsigned = (name: string): Atomic<Unsigned> => intrinsic<Atomic<Unsigned>>(`atomic.${name}`);

/** `cuda.atomic.add(a, i, v)` and its siblings. Numba's `cuda.atomic`. */
export const atomic: AtomicOperations = Object.freeze({
  add: numeric('add'),
  sub: numeric('sub'),
  and: integer('and'),
  or: integer('or'),
  xor: integer('xor'),
  exch: integer('exch'),
  inc: unsigned('inc'),
  dec: unsigned('dec'),
  max: numeric('max'),
  min: numeric('min'),
  nanMax: numeric('nanMax'),
  nanMin: numeric('nanMin'),
  cas: intrinsic<AtomicCas<Integer>>('atomic.cas'),
});
