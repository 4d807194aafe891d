/**
 * erf, rsqrt, cbrt and hypot of f32 for GPUs.
 */
import type { Expr } from '../../ir/ops.ts';
import { abs, and, copysign, eq, f32, ge, gt, lt, mul, neg, not, select, sqrt, sub, unlikely } from '../notation.ts';
import { approx, fma, fmax, fmin, horner } from './notation.ts';

/** erf x / x - 1 in x², |x| ≤ 0.9: 2⁻³⁰ of erf x / x. */
const ERF = [
  0.12837916612625122, -0.3761262893676758, 0.11283624172210693, -0.026855560019612312, 0.005191753152757883,
  -0.0008039752719923854, 7.943100354168564e-5,
];
/** log₂(erfc x), 0.9 ≤ x ≤ 4: 2⁻²⁹ of erf x. */
const ERFC_LOG2 = [
  -0.00024025437596719712, -1.6270670890808105, -0.9189627170562744, -0.15020406246185303, 0.03219405189156532,
  -0.004422604106366634, 0.0002859788073692471,
];

export function erf(x: Expr): Expr {
  const a = abs(x);
  const small = fma(horner(mul(x, x), ERF), x, x);
  const power = approx('exp2Approx', horner(fmin(a, 4), ERFC_LOG2));
  const large = copysign(sub(f32(1), power), x);
  return select(ge(a, 0.9), large, small);
}

/** 1 / √x: the hardware's, with denormals scaled. */
export function rsqrt(x: Expr): Expr {
  const denormal = lt(abs(x), 2 ** -126);
  const root = approx('rsqrtApprox', select(denormal, mul(x, 2 ** 24), x));
  return select(denormal, mul(root, 2 ** 12), root);
}

/** 2^(log₂ a / 3) and a step of Newton's from there. */
export function cbrt(x: Expr): Expr {
  const magnitude = abs(x);
  const tiny = lt(magnitude, 2 ** -126);
  const a = select(tiny, mul(magnitude, 2 ** 24), magnitude);
  const guess = approx('exp2Approx', mul(approx('log2Approx', a), 1 / 3));
  const inverse = approx('rcpApprox', mul(guess, guess));
  // The quotient a / guess² - guess, a third of it; a · guess⁻² cannot leave the range.
  const excess = fma(neg(a), inverse, guess);
  const root = fma(excess, -1 / 3, guess);
  const scaled = select(tiny, mul(root, 2 ** -8), root);
  return select(and(gt(magnitude, 0), lt(magnitude, Infinity)), copysign(scaled, x), x);
}

/** √(Σ x²), for any number of arguments, scaled where a square might leave the range; an infinity wins over NaN. */
export function hypot(...args: readonly Expr[]): Expr {
  const sizes = args.map(abs);
  const [first = f32(0), ...others] = sizes;
  if (others.length === 0) return first;
  const largest = others.reduce((most, a) => fmax(most, a), first);
  const sum = (values: readonly Expr[]): Expr => values.reduce((total: Expr, v) => fma(v, v, total), f32(0));
  const big = gt(largest, 1);
  const scale = select(big, f32(2 ** -80), f32(2 ** 90));
  const back = select(big, f32(2 ** 80), f32(2 ** -90));
  const scaled = mul(sqrt(sum(sizes.map((a) => mul(a, scale)))), back);
  const usual = and(gt(largest, 2 ** -60), lt(largest, 2 ** 60));
  return unlikely(not(usual), select(eq(largest, Infinity), Infinity, scaled), sqrt(sum(sizes)));
}
