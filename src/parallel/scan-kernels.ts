/**
 * The kernels of scans on GPUs: a block goes through tiles. A warp has rows of a tile, a lane some neighbouring elements of each row; lanes combine by
 * shuffles, warps through shared memory, tiles by what comes before them: the look-back of one launch, or what another launch found.
 */
import { i32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { LANE_WORDS as WORDS } from './lane-words.ts';
import { foldOf, lookBackOf } from './look-back.ts';
import type { Value } from './operator.ts';
import { exchangeOf, type ValueWords } from './value-words.ts';

const WARP = 32;

/** How a scan reads, combines and writes. All are device functions. */
export interface Scan {
  /** What is scanned: it need not be what is read or written. */
  readonly value: ValueWords;
  readonly op: (a: Value, b: Value) => Value;
  /** Neighbouring elements that a lane reads and writes at once. */
  readonly lanes: number;
  /** So many values from element `i` on, all of which are there. */
  readonly load: (argument: Value, i: number) => readonly Value[];
  readonly read: (argument: Value, i: number) => Value;
  /**
   * What is written for an element: of what comes `before` it (where `has` says that anything does), that with it, and its own value; `init` may be undefined.
   */
  readonly emit: (before: Value, has: boolean, after: Value, own: Value, init: Value) => Value;
  readonly store: (out: Value, i: number, results: readonly Value[]) => void;
  /** In messages. */
  readonly name: string;
}

/** Threads of a block, and rows of a tile that each warp has. */
export interface Shape {
  readonly block: number;
  readonly rows: number;
  /** Blocks that a multiprocessor shall hold: registers are spared for them. */
  readonly blocks: number;
}

/** Elements of a tile. */
export function tileOf({ block, rows }: Pick<Shape, 'block' | 'rows'>, lanes: number): number {
  return block * rows * lanes;
}

/**
 * `look`: every block a tile; `state` is that of the look-back. `apply`: block b has the chunk of `chunk` elements from `b * chunk` on, and nothing before them
 * counts. Of the kernels of chunks (`chunkKernel`), where `state` is given, it holds what chunks come to with all before them.
 */
export type ScanKernel = Kernel<
  [argument: Value, out: Vec<Value>, state: Value, chunk: number, init: Value, sized: Vec<Value>]
>;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, k) => k);

/** The kernel for one way of reading and writing. `sized` is an array with as many elements as are read. */
export function scanKernel(jit: Jit, scan: Scan, mode: 'look' | 'apply', { block, rows, blocks }: Shape): ScanKernel {
  const { value, op, lanes, load, read, emit, store, name } = scan;
  const warps = block / WARP;
  const sizes = { block, warps, tileSize: tileOf({ block, rows }, lanes), span: WARP * lanes, lanes, rows };
  const by = [1, 2, 4, 8, 16];
  const steps = { by, warpsBy: by.filter((d) => d < warps), rowList: range(rows), laneList: range(lanes) };
  const functions = { op, load, read, emit, store, pick: value.pick, ...exchangeOf(value) };
  const modes = { looks: mode === 'look', lookBack: lookBackOf(value, op) };
  const captures = {
    ...WORDS,
    ...sizes,
    ...steps,
    ...functions,
    ...modes,
    fold: foldOf(value, op),
    type: value.type,
    i32,
  };
  return jit(
    (words: typeof captures) => {
      const { threadIdx, blockIdx, syncThreads, shared, atomicAdd, type, i32, tileSize, span, warps, lanes, rows } =
        words;
      const { op, load, read, emit, store, pick, up, at, by, warpsBy, rowList, laneList, looks, lookBack } = words;
      return (argument: Value, out: Vec<Value>, state: Value, chunk: number, init: Value, sized: Vec<Value>) => {
        const ticket = shared<number>(1, i32);
        const totals = shared<Value>(warps, type);
        const carry = shared<Value>(1, type);
        const t = threadIdx.x;
        const lane = t & 31;
        const warp = t >> 5;
        // An index, as wide as those of the array.
        const zero = sized.length - sized.length;
        let from = zero;
        let end = sized.length;
        let place = 0;
        if (looks) {
          if (t === 0) ticket[0] = i32(atomicAdd(state, 0, 1n));
          syncThreads();
          place = ticket[0] as number;
          from = (zero + place) * tileSize;
        } else {
          from = (zero + blockIdx.x) * chunk;
          end = Math.min(end, from + chunk);
        }
        const last = looks ? Math.min(end, from + tileSize) : end;
        for (let first = from; first < last; first += tileSize) {
          const base = first + (warp * rows * span + lane * lanes);
          const whole = first + tileSize <= end;
          const values = whole
            ? rowList.map((j) => load(argument, base + j * span))
            : rowList.map((j) => laneList.map((k) => read(argument, Math.min(base + j * span + k, end - 1))));
          // With what comes before them in the lane.
          const own = values.map((row) => {
            let sum = row[0] as Value;
            return row.map((value, k) => {
              if (k > 0) sum = op(sum, value);
              return sum;
            });
          });
          const upTo = own.map((row) => {
            let sum = row[lanes - 1] as Value;
            by.forEach((d) => {
              const other = up(sum, d);
              sum = pick(lane >= d, op(other, sum), sum);
            });
            return sum;
          });
          let total = at(upTo[0] as Value, 31);
          upTo.forEach((sum, j) => {
            if (j > 0) total = op(total, at(sum, 31));
          });
          if (lane === 0) totals[warp] = total;
          syncThreads();
          const has = place > 0;
          if (warp === 0) {
            let sum = pick(true, totals[lane < warps ? lane : 0] as Value, total);
            warpsBy.forEach((d) => {
              const other = up(sum, d);
              sum = pick(lane >= d, op(other, sum), sum);
            });
            const all = at(sum, warps - 1);
            if (looks) {
              const tiles = i32(Math.floor((end + (tileSize - 1)) / tileSize));
              const before = lookBack(state, tiles, place, lane, all);
              if (lane === 0) carry[0] = before;
            }
            // What the warp behind starts with.
            if (lane < warps) totals[lane] = sum;
          }
          syncThreads();
          const before = pick(true, carry[0] as Value, total);
          const inTile = pick(true, totals[warp > 0 ? warp - 1 : 0] as Value, total);
          const all = pick(true, totals[warps - 1] as Value, total);
          {
            let run = pick(has, pick(warp > 0, op(before, inTile), before), inTile);
            const results = own.map((row, j) => {
              const any = j > 0 || has || warp > 0;
              const sure = any || lane > 0;
              // With all before it in the tiles: what the lane's last element comes to, and what the next lane starts with.
              const upToHere = pick(any, op(run, upTo[j] as Value), upTo[j] as Value);
              const start = pick(lane > 0, up(upToHere, 1), run);
              const after = row.map((sum, k) => (k === lanes - 1 ? upToHere : pick(sure, op(start, sum), sum)));
              run = at(upToHere, 31);
              return row.map((_, k) =>
                emit(
                  k > 0 ? (after[k - 1] as Value) : start,
                  k > 0 || sure,
                  after[k] as Value,
                  (values[j] as readonly Value[])[k] as Value,
                  init,
                ),
              );
            });
            if (whole) results.forEach((row, j) => store(out as Value, base + j * span, row));
            else
              results.forEach((row, j) =>
                row.forEach((result, k) => {
                  const i = base + j * span + k;
                  if (i < end) out[i] = result;
                }),
              );
          }
          if (!looks) {
            syncThreads();
            if (t === 0) carry[0] = pick(has, op(before, all), all);
            place = 1;
            syncThreads();
          }
        }
      };
    },
    { captures, name, launchBounds: [block, blocks] },
  ) as unknown as ScanKernel;
}
