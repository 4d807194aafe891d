/**
 * cbrt, hypot, rsqrt of f32.
 */
import type { Expr } from '../ir/ops.ts';
import {
  abs,
  add,
  and,
  asF32,
  asI32,
  copysign,
  div,
  eq,
  f32,
  gt,
  lt,
  mul,
  not,
  or,
  select,
  sqrt,
  sub,
  toF32,
  toI32,
  unlikely,
  upper,
} from './notation.ts';

/** Two thirds of the exponent bias, with the mean error of the linear guess taken off. */
const CBRT_BITS = 709958130;

export function cbrt(x: Expr): Expr {
  const magnitude = abs(x);
  const tiny = lt(magnitude, 2 ** -100);
  const huge = gt(magnitude, 2 ** 100);
  const a = mul(magnitude, select(tiny, f32(2 ** 48), select(huge, f32(2 ** -48), f32(1))));
  // A third of the bits is the guess (5 %), Halley's step makes it 2⁻¹⁴, another one from 12 bits finishes.
  const guess = asF32(add(toI32(mul(toF32(asI32(a)), 0.333333333)), CBRT_BITS));
  const cube = mul(mul(guess, guess), guess);
  const t = upper(mul(guess, div(add(add(a, a), cube), add(add(cube, cube), a))));
  const r = div(a, mul(t, t));
  const root = add(t, mul(t, div(sub(r, t), add(add(t, t), r))));
  const scaled = mul(root, select(tiny, f32(2 ** -16), select(huge, f32(2 ** 16), f32(1))));
  return select(and(gt(magnitude, 0), lt(magnitude, Infinity)), copysign(scaled, x), x);
}

export function rsqrt(x: Expr): Expr {
  return div(1, sqrt(x));
}

/** √(Σ x²), for any number of arguments; an infinity wins over NaN, as in JavaScript. */
export function hypot(...args: readonly Expr[]): Expr {
  const sizes = args.map(abs);
  const [first = f32(0), ...others] = sizes;
  const largest = others.reduce((most, a) => select(gt(a, most), a, most), first);
  const sum = (values: readonly Expr[]): Expr =>
    values.map((v) => mul(v, v)).reduce((total, square) => add(total, square));
  if (args.length < 2) return first;
  const big = gt(largest, 1);
  const scale = select(big, f32(2 ** -80), f32(2 ** 90));
  const back = select(big, f32(2 ** 80), f32(2 ** -90));
  const scaled = mul(sqrt(sum(sizes.map((a) => mul(a, scale)))), back);
  const infinite = sizes.map((a) => eq(a, Infinity)).reduce((any, one) => or(any, one));
  const usual = and(gt(largest, 2 ** -60), lt(largest, 2 ** 60));
  return unlikely(not(usual), select(infinite, Infinity, scaled), sqrt(sum(sizes)));
}
