/**
 * Logarithms of f32 for GPUs.
 *
 * x = 2^e · (1 + f) with 1 + f in [2/3, 4/3), by integer arithmetic on the bits; denormals are multiplied by 2²³ first. Zero,
 * negative, infinite and NaN arguments are told apart by one comparison of the bits as an unsigned integer.
 */
import type { Expr } from '../../ir/ops.ts';
import { add, and, asF32, asI32, asU32, eq, f32, ge, gt, i32, lt, mul, select, sub, toF32, u32 } from '../notation.ts';
import { fma, horner } from './notation.ts';

const LN2 = 0.6931471824645996;
const LOG10_2 = 0.3010300099849701;
const LOG10_2_LO = -1.432098883924482e-8;
const LOG2_E = 1.4426950216293335;
const LOG2_E_LO = 1.925963033500011e-8;
const LOG10_E = 0.4342944920063019;
const LOG10_E_LO = -1.0103049952192578e-8;

/** (log(1 + f) - f) / f² on |f| ≤ 1/3, relative to log(1 + f): 2⁻²⁷. */
const LOG = [
  -0.5, 0.3333320915699005, -0.24999825656414032, 0.2001071572303772, -0.16679300367832184, 0.14001582562923431,
  -0.12199924886226654, 0.1400299370288849, -0.12826192378997803,
];
/** The bits of 2/3. */
const TWO_THIRDS = 0x3f2aaaab;

interface Split {
  readonly e: Expr;
  readonly f: Expr;
}

function split(x: Expr): Split {
  const denormal = lt(x, 2 ** -126);
  const bits = asI32(select(denormal, mul(x, 2 ** 23), x));
  const high = and(sub(bits, TWO_THIRDS), i32(-0x800000));
  const e = fma(toF32(high), 2 ** -23, select(denormal, f32(-23), f32(0)));
  return { e, f: sub(asF32(sub(bits, high)), 1) };
}

/** `value`, but for what has no finite logarithm. */
function special(x: Expr, value: Expr): Expr {
  const unusual = ge(asU32(x), u32(0x7f800000));
  const finite = select(unusual, fma(x, Infinity, Infinity), value); // Infinity, or NaN
  return select(eq(x, 0), f32(-Infinity), finite);
}

export function log(x: Expr): Expr {
  const { e, f } = split(x);
  return special(x, fma(e, LN2, fma(mul(f, f), horner(f, LOG), f)));
}

/** log(1 + f) · factor. */
function fraction(f: Expr, hi: number, lo: number): Expr {
  return fma(f, hi, fma(f, lo, mul(mul(mul(f, f), horner(f, LOG)), hi)));
}

export function log2(x: Expr): Expr {
  const { e, f } = split(x);
  return special(x, add(e, fraction(f, LOG2_E, LOG2_E_LO)));
}

export function log10(x: Expr): Expr {
  const { e, f } = split(x);
  return special(x, fma(e, LOG10_2, fma(e, LOG10_2_LO, fraction(f, LOG10_E, LOG10_E_LO))));
}

export function log1p(x: Expr): Expr {
  // 2^e · (1 + f) = 1 + x, so f = x · 2^-e + (2^-e - 1); 2^-e is made four times too large, lest it be denormal.
  const high = and(sub(asI32(add(x, 1)), TWO_THIRDS), i32(-0x800000));
  const scale = asF32(sub(i32(0x40800000), high));
  const f = add(fma(scale, 0.25, -1), asF32(sub(asI32(x), high)));
  const value = fma(mul(toF32(high), 2 ** -23), LN2, fma(mul(f, f), horner(f, LOG), f));
  const edge = select(eq(x, -1), f32(-Infinity), fma(x, Infinity, Infinity));
  const usual = and(gt(x, -1), lt(x, Infinity));
  return select(eq(x, 0), x, select(usual, value, edge));
}
