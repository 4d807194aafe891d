/**
 * Sorting by a comparison of the user: short runs by insertion, then runs merged two by two. A thread finds where its part of a merge begins by a binary
 * search ("merge path": Green, McColl, Bader, "GPU merge path"), so that all threads have the same amount of work.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, i32, spellDType } from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { remember } from './memo.ts';
import { type Less, MERGE_BLOCK, type MergeMake, mergeTilesOf, partTilesOf, sortTilesOf } from './merge-tiles.ts';
import { castTo, type Value } from './operator.ts';
import { jitOn, onHost } from './place.ts';

type Compare = (a: Value, b: Value) => number;

/** By a function as `Array.prototype.sort` takes it. The same object for the same function. */
export function lessOf(compare: Compare, descending: boolean): Less {
  return remember(['less', compare, descending], () =>
    deviceFunction(
      ({ compare, descending }: { readonly compare: Compare; readonly descending: boolean }) =>
        (_: Value, a: Value, b: Value) =>
          descending ? compare(b, a) < 0 : compare(a, b) < 0,
      { compare, descending } as { readonly compare: Compare; readonly descending: boolean } & Record<string, unknown>,
    ),
  ) as Less;
}

/** Of places by the elements there. */
export function lessAt(compare: Compare, descending: boolean): Less {
  return remember(['less at', compare, descending], () =>
    deviceFunction(
      ({ compare, descending }: { readonly compare: Compare; readonly descending: boolean }) =>
        (x: readonly Value[], a: number, b: number) =>
          descending ? compare(x[b] as Value, x[a] as Value) < 0 : compare(x[a] as Value, x[b] as Value) < 0,
      { compare, descending } as { readonly compare: Compare; readonly descending: boolean } & Record<string, unknown>,
    ),
  ) as Less;
}

/** What is sorted. Arrays are contiguous; `to` may be `from`. */
export interface Merging {
  readonly from: DeviceNDArray;
  readonly to: DeviceNDArray;
  readonly less: Less;
  readonly argument: unknown;
}

/** Elements that a thread sorts by insertion. */
const RUN = 16;
/** Elements that a thread merges: many where threads are few. */
const PART = 16;
const PART_ON_HOST = 2048;

/**
 * Elements of a thread on GPUs, by the bytes of an element; beyond these there is no room in shared memory for a tile. Odd numbers, where there is room for them: threads that
 * write theirs side by side then meet in no bank.
 */
function itemsOf(bytes: number, sharedBytes: number): number | undefined {
  if (sharedBytes >= 49_152 && bytes <= 16) return bytes <= 4 ? 17 : bytes <= 8 ? 9 : 5;
  if (bytes <= 8) return 8;
  return bytes <= 16 ? 4 : bytes <= 32 ? 2 : undefined;
}

/** The launches that sort; `tiled` is for tests. Throws NotSupportedError for more elements than places of 32 bits have numbers for. */
export function mergeSteps(place: Workplace, merging: Merging, tiled: boolean = !onHost(place.context)): Step[] {
  const { size, itemSize } = merging.from;
  if (size === 0) return [];
  if (size > 2 ** 30) {
    throw new NotSupportedError(
      'E_PARALLEL',
      `${place.name}: compare takes up to 2 ** 30 elements, got ${size}: pass key, a number of each element`,
    );
  }
  const { maxSharedBytesPerBlock } = place.context.info.limits;
  const items = tiled ? itemsOf(itemSize, maxSharedBytesPerBlock) : undefined;
  return items === undefined ? byRuns(place, merging) : byTiles(place, merging, items);
}

function byTiles(place: Workplace, { from, to, less, argument }: Merging, items: number): Step[] {
  const { context, stream } = place;
  const { size, dtype } = from;
  const jit = jitOn(context);
  const make: MergeMake = { less, cast: castTo(dtype), dtype, items };
  const kernel = (name: string, of: (jit: Jit, make: MergeMake) => unknown): Step['kernel'] =>
    remember([name, jit, less, spellDType(dtype), items], () => of(jit, make)) as Step['kernel'];
  const [sort, part, merge] = [
    kernel('sort tiles', sortTilesOf),
    kernel('part tiles', partTilesOf),
    kernel('merge tiles', mergeTilesOf),
  ];
  const tile = MERGE_BLOCK * items;
  const tiles = Math.ceil(size / tile);
  const rounds = Math.ceil(Math.log2(tiles));
  const between = rounds > 0 ? place.temporary([size], dtype) : to;
  const lefts = place.temporary([tiles], i32 as unknown as DType);
  const targetOf = (left: number): DeviceNDArray => (left % 2 === 0 ? to : between);
  const shape = { grid: tiles, block: MERGE_BLOCK, stream };
  const steps: Step[] = [{ kernel: sort, shape, args: [from, targetOf(rounds), argument] }];
  for (let k = 0, run = tile; k < rounds; k++, run *= 2) {
    const [x, y] = [targetOf(rounds - k), targetOf(rounds - k - 1)];
    const few = { grid: Math.ceil(tiles / 128), block: 128, stream };
    steps.push({ kernel: part, shape: few, args: [x, lefts, argument, run] });
    steps.push({ kernel: merge, shape, args: [x, y, lefts, argument, run] });
  }
  return steps;
}

/** For processors, and for large elements. */
function byRuns(place: Workplace, { from, to, less, argument }: Merging): Step[] {
  const { context, stream } = place;
  const size = from.size;
  const jit = jitOn(context);
  const key = [jit, less, spellDType(from.dtype)];
  const cast = castTo(from.dtype);
  const runs = remember(['sort runs', ...key], () => sortRunsOf(jit, less, cast));
  const merge = remember(['merge runs', ...key], () => mergeRunsOf(jit, less, cast));
  const block = onHost(context) ? 1 : 128;
  const part = onHost(context) ? PART_ON_HOST : PART;
  const steps: Step[] = [];
  const launch = (kernel: unknown, threads: number, ...args: readonly unknown[]): void => {
    const grid = Math.max(1, Math.ceil(threads / block));
    steps.push({ kernel: kernel as Step['kernel'], shape: { grid, block, stream }, args });
  };
  const rounds = size <= RUN ? 0 : Math.ceil(Math.log2(size / RUN));
  const between = rounds > 0 ? place.temporary([size], from.dtype) : to;
  const targetOf = (left: number): DeviceNDArray => (left % 2 === 0 ? to : between);
  launch(runs, Math.ceil(size / RUN), from, targetOf(rounds), argument, RUN);
  for (let k = 0, run = RUN; k < rounds; k++, run *= 2) {
    const each = Math.min(part, 2 * run);
    launch(merge, Math.ceil(size / each), targetOf(rounds - k), targetOf(rounds - k - 1), argument, run, each);
  }
  return steps;
}

type SortRuns = Kernel<[from: Vec<Value>, to: Vec<Value>, argument: Value, run: number]>;

function sortRunsOf(jit: Jit, less: Less, cast: (value: Value) => Value): SortRuns {
  const captures = { ...WORDS, less, cast };
  return jit(
    ({ grid, less, cast }: typeof captures) =>
      (from: Vec<Value>, to: Vec<Value>, argument: Value, run: number) => {
        const start = grid(1) * run;
        const end = Math.min(from.length, start + run);
        for (let i = start; i < end; i++) {
          const value = cast(from[i] as Value);
          let k = i;
          while (k > start && less(argument, value, to[k - 1] as Value)) {
            to[k] = to[k - 1] as Value;
            k--;
          }
          to[k] = value;
        }
      },
    { captures, name: 'sortRuns' },
  ) as never;
}

type MergeRuns = Kernel<[from: Vec<Value>, to: Vec<Value>, argument: Value, run: number, part: number]>;

function mergeRunsOf(jit: Jit, less: Less, cast: (value: Value) => Value): MergeRuns {
  const captures = { ...WORDS, less, cast };
  return jit(
    ({ grid, less, cast }: typeof captures) =>
      (from: Vec<Value>, to: Vec<Value>, argument: Value, run: number, part: number) => {
        const first = grid(1) * part;
        if (first >= from.length) return;
        const start = first - (first % (2 * run));
        const middle = Math.min(from.length, start + run);
        const end = Math.min(from.length, start + 2 * run);
        // How many of the first elements of the result are of the left run.
        const before = first - start;
        let low = Math.max(0, before - (end - middle));
        let high = Math.min(before, middle - start);
        while (low < high) {
          const mid = low + ((high - low) >> 1);
          if (less(argument, from[middle + before - 1 - mid] as Value, from[start + mid] as Value)) high = mid;
          else low = mid + 1;
        }
        let left = start + low;
        let right = middle + before - low;
        const last = Math.min(end, first + part);
        for (let k = first; k < last; k++) {
          const takesRight =
            left >= middle || (right < end && less(argument, from[right] as Value, from[left] as Value));
          to[k] = cast(from[takesRight ? right : left] as Value);
          if (takesRight) right++;
          else left++;
        }
      },
    { captures, name: 'mergeRuns' },
  ) as never;
}
