/**
 * Numbers that are known to be divisible by a power of two: whether one is can be seen from its low bits whatever its sign, and where it is, the
 * quotient is a shift that needs no correction for negative numbers.
 */
import { binary, constant } from '../builder.ts';
import { type Expr, isFloat, type Stmt } from '../ops.ts';
import { assignedIn, mapExpr, mapStmtExprs } from './walk.ts';

/** What a condition says of a value: that it has none of the bits of `mask`, where the condition is `when`. */
export interface Multiple {
  readonly value: Expr;
  readonly mask: bigint;
  readonly when: boolean;
}

/** The exponent of a constant integer that is a power of two above one. */
export function powerOfTwo(e: Expr): number | undefined {
  if (e.op !== 'const' || isFloat(e.type) || typeof e.value === 'boolean' || e.value <= 1) return undefined;
  const digits = BigInt(e.value).toString(2);
  return /^10+$/.test(digits) ? digits.length - 1 : undefined;
}

/** `x % 8 === 0` as `(x & 7) === 0`, which is so for negative numbers too. */
export function divisibility(e: Expr & { op: 'compare' }): Expr {
  const { a, b } = e;
  if ((e.fn !== 'eq' && e.fn !== 'ne') || a.op !== 'binary' || a.fn !== 'rem' || !isZero(b)) return e;
  const k = powerOfTwo(a.b);
  if (k === undefined) return e;
  const mask = 2n ** BigInt(k) - 1n;
  const isLong = a.type === 'i64' || a.type === 'u64';
  return { ...e, a: binary('and', a.a, constant(a.type, isLong ? mask : Number(mask))) };
}

function isZero(e: Expr): boolean {
  return e.op === 'const' && typeof e.value !== 'boolean' && Number(e.value) === 0;
}

/** What `(x & 7) === 0` says of x. */
export function multipleIn(cond: Expr): Multiple | undefined {
  if (cond.op !== 'compare' || (cond.fn !== 'eq' && cond.fn !== 'ne') || !isZero(cond.b)) return undefined;
  const { a } = cond;
  if (a.op !== 'binary' || a.fn !== 'and' || a.b.op !== 'const') return undefined;
  if (a.a.op !== 'var' && a.a.op !== 'param') return undefined;
  return { value: a.a, mask: BigInt(a.b.value), when: cond.fn === 'eq' };
}

/** `x / 8` as a shift, and `x % 8` as 0, in an expression that is evaluated where x is known to be a multiple of 8. */
export function withExactQuotients(e: Expr, multiple: Multiple): Expr {
  return mapExpr(e, (x) => exactQuotient(x, multiple));
}

/** The same in statements, as far as what is known holds in them: up to the first that may assign the value. */
export function withExactQuotientsIn(list: readonly Stmt[], multiple: Multiple): readonly Stmt[] {
  const { value } = multiple;
  const end = value.op === 'var' ? list.findIndex((s) => assignedIn([s]).has(value.var.id)) : -1;
  let changed = false;
  const mapped = list.map((s, k) => {
    // What is assigned in the end is computed from the value as it was, unless that is done more than once.
    if (end >= 0 && (k > end || (k === end && s.op !== 'assign'))) return s;
    const exact = mapStmtExprs(s, (x) => exactQuotient(x, multiple));
    changed ||= exact !== s;
    return exact;
  });
  return changed ? mapped : list;
}

function exactQuotient(e: Expr, { value, mask }: Multiple): Expr {
  if (e.op !== 'binary' || (e.fn !== 'div' && e.fn !== 'rem')) return e;
  const k = powerOfTwo(e.b);
  if (k === undefined || !isSame(e.a, value)) return e;
  const low = 2n ** BigInt(k) - 1n;
  if ((mask & low) !== low) return e;
  return e.fn === 'rem' ? constant(e.type, 0) : binary('shr', e.a, constant(e.type, k));
}

/** Variables and parameters are what is tested most often. */
function isSame(a: Expr, b: Expr): boolean {
  if (a.op === 'var') return b.op === 'var' && a.var === b.var;
  return a.op === 'param' && b.op === 'param' && a.param === b.param;
}
