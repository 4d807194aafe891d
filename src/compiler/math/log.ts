/**
 * log, log2, log10, log1p of f32, and the logarithm core that the inverse hyperbolic functions build on.
 *
 * x = 2^e · m with m in [√½, √2), by integer arithmetic on the bits; f = m - 1 is exact; log m = f - f²/2 + f³ P(f).
 * Zero, negative, infinite, NaN and denormal arguments take the rare path.
 */
import type { Expr } from '../ir/ops.ts';
import {
  add,
  and,
  asF32,
  asI32,
  asU32,
  eq,
  f32,
  fastTwoSum,
  ge,
  gt,
  lt,
  mul,
  not,
  type Pair,
  polynomial,
  select,
  shl,
  shr,
  sub,
  toF32,
  twoSum,
  unlikely,
  upper,
} from './notation.ts';

/** ln 2 in two parts; the first has 16 bits, so that its product with an exponent is exact. */
const LN2_HI = 0.693145751953125;
const LN2_LO = 1.428606765330187e-6;
/** log10 2 in the same way. */
const LOG10_2_HI = 0.30103302001953125;
const LOG10_2_LO = -3.024355464731343e-6;
/** 1 / ln 2 and 1 / ln 10: 12 bits and the rest. */
const LOG2_E_HI = 1.44287109375;
const LOG2_E_LO = -0.00017605285393074155;
const LOG10_E_HI = 0.434326171875;
const LOG10_E_LO = -3.168997136526741e-5;

/** (log(1 + f) - f + f²/2) / f³ on √½ ≤ 1 + f ≤ √2, relative to log: 2⁻²⁷. */
const LOG = [
  0.3333333134651184, -0.250008225440979, 0.20001259446144104, -0.16623343527317047, 0.1420106440782547,
  -0.13159558176994324, 0.12765800952911377, -0.07641246914863586,
];

const SQRT_HALF_BITS = 0x3f3504f3;
const DENORMAL_SCALE = 2 ** 23;

/** x = 2^e · (1 + f) for positive normal x. */
function split(x: Expr): { readonly e: Expr; readonly exponent: Expr; readonly f: Expr } {
  const bits = sub(asI32(x), SQRT_HALF_BITS);
  const exponent = shr(bits, 23);
  const m = asF32(add(and(bits, 0x7fffff), SQRT_HALF_BITS));
  return { e: toF32(exponent), exponent, f: sub(m, 1) };
}

/** log(1 + f) - f, as the square and the rest. */
function curve(f: Expr): { readonly half: Expr; readonly cubic: Expr } {
  const square = mul(f, f);
  return { half: mul(square, 0.5), cubic: mul(mul(square, f), polynomial(f, LOG)) };
}

/** Extends a logarithm of positive normal numbers to all arguments: `of(x, k)` is log(x) less k times log 2. */
function extend(x: Expr, of: (x: Expr, k: number) => Expr): Expr {
  const unusual = ge(sub(asU32(x), 0x00800000), 0x7f000000);
  const denormal = of(mul(x, DENORMAL_SCALE), 23);
  const positive = select(lt(x, Infinity), denormal, x);
  const rare = select(gt(x, 0), positive, select(eq(x, 0), -Infinity, f32(Number.NaN)));
  return unlikely(unusual, rare, of(x, 0));
}

export function log(x: Expr): Expr {
  return extend(x, (v, k) => {
    const { e: exponent, f } = split(v);
    const e = k === 0 ? exponent : sub(exponent, k);
    const { half, cubic } = curve(f);
    return add(mul(e, LN2_HI), sub(f, sub(half, add(cubic, mul(e, LN2_LO)))));
  });
}

/** e · unit + log(1 + f) · factor, with f · factor in two exact-product parts. */
function scaled(
  v: Expr,
  k: number,
  unit: { readonly hi: number; readonly lo: number },
  factor: { readonly hi: number; readonly lo: number },
): Expr {
  const { e: exponent, f } = split(v);
  const e = k === 0 ? exponent : sub(exponent, k);
  const { half, cubic } = curve(f);
  const fh = upper(f);
  const rest = add(
    mul(sub(cubic, half), factor.hi + factor.lo),
    add(mul(sub(f, fh), factor.hi + factor.lo), mul(fh, factor.lo)),
  );
  const sum = fastTwoSum(unit.hi === 1 ? e : mul(e, unit.hi), mul(fh, factor.hi));
  const low = unit.lo === 0 ? sum.lo : add(sum.lo, mul(e, unit.lo));
  return add(sum.hi, add(low, rest));
}

export function log2(x: Expr): Expr {
  return extend(x, (v, k) => scaled(v, k, { hi: 1, lo: 0 }, { hi: LOG2_E_HI, lo: LOG2_E_LO }));
}

export function log10(x: Expr): Expr {
  return extend(x, (v, k) => scaled(v, k, { hi: LOG10_2_HI, lo: LOG10_2_LO }, { hi: LOG10_E_HI, lo: LOG10_E_LO }));
}

/** log(u + tail) for a positive normal u and a tail of at most an ulp of it. Near 1, `minusOne` is u + tail - 1. */
export function logPair(u: Expr, tail: Expr, minusOne?: Pair): Expr {
  const { e, exponent, f: leading } = split(u);
  const scale = asF32(sub(0x3f800000, shl(exponent, 23)));
  const near = eq(exponent, 0);
  const f = minusOne === undefined ? leading : select(near, minusOne.hi, leading);
  const low = select(lt(u, 2 ** 60), mul(tail, scale), 0); // beyond, the scale leaves the exponent's range
  const c = minusOne === undefined ? low : select(near, minusOne.lo, low);
  const { half, cubic } = curve(f);
  const small = add(mul(e, LN2_LO), sub(c, mul(c, f)));
  return add(mul(e, LN2_HI), sub(f, sub(half, add(cubic, small))));
}

export function log1p(x: Expr): Expr {
  const { hi, lo } = twoSum(f32(1), x);
  const main = select(eq(x, 0), x, logPair(hi, lo, { hi: x, lo: f32(0) }));
  const rare = select(eq(x, -1), -Infinity, select(gt(x, 0), x, f32(Number.NaN)));
  const usual = and(gt(x, -1), lt(x, Infinity));
  return unlikely(not(usual), rare, main);
}
