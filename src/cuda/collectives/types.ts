/**
 * What the functions are that threads of a block, a wavefront or a warp call together: `cuda.block`, `cuda.warp`, `roc.block`, `roc.wave`.
 */
import type { i32 } from '../../dtype/index.ts';
import type { Vec } from '../../kernel/types.ts';

type Operator<T> = (a: T, b: T) => T;

/** Several items of a thread: a JavaScript array or a local array whose length is known when the kernel is compiled, 1 to 64. */
export interface ThreadItems<T> {
  readonly length: number;
  readonly [i: number]: T;
}

/** Reduces: every thread gets the result. */
export interface CollectiveReduce {
  <T>(items: ThreadItems<T>, op: Operator<T>): T;
  <T>(value: T, op: Operator<T>): T;
}
/** Scans: every thread gets what the values up to its own come to. */
export interface CollectiveScan {
  <T>(items: ThreadItems<T>, op: Operator<T>): T[];
  <T>(value: T, op: Operator<T>): T;
}
/** Scans: every thread gets what the values before its own come to, behind `init`. */
export interface ExclusiveScan {
  <T>(items: ThreadItems<T>, op: Operator<T>, init: T): T[];
  <T>(value: T, op: Operator<T>, init: T): T;
}

/** In which order values are sorted. What `key`, `compare` and `descending` are is known when the kernel is compiled. */
export interface SortOrder<T> {
  /** What values are sorted by: a number, bigint or boolean of each. */
  readonly key?: ((value: T) => number | bigint | boolean) | undefined;
  /** Below 0 where `a` goes before `b`, as `Array.prototype.sort` takes it. */
  readonly compare?: ((a: T, b: T) => number) | undefined;
  /** From the greatest to the least; NaN stays last, and equal values in the order they came in. Default: false. */
  readonly descending?: boolean | undefined;
}

/** Sorts: thread 0 gets the first items, and so on. */
export interface CollectiveSort {
  <T>(items: ThreadItems<T>, order?: SortOrder<T>): T[];
  <T>(value: T, order?: SortOrder<T>): T;
}
/** Sorts values by keys beside them. */
export interface CollectiveSortByKey {
  <K, V>(
    keys: ThreadItems<K>,
    values: ThreadItems<V>,
    order?: SortOrder<K>,
  ): { readonly keys: K[]; readonly values: V[] };
  <K, V>(key: K, value: V, order?: SortOrder<K>): { readonly keys: K; readonly values: V };
}

/** Functions of a group of threads. */
export interface Collectives {
  /**
   * All values combined, for every thread; `op` must be associative. Of an array its elements are the values: those of thread 0 come first. All threads of the group
   * must reach the call together.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => {
   *   const i = cuda.grid(1);
   *   y[i] = cuda.block.reduce([i, i], (a, b) => a + b) + cuda.warp.reduce(i, (a, b) => Math.max(a, b));
   * }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[0], y[63]); // 4063 4095
   */
  readonly reduce: CollectiveReduce;
  /**
   * What the values of the threads up to this one come to, itself among them, in the order of the threads; `op` need not commute. Of an array, an array: each element
   * with all before it.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.block.inclusiveScan(1, (a, b) => a + b); }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[0], y[63]); // 1 64
   */
  readonly inclusiveScan: CollectiveScan;
  /**
   * What `init` and the values of the threads before this one come to. Of an array, an array.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => {
   *   const [a, b] = cuda.block.exclusiveScan([1, 2], (p, q) => p + q, 0);
   *   y[cuda.grid(1)] = 1000 * a! + b!;
   * }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[0], y[63]); // 1 189190
   */
  readonly exclusiveScan: ExclusiveScan;
  /**
   * The values of the group in order: thread 0 gets the least, and of several items a thread the first ones. -0 goes before 0 and NaN last, as in
   * `TypedArray.prototype.sort`; stable. Structs need `key` or `compare`. CUB: `BlockRadixSort`, `BlockMergeSort`, `WarpMergeSort`.
   * @example
   * const x = Float32Array.from({ length: 256 }, (_, i) => (i * 77) % 256);
   * const sorts = cuda.jit((x: Vec<f32>) => {
   *   const items = cuda.block.load(x, 0, 4);
   *   cuda.block.store(x, 0, cuda.block.sort(items, { descending: true }));
   * }, { launchBounds: 64 });
   * sorts.launch({ grid: 1, block: 64 }, x);
   * console.log(x[0], x[1], x[255]); // 255 254 0
   */
  readonly sort: CollectiveSort;
  /**
   * Values in the order of the keys beside them, and the keys in order. As `sort` in all else.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => {
   *   const t = cuda.threadIdx.x;
   *   const { values } = cuda.block.sortByKey((t * 5) % 64, t);
   *   y[t] = values;
   * }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[1], (y[1]! * 5) % 64); // 13 1
   */
  readonly sortByKey: CollectiveSortByKey;
}

/**
 * Which items of a block's tile a thread holds: neighbours (`'blocked'`, item `t * n + k`), every so many as there are threads (`'striped'`, item `t + k * threads`), or the
 * same within the part of a warp (`'warpStriped'`).
 */
export type Arrangement = 'blocked' | 'striped' | 'warpStriped';

/** How items are read and written: `'transposed'` is blocked for the threads, and striped for the memory; they change places in shared memory. */
export type MoveArrangement = Arrangement | 'transposed';

/** Options of `load`. */
export interface LoadOptions<T> {
  /** Default: `'blocked'`. */
  readonly arrangement?: MoveArrangement | undefined;
  /** What stands for elements beyond the end of the array. Without it there must be none. */
  readonly otherwise?: T | undefined;
}

/** Loads `n` items a thread; `n` is known when the kernel is compiled. */
export type BlockLoad = <T>(x: ThreadItems<T>, start: number, n: number, options?: LoadOptions<T>) => T[];

/** Stores the items of each thread. */
export type BlockStore = <T>(
  y: { readonly length: number; [i: number]: T },
  start: number,
  items: ThreadItems<T> | T,
  options?: { readonly arrangement?: MoveArrangement | undefined },
) => void;

/** Places in the tile, one for each item. */
export type Ranks = ThreadItems<number> | number;

/** Options of `exchange`. */
export interface ExchangeOptions<R> {
  /** Which items a thread gives. Default: `'blocked'`. */
  readonly from?: Arrangement | undefined;
  /** Which items a thread gets. Default: `'blocked'`. */
  readonly to?: Arrangement | undefined;
  /** The place in the tile of each item that is given, instead of `from`: each place once. Items whose place is not in the tile go nowhere. */
  readonly ranks?: R | undefined;
}

/** Changes who holds which items. */
export interface BlockExchange {
  <T>(items: ThreadItems<T>, options: ExchangeOptions<ThreadItems<number>>): T[];
  <T>(value: T, options: ExchangeOptions<number>): T;
}

/** Counts items in bins; `bins` is known when the kernel is compiled. */
export type BlockHistogram = (
  items: ThreadItems<number> | number,
  bins: number,
  options?: { readonly into?: Vec<i32> | undefined },
) => Vec<i32>;

/** Functions of the threads of a block. */
export interface BlockCollectives extends Collectives {
  /**
   * The items of each thread of the tile that begins at `x[start]`, `n` of them. `{ arrangement, otherwise }`: which ones, and what stands for elements beyond the end of `x`.
   * Blocked without more ado; `'transposed'` reads neighbouring elements with neighbouring threads and exchanges them. CUB: `BlockLoad`.
   * @example
   * const y = new Int32Array(64);
   * const sums = cuda.jit((x: Vec<i32>, y: Vec<i32>) => {
   *   const items = cuda.block.load(x, 0, 4, { arrangement: 'transposed', otherwise: 0 });
   *   y[cuda.threadIdx.x] = items.reduce((a, b) => a + b);
   * });
   * sums.launch({ grid: 1, block: 64 }, Int32Array.from({ length: 250 }, (_, i) => i), y);
   * console.log(y[0], y[1], y[62], y[63]); // 6 22 497 0
   */
  readonly load: BlockLoad;
  /**
   * Stores the items of each thread to the tile that begins at `y[start]`; what lies beyond the end of `y` is left out. Arrangements as of `load`. CUB: `BlockStore`.
   * @example
   * const y = new Int32Array(6);
   * cuda.jit((y: Vec<i32>) => {
   *   const t = cuda.threadIdx.x;
   *   cuda.block.store(y, 0, [t, -t], { arrangement: 'striped' });
   * }).launch({ grid: 1, block: 4 }, y);
   * console.log(y); // Int32Array(6) [ 0, 1, 2, 3, 0, -1 ]
   */
  readonly store: BlockStore;
  /**
   * The same items, other ones at each thread: `{ from, to }` are arrangements, `ranks` says for each item where it goes. CUB: `BlockExchange`.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => {
   *   const t = cuda.threadIdx.x;
   *   const [a, b] = cuda.block.exchange([2 * t, 2 * t + 1], { to: 'striped' });
   *   y[t] = 1000 * a! + b! + cuda.block.exchange(t, { ranks: 63 - t });
   * }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[0], y[63]); // 127 63127
   */
  readonly exchange: BlockExchange;
  /**
   * How many items of the block are 0, 1, … up to `bins - 1`, in shared memory that all threads may read; items outside are not counted. `into` adds to an array that the
   * kernel has filled before. CUB: `BlockHistogram`.
   * @example
   * const y = new Int32Array(4);
   * cuda.jit((y: Vec<i32>) => {
   *   const counts = cuda.block.histogram(cuda.threadIdx.x % 3, 4);
   *   if (cuda.threadIdx.x < 4) y[cuda.threadIdx.x] = counts[cuda.threadIdx.x]!;
   * }).launch({ grid: 1, block: 64 }, y);
   * console.log(y); // Int32Array(4) [ 22, 21, 21, 0 ]
   */
  readonly histogram: BlockHistogram;
}
