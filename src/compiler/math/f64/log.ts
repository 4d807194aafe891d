/**
 * Logarithms of f64 on processors.
 *
 * x = 2^e · (1 + f) with 1 + f in [√½, √2); s = f / (2 + f); log(1 + f) = 2 s + s³ P(s²) = f - f²/2 + s (f²/2 + s² P(s²)).
 * Zero, negative, infinite, NaN and denormal arguments are the host's.
 */
import type { Expr } from '../../ir/ops.ts';
import { add, and, div, fastTwoSum, ge, le, mul, neg, not, or, polynomial, shr, sub } from '../notation.ts';
import { bitsOf, fromBits, orHost, u64, upper } from './notation.ts';

/** ln 2 in two parts; the first has 42 bits, so that its product with an exponent is exact. */
const LN2_HI = 0.6931471805598903;
const LN2_LO = 5.497923018708371e-14;

/** (log(1 + f) / s - 2) / s² in s²: 2⁻⁵⁷ of log(1 + f). */
const LOG = [
  0.666666666666667, 0.399999999998992, 0.2857142862611452, 0.22222211112104948, 0.1818289077802613,
  0.15331666676597175, 0.146171283998073,
];

/** The bits of √½, and of 1. */
const SQRT_HALF = 0x3fe6a09e667f3bcdn;
const ONE = 0x3ff0000000000000n;
/** The bits of 2⁵², to which an integer is added in its low bits. */
const WHOLE = 0x4330000000000000n;

/** A positive normal number is 2^e · m with m in [√½, √2). */
export function split(x: Expr): { readonly e: Expr; readonly m: Expr } {
  const bits = add(bitsOf(x, 'u64'), u64(ONE - SQRT_HALF));
  const e = sub(fromBits(or(shr(bits, u64(52n)), u64(WHOLE))), 2 ** 52 + 1023);
  return { e, m: fromBits(add(and(bits, u64(2n ** 52n - 1n)), u64(SQRT_HALF))) };
}

/** Whether a number is not positive, finite and normal. */
export function unusual(x: Expr): Expr {
  return not(and(ge(x, 2 ** -1022), le(x, Number.MAX_VALUE)));
}

/** log(1 + f) - f, as -f²/2 and the rest. */
function curve(f: Expr): { readonly half: Expr; readonly rest: Expr } {
  const s = div(f, add(f, 2));
  const z = mul(s, s);
  const half = mul(mul(f, f), 0.5);
  return { half, rest: mul(s, add(half, mul(z, polynomial(z, LOG)))) };
}

export function log(x: Expr): Expr {
  const { e, m } = split(x);
  const f = sub(m, 1);
  const { half, rest } = curve(f);
  const small = add(mul(e, LN2_LO), rest);
  return orHost(unusual(x), 'log', [x], add(mul(e, LN2_HI), sub(f, sub(half, small))));
}

/** A logarithm to another base: what that of 2 is there, and that of Euler's number with 26 bits, each with the rest. */
function scaled(x: Expr, fn: 'log2' | 'log10', two: readonly [number, number], euler: readonly [number, number]): Expr {
  const { e, m } = split(x);
  const f = sub(m, 1);
  const { half, rest } = curve(f);
  const l = fastTwoSum(f, neg(half));
  const short = upper(l.hi);
  const low = add(sub(l.hi, short), add(l.lo, rest));
  const top = fastTwoSum(two[0] === 1 ? e : mul(e, two[0]), mul(short, euler[0]));
  const product = add(mul(low, euler[0]), mul(add(short, low), euler[1]));
  const small = two[1] === 0 ? product : add(product, mul(e, two[1]));
  return orHost(unusual(x), fn, [x], add(top.hi, add(top.lo, small)));
}

export function log2(x: Expr): Expr {
  return scaled(x, 'log2', [1, 0], [1.4426950514316559, -1.0542692476429138e-8]);
}

export function log10(x: Expr): Expr {
  return scaled(
    x,
    'log10',
    [0.30102999566395283, 2.8363394551044964e-14],
    [0.4342944845557213, -2.6524694553078553e-9],
  );
}
