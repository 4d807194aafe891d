/**
 * Seeded random numbers, and values of every type with the corners where arithmetic breaks.
 */
import type { Elem, Val } from './program.ts';
import { roundTo, wrap } from './semantics.ts';

export class Random {
  private state: number;
  constructor(seed: number) {
    this.state = (seed ^ 0x9e3779b9) | 0;
    for (let k = 0; k < 4; k++) this.bits();
  }

  /** 32 random bits (mulberry32). */
  bits(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  }

  unit(): number {
    return this.bits() / 2 ** 32;
  }

  /** 0 … n - 1. */
  below(n: number): number {
    return Math.floor(this.unit() * n);
  }

  chance(p: number): boolean {
    return this.unit() < p;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** One of several, each with a weight. */
  weighted<T>(list: readonly (readonly [number, T])[]): T {
    let at = this.unit() * list.reduce((s, [w]) => s + w, 0);
    for (const [w, x] of list) {
      at -= w;
      if (at < 0) return x;
    }
    return (list[list.length - 1] as readonly [number, T])[1];
  }
}

const FLOATS = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  3,
  10,
  0.1,
  1e-3,
  1e10,
  -1e10,
  1e30,
  3e38,
  3.5e38,
  1e-40,
  1e-45,
  5e-324,
  1e308,
  2 ** 24,
  2 ** 24 + 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 31 - 1,
  2 ** 31 - 0.5,
  -(2 ** 31) - 0.5,
  2 ** 32 + 1.5,
  3e9,
  2 ** 63 + 2 ** 12,
  -(2 ** 83 + 2 ** 31),
  2 ** 84 + 2 ** 32,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  2 ** 64,
  65504,
  65519,
  65520,
  6e-8,
  6.1e-5,
  1.23e-4,
  1.7e-4,
  -2.3e-4,
  127.5,
  128,
  -129,
  255.9,
  32768,
  65535.5,
  0.49999999999999994,
  8388607.5,
  4503599627370495.5,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
];
const WORDS = [0, 1, -1, 2, 0x7fffffff, -0x80000000, 255, 128, 32768, 65535, 31, 32, 33, 63, 0x55555555];
const LONGS = [
  0n,
  1n,
  -1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 32n,
  2n ** 31n,
  2n ** 53n + 1n,
  7n,
  63n,
  64n,
  (1n << 62n) + (1n << 38n),
  (1n << 40n) + (1n << 16n) + 1n,
];

/** A random value of an element type. */
export function randomValue(r: Random, elem: Elem): Val {
  switch (elem) {
    case 'bool':
      return r.chance(0.5);
    case 'f64':
    case 'f32':
    case 'f16':
    case 'bf16':
    case 'f8e4m3':
    case 'f8e5m2': {
      const x = r.weighted<() => number>([
        [3, () => r.pick(FLOATS)],
        [3, () => r.below(41) - 20],
        [2, () => (r.below(400) - 200) / 8],
        [2, () => (r.unit() - 0.5) * 10 ** (r.below(14) - 3)],
      ])();
      return roundTo(elem, x);
    }
    case 'i64':
    case 'u64': {
      const wide = (BigInt(r.bits()) << 32n) | BigInt(r.bits());
      return wrap(
        elem,
        r.chance(0.2) ? r.pick(LONGS) : r.chance(0.4) ? wide >> BigInt(r.below(64)) : BigInt(r.below(200) - 100),
      );
    }
    default:
      return wrap(
        elem,
        BigInt(r.chance(0.2) ? r.pick(WORDS) : r.chance(0.4) ? (r.bits() | 0) >> r.below(32) : r.below(100) - 50),
      );
  }
}
