/**
 * The kernel that combines runs of equal keys on GPUs, in one pass: a scan, by tiles with a look-back, of how many runs have begun and of what the last of them has come
 * to. An element that begins a run ends the one before: it leaves that one's total, and its own key, in shared memory, which tiles write one behind the other.
 */
import { type DType, i32, struct } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { LANE_WORDS as WORDS } from './lane-words.ts';
import { lookBackOf } from './look-back.ts';
import type { Value } from './operator.ts';
import { runOp, type SoFar } from './run-values.ts';
import type { Same } from './same.ts';
import { type Shape, tileOf } from './scan-kernels.ts';
import { exchangeOf, type ValueWords, valueWords } from './value-words.ts';

const WARP = 32;

/** What is read, combined and written. All are device functions. */
export interface RunReduction {
  /** Neighbouring elements that a lane reads at once. */
  readonly lanes: number;
  readonly loadKeys: (argument: Value, i: number) => readonly Value[];
  readonly loadValues: (argument: Value, i: number) => readonly Value[];
  readonly key: (argument: Value, i: number) => Value;
  readonly value: (argument: Value, i: number) => Value;
  readonly same: Same;
  readonly op: (a: Value, b: Value) => Value;
  /** What `op` combines. */
  readonly part: ValueWords;
  /** Brings what a run came to, with what comes first, to the dtype of the results. */
  readonly finish: (value: Value, init: Value) => Value;
  readonly castCount: (value: Value) => Value;
  /** Of keys and results. */
  readonly types: readonly [keys: DType, results: DType];
  readonly name: string;
}

/** `sized` is as long as what is read. */
export type RunKernel = Kernel<
  [
    argument: readonly [keys: Value, values: Value],
    outs: readonly [keys: Vec<Value>, results: Vec<Value>],
    count: Vec<Value>,
    state: Value,
    init: Value,
    sized: Vec<Value>,
  ]
>;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, k) => k);

/** What tiles leave for each other. */
export function soFarWords({ type }: ValueWords): ValueWords {
  return valueWords(struct({ runs: i32, value: type } as never, { align: true }) as unknown as DType);
}

/** The kernel for one way of reading. A block has a tile. */
export function runKernel(
  jit: Jit,
  reduction: RunReduction,
  words: ValueWords,
  { block, rows, blocks }: Shape,
): RunKernel {
  const { lanes, part, op, name, ...functions } = reduction;
  const warps = block / WARP;
  const by = [1, 2, 4, 8, 16];
  const sizes = { block, warps, lanes, tileSize: tileOf({ block, rows }, lanes), rows, span: WARP * lanes };
  const lists = { by, warpsBy: by.filter((d) => d < warps), rowList: range(rows), laneList: range(lanes) };
  const join = runOp(op, part);
  const exchange = { ...exchangeOf(words), pick: words.pick, type: words.type };
  const look = { join, lookBack: lookBackOf(words, join as unknown as RunReduction['op']) };
  const captures = { ...WORDS, ...sizes, ...lists, ...functions, ...exchange, ...look, i32 };
  return jit(
    (words: typeof captures) => {
      const { threadIdx, syncThreads, shared, atomicAdd, i32, type, types, block, warps, lanes, rows, span } = words;
      const { tileSize, by, warpsBy, rowList, laneList, loadKeys, loadValues, key, value, same, finish } = words;
      const { castCount, up, at, join, lookBack } = words;
      const pick = words.pick as unknown as (first: boolean, a: SoFar, b: SoFar) => SoFar;
      return (
        [keys, values]: readonly [Value, Value],
        outs: readonly [Vec<Value>, Vec<Value>],
        count: Vec<Value>,
        state: Value,
        init: Value,
        sized: Vec<Value>,
      ) => {
        const ticket = shared<number>(1, i32);
        const totals = shared<SoFar>(warps, type);
        const carry = shared<SoFar>(1, type);
        const keysHere = shared<Value>(tileSize, types[0]);
        const resultsHere = shared<Value>(tileSize, types[1]);
        const t = threadIdx.x;
        const lane = t & 31;
        const warp = t >> 5;
        if (t === 0) ticket[0] = i32(atomicAdd(state, 0, 1n));
        syncThreads();
        const tile = ticket[0] as number;
        const n = sized.length;
        // An index, as wide as those of the array.
        const zero = n - n;
        const first = (zero + tile) * tileSize;
        const base = first + (warp * rows * span + lane * lanes);
        const whole = first + tileSize <= n;
        const own = rowList.map((j) => {
          const i = base + j * span;
          return whole ? loadKeys(keys, i) : laneList.map((k) => key(keys, Math.min(i + k, n - 1)));
        });
        const parts = rowList.map((j) => {
          const i = base + j * span;
          return whole ? loadValues(values, i) : laneList.map((k) => value(values, Math.min(i + k, n - 1)));
        });
        // A bit for each element that begins a run.
        let begins = 0;
        rowList.forEach((j) => {
          const row = own[j] as readonly Value[];
          const i = base + j * span;
          const before = key(keys, Math.max(Math.min(i, n) - 1, 0));
          row.forEach((one, k) => {
            const isFirst = k > 0 ? !same(one, row[k - 1] as Value) : i === 0 || !same(one, before);
            begins |= (isFirst && (whole || i + k < n) ? 1 : 0) << (j * lanes + k);
          });
        });
        const upTo = rowList.map((j) => {
          const row = parts[j] as readonly Value[];
          let sum: SoFar = { runs: (begins >> (j * lanes)) & 1, value: row[0] as Value };
          row.forEach((one, k) => {
            if (k > 0) sum = join(sum, { runs: (begins >> (j * lanes + k)) & 1, value: one });
          });
          by.forEach((d) => {
            const other = up(sum as unknown as Value, d) as SoFar;
            sum = pick(lane >= d, join(other, sum), sum);
          });
          return sum;
        });
        const lastOf = (sum: SoFar): SoFar => at(sum as unknown as Value, 31) as SoFar;
        let total = lastOf(upTo[0] as SoFar);
        upTo.forEach((sum, j) => {
          if (j > 0) total = join(total, lastOf(sum));
        });
        if (lane === 0) totals[warp] = total;
        syncThreads();
        if (warp === 0) {
          let sum = pick(true, totals[lane < warps ? lane : 0] as SoFar, total);
          warpsBy.forEach((d) => {
            const other = up(sum as unknown as Value, d) as SoFar;
            sum = pick(lane >= d, join(other, sum), sum);
          });
          const all = at(sum as unknown as Value, warps - 1) as SoFar;
          const tiles = i32(Math.floor((n + (tileSize - 1)) / tileSize));
          const before = lookBack(state, tiles, tile, lane, all as unknown as Value) as SoFar;
          if (lane === 0) carry[0] = pick(tile > 0, before, { runs: 0, value: before.value });
          if (lane < warps) totals[lane] = sum;
        }
        syncThreads();
        const before = pick(true, carry[0] as SoFar, total);
        const inTile = pick(true, totals[warp > 0 ? warp - 1 : 0] as SoFar, total);
        const all = totals[warps - 1] as SoFar;
        const there = all.runs;
        let run = pick(warp > 0, join(before, inTile), before);
        rowList.forEach((j) => {
          const row = parts[j] as readonly Value[];
          const i = base + j * span;
          const left = up(upTo[j] as unknown as Value, 1) as SoFar;
          let sum = pick(lane > 0, join(run, left), run);
          row.forEach((one, k) => {
            const isFirst = (begins >> (j * lanes + k)) & 1;
            if (isFirst !== 0) {
              const slot = sum.runs - before.runs;
              keysHere[slot] = (own[j] as readonly Value[])[k] as Value;
              resultsHere[slot] = finish(sum.value, init);
            }
            sum = join(sum, { runs: isFirst, value: one });
            if (i + k === n - 1) {
              outs[1][sum.runs - 1] = finish(sum.value, init);
              count[0] = castCount(sum.runs as Value);
            }
          });
          run = join(run, lastOf(upTo[j] as SoFar));
        });
        syncThreads();
        for (let s = t; s < there; s += block) {
          const to = before.runs + s;
          outs[0][to] = keysHere[s] as Value;
          if (to > 0) outs[1][to - 1] = resultsHere[s] as Value;
        }
      };
    },
    { captures, name, launchBounds: [block, blocks] },
  ) as unknown as RunKernel;
}
