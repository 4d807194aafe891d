/**
 * Atomic operations on elements of global and shared arrays: updates that give the old value, reads and writes.
 *
 * Element types i32, u32, i64, u64, f32 and f64; the bit operations, `inc` and `dec` are for integers; `exch`, `cas`, `load` and `store` are
 * for small integers and floats too.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import type { bf16, c64, c128, f16, f32, f64, InKernel, i8, i16, i32, i64, u8, u16, u32, u64 } from '../dtype/index.ts';

import type { Cube, Mat, Vec } from '../kernel/types.ts';

type Integer = i32 | u32 | i64 | u64;
type Unsigned = u32 | u64;
type Numeric = Integer | f16 | bf16 | f32 | f64;
type Movable = Numeric | i8 | u8 | i16 | u16;

/** The members of a record that are numbers. */
type NumberIn<P> = { [K in keyof P]: P[K] extends number | bigint ? K : never }[keyof P] & string;

/** The threads for which an order holds: of the block, of the device, or those and the host with all other devices. */
type Scope = 'block' | 'device' | 'system';

/** What an atomic operation says of the accesses around it. Known while compiling. */
export interface AtomicOptions<Order extends string = 'relaxed' | 'acquire' | 'release' | 'acq_rel' | 'seq_cst'> {
  /**
   * `relaxed` (the default): nothing. `acquire`: what this thread reads later, it reads as the thread that released it left it. `release`:
   * what this thread wrote before is there for whoever acquires. `acq_rel`: both. `seq_cst`: both, and one order of all such operations.
   */
  readonly order?: Order;
  /** `device` unless said otherwise. OpenCL has no `system`. */
  readonly scope?: Scope;
}

type LoadOptions = AtomicOptions<'relaxed' | 'acquire' | 'seq_cst'>;
type StoreOptions = AtomicOptions<'relaxed' | 'release' | 'seq_cst'>;

type At1 = number | readonly [number];
type At2 = readonly [number, number];
type At3 = readonly [number, number, number];

/** `atomic.add(a, i, v)`, `atomic.add(A, [i, j], v)`, of a record `atomic.add(p[i], 'x', v)`: the old value. */
export interface Atomic<Allowed> {
  <T extends Allowed>(array: Vec<T>, index: At1, value: InKernel<T>, options?: AtomicOptions): InKernel<T>;
  <P extends object, K extends NumberIn<P>>(record: P, member: K, value: P[K], options?: AtomicOptions): P[K];
  <T extends Allowed>(array: Mat<T>, index: At2, value: InKernel<T>, options?: AtomicOptions): InKernel<T>;
  <T extends Allowed>(array: Cube<T>, index: At3, value: InKernel<T>, options?: AtomicOptions): InKernel<T>;
}

/** `atomic.cas(a, i, expected, v)` stores `v` where the element equals `expected`; the old value. */
export interface AtomicCas<Allowed> {
  <T extends Allowed>(
    array: Vec<T>,
    index: At1,
    expected: InKernel<T>,
    value: InKernel<T>,
    options?: AtomicOptions,
  ): InKernel<T>;
  <P extends object, K extends NumberIn<P>>(
    record: P,
    member: K,
    expected: P[K],
    value: P[K],
    options?: AtomicOptions,
  ): P[K];
  <T extends Allowed>(
    array: Mat<T>,
    index: At2,
    expected: InKernel<T>,
    value: InKernel<T>,
    options?: AtomicOptions,
  ): InKernel<T>;
  <T extends Allowed>(
    array: Cube<T>,
    index: At3,
    expected: InKernel<T>,
    value: InKernel<T>,
    options?: AtomicOptions,
  ): InKernel<T>;
}

/** `atomic.load(a, i)`, `atomic.load(a, i, { order: 'acquire' })`: the element. */
export interface AtomicLoad<Allowed> {
  <T extends Allowed>(array: Vec<T>, index: At1, options?: LoadOptions): InKernel<T>;
  <P extends object, K extends NumberIn<P>>(record: P, member: K, options?: LoadOptions): P[K];
  <T extends Allowed>(array: Mat<T>, index: At2, options?: LoadOptions): InKernel<T>;
  <T extends Allowed>(array: Cube<T>, index: At3, options?: LoadOptions): InKernel<T>;
}

/** `atomic.store(a, i, v)`, `atomic.store(a, i, v, { order: 'release' })`. */
export interface AtomicStore<Allowed> {
  <T extends Allowed>(array: Vec<T>, index: At1, value: InKernel<T>, options?: StoreOptions): void;
  <P extends object, K extends NumberIn<P>>(record: P, member: K, value: P[K], options?: StoreOptions): void;
  <T extends Allowed>(array: Mat<T>, index: At2, value: InKernel<T>, options?: StoreOptions): void;
  <T extends Allowed>(array: Cube<T>, index: At3, value: InKernel<T>, options?: StoreOptions): void;
}

/**
 * Operations on one element without another thread coming between. Updates give the element as it was before. The index is a number,
 * or one number an axis. Arrays of global or shared memory. Numba's `cuda.atomic`; orders and scopes are those of C++ and PTX:
 *
 * ```ts
 * data[i] = x;
 * cuda.atomic.store(flag, 0, 1, { order: 'release' }); // whoever acquires the 1 sees data[i]
 * ```
 */
export interface AtomicOperations {
  /**
   * Adds; integers wrap. Of complex numbers each part by itself: another thread may see one of them before the other.
   * @example
   * const y = Int32Array.of(0);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.add(y, 0, 2); }).launch({ threads: 4, block: 4 }, y);
   * console.log(y[0]); // 8
   */
  readonly add: Atomic<Numeric | c64 | c128>;
  /**
   * Subtracts; integers wrap.
   * @example
   * const y = Int32Array.of(10);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.sub(y, 0, 1); }).launch({ threads: 4, block: 4 }, y);
   * console.log(y[0]); // 6
   */
  readonly sub: Atomic<Numeric | c64 | c128>;
  /**
   * Bitwise and. Numba's `and_`.
   * @example
   * const y = Int32Array.of(0b1110);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.and(y, 0, 0b0111); }).launch({ threads: 1, block: 1 }, y);
   * console.log(y[0]); // 6
   */
  readonly and: Atomic<Integer>;
  /**
   * Bitwise or. Numba's `or_`.
   * @example
   * const y = Int32Array.of(0);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.or(y, 0, 1 << cuda.threadIdx.x); }).launch({ threads: 4, block: 4 }, y);
   * console.log(y[0]); // 15
   */
  readonly or: Atomic<Integer>;
  /**
   * Bitwise exclusive or.
   * @example
   * const y = Int32Array.of(0b1100);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.xor(y, 0, 1); }).launch({ threads: 1, block: 1 }, y);
   * console.log(y[0]); // 13
   */
  readonly xor: Atomic<Integer>;
  /**
   * Stores the value, gives the old one.
   * @example
   * const y = Int32Array.of(1);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.exch(y, 0, 7); }).launch({ threads: 4, block: 4 }, y);
   * console.log(y[0]); // 7
   */
  readonly exch: Atomic<Movable>;
  /**
   * Adds one, or starts again at 0 where the old value is at least `value`.
   * @example
   * const y = Uint32Array.of(0);
   * cuda.jit((y: Vec<u32>) => { cuda.atomic.inc(y, 0, 9); }).launch({ threads: 4, block: 4 }, y);
   * console.log(y[0]); // 4
   */
  readonly inc: Atomic<Unsigned>;
  /**
   * Subtracts one, or starts again at `value` where the old value is 0 or above `value`.
   * @example
   * const y = Uint32Array.of(0);
   * cuda.jit((y: Vec<u32>) => { cuda.atomic.dec(y, 0, 9); }).launch({ threads: 1, block: 1 }, y);
   * console.log(y[0]); // 9
   */
  readonly dec: Atomic<Unsigned>;
  /**
   * Stores the larger of both. Floats: nothing changes when either is NaN.
   * @example
   * const y = Int32Array.of(3);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.max(y, 0, cuda.threadIdx.x * 2); }).launch({ threads: 4, block: 4 }, y);
   * console.log(y[0]); // 6
   */
  readonly max: Atomic<Numeric>;
  /**
   * Stores the smaller of both. Floats: nothing changes when either is NaN.
   * @example
   * const y = Int32Array.of(3);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.min(y, 0, cuda.threadIdx.x - 2); }).launch({ threads: 4, block: 4 }, y);
   * console.log(y[0]); // -2
   */
  readonly min: Atomic<Numeric>;
  /**
   * Stores the larger of both. Floats: a NaN in memory is replaced, a NaN value is ignored.
   * @example
   * const y = Float32Array.of(NaN);
   * cuda.jit((y: Vec<f32>) => { cuda.atomic.nanMax(y, 0, 2); }).launch({ threads: 1, block: 1 }, y);
   * console.log(y[0]); // 2
   */
  readonly nanMax: Atomic<Numeric>;
  /**
   * Stores the smaller of both. Floats: a NaN in memory is replaced, a NaN value is ignored.
   * @example
   * const y = Float32Array.of(NaN);
   * cuda.jit((y: Vec<f32>) => { cuda.atomic.nanMin(y, 0, 2); }).launch({ threads: 1, block: 1 }, y);
   * console.log(y[0]); // 2
   */
  readonly nanMin: Atomic<Numeric>;
  /**
   * Stores the value where the element equals `expected`; floats are compared by their bits (`Object.is`). Numba's `cas`, `compare_and_swap`.
   * @example
   * const y = Int32Array.of(0);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.cas(y, 0, 0, cuda.threadIdx.x + 5); }).launch({ threads: 1, block: 1 }, y);
   * console.log(y[0]); // 5
   */
  readonly cas: AtomicCas<Movable>;
  /**
   * Reads the element as it is now, whatever caches hold. PTX's `ld.relaxed`, `ld.acquire`.
   * @example
   * const y = Int32Array.of(3, 0);
   * cuda.jit((y: Vec<i32>) => { y[1] = cuda.atomic.load(y, 0, { order: 'acquire' }); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[1]); // 3
   */
  readonly load: AtomicLoad<Movable>;
  /**
   * Writes the element at once. PTX's `st.relaxed`, `st.release`.
   * @example
   * const y = Int32Array.of(0);
   * cuda.jit((y: Vec<i32>) => { cuda.atomic.store(y, 0, 1, { order: 'release' }); }).launch({ threads: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly store: AtomicStore<Movable>;
}

/** The operations under a prefix of their names: `cuda` has `atomic`, `roc` `roc.atomic`. */
export function atomicOperations(prefix: string): AtomicOperations {
  const of = <F extends (...args: never[]) => unknown>(name: string): F => intrinsic<F>(`${prefix}.${name}`);
  return Object.freeze({
    add: of<Atomic<Numeric>>('add'),
    sub: of<Atomic<Numeric>>('sub'),
    and: of<Atomic<Integer>>('and'),
    or: of<Atomic<Integer>>('or'),
    xor: of<Atomic<Integer>>('xor'),
    exch: of<Atomic<Movable>>('exch'),
    inc: of<Atomic<Unsigned>>('inc'),
    dec: of<Atomic<Unsigned>>('dec'),
    max: of<Atomic<Numeric>>('max'),
    min: of<Atomic<Numeric>>('min'),
    nanMax: of<Atomic<Numeric>>('nanMax'),
    nanMin: of<Atomic<Numeric>>('nanMin'),
    cas: of<AtomicCas<Movable>>('cas'),
    load: of<AtomicLoad<Movable>>('load'),
    store: of<AtomicStore<Movable>>('store'),
  });
}

/**
 * `cuda.atomic.add(a, i, v)` and its siblings. Numba's `cuda.atomic`.
 * @example
 * const bins = new Int32Array(2);
 * const count = cuda.jit((bins: Vec<i32>, data: Vec<i32>) => {
 *   const i = cuda.grid(1);
 *   if (i < data.length) cuda.atomic.add(bins, data[i]!, 1);
 * });
 * count.launch({ threads: 3 }, bins, Int32Array.of(0, 1, 1));
 * console.log(bins); // Int32Array(2) [ 1, 2 ]
 */
export const atomic: AtomicOperations = atomicOperations('atomic');
