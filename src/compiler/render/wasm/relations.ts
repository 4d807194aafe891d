/**
 * What conditions say of integers: `i < n` and `j - 1 >= 0` as bounds of what they compare, for the code that they guard.
 *
 * A fact is about the part of an expression that is not a constant: of `i + 1 < n - 1` it says `i < n + -2`. Facts are used only
 * where none of their expressions can wrap, which is for `ranges.ts` to say.
 */
import { sub } from '../../ir/builder.ts';
import { OPPOSITE } from '../../ir/measures.ts';
import type { Expr } from '../../ir/ops.ts';
import { someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';

/** `base < limit + slack` for a parameter, or `base < slack`; or `base >= slack`. */
export interface Fact {
  readonly kind: 'below' | 'least';
  readonly base: Expr;
  /** The parameter of a 'below'; undefined when the bound is a number. */
  readonly limit: number | undefined;
  readonly slack: number;
}

/** Something is `< limit + slack`, for a parameter. */
export interface Cap {
  readonly limit: number;
  readonly slack: number;
}

interface Sum {
  /** Undefined for a constant. */
  readonly base: Expr | undefined;
  readonly offset: number;
}

/** An i32 as something plus a constant. */
export function split(e: Expr): Sum {
  if (e.op === 'const') return { base: undefined, offset: Number(e.value) };
  if (e.op === 'binary' && (e.fn === 'add' || e.fn === 'sub')) {
    const [a, b] = [split(e.a), split(e.b)];
    if (b.base === undefined)
      return { base: a.base, offset: e.fn === 'add' ? a.offset + b.offset : a.offset - b.offset };
    if (a.base === undefined && e.fn === 'add') return { base: b.base, offset: a.offset + b.offset };
  }
  return { base: e, offset: 0 };
}

/** What holds where a condition is true, or false. `exact` says that an expression, with all of its parts, does not wrap. */
export function factsOf(cond: Expr, truth: boolean, exact: (e: Expr) => boolean): Fact[] {
  if (cond.op === 'unary' && cond.fn === 'not') return factsOf(cond.a, !truth, exact);
  if (cond.op === 'binary' && cond.fn === (truth ? 'and' : 'or'))
    return [...factsOf(cond.a, truth, exact), ...factsOf(cond.b, truth, exact)];
  if (cond.op !== 'compare' || cond.a.type !== 'i32') return [];
  const { a, b } = cond;
  const fn = truth ? cond.fn : OPPOSITE[cond.fn];
  if (fn === 'ne' || [a, b].some((e) => someExpr(e, (x) => x.op === 'load') || !exact(e))) return [];
  if (fn === 'eq') return [...below(a, b, 1), ...below(b, a, 1)];
  if (fn === 'lt' || fn === 'le') return below(a, b, fn === 'le' ? 1 : 0);
  return below(b, a, fn === 'ge' ? 1 : 0);
}

/** From `a < b + more`. */
function below(a: Expr, b: Expr, more: number): Fact[] {
  const [small, large] = [split(a), split(b)];
  const slack = large.offset + more - small.offset;
  if (small.base === undefined)
    return large.base === undefined ? [] : [{ kind: 'least', base: large.base, limit: undefined, slack: 1 - slack }];
  if (large.base === undefined) return [{ kind: 'below', base: small.base, limit: undefined, slack }];
  // `t >= step` says of t - step that it is not negative.
  const apart: Fact = { kind: 'least', base: sub(large.base, small.base), limit: undefined, slack: 1 - slack };
  if (large.base.op !== 'param') return [apart];
  return [{ kind: 'below', base: small.base, limit: large.base.param, slack }, apart];
}

/** Whether facts say that `index` is less than `extent`: a parameter, or a constant. Neither wraps. */
export function isBelow(index: Expr, extent: Expr, facts: readonly Fact[]): boolean {
  const { base, offset } = split(index);
  if (base === undefined) return false;
  const limit = extent.op === 'param' ? extent.param : undefined;
  if (limit === undefined && extent.op !== 'const') return false;
  const room = extent.op === 'const' ? Number(extent.value) : 0;
  return facts.some(
    (f) => f.kind === 'below' && f.limit === limit && f.slack + offset <= room && sameExpr(f.base, base),
  );
}

/** Whether `index`, of which `least` is known, is not negative. It does not wrap. */
export function isNatural(index: Expr, least: number, facts: readonly Fact[]): boolean {
  if (least >= 0) return true;
  const { base, offset } = split(index);
  if (base === undefined) return false;
  return facts.some((f) => f.kind === 'least' && f.slack + offset >= 0 && sameExpr(f.base, base));
}
