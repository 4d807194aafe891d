/**
 * Seeded random numbers, and values of every type with the corners where arithmetic breaks.
 */
import type { Elem, Val } from './program.ts';

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
  1e-40,
  1e-45,
  2 ** 24,
  2 ** 24 + 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53,
  65504,
  65520,
  6e-8,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
];

/** A random value of an element type. */
export function randomValue(r: Random, elem: Elem): Val {
  switch (elem) {
    case 'bool':
      return r.chance(0.5);
    case 'f64':
      return r.chance(0.3)
        ? r.pick(FLOATS)
        : r.chance(0.5)
          ? r.below(41) - 20
          : (r.unit() - 0.5) * 10 ** (r.below(12) - 3);
    case 'f32':
      return Math.fround(randomValue(r, 'f64') as number);
    case 'f16': {
      const v = r.chance(0.5) ? r.below(41) - 20 : (r.unit() - 0.5) * 100;
      return Math.round(v * 16) / 16;
    }
    case 'i64':
    case 'u64': {
      const wide = (BigInt(r.bits()) << 32n) | BigInt(r.bits());
      const v = r.chance(0.2)
        ? r.pick([0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, 7n])
        : r.chance(0.4)
          ? wide
          : BigInt(r.below(200) - 100);
      return elem === 'i64' ? BigInt.asIntN(64, v) : BigInt.asUintN(64, v);
    }
    default: {
      const v = r.chance(0.2)
        ? r.pick([0, 1, -1, 0x7fffffff, -0x80000000, 255, 65535, 31, 32])
        : r.chance(0.4)
          ? r.bits() | 0
          : r.below(100) - 50;
      switch (elem) {
        case 'i8':
          return (v << 24) >> 24;
        case 'u8':
          return v & 255;
        case 'i16':
          return (v << 16) >> 16;
        case 'u16':
          return v & 65535;
        case 'u32':
          return v >>> 0;
        default:
          return v | 0;
      }
    }
  }
}
