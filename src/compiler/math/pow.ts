/**
 * pow of f32, and the logarithm to base 2 as a pair on which it and the gamma functions rest.
 *
 * log2 x is found to about 2⁻³⁴ with s = (m - 1) / (m + 1) in two parts of 12 bits and more, so that y log2 x still has 25
 * good bits where it is ±150. Special cases are those of JavaScript's Math.pow: pow(x, 0) is 1 for every x, NaN included;
 * pow(±1, ±Infinity) and pow(1, NaN) are NaN (C says 1).
 */
import type { Expr } from '../ir/ops.ts';
import { exp2Pair } from './exp.ts';
import {
  abs,
  add,
  and,
  asF32,
  asI32,
  div,
  eq,
  f32,
  fastTwoSum,
  gt,
  i32,
  isNotANumber,
  lt,
  mul,
  ne,
  neg,
  not,
  or,
  type Pair,
  polynomial,
  select,
  shr,
  sub,
  toF32,
  toI32,
  trunc,
  unlikely,
  upper,
} from './notation.ts';

/** 3 (atanh(s) / s - 1 - s²/3) / s⁴ in s², for s up to (√2 - 1) / (√2 + 1): 2⁻⁴³ of 3. */
const LOG_TAIL = [0.5999999642372131, 0.4285795986652374, 0.33269423246383667, 0.2933919429779053];
/** 2 / (3 ln 2): 12 bits and the rest. */
const FACTOR_HI = 0.9619140625;
const FACTOR_LO = -0.00011736857413779944;
const SQRT_HALF_BITS = 0x3f3504f3;

/** log2 of a positive finite x, denormal too, as an exact-product part and the rest (up to 2⁻¹⁰ of it), to 2⁻³⁴. */
export function log2Pair(x: Expr): Pair {
  const denormal = lt(x, 2 ** -126);
  const bits = sub(asI32(select(denormal, mul(x, 2 ** 24), x)), SQRT_HALF_BITS);
  const e = sub(toF32(shr(bits, 23)), select(denormal, f32(24), f32(0)));
  const f = sub(asF32(add(and(bits, 0x7fffff), SQRT_HALF_BITS)), 1);
  // s = f / (2 + f): a quotient, and what its upper half leaves.
  const den = fastTwoSum(f32(2), f);
  const inverse = div(f32(1), den.hi);
  const s = mul(f, inverse);
  const sh = upper(s);
  const dh = upper(den.hi);
  const left = sub(sub(f, mul(sh, dh)), mul(sh, add(sub(den.hi, dh), den.lo)));
  const sl = mul(left, inverse);
  // log m = 2/3 s (3 + s² + tail).
  const z = mul(s, s);
  const square = mul(sh, sh);
  const tail = add(mul(mul(z, z), polynomial(z, LOG_TAIL)), mul(sl, add(sh, s)));
  const top = add(f32(3), add(square, tail));
  const th = upper(top);
  const tl = sub(tail, sub(sub(th, 3), square));
  const head = mul(sh, th);
  const rest = add(mul(sl, th), mul(tl, s));
  const ph = upper(add(head, rest));
  const pl = sub(rest, sub(ph, head));
  const sum = fastTwoSum(e, mul(ph, FACTOR_HI));
  return { hi: sum.hi, lo: add(sum.lo, add(mul(ph, FACTOR_LO), mul(pl, FACTOR_HI + FACTOR_LO))) };
}

/** y (hi + lo) as a pair, for a factor and a product that do not overflow. */
export function timesPair(y: Expr, { hi, lo }: Pair): Pair {
  const sum = add(hi, lo);
  const sh = upper(sum);
  const sl = add(sub(hi, sh), lo);
  const yh = upper(y);
  return fastTwoSum(mul(yh, sh), add(mul(sub(y, yh), sh), mul(y, sl)));
}

export function pow(x: Expr, y: Expr): Expr {
  const ax = abs(x);
  const ay = abs(y);
  const whole = eq(trunc(y), y);
  const odd = and(and(whole, lt(ay, 2 ** 24)), ne(and(toI32(y), 1), i32(0)));
  const negative = lt(asI32(x), 0);
  const flip = (v: Expr): Expr => select(and(negative, odd), neg(v), v);

  // Beyond 2³² every power but that of 1 overflows or vanishes.
  const bounded = select(gt(y, 2 ** 32), 2 ** 32, select(lt(y, -(2 ** 32)), -(2 ** 32), y));
  const w = timesPair(bounded, log2Pair(ax));
  const within = lt(abs(w.hi), 160);
  const size = exp2Pair({ hi: select(within, w.hi, select(gt(w.hi, 0), 160, -160)), lo: select(within, w.lo, 0) });
  const main = select(and(negative, not(whole)), f32(Number.NaN), flip(size));

  const usual = and(and(gt(ax, 0), lt(ax, Infinity)), lt(ay, Infinity));
  const grows = eq(gt(ax, 1), gt(y, 0));
  const undefinedHere = or(or(isNotANumber(x), isNotANumber(y)), and(eq(ay, Infinity), eq(ax, 1)));
  const edge = select(undefinedHere, f32(Number.NaN), flip(select(grows, f32(Infinity), f32(0))));
  return unlikely(not(usual), select(eq(y, 0), 1, edge), main);
}
