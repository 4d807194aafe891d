/**
 * Exponentials of f64 for GPUs: e^x = 2^k · e^r with |r| ≤ ln 2 / 2, which is left in two parts where it shows.
 *
 * 2^k goes into the exponent field; results that overflow or are denormal take the rare path, which multiplies twice.
 */
import type { Expr } from '../../ir/ops.ts';
import { f64, i64 } from '../f64/notation.ts';
import {
  abs,
  add,
  copysign,
  fastTwoSum,
  gt,
  i32,
  le,
  lt,
  mul,
  ne,
  not,
  type Pair,
  select,
  shl,
  shr,
  sub,
  unlikely,
} from '../notation.ts';
import { bitsAs, fma, horner, lowWord, nearestProduct, reciprocal, to } from './notation.ts';

const LOG2_E = Math.LOG2E;
const LN2 = Math.LN2;
const LN2_LO = 2.3190468138462996e-17;

/** (e^r - 1 - r) / r² on |r| ≤ 0.35. */
const EXP = [
  0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717,
  0.00019841269863053618, 2.4801521295954376e-5, 2.7557268459997064e-6, 2.7620088445409746e-7, 2.510038549551032e-8,
];
/** The same, relative to e^r - 1: 2⁻⁵⁹. */
const EXPM1 = [
  0.5, 0.16666666666666666, 0.04166666666666668, 0.008333333333333333, 0.0013888888888879073, 0.00019841269841263298,
  2.4801587336442236e-5, 2.755731924721873e-6, 2.75572632790885e-7, 2.505207109429355e-8, 2.0918137737642736e-9,
  1.608662795678037e-10,
];
/** (2^r - 1) / r on |r| ≤ 0.5: 2⁻⁵⁶. */
const EXP2 = [
  Math.LN2,
  0.24022650695910072,
  0.055504108664821625,
  0.00961812910762848,
  0.0013333558146406436,
  0.00015403530393370715,
  1.5252733841601815e-5,
  1.3215486808727859e-6,
  1.0178057064573359e-7,
  7.054897292691627e-9,
  4.455822025014915e-10,
  2.5729344553786755e-11,
];
/** (sinh x - x) / x³ in x², |x| ≤ 1. */
const SINH = [
  0.16666666666666666, 0.008333333333333299, 0.00019841269841324198, 2.7557319191381816e-6, 2.5052117695907823e-8,
  1.6057679623801638e-10, 7.746178593018827e-13,
];
/** (tanh x - x) / x³ in x², |x| ≤ 0.55. */
const TANH = [
  -0.3333333333333333, 0.13333333333332714, -0.053968253967434016, 0.021869488493666944, -0.008863234397814355,
  0.003592110378689024, -0.001455661830100716, 0.0005889360520074057, -0.0002346347410887237, 8.511313685577672e-5,
  -2.060276537636634e-5,
];
/** 1.0 as bits. */
const ONE = 0x3ff0000000000000n;

export interface ExpParts {
  readonly p: Expr;
  /** An i32. */
  readonly k: Expr;
  /** k in the low bits of an i64. */
  readonly bits: Expr;
}

/** 2^k for an i32 k in -1022 … 1023. */
export function powerOf2(k: Expr): Expr {
  return bitsAs('f64', shl(to('i64', add(k, i32(1023))), i64(52n)));
}

/** p · 2^k by adding to the exponent of p; only where the result is normal. */
function addExponent(p: Expr, bits: Expr): Expr {
  return bitsAs('f64', add(bitsAs('i64', p), shl(bits, i64(52n))));
}

/** p · 2^k rounded once, for |k| ≤ 2000. */
export function scaleTwice(p: Expr, k: Expr): Expr {
  const half = shr(k, i32(1));
  return mul(mul(p, powerOf2(half)), powerOf2(sub(k, half)));
}

/** p · 2^k with the result where x is beyond what an f64 can hold; rounded once where it is denormal. */
function finish(x: Expr, { p, k, bits }: ExpParts, least: number, safe: number, greatest: number): Expr {
  const bounded = select(lt(x, least), f64(0), scaleTwice(p, k));
  const edge = select(gt(x, greatest), f64(Infinity), bounded);
  return unlikely(not(le(abs(x), safe)), edge, addExponent(p, bits));
}

function clamp(x: Expr, least: number, greatest: number): Expr {
  const atLeast = select(lt(x, least), f64(least), x);
  return select(gt(atLeast, greatest), f64(greatest), atLeast);
}

/** e^(x + tail) = p · 2^k, for |x| ≤ 2000. */
export function expParts(x: Expr, tail?: Expr): ExpParts {
  const k = nearestProduct(x, LOG2_E);
  const reduced = fma(k.float, -LN2_LO, fma(k.float, -LN2, x));
  const r = tail === undefined ? reduced : add(reduced, tail);
  return { p: add(fma(mul(r, r), horner(r, EXP), r), 1), k: lowWord(k.bits), bits: k.bits };
}

/** e^(x + tail) = (hi + lo) · 2^k to about 2⁻⁵⁷, for |x| ≤ 2000. */
export function expPair(x: Expr, tail: Expr): { readonly p: Pair; readonly k: Expr } {
  const k = nearestProduct(x, LOG2_E);
  const start = fma(k.float, -LN2, x);
  const reduced = fma(k.float, -LN2_LO, start);
  const r = add(reduced, tail);
  const rest = add(fma(k.float, -LN2_LO, sub(start, reduced)), sub(tail, sub(r, reduced)));
  const top = fastTwoSum(f64(1), r);
  const curve = fma(mul(r, r), horner(r, EXPM1), fma(rest, r, rest));
  return { p: fastTwoSum(top.hi, add(top.lo, curve)), k: lowWord(k.bits) };
}

/** e^(x + tail), with no other care for x than that it is not NaN where the tail is. */
export function expOf(x: Expr, tail?: Expr): Expr {
  return finish(x, expParts(x, tail), -746, 708, 710);
}

export function exp(x: Expr): Expr {
  return expOf(x);
}

export function exp2(x: Expr): Expr {
  const k = nearestProduct(x, 1);
  const r = sub(x, k.float);
  const parts: ExpParts = { p: fma(r, horner(r, EXP2), 1), k: lowWord(k.bits), bits: k.bits };
  return finish(x, parts, -1076, 1020, 1025);
}

/** (e^x - 1) / 2 before its last rounding, for -40 ≤ x ≤ 710. */
function expm1Half(x: Expr): Pair {
  const k = nearestProduct(x, LOG2_E);
  const scale = bitsAs('f64', add(i64(ONE - (1n << 52n)), shl(k.bits, i64(52n))));
  const start = fma(k.float, -LN2, x);
  const r = fma(k.float, -LN2_LO, start);
  const rest = fma(k.float, -LN2_LO, sub(start, r));
  const curve = fma(mul(r, r), horner(r, EXPM1), rest);
  const sum = fastTwoSum(sub(scale, 0.5), mul(scale, r));
  return { hi: sum.hi, lo: fma(scale, curve, sum.lo) };
}

export function expm1(x: Expr): Expr {
  const { hi, lo } = expm1Half(clamp(x, -40, 710));
  const sum = add(hi, lo);
  return select(lt(abs(x), 2 ** -54), x, add(sum, sum));
}

/** a + a³ P(a²). */
export function odd(a: Expr, coefficients: readonly number[]): Expr {
  const z = mul(a, a);
  return fma(mul(a, z), horner(z, coefficients), a);
}

/** e^a / 2 and e^-a / 2 for a ≥ 0; the first is infinite when a reaches 711. */
function halves(a: Expr): { readonly grown: Expr; readonly shrunk: Expr } {
  const { p, k } = expParts(select(gt(a, 711), f64(711), a));
  // 2^(k - 1) fits, but not more: k is 1026 at most.
  const half = mul(mul(p, powerOf2(sub(shr(k, i32(1)), i32(1)))), powerOf2(sub(k, shr(k, i32(1)))));
  const inverse = select(lt(a, 30), powerOf2(sub(i32(-1), k)), f64(0));
  return { grown: half, shrunk: mul(reciprocal(p), inverse) };
}

export function sinh(x: Expr): Expr {
  const a = abs(x);
  const { grown, shrunk } = halves(a);
  return copysign(select(lt(a, 1), odd(a, SINH), sub(grown, shrunk)), x);
}

export function cosh(x: Expr): Expr {
  const { grown, shrunk } = halves(abs(x));
  return add(grown, shrunk);
}

export function tanh(x: Expr): Expr {
  const a = abs(x);
  const { p, bits } = expParts(mul(select(gt(a, 20), f64(20), a), 2));
  const squared = addExponent(p, bits);
  const large = fma(reciprocal(add(squared, 1)), -2, 1);
  return select(ne(x, x), x, copysign(select(lt(a, 0.55), odd(a, TANH), large), x));
}
