/**
 * Makers of IR for the bodies of the GPU table, beyond those of ../notation.ts: fused multiply-adds, the hardware's
 * approximations, 64-bit patterns, and pairs of either width whose products are exact because of fma.
 */
import { CLZ } from '../../intrinsics/operations.ts';
import { at, cast, constant, intrinsic, load } from '../../ir/builder.ts';
import type { ApproxOp, ArraySym, Expr, ValueType } from '../../ir/ops.ts';
import { add, branch, fastTwoSum, mul, neg, type Operand, type Pair, sub } from '../notation.ts';

/** A number as a constant of the type of `like`. */
export function as(like: Expr, value: Operand): Expr {
  return typeof value === 'number' ? constant(like.type, value) : value;
}

/** a · b + c, rounded once. The first operand that is an expression gives the type. */
export function fma(a: Operand, b: Operand, c: Operand): Expr {
  const like = [a, b, c].find((x): x is Expr => typeof x !== 'number');
  if (like?.type !== 'f32' && like?.type !== 'f64') throw new TypeError('fma needs a float operand');
  return { op: 'fma', type: like.type, a: as(like, a), b: as(like, b), c: as(like, c) };
}

/** An instruction of the hardware. */
export function approx(fn: ApproxOp, a: Expr): Expr {
  return { op: 'unary', type: a.type, fn, a };
}

export function fmin(a: Expr, b: Operand): Expr {
  return { op: 'binary', type: a.type, fn: 'fmin', a, b: as(a, b) };
}
export function fmax(a: Expr, b: Operand): Expr {
  return { op: 'binary', type: a.type, fn: 'fmax', a, b: as(a, b) };
}
export function floor(a: Expr): Expr {
  return { op: 'unary', type: a.type, fn: 'floor', a };
}
export function rint(a: Expr): Expr {
  return { op: 'unary', type: a.type, fn: 'rint', a };
}
export function mulhi(a: Expr, b: Expr): Expr {
  return { op: 'binary', type: a.type, fn: 'mulhi', a, b };
}
export function clz(a: Expr): Expr {
  return intrinsic(CLZ, a);
}

export function to(type: ValueType, a: Expr): Expr {
  return cast(type, a);
}
/** The same bits as another type of that width. */
export function bitsAs(type: ValueType, a: Expr): Expr {
  return { op: 'bitcast', type, a };
}

/** A select of which only the arm that is wanted is computed. */
export function either(cond: Expr, a: Expr, b: Expr): Expr {
  return branch(false, cond, [a], [b])[0] ?? a;
}

/** Several values of which only those of one side are computed. */
export function eitherOf<T extends { readonly [K in keyof T]: Expr }>(cond: Expr, a: T, b: T): T {
  return named(branch(false, cond, Object.values(a), Object.values(b)), a);
}

/** Several values; those of the first side are unlikely to be wanted. */
export function unlikelyOf<T extends { readonly [K in keyof T]: Expr }>(cond: Expr, a: T, b: T): T {
  return named(branch(true, cond, Object.values(a), Object.values(b)), a);
}

function named<T extends { readonly [K in keyof T]: Expr }>(members: readonly Expr[], like: T): T {
  return Object.fromEntries(Object.keys(like).map((name, k) => [name, members[k]])) as T;
}

/** Element of a constant table; the array is one of the kernel's after expand-math.ts. */
export function element(table: ArraySym, index: Expr): Expr {
  return load(at(table, index));
}

/** c[0] + x (c[1] + x (c[2] + …)), a fused multiply-add a coefficient. */
export function horner(x: Expr, coefficients: readonly Operand[]): Expr {
  const [last = 0, ...others] = [...coefficients].reverse();
  return others.reduce((sum: Expr, c) => fma(sum, x, c), as(x, last));
}

/** a · b rounded: a product that no device contracts with a sum, for what relies on its rounding error. */
export function product(a: Expr, b: Operand): Expr {
  return fma(a, b, -0);
}

/** a · b exactly. */
export function exactProduct(a: Expr, b: Expr): Pair {
  const hi = product(a, b);
  return { hi, lo: fma(a, b, neg(hi)) };
}

/** (a + tail) · (b + tail), to about twice the digits. */
export function timesPair(a: Pair, b: Pair): Pair {
  const hi = product(a.hi, b.hi);
  return fastTwoSum(hi, fma(a.hi, b.lo, fma(a.lo, b.hi, fma(a.hi, b.hi, neg(hi)))));
}

/** pair · b. */
export function times(a: Pair, b: Expr): Pair {
  const hi = product(a.hi, b);
  return fastTwoSum(hi, fma(a.lo, b, fma(a.hi, b, neg(hi))));
}

/** The nearest integer as a float of the type of x (|x| < 2²² or 2⁵¹), from a product: one fma and one subtraction. */
export function nearestProduct(x: Expr, factor: Operand, bias = 0): { readonly float: Expr; readonly bits: Expr } {
  const magic = (x.type === 'f32' ? 12582912 : 6755399441055744) + bias;
  const shifted = fma(x, factor, magic);
  return { float: sub(shifted, magic), bits: bitsAs(x.type === 'f32' ? 'i32' : 'i64', shifted) };
}

/** The low 32 bits of an i64. */
export function lowWord(bits: Expr): Expr {
  return to('i32', bits);
}

export function double(a: Expr): Expr {
  return add(a, a);
}

/** 1 / d for a normal f64 whose reciprocal is normal: the hardware's 2⁻²⁰ and a step that cubes it. */
export function reciprocal(d: Expr): Expr {
  const rough = approx('rcpApprox', d);
  const e = fma(neg(d), rough, 1);
  return fma(rough, fma(e, e, e), rough);
}

/** n / d as a pair, with the parts that rounding has lost of either; d as for `reciprocal`. */
export function quotient(n: Expr, d: Expr, nLow?: Expr, dLow?: Expr): Pair {
  const inverse = reciprocal(d);
  const hi = product(n, inverse);
  const first = fma(neg(hi), d, n);
  const second = nLow === undefined ? first : add(first, nLow);
  const missing = dLow === undefined ? second : fma(neg(hi), dLow, second);
  return { hi, lo: mul(missing, inverse) };
}
