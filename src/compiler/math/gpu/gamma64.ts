/**
 * erf, erfc, tgamma and lgamma of f64 for GPUs.
 *
 * erfc is e^-x² P(t) / (x + c) with t = (x - c) / (x + c), x² in two parts. Γ(v) for v ≥ 3 comes from Stirling's formula as a pair;
 * below, Γ(x) = Γ(x + 3) / (x (x + 1) (x + 2)); negative arguments are reflected. lgamma has polynomials about its zeros 1 and 2.
 * Near its zeros on the negative axis lgamma is accurate absolutely, not relatively.
 */
import type { Expr } from '../../ir/ops.ts';
import { f64 } from '../f64/notation.ts';
import {
  abs,
  add,
  and,
  copysign,
  div,
  eq,
  fastTwoSum,
  gt,
  lt,
  mul,
  ne,
  neg,
  type Pair,
  select,
  sub,
  twoSum,
  unlikely,
} from '../notation.ts';
import { expPair, scaleTwice } from './exp64.ts';
import { log, logPair } from './log64.ts';
import {
  either,
  eitherOf,
  exactProduct,
  floor,
  fma,
  horner,
  quotient,
  reciprocal,
  times,
  timesPair,
} from './notation.ts';
import { sinPiPair } from './trig64.ts';

/** erf x / x - 1 in x², |x| ≤ 0.85: 2⁻⁵⁶. */
const ERF = [
  0.1283791670955126, -0.3761263890318375, 0.11283791670954685, -0.02686617064501726, 0.005223977623916789,
  -0.0008548326902886471, 0.00012055326932054655, -1.4925450090912942e-5, 1.6457676496214065e-6, -1.6300495998065118e-7,
  1.4189584294135369e-8, -8.837207342835496e-10,
];
const ERF_LOW = -1.2587413698264473e-17;
/** (x + 5/2) e^x² erfc x in (x - 5/2) / (x + 5/2), 0.5 ≤ x ≤ 6: 2⁻⁵⁶. */
const ERFC_NEAR = [
  1.054031820305718, -0.8046518494391485, 0.4539141166481008, -0.17125114524613005, 0.028361550131534418,
  0.008393044306982636, -0.00481878550379398, -0.00043920836989824004, 0.000702693288525999, 5.8308891982447775e-5,
  -0.00011259936769009781, -1.9536521641895034e-5, 1.82064042319316e-5, 6.743153412761613e-6, -2.1999321577956193e-6,
  -1.8183341083901886e-6, -1.5873045245341053e-7, 1.0584809304110789e-7,
];
const ERFC_NEAR_LOW = -6.142924013055739e-17;
/** (x + 7/2) e^x² erfc x in (x - 7/2) / (x + 7/2), 0.65 ≤ x ≤ 27.5: 2⁻⁵⁹. */
const ERFC = [
  1.08705558926226, -0.937799724567112, 0.6941136466346433, -0.4352560267168805, 0.22573862164747938,
  -0.0923187066388836, 0.026518619880103445, -0.003177050334749109, -0.0013053546733339985, 0.0007145316030382955,
  -4.2062293430992386e-5, -7.477657932472994e-5, 1.864774822696344e-5, 7.242187878034349e-6, -3.3935542317578528e-6,
  -7.915325585342208e-7, 5.531000777598724e-7, 1.0881472919108634e-7, -8.59397046476014e-8, -1.5539559073235528e-8,
  1.0026528514214948e-8, 1.022605426383828e-9,
];
const ERFC_LOW = 1.012964395533049e-16;
/** (ln Γ(v) - (v - 1/2) ln v + v - ln √2π) v in 1/v, v ≥ 3: 2⁻⁶⁰ after the division by v. */
const STIRLING = [
  0.08333333333333333, 3.2075291090241235e-15, -0.002777777778420502, 5.181262334224175e-11, 0.000793648568345658,
  5.843723792453286e-8, -0.0005962526819865178, 1.219870026887714e-5, 0.0007375661301194593, 0.0006370029717620435,
  -0.0046690569280658815, 0.00797378017786197, -0.006674203636231029, 0.0023736050727038013,
];
/** log Γ(1 + t) / t, |t| ≤ 1/2. */
const NEAR_1 = [
  -0.5772156649015329, 0.8224670334241132, -0.40068563438653065, 0.27058080842778026, -0.20738555102889636,
  0.16955717699821546, -0.14404989674293042, 0.12550966945361255, -0.11133426744819344, 0.10009946106870661,
  -0.09095395937948512, 0.08335372852716888, -0.07693389168797567, 0.07143531456613504, -0.06664634848826916,
  0.06246601996645537, -0.05907935115771443, 0.055923603007143954, -0.05055361916461507, 0.047207949581154034,
  -0.05967209611450288, 0.06069988251670486, 0.005627198134008818, -0.017221996443625896, -0.17545100195447957,
  0.1933124209110138, 0.19662943603137412, -0.21990054046608104, -0.24134519253805736, 0.25001640963788685,
];
const NEAR_1_LOW = 4.521527039407291e-18;
/** log Γ(2 + t) / t, -1/2 ≤ t ≤ 1. */
const NEAR_2 = [
  0.42278433509846713, 0.3224670334241132, -0.06735230105319805, 0.020580808427784383, -0.007385551028678716,
  0.00289051033075394, -0.0011927539115513632, 0.0005096695243107221, -0.00022315476075441458, 9.945752067774074e-5,
  -4.492622011373156e-5, 2.050713238258249e-5, -9.439521103606875e-6, 4.37532324190998e-6, -2.0395164264695046e-6,
  9.538449068585311e-7, -4.4711802618142295e-7, 2.129236765559966e-7, -1.052211523535285e-7, 5.1338889967064936e-8,
  -2.095437386416452e-8, 5.7095304916325805e-9, -7.334114603398347e-10,
];
const NEAR_2_LOW = 4.837965861105085e-18;

/** ln √2π. */
const ROOT: Pair = { hi: f64(0.9189385332046728), lo: f64(-3.8782941580672414e-17) };
const LN_PI: Pair = { hi: f64(1.1447298858494002), lo: f64(1.0265951162707826e-17) };
const MINUS_PI: Pair = { hi: f64(-Math.PI), lo: f64(-1.2246467991473532e-16) };
/** Below, Γ(x) is 1/x. */
const TINY = 2 ** -56;

function sum(a: Pair, b: Pair): Pair {
  const s = twoSum(a.hi, b.hi);
  return fastTwoSum(s.hi, add(s.lo, add(a.lo, b.lo)));
}

function minus({ hi, lo }: Pair): Pair {
  return { hi: neg(hi), lo: neg(lo) };
}

/** erf x - x for |x| ≤ 0.85, as a factor of x. */
function growth(x: Expr): Expr {
  const [first = 0, ...others] = ERF;
  const z = mul(x, x);
  return add(fma(z, horner(z, others), ERF_LOW), first);
}

/** erfc a = p · 2^k for a within the polynomial's range. */
function tail(a: Expr, centre: number, coefficients: readonly number[], low: number): { p: Expr; k: Expr } {
  const square = exactProduct(a, a);
  const { p, k } = expPair(neg(square.hi), neg(square.lo));
  const d = twoSum(a, f64(centre));
  const inverse = reciprocal(d.hi);
  const rough = mul(sub(a, centre), inverse);
  const missing = fma(neg(rough), d.lo, fma(neg(rough), d.hi, sub(a, centre)));
  const t = fma(missing, inverse, rough);
  const [first = 0, ...others] = coefficients;
  const n = fastTwoSum(f64(first), fma(t, horner(t, others), low));
  const q = quotient(n.hi, d.hi, n.lo, d.lo);
  return { p: fma(p.hi, q.hi, fma(p.hi, q.lo, mul(p.lo, q.hi))), k };
}

export function erf(x: Expr): Expr {
  const a = abs(x);
  const { p, k } = tail(select(gt(a, 6), f64(6), a), 2.5, ERFC_NEAR, ERFC_NEAR_LOW);
  const large = copysign(sub(f64(1), scaleTwice(p, k)), x);
  return either(lt(a, 0.85), fma(x, growth(x), x), large);
}

export function erfc(x: Expr): Expr {
  const a = abs(x);
  const { p, k } = tail(select(gt(a, 27.5), f64(27.5), a), 3.5, ERFC, ERFC_LOW);
  const far = scaleTwice(p, k);
  const one = fastTwoSum(f64(1), neg(x));
  const near = add(one.hi, fma(neg(x), growth(x), one.lo));
  return either(lt(a, 0.65), near, select(lt(x, 0), sub(f64(2), far), far));
}

/** log Γ(v) for v ≥ 3, from log v. */
function stirling(v: Expr, l: Pair): Pair {
  const u = reciprocal(v);
  const slope = sum(l, { hi: f64(-1), lo: f64(0) });
  const half = sub(v, 0.5);
  const lost = sub(sub(v, half), 0.5);
  const main = timesPair(slope, { hi: half, lo: lost });
  const rest = mul(u, horner(u, STIRLING));
  return sum(sum(main, { hi: f64(-0.5), lo: f64(0) }), sum(ROOT, { hi: rest, lo: f64(0) }));
}

export function tgamma(x: Expr): Expr {
  const size = abs(x);
  const y = select(gt(size, 190), f64(190), size);
  const small = lt(y, 3);
  const ahead = twoSum(y, f64(3));
  const v = select(small, ahead.hi, y);
  const l = logPair(v);
  const exact = stirling(v, l);
  // What the rounding of y + 3 lost, times Γ'/Γ(v), which is about log v - 1 / 2v.
  const digamma = sub(l.hi, mul(reciprocal(v), 0.5));
  const gamma: Pair = { hi: exact.hi, lo: fma(select(small, ahead.lo, f64(0)), digamma, exact.lo) };

  // Γ(y), or 1 / Γ(y); where y is small it is that of y + 3 over y (y + 1) (y + 2).
  const negative = lt(x, 0);
  const { p, k } = expPair(select(negative, neg(gamma.hi), gamma.hi), select(negative, neg(gamma.lo), gamma.lo));
  const pick = (cond: Expr, a: Pair, b: Pair): Pair => ({ hi: select(cond, a.hi, b.hi), lo: select(cond, a.lo, b.lo) });
  const one: Pair = { hi: f64(1), lo: f64(0) };
  const steps = timesPair(twoSum(y, f64(1)), twoSum(y, f64(2)));
  // -π (y + 1) (y + 2) / (Γ(y + 3) sin πy), or -π / (y Γ(y) sin πy).
  const sine = sinPiPair(size);
  const top = pick(negative, timesPair(p, timesPair(MINUS_PI, pick(small, steps, one))), p);
  const above = pick(small, times(steps, y), one);
  const q = quotientOf(top, pick(negative, pick(small, sine, times(sine, y)), above));
  const scaled = scaleTwice(q, k);
  const whole = and(negative, eq(floor(x), x));
  const usual = select(whole, f64(Number.NaN), select(gt(x, 172), f64(Infinity), scaled));
  return select(ne(x, x), x, select(lt(size, TINY), div(f64(1), x), usual));
}

function quotientOf(n: Pair, d: Pair): Expr {
  const q = quotient(n.hi, d.hi, n.lo, d.lo);
  return add(q.hi, q.lo);
}

/** lgamma(y) for 0 ≤ y < 3. */
function lgammaSmall(y: Expr): Expr {
  const low = lt(y, 0.5);
  const first = lt(y, 1.5);
  const near = (t: Expr, [c = 0, ...others]: readonly number[], tail: number): Expr => {
    const slope = twoSum(f64(c), fma(t, horner(t, others), tail));
    return fma(t, slope.hi, mul(t, slope.lo));
  };
  const one = near(select(low, y, sub(y, 1)), NEAR_1, NEAR_1_LOW);
  const two = near(sub(y, 2), NEAR_2, NEAR_2_LOW);
  const value = add(f64(0), either(first, one, two)); // no -0 at 1
  return either(low, sub(value, log(y)), value);
}

export function lgamma(x: Expr): Expr {
  const y = abs(x);
  const bounded = select(gt(y, 1e307), f64(1e307), y);
  const large = eitherOf(lt(y, 3), { hi: lgammaSmall(y), lo: f64(0) }, stirling(bounded, logPair(bounded)));
  const above = select(gt(y, 2.5563481638716906e305), f64(Infinity), add(large.hi, large.lo));
  // log π - log(y |sin πy|) - above.
  const w = times(sinPiPair(y), y);
  const size = abs(w.hi);
  const l = logPair(size);
  const lost = mul(div(w.lo, w.hi), select(lt(size, TINY), f64(0), f64(1)));
  const rest = sum(LN_PI, minus({ hi: l.hi, lo: add(l.lo, lost) }));
  const reflected = sum(rest, minus(large));
  const below = select(lt(y, TINY), neg(log(y)), add(reflected.hi, reflected.lo));
  return unlikely(lt(x, 0), select(eq(floor(x), x), f64(Infinity), below), above);
}
