/**
 * From random words to numbers of a distribution, in the kernel language.
 */
import { deviceFunction, intrinsic } from '../compiler/intrinsics.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { type Any, type FromHalf, type FromWord, RANDOM_WORDS, type RandomWords } from './draws.ts';

/** From `p` to below `p + q`: the 53 upper bits. */
export const uniform64: FromWord = /* @__PURE__ */ deviceFunction(
  ({ f64 }: RandomWords) =>
    (word, p, q) =>
      p + q * (f64(word >> 11n) * 2 ** -53),
  RANDOM_WORDS,
);

/** The 24 upper bits. */
export const uniform32: FromHalf = /* @__PURE__ */ deviceFunction(
  ({ f32 }: RandomWords) =>
    (half, p, q) =>
      p + q * (f32(half >>> 8) * f32(2 ** -24)),
  RANDOM_WORDS,
);

export const unit64: FromWord = /* @__PURE__ */ deviceFunction(
  ({ f64 }: RandomWords) =>
    (word) =>
      f64(word >> 11n) * 2 ** -53,
  RANDOM_WORDS,
);

export const unit32: FromHalf = /* @__PURE__ */ deviceFunction(
  ({ f32 }: RandomWords) =>
    (half) =>
      f32(half >>> 8) * f32(2 ** -24),
  RANDOM_WORDS,
);

/** The word, `p` further on. */
export const raw: FromWord = (word, p) => word + (p as unknown as bigint);

/** By the inverse of the distribution, of mean `p`. */
export const exponential64: FromWord = /* @__PURE__ */ deviceFunction(
  ({ f64 }: RandomWords) =>
    (word, p) =>
      -p * Math.log1p(-(f64(word >> 11n) * 2 ** -53)),
  RANDOM_WORDS,
);

export const exponential32: FromHalf = /* @__PURE__ */ deviceFunction(
  ({ f32 }: RandomWords) =>
    (half, p) =>
      -p * Math.log1p(-(f32(half >>> 8) * f32(2 ** -24))),
  RANDOM_WORDS,
);

/**
 * The quantile of the standard normal distribution below the median whose probability is `r`, up to 0.5. Wichura, "Algorithm AS 241", 1988: to 16 digits.
 * In whatever float type `r` is of.
 */
const quantile = (r: number): number => {
  const q = 0.5 - r;
  if (q <= 0.425) {
    const s = 0.180625 - q * q;
    const above =
      ((((((2509.0809287301227 * s + 33430.57558358813) * s + 67265.7709270087) * s + 45921.95393154987) * s +
        13731.69376550946) *
        s +
        1971.5909503065513) *
        s +
        133.14166789178438) *
        s +
      3.3871328727963665;
    const below =
      ((((((5226.495278852854 * s + 28729.085735721943) * s + 39307.89580009271) * s + 21213.794301586597) * s +
        5394.196021424751) *
        s +
        687.1870074920579) *
        s +
        42.31333070160091) *
        s +
      1;
    return (-q * above) / below;
  }
  const root = Math.sqrt(-Math.log(r));
  if (root <= 5) {
    const s = root - 1.6;
    const above =
      ((((((0.0007745450142783414 * s + 0.022723844989269184) * s + 0.2417807251774506) * s + 1.2704582524523684) * s +
        3.6478483247632045) *
        s +
        5.769497221460691) *
        s +
        4.630337846156546) *
        s +
      1.4234371107496835;
    const below =
      ((((((1.0507500716444169e-9 * s + 0.0005475938084995345) * s + 0.015198666563616457) * s + 0.14810397642748008) *
        s +
        0.6897673349851) *
        s +
        1.6763848301838038) *
        s +
        2.053191626637759) *
        s +
      1;
    return -above / below;
  }
  const s = root - 5;
  const above =
    ((((((2.0103343992922881e-7 * s + 2.7115555687434876e-5) * s + 0.0012426609473880784) * s + 0.026532189526576124) *
      s +
      0.29656057182850487) *
      s +
      1.7848265399172913) *
      s +
      5.463784911164114) *
      s +
    6.657904643501103;
  const below =
    ((((((2.0442631033899397e-15 * s + 1.421511758316446e-7) * s + 1.8463183175100548e-5) * s + 0.0007868691311456133) *
      s +
      0.014875361290850615) *
      s +
      0.1369298809227358) *
      s +
      0.599832206555888) *
      s +
    1;
  return -above / below;
};

/** Of mean `p` and standard deviation `q`, by the inverse of the distribution: the top bit is the sign, 52 bits a probability. */
export const normal64: FromWord = /* @__PURE__ */ deviceFunction(
  ({ f64, quantile, u64 }: RandomWords & { readonly quantile: (r: number) => number }) =>
    (word, p, q) => {
      const z = quantile((f64((word >> 11n) & u64(0xfffffffffffffn)) + 0.5) * 2 ** -53);
      return p + q * (word >> 63n === 0n ? z : -z);
    },
  { ...RANDOM_WORDS, quantile },
);

/** The top bit is the sign, 31 bits a probability. */
export const normal32: FromHalf = /* @__PURE__ */ deviceFunction(
  ({ f32, quantile }: RandomWords & { readonly quantile: (r: number) => number }) =>
    (half, p, q) => {
      const z = quantile(Math.min((f32(half & 0x7fffffff) + f32(0.5)) * f32(2 ** -32), f32(0.5)));
      return p + q * (half >>> 31 === 0 ? z : -z);
    },
  { ...RANDOM_WORDS, quantile },
);

/** Fills an array with counts of events of which `mean` are expected. */
export type Poisson = Kernel<[state: Vec<bigint>, out: Vec<Any>, k0: bigint, k1: bigint, mean: number]>;

/**
 * How many words one number takes is not known before: each element has counters of its own, beside those of the words. Small means by adding up
 * probabilities, large ones by Hörmann's transformed rejection with squeeze, "The transformed rejection method for generating Poisson random variables", 1993.
 */
export function poissonOf(jit: Jit, cast: (count: number) => Any): Poisson {
  const captures = { ...RANDOM_WORDS, lgamma: intrinsic<(x: number) => number>('lgamma'), cast };
  return jit(
    ({ grid, philox, u64, f64, lgamma, cast }: typeof captures) =>
      (state: Vec<bigint>, out: Vec<Any>, k0: bigint, k1: bigint, mean: number) => {
        const i = grid(1);
        if (i >= out.length) return;
        const call = state[0] as bigint;
        let [u, v] = [f64(0), f64(0)];
        let attempt = u64(0);
        const draw = () => {
          const [a, b] = philox([k0, k1], [attempt, u64(i), call, 1n]);
          attempt += 1n;
          u = f64(a >> 11n) * 2 ** -53;
          v = f64(b >> 11n) * 2 ** -53;
        };
        let count = f64(0);
        if (mean < 10) {
          draw();
          let probability = Math.exp(-mean);
          let sum = probability;
          while (u > sum && count < 1000) {
            count += 1;
            probability *= mean / count;
            sum += probability;
          }
        } else {
          const b = 0.931 + 2.53 * Math.sqrt(mean);
          const a = -0.059 + 0.02483 * b;
          const inverse = 1.1239 + 1.1328 / (b - 3.4);
          const most = 0.9277 - 3.6224 / (b - 2);
          let found = false;
          while (!found) {
            draw();
            const x = u - 0.5;
            const s = 0.5 - Math.abs(x);
            count = f64(Math.floor(((2 * a) / s + b) * x + mean + 0.43));
            if (s >= 0.07 && v <= most) found = true;
            else if (count >= 0 && !(s < 0.013 && v > s)) {
              const left = Math.log(v) + Math.log(inverse) - Math.log(a / (s * s) + b);
              found = left <= -mean + count * Math.log(mean) - lgamma(count + 1);
            }
          }
        }
        out[i] = cast(count);
      },
    { captures, name: 'poisson' },
  ) as unknown as Poisson;
}

/** Fills an array with the first numbers of a permutation of 0, 1, … `size` - 1; `keys` are 16 random words. */
export type Permute = Kernel<[keys: Vec<bigint>, out: Vec<Any>, size: number, bits: number]>;

/** Rounds of the network. */
const ROUNDS = 16;

/**
 * A Feistel network over the numbers of `2 * bits` bits, with a keyed hash as its function: one to one whatever that is. What falls outside is put in
 * again until it falls inside, which is one to one as well.
 */
export function permuteOf(jit: Jit, cast: (index: number) => Any): Permute {
  const captures = { ...RANDOM_WORDS, cast, rounds: ROUNDS };
  return jit(
    ({ grid, u32, u64, cast, rounds }: typeof captures) =>
      (keys: Vec<bigint>, out: Vec<Any>, size: number, bits: number) => {
        const i = grid(1);
        if (i >= out.length) return;
        const mask = (u32(1) << u32(bits)) - u32(1);
        let at = u64(i);
        do {
          let [left, right] = [u32(at >> u64(bits)), (u32(at) & mask) >>> 0];
          for (let round = 0; round < rounds; round++) {
            const key = keys[round] as bigint;
            let hash = (right ^ u32(key)) >>> 0;
            hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 0;
            hash = (Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) ^ u32(key >> 32n)) >>> 0;
            hash = Math.imul(hash ^ (hash >>> 16), 0x9e3779b1) >>> 0;
            const mixed = ((left ^ hash ^ (hash >>> 15)) & mask) >>> 0;
            [left, right] = [right, mixed];
          }
          at = (u64(left) << u64(bits)) | u64(right);
        } while (at >= u64(size));
        out[i] = cast(Number(at));
      },
    { captures, name: 'permutation' },
  ) as unknown as Permute;
}

/** The words of a permutation. */
export const PERMUTATION_WORDS: number = ROUNDS;

/** Elements by their numbers. */
export type Gather = Kernel<[x: Vec<Any>, at: Vec<number>, out: Vec<Any>]>;

export function gatherOf(jit: Jit): Gather {
  return jit(
    ({ grid }: RandomWords) =>
      (x: Vec<Any>, at: Vec<number>, out: Vec<Any>) => {
        const i = grid(1);
        if (i < out.length) out[i] = x[at[i] as number] as Any;
      },
    { captures: RANDOM_WORDS, name: 'gather' },
  ) as unknown as Gather;
}
