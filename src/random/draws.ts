/**
 * The kernels that fill arrays with what a generator gives next, in the kernel language.
 *
 * A generator is a key of Philox4x64-10 and a state in device memory, so that what is drawn on a stream comes after what was drawn there before, in a
 * graph as well. Its words are those of NumPy's `Philox`: block b of four is that of counter b + 1. The state is `[next word, held, holds]`: of a word of
 * which the lower half was drawn as 32 bits, the upper half is held, and drawn next.
 */

import { deviceFunction } from '../compiler/intrinsics.ts';
import { f32, f64, i32, u32, u64 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS, type Words } from '../kernel/words.ts';
import { mulHigh, type Philox64, philox4x64 } from './counters.ts';

/** A value of whatever type. */
export type Any = never;

/** What the kernels are written with. */
export interface RandomWords extends Words {
  readonly philox: Philox64;
  readonly mulHigh: typeof mulHigh;
  readonly f32: typeof f32;
  readonly f64: typeof f64;
  readonly i32: typeof i32;
  readonly u32: typeof u32;
  readonly u64: typeof u64;
  readonly [name: string]: unknown;
}

export const RANDOM_WORDS: RandomWords = /* @__PURE__ */ Object.freeze({
  ...WORDS,
  philox: philox4x64,
  mulHigh,
  f32,
  f64,
  i32,
  u32,
  u64,
});

/** Fills an array; `p` and `q` are the distribution's. */
export type Fill = Kernel<[state: Vec<bigint>, out: Vec<Any>, k0: bigint, k1: bigint, p: Any, q: Any]>;

/** From a word to a value. */
export type FromWord = (word: bigint, p: number, q: number) => number | bigint;
export type FromHalf = (half: number, p: number, q: number) => number;

/** A value for each word of 64 bits; a thread makes a block of four. */
export function fillByWords(jit: Jit, map: FromWord, name: string): Fill {
  const captures = { ...RANDOM_WORDS, map };
  return jit(
    ({ grid, philox, i32, u64, map }: typeof captures) =>
      (state: Vec<bigint>, out: Vec<Any>, k0: bigint, k1: bigint, p: Any, q: Any) => {
        const t = grid(1);
        const first = state[0] as bigint;
        const [a, b, c, d] = philox([k0, k1], [(first >> 2n) + u64(t) + 1n, 0n, 0n, 0n]);
        const at = 4 * t - i32(first & 3n);
        const end = out.length;
        if (at >= 0 && at < end) out[at] = map(a, p, q) as Any;
        if (at + 1 >= 0 && at + 1 < end) out[at + 1] = map(b, p, q) as Any;
        if (at + 2 >= 0 && at + 2 < end) out[at + 2] = map(c, p, q) as Any;
        if (at + 3 >= 0 && at + 3 < end) out[at + 3] = map(d, p, q) as Any;
      },
    { captures, name, contract: false },
  ) as unknown as Fill;
}

/** A value for each half of 32 bits, the lower one first. */
export function fillByHalves(jit: Jit, map: FromHalf, name: string): Fill {
  const captures = { ...RANDOM_WORDS, map };
  return jit(
    ({ grid, philox, i32, u32, u64, map }: typeof captures) =>
      (state: Vec<bigint>, out: Vec<Any>, k0: bigint, k1: bigint, p: Any, q: Any) => {
        const t = grid(1);
        const first = state[0] as bigint;
        const held = i32(state[2] as bigint);
        const [a, b, c, d] = philox([k0, k1], [(first >> 2n) + u64(t) + 1n, 0n, 0n, 0n]);
        const at = 8 * t - 2 * i32(first & 3n) + held;
        if (t === 0 && held === 1 && out.length > 0) out[0] = map(u32(state[1] as bigint), p, q) as Any;
        for (let e = 0; e < 8; e++) {
          const word = e < 2 ? a : e < 4 ? b : e < 6 ? c : d;
          const i = at + e;
          if (i >= held && i < out.length) out[i] = map(e % 2 === 0 ? u32(word) : u32(word >> 32n), p, q) as Any;
        }
      },
    { captures, name, contract: false },
  ) as unknown as Fill;
}

/** Word number `index` of a generator. */
export const wordAt: (k0: bigint, k1: bigint, index: bigint) => bigint = /* @__PURE__ */ deviceFunction(
  ({ philox, i32 }) =>
    (k0: bigint, k1: bigint, index: bigint) => {
      const [a, b, c, d] = philox([k0, k1], [(index >> 2n) + 1n, 0n, 0n, 0n]);
      const lane = i32(index & 3n);
      return lane === 0 ? a : lane === 1 ? b : lane === 2 ? c : d;
    },
  { philox: philox4x64, i32 },
);

/** Notes that so many halves were drawn. */
export const drawHalves: (state: Vec<bigint>, count: bigint, k0: bigint, k1: bigint) => void =
  /* @__PURE__ */ deviceFunction(
    ({ wordAt }) =>
      (state: Vec<bigint>, count: bigint, k0: bigint, k1: bigint) => {
        const fresh = count - (state[2] as bigint);
        if (count > 0n) {
          const first = state[0] as bigint;
          const words = (fresh + 1n) >> 1n;
          state[0] = first + words;
          state[2] = fresh & 1n;
          if ((fresh & 1n) === 1n) state[1] = wordAt(k0, k1, first + words - 1n) >> 32n;
        }
      },
    { wordAt },
  );

/** Advances a generator past what a fill has drawn. */
export type Advance = Kernel<[state: Vec<bigint>, count: bigint, k0: bigint, k1: bigint]>;

export function advanceWords(jit: Jit): Advance {
  return jit(
    ({ grid }: typeof RANDOM_WORDS) =>
      (state: Vec<bigint>, count: bigint, _k0: bigint, _k1: bigint) => {
        if (grid(1) === 0) state[0] = (state[0] as bigint) + count;
      },
    { captures: RANDOM_WORDS, name: 'advance' },
  ) as unknown as Advance;
}

export function advanceHalves(jit: Jit): Advance {
  const captures = { ...RANDOM_WORDS, drawHalves };
  return jit(
    ({ grid, drawHalves }: typeof captures) =>
      (state: Vec<bigint>, count: bigint, k0: bigint, k1: bigint) => {
        if (grid(1) === 0) drawHalves(state, count, k0, k1);
      },
    { captures, name: 'advance' },
  ) as unknown as Advance;
}
