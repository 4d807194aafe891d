/**
 * Integers of a range, evenly distributed, in the kernel language: by Lemire's method, as NumPy's `Generator.integers` draws them, number for number.
 *
 * A candidate is a word of 8 to 64 bits, times the size of the range: the upper half is the number, and where the lower half is below a threshold the
 * candidate is left out. What stays keeps its order: chunks count what they keep, the counts are added up, and each chunk writes its own. As many
 * candidates are looked at as are enough but for once in 10¹⁵ times; the last kernel goes on by itself where they are not.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { type Any, drawHalves, RANDOM_WORDS, wordAt } from './draws.ts';

/** Bits of a candidate. */
export type Bits = 8 | 16 | 32 | 64;

/** Threads of a block. */
export const CHUNK_THREADS = 256;

/** Candidates that a thread looks at, those of a half that is held apart. */
export function candidatesOf(bits: Bits): number {
  return bits === 64 ? 4 : 8 * (32 / bits);
}

/** The range: its size, the threshold and the least number, of which only the bits count. */
type Range = [excl: bigint, threshold: bigint, low: bigint];

/** Draws where no candidate is left out. */
export type Direct = Kernel<[state: Vec<bigint>, out: Vec<Any>, k0: bigint, k1: bigint, ...range: Range]>;
/** Counts what each block keeps of `most` candidates. */
export type Count = Kernel<
  [state: Vec<bigint>, counts: Vec<number>, k0: bigint, k1: bigint, ...range: Range, most: number]
>;
/** Replaces counts by their sums up to each, and `used` by 0 and all of them. */
export type Sum = Kernel<[counts: Vec<number>, used: Vec<bigint>]>;
/** Writes what each block keeps; `used[0]` becomes the number of candidates up to the last one needed. */
export type Write = Kernel<
  [
    state: Vec<bigint>,
    out: Vec<Any>,
    counts: Vec<number>,
    used: Vec<bigint>,
    k0: bigint,
    k1: bigint,
    ...range: Range,
    most: number,
  ]
>;
/** Draws what is missing, and notes what was drawn. */
export type Finish = Kernel<
  [state: Vec<bigint>, out: Vec<Any>, used: Vec<bigint>, k0: bigint, k1: bigint, ...range: Range, most: number]
>;

/** The kernels for one width and dtype. */
export interface Bounded {
  readonly direct: Direct;
  readonly count: Count;
  readonly sum: Sum;
  readonly write: Write;
  readonly finish: Finish;
}

/** What is left of a candidate, and the number that it is. */
const judge = /* @__PURE__ */ deviceFunction(
  ({ mulHigh, u64 }: typeof RANDOM_WORDS) =>
    (bits: number, candidate: bigint, excl: bigint): [bigint, bigint] => {
      const product = candidate * excl;
      if (bits === 64) return [product, mulHigh(candidate, excl)];
      return [product & ((u64(1) << u64(bits)) - 1n), product >> u64(bits)];
    },
  RANDOM_WORDS,
);

/**
 * Slot `s` of a thread: the number of the candidate, -1 where there is none, and its bits. Slots are in the order of candidates. The words are the four
 * of the thread's block.
 */
const slotOf = /* @__PURE__ */ deviceFunction(
  ({ u32, u64, i32 }: typeof RANDOM_WORDS) =>
    (
      bits: number,
      s: number,
      t: number,
      [first, held, holds]: readonly [bigint, bigint, bigint],
      [a, b, c, d]: readonly [bigint, bigint, bigint, bigint],
    ): [number, bigint] => {
      const skip = i32(first & 3n);
      if (bits === 64) {
        const at = 4 * t - skip + s;
        return [at < 0 ? -1 : at, s === 0 ? a : s === 1 ? b : s === 2 ? c : d];
      }
      const parts = 32 / bits;
      const half = ((s / parts) | 0) - 1;
      const part = s % parts;
      const has = i32(holds);
      const word = half < 2 ? a : half < 4 ? b : half < 6 ? c : d;
      const drawn = half < 0 ? u32(held) : half % 2 === 0 ? u32(word) : u32(word >> 32n);
      const draw = half < 0 ? 0 : 8 * t - 2 * skip + has + half;
      const valid = half < 0 ? t === 0 && has === 1 : draw >= has;
      const mask = bits === 32 ? u32(0xffffffff) : u32((1 << bits) - 1);
      return [valid ? draw * parts + part : -1, u64((drawn >>> (bits * part)) & mask)];
    },
  RANDOM_WORDS,
);

/** `cast` brings 64 bits to the dtype of the numbers, of whose bits the lower ones are taken. */
export function boundedOf(jit: Jit, bits: Bits, cast: (bits: bigint) => Any): Bounded {
  const slots = bits === 64 ? 4 : 9 * (32 / bits);
  const parts = bits === 64 ? 1 : 32 / bits;
  const captures = {
    ...RANDOM_WORDS,
    judge,
    slotOf,
    cast,
    bits,
    slots,
    parts,
    wordAt,
    drawHalves,
    threads: CHUNK_THREADS,
  };
  type Captures = typeof captures;
  const name = 'integers';

  const direct = jit(
    ({ grid, philox, u64, judge, slotOf, cast, bits, slots }: Captures) =>
      (
        state: Vec<bigint>,
        out: Vec<Any>,
        k0: bigint,
        k1: bigint,
        excl: bigint,
        _threshold: bigint,
        low: bigint,
      ): void => {
        const t = grid(1);
        const now: [bigint, bigint, bigint] = [state[0] as bigint, state[1] as bigint, state[2] as bigint];
        const words = philox([k0, k1], [(now[0] >> 2n) + u64(t) + 1n, 0n, 0n, 0n]);
        for (let s = 0; s < slots; s++) {
          const [at, candidate] = slotOf(bits, s, t, now, words);
          const [, value] = judge(bits, candidate, excl);
          if (at >= 0 && at < out.length) out[at] = cast(low + value);
        }
      },
    { captures, name },
  ) as unknown as Direct;

  const count = jit(
    (words: Captures) => {
      const { grid, philox, u64, judge, slotOf, bits, slots, shared, threadIdx, blockIdx, syncThreads, i32, threads } =
        words;
      return (
        state: Vec<bigint>,
        counts: Vec<number>,
        k0: bigint,
        k1: bigint,
        excl: bigint,
        threshold: bigint,
        _low: bigint,
        most: number,
      ): void => {
        const sums = shared<number>(threads, i32);
        const [t, local] = [grid(1), threadIdx.x];
        const now: [bigint, bigint, bigint] = [state[0] as bigint, state[1] as bigint, state[2] as bigint];
        const drawn = philox([k0, k1], [(now[0] >> 2n) + u64(t) + 1n, 0n, 0n, 0n]);
        let kept = i32(0);
        for (let s = 0; s < slots; s++) {
          const [at, candidate] = slotOf(bits, s, t, now, drawn);
          const [left] = judge(bits, candidate, excl);
          if (at >= 0 && at < most && left >= threshold) kept++;
        }
        sums[local] = kept;
        syncThreads();
        for (let half = threads >> 1; half > 0; half >>= 1) {
          if (local < half) sums[local] = (sums[local] as number) + (sums[local + half] as number);
          syncThreads();
        }
        if (local === 0) counts[blockIdx.x] = sums[0] as number;
      };
    },
    { captures, name },
  ) as unknown as Count;

  const sum = jit(
    ({ threadIdx, shared, syncThreads, u64, threads }: Captures) =>
      (counts: Vec<number>, used: Vec<bigint>): void => {
        const totals = shared<bigint>(threads, u64);
        const t = threadIdx.x;
        const each = Math.ceil(counts.length / threads);
        const from = t * each;
        const to = Math.min(from + each, counts.length);
        let own = u64(0);
        for (let i = from; i < to; i++) own += u64(counts[i] as number);
        totals[t] = own;
        syncThreads();
        for (let by = 1; by < threads; by <<= 1) {
          const before = t >= by ? (totals[t - by] as bigint) : u64(0);
          syncThreads();
          totals[t] = (totals[t] as bigint) + before;
          syncThreads();
        }
        let sum = (totals[t] as bigint) - own;
        for (let i = from; i < to; i++) {
          const here = u64(counts[i] as number);
          counts[i] = Number(sum) as never;
          sum += here;
        }
        if (t === 0) {
          used[0] = u64(0);
          used[1] = totals[threads - 1] as bigint;
        }
      },
    { captures, name },
  ) as unknown as Sum;

  const write = jit(
    (words: Captures) => {
      const { grid, philox, u64, judge, slotOf, bits, slots, shared, threadIdx, blockIdx, syncThreads, i32 } = words;
      const { cast, threads } = words;
      return (
        state: Vec<bigint>,
        out: Vec<Any>,
        counts: Vec<number>,
        used: Vec<bigint>,
        k0: bigint,
        k1: bigint,
        excl: bigint,
        threshold: bigint,
        low: bigint,
        most: number,
      ): void => {
        const sums = shared<number>(threads, i32);
        const [t, local] = [grid(1), threadIdx.x];
        const now: [bigint, bigint, bigint] = [state[0] as bigint, state[1] as bigint, state[2] as bigint];
        const drawn = philox([k0, k1], [(now[0] >> 2n) + u64(t) + 1n, 0n, 0n, 0n]);
        let kept = i32(0);
        for (let s = 0; s < slots; s++) {
          const [at, candidate] = slotOf(bits, s, t, now, drawn);
          const [left] = judge(bits, candidate, excl);
          if (at >= 0 && at < most && left >= threshold) kept++;
        }
        sums[local] = kept;
        syncThreads();
        for (let by = 1; by < threads; by <<= 1) {
          const before = local >= by ? (sums[local - by] as number) : i32(0);
          syncThreads();
          sums[local] = (sums[local] as number) + before;
          syncThreads();
        }
        let to = Math.floor(counts[blockIdx.x] as number) + (sums[local] as number) - kept;
        for (let s = 0; s < slots; s++) {
          const [at, candidate] = slotOf(bits, s, t, now, drawn);
          const [left, value] = judge(bits, candidate, excl);
          if (at >= 0 && at < most && left >= threshold) {
            if (to < out.length) out[to] = cast(low + value);
            if (to === out.length - 1) used[0] = u64(at + 1);
            to++;
          }
        }
      };
    },
    { captures, name },
  ) as unknown as Write;

  const finish = jit(
    (words: Captures) => {
      const { grid, u64, u32, i32, judge, bits, parts, cast, wordAt, drawHalves } = words;
      return (
        state: Vec<bigint>,
        out: Vec<Any>,
        used: Vec<bigint>,
        k0: bigint,
        k1: bigint,
        excl: bigint,
        threshold: bigint,
        low: bigint,
        most: number,
      ): void => {
        if (grid(1) > 0) return;
        let seen = used[0] as bigint;
        if ((used[1] as bigint) < u64(out.length)) {
          seen = u64(most);
          let to = Math.floor(Number(used[1] as bigint));
          while (to < out.length) {
            let candidate = u64(0);
            if (bits === 64) candidate = wordAt(k0, k1, (state[0] as bigint) + seen);
            else {
              const draw = seen / u64(parts);
              const half = 2n * (state[0] as bigint) + draw - (state[2] as bigint);
              const word = wordAt(k0, k1, half >> 1n);
              const drawn =
                draw < (state[2] as bigint)
                  ? u32(state[1] as bigint)
                  : (half & 1n) === 0n
                    ? u32(word)
                    : u32(word >> 32n);
              const part = i32(seen % u64(parts));
              candidate = u64((drawn >>> (bits * part)) & (bits === 32 ? u32(0xffffffff) : u32((1 << bits) - 1)));
            }
            const [left, value] = judge(bits, candidate, excl);
            if (left >= threshold) out[to++] = cast(low + value);
            seen++;
          }
        }
        if (bits === 64) state[0] = (state[0] as bigint) + seen;
        else drawHalves(state, (seen + u64(parts - 1)) / u64(parts), k0, k1);
      };
    },
    { captures, name },
  ) as unknown as Finish;

  return { direct, count, sum, write, finish };
}
