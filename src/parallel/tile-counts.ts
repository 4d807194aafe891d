/**
 * What a pass of a radix sort in tiles needs where blocks cannot wait for each other: the digits of each tile counted, and the counts of all tiles before
 * added up, in launches of their own.
 */
import { u32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { DIGITS, type Shape, tileOf } from './onesweep.ts';
import type { Bits, RadixKeys } from './radix-keys.ts';
import { SORT_WORDS } from './sort-words.ts';

/** `counts[digit * tiles + tile]`: a block a tile. */
export type CountTile = Kernel<[keys: Vec<Bits>, counts: Vec<number>, shift: number]>;

export function countTileOf(jit: Jit, { encode, digit }: RadixKeys, shape: Shape): CountTile {
  const own = { encode, digitOf: digit, u32, digits: DIGITS, block: shape.block, tile: tileOf(shape) };
  const captures = { ...SORT_WORDS, ...own };
  return jit(
    (words: typeof captures) => {
      const { threadIdx, blockIdx, gridDim, syncThreads, shared, add, encode, digitOf, u32, digits, block, tile } =
        words;
      return (keys: Vec<Bits>, counts: Vec<number>, shift: number) => {
        const mine = shared<number>(digits, u32);
        const t = threadIdx.x;
        if (t < digits) mine[t] = u32(0);
        syncThreads();
        const from = blockIdx.x * tile;
        const to = Math.min(keys.length, from + tile);
        for (let i = from + t; i < to; i += block) add(mine, digitOf(encode(keys[i] as Bits), shift) & (digits - 1), 1);
        syncThreads();
        if (t < digits) counts[t * gridDim.x + blockIdx.x] = mine[t] as number;
      };
    },
    { captures, name: 'countTile' },
  ) as never;
}

/** Of each row of counts, what is before: a block of 256 for each digit. `totals[digit]` is what the row has. */
export type SumRows = Kernel<[counts: Vec<number>, totals: Vec<number>, tiles: number]>;

export function sumRowsOf(jit: Jit): SumRows {
  const captures = { ...SORT_WORDS, u32, block: DIGITS };
  return jit(
    ({ threadIdx, blockIdx, syncThreads, shared, u32, block }: typeof captures) =>
      (counts: Vec<number>, totals: Vec<number>, tiles: number) => {
        const sums = shared<number>(block, u32);
        const t = threadIdx.x;
        const row = blockIdx.x * tiles;
        let before = u32(0);
        for (let first = 0; first < tiles; first += block) {
          const there = first + t < tiles;
          const own = there ? (counts[row + first + t] as number) : u32(0);
          sums[t] = own;
          syncThreads();
          for (let by = 1; by < block; by <<= 1) {
            const other = t >= by ? (sums[t - by] as number) : u32(0);
            syncThreads();
            sums[t] = (sums[t] as number) + other;
            syncThreads();
          }
          if (there) counts[row + first + t] = before + (sums[t] as number) - own;
          before += sums[block - 1] as number;
          syncThreads();
        }
        if (t === 0) totals[blockIdx.x] = before;
      },
    { captures, name: 'sumRows' },
  ) as never;
}
