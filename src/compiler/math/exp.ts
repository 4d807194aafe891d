/**
 * exp, exp2, expm1 of f32, and the exponential cores that other functions build on.
 *
 * x = k ln 2 + r with |r| ≤ ln 2 / 2; e^r is a polynomial, and 2^k goes into the exponent field. Results that overflow or
 * are denormal take the rare path, which multiplies twice.
 */
import type { Expr } from '../ir/ops.ts';
import {
  abs,
  add,
  asF32,
  asI32,
  fastTwoSum,
  gt,
  i32,
  le,
  lt,
  mul,
  nearestInt,
  not,
  type Pair,
  polynomial,
  select,
  shl,
  shr,
  sub,
  unlikely,
} from './notation.ts';

const LOG2_E = Math.LOG2E;
/** ln 2 in two parts; the first has 16 bits, so that its product with an exponent is exact. */
const LN2_HI = 0.693145751953125;
const LN2_LO = 1.428606765330187e-6;

/** (e^r - 1 - r) / r² on |r| ≤ 0.35, relative to e^r: 2⁻²⁸. */
const EXP = [
  0.4999999403953552, 0.16666509211063385, 0.041668009012937546, 0.008369989693164825, 0.0013847030932083726,
];
/** (e^r - 1 - r) / r² on |r| ≤ 0.35, relative to e^r - 1: 2⁻²⁸. */
const EXPM1 = [
  0.5, 0.16666634380817413, 0.04166650399565697, 0.008341710083186626, 0.0013931532157585025, 0.00015041425649542361,
];
/** (2^r - 1) / r on |r| ≤ 0.5: 2⁻³². */
const EXP2 = [
  0.6931471824645996, 0.24022650718688965, 0.055504053831100464, 0.009618083946406841, 0.0013337488053366542,
  0.0001545373088447377, 1.4461685168498661e-5,
];

const ONE_BITS = 0x3f800000;

/** 2^k for an i32 k in -126 … 127. */
export function powerOf2(k: Expr): Expr {
  return asF32(add(shl(k, 23), ONE_BITS));
}

/** p · 2^k for p near 1 and |k| ≤ 252, rounded once where the result is denormal, infinite where it overflows. */
export function scaleTwice(p: Expr, k: Expr): Expr {
  const half = shr(k, 1);
  return mul(mul(p, powerOf2(half)), powerOf2(sub(k, half)));
}

/** `bits` hold k in their low 23 bits. */
interface ExpParts {
  readonly p: Expr;
  readonly low: Expr;
  readonly k: Expr;
  readonly bits: Expr;
}

/** The i32 in the low bits of a `nearestInt`. */
function integer(bits: Expr): Expr {
  return sub(bits, 0x4b400000);
}

/** p · 2^k by adding to the exponent of p; only where the result is normal. */
function addExponent(p: Expr, bits: Expr): Expr {
  return asF32(add(asI32(p), shl(bits, 23)));
}

function clamp(x: Expr, least: number, greatest: number): Expr {
  const atLeast = select(lt(x, least), least, x);
  return select(gt(atLeast, greatest), greatest, atLeast);
}

/** e^(x + tail) = (p + low) · 2^k for |x| ≤ 150 and a tail of an ulp of x or less; p is rounded, `low` what that lost. */
export function expParts(x: Expr, tail?: Expr): ExpParts {
  const k = nearestInt(mul(x, LOG2_E));
  const low = mul(k.float, LN2_LO);
  const r = sub(sub(x, mul(k.float, LN2_HI)), tail === undefined ? low : sub(low, tail));
  const sum = add(mul(mul(r, r), polynomial(r, EXP)), r);
  const p = add(sum, 1);
  return { p, low: sub(sum, sub(p, 1)), k: integer(k.bits), bits: k.bits };
}

export function exp(x: Expr): Expr {
  const main = expParts(x);
  const edge = expParts(clamp(x, -104, 89));
  return unlikely(not(le(abs(x), 87)), scaleTwice(edge.p, edge.k), addExponent(main.p, main.bits));
}

/** e^(x + tail) / 2^shift for x in -150 … 90, with no care for NaN: it stays NaN. */
export function expScaled(x: Expr, shift: number, tail?: Expr): Expr {
  const { p, k } = expParts(x, tail);
  return scaleTwice(p, sub(k, i32(shift)));
}

/** 2^(hi + lo) for |hi| ≤ 160 and a small lo. */
export function exp2Pair({ hi, lo }: Pair): Expr {
  const k = nearestInt(hi);
  const r = add(sub(hi, k.float), lo);
  const p = add(mul(r, polynomial(r, EXP2)), 1);
  return scaleTwice(p, integer(k.bits));
}

export function exp2(x: Expr): Expr {
  const of = (v: Expr) => {
    const k = nearestInt(v);
    const r = sub(v, k.float);
    return { p: add(mul(r, polynomial(r, EXP2)), 1), bits: k.bits };
  };
  const main = of(x);
  const edge = of(clamp(x, -151, 128));
  return unlikely(not(le(abs(x), 125.5)), scaleTwice(edge.p, integer(edge.bits)), addExponent(main.p, main.bits));
}

/**
 * e^x - 1 as 2 (s - 1/2 + s r + s (r² … + r.lo)), s = 2^(k-1), which neither overflows before its result does nor loses the
 * low bits of r. As a pair: hi + lo before the last rounding, times 2.
 */
export function expm1Half(x: Expr): Pair {
  const k = nearestInt(mul(x, LOG2_E));
  const scale = powerOf2(sub(integer(k.bits), 1));
  const r = sub(x, mul(k.float, LN2_HI));
  const low = mul(k.float, LN2_LO);
  const reduced = sub(r, low);
  const rest = sub(sub(r, reduced), low);
  const curve = add(mul(mul(reduced, reduced), polynomial(reduced, EXPM1)), rest);
  const sum = fastTwoSum(sub(scale, 0.5), mul(scale, reduced));
  return { hi: sum.hi, lo: add(sum.lo, mul(scale, curve)) };
}

export function expm1(x: Expr): Expr {
  const { hi, lo } = expm1Half(clamp(x, -20, 89));
  const sum = add(hi, lo);
  return select(lt(abs(x), 2 ** -26), x, add(sum, sum));
}
