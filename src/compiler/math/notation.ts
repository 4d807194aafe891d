/**
 * The notation in which the bodies of the math table are written: makers of IR in which a plain number stands for a
 * constant of the other operand's type.
 *
 * A body is a pure function from argument expressions to one result expression. It may use a node several times: the
 * graph is made into statements by lower.ts, which computes every shared node once. Splits, two-sums and products here
 * hold whether or not a device contracts `a * b + c`: they only ever rely on exact products and on sums.
 */
import { cast, constant } from '../ir/builder.ts';
import type { BinaryOp, Branch, CompareOp, Expr, UnaryOp } from '../ir/ops.ts';

/** An expression, or a number that becomes a constant of the type that stands beside it. */
export type Operand = Expr | number;

/** A value as the unevaluated sum of two f32, |lo| at most about half an ulp of hi. */
export interface Pair {
  readonly hi: Expr;
  readonly lo: Expr;
}

export function f32(value: number): Expr {
  return constant('f32', value);
}
export function i32(value: number): Expr {
  return constant('i32', value);
}
export function u32(value: number): Expr {
  return constant('u32', value);
}

function binary(fn: BinaryOp, a: Operand, b: Operand): Expr {
  const [x, y] = operands(a, b);
  return { op: 'binary', type: x.type, fn, a: x, b: y };
}

function compare(fn: CompareOp, a: Operand, b: Operand): Expr {
  const [x, y] = operands(a, b);
  return { op: 'compare', type: 'bool', fn, a: x, b: y };
}

function unary(fn: UnaryOp, a: Expr): Expr {
  return { op: 'unary', type: fn === 'isNaN' || fn === 'isFinite' ? 'bool' : a.type, fn, a };
}

/** Gives both operands the type of the one that is an expression (two numbers are f32). */
function operands(a: Operand, b: Operand): readonly [Expr, Expr] {
  if (typeof a !== 'number') return [a, typeof b === 'number' ? constant(a.type, b) : b];
  return typeof b === 'number' ? [f32(a), f32(b)] : [constant(b.type, a), b];
}

export function add(a: Operand, b: Operand): Expr {
  return binary('add', a, b);
}
export function sub(a: Operand, b: Operand): Expr {
  return binary('sub', a, b);
}
export function mul(a: Operand, b: Operand): Expr {
  return binary('mul', a, b);
}
export function div(a: Operand, b: Operand): Expr {
  return binary('div', a, b);
}
export function and(a: Operand, b: Operand): Expr {
  return binary('and', a, b);
}
export function or(a: Operand, b: Operand): Expr {
  return binary('or', a, b);
}
export function xor(a: Operand, b: Operand): Expr {
  return binary('xor', a, b);
}
export function shl(a: Expr, b: Operand): Expr {
  return binary('shl', a, b);
}
export function shr(a: Expr, b: Operand): Expr {
  return binary('shr', a, b);
}
export function copysign(a: Operand, b: Expr): Expr {
  return binary('copysign', a, b);
}
export function lt(a: Operand, b: Operand): Expr {
  return compare('lt', a, b);
}
export function le(a: Operand, b: Operand): Expr {
  return compare('le', a, b);
}
export function gt(a: Operand, b: Operand): Expr {
  return compare('gt', a, b);
}
export function ge(a: Operand, b: Operand): Expr {
  return compare('ge', a, b);
}
export function eq(a: Operand, b: Operand): Expr {
  return compare('eq', a, b);
}
export function ne(a: Operand, b: Operand): Expr {
  return compare('ne', a, b);
}
export function neg(a: Expr): Expr {
  return unary('neg', a);
}
export function abs(a: Expr): Expr {
  return unary('abs', a);
}
export function not(a: Expr): Expr {
  return unary('not', a);
}
export function sqrt(a: Expr): Expr {
  return unary('sqrt', a);
}
export function trunc(a: Expr): Expr {
  return unary('trunc', a);
}
export function isNotANumber(a: Expr): Expr {
  return unary('isNaN', a);
}

export function select(cond: Expr, a: Operand, b: Operand): Expr {
  const [x, y] = operands(a, b);
  return { op: 'select', type: x.type, cond, a: x, b: y };
}

/** `select(cond, a, b)` where `cond` is unlikely and `a` costs much: computed only when some lane wants it. */
export function unlikely(cond: Expr, a: Operand, b: Operand): Expr {
  const [x, y] = operands(a, b);
  return branch(true, cond, [x], [y])[0] ?? x;
}

/** Several values that one branch decides, each by the arms at its place. */
export function branch(unlikely: boolean, cond: Expr, a: readonly Expr[], b: readonly Expr[]): Branch['members'] {
  const members: (Expr & { readonly op: 'select' })[] = [];
  const decided: Branch = { unlikely, members };
  a.forEach((x, k) => {
    members.push({ op: 'select', type: x.type, cond, a: x, b: b[k] ?? x, branch: decided });
  });
  return members;
}

export function toF32(a: Expr): Expr {
  return cast('f32', a);
}
export function toI32(a: Expr): Expr {
  return cast('i32', a);
}
export function asF32(a: Expr): Expr {
  return { op: 'bitcast', type: 'f32', a };
}
export function asI32(a: Expr): Expr {
  return { op: 'bitcast', type: 'i32', a };
}
export function asU32(a: Expr): Expr {
  return { op: 'bitcast', type: 'u32', a };
}

/** c[0] + x (c[1] + x (c[2] + …)). */
export function polynomial(x: Expr, coefficients: readonly number[]): Expr {
  let sum: Expr | undefined;
  for (let k = coefficients.length - 1; k >= 0; k--) {
    const c = coefficients[k] ?? 0;
    sum = sum === undefined ? constant(x.type, c) : add(mul(sum, x), c);
  }
  return sum ?? constant(x.type, 0);
}

/** The nearest integer (|x| < 2²²) as a float and, in the low bits of an i32, as an integer: one addition does both. */
export function nearestInt(x: Expr): { readonly float: Expr; readonly bits: Expr } {
  const shifted = add(x, 12582912); // 1.5 · 2²³: the unit of the last place is 1 there
  return { float: sub(shifted, 12582912), bits: asI32(shifted) };
}

/** The upper 12 bits of a significand; what is left fits 12 bits too, so that products of halves are exact. */
export function upper(x: Expr): Expr {
  return asF32(and(asI32(x), -4096));
}

/** a + b exactly, for |a| ≥ |b| or a = 0. */
export function fastTwoSum(a: Expr, b: Expr): Pair {
  const hi = add(a, b);
  return { hi, lo: sub(b, sub(hi, a)) };
}

/** a + b exactly, whichever is larger. */
export function twoSum(a: Expr, b: Expr): Pair {
  const hi = add(a, b);
  const part = sub(hi, a);
  return { hi, lo: add(sub(a, sub(hi, part)), sub(b, part)) };
}

/**
 * a · b to about 2⁻⁴⁷: hi is the product of the upper halves, exact; lo is all the rest (up to 2⁻¹¹ of hi). The usual
 * error term of a rounded product would be wrong where a device contracts, this is not.
 */
export function product(a: Expr, b: Expr): Pair {
  const ah = upper(a);
  const bh = upper(b);
  return { hi: mul(ah, bh), lo: add(mul(sub(a, ah), b), mul(ah, sub(b, bh))) };
}
