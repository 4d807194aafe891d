/**
 * `Object.is(a, b)` and `Array.isArray(v)`.
 */
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, compare } from './arithmetic.ts';
import { Unfilled } from './array-makers.ts';
import type { Evaluation } from './evaluation.ts';
import { kindOf } from './kinds.ts';
import { applyBinary } from './operators.ts';
import { isLiteral, isOptional, literal, scalar, type Value } from './values.ts';

/** Whether a value is a JavaScript array: a typed array is none, nor is what `cuda` makes. */
export function isJavaScriptArray(v: Value): boolean {
  if (v.kind === 'host') return v.value instanceof Unfilled || Array.isArray(v.value);
  if (v.kind !== 'view') return v.kind === 'tuple' && v.axesOf === undefined;
  const { root, element, axes } = v.view;
  return axes.length > 0 && root.made === true && (element.open === true || element.record !== undefined);
}

/** As `===`, but NaN is NaN and 0 is not -0. */
export function sameValue(ctx: Evaluation, a: Value, b: Value, pos: Pos): Value {
  const numbers = [a, b].every((v) => v.kind === 'scalar' && !isOptional(v) && kindOf(ctx, v.expr) === 'number');
  if (a.kind !== 'scalar' || b.kind !== 'scalar' || !numbers) {
    const [x, y] = [a, b].map((v) => (v.kind === 'scalar' ? kindOf(ctx, v.expr) : undefined));
    if (x !== undefined && y !== undefined && x !== y && !isOptional(a) && !isOptional(b))
      return scalar(literal(false, pos));
    return applyBinary(ctx, '===', a, b, pos);
  }
  const [x, y] = [a.expr, b.expr].map((e) => (isLiteral(e) ? e : ctx.hold(e))) as [TExpr, TExpr];
  if (isLiteral(x) && isLiteral(y)) return scalar(literal(Object.is(x.value, y.value), pos));
  if (isLiteral(y)) return scalar(isLiterally(x, Number(y.value), pos));
  if (isLiteral(x)) return scalar(isLiterally(y, Number(x.value), pos));
  const nan = (e: TExpr): TExpr => ({ k: 'test', fn: 'isNaN', a: e, pos });
  const zero = compare('eq', x, literal(0, pos), pos);
  const signs = compare('eq', isNegativeZero(x, pos), isNegativeZero(y, pos), pos);
  const equal = both(compare('eq', x, y, pos), either({ k: 'not', a: zero, pos }, signs, pos), pos);
  return scalar(either(equal, both(nan(x), nan(y), pos), pos));
}

function isLiterally(x: TExpr, value: number, pos: Pos): TExpr {
  if (Number.isNaN(value)) return { k: 'test', fn: 'isNaN', a: x, pos };
  const equal = compare('eq', x, literal(value, pos), pos);
  if (value !== 0) return equal;
  const negative = isNegativeZero(x, pos);
  return both(equal, Object.is(value, -0) ? negative : { k: 'not', a: negative, pos }, pos);
}

/** Of a zero: which one it is. */
function isNegativeZero(x: TExpr, pos: Pos): TExpr {
  return compare('lt', arith('div', literal(1, pos), x, pos), literal(0, pos), pos);
}

function both(a: TExpr, b: TExpr, pos: Pos): TExpr {
  return { k: 'logic', fn: 'and', a, b, pos };
}

function either(a: TExpr, b: TExpr, pos: Pos): TExpr {
  return { k: 'logic', fn: 'or', a, b, pos };
}
