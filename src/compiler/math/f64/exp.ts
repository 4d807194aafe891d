/**
 * Exponentials of f64 on processors: e^x = 2^k · e^r with |r| ≤ ln 2 / 2.
 *
 * 2^k is added to the exponent field. Arguments whose results overflow or are denormal, and NaN, are the host's.
 */
import type { Expr } from '../../ir/ops.ts';
import {
  abs,
  add,
  copysign,
  div,
  fastTwoSum,
  gt,
  le,
  lt,
  mul,
  ne,
  not,
  polynomial,
  select,
  shl,
  sub,
} from '../notation.ts';
import { bitsOf, f64, fromBits, i64, nearestInt, orHost, upper } from './notation.ts';

const LOG2_E = Math.LOG2E;
/** ln 2 in two parts; the first has 42 bits, so that its product with an exponent is exact. */
const LN2_HI = 0.6931471805598903;
const LN2_LO = 5.497923018708371e-14;
/** ln 2 with 26 bits, and the rest. */
const LN2_SHORT = 0.6931471824645996;
const LN2_SHORT_LO = -1.904654299957768e-9;

/** (e^r - 1 - r) / r² on |r| ≤ 0.35. */
const EXP = [
  0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717,
  0.00019841269863053618, 2.4801521295954376e-5, 2.7557268459997064e-6, 2.7620088445409746e-7, 2.510038549551032e-8,
];
/** ((2^r - 1) / r - ln 2) / r on |r| ≤ 0.5: 2⁻⁵⁶ of the whole. */
const EXP2 = [
  0.24022650695910072, 0.055504108664821625, 0.00961812910762848, 0.0013333558146406436, 0.00015403530393370715,
  1.5252733841601815e-5, 1.3215486808727859e-6, 1.0178057064573359e-7, 7.054897292691627e-9, 4.455822025014915e-10,
  2.5729344553786755e-11,
];

/** p · 2^k for a normal result, where `bits` has k in its low bits. */
export function addExponent(p: Expr, bits: Expr): Expr {
  return fromBits(add(bitsOf(p), shl(bits, i64(52n))));
}

/** e^(x + tail) for |x| ≤ 708 and a small tail. */
export function expOf(x: Expr, tail?: Expr): Expr {
  const k = nearestInt(mul(x, LOG2_E));
  const first = sub(x, mul(k.float, LN2_HI)); // exact
  const second = tail === undefined ? mul(k.float, LN2_LO) : sub(mul(k.float, LN2_LO), tail);
  const r = sub(first, second);
  const lost = sub(sub(first, r), second);
  const top = fastTwoSum(f64(1), r);
  const p = add(top.hi, add(top.lo, add(lost, mul(mul(r, r), polynomial(r, EXP)))));
  return addExponent(p, k.bits);
}

export function exp(x: Expr): Expr {
  return orHost(not(le(abs(x), 708)), 'exp', [x], expOf(x));
}

export function exp2(x: Expr): Expr {
  const k = nearestInt(x);
  const r = sub(x, k.float);
  const top = fastTwoSum(f64(1), mul(r, Math.LN2));
  const p = add(top.hi, add(top.lo, mul(mul(r, r), polynomial(r, EXP2))));
  return orHost(not(le(abs(x), 1020)), 'pow', [f64(2), x], addExponent(p, k.bits));
}

/** (tanh x - x) / x³ in x², |x| ≤ 0.55. */
const TANH = [
  -0.3333333333333333, 0.13333333333332714, -0.053968253967434016, 0.021869488493666944, -0.008863234397814355,
  0.003592110378689024, -0.001455661830100716, 0.0005889360520074057, -0.0002346347410887237, 8.511313685577672e-5,
  -2.060276537636634e-5,
];

export function tanh(x: Expr): Expr {
  const a = abs(x);
  const z = mul(a, a);
  const small = add(a, mul(mul(a, z), polynomial(z, TANH)));
  // From 20 on it is 1.
  const squared = expOf(mul(select(gt(a, 20), f64(20), a), 2));
  const large = sub(f64(1), div(f64(2), add(squared, 1)));
  return select(ne(x, x), x, copysign(select(lt(a, 0.55), small, large), x));
}

/** 2^(hi + lo) for a normal result, where hi is a product that has been rounded but little, and lo is small. */
export function expPower(hi: Expr, lo: Expr): Expr {
  const k = nearestInt(hi);
  const r = sub(hi, k.float);
  // r ln 2 as a sum: 26 bits of both have an exact product.
  const rh = upper(r);
  const first = mul(rh, LN2_SHORT);
  const second = add(mul(add(sub(r, rh), lo), Math.LN2), mul(rh, LN2_SHORT_LO));
  const t = fastTwoSum(first, second);
  const top = fastTwoSum(f64(1), t.hi);
  const p = add(top.hi, add(top.lo, add(t.lo, mul(mul(t.hi, t.hi), polynomial(t.hi, EXP)))));
  return addExponent(p, k.bits);
}
