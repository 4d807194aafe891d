/**
 * Bounds of floats: between which numbers a value lies whenever it is not NaN, from what the expression itself says.
 *
 * For the conversion that wraps (`toInt32`), which is the cheaper one that saturates wherever nothing can be out of range, and for instructions that take subnormal numbers
 * for zero, which are cheaper than those that do not.
 */
import { type ElemType, type Expr, isFloat } from '../ops.ts';
import { sameExpr } from '../same.ts';

export type Interval = readonly [low: number, high: number];

const ANY: Interval = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];

const STORED: Readonly<Partial<Record<ElemType, Interval>>> = {
  bool: [0, 1],
  i8: [-0x80, 0x7f],
  u8: [0, 0xff],
  i16: [-0x8000, 0x7fff],
  u16: [0, 0xffff],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
  i64: [-(2 ** 63), 2 ** 63],
  u64: [0, 2 ** 64],
};

/** Whether a float, cut to an integer, is one of 32 bits with a sign, or NaN. */
export function fitsInt32(e: Expr): boolean {
  const [low, high] = intervalOf(e, 12);
  return low > -(2 ** 31) - 1 && high < 2 ** 31;
}

/** Whether an f32 is NaN or no smaller than the smallest normal number. */
export function isAboveSubnormals(e: Expr): boolean {
  return intervalOf(e, 12)[0] >= 2 ** -126;
}

/** What rounding may add to the result of an operation on bounds. */
function rounded([low, high]: Interval): Interval {
  if (Number.isNaN(low) || Number.isNaN(high)) return ANY;
  const slack = (x: number): number => Math.abs(x) * 2 ** -20;
  return [low - slack(low), high + slack(high)];
}

function corners(a: Interval, b: Interval): Interval {
  const all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
  return rounded([Math.min(...all), Math.max(...all)]);
}

function square([low, high]: Interval): Interval {
  const least = low > 0 ? low : high < 0 ? high : 0;
  return rounded([least * least, Math.max(low * low, high * high)]);
}

function intervalOf(e: Expr, depth: number): Interval {
  if (e.type === 'bool') return [0, 1];
  if (depth === 0) return STORED[e.type] ?? ANY;
  const of = (x: Expr): Interval => intervalOf(x, depth - 1);
  switch (e.op) {
    case 'const': {
      const value = Number(e.value);
      return Number.isNaN(value) ? ANY : [value, value];
    }
    case 'load':
      return STORED[e.mem.elem] ?? ANY;
    case 'cast': {
      if (!isFloat(e.to)) return STORED[e.to] ?? ANY;
      return e.to === e.type ? rounded(of(e.a)) : ANY;
    }
    case 'select': {
      const [a, b] = [of(e.a), of(e.b)];
      return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
    }
    case 'unary':
      return isFloat(e.type) ? ofUnary(e, of) : (STORED[e.type] ?? ANY);
    case 'binary':
      return isFloat(e.type) ? ofBinary(e, of) : (STORED[e.type] ?? ANY);
    case 'call':
      return e.fn === 'sin' || e.fn === 'cos' || e.fn === 'tanh' || e.fn === 'erf' ? [-2, 2] : ANY;
    default:
      return STORED[e.type] ?? ANY;
  }
}

function ofUnary(e: Expr & { op: 'unary' }, of: (x: Expr) => Interval): Interval {
  const [low, high] = of(e.a);
  switch (e.fn) {
    case 'neg':
      return [-high, -low];
    case 'abs':
      return [0, Math.max(-low, high)];
    case 'floor':
    case 'ceil':
    case 'trunc':
    case 'rint':
    case 'round':
      return [Math.floor(low), Math.ceil(high)];
    case 'sqrt':
      return rounded([0, Math.sqrt(Math.max(high, 0))]);
    case 'sign':
      return [-1, 1];
    case 'uniform':
      return [low, high];
    default:
      return ANY;
  }
}

function ofBinary(e: Expr & { op: 'binary' }, of: (x: Expr) => Interval): Interval {
  const [a, b] = [of(e.a), of(e.b)];
  switch (e.fn) {
    case 'add':
      return rounded([a[0] + b[0], a[1] + b[1]]);
    case 'sub':
      return rounded([a[0] - b[1], a[1] - b[0]]);
    case 'mul':
      return sameExpr(e.a, e.b) ? square(a) : corners(a, b);
    case 'div':
      return e.b.op === 'const' && b[0] !== 0 ? corners(a, [1 / b[0], 1 / b[0]]) : ANY;
    case 'rem':
      return e.b.op === 'const' ? [-Math.abs(b[0]), Math.abs(b[0])] : a;
    case 'min':
      return [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
    case 'max':
      return [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
    default:
      return ANY;
  }
}
