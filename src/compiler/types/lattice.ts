/**
 * The types that inference works with, how two of them join, and which conversions happen without being asked for.
 *
 * Besides the machine types there are adaptive integers (`int` of 32 bits, `idx` of the specialisation's index width), which adopt
 * the type of whatever they meet, and polymorphic classes for values without a type of their own: `L` integer literals, `A`
 * numbers that could be either (arguments), `F` inherently fractional ones (2.5, a quotient of integers, Math.sqrt of an
 * integer), and among those `S`, fractions of data of 8 and 16 bits, which are f32 unless they meet f64; `B` is a bigint literal or argument,
 * polymorphic between i64 and u64. kernel-semantics: "Types".
 *
 * An index that meets data of 32 bits or fewer is a blend of both: typed as the data (`i32+` as i32), and as wide as an index, so that
 * `i + offsets[k]` reaches every element. Bit operations and stores cut it to 32 bits, as JavaScript does with any number.
 */
import { rowOf } from '../../dtype/index.ts';
import type { ElemType, ValueType } from '../ir/ops.ts';

export type Machine = ValueType;
/** Floats of 16 bits: kept as the f32 that they are, and rounded by every operation. */
export type Half = 'f16' | 'bf16';
export type AdaptiveInteger = 'int' | 'idx';
export type Polymorphic = 'L' | 'A' | 'F' | 'S' | 'B';

/** What an index has gone into besides data of up to 32 bits. */
export type Blend = 'i32+' | 'u32+' | 's8+' | 'u8+';

/** `s8`/`u8` stand for i8…i16 and u8…u16 data: i32 in expressions, but joining with fractions as `S` and with u32 by sign. */
export type Type = Machine | Half | AdaptiveInteger | Polymorphic | Blend | 's8' | 'u8';

const BLENDS: Readonly<Record<'i32' | 'u32' | 's8' | 'u8', Blend>> = { i32: 'i32+', u32: 'u32+', s8: 's8+', u8: 'u8+' };

export function isBlend(t: Type): t is Blend {
  return t === 'i32+' || t === 'u32+' || t === 's8+' || t === 'u8+';
}

/** The type of the data in a blend, and any other type as it is: what the rules of types go by, whatever the width. */
export function plain(t: Type): Exclude<Type, Blend> {
  return isBlend(t) ? (t.slice(0, -1) as keyof typeof BLENDS) : t;
}

/** Data of fewer bits as the i32 that it is in expressions. */
export function widened(t: Type): Type {
  const data = plain(t);
  return data === 's8' || data === 'u8' ? (isBlend(t) ? 'i32+' : 'i32') : t;
}

export function isPolymorphic(t: Type): t is Polymorphic {
  return t === 'L' || t === 'A' || t === 'B' || isFractional(t);
}

/** Fractional by nature, and without a type so far. */
export function isFractional(t: Type): t is 'F' | 'S' {
  return t === 'F' || t === 'S';
}

export function isAdaptive(t: Type): t is AdaptiveInteger {
  return t === 'int' || t === 'idx';
}

export function isFloatType(t: Type): boolean {
  return t === 'f32' || t === 'f64' || isFractional(t) || isHalf(t);
}

export function isHalf(t: Type): t is Half {
  return t === 'f16' || t === 'bf16';
}

/** Integers of any kind, polymorphic literals included. */
export function isIntegerType(t: Type): boolean {
  return (
    isBlend(t) ||
    t === 'i32' ||
    t === 'u32' ||
    t === 'i64' ||
    t === 'u64' ||
    t === 's8' ||
    t === 'u8' ||
    t === 'int' ||
    t === 'idx' ||
    t === 'L' ||
    t === 'B'
  );
}

export function isWide(t: Type): boolean {
  return t === 'i64' || t === 'u64' || t === 'B';
}

/** The type of a value loaded from an element. */
export function typeOfElem(elem: ElemType): Type {
  if (elem === 'f16' || elem === 'bf16') return elem;
  const { kind, bytes, value } = rowOf(elem);
  return bytes > 2 || value !== 'i32' ? value : kind === 'i' ? 's8' : 'u8';
}

const RANK: Readonly<Record<Exclude<Type, Blend>, number>> = {
  bool: 0,
  L: 1,
  int: 2,
  idx: 3,
  A: 4,
  s8: 5,
  u8: 5,
  u32: 6,
  i32: 7,
  B: 8,
  i64: 9,
  u64: 9,
  F: 10,
  S: 11,
  f16: 12,
  bf16: 13,
  f32: 14,
  f64: 15,
};

/**
 * The join of two types, or undefined where the rules refuse to mix them (i64 with u64, 64-bit integers with floats, …). That of i32 and u32 is
 * i32, as JavaScript's bit operations give it; what has to know a sign asks `mixesSigns` and `signs.ts` besides.
 */
export function join(a: Type, b: Type): Type | undefined {
  if (a === b) return a;
  const lo = plain(a);
  const hi = plain(b);
  const t = lo === hi ? lo : joinPlain(lo, hi);
  const hasIndex = lo !== a || hi !== b || a === 'idx' || b === 'idx';
  return hasIndex && (t === 'i32' || t === 'u32' || t === 's8' || t === 'u8') ? BLENDS[t] : t;
}

function joinPlain(a: Exclude<Type, Blend>, b: Exclude<Type, Blend>): Exclude<Type, Blend> | undefined {
  if (RANK[a] > RANK[b]) return joinPlain(b, a);
  const [lo, hi] = [a, b];
  // A truth value counts as 0 or 1, as in JavaScript.
  if (lo === 'bool') return hi === 'L' ? 'int' : isWide(hi) ? undefined : hi;
  switch (hi) {
    case 'u8':
    case 's8':
      return lo === 's8' || lo === 'u8' ? 'i32' : hi;
    case 'i32':
      return hi;
    case 'u32':
      return lo === 's8' ? 'i32' : hi;
    case 'B':
      // A number and a bigint do not mix in JavaScript; an integer literal cannot stand beside a bigint either.
      return lo === 'L' || lo === 'int' || lo === 'idx' ? hi : lo === 'A' ? hi : undefined;
    case 'i64':
      return lo === 'u64' ? undefined : hi;
    case 'u64':
      return lo === 'i64' || lo === 'i32' || lo === 's8' ? undefined : hi;
    case 'F':
      if (lo === 's8' || lo === 'u8') return 'S';
      return isWide(lo) ? undefined : hi;
    case 'S':
      return isWide(lo) ? undefined : hi;
    case 'f16':
    case 'bf16':
      if (isWide(lo)) return undefined;
      // Only what has no type of its own becomes as narrow: an integer, or a float of the other format, need not fit.
      return isPolymorphic(lo) && lo !== 'S' ? hi : 'f32';
    case 'f32':
    case 'f64':
      return isWide(lo) ? undefined : hi;
    default:
      return hi;
  }
}

/** Whether one is signed data of up to 32 bits and the other u32. */
export function mixesSigns(a: Type, b: Type): boolean {
  const isSigned = (t: Type): boolean => plain(t) === 'i32' || plain(t) === 's8';
  return (plain(a) === 'u32' && isSigned(b)) || (plain(b) === 'u32' && isSigned(a));
}

/** As `join`, with something usable where there is none: the lowering pass reports the conflict at its place. */
export function joinOr(a: Type | undefined, b: Type): Type {
  if (a === undefined) return b;
  return join(a, b) ?? (RANK[plain(a)] >= RANK[plain(b)] ? a : b);
}

/** The machine type of a settled type. */
export function machine(t: Type, indexBits: 32 | 64, defaultFloat: 'f32' | 'f64'): Machine {
  switch (t) {
    case 'int':
    case 's8':
    case 'u8':
    case 'L':
      return 'i32';
    case 'idx':
    case 'i32+':
    case 's8+':
    case 'u8+':
      return indexBits === 64 ? 'i64' : 'i32';
    case 'u32+':
      return indexBits === 64 ? 'i64' : 'u32';
    case 'A':
    case 'F':
      return defaultFloat;
    case 'B':
      return 'i64';
    case 'S':
    case 'f16':
    case 'bf16':
      return 'f32';
    default:
      return t;
  }
}

/** How a type is called in messages. */
export function nameOf(type: Type): string {
  const t = plain(type);
  switch (t) {
    case 'int':
    case 's8':
    case 'u8':
      return 'i32';
    case 'idx':
      return 'index';
    case 'L':
      return 'integer literal';
    case 'A':
      return 'number';
    case 'F':
    case 'S':
      return 'fractional number';
    case 'B':
      return 'bigint';
    default:
      return t;
  }
}
