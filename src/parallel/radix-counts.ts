/**
 * What a radix sort in single sweeps knows before its passes: how many keys have each digit of each pass, counted in one sweep over the keys.
 */
import { type DType, u32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { DIGITS } from './onesweep.ts';
import type { Bits, RadixKeys } from './radix-keys.ts';
import { SORT_WORDS } from './sort-words.ts';

export const COUNT_BLOCK = 512;

/** Adds the digits of all passes to `counts`, a row of 256 for each pass, and clears look-back words. All must be zero before. */
export type CountDigits = Kernel<[keys: Vec<Bits>, counts: Vec<number>]>;

/** `lanes`: keys of one load; 1 where they are not aligned for wide ones. */
export function countDigitsOf(jit: Jit, keysOf: RadixKeys, vector: DType | undefined, lanes: number): CountDigits {
  const { encode, digit: digitOf, passes } = keysOf;
  const captures = {
    ...SORT_WORDS,
    ...{ encode, digitOf, passes, vector: vector ?? u32, lanes, u32, digits: DIGITS, block: COUNT_BLOCK },
    ...{ aligned: vector?.alignment ?? 1, wide: vector !== undefined },
  };
  return jit(
    (words: typeof captures) => {
      const { grid, gridSize, threadIdx, syncThreads, shared, add, assumeAligned } = words;
      const { encode, digitOf, passes, vector, lanes, u32, digits, block, aligned, wide } = words;
      return (keys: Vec<Bits>, counts: Vec<number>) => {
        const mine = shared<number>(passes * digits, u32);
        const t = threadIdx.x;
        for (let k = t; k < passes * digits; k += block) mine[k] = u32(0);
        syncThreads();
        const count = (raw: Bits): void => {
          const key = encode(raw);
          for (let p = 0; p < passes; p++) add(mine, p * digits + (digitOf(key, 8 * p) & (digits - 1)), 1);
        };
        if (wide) {
          const vectors = assumeAligned(keys, aligned).view(vector);
          const step = gridSize(1);
          let i = grid(1);
          for (; i + step < vectors.length; i += 2 * step) {
            const [v, w] = [vectors[i] as unknown as Quad, vectors[i + step] as unknown as Quad];
            count(v.x);
            count(v.y);
            if (lanes === 4) {
              count(v.z);
              count(v.w);
            }
            count(w.x);
            count(w.y);
            if (lanes === 4) {
              count(w.z);
              count(w.w);
            }
          }
          if (i < vectors.length) {
            const v = vectors[i] as unknown as Quad;
            count(v.x);
            count(v.y);
            if (lanes === 4) {
              count(v.z);
              count(v.w);
            }
          }
          const rest = lanes * vectors.length + grid(1);
          if (rest < keys.length) count(keys[rest] as Bits);
        } else for (let i = grid(1); i < keys.length; i += gridSize(1)) count(keys[i] as Bits);
        syncThreads();
        for (let k = t; k < passes * digits; k += block) {
          const n = mine[k] as number;
          if (n > 0) add(counts, k, n);
        }
      };
    },
    { captures, name: 'countDigits' },
  ) as never;
}

interface Quad {
  readonly x: Bits;
  readonly y: Bits;
  readonly z: Bits;
  readonly w: Bits;
}

/** Makes of the counts of a pass where its digits begin: a block of 256 for each pass. */
export type BeginDigits = Kernel<[counts: Vec<number>]>;

export function beginDigitsOf(jit: Jit): BeginDigits {
  const captures = { ...SORT_WORDS, u32, digits: DIGITS };
  return jit(
    ({ threadIdx, blockIdx, syncThreads, shared, u32, digits }: typeof captures) =>
      (counts: Vec<number>) => {
        const sums = shared<number>(digits, u32);
        const t = threadIdx.x;
        const at = blockIdx.x * digits + t;
        const own = counts[at] as number;
        sums[t] = own;
        syncThreads();
        for (let by = 1; by < digits; by <<= 1) {
          const other = t >= by ? (sums[t - by] as number) : u32(0);
          syncThreads();
          sums[t] = (sums[t] as number) + other;
          syncThreads();
        }
        counts[at] = (sums[t] as number) - own;
      },
    { captures, name: 'beginDigits' },
  );
}

/** Zeroes words. */
export type Clear = Kernel<[words: Vec<number>]>;

export function clearOf(jit: Jit): Clear {
  const captures = { ...SORT_WORDS, u32 };
  return jit(
    ({ grid, gridSize, u32 }: typeof captures) =>
      (words: Vec<number>) => {
        for (let i = grid(1); i < words.length; i += gridSize(1)) words[i] = u32(0);
      },
    { captures, name: 'clear' },
  );
}

/** Stores 0, 1, 2, … */
export type Places = Kernel<[words: Vec<Bits>]>;

export function placesOf(jit: Jit): Places {
  const captures = { ...SORT_WORDS, u32 };
  return jit(
    ({ grid, gridSize, u32 }: typeof captures) =>
      (words: Vec<Bits>) => {
        for (let i = grid(1); i < words.length; i += gridSize(1)) words[i] = u32(i) as Bits;
      },
    { captures, name: 'places' },
  ) as never;
}

/** Copies elements. */
export type CopyElements = Kernel<[from: Vec<Bits>, to: Vec<Bits>]>;

export function copyOf(jit: Jit): CopyElements {
  const captures = { ...SORT_WORDS };
  return jit(
    ({ grid, gridSize }: typeof captures) =>
      (from: Vec<Bits>, to: Vec<Bits>) => {
        for (let i = grid(1); i < to.length; i += gridSize(1)) to[i] = from[i] as Bits;
      },
    { captures, name: 'copyElements' },
  ) as never;
}

/** `to[i] = from[places[i]]`. */
export type Gather = Kernel<[from: Vec<Bits>, places: Vec<number>, to: Vec<Bits>]>;

export function gatherOf(jit: Jit): Gather {
  const captures = { ...SORT_WORDS };
  return jit(
    ({ grid, gridSize }: typeof captures) =>
      (from: Vec<Bits>, places: Vec<number>, to: Vec<Bits>) => {
        for (let i = grid(1); i < to.length; i += gridSize(1)) to[i] = from[places[i] as number] as Bits;
      },
    { captures, name: 'gather' },
  ) as never;
}
