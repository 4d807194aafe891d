/**
 * asin, acos, atan of f32 for GPUs, and quotients by the hardware's reciprocal.
 *
 * Above 1/2, asin and acos go over to √((1 - |x|) / 2), whose rounding error is carried along; above 1, atan takes the
 * reciprocal.
 */
import type { Expr } from '../../ir/ops.ts';
import { abs, add, copysign, f32, gt, lt, mul, neg, type Pair, select, sub } from '../notation.ts';
import { approx, fma, horner } from './notation.ts';

/** (asin r - r) / r³ in r², |r| ≤ 1/2: 2⁻²⁷. */
const ASIN = [
  0.16666752099990845, 0.07495308667421341, 0.045469366014003754, 0.024183092638850212, 0.04216218739748001,
];
/** (atan r - r) / r³ in r², |r| ≤ 1: 2⁻²⁸. */
const ATAN = [
  -0.33333298563957214, 0.1999853402376175, -0.14264099299907684, 0.1095147356390953, -0.0840144008398056,
  0.05792412534356117, -0.031145265325903893, 0.010897459462285042, -0.001789854490198195,
];
const PI_HALF = 1.5707963705062866;
const PI_HALF_LO = -4.371138828673793e-8;

/** √z as a pair for z ≥ 2⁻²⁵ or 0; NaN below. */
function rootPair(z: Expr): Pair {
  const inverse = approx('rsqrtApprox', add(z, 1e-30));
  const hi = mul(z, inverse);
  return { hi, lo: mul(fma(neg(hi), hi, z), mul(inverse, 0.5)) };
}

/** For either range of |x|: r², and asin r / r - 1. */
function curve(a: Expr): { readonly small: Expr; readonly z: Expr; readonly growth: Expr } {
  const small = lt(a, 0.5);
  const z = select(small, mul(a, a), fma(a, -0.5, 0.5));
  return { small, z, growth: mul(z, horner(z, ASIN)) };
}

export function asin(x: Expr): Expr {
  const a = abs(x);
  const { small, z, growth } = curve(a);
  const s = rootPair(z);
  const rest = fma(s.hi, growth, s.lo);
  const large = fma(s.hi, -2, PI_HALF);
  const lost = fma(s.hi, -2, sub(f32(PI_HALF), large));
  const value = select(small, fma(a, growth, a), add(large, fma(rest, -2, add(lost, PI_HALF_LO))));
  return copysign(value, x);
}

export function acos(x: Expr): Expr {
  const { small, z, growth } = curve(abs(x));
  const s = rootPair(z);
  const rest = fma(s.hi, growth, s.lo);
  const positive = mul(add(s.hi, rest), 2);
  const negative = fma(s.hi, -2, fma(rest, -2, 2 * PI_HALF_LO));
  const middle = sub(f32(PI_HALF), add(x, fma(x, growth, -PI_HALF_LO)));
  return select(small, middle, select(lt(x, 0), add(negative, 2 * PI_HALF), positive));
}

export function atan(x: Expr): Expr {
  const a = abs(x);
  const large = gt(a, 1);
  const r = select(large, approx('rcpApprox', a), a);
  const z = mul(r, r);
  const angle = fma(mul(r, z), horner(z, ATAN), r);
  return copysign(select(large, sub(f32(PI_HALF), angle), angle), x);
}
