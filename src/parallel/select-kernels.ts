/**
 * The kernels of selections on GPUs: a tile counts what it keeps, finds out what those before it keep, and writes that one behind the other, through shared memory.
 */

import type { DType } from '../dtype/index.ts';
import { i32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { LANE_WORDS } from './lane-words.ts';
import { lookBackOf } from './look-back.ts';
import type { Value } from './operator.ts';
import { type Shape, tileOf } from './scan-kernels.ts';
import type { ValueWords } from './value-words.ts';

const WARP = 32;

/** What a selection reads, keeps and writes. All are device functions. */
export interface Selection {
  /** Neighbouring elements that a lane reads at once: 1, 2 or 4. */
  readonly lanes: number;
  /** So many elements from `i` on, all of which are there. */
  readonly load: (argument: Value, i: number) => readonly Value[];
  readonly read: (argument: Value, i: number) => Value;
  /** Which of the elements from `i` on are kept. There are `n`; those behind, in the last tile, are others of them. */
  readonly keep: (argument: Value, i: number, values: readonly Value[], n: number) => readonly boolean[];
  /** What is written of a kept element, to one array each: one or two. */
  readonly parts: readonly ((value: Value, i: number) => Value)[];
  /** The dtypes of those. */
  readonly types: readonly DType[];
  /** Whether what is not kept is written, too: to as many arrays behind the others. */
  readonly both: boolean;
  /** What is counted in: i32, or f64 where there may be more than that. */
  readonly counted: ValueWords;
  /** Brings a count to the dtype of the array that it is stored to. */
  readonly castCount: (value: Value) => Value;
  readonly name: string;
}

/** `state` is that of the look-back, or of chunks (`selectChunks`); `sized` is as long as what is read. */
export type SelectKernel = Kernel<
  [argument: Value, outs: readonly Vec<Value>[], count: Vec<Value>, state: Value, sized: Vec<Value>]
>;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, k) => k);
const add = ((a: number, b: number): number => a + b) as unknown as (a: Value, b: Value) => Value;

/** The kernel for one way of reading. A warp has at most 8 rows, and a lane 32 elements. */
export function selectKernel(jit: Jit, selection: Selection, { block, rows, blocks }: Shape): SelectKernel {
  const { lanes, load, read, keep, parts, types, both, counted, castCount, name } = selection;
  const warps = block / WARP;
  const by = [1, 2, 4, 8, 16];
  const sizes = { block, warps, lanes, rows, tileSize: tileOf({ block, rows }, lanes), span: WARP * lanes, both };
  const lists = { by, warpsBy: by.filter((d) => d < warps), rowList: range(rows), laneList: range(lanes) };
  const packs = { packs: range(Math.ceil(rows / 4)), parts, types, outputs: parts.length };
  const modes = { lookBack: lookBackOf(counted, add) };
  const functions = { load, read, keep, castCount, cast: counted.type as unknown as (value: number) => Value, i32 };
  const captures = { ...LANE_WORDS, ...sizes, ...lists, ...packs, ...modes, ...functions };
  return jit(
    (words: typeof captures) => {
      const { threadIdx, syncThreads, shared, atomicAdd, shflUpSync, shflSync, i32, cast, castCount } = words;
      const { block, warps, lanes, rows, tileSize, span, both, by, warpsBy, rowList, laneList, packs } = words;
      const { load, read, keep, parts, types, outputs, lookBack } = words;
      return (argument: Value, outs: readonly Vec<Value>[], count: Vec<Value>, state: Value, sized: Vec<Value>) => {
        const ticket = shared<number>(1, i32);
        const totals = shared<number>(warps, i32);
        const start = shared<number>(1, cast);
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
        const values = whole
          ? rowList.map((j) => load(argument, base + j * span))
          : rowList.map((j) => laneList.map((k) => read(argument, Math.min(base + j * span + k, n - 1))));
        // A bit for each element that is kept, and a byte for the number of those in each row.
        let kept = 0;
        const packed = packs.map(() => 0);
        rowList.forEach((j) => {
          const row = keep(argument, base + j * span, values[j] as readonly Value[], n);
          row.forEach((isKept, k) => {
            const bit = isKept && (whole || base + j * span + k < n) ? 1 : 0;
            kept |= bit << (j * lanes + k);
            packed[j >> 2] = (packed[j >> 2] as number) + (bit << (8 * (j & 3)));
          });
        });
        const upTo = packed.map((own) => {
          let sum = own | 0;
          by.forEach((d) => {
            const other = shflUpSync(0xffffffff, sum, d);
            sum = lane >= d ? (sum + other) | 0 : sum;
          });
          return sum;
        });
        const rowSums = upTo.map((sum) => shflSync(0xffffffff, sum, 31));
        let inWarp = 0;
        rowList.forEach((j) => {
          inWarp += ((rowSums[j >> 2] as number) >> (8 * (j & 3))) & 255;
        });
        if (lane === 0) totals[warp] = inWarp;
        syncThreads();
        let sum = totals[lane < warps ? lane : 0] as number;
        warpsBy.forEach((d) => {
          const other = shflUpSync(0xffffffff, sum, d);
          sum = lane >= d ? sum + other : sum;
        });
        const all = shflSync(0xffffffff, sum, warps - 1);
        const earlier = shflSync(0xffffffff, sum, warp > 0 ? warp - 1 : 0);
        // One array for each part: a call inside of a loop would give the same one again.
        const ones = shared<Value>(tileSize, types[0] as DType);
        const places = outputs > 1 ? [ones, shared<Value>(tileSize, types[1] as DType)] : [ones];
        let row0 = warp > 0 ? earlier : 0;
        rowList.forEach((j) => {
          const mine = (packed[j >> 2] as number) >> (8 * (j & 3));
          const upToHere = (upTo[j >> 2] as number) >> (8 * (j & 3));
          let to = row0 + (upToHere & 255) - (mine & 255);
          laneList.forEach((k) => {
            const isKept = ((kept >> (j * lanes + k)) & 1) !== 0;
            const at = (warp * rows + j) * span + lane * lanes + k;
            const value = (values[j] as readonly Value[])[k] as Value;
            // What is not kept stands behind what is.
            const slot = isKept ? to : all + at - to;
            if (isKept || (both && (whole || base + j * span + k < n))) {
              parts.forEach((part, p) => {
                (places[p] as Vec<Value>)[slot] = part(value, base + j * span + k);
              });
            }
            to += isKept ? 1 : 0;
          });
          row0 += ((rowSums[j >> 2] as number) >> (8 * (j & 3))) & 255;
        });
        if (warp === 0) {
          const tiles = i32(Math.floor((n + (tileSize - 1)) / tileSize));
          const found = lookBack(state, tiles, tile, lane, cast(all)) as number;
          const from = tile > 0 ? found : (cast(0) as number);
          if (lane === 0) {
            start[0] = from;
            if (tile === tiles - 1) count[0] = castCount((from + all) as Value);
          }
        }
        syncThreads();
        const to = zero + i32(0) + Math.floor(start[0] as number);
        for (let i = t; i < all; i += block) {
          parts.forEach((_, p) => {
            (outs[p] as Vec<Value>)[to + i] = (places[p] as Vec<Value>)[i] as Value;
          });
        }
        if (both) {
          const others = i32(Math.min(tileSize, n - first)) - all;
          for (let i = t; i < others; i += block) {
            parts.forEach((_, p) => {
              (outs[p + outputs] as Vec<Value>)[first - to + i] = (places[p] as Vec<Value>)[all + i] as Value;
            });
          }
        }
      };
    },
    { captures, name, launchBounds: [block, blocks] },
  ) as unknown as SelectKernel;
}
