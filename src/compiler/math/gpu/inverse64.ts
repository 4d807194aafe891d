/**
 * asin, acos, atan, atan2, asinh, acosh, atanh of f64 for GPUs.
 *
 * atan maps n / d to itself, (n - d) / (n + d) or -d / n with a magnitude of at most √2 - 1, one quotient either way, and adds
 * a multiple of π/4 in two parts. asin and acos go over to √((1 - |x|) / 2) above 1/2. The inverse hyperbolic functions are
 * log1p of something that keeps its low bits.
 */
import type { Expr } from '../../ir/ops.ts';
import { f64, i64 } from '../f64/notation.ts';
import {
  abs,
  add,
  and,
  copysign,
  div,
  eq,
  fastTwoSum,
  ge,
  gt,
  le,
  lt,
  mul,
  ne,
  neg,
  not,
  or,
  type Pair,
  select,
  sqrt,
  sub,
  unlikely,
} from '../notation.ts';
import { log, log1pPair } from './log64.ts';
import { approx, bitsAs, fma, fmax, fmin, horner, product, quotient, reciprocal } from './notation.ts';

/** (atan r - r) / r³ in r², |r| ≤ √2 - 1: 2⁻⁵⁷. */
const ATAN = [
  -0.3333333333333333, 0.1999999999999548, -0.14285714284657894, 0.11111111014561013, -0.09090904549884611,
  0.07692182535116648, -0.06664502215671447, 0.058580687568615106, -0.05085030492810941, 0.03921955253259129,
  -0.019162068915902573,
];
/** (asin r - r) / r³ in r², |r| ≤ 1/2: 2⁻⁵⁷. */
const ASIN = [
  0.16666666666666669, 0.07499999999998425, 0.04464285714637338, 0.030381944137085216, 0.022372173002005596,
  0.017352391265909227, 0.013971235301124539, 0.011478952690257387, 0.010324318288744113, 0.00545087818772055,
  0.017419357964884856, -0.014881409392818066, 0.02877844261259304,
];
const PI_LO = 1.2246467991473532e-16;
const TAN_PI_8 = Math.SQRT2 - 1;

/** atan(n / d) for n ≥ 0, d > 0 of a size that neither overflows nor underflows; a pair that is not normalised. */
function atanOf(n: Expr, d: Expr): Pair {
  const small = le(n, mul(d, TAN_PI_8));
  const large = lt(d, mul(n, TAN_PI_8));
  const middle = not(or(small, large));
  const difference = sub(n, d);
  const sum = add(n, d);
  const num = select(small, n, select(large, neg(d), difference));
  const den = select(small, d, select(large, n, sum));
  // n - d is exact, or loses one bit; of n + d the larger comes first.
  const most = fmax(n, d);
  const least = fmin(n, d);
  const sumLow = sub(least, sub(sum, most));
  const differenceLow = sub(sub(n, add(difference, d)), f64(0));
  const zero = f64(0);
  const q = quotient(num, den, select(middle, differenceLow, zero), select(middle, sumLow, zero));
  const z = mul(q.hi, q.hi);
  const base = select(small, zero, select(large, f64(Math.PI / 2), f64(Math.PI / 4)));
  const baseLow = select(small, zero, select(large, f64(PI_LO / 2), f64(PI_LO / 4)));
  const curve = fma(mul(q.hi, z), horner(z, ATAN), add(q.lo, baseLow));
  const top = fastTwoSum(base, q.hi);
  return { hi: top.hi, lo: add(top.lo, curve) };
}

export function atan(x: Expr): Expr {
  const a = abs(x);
  const { hi, lo } = atanOf(select(gt(a, 2 ** 70), f64(2 ** 70), a), f64(1));
  return copysign(select(lt(a, 2 ** -30), a, add(hi, lo)), x);
}

export function atan2(y: Expr, x: Expr): Expr {
  const ay = abs(y);
  const ax = abs(x);
  const most = fmax(ax, ay);
  const least = fmin(ax, ay);
  const behind = lt(bitsAs('i64', x), i64(0n));
  const mirror = ({ hi, lo }: Pair): Expr => {
    const turned = fastTwoSum(f64(Math.PI), neg(hi));
    return select(behind, add(turned.hi, sub(turned.lo, sub(lo, PI_LO))), add(hi, lo));
  };
  // Where one is far beyond the other, or either is special: by the rounded quotient.
  const equal = eq(ax, ay);
  const ratio = select(equal, select(eq(ax, 0), f64(0), f64(1)), div(ay, ax));
  const far = atanOf(fmin(ratio, f64(2 ** 70)), f64(1));
  const tiny = lt(ratio, 2 ** -30);
  const rare = mirror({ hi: select(tiny, ratio, far.hi), lo: select(tiny, f64(0), far.lo) });
  const usual = and(lt(most, 2 ** 500), gt(least, 2 ** -450));
  const value = copysign(unlikely(not(usual), rare, mirror(atanOf(ay, ax))), y);
  return select(or(ne(x, x), ne(y, y)), f64(Number.NaN), value);
}

/** asin r - r for |r| ≤ 1/2, over r. */
function growth(z: Expr): Expr {
  return mul(z, horner(z, ASIN));
}

/** √z as a pair for z ≥ 2⁻⁵⁴ or 0, by the hardware's reciprocal root and a step that cubes its error; NaN below. */
function rootPair(z: Expr): Pair {
  const rough = approx('rsqrtApprox', add(z, 1e-300));
  const e = fma(neg(mul(z, rough)), rough, 1);
  const inverse = fma(mul(rough, e), fma(e, 0.375, 0.5), rough);
  const hi = product(z, inverse);
  return { hi, lo: mul(fma(neg(hi), hi, z), mul(inverse, 0.5)) };
}

export function asin(x: Expr): Expr {
  const a = abs(x);
  const small = le(a, 0.5);
  const z = select(small, mul(a, a), mul(sub(f64(1), a), 0.5));
  const g = growth(z);
  const s = rootPair(z);
  const top = fastTwoSum(f64(Math.PI / 2), mul(s.hi, -2));
  const rest = fma(fma(s.hi, g, s.lo), -2, add(top.lo, PI_LO / 2));
  return copysign(select(small, fma(a, g, a), add(top.hi, rest)), x);
}

export function acos(x: Expr): Expr {
  const a = abs(x);
  const small = le(a, 0.5);
  const z = select(small, mul(a, a), mul(sub(f64(1), a), 0.5));
  const g = growth(z);
  const s = rootPair(z);
  const middle = fastTwoSum(f64(Math.PI / 2), neg(x));
  const nearZero = add(middle.hi, add(middle.lo, fma(neg(x), g, PI_LO / 2)));
  const half = add(s.hi, fma(s.hi, g, s.lo));
  const low = fastTwoSum(f64(Math.PI), mul(s.hi, -2));
  const behind = add(low.hi, fma(fma(s.hi, g, s.lo), -2, add(low.lo, PI_LO)));
  return select(small, nearZero, select(lt(x, 0), behind, add(half, half)));
}

export function asinh(x: Expr): Expr {
  const a = abs(x);
  const square = mul(a, a);
  const w = fastTwoSum(a, mul(square, reciprocal(add(sqrt(add(square, 1)), 1))));
  const large = add(log(a), Math.LN2);
  const value = unlikely(not(lt(a, 2 ** 30)), large, log1pPair(w));
  return select(lt(a, 2 ** -28), x, copysign(value, x));
}

export function acosh(x: Expr): Expr {
  const t = sub(x, 1);
  const w = fastTwoSum(sqrt(mul(t, add(x, 1))), t);
  const large = add(log(x), Math.LN2);
  return select(ge(x, 1), unlikely(not(lt(x, 2 ** 30)), large, log1pPair(w)), f64(Number.NaN));
}

export function atanh(x: Expr): Expr {
  const a = abs(x);
  const d = sub(f64(1), a);
  const w = quotient(add(a, a), d, undefined, sub(sub(f64(1), d), a));
  const usual = mul(log1pPair(w), 0.5);
  const edge = select(eq(a, 1), f64(Infinity), f64(Number.NaN));
  return select(lt(a, 2 ** -28), x, copysign(select(lt(a, 1), usual, edge), x));
}
