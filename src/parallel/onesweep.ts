/**
 * One pass of a radix sort in one sweep over the keys, for GPUs whose blocks make progress beside each other: a block ranks the keys of its tile by a digit of
 * 8 bits, finds where each digit's keys begin by looking back at the tiles before (decoupled look-back), and stores runs of equal digits from shared memory.
 * Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", arXiv 2206.01784.
 */

import { type DType, u32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import type { Bits, RadixKeys } from './radix-keys.ts';
import { SORT_WORDS } from './sort-words.ts';

const WARP = 32;
/** Values of a digit. */
export const DIGITS = 256;
/** Of a look-back word: the upper two bits say what the others are. */
const COUNT = 2 ** 30;
const PREFIX = 2 ** 31;

/** How a block is made. */
export interface Shape {
  readonly block: number;
  /** Keys of a thread: an even number. */
  readonly items: number;
  /** How lanes with the same digit find each other. */
  readonly ranking: 'ballot' | 'match' | 'or';
  /** Whether digits are counted before they are ranked, so that later tiles know sooner. */
  readonly early: boolean;
  readonly blocksPerSm?: number;
  /**
   * False where blocks may have to wait for each other to end: then `look` has, digit by digit, how many keys of the tiles before have it, and nothing else of the
   * look-back is used.
   */
  readonly lookBack?: boolean;
}

export function tileOf({ block, items }: Shape): number {
  return block * items;
}

/** Shared memory of a block, for keys or values of so many bytes. */
export function sharedBytesOf(shape: Shape, bytes: number): number {
  const words = (shape.block / WARP) * DIGITS * (shape.ranking === 'or' ? 2 : 1) + DIGITS + WARP;
  return tileOf(shape) * bytes + 4 * words;
}

/** Arrays of one pass. */
export type Onesweep = Kernel<
  [
    keys: Vec<Bits>,
    toKeys: Vec<Bits>,
    values: Vec<Bits>,
    toValues: Vec<Bits>,
    /** A word for each digit of each tile, all zero; and those of the next pass, which are cleared. */
    look: Vec<number>,
    clear: Vec<number>,
    /** Where the digits of this pass begin, and where those of the next part do. */
    starts: Vec<number>,
    next: Vec<number>,
    tickets: Vec<number>,
    ticket: number,
    shift: number,
  ]
>;

export function onesweepOf(jit: Jit, keysOf: RadixKeys, valueType: DType | undefined, shape: Shape): Onesweep {
  const { block, items, ranking, early } = shape;
  const warps = block / WARP;
  const widest = valueType === undefined || valueType.itemSize < keysOf.word.itemSize ? keysOf.word : valueType;
  const captures = {
    ...SORT_WORDS,
    ...{ encode: keysOf.encode, decode: keysOf.decode, digitOf: keysOf.digit, last: keysOf.last, word: keysOf.word },
    ...{
      lookBack: shape.lookBack ?? true,
      block,
      items,
      warps,
      ranking,
      early,
      tile: block * items,
      valued: valueType !== undefined,
    },
    ...{ valueType: valueType ?? u32, widest, zero: (valueType?.itemSize === 8 ? 0n : 0) as Bits, u32 },
    ...{
      halves: items / 2,
      part: Math.floor(items / 6),
      warp: WARP,
      digits: DIGITS,
      all: 0xffffffff,
      count: COUNT,
      prefix: PREFIX,
    },
  };
  const name = valueType === undefined ? 'sortPass' : 'sortPassOfPairs';
  const options = shape.blocksPerSm === undefined ? {} : { launchBounds: [block, shape.blocksPerSm] as never };
  return jit(
    (words: typeof captures) => {
      const {
        threadIdx,
        blockIdx,
        gridDim,
        laneId,
        laneMaskLt,
        popc,
        ballot,
        matchAny,
        shflUp,
        syncWarp,
        syncThreads,
        shared,
      } = words;
      const { add, or, load, store, encode, decode, digitOf, last, word, u32, valueType, widest, zero } = words;
      const {
        block,
        items,
        warps,
        warp,
        digits,
        ranking,
        early,
        lookBack,
        tile,
        valued,
        halves,
        part,
        all,
        count,
        prefix,
      } = words;
      return (
        keys: Vec<Bits>,
        toKeys: Vec<Bits>,
        values: Vec<Bits>,
        toValues: Vec<Bits>,
        look: Vec<number>,
        clear: Vec<number>,
        starts: Vec<number>,
        next: Vec<number>,
        tickets: Vec<number>,
        ticket: number,
        shift: number,
      ) => {
        // Values take the place of keys when these are stored.
        const room = shared<Bits>(tile, widest);
        const sorted = room.view(word);
        const moved = room.view(valueType);
        const counts = shared<number>(warps * digits, u32);
        const masks = shared<number>(ranking === 'or' ? warps * digits : 1, u32);
        const offsets = shared<number>(digits, u32);
        const sums = shared<number>(warp, u32);
        const t = threadIdx.x;
        const w = t >> 5;
        const below = laneMaskLt();
        const mine = w * digits;
        for (let k = 0; k < digits / warp; k++) {
          counts[mine + laneId + k * warp] = u32(0);
          if (ranking === 'or') masks[mine + laneId + k * warp] = u32(0);
        }
        // Tickets, not places in the grid: who has one knows that all tiles before have begun.
        if (t === 0 && lookBack) sums[0] = add(tickets, ticket, 1);
        syncThreads();
        const at = lookBack ? (sums[0] as number) | 0 : blockIdx.x;
        syncThreads();
        const first = at * tile + w * warp * items + laneId;

        const key = new Array<Bits>(items).fill(last);
        if (at * tile + tile <= keys.length) {
          for (let k = 0; k < items; k++) key[k] = encode(keys[first + k * warp] as Bits);
        } else {
          for (let k = 0; k < items; k++)
            if (first + k * warp < keys.length) key[k] = encode(keys[first + k * warp] as Bits);
        }
        if (t < digits && lookBack) clear[at * digits + t] = u32(0);

        // Of some lanes those that have the same bit.
        const agree = (same: number, digit: number, bit: number): number => {
          const set = (digit & bit) !== 0;
          const lanes = ballot(all, set);
          return (same & (set ? lanes : ~lanes)) >>> 0;
        };
        // The lanes with the same digit.
        const peers = (digit: number): number => {
          if (ranking === 'match') return matchAny(all, digit);
          if (ranking === 'or') {
            or(masks, mine + digit, (1 << laneId) >>> 0);
            syncWarp();
            const same = masks[mine + digit] as number;
            syncWarp();
            masks[mine + digit] = u32(0);
            return same;
          }
          // Written out: a loop in the loop over keys would leave both loops.
          const low = agree(agree(agree(agree(all, digit, 1), digit, 2), digit, 4), digit, 8);
          return agree(agree(agree(agree(low, digit, 16), digit, 32), digit, 64), digit, 128);
        };

        // The place of the next key among all of the warp with its digit, which the warp's counts go up by.
        const ranked = (next: Bits): number => {
          const digit = digitOf(next, shift) & (digits - 1);
          const same = peers(digit);
          const before = counts[mine + digit] as number;
          syncWarp();
          if ((same & below) === 0) counts[mine + digit] = before + popc(same);
          syncWarp();
          return (before + popc(same & below)) | 0;
        };

        // Two ranks in a word: registers are short.
        const two = (low: number, high: number): number => low | (high << 16);
        const rank = new Array<number>(halves).fill(0);
        if (early) {
          syncWarp();
          for (let k = 0; k < items; k++) add(counts, mine + (digitOf(key[k] as Bits, shift) & (digits - 1)), 1);
        } else {
          for (let k = 0; k < part; k++) rank[k] = two(ranked(key[2 * k] as Bits), ranked(key[2 * k + 1] as Bits));
          for (let k = part; k < 2 * part; k++)
            rank[k] = two(ranked(key[2 * k] as Bits), ranked(key[2 * k + 1] as Bits));
          for (let k = 2 * part; k < halves; k++)
            rank[k] = two(ranked(key[2 * k] as Bits), ranked(key[2 * k + 1] as Bits));
        }
        syncThreads();

        // What this tile has of a digit, and where it begins in the tile.
        let of = u32(0);
        if (t < digits) {
          for (let k = 0; k < warps; k++) of += counts[t + k * digits] as number;
          if (lookBack) store(look, at * digits + t, ((at === 0 ? prefix : count) | of) >>> 0);
        }
        let sum = of;
        for (let by = 1; by < warp; by <<= 1) {
          const other = shflUp(all, sum, by);
          if (laneId >= by) sum += other;
        }
        if (laneId === warp - 1) sums[w] = sum;
        syncThreads();
        let start = sum - of;
        if (t < digits) {
          for (let k = 0; k < digits / warp; k++) if (k < w) start += sums[k] as number;
          let running = start;
          for (let k = 0; k < warps; k++) {
            const here = counts[t + k * digits] as number;
            counts[t + k * digits] = running;
            running += here;
          }
        }
        syncThreads();

        if (early) {
          for (let k = 0; k < part; k++) rank[k] = two(ranked(key[2 * k] as Bits), ranked(key[2 * k + 1] as Bits));
          for (let k = part; k < 2 * part; k++)
            rank[k] = two(ranked(key[2 * k] as Bits), ranked(key[2 * k + 1] as Bits));
          for (let k = 2 * part; k < halves; k++)
            rank[k] = two(ranked(key[2 * k] as Bits), ranked(key[2 * k + 1] as Bits));
        } else {
          for (let k = 0; k < halves; k++) {
            const low = counts[mine + (digitOf(key[2 * k] as Bits, shift) & (digits - 1))] as number;
            const high = counts[mine + (digitOf(key[2 * k + 1] as Bits, shift) & (digits - 1))] as number;
            rank[k] = ((rank[k] as number) + two(low | 0, high | 0)) | 0;
          }
        }
        for (let k = 0; k < halves; k++) {
          sorted[(rank[k] as number) & 0xffff] = key[2 * k] as Bits;
          sorted[(rank[k] as number) >>> 16] = key[2 * k + 1] as Bits;
        }

        // Where this tile's keys of a digit go: after those of all tiles before.
        if (t < digits) {
          let before = u32(0);
          if (!lookBack) before = look[t * gridDim.x + at] as number;
          else if (at > 0) {
            let from = at - 1;
            while (true) {
              const seen = load(look, from * digits + t);
              if (seen === 0) continue;
              before += seen & (count - 1);
              if ((seen & prefix) !== 0) break;
              from--;
            }
            store(look, at * digits + t, (prefix | (before + of)) >>> 0);
          }
          const begin = (starts[t] as number) + before;
          offsets[t] = begin - start;
          if (lookBack && at * tile + tile >= keys.length) next[t] = begin + of;
        }
        syncThreads();

        const here = Math.min(keys.length - at * tile, tile);
        const digit = new Array<number>(items).fill(0);
        for (let k = 0; k < items; k++) {
          const i = t + k * block;
          if (i < here) {
            const one = sorted[i] as Bits;
            digit[k] = digitOf(one, shift) & (digits - 1);
            toKeys[((offsets[digit[k] as number] as number) + i) >>> 0] = decode(one);
          }
        }
        if (valued) {
          const value = new Array<Bits>(items).fill(zero);
          for (let k = 0; k < items; k++)
            if (first + k * warp < keys.length) value[k] = values[first + k * warp] as Bits;
          syncThreads();
          for (let k = 0; k < halves; k++) {
            moved[(rank[k] as number) & 0xffff] = value[2 * k] as Bits;
            moved[(rank[k] as number) >>> 16] = value[2 * k + 1] as Bits;
          }
          syncThreads();
          for (let k = 0; k < items; k++) {
            const i = t + k * block;
            if (i < here) toValues[((offsets[digit[k] as number] as number) + i) >>> 0] = moved[i] as Bits;
          }
        }
      };
    },
    { captures, name, ...options },
  ) as never;
}
