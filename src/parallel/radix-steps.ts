/**
 * The launches of a radix sort: which kernels, with what grids and what memory beside the arrays, on which device.
 *
 * GPUs of NVIDIA and AMD sort in single sweeps (`onesweep.ts`), other GPUs of OpenCL and WebGPU in three launches a pass (`tile-counts.ts`), processors by stretches
 * (`chunked-radix.ts`), whatever reaches them.
 */

import { DeviceNDArray } from '../array/device-array.ts';
import { type DType, type Scalar, u8, u16, u32, u64, vectorOf } from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Step } from '../kernel/steps.ts';
import type { Context } from '../memory/context.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { beginStretchesOf, type ChunkPass, countStretchOf, moveStretchOf } from './chunked-radix.ts';
import { remember } from './memo.ts';
import { DIGITS, onesweepOf, type Shape, sharedBytesOf, tileOf } from './onesweep.ts';
import { jitOn, onHost } from './place.ts';
import { beginDigitsOf, COUNT_BLOCK, clearOf, copyOf, countDigitsOf, placesOf } from './radix-counts.ts';
import type { RadixKeys } from './radix-keys.ts';
import { countTileOf, sumRowsOf } from './tile-counts.ts';

/** What is sorted. All arrays are contiguous. */
export interface Sorting {
  readonly keysOf: RadixKeys;
  /** The name of the dtype and the direction: what kernels are remembered by. */
  readonly name: string;
  readonly keys: DeviceNDArray;
  /** May be `keys`. */
  readonly toKeys: DeviceNDArray;
  /** What goes along: elements of 1, 2, 4 or 8 bytes, or the places of the keys. */
  readonly values?: DeviceNDArray | 'places' | undefined;
  /** May be `values`. */
  readonly toValues?: DeviceNDArray | undefined;
  /** Passes; those that sort by the lower bits of small integers are enough for them. Default: all. */
  readonly passes?: number | undefined;
}

const UNSIGNED: ReadonlyMap<number, DType> = new Map(
  [u8, u16, u32, u64].map((d) => [d.itemSize, d as unknown as DType]),
);
/** Keys of one run of the single sweeps: look-back words count up to 2 ** 30. */
const PORTION = 2 ** 29;

type AnyKernel = Step['kernel'];

/** One pass: from where to where. */
interface Pass {
  readonly at: number;
  readonly keys: DeviceNDArray;
  readonly toKeys: DeviceNDArray;
  readonly values: DeviceNDArray;
  readonly toValues: DeviceNDArray;
}

/** How devices sort. */
export type Way = 'sweeps' | 'tiles' | 'stretches';

/** The launches that sort; `way` is for tests. Throws NotSupportedError for more elements than words of 32 bits have numbers for. */
export function radixSteps(place: Workplace, sorting: Sorting, way: Way = wayOn(place.context)): Step[] {
  const { size } = sorting.keys;
  if (size === 0) return [];
  if (size >= 2 ** 32) {
    throw new NotSupportedError(
      'E_PARALLEL',
      `${place.name} takes fewer than 2 ** 32 elements, got ${size}: sort parts, and merge them`,
    );
  }
  return new { sweeps: Sweeps, tiles: Tiles, stretches: Stretches }[way](place, sorting).steps();
}

export function wayOn(context: Context): Way {
  const { kind, hardware } = context.info;
  // What lanes exchange is expensive there, and the kernels of tiles take seconds to compile on adapters that are processors.
  if (onHost(context) || hardware?.type === 'cpu') return 'stretches';
  // Elsewhere nothing says that a block which waits for another one lets it run.
  return kind === 'nvidia' || kind === 'hip' ? 'sweeps' : 'tiles';
}

/** The bits of elements as unsigned integers of one axis. */
export function bitsOf(place: Workplace, array: DeviceNDArray): DeviceNDArray {
  return seen(place, array, UNSIGNED.get(array.itemSize) as DType);
}

/** Some of the elements, as elements of another dtype of that size. */
function seen(place: Workplace, array: DeviceNDArray, dtype: DType, from = 0, length = array.size): DeviceNDArray {
  const { context, owner, pointer, readOnly, itemSize } = array;
  const gpuData = { context, owner, address: pointer + from * itemSize, readOnly };
  return place.own(new DeviceNDArray<Scalar>([length], [itemSize], dtype, { stream: place.stream, gpuData }));
}

abstract class Radix {
  readonly place: Workplace;
  readonly sorting: Sorting;
  readonly jit: Jit;
  readonly size: number;
  readonly passes: number;
  readonly out: Step[] = [];

  constructor(place: Workplace, sorting: Sorting) {
    this.place = place;
    this.sorting = sorting;
    this.jit = jitOn(place.context);
    this.size = sorting.keys.size;
    this.passes = sorting.passes ?? sorting.keysOf.passes;
  }

  launch(kernel: unknown, grid: number, block: number, ...args: readonly unknown[]): void {
    this.out.push({ kernel: kernel as AnyKernel, shape: { grid, block, stream: this.place.stream }, args });
  }

  /** A kernel that is made once for this kind of keys. */
  kernel<K>(name: string, make: () => K, ...also: readonly (string | number | boolean | undefined)[]): K {
    return remember(['radix', name, this.jit, this.sorting.name, ...also], make);
  }

  words(length: number): DeviceNDArray {
    return this.place.temporary([length], u32 as unknown as DType);
  }

  /** Where keys and values go in each pass: to and fro, and in the last one to the results. */
  plan(): Pass[] {
    const { place, sorting, passes, size } = this;
    const { keys, toKeys, keysOf, values } = sorting;
    const raw = keysOf.raw;
    const ends = seen(place, toKeys, raw);
    const starts = passes % 2 === 1 ? this.apart(seen(place, keys, raw), ends) : seen(place, keys, raw);
    const between = passes > 1 ? place.temporary([size], raw) : ends;
    const list: Pass[] = [];
    const valuesEnd = values === undefined ? ends : bitsOf(place, sorting.toValues as DeviceNDArray);
    const valuesBetween = values === undefined || passes === 1 ? valuesEnd : place.temporary([size], valuesEnd.dtype);
    let from = { keys: starts, values: this.firstValues(valuesEnd, valuesBetween) };
    for (let at = 0; at < passes; at++) {
      const isEnd = (passes - 1 - at) % 2 === 0;
      const to = { keys: isEnd ? ends : between, values: isEnd ? valuesEnd : valuesBetween };
      list.push({ at, ...from, toKeys: to.keys, toValues: to.values });
      from = to;
    }
    return list;
  }

  /** The values of the first pass. */
  firstValues(ends: DeviceNDArray, between: DeviceNDArray): DeviceNDArray {
    const { values } = this.sorting;
    if (values === undefined) return ends;
    if (values !== 'places') {
      const starts = bitsOf(this.place, values);
      return this.passes % 2 === 1 ? this.apart(starts, ends) : starts;
    }
    if (this.passes === 1) return this.placesIn(this.place.temporary([this.size], ends.dtype));
    return this.placesIn(this.passes % 2 === 1 ? between : ends);
  }

  /** An array with the places of the keys. */
  placesIn(array: DeviceNDArray): DeviceNDArray {
    const kernel = remember(['places', this.jit], () => placesOf(this.jit));
    this.launch(kernel, Math.min(4096, Math.ceil(this.size / 256)), 256, array);
    return array;
  }

  /** An array that a pass may read while it writes another: a copy where these share memory. */
  apart(array: DeviceNDArray, other: DeviceNDArray): DeviceNDArray {
    if (array.owner !== other.owner) return array;
    const copy = this.place.temporary([array.size], array.dtype);
    const kernel = remember(['copy', this.jit, array.dtype.name], () => copyOf(this.jit));
    this.launch(kernel, Math.min(4096, Math.ceil(this.size / 256)), 256, array, copy);
    return copy;
  }

  get valueType(): DType | undefined {
    const { values, toValues } = this.sorting;
    return values === undefined ? undefined : UNSIGNED.get((toValues as DeviceNDArray).itemSize);
  }
}

/** Stretches of at least so many keys: what is less is not worth a thread. */
const STRETCH = 2 ** 13;
const MOST_STRETCHES = 64;

/** For processors. */
class Stretches extends Radix {
  steps(): Step[] {
    const { size, passes, sorting, place } = this;
    const threads = place.context.info.limits.multiprocessors;
    const most = Math.min(MOST_STRETCHES, Math.max(4, 2 * threads));
    const stretches = Math.max(1, Math.min(most, Math.floor(size / STRETCH)));
    const each = Math.ceil(size / stretches);
    const counts = this.words(DIGITS * stretches);
    for (const { at, keys, toKeys, values, toValues } of this.plan()) {
      const [first, last] = [at === 0, at === passes - 1];
      const along =
        sorting.values === undefined ? 'nothing' : first && sorting.values === 'places' ? 'places' : 'values';
      const pass: ChunkPass = { bits: 8, first, last, along };
      const count = this.kernel('count stretch', () => countStretchOf(this.jit, sorting.keysOf, pass), first);
      const begin = remember(['begin stretches', this.jit], () => beginStretchesOf(this.jit));
      const make = (): unknown => moveStretchOf(this.jit, sorting.keysOf, pass);
      const move = this.kernel('move stretch', make, first, last, along);
      this.launch(count, stretches, 1, keys, counts, each, 8 * at);
      this.launch(begin, 1, 1, counts);
      this.launch(move, stretches, 1, keys, toKeys, values, toValues, counts, each, 8 * at);
    }
    return this.out;
  }

  override placesIn(array: DeviceNDArray): DeviceNDArray {
    return array;
  }
}

/** For GPUs of OpenCL and WebGPU: the first that a block has memory for. Ballots need less of it than words to be marked, and take longer. */
const TILES: readonly Shape[] = (
  [
    [8, 'or'],
    [4, 'or'],
    [2, 'or'],
    [4, 'ballot'],
    [2, 'ballot'],
  ] as const
).map(([items, ranking]) => ({ block: 256, items, ranking, early: false, lookBack: false }));

/** What a block's warps need besides, where they exchange through shared memory. */
const EXCHANGED_BYTES = 36 * 256;

/** How many keys a thread takes where a block has so much shared memory; the keys, or what goes along, have `bytes`. */
export function tilesFor(bytes: number, memory: number): Shape {
  const fits = (shape: Shape): boolean => sharedBytesOf(shape, bytes) + EXCHANGED_BYTES <= memory;
  return TILES.find(fits) ?? (TILES.at(-1) as Shape);
}

class Tiles extends Radix {
  steps(): Step[] {
    const { size, sorting } = this;
    const bytes = Math.max(sorting.keysOf.word.itemSize, this.valueType?.itemSize ?? 0);
    const shape = tilesFor(bytes, this.place.context.info.limits.maxSharedBytesPerBlock);
    const tiles = Math.ceil(size / tileOf(shape));
    const [counts, totals] = [this.words(DIGITS * tiles), this.words(DIGITS)];
    const variant = `${shape.items} ${shape.ranking}`;
    const count = this.kernel('count tile', () => countTileOf(this.jit, sorting.keysOf, shape), variant);
    const sum = remember(['sum rows', this.jit], () => sumRowsOf(this.jit));
    const begin = remember(['begin digits', this.jit], () => beginDigitsOf(this.jit));
    const valueType = this.valueType;
    const make = (): unknown => onesweepOf(this.jit, sorting.keysOf, valueType, shape);
    const move = this.kernel('tile', make, valueType?.name, variant);
    for (const { at, keys, toKeys, values, toValues } of this.plan()) {
      this.launch(count, tiles, shape.block, keys, counts, 8 * at);
      this.launch(sum, DIGITS, DIGITS, counts, totals, tiles);
      this.launch(begin, 1, DIGITS, totals);
      const rest = [counts, totals, totals, counts] as const;
      this.launch(move, tiles, shape.block, keys, toKeys, values, toValues, counts, ...rest, 0, 8 * at);
    }
    return this.out;
  }
}

/** For GPUs on which blocks make progress beside each other. */
class Sweeps extends Radix {
  steps(): Step[] {
    const { size, sorting, passes, place } = this;
    const { keysOf } = sorting;
    const valueType = this.valueType;
    const shape = shapeFor(keysOf, valueType);
    const tile = tileOf(shape);
    const portion = Math.floor(PORTION / tile) * tile;
    const portions = Math.ceil(size / portion);
    const tiles = Math.ceil(Math.min(size, portion) / tile);
    // What has to be zero before stands together.
    const own = DIGITS * keysOf.passes + passes * portions;
    const zeroed = this.words(own + DIGITS * tiles);
    const counts = seen(place, zeroed, zeroed.dtype, 0, DIGITS * keysOf.passes);
    const tickets = seen(place, zeroed, zeroed.dtype, DIGITS * keysOf.passes, passes * portions);
    const looks = [seen(place, zeroed, zeroed.dtype, own, DIGITS * tiles), this.words(DIGITS * tiles)] as const;
    const nexts = this.words(2 * DIGITS);
    const list = this.plan();
    this.clear(zeroed);
    this.count((list[0] as Pass).keys, counts);
    const sweep = this.kernel('sweep', () => onesweepOf(this.jit, keysOf, valueType, shape), valueType?.name);
    let turn = 0;
    for (const { at, keys, toKeys, values, toValues } of list) {
      for (let k = 0; k < portions; k++) {
        const from = k * portion;
        const length = Math.min(portion, size - from);
        const [look, other] = [looks[turn % 2] as DeviceNDArray, looks[(turn + 1) % 2] as DeviceNDArray];
        // A shorter sweep clears less than the next one needs.
        if (portions > 1 && turn > 0) this.clear(look);
        const starts = k === 0 ? seen(place, counts, counts.dtype, DIGITS * at, DIGITS) : half(place, nexts, k % 2);
        const next = half(place, nexts, (k + 1) % 2);
        const some = seen(place, keys, keys.dtype, from, length);
        const along = valueType === undefined ? some : seen(place, values, values.dtype, from, length);
        const args = [some, toKeys, along, toValues, look, other, starts, next, tickets, at * portions + k, 8 * at];
        this.launch(sweep, Math.ceil(length / tile), shape.block, ...args);
        turn++;
      }
    }
    return this.out;
  }

  clear(words: DeviceNDArray): void {
    const kernel = remember(['clear', this.jit], () => clearOf(this.jit));
    this.launch(kernel, Math.min(1056, Math.ceil(words.size / 256)), 256, words);
  }

  /** Counts the digits of all passes, and makes of the counts where these begin. */
  count(keys: DeviceNDArray, counts: DeviceNDArray): void {
    const { context } = this.place;
    const { keysOf } = this.sorting;
    const lanes = 16 / keys.itemSize;
    const vector = lanes > 4 || keys.pointer % 16 !== 0 ? undefined : vectorOf(keysOf.raw.name as 'u32', lanes);
    const make = (): unknown => countDigitsOf(this.jit, keysOf, vector as DType | undefined, lanes);
    const count = this.kernel('count', make, vector !== undefined);
    const grid = Math.min(4 * context.info.limits.multiprocessors, Math.ceil(this.size / (4 * COUNT_BLOCK)));
    this.launch(count, grid, COUNT_BLOCK, keys, counts);
    const begin = remember(['begin digits', this.jit], () => beginDigitsOf(this.jit));
    this.launch(begin, keysOf.passes, DIGITS, counts);
  }
}

function half(place: Workplace, array: DeviceNDArray, k: number): DeviceNDArray {
  return seen(place, array, array.dtype, DIGITS * k, DIGITS);
}

/** The fastest on an H200, of blocks from 256 to 1024 threads and 8 to 28 keys a thread. */
export function shapeFor({ word }: RadixKeys, values: DType | undefined): Shape {
  const rest = { ranking: 'ballot', early: false } as const;
  const bytes = values?.itemSize ?? 0;
  if (word.itemSize > 4) return { block: bytes > 0 ? 512 : 384, items: 14, blocksPerSm: bytes > 0 ? 2 : 3, ...rest };
  if (bytes > 4) return { block: 512, items: 14, blocksPerSm: 2, ...rest };
  if (bytes > 0) return { block: 512, items: 22, blocksPerSm: 2, ...rest };
  return { block: 384, items: 22, blocksPerSm: 3, ...rest };
}
