/**
 * The type of an expression, from the types decided so far of live ranges and arguments.
 *
 * Used by inference while those types still widen, and by the lowering pass when they are final.
 */
import type { Row } from '../intrinsics/define.ts';
import type { IntrinsicType } from '../intrinsics/row.ts';
import {
  isFloatType,
  isHalf,
  isIntegerType,
  isWide,
  join,
  joinOr,
  mixesSigns,
  plain,
  type Type,
  typeOfElem,
} from './lattice.ts';
import type { Range, TExpr } from './tree.ts';

/** The type of an expression, given the types decided so far. */
export function typeOf(e: TExpr): Type {
  switch (e.k) {
    case 'lit':
      if (typeof e.value === 'boolean') return 'bool';
      if (typeof e.value === 'bigint') return 'B';
      return Number.isInteger(e.value) && !Object.is(e.value, -0) ? 'L' : 'F';
    case 'local':
      return e.range?.type ?? 'L';
    case 'arg':
      return e.arg.type ?? 'A';
    case 'special':
      // The number of a block times the size of one is an index, by whatever name.
      return e.name.startsWith('blockIdx') || e.name.startsWith('gridDim') ? 'idx' : 'int';
    case 'extent':
    case 'stride':
    case 'index':
      return 'idx';
    case 'neg':
    case 'plus':
    case 'abs':
    case 'sign':
      return numeric(typeOf(e.a));
    case 'widen': {
      const t = numeric(typeOf(e.a));
      return isHalf(t) ? 'f32' : t;
    }
    case 'bitnot':
      return bitType(typeOf(e.a));
    case 'not':
    case 'truth':
    case 'logic':
    case 'compare':
    case 'test':
    case 'absent':
      return 'bool';
    case 'arith': {
      if (cutTo32(e)) return 'u32';
      const t = ofBase(e) ?? together(e.a, e.b);
      if (isIntegerType(t) && !isWide(t) && (e.fn === 'div' || isReciprocal(e))) return 'F';
      return exceeds(e.a, e.b) ? 'F' : t;
    }
    case 'bits': {
      // Of either sign the bits are the same; JavaScript's bit operations give signed results.
      return isSmallLong(e.a) || isSmallLong(e.b) ? together(e.a, e.b) : integersOf([e.a, e.b]);
    }
    case 'shift': {
      const t = bitType(typeOf(e.a));
      // `(word << 28) >> 28` spreads a sign, as in JavaScript, whatever the words are kept as.
      if (e.fn === 'shr' && t === 'u32' && e.a.k === 'shift' && e.a.fn === 'shl') return 'i32';
      if (e.fn !== 'ushr') return t;
      return t === 'i64' || t === 'B' ? 'u64' : isWide(t) ? t : 'u32';
    }
    case 'select':
      return typeOf(e.a) === 'bool' && typeOf(e.b) === 'bool' ? 'bool' : together(e.a, e.b);
    case 'minmax':
    case 'like':
      return together(e.a, e.b);
    case 'cast': {
      const t = e.by === 'Number' || e.by === 'BigInt' ? typeOf(e.a) : undefined;
      if (e.by === 'Number' && t === 'bool') return 'int';
      if (e.by === 'BigInt' && t !== undefined && isSignless(t)) return 'B';
      return typeOfElem(e.to);
    }
    case 'word':
      return e.to;
    case 'round':
      return once(e, rounded);
    case 'toInt':
      return once(e, cut);
    case 'imul':
      return 'i32';
    case 'clz32':
      return 'int';
    case 'intrinsic': {
      if (e.fn.result === 'int') return 'int';
      const t = integersOf(e.args);
      if (e.fn.result === 'operand') return isWide(t) || t === 'idx' ? t : 'int';
      return isWide(t) ? t : (computedIn(e.fn, t) ?? 'i32');
    }
    case 'bitcast':
      return e.to;
    case 'half':
      return e.fn === 'bits' ? 'i32' : 'f16';
    case 'exact': {
      if (e.fn === 'exponent') return 'int';
      const t = floatOf(e.args);
      // The neighbour of a half as an f32.
      return e.fn === 'nextafter' && isHalf(t) ? 'f32' : t;
    }
    case 'math':
    case 'complex':
      return floatOf(e.args);
    case 'fma': {
      const t = e.args.map((a) => numeric(typeOf(a))).reduce((a, b) => joinOr(a, b));
      return isIntegerType(t) ? 'F' : t;
    }
    case 'uniform':
      return typeOf(e.a);
    case 'load':
      return e.mem.root.open === undefined ? typeOfElem(e.mem.elem) : (e.mem.root.open.type ?? 'L');
    case 'native':
      return numeric(e.otherwise === undefined ? e.args.map(typeOf).reduce(joinOr) : typeOf(e.otherwise));
    case 'address':
      return 'u64';
    case 'available':
      return 'bool';
  }
}

function rounded({ a }: Extract<TExpr, { k: 'round' }>): Type {
  return integerQuotient(a) ?? numeric(typeOf(a));
}

function cut({ a, unsigned }: Extract<TExpr, { k: 'toInt' }>): Type {
  const t = plain(typeOf(a));
  if (isWide(t)) return t;
  const q = integerQuotient(a);
  if (q !== undefined) return unsigned ? 'u32' : q === 'idx' ? 'int' : plain(q);
  if (unsigned) return 'u32';
  // Data becomes i32, that of u32 too; an index or a literal stays without a type of its own.
  return t === 'i32' || t === 'u32' || t === 's8' || t === 'u8' || isFloatType(t) || t === 'A' ? 'i32' : 'int';
}

/** The type of a function of floats: that of its operands, or a fraction's. */
export function floatOf(args: readonly TExpr[]): Type {
  const t = args.map((a) => numeric(typeOf(a))).reduce((a, b) => joinOr(a, b));
  return isIntegerType(t) ? 'F' : t;
}

/** What the question in progress has found so far. */
let found: Map<TExpr, Type> | undefined;

/**
 * Asked twice about an operand, a rounded quotient of rounded quotients would take time exponential in their number. `find` is told the expression: a
 * closure over it would cost every call of `typeOf`, whatever it is asked.
 */
function once<E extends TExpr>(e: E, find: (e: E) => Type): Type {
  const outermost = found === undefined;
  found ??= new Map();
  try {
    const known = found.get(e);
    if (known !== undefined) return known;
    const type = find(e);
    found.set(e, type);
    return type;
  } finally {
    // Types of ranges change between two questions.
    if (outermost) found = undefined;
  }
}

/** Integers that are the same in i64 and u64, or that adopt either anyway. */
function isSignless(type: Type): boolean {
  const t = plain(type);
  return t === 'u8' || t === 'u32' || t === 'idx' || t === 'int' || t === 'L';
}

/** A truth value counts as a number in arithmetic. */
export function numeric(t: Type): Type {
  return t === 'bool' ? 'int' : t;
}

/** The type in which two operands meet; undefined where they do not mix. */
export function meeting(a: TExpr, b: TExpr): Type | undefined {
  const ta = numeric(typeOf(a));
  const tb = numeric(typeOf(b));
  // `i64(1)` is as good a u64.
  if ((ta === 'u64' && isSmallLong(b)) || (tb === 'u64' && isSmallLong(a))) return 'u64';
  const t = join(ta, tb);
  // A literal of the other sign among u32 makes numbers of both signs.
  return t !== undefined && plain(t) === 'u32' && (isOutside(a) || isOutside(b)) ? joinOr(t, 'i32') : t;
}

/** The type in which two operands are compared: u32 with a literal that none is as numbers, as JavaScript compares them. */
export function comparing(a: TExpr, b: TExpr): Type | undefined {
  return isOutside(a) || isOutside(b) ? join(numeric(typeOf(a)), numeric(typeOf(b))) : meeting(a, b);
}

/** `x % 2 ** 32` of u32: its 32 bits, whatever x has been before it wrapped. */
export function cutTo32(e: Extract<TExpr, { k: 'arith' }>): boolean {
  return e.fn === 'rem' && e.b.k === 'lit' && e.b.value === 2 ** 32 && plain(typeOf(e.a)) === 'u32';
}

/** A power is as its base is, where its exponent is an integer of the other sign; undefined for all else. */
function ofBase({ fn, a, b }: Extract<TExpr, { k: 'arith' }>): Type | undefined {
  if (fn !== 'pow') return undefined;
  const [ta, tb] = [numeric(typeOf(a)), numeric(typeOf(b))];
  return mixesSigns(ta, tb) || (isWide(ta) && isWide(tb) && join(ta, tb) === undefined) ? ta : undefined;
}

/** A power with a negative literal for its exponent: a fraction, as a quotient is. */
function isReciprocal({ fn, b }: Extract<TExpr, { k: 'arith' }>): boolean {
  return fn === 'pow' && b.k === 'lit' && Number(b.value) < 0;
}

/** Whether one is a literal too large for 32 bits, and the other data of 32: what comes of them is a number, as in JavaScript. */
function exceeds(a: TExpr, b: TExpr): boolean {
  return (isLarge(a) && isSmall(b)) || (isLarge(b) && isSmall(a));
}

/** A literal of an integer that neither an i32 nor a u32 is. */
export function isLarge(e: TExpr): boolean {
  return e.k === 'lit' && isOutside(e) && (Number(e.value) < -(2 ** 31) || Number(e.value) >= 2 ** 32);
}

function isSmall(e: TExpr): boolean {
  return ['i32', 'u32', 's8', 'u8', 'int'].includes(plain(typeOf(e)));
}

function together(a: TExpr, b: TExpr): Type {
  return meeting(a, b) ?? joinOr(numeric(typeOf(a)), numeric(typeOf(b)));
}

/** A literal of an integer that no u32 is. */
export function isOutside(e: TExpr): boolean {
  return (
    e.k === 'lit' && typeof e.value === 'number' && Number.isInteger(e.value) && (e.value < 0 || e.value >= 2 ** 32)
  );
}

/** A literal cast to i64 that is the same as u64. */
export function isSmallLong(e: TExpr): boolean {
  return (
    e.k === 'cast' && e.to === 'i64' && e.a.k === 'lit' && Number.isInteger(Number(e.a.value)) && Number(e.a.value) >= 0
  );
}

/** The type in which the operands of an intrinsic or a bit operation meet: 32 bits of an index where there is data of 32 bits. */
export function integersOf(operands: readonly TExpr[]): Type {
  return plain(operands.map((a) => bitType(typeOf(a))).reduce(joinOr));
}

/** The machine type in which an intrinsic of such operands is computed; undefined where it has none that is wide enough. */
export function computedIn({ types }: Row, t: Type): IntrinsicType | undefined {
  const own = isWide(t) ? (t === 'u64' ? 'u64' : 'i64') : t === 'u32' ? 'u32' : 'i32';
  return types.includes(own) ? own : types.find((type) => type === 'u32' && own === 'i32');
}

/** What a value is as the operand of a bit operation: floats become i32. */
function bitType(type: Type): Type {
  const t = plain(type);
  if (t === 'bool') return 'int';
  if (t === 'A') return 'int';
  return isFloatType(t) ? 'i32' : t === 's8' || t === 'u8' ? 'i32' : t === 'idx' ? 'idx' : t;
}

/**
 * The type to divide in where `e` is a quotient of integers or holds nothing else, so that rounding it is an integer division.
 *
 * A variable may hold integers on some paths: those are quotients by 1. 64-bit integers divide as bigints do, so that what a
 * variable holds of them is whole already; only a rounding around the division itself says how to round it.
 */
export function integerQuotient(e: TExpr): Type | undefined {
  const quotient = e.k === 'arith' ? dividedBy(e) : dividedIn(e, new Map());
  if (!quotient?.divides) return undefined;
  return quotient.type === 'L' ? 'int' : quotient.type;
}

export function isIntegerQuotient(e: TExpr): boolean {
  return integerQuotient(e) !== undefined;
}

interface Divided {
  readonly type: Type;
  /** Whether it is a quotient on some path. */
  readonly divides: boolean;
}

function dividedBy(e: Extract<TExpr, { k: 'arith' }>): Divided | undefined {
  if (e.fn !== 'div') return undefined;
  const [a, b] = [numeric(typeOf(e.a)), numeric(typeOf(e.b))];
  return isIntegerType(a) && isIntegerType(b) ? { type: joinOr(a, b), divides: true } : undefined;
}

/** `known`: what variables hold; those that are being looked into hold nothing that is known. */
function dividedIn(e: TExpr, known: Map<Range, Divided | undefined>): Divided | undefined {
  const merged = (list: readonly (TExpr | undefined)[]): Divided | undefined => {
    let all: Divided | undefined;
    for (const [k, x] of list.entries()) {
      const one = x && dividedIn(x, known);
      const type =
        one && (k === 0 ? one.type : all && (mixesSigns(all.type, one.type) ? undefined : join(all.type, one.type)));
      if (one === undefined || type === undefined) return undefined;
      all = { type, divides: one.divides || all?.divides === true };
    }
    return all;
  };
  switch (e.k) {
    case 'arith': {
      const own = dividedBy(e);
      if (own !== undefined) return isWide(own.type) ? undefined : own;
      break;
    }
    case 'plus':
      return dividedIn(e.a, known);
    case 'select':
      return merged([e.a, e.b]);
    case 'lit':
      if (typeof e.value === 'number' && e.value < 0) return { type: 'i32', divides: false };
      break;
    case 'local': {
      const { range } = e;
      if (range === undefined || isIntegerType(numeric(typeOf(e)))) break;
      if (!known.has(range)) {
        known.set(range, undefined);
        const defs = merged(range.defs.map((d) => ('expr' in d ? d.expr : undefined)));
        known.set(range, defs);
      }
      return known.get(range);
    }
    default:
      break;
  }
  const type = numeric(typeOf(e));
  return isIntegerType(type) && !isWide(type) ? { type, divides: false } : undefined;
}
