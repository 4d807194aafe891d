/**
 * Bessel functions of f32 and f64: J and Y of order 0 and 1, and the modified I of order 0 and 1.
 *
 * Below 8, J and Y are polynomials about their zeros, so that they are as accurate there as anywhere; Y below 2 (1.5) has its logarithm apart. From 8 on they are
 * Hankel's P and Q with the sine and cosine of x itself: the error is then absolute, in units of the amplitude √(2 / πx).
 */
import type { Expr } from '../../ir/ops.ts';
import { abs, add, div, eq, gt, lt, mul, neg, select, sqrt, sub } from '../notation.ts';
import { BESSEL_F32 } from './bessel-f32.ts';
import { BESSEL_F64 } from './bessel-f64.ts';
import { type BesselTables, call, either, type Hankel, horner, hornerOf, type Rows, rowOf, whole } from './tables.ts';

/** Where Hankel's form begins. */
const FAR = 8;
const TWO_OVER_PI = 0.6366197723675814;
/** 1 / √π. */
const AMPLITUDE = 0.5641895835477563;

const tablesOf = ({ type }: Expr): BesselTables => (type === 'f32' ? BESSEL_F32 : BESSEL_F64);

/** From the rows of a table, for x from `from` up to 8. */
function near(x: Expr, { from, columns, rows }: Rows): Expr {
  const last = rows.length / columns - 1;
  const place = mul(sub(x, from), 2);
  const inside = select(gt(place, 0), select(gt(place, last), last, place), 0);
  const [point, low, ...coefficients] = rowOf(x.type === 'f32' ? 'f32' : 'f64', rows, columns, whole(inside));
  if (point === undefined || low === undefined) throw new Error('a row without a point');
  return hornerOf(sub(sub(x, point), low), coefficients);
}

/** (P + Q) a + (P - Q) b over √πx, where a and b are sine and cosine of x or of the other sign. */
function far(x: Expr, { p, q }: Hankel, pick: (sine: Expr, cosine: Expr) => readonly [a: Expr, b: Expr]): Expr {
  const u = div(1, x);
  const w = mul(u, u);
  const [even, odd] = [horner(w, p), mul(u, horner(w, q))];
  const [a, b] = pick(call('sin', x), call('cos', x));
  const sum = add(mul(add(even, odd), a), mul(sub(even, odd), b));
  return mul(div(AMPLITUDE, sqrt(x)), sum);
}

export function j0(x: Expr): Expr {
  const t = tablesOf(x);
  const a = abs(x);
  const value = either(
    lt(a, FAR),
    near(a, t.j0),
    far(a, t.hankel0, (s, c) => [c, s]),
  );
  return select(eq(a, Number.POSITIVE_INFINITY), 0, value);
}

export function j1(x: Expr): Expr {
  const t = tablesOf(x);
  const a = abs(x);
  const value = either(
    lt(a, FAR),
    near(a, t.j1),
    far(a, t.hankel1, (s, c) => [s, neg(c)]),
  );
  // The sign of zeros, too.
  return select(eq(a, Number.POSITIVE_INFINITY), 0, select(eq(a, 0), x, select(lt(x, 0), neg(value), value)));
}

/** Y is NaN below 0, -∞ at 0, and 0 at ∞. */
function second(x: Expr, value: Expr): Expr {
  const bounded = select(eq(x, Number.POSITIVE_INFINITY), 0, select(eq(x, 0), Number.NEGATIVE_INFINITY, value));
  return select(lt(x, 0), Number.NaN, bounded);
}

export function y0(x: Expr): Expr {
  const t = tablesOf(x);
  const [zero = 0, low = 0] = t.y0Start.zero;
  const distance = sub(sub(x, zero), low);
  // Of a small x by its own logarithm: a denormal one has no digits left to be divided.
  const ratio = select(lt(x, zero / 2), sub(call('log', x), Math.log(zero)), call('log1p', mul(distance, 1 / zero)));
  const rest = mul(mul(distance, add(x, zero)), horner(mul(x, x), t.y0Start.rest));
  const start = add(mul(TWO_OVER_PI, mul(ratio, near(x, t.j0))), rest);
  const others = either(
    lt(x, FAR),
    near(x, t.y0),
    far(x, t.hankel0, (s, c) => [s, neg(c)]),
  );
  return second(x, either(lt(x, t.y0.from), start, others));
}

export function y1(x: Expr): Expr {
  const t = tablesOf(x);
  const smooth = add(mul(TWO_OVER_PI, mul(call('log', x), near(x, t.j1))), mul(x, horner(mul(x, x), t.y1Start)));
  const start = sub(smooth, div(TWO_OVER_PI, x));
  const others = either(
    lt(x, FAR),
    near(x, t.y1),
    far(x, t.hankel1, (s, c) => [neg(c), neg(s)]),
  );
  return second(x, either(lt(x, t.y1.from), start, others));
}

/** √x e^-x I(x) from its polynomial, times e^x / √x: the power in two steps, as it may overflow before the product does. */
function modifiedFar(a: Expr, coefficients: readonly number[]): Expr {
  const power = call('exp', mul(a, 0.5));
  const value = mul(mul(power, div(horner(sub(div(16, a), 1), coefficients), sqrt(a))), power);
  return select(eq(a, Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY, value);
}

export function i0(x: Expr): Expr {
  const t = tablesOf(x).i0;
  const a = abs(x);
  const y = mul(mul(a, a), 0.25);
  return either(lt(a, FAR), add(1, mul(y, horner(y, t.near))), modifiedFar(a, t.far));
}

export function i1(x: Expr): Expr {
  const t = tablesOf(x).i1;
  const a = abs(x);
  const y = mul(mul(a, a), 0.25);
  const half = mul(x, 0.5);
  const large = modifiedFar(a, t.far);
  return either(lt(a, FAR), add(half, mul(half, mul(y, horner(y, t.near)))), select(lt(x, 0), neg(large), large));
}
