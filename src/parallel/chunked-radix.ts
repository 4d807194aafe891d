/**
 * One pass of a radix sort where a processor's threads share the work: each takes a stretch of the keys, counts its digits, and moves its keys one after another to
 * where they go. Stretches have no part in each other, so that blocks may run in any order.
 */
import { u32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import type { Bits, RadixKeys } from './radix-keys.ts';
import { SORT_WORDS } from './sort-words.ts';

/** What a pass does beside moving keys. */
export interface ChunkPass {
  /** Bits of the digit. */
  readonly bits: number;
  /** Whether keys come as elements, and whether they go as elements: between passes they are kept as what orders them. */
  readonly first: boolean;
  readonly last: boolean;
  /** What goes along: nothing, values, or in the first pass the places of the keys. */
  readonly along: 'nothing' | 'values' | 'places';
}

/** Counts by digit: `counts[digit * stretches + stretch]`. One thread a block, a block a stretch. */
export type CountStretch = Kernel<[keys: Vec<Bits>, counts: Vec<number>, each: number, shift: number]>;

export function countStretchOf(jit: Jit, { encode, digit }: RadixKeys, { bits, first }: ChunkPass): CountStretch {
  const captures = { ...SORT_WORDS, encode, digitOf: digit, first, digits: 2 ** bits, u32 };
  return jit(
    ({ blockIdx, gridDim, shared, encode, digitOf, first, digits, u32 }: typeof captures) =>
      (keys: Vec<Bits>, counts: Vec<number>, each: number, shift: number) => {
        const mine = shared<number>(digits, u32);
        const from = blockIdx.x * each;
        const to = Math.min(keys.length, from + each);
        for (let d = 0; d < digits; d++) mine[d] = u32(0);
        for (let i = from; i < to; i++) {
          const key = first ? encode(keys[i] as Bits) : (keys[i] as Bits);
          const digit = digitOf(key, shift) & (digits - 1);
          mine[digit] = (mine[digit] as number) + 1;
        }
        for (let d = 0; d < digits; d++) counts[d * gridDim.x + blockIdx.x] = mine[d] as number;
      },
    { captures, name: 'countStretch', boundsCheck: false },
  ) as never;
}

/** Makes of counts where each digit of each stretch begins. One thread. */
export type BeginStretches = Kernel<[counts: Vec<number>]>;

export function beginStretchesOf(jit: Jit): BeginStretches {
  const captures = { u32 };
  return jit(
    ({ u32 }: typeof captures) =>
      (counts: Vec<number>) => {
        let sum = u32(0);
        for (let k = 0; k < counts.length; k++) {
          const own = counts[k] as number;
          counts[k] = sum;
          sum += own;
        }
      },
    { captures, name: 'beginStretches', boundsCheck: false },
  );
}

/** Moves keys, and what goes along. */
export type MoveStretch = Kernel<
  [
    keys: Vec<Bits>,
    toKeys: Vec<Bits>,
    values: Vec<Bits>,
    toValues: Vec<Bits>,
    begins: Vec<number>,
    each: number,
    shift: number,
  ]
>;

export function moveStretchOf(jit: Jit, keysOf: RadixKeys, { bits, first, last, along }: ChunkPass): MoveStretch {
  const { encode, decode, digit } = keysOf;
  const captures = {
    ...SORT_WORDS,
    ...{ encode, decode, digitOf: digit, first, last, along, digits: 2 ** bits, u32 },
  };
  return jit(
    (words: typeof captures) => {
      const { blockIdx, gridDim, shared, encode, decode, digitOf, first, last, along, digits, u32 } = words;
      return (
        keys: Vec<Bits>,
        toKeys: Vec<Bits>,
        values: Vec<Bits>,
        toValues: Vec<Bits>,
        begins: Vec<number>,
        each: number,
        shift: number,
      ) => {
        const next = shared<number>(digits, u32);
        const from = blockIdx.x * each;
        const to = Math.min(keys.length, from + each);
        for (let d = 0; d < digits; d++) next[d] = begins[d * gridDim.x + blockIdx.x] as number;
        for (let i = from; i < to; i++) {
          const key = first ? encode(keys[i] as Bits) : (keys[i] as Bits);
          const digit = digitOf(key, shift) & (digits - 1);
          const at = next[digit] as number;
          next[digit] = at + 1;
          toKeys[at] = last ? decode(key) : key;
          if (along === 'values') toValues[at] = values[i] as Bits;
          if (along === 'places') toValues[at] = u32(i) as Bits;
        }
      };
    },
    { captures, name: 'moveStretch', boundsCheck: false },
  ) as never;
}
