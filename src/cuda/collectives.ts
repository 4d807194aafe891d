/**
 * What the threads of a block, or the lanes of a warp, compute together: reductions and scans by any operator. Device functions in Tsamba's own language.
 */
import { deviceFunction, intrinsic, intrinsicNumber, intrinsicObject } from '../compiler/intrinsics.ts';

type Operator<T> = (a: T, b: T) => T;

/** Reduces: every thread gets the result. */
export type CollectiveReduce = <T>(value: T, op: Operator<T>) => T;
/** Scans: every thread gets what the values up to its own come to. */
export type CollectiveScan = <T>(value: T, op: Operator<T>) => T;
/** Scans: every thread gets what the values before its own come to, behind `init`. */
export type ExclusiveScan = <T>(value: T, op: Operator<T>, init: T) => T;

/** Functions of a group of threads. */
export interface Collectives {
  /**
   * All values combined, for every thread; `op` must be associative. All threads of the group must come to the call together.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => {
   *   const i = cuda.grid(1);
   *   y[i] = cuda.block.reduce(i, (a, b) => a + b) + cuda.warp.reduce(i, (a, b) => Math.max(a, b));
   * }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[0], y[63]); // 2047 2079
   */
  readonly reduce: CollectiveReduce;
  /**
   * What the values of the threads up to this one come to, itself among them, in the order of the threads; `op` need not commute.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.block.inclusiveScan(1, (a, b) => a + b); }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[0], y[63]); // 1 64
   */
  readonly inclusiveScan: CollectiveScan;
  /**
   * What `init` and the values of the threads before this one come to.
   * @example
   * const y = new Int32Array(64);
   * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.block.exclusiveScan(1, (a, b) => a + b, 0); }).launch({ grid: 1, block: 64 }, y);
   * console.log(y[0], y[63]); // 0 63
   */
  readonly exclusiveScan: ExclusiveScan;
}

interface Three {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}
type Value = never;
type Shuffle = (mask: number, value: Value, by: number) => Value;
type Memory = readonly { [i: number]: Value }[];

const WORDS = /* @__PURE__ */ Object.freeze({
  threadIdx: intrinsicObject<Three>('threadIdx', ['x', 'y', 'z']),
  blockDim: intrinsicObject<Three>('blockDim', ['x', 'y', 'z']),
  laneId: intrinsicNumber('laneId'),
  /** The barrier that no thread may have passed by with a return. */
  syncThreads: intrinsic<() => void>('syncBlock'),
  shflSync: intrinsic<Shuffle>('shflSync'),
  shflUpSync: intrinsic<Shuffle>('shflUpSync'),
  shflDownSync: intrinsic<Shuffle>('shflDownSync'),
  parts: intrinsic<(value: Value) => readonly Value[]>('value.parts'),
  like: intrinsic<(value: Value, parts: readonly Value[]) => Value>('value.like'),
  shared: intrinsic<(length: number, value: Value) => Memory>('value.shared'),
  all: 0xffffffff,
});
type Words = typeof WORDS & Record<string, unknown>;
const words = WORDS as Words;

type Op = (a: Value, b: Value) => Value;

/** The number of the thread in its block, and how many there are. */
const numbered = /* @__PURE__ */ deviceFunction(
  ({ threadIdx, blockDim }: Words) =>
    (): readonly [number, number] => [
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
      blockDim.x * blockDim.y * blockDim.z,
    ],
  words,
);

/** What lanes up to this one come to. */
const scanLanes = /* @__PURE__ */ deviceFunction(
  ({ shflUpSync, all }: Words) =>
    (value: Value, op: Op, lane: number): Value => {
      let sum = value;
      for (let by = 1; by < 32; by <<= 1) {
        const other = shflUpSync(all, sum, by);
        if (lane >= by) sum = op(other, sum);
      }
      return sum;
    },
  words,
);

interface More extends Words {
  readonly numbered: typeof numbered;
  readonly scanLanes: typeof scanLanes;
}
const more: More = /* @__PURE__ */ Object.freeze({ ...words, numbered, scanLanes });

/** What each warp of the block comes to, in shared memory, and what stands before this warp. */
const blockScan = /* @__PURE__ */ deviceFunction((w: More) => {
  const { numbered, scanLanes, parts, like, shared, syncThreads } = w;
  return (value: Value, op: Op): readonly [scanned: Value, total: Value, before: Value, warp: number] => {
    const [t, count] = numbered();
    const [lane, warp] = [t % 32, Math.floor(t / 32)];
    const warps = Math.floor((count + 31) / 32);
    const memory = shared(32, value);
    const scanned = scanLanes(value, op, lane);
    if (lane === 31 || t === count - 1) {
      parts(scanned).forEach((part, k) => {
        (memory[k] as { [i: number]: Value })[warp] = part;
      });
    }
    syncThreads();
    const load = (i: number): Value =>
      like(
        value,
        memory.map((m) => m[i] as Value),
      );
    let total = load(0);
    let before = total;
    for (let k = 1; k < warps; k++) {
      if (k === warp) before = total;
      total = op(total, load(k));
    }
    // The memory is used again where this is in a loop.
    syncThreads();
    return [scanned, total, before, warp];
  };
}, more);

const all = /* @__PURE__ */ Object.freeze({ ...more, blockScan });
type All = typeof all;

/**
 * What the threads of a block compute together, whatever its shape; threads are counted x first. The shared memory is found by the compiler. All threads of the
 * block must come to the call, as to a barrier. CUB: `BlockReduce`, `BlockScan`.
 * @example
 * const y = new Int32Array(64);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.block.reduce(1, (a, b) => a + b); }).launch({ grid: 1, block: 64 }, y);
 * console.log(y[5]); // 64
 */
export const block: Collectives = /* @__PURE__ */ Object.freeze({
  reduce: deviceFunction(
    ({ blockScan }: All) =>
      (value: Value, op: Op): Value =>
        blockScan(value, op)[1],
    all,
  ) as unknown as CollectiveReduce,
  inclusiveScan: deviceFunction(
    ({ blockScan }: All) =>
      (value: Value, op: Op): Value => {
        const [scanned, , before, warp] = blockScan(value, op);
        let result = scanned;
        if (warp > 0) result = op(before, scanned);
        return result;
      },
    all,
  ) as unknown as CollectiveScan,
  exclusiveScan: deviceFunction(
    ({ blockScan, numbered, shflUpSync, all }: All) =>
      (value: Value, op: Op, init: Value): Value => {
        const [scanned, , before, warp] = blockScan(value, op);
        const lane = numbered()[0] % 32;
        const previous = shflUpSync(all, scanned, 1);
        let result = previous;
        if (warp > 0) {
          result = before;
          if (lane > 0) result = op(before, previous);
        }
        let whole = result;
        if (warp + lane > 0) whole = op(init, result);
        else whole = init;
        return whole;
      },
    all,
  ) as unknown as ExclusiveScan,
});

/**
 * What the 32 lanes of a warp compute together, by shuffles. All lanes of the warp that run must come to the call. CUB: `WarpReduce`, `WarpScan`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.warp.inclusiveScan(1, (a, b) => a + b); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[0], y[31]); // 1 32
 */
export const warp: Collectives = /* @__PURE__ */ Object.freeze({
  reduce: deviceFunction(
    ({ scanLanes, numbered, shflSync, laneId, all }: All) =>
      (value: Value, op: Op): Value => {
        const [t, count] = numbered();
        const last = Math.min(31, count - 1 - 32 * Math.floor(t / 32));
        return shflSync(all, scanLanes(value, op, laneId), last);
      },
    all,
  ) as unknown as CollectiveReduce,
  inclusiveScan: deviceFunction(
    ({ scanLanes, laneId }: All) =>
      (value: Value, op: Op): Value =>
        scanLanes(value, op, laneId),
    all,
  ) as unknown as CollectiveScan,
  exclusiveScan: deviceFunction(
    ({ scanLanes, shflUpSync, laneId, all }: All) =>
      (value: Value, op: Op, init: Value): Value => {
        const previous = shflUpSync(all, scanLanes(value, op, laneId), 1);
        let result = init;
        if (laneId > 0) result = op(init, previous);
        return result;
      },
    all,
  ) as unknown as ExclusiveScan,
});
