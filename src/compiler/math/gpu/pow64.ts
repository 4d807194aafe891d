/**
 * pow, cbrt, rsqrt and hypot of f64 for GPUs.
 */
import type { Expr } from '../../ir/ops.ts';
import { f64, i64, u64 } from '../f64/notation.ts';
import {
  abs,
  add,
  and,
  copysign,
  div,
  eq,
  f32,
  gt,
  i32,
  lt,
  mul,
  ne,
  neg,
  not,
  or,
  select,
  shl,
  sqrt,
  sub,
  unlikely,
} from '../notation.ts';
import { expOf } from './exp64.ts';
import { logPair } from './log64.ts';
import { approx, bitsAs, floor, fma, fmax, product, to } from './notation.ts';

export function pow(x: Expr, y: Expr): Expr {
  const ax = abs(x);
  const ay = abs(y);
  const whole = eq(floor(y), y);
  const halved = mul(y, 0.5);
  const odd = and(whole, ne(floor(halved), halved));
  const negative = lt(bitsAs('i64', x), i64(0n));
  const flip = (v: Expr): Expr => select(and(negative, odd), neg(v), v);

  const l = logPair(ax);
  const hi = product(l.hi, y);
  const within = lt(abs(hi), 800);
  const lo = fma(l.lo, y, fma(l.hi, y, neg(hi)));
  const size = expOf(hi, select(within, lo, f64(0)));
  const main = select(and(negative, not(whole)), f64(Number.NaN), flip(size));

  const usual = and(and(gt(ax, 0), lt(ax, Infinity)), lt(ay, Infinity));
  const grows = eq(gt(ax, 1), gt(y, 0));
  const nan = or(or(ne(x, x), ne(y, y)), and(eq(ay, Infinity), eq(ax, 1)));
  const edge = select(nan, f64(Number.NaN), flip(select(grows, f64(Infinity), f64(0))));
  return unlikely(not(usual), select(eq(y, 0), f64(1), edge), main);
}

/** The single-precision root of a number in [1, 8), with one step of Halley's. */
export function cbrt(x: Expr): Expr {
  const magnitude = abs(x);
  const denormal = lt(magnitude, 2 ** -1022);
  const bits = bitsAs('i64', mul(magnitude, select(denormal, f64(2 ** 54), f64(1))));
  const exponent = to('i32', { op: 'binary', type: 'i64', fn: 'shr', a: bits, b: i64(52n) });
  // A third of exponent + 3: rounded down, and right up to 2¹⁴.
  const third = { op: 'binary', type: 'i32', fn: 'shr', a: mul(add(exponent, 3), 43691), b: i32(17) } as const;
  const back = sub(mul(third, 3), 1026);
  const m = bitsAs('f64', sub(bits, shl(to('i64', back), i64(52n))));
  const guess = to('f64', approx('exp2Approx', mul(approx('log2Approx', to('f32', m)), f32(1 / 3))));
  const square = mul(guess, guess);
  const missing = fma(neg(square), guess, m);
  const three = mul(square, 3);
  const rough = approx('rcpApprox', three);
  const inverse = fma(fma(neg(three), rough, 1), rough, rough);
  const step = mul(missing, inverse);
  const second = mul(mul(step, step), mul(mul(inverse, 3), guess));
  const root = add(guess, sub(step, second));
  const shift = sub(third, select(denormal, i32(342 + 18), i32(342)));
  const scaled = bitsAs('f64', add(bitsAs('i64', root), shl(to('i64', shift), i64(52n))));
  return select(and(gt(magnitude, 0), lt(magnitude, Infinity)), copysign(scaled, x), x);
}

export function rsqrt(x: Expr): Expr {
  const rough = approx('rsqrtApprox', x);
  const e = fma(neg(mul(x, rough)), rough, 1);
  const value = fma(mul(rough, e), fma(e, 0.375, 0.5), rough);
  const usual = lt(sub(bitsAs('u64', x), u64(1n << 52n)), u64(0x7fe0000000000000n));
  return unlikely(not(usual), div(f64(1), sqrt(x)), value);
}

/** √(Σ x²), for any number of arguments, scaled where a square might leave the range; an infinity wins over NaN. */
export function hypot(...args: readonly Expr[]): Expr {
  const sizes = args.map(abs);
  const [first = f64(0), ...others] = sizes;
  if (others.length === 0) return first;
  const largest = others.reduce((most, a) => fmax(most, a), first);
  const sum = (values: readonly Expr[]): Expr => values.reduce((total: Expr, v) => fma(v, v, total), f64(0));
  const big = gt(largest, 1);
  const scale = select(big, f64(2 ** -600), f64(2 ** 700));
  const back = select(big, f64(2 ** 600), f64(2 ** -700));
  const scaled = mul(sqrt(sum(sizes.map((a) => mul(a, scale)))), back);
  const usual = and(gt(largest, 2 ** -500), lt(largest, 2 ** 500));
  return unlikely(not(usual), select(eq(largest, Infinity), f64(Infinity), scaled), sqrt(sum(sizes)));
}
