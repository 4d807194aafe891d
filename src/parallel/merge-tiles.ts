/**
 * Merge sort in tiles, for GPUs: a block sorts a tile in shared memory, later passes merge two runs tile by tile. Where the tiles of a pass begin in both runs is
 * found beforehand, by a thread for each.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import type { DType } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Value } from './operator.ts';

/** Whether an element goes before another one. `argument` is what else the comparison reads. */
export type Less = (argument: Value, a: Value, b: Value) => boolean;

/** Threads of a block. The rounds that merge a tile's runs depend on it: an even number. */
export const MERGE_BLOCK = 256;
const ROUND_PAIRS = 4;

/** What the kernels are made of. */
export interface MergeMake {
  readonly less: Less;
  readonly cast: (value: Value) => Value;
  readonly dtype: DType;
  /** Elements of a thread. */
  readonly items: number;
}

type Join = (
  from: Vec<Value>,
  to: Vec<Value>,
  argument: Value,
  left: readonly [at: number, end: number],
  right: readonly [at: number, end: number],
  into: readonly [at: number, end: number],
) => void;

/** Merges what a thread has of two runs in shared memory. The next element of each is in registers: shared memory is asked for each element once. */
function joinOf({ less, cast, items }: MergeMake): Join {
  const captures = { less, cast, items, last: MERGE_BLOCK * items - 1 };
  return deviceFunction(
    ({ less, cast, items, last }: typeof captures): Join =>
      (from, to, argument, [leftAt, leftEnd], [rightAt, rightEnd], [at, end]) => {
        if (at >= end) return;
        let left = leftAt;
        let right = rightAt;
        let a = cast(from[Math.min(left, last)] as Value);
        let b = cast(from[Math.min(right, last)] as Value);
        for (let k = 0; k < items; k++) {
          if (at + k < end) {
            if (left >= leftEnd || (right < rightEnd && less(argument, b, a))) {
              to[at + k] = b;
              right++;
              b = cast(from[Math.min(right, last)] as Value);
            } else {
              to[at + k] = a;
              left++;
              a = cast(from[Math.min(left, last)] as Value);
            }
          }
        }
      },
    captures as typeof captures & Record<string, unknown>,
  ) as unknown as Join;
}

/** Sorts each tile by itself; `to` may be `from`. */
export type SortTiles = Kernel<[from: Vec<Value>, to: Vec<Value>, argument: Value]>;

export function sortTilesOf(jit: Jit, make: MergeMake): SortTiles {
  const { less, cast, dtype, items } = make;
  const captures = {
    ...WORDS,
    join: joinOf(make),
    ...{ less, cast, dtype, items, block: MERGE_BLOCK, tile: MERGE_BLOCK * items, pairs: ROUND_PAIRS },
  };
  return jit(
    (words: typeof captures) => {
      const { grid, threadIdx, syncThreads, shared, less, cast, join, dtype, items, block, tile, pairs } = words;
      return (from: Vec<Value>, to: Vec<Value>, argument: Value) => {
        const one = shared<Value>(tile, dtype);
        const other = shared<Value>(tile, dtype);
        const t = threadIdx.x;
        const base = (grid(1) - t) * items;
        const count = Math.min(tile, from.length - base) | 0;
        for (let k = 0; k < items; k++) {
          const i = t + k * block;
          if (i < count) one[i] = cast(from[base + i] as Value);
        }
        syncThreads();
        const first = t * items;
        for (let i = first + 1; i < Math.min(count, first + items); i++) {
          const value = cast(one[i] as Value);
          let k = i;
          while (k > first && less(argument, value, one[k - 1] as Value)) {
            one[k] = cast(one[k - 1] as Value);
            k--;
          }
          one[k] = value;
        }
        syncThreads();
        const round = (x: Vec<Value>, y: Vec<Value>, run: number): void => {
          const start = first - (first % (2 * run));
          const middle = Math.min(count, start + run);
          const end = Math.min(count, start + 2 * run);
          const before = Math.min(first, end) - start;
          let low = Math.max(0, before - (end - middle));
          let high = Math.min(before, middle - start);
          while (low < high) {
            const mid = (low + high) >> 1;
            if (less(argument, x[middle + before - 1 - mid] as Value, x[start + mid] as Value)) high = mid;
            else low = mid + 1;
          }
          join(x, y, argument, [start + low, middle], [middle + before - low, end], [first, end]);
          syncThreads();
        };
        for (let k = 0; k < pairs; k++) {
          round(one, other, items * (1 << (2 * k)));
          round(other, one, items * (2 << (2 * k)));
        }
        for (let k = 0; k < items; k++) {
          const i = t + k * block;
          if (i < count) to[base + i] = cast(one[i] as Value);
        }
      };
    },
    { captures, name: 'sortTiles' },
  ) as never;
}

/** How many elements of its left run go before each tile of a pass. */
export type PartTiles = Kernel<[from: Vec<Value>, lefts: Vec<number>, argument: Value, run: number]>;

export function partTilesOf(jit: Jit, { less, items }: MergeMake): PartTiles {
  const captures = { ...WORDS, less, tile: MERGE_BLOCK * items };
  return jit(
    ({ grid, less, tile }: typeof captures) =>
      (from: Vec<Value>, lefts: Vec<number>, argument: Value, run: number) => {
        const at = grid(1);
        if (at >= lefts.length) return;
        const first = at * tile;
        const start = first - (first % (2 * run));
        const middle = Math.min(from.length, start + run);
        const end = Math.min(from.length, start + 2 * run);
        const before = first - start;
        let low = Math.max(0, before - (end - middle));
        let high = Math.min(before, middle - start);
        while (low < high) {
          const mid = low + ((high - low) >> 1);
          if (less(argument, from[middle + before - 1 - mid] as Value, from[start + mid] as Value)) high = mid;
          else low = mid + 1;
        }
        lefts[at] = low;
      },
    { captures, name: 'partTiles' },
  ) as never;
}

/** Merges runs two by two: a block a tile. */
export type MergeTiles = Kernel<[from: Vec<Value>, to: Vec<Value>, lefts: Vec<number>, argument: Value, run: number]>;

export function mergeTilesOf(jit: Jit, make: MergeMake): MergeTiles {
  const { less, cast, dtype, items } = make;
  const captures = {
    ...WORDS,
    join: joinOf(make),
    less,
    cast,
    dtype,
    items,
    block: MERGE_BLOCK,
    tile: MERGE_BLOCK * items,
  };
  return jit(
    (words: typeof captures) => {
      const { grid, threadIdx, blockIdx, syncThreads, shared, less, cast, join, dtype, items, block, tile } = words;
      return (from: Vec<Value>, to: Vec<Value>, lefts: Vec<number>, argument: Value, run: number) => {
        const both = shared<Value>(tile, dtype);
        const merged = shared<Value>(tile, dtype);
        const t = threadIdx.x;
        const base = (grid(1) - t) * items;
        const start = base - (base % (2 * run));
        const middle = Math.min(from.length, start + run);
        const end = Math.min(from.length, start + 2 * run);
        const low = lefts[blockIdx.x] as number | 0;
        const isLast = base + tile >= end;
        const high = isLast ? middle - start : (lefts[blockIdx.x + 1] as number) | 0;
        const count = Math.min(tile, end - base) | 0;
        const lefty = (high - low) | 0;
        const fromLeft = start + low;
        const fromRight = middle + (base - start) - low;
        for (let k = 0; k < items; k++) {
          const i = t + k * block;
          if (i < count) both[i] = cast(from[i < lefty ? fromLeft + i : fromRight + (i - lefty)] as Value);
        }
        syncThreads();
        const before = Math.min(t * items, count);
        let least = Math.max(0, before - (count - lefty));
        let most = Math.min(before, lefty);
        while (least < most) {
          const mid = (least + most) >> 1;
          if (less(argument, both[lefty + before - 1 - mid] as Value, both[mid] as Value)) most = mid;
          else least = mid + 1;
        }
        join(both, merged, argument, [least, lefty], [lefty + before - least, count], [before, count]);
        syncThreads();
        for (let k = 0; k < items; k++) {
          const i = t + k * block;
          if (i < count) to[base + i] = cast(merged[i] as Value);
        }
      };
    },
    { captures, name: 'mergeTiles' },
  ) as never;
}
