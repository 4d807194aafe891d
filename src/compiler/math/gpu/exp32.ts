/**
 * Exponentials and powers of f32 for GPUs, on the hardware's 2^x.
 *
 * e^x = 2^k · 2^r with k a whole number near x log₂ e, bounded to the exponents of normal numbers. What is beyond them stays in r, so that
 * the final product overflows, or rounds a denormal result once, by itself. The hardware's 2^r is good to 2⁻²².
 */
import type { Expr } from '../../ir/ops.ts';
import {
  abs,
  add,
  and,
  asF32,
  asI32,
  asU32,
  copysign,
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
  type Pair,
  select,
  shl,
  sub,
  toF32,
  toI32,
  trunc,
  u32,
  unlikely,
} from '../notation.ts';
import { approx, exactProduct, fma, fmax, fmin, horner, product, rint } from './notation.ts';

const LOG2_E = 1.4426950216293335;
const LOG2_E_LO = 1.925963033500011e-8;
const LN2 = 0.6931471824645996;
const LN2_LO = -1.9046542121259336e-9;
/** 1.5 · 2²³ + 127: the low bits of a float near it are a biased exponent. */
const MAGIC = 12582912 + 127;

/** (e^r - 1 - r) / r² on |r| ≤ 0.35, relative to e^r - 1: 2⁻²⁸. */
const EXPM1 = [
  0.5, 0.16666634380817413, 0.04166650399565697, 0.008341710083186626, 0.0013931532157585025, 0.00015041425649542361,
];
/** (2^r - 1) / r on |r| ≤ 0.5: 2⁻³². */
const EXP2 = [
  0.6931471824645996, 0.24022650718688965, 0.055504053831100464, 0.009618083946406841, 0.0013337488053366542,
  0.0001545373088447377, 1.4461685168498661e-5,
];
/** (log₂ m - s log₂ e) / s³ in s², s = 2 (m - 1) / (m + 1), √½ ≤ m ≤ √2: 2⁻³⁶ of log₂ m / s. */
const POW_LOG = [0.12022458761930466, 0.018033714964985847, 0.003218141384422779, 0.0006574193248525262];
const SQRT_HALF_BITS = 0x3f3504f3;

/** k = round(x · factor - lower) within -126 … 127, and 2^k. */
function scaleOf(x: Expr, factor: number, lower = 0): { readonly k: Expr; readonly scale: Expr } {
  // A saturated sum is one instruction.
  const unit = fmin(fmax(fma(x, factor / 253, (126 - lower) / 253), 0), 1);
  const shifted = fma(unit, 253, MAGIC - 126);
  return { k: sub(shifted, MAGIC), scale: asF32(shl(asI32(shifted), 23)) };
}

/**
 * e^x as 2^r and a power of two. k is rounded down, so that r is not negative: there the hardware's 2^r is off by 1.4 ulp at most,
 * between -0.25 and 0 by up to 2.06.
 */
export function expParts(x: Expr): { readonly p: Expr; readonly scale: Expr } {
  const { k, scale } = scaleOf(x, LOG2_E, 0.5);
  const r = fma(x, LOG2_E_LO, fma(x, LOG2_E, neg(k)));
  return { p: approx('exp2Approx', r), scale };
}

export function exp(x: Expr): Expr {
  const { p, scale } = expParts(x);
  return mul(p, scale);
}

export function exp2(x: Expr): Expr {
  const { k, scale } = scaleOf(x, 1, 0.5);
  return mul(approx('exp2Approx', sub(x, k)), scale);
}

/** 2^(hi + lo) with the range that `exp` has; an infinite `hi` needs a finite `lo`. Better than the hardware's. */
export function exp2Pair({ hi, lo }: Pair): Expr {
  const { k, scale } = scaleOf(hi, 1);
  // Beyond the range of 2^k, another factor of the same size takes the rest.
  const rest = fmax(fmin(sub(hi, k), 24), -24);
  const whole = rint(rest);
  const r = add(sub(rest, whole), lo);
  return mul(mul(fma(r, horner(r, EXP2), 1), approx('exp2Approx', whole)), scale);
}

/** e^x - 1 = 2 (s - 1/2 + s (e^r - 1)) with s = 2^(k-1), which does not overflow before the result does. */
export function expm1(x: Expr): Expr {
  const bounded = select(lt(x, -20), -20, x);
  const shifted = fmin(fma(bounded, LOG2_E, MAGIC), MAGIC + 128);
  const k = sub(shifted, MAGIC);
  const scale = asF32(sub(shl(asI32(shifted), 23), 0x00800000));
  const r = fma(k, -LN2_LO, fma(k, -LN2, bounded));
  const curve = fma(mul(r, r), horner(r, EXPM1), r);
  const half = fma(scale, curve, sub(scale, 0.5));
  const value = select(gt(x, 89), Infinity, add(half, half));
  return select(lt(abs(x), 2 ** -26), x, value);
}

/** log₂ of a positive normal x in two parts, to about 2⁻³⁰. */
export function log2Pair(x: Expr, exponent: Expr): Pair {
  const bits = sub(asI32(x), SQRT_HALF_BITS);
  const high = and(bits, i32(-0x800000));
  const f = sub(asF32(sub(asI32(x), high)), 1);
  const e = fma(toF32(high), 2 ** -23, exponent);
  const inverse = approx('rcpApprox', add(f, 2));
  const s = product(add(f, f), inverse);
  const rest = mul(inverse, fma(neg(s), f, mul(sub(f, s), 2)));
  const z = exactProduct(s, s);
  const cubeHi = product(z.hi, s);
  const cube: Pair = { hi: cubeHi, lo: fma(z.lo, s, fma(z.hi, s, neg(cubeHi))) };
  const hi = fma(s, LOG2_E, e);
  const low = fma(s, LOG2_E, sub(e, hi));
  // The derivative of the cubic term belongs to what s lost.
  const slope = fma(z.hi, 3 * (POW_LOG[0] ?? 0), LOG2_E);
  const curve = horner(z.hi, POW_LOG);
  const lo = fma(cube.hi, curve, fma(cube.lo, curve, fma(rest, slope, fma(s, LOG2_E_LO, low))));
  const sum = add(hi, lo);
  return { hi: sum, lo: add(sub(hi, sum), lo) };
}

export function pow(x: Expr, y: Expr): Expr {
  const ax = abs(x);
  const ay = abs(y);
  const denormal = lt(ax, 2 ** -126);
  const scaled = select(denormal, mul(ax, 2 ** 24), ax);
  const l = log2Pair(scaled, select(denormal, f32(-24), f32(0)));
  const hi = product(l.hi, y);
  const lo = fma(l.lo, y, fma(l.hi, y, neg(hi)));
  const size = exp2Pair({ hi, lo: select(lt(abs(hi), 1000), lo, 0) });

  // Zero, infinity, NaN and negative bases, infinite and NaN exponents.
  const usual = and(lt(sub(asU32(x), u32(1)), u32(0x7f7fffff)), lt(ay, Infinity));
  const whole = eq(trunc(y), y);
  const odd = and(and(whole, lt(ay, 2 ** 24)), ne(and(toI32(y), 1), i32(0)));
  const negative = lt(asI32(x), 0);
  const flip = (v: Expr): Expr => select(and(negative, odd), neg(v), v);
  const finite = select(and(negative, not(whole)), f32(Number.NaN), flip(size));
  const grows = eq(gt(ax, 1), gt(y, 0));
  const nan = or(or(not(eq(x, x)), not(eq(y, y))), and(eq(ay, Infinity), eq(ax, 1)));
  const edge = select(nan, f32(Number.NaN), flip(select(grows, f32(Infinity), f32(0))));
  const inside = and(and(gt(ax, 0), lt(ax, Infinity)), lt(ay, Infinity));
  const special = select(eq(y, 0), f32(1), select(inside, finite, edge));
  return unlikely(not(usual), special, size);
}

/** e^|x| / 2 and e^-|x| / 2; the first is infinite no earlier than sinh. */
function halves(a: Expr): { readonly grown: Expr; readonly shrunk: Expr } {
  const { p, scale } = expParts(fmin(a, 90));
  const half = mul(p, 0.5);
  return { grown: mul(half, scale), shrunk: mul(mul(approx('rcpApprox', p), 0.5), reciprocal(scale)) };
}

/** 1 / 2^k for 2^k up to 2^126. */
function reciprocal(scale: Expr): Expr {
  return asF32(sub(i32(254 << 23), asI32(scale)));
}

/** (sinh x - x) / x³ in x², |x| ≤ 1.55: 2⁻³¹. Beyond, the hardware's error in e^x / 2 is no larger for the difference. */
const SINH = [
  0.1666666716337204, 0.008333312347531319, 0.00019844034977722913, 2.7408927962824237e-6, 2.8190841661057675e-8,
];
const SINH_END = 1.55;
/** (tanh x - x) / x³ in x², |x| ≤ 0.75: 2⁻²⁹. */
const TANH = [
  -0.33333316445350647, 0.1333272010087967, -0.0538945347070694, 0.021457793191075325, -0.007665812503546476,
  0.001741756685078144,
];
const TANH_END = 0.75;

/** a + a³ P(a²). */
export function odd(a: Expr, coefficients: readonly number[]): Expr {
  const z = mul(a, a);
  return fma(mul(a, z), horner(z, coefficients), a);
}

export function sinh(x: Expr): Expr {
  const a = abs(x);
  const { grown, shrunk } = halves(a);
  return copysign(select(lt(a, SINH_END), odd(a, SINH), select(lt(a, 90), sub(grown, shrunk), mul(a, Infinity))), x);
}

export function cosh(x: Expr): Expr {
  const a = abs(x);
  const { grown, shrunk } = halves(a);
  return select(lt(a, 90), add(grown, shrunk), mul(a, Infinity));
}

export function tanh(x: Expr): Expr {
  const a = abs(x);
  const squared = approx('exp2Approx', mul(a, 2 * LOG2_E));
  const large = fma(approx('rcpApprox', add(squared, 1)), -2, 1);
  return copysign(select(lt(a, TANH_END), odd(a, TANH), large), x);
}
