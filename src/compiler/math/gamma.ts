/**
 * tgamma and lgamma of f32.
 *
 * For v ≥ 2, log2 Γ(v) comes from Stirling's formula as a pair, with a polynomial in 1/v for its series; below, Γ(x) =
 * Γ(x + 2) / (x (x + 1)); negative arguments are reflected. lgamma has polynomials about its zeros 1 and 2. Near its zeros on
 * the negative axis lgamma is accurate absolutely, not relatively.
 */
import type { Expr } from '../ir/ops.ts';
import { exp2Pair } from './exp.ts';
import { log } from './log.ts';
import {
  abs,
  add,
  and,
  div,
  eq,
  f32,
  fastTwoSum,
  gt,
  lt,
  mul,
  nearestInt,
  neg,
  type Pair,
  polynomial,
  product,
  select,
  sub,
  trunc,
  twoSum,
} from './notation.ts';
import { log2Pair, timesPair } from './pow.ts';
import { sinAt } from './trig.ts';

/** (ln Γ(v) - (v - 1/2) ln v + v - ln √2π) v in 1/v, v ≥ 2: 2⁻³³ absolute after the division by v. */
const STIRLING = [
  0.0833333283662796, 1.438397703168448e-7, -0.0027782334946095943, -1.1616356459853705e-5, 0.0009062389726750553,
  -0.0004044192610308528,
];
/** lgamma(1 + t) / t, |t| ≤ 0.4: 2⁻²⁶; the constant term has a second part. */
const NEAR_1 = [
  -0.5772156715393066, 0.8224671483039856, -0.4006854295730591, 0.2705647945404053, -0.20738615095615387,
  0.17013125121593475, -0.144313246011734, 0.11743435263633728, -0.10576167702674866, 0.14731989800930023,
  -0.12991613149642944,
];
/** lgamma(2 + t) / t, -0.6 ≤ t ≤ 1: 2⁻²⁷. */
const NEAR_2 = [
  0.42278432846069336, 0.32246699929237366, -0.06735223531723022, 0.020581768825650215, -0.007386665791273117,
  0.002883383072912693, -0.0011840342776849866, 0.0005275683361105621, -0.00025199895026162267, 9.393181971972808e-5,
  -1.5866049579926766e-5,
];

const NEAR_1_LOW = 5.566142657897899e-9;
const NEAR_2_LOW = 5.675081293787798e-9;

const LN2: Pair = { hi: f32(0.6931471824645996), lo: f32(-1.9046542121259336e-9) };
const LOG2_E: Pair = { hi: f32(1.4426950216293335), lo: f32(1.925963033500011e-8) };
/** ln √2π - 1/2, and the same to base 2. */
const CONSTANT: Pair = { hi: f32(0.418938547372818), lo: f32(-1.4168144879533884e-8) };
const CONSTANT_2: Pair = { hi: f32(0.6044005155563354), lo: f32(2.8735342993968516e-8) };
const LOG2_PI: Pair = { hi: f32(1.651496171951294), lo: f32(-4.247897678055779e-8) };
const LN_PI = 1.1447298526763916;
const PI_HI = 3.1415927410125732;
const PI_LO = -8.742277657347586e-8;
/** Below, Γ(x) is 1/x. */
const TINY = 2 ** -26;

function sum(a: Pair, b: Pair): Pair {
  const s = twoSum(a.hi, b.hi);
  return fastTwoSum(s.hi, add(s.lo, add(a.lo, b.lo)));
}

function minus({ hi, lo }: Pair): Pair {
  return { hi: neg(hi), lo: neg(lo) };
}

/** (v - 1/2) slope + constant + series, which is log Γ(v) for v ≥ 2 where slope is log v - log e. */
function stirling(v: Expr, slope: Pair, constant: Pair, unit: number): Pair {
  const u = div(f32(1), v);
  const series = mul(mul(u, polynomial(u, STIRLING)), unit);
  return sum(timesPair(sub(v, 0.5), slope), sum(constant, { hi: series, lo: f32(0) }));
}

/** sin(π size) for size ≥ 0; what is left of it over a multiple of 2, and that over a half, are exact. */
function sinPi(size: Expr): Expr {
  const y = sub(size, mul(trunc(mul(size, 0.5)), 2));
  const twice = nearestInt(add(y, y));
  const f = sub(y, mul(twice.float, 0.5));
  const p = product(f, f32(PI_HI));
  const r = fastTwoSum(p.hi, add(p.lo, mul(f, PI_LO)));
  return sinAt({ quadrant: twice.bits, r }, 0);
}

type Choose = (cond: Expr, a: Expr, b: Expr) => Expr;

/** `choose` is `select`, or a branch where that is cheaper; the first arm is that of negative arguments. */
export function tgamma(x: Expr, choose: Choose = select): Expr {
  const size = abs(x);
  const y = select(gt(size, 48), 48, size);
  const small = lt(y, 2);
  const ahead = twoSum(y, f32(2));
  const v = select(small, ahead.hi, y);
  const slope = sum(log2Pair(v), minus(LOG2_E));
  const exact = stirling(v, slope, CONSTANT_2, Math.LOG2E);
  // What the rounding of y + 2 lost, times Γ'/Γ(v), which is about log v - 1 / 2v.
  const digamma = sub(add(slope.hi, LOG2_E.hi), div(f32(0.72134752), v));
  const gamma: Pair = { hi: exact.hi, lo: add(exact.lo, select(small, mul(ahead.lo, digamma), 0)) };

  // -π / (y sin πy Γ(y)), in which 2⁶⁴ keeps the power from being denormal; or Γ(y).
  const negative = lt(x, 0);
  const reflected = sum(sum(LOG2_PI, minus(gamma)), { hi: f32(64), lo: f32(0) });
  const power = exp2Pair({
    hi: select(negative, reflected.hi, gamma.hi),
    lo: select(negative, reflected.lo, gamma.lo),
  });
  const sine = sinPi(size);
  const below = mul(
    div(mul(power, select(small, add(y, 1), f32(-1))), select(small, neg(sine), mul(y, sine))),
    2 ** -64,
  );
  const square = product(y, y);
  const partial = twoSum(square.hi, y);
  const divisor = fastTwoSum(partial.hi, add(partial.lo, square.lo));
  const quotient = div(power, divisor.hi);
  const above = select(small, sub(quotient, mul(quotient, div(divisor.lo, divisor.hi))), power);
  const whole = and(negative, eq(trunc(x), x));
  const usual = select(whole, f32(Number.NaN), choose(negative, below, above));
  return select(lt(size, TINY), div(f32(1), x), usual);
}

/** lgamma(y) for 0 ≤ y < 3. */
function lgammaSmall(y: Expr): Expr {
  const low = lt(y, 0.6);
  const aboveOne = select(low, y, sub(y, 1));
  const first = lt(aboveOne, 0.4);
  const t = select(first, aboveOne, sub(aboveOne, 1));
  const of = (k: number): Expr => select(first, f32(NEAR_1[k] ?? 0), f32(NEAR_2[k] ?? 0));
  const tail = NEAR_1.slice(1).reduceRight((rest: Expr, _, k) => mul(add(rest, of(k + 1)), t), f32(0));
  const value = add(0, mul(t, add(of(0), add(tail, select(first, f32(NEAR_1_LOW), f32(NEAR_2_LOW)))))); // no -0 at 1
  return select(low, sub(value, log(y)), value);
}

/** lgamma(y) for y ≥ 3. */
function lgammaLarge(y: Expr): Expr {
  const l = log2Pair(y);
  const natural = timesPair(LN2.hi, l);
  const slope = sum({ hi: natural.hi, lo: add(natural.lo, mul(l.hi, LN2.lo)) }, { hi: f32(-1), lo: f32(0) });
  const { hi, lo } = stirling(y, slope, CONSTANT, 1);
  return select(gt(y, 4.085003108497519e36), Infinity, add(hi, lo));
}

/** `either` and `unlikelySelect` are `select`, or branches where those are cheaper. */
export function lgamma(x: Expr, either: Choose = select, unlikelySelect: Choose = select): Expr {
  const y = abs(x);
  const above = either(lt(y, 3), lgammaSmall(y), lgammaLarge(y));
  const below = sub(sub(f32(LN_PI), log(mul(y, abs(sinPi(y))))), above);
  const reflected = select(eq(trunc(x), x), Infinity, select(lt(y, TINY), neg(log(y)), below));
  return unlikelySelect(lt(x, 0), reflected, above);
}
