/**
 * Functions about the error function, in f32 and f64: its inverse and that of its complement, the scaled complement, and the normal distribution with its inverse.
 */
import { binary, bitcast, constant } from '../../ir/builder.ts';
import type { Expr } from '../../ir/ops.ts';
import { abs, add, div, eq, ge, gt, le, lt, mul, neg, type Pair, select, sqrt, sub } from '../notation.ts';
import { ERROR_F32, ERROR_F64 } from './error-tables.ts';
import { call, type ErrorTables, either, horner, hornerOf, rowOf } from './tables.ts';

const tablesOf = ({ type }: Expr): ErrorTables => (type === 'f32' ? ERROR_F32 : ERROR_F64);

/** x² in two parts: that of the upper half of its digits, which is exact, and the rest. */
function square(x: Expr): Pair {
  const kept = x.type === 'f32' ? constant('i32', -4096) : constant('i64', -(1n << 27n));
  const word = x.type === 'f32' ? 'i32' : 'i64';
  const upper = bitcast(x.type === 'f32' ? 'f32' : 'f64', binary('and', bitcast(word, x), kept));
  return { hi: mul(upper, upper), lo: mul(sub(x, upper), add(x, upper)) };
}

/** e^x - 1 for a small x. */
function growth(x: Expr): Expr {
  return mul(x, horner(x, [1, 1 / 2, 1 / 6, 1 / 24, 1 / 120]));
}

/** erfcx a for a ≥ 0. */
function scaled(a: Expr): Expr {
  const { centre, below, above } = tablesOf(a);
  // The quotient of a huge a is 1.
  const bounded = select(gt(a, 2 ** 60), 2 ** 60, a);
  const t = div(sub(bounded, centre), add(bounded, centre));
  return div(either(lt(t, 0), horner(t, below), horner(t, above)), add(a, centre));
}

export function erfcx(x: Expr): Expr {
  const a = abs(x);
  const value = scaled(a);
  // From here on e^x² overflows.
  const most = x.type === 'f32' ? 10 : 27;
  const { hi, lo } = square(select(gt(a, most), most, a));
  const power = call('exp', hi);
  const reflected = sub(mul(2, mul(power, add(1, growth(lo)))), value);
  return either(lt(x, 0), reflected, value);
}

export function normcdf(x: Expr): Expr {
  const { SQRT1_2 } = Math;
  const least = x.type === 'f32' ? -15 : -40;
  const bounded = select(lt(x, least), least, x);
  const { hi, lo } = square(bounded);
  // e^-x²/2 in two steps, so that what is denormal is rounded once.
  const power = call('exp', mul(hi, -0.25));
  const density = add(1, growth(mul(lo, -0.5)));
  const tail = mul(mul(mul(mul(scaled(mul(neg(bounded), SQRT1_2)), 0.5), density), power), power);
  return either(lt(x, -1), tail, mul(call('erfc', mul(x, -SQRT1_2)), 0.5));
}

/** erfinv x for |x| < 1/2. */
function middle(x: Expr): Expr {
  const { inverse, inverseLow } = tablesOf(x);
  const [first = 0, ...others] = inverse;
  const w = mul(x, x);
  return add(mul(x, first), mul(x, add(inverseLow, mul(w, horner(w, others)))));
}

/** erfcinv y for y ≤ 1/2, from y (2 - y). */
function tail(product: Expr): Expr {
  const { edges, columns, tail: rows } = tablesOf(product);
  const s = sqrt(neg(call('log', product)));
  const row = edges.reduce(
    (sum: Expr, edge) => binary('add', sum, select(ge(s, edge), constant('i32', 1), constant('i32', 0))),
    constant('i32', 0),
  );
  const [point, ...coefficients] = rowOf(s.type === 'f32' ? 'f32' : 'f64', rows, columns, row);
  if (point === undefined) throw new Error('a row without a point');
  const value = mul(s, hornerOf(sub(s, point), coefficients));
  return select(eq(product, 0), Number.POSITIVE_INFINITY, value);
}

export function erfinv(x: Expr): Expr {
  const a = abs(x);
  const outer = tail(mul(sub(1, a), add(1, a)));
  // Zeros keep their sign.
  return either(lt(a, 0.5), select(eq(x, 0), x, middle(x)), select(lt(x, 0), neg(outer), outer));
}

export function erfcinv(y: Expr): Expr {
  const rest = sub(1, y);
  const other = sub(2, y);
  const outer = tail(mul(select(lt(y, 1), y, other), select(lt(y, 1), other, y)));
  return either(lt(abs(rest), 0.5), middle(rest), select(le(y, 1), outer, neg(outer)));
}

export function normcdfinv(p: Expr): Expr {
  return add(0, mul(erfcinv(mul(p, 2)), -Math.SQRT2)); // no -0 at 1/2
}
