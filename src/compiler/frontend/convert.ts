/**
 * Conversions: which happen by themselves, which are errors with a fix-it, and how a literal becomes a constant of a type.
 */
import { integerRange, rowOf, SCALAR_TOKENS } from '../../dtype/index.ts';
import { type ElemType, type Expr, isFloat, isInt, type ValueType, widen } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import {
  isAdaptive,
  isBlend,
  isFloatType,
  isFractional,
  isIntegerType,
  isWide,
  nameOf,
  plain,
  type Type,
} from '../types/lattice.ts';
import { rangeRead } from '../types/parts.ts';
import type { TExpr } from '../types/tree.ts';
import { typeOf } from '../types/typing.ts';
import { fail } from './diagnostics.ts';
import { describe } from './positions.ts';

/** The source text of an expression, for fix-its. */
export function textOf(pos: Pos): string {
  const text = pos.assigns?.value ?? pos.source.text.slice(pos.start, pos.end);
  return text.length > 40 || text.includes('\n') ? 'x' : text;
}

/** An expression with a cast around it: of `a += b` it is what is assigned that needs one. */
function withCast(cast: (x: string) => string, pos: Pos): string {
  return `${pos.assigns === undefined ? '' : `${pos.assigns.target} = `}${cast(textOf(pos))}`;
}

/** How messages call what does not convert. */
export function described(from: Type): string {
  return isFractional(from) ? 'a fraction' : nameOf(from);
}

/** A literal as a constant of type `elem` (widened). `bits`: modulo 2³², so that 32 bits may be written with either sign. */
export function constant(value: number | bigint | boolean, elem: ElemType, pos: Pos, bits = false): Expr {
  const type = widen(elem);
  if (type === 'bool') return { op: 'const', type, value: Boolean(value) };
  if (typeof value === 'bigint') {
    if (type !== 'i64' && type !== 'u64') {
      return fail('K211', pos, `the bigint ${value}n does not mix with ${type}`, {
        help: `write ${value} without the n`,
      });
    }
    if (value < (type === 'i64' ? -(2n ** 63n) : 0n) || value >= (type === 'i64' ? 2n ** 63n : 2n ** 64n)) {
      if (!bits) return fail('K212', pos, `${value}n does not fit ${type}`);
      return { op: 'const', type, value: type === 'i64' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value) };
    }
    return { op: 'const', type, value };
  }
  const n = Number(value);
  if (isFloat(type)) {
    if (type === 'f32' && !Number.isFinite(Math.fround(n)) && Number.isFinite(n))
      return fail('K212', pos, `${n} does not fit ${elem}`, { help: 'use f64, or a smaller value' });
    return { op: 'const', type, value: SCALAR_TOKENS[elem](n) as number };
  }
  if (!Number.isInteger(n)) {
    return fail('K212', pos, `${n} is not an integer, but is used as ${elem}`, {
      help: `write i32(${n}) or Math.round(${n})`,
    });
  }
  if (type === 'i64' || type === 'u64') {
    if (type === 'u64' && n < 0 && !bits)
      return fail('K212', pos, `${n} does not fit u64`, { help: `write u64(${n}) to wrap` });
    return { op: 'const', type, value: type === 'u64' ? BigInt.asUintN(64, BigInt(n)) : BigInt(n) };
  }
  const [low, high] = integerRange(elem) ?? [-(2 ** 31), 2 ** 31 - 1];
  if (n < low || n > high) {
    if (!bits || !Number.isSafeInteger(n)) {
      return fail('K212', pos, `${written(n, pos)} does not fit ${elem} (${low} to ${high})`, {
        help: fixFor(n, elem, pos),
      });
    }
  }
  return { op: 'const', type, value: type === 'u32' ? n >>> 0 : n | 0 };
}

/** An integer literal in the narrowest type that holds it, to be cast from there. */
export function widenLiteral(n: number): Expr {
  if (n >= -(2 ** 31) && n < 2 ** 31) return { op: 'const', type: 'i32', value: n };
  return { op: 'const', type: 'i64', value: BigInt(n) };
}

/** A number as the author has written it: `0xedb88320`, of which a transpiler makes 3988292384, and `1_000`. */
function written(n: number, pos: Pos): string {
  const { text, column: inFile, textColumn: column = inFile } = describe(pos);
  const found = /^-?(?:0(?:x[\da-f_]+|b[01_]+|o[0-7_]+)|[\d_.]+(?:e[+-]?\d+)?)/i.exec(text.slice(column - 1))?.[0];
  return found !== undefined && Number(found.replaceAll('_', '')) === n ? found : String(n);
}

function fixFor(n: number, elem: ElemType, pos: Pos): string {
  const x = written(n, pos);
  if (elem !== 'i32' && elem !== 'u32') return `write ${elem}(${x}) to wrap`;
  if (n < -(2 ** 31) || n > 2 ** 32 - 1) return `write f64(${x})`;
  // A bit pattern beside i32: as u32 it would not mix, and i32(x) saturates.
  if (elem === 'i32') return `write (${textOf(pos)} | 0) for these 32 bits, or u32(…) around all operands`;
  return `write u32(${x}) to wrap`;
}

/** Integral, or an integer to begin with. */
function isWhole(e: TExpr, seen: Set<object>): boolean {
  return isIntegral(e, seen) || isIntegerType(typeOf(e));
}

/** Whether a float expression holds whole numbers by construction: its outermost call rounds. */
function isIntegral(e: TExpr, seen: Set<object> = new Set()): boolean {
  switch (e.k) {
    case 'round':
      return e.exact !== true;
    case 'plus':
    case 'neg':
    case 'uniform':
      return isIntegral(e.a, seen);
    case 'abs':
    case 'sign':
      return isWhole(e.a, seen);
    case 'cast':
      // Number(i64) and the like.
      return isIntegerType(typeOf(e.a));
    case 'arith':
      // Sums, products and remainders of whole numbers: Math.floor(x) + 1.
      return e.fn !== 'div' && e.fn !== 'pow' && isWhole(e.a, seen) && isWhole(e.b, seen);
    case 'lit':
      return typeof e.value === 'number' && Number.isInteger(e.value);
    case 'select':
    case 'minmax':
      return isWhole(e.a, seen) && isWhole(e.b, seen);
    case 'local':
    case 'load': {
      const range = rangeRead(e);
      if (range === undefined || range.defs.length === 0 || seen.has(range))
        return range !== undefined && seen.has(range);
      seen.add(range);
      return range.defs.every((d) => ('expr' in d ? isWhole(d.expr, seen) : isIntegerType(d.type)));
    }
    default:
      return false;
  }
}

/** A conversion that was written out, or that has been found legal. */
export function castTo(a: Expr, to: ElemType, pos: Pos, checked = false): Expr {
  const type = widen(to);
  if (a.type === type && to === type) return a;
  if (a.op === 'const' && to === type && !checked) {
    const folded = foldCast(a.value, a.type, to);
    if (folded !== undefined) return { op: 'const', type, value: folded };
  }
  return { op: 'cast', type, to, a, pos, ...(checked ? { checked } : {}) };
}

/** A value of any type as an i32 of a byte, as a Uint8ClampedArray stores it: floats rounded half to even, 0 for NaN. */
export function clamp(a: Expr, pos: Pos): Expr {
  if (a.type === 'bool') return castTo(a, 'i32', pos);
  // What is out of range saturates there.
  if (isFloat(a.type)) return castTo({ op: 'unary', type: a.type, fn: 'rint', a }, 'u8', pos);
  const limit = (value: number): Expr => ({ op: 'const', type: a.type, value: isLong(a.type) ? BigInt(value) : value });
  const cut = (fn: 'min' | 'max', x: Expr, at: number): Expr => ({
    op: 'binary',
    type: a.type,
    fn,
    a: x,
    b: limit(at),
  });
  const low = a.type === 'u32' || a.type === 'u64' ? a : cut('max', a, 0);
  return castTo(cut('min', low, 255), 'i32', pos);
}

function isLong(type: ValueType): boolean {
  return type === 'i64' || type === 'u64';
}

function foldCast(
  value: number | bigint | boolean,
  from: ValueType,
  to: ValueType,
): number | bigint | boolean | undefined {
  if (typeof value === 'boolean')
    return isFloat(to) || to === 'i32' || to === 'u32'
      ? Number(value)
      : to === 'i64' || to === 'u64'
        ? BigInt(value)
        : value;
  if (typeof value === 'bigint') return undefined;
  if (to === 'f64') return value;
  if (to === 'f32') return Math.fround(value);
  if ((to === 'i64' || to === 'u64') && Number.isInteger(value) && Math.abs(value) < 2 ** 53) {
    // Integers wrap, floats saturate.
    return to === 'i64' ? BigInt(value) : isFloat(from) && value < 0 ? 0n : BigInt.asUintN(64, BigInt(value));
  }
  return undefined;
}

export interface Use {
  /** A store may narrow to its element; an operand may not. */
  readonly store?: ElemType | undefined;
  /** Floats are cut to integers, as a typed array does. */
  readonly cuts?: boolean | undefined;
  /** Integers of 32 bits are taken modulo 2³²: i32 for u32 and the other way round. */
  readonly wraps?: boolean | undefined;
  /** A quotient of integers is cut: a variable that has to be an integer, and is cut when it is divided again. */
  readonly halves?: boolean | undefined;
  /** What is done with the value, for the message. */
  readonly what?: string | undefined;
}

/** What takes integers of 32 bits modulo 2³². */
export const WRAPS: Use = { wraps: true };

/** The implicit conversion of a value of type `from` (inference's) to machine type `to`, or an error with a fix-it. */
export function convert(a: Expr, type: Type, to: ValueType, e: TExpr, indexBits: 32 | 64, use: Use = {}): Expr {
  const { pos } = e;
  const from = plain(type);
  if (a.type === to) return a;
  const x = (): string => textOf(pos);
  const target = use.store ?? to;
  if (to === 'bool') {
    return fail('K213', pos, `${use.what ?? 'this'} needs a boolean, but ${x()} is ${nameOf(from)}`, {
      help: `write ${x()} !== 0`,
    });
  }
  if (from === 'bool') return castTo(a, to, pos);
  const fromFloat = isFloatType(from);
  if (isFloat(to)) {
    if (fromFloat || !isWide(from)) return castTo(a, roundedFirst(a.type, use.store) ?? to, pos);
    return fail(
      'K214',
      pos,
      `${x()} is ${nameOf(from)} and does not mix with ${target}: 64-bit integers do not fit floats`,
      { help: `write ${withCast((v) => `Number(${v})`, pos)} or ${withCast((v) => `${target}(${v})`, pos)}` },
    );
  }
  if (fromFloat) {
    if (use.cuts || isIntegral(e)) {
      const cut = castTo(a, use.store ?? to, pos);
      return use.cuts && cut.op === 'cast' ? { ...cut, stores: true } : cut;
    }
    const cast = use.store === undefined ? (to === 'u32' ? 'u32' : to === 'i32' ? 'i32' : to) : use.store;
    return fail(
      'K215',
      pos,
      use.store === undefined
        ? `${use.what ?? 'this'} needs an integer, but ${x()} is ${described(from)}`
        : `cannot store ${isFractional(from) ? 'a fraction' : `a float (${nameOf(from)})`} to an array of ${target}`,
      {
        help: `write ${withCast((v) => `${cast}(${v})`, pos)} to drop the fraction, or ${withCast((v) => `${cast}(Math.round(${v}))`, pos)}`,
      },
    );
  }
  // Integers.
  if (isAdaptive(from)) return castTo(a, to, pos, from === 'idx' && indexBits === 64 && to !== 'i64' && to !== 'u64');
  if (use.store !== undefined) {
    const wideTo = to === 'i64' || to === 'u64';
    if (isWide(from) && !wideTo)
      return fail('K216', pos, `cannot store ${nameOf(from)} to an array of ${target}`, {
        help: `write ${withCast((v) => `${target}(${v})`, pos)}`,
      });
    if (wideTo && !isWide(from) && to === 'u64' && (from === 'i32' || from === 's8')) {
      return fail('K216', pos, `cannot store ${nameOf(from)} to an array of u64: its sign would be lost`, {
        help: `write ${withCast((v) => `u64(${v})`, pos)}`,
      });
    }
    return castTo(a, to, pos);
  }
  const blends = isBlend(type);
  if (widens(from, to) || (use.wraps && is32(to) && (blends || is32(a.type))))
    return castTo(a, to, pos, blends && indexBits === 64 && is32(to) && !use.wraps);
  return fail('K203', pos, `${use.what ?? 'this'} needs ${to}, but ${x()} is ${nameOf(from)}`, {
    help: `write ${withCast((v) => `${to}(${v})`, pos)}`,
  });
}

/** The element that a value must be rounded to right away, since it would be rounded twice on the way through f32. */
function roundedFirst(from: ValueType, store: ElemType | undefined): ElemType | undefined {
  const { narrow } = rowOf(store ?? 'f32');
  if (narrow === undefined || from === 'f32') return undefined;
  // Integers that f32 rounds have more than 24 digits, which is beyond the range of most formats.
  return from === 'f64' || 2 ** (narrow.exponentBits - 1) > 24 ? store : undefined;
}

export function is32(type: ElemType): boolean {
  return type === 'i32' || type === 'u32';
}

function widens(from: Type, to: ValueType): boolean {
  switch (from) {
    case 's8':
      return to === 'i64' || to === 'i32';
    case 'u8':
      return isInt(to);
    case 'i32':
      return to === 'i64';
    case 'u32':
      return to === 'i64' || to === 'u64';
    case 'i64':
    case 'u64':
      return false;
    case 'B':
      return to === 'i64' || to === 'u64';
    default:
      return isIntegerType(from);
  }
}
