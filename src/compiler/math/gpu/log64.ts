/**
 * Logarithms of f64 for GPUs, and as a pair for powers and gamma functions.
 *
 * x = 2^e · (1 + f) with 1 + f in [√½, √2); s = f / (2 + f); log(1 + f) = 2 s + s³ P(s²) = f - f²/2 + s (f²/2 + s² P(s²)).
 * Zero, negative, infinite, NaN and denormal arguments take the rare path.
 */
import type { Expr } from '../../ir/ops.ts';
import { f64, i64, u64 } from '../f64/notation.ts';
import {
  add,
  and,
  eq,
  fastTwoSum,
  ge,
  gt,
  i32,
  lt,
  mul,
  neg,
  not,
  type Pair,
  select,
  shl,
  shr,
  sub,
  twoSum,
  unlikely,
} from '../notation.ts';
import { bitsAs, exactProduct, fma, horner, quotient, reciprocal, timesPair, to } from './notation.ts';

const LN2 = Math.LN2;
const LN2_LO = 2.3190468138462996e-17;
/** ln 2 with 42 bits, so that its product with an exponent is exact, and the rest. */
const LN2_SHORT = 0.6931471805598903;
const LN2_SHORT_LO = 5.497923018708371e-14;
const LOG10_2 = 0.30102999566395283;
const LOG10_2_LO = 2.8363394551044964e-14;
const LOG2_E = Math.LOG2E;
const LOG2_E_LO = 2.0355273740931033e-17;
const LOG10_E = Math.LOG10E;
const LOG10_E_LO = 1.098319650216765e-17;

/** (log(1 + f) / s - 2) / s² in s²: 2⁻⁵⁷ of log(1 + f). */
const LOG = [
  0.666666666666667, 0.399999999998992, 0.2857142862611452, 0.22222211112104948, 0.1818289077802613,
  0.15331666676597175, 0.146171283998073,
];
/** ((log(1 + f) / s - 2) / s² - 2/3) / s² in s²: 2⁻⁶⁵. */
const LOG_PAIR = [
  0.4, 0.2857142857142937, 0.222222222216545, 0.1818181833570672, 0.1538459492898411, 0.133348065173055,
  0.11706187519978793, 0.11723689023649232,
];
const TWO_THIRDS: Pair = { hi: f64(0.6666666666666666), lo: f64(3.700743415417188e-17) };

/** The bits of √½. */
const SQRT_HALF = 0x3fe6a09e667f3bcdn;
const DENORMAL = 2 ** 54;

interface Split {
  readonly e: Expr;
  /** An i32. */
  readonly exponent: Expr;
  readonly f: Expr;
}

/** x = 2^e · (1 + f) for positive normal x. */
function split(x: Expr): Split {
  const bits = sub(bitsAs('i64', x), i64(SQRT_HALF));
  const exponent = to('i32', shr(bits, i64(52n)));
  const m = bitsAs('f64', add(and(bits, i64(0xfffffffffffffn)), i64(SQRT_HALF)));
  return { e: to('f64', exponent), exponent, f: sub(m, 1) };
}

/** log(1 + f) - f, as -f²/2 and the rest. */
function curve(f: Expr): { readonly half: Expr; readonly rest: Expr } {
  const s = mul(f, reciprocal(add(f, 2)));
  const z = mul(s, s);
  const half = mul(mul(f, f), 0.5);
  return { half, rest: mul(s, fma(z, horner(z, LOG), half)) };
}

/** Extends a logarithm of positive normal numbers to all arguments: `of(x, k)` is log(x) less k times log 2. */
function extend(x: Expr, of: (x: Expr, k: number) => Expr): Expr {
  const unusual = ge(sub(bitsAs('u64', x), u64(1n << 52n)), u64(0x7fe0000000000000n));
  const denormal = of(mul(x, DENORMAL), 54);
  const positive = select(lt(x, Infinity), denormal, x);
  const rare = select(gt(x, 0), positive, select(eq(x, 0), f64(-Infinity), f64(Number.NaN)));
  return unlikely(unusual, rare, of(x, 0));
}

export function log(x: Expr): Expr {
  return extend(x, (v, k) => {
    const { e: exponent, f } = split(v);
    const e = k === 0 ? exponent : sub(exponent, k);
    const { half, rest } = curve(f);
    return fma(e, LN2, sub(f, sub(half, fma(e, LN2_LO, rest))));
  });
}

/** e · unit + log(1 + f) · factor. */
function scaled(v: Expr, k: number, unit: readonly [number, number], factor: readonly [number, number]): Expr {
  const { e: exponent, f } = split(v);
  const e = k === 0 ? exponent : sub(exponent, k);
  const { half, rest } = curve(f);
  const l = fastTwoSum(f, neg(half));
  const low = add(l.lo, rest);
  const p = exactProduct(l.hi, f64(factor[0]));
  const pLow = fma(low, factor[0], fma(l.hi, factor[1], p.lo));
  const sum = fastTwoSum(unit[0] === 1 ? e : mul(e, unit[0]), p.hi);
  return add(sum.hi, add(sum.lo, unit[1] === 0 ? pLow : fma(e, unit[1], pLow)));
}

export function log2(x: Expr): Expr {
  return extend(x, (v, k) => scaled(v, k, [1, 0], [LOG2_E, LOG2_E_LO]));
}

export function log10(x: Expr): Expr {
  return extend(x, (v, k) => scaled(v, k, [LOG10_2, LOG10_2_LO], [LOG10_E, LOG10_E_LO]));
}

/** log(1 + w) for w > -1, w finite, whose low part is at most an ulp of it. */
export function log1pPair(w: Pair): Expr {
  const u = twoSum(f64(1), w.hi);
  const { e, exponent, f: leading } = split(u.hi);
  const scale = bitsAs('f64', sub(i64(0x3ff0000000000000n), shl(to('i64', exponent), i64(52n))));
  const near = eq(exponent, i32(0));
  const f = select(near, w.hi, leading);
  const low = select(lt(u.hi, 2 ** 500), mul(add(u.lo, w.lo), scale), f64(0));
  const c = select(near, w.lo, low);
  const { half, rest } = curve(f);
  const small = fma(e, LN2_LO, fma(neg(c), f, c));
  return fma(e, LN2, sub(f, sub(half, add(rest, small))));
}

export function log1p(x: Expr): Expr {
  const main = select(eq(x, 0), x, log1pPair({ hi: x, lo: f64(0) }));
  const rare = select(eq(x, -1), f64(-Infinity), select(gt(x, 0), x, f64(Number.NaN)));
  const usual = and(gt(x, -1), lt(x, Infinity));
  return unlikely(not(usual), rare, main);
}

/** log x of a positive finite x to about 2⁻⁶⁴. */
export function logPair(x: Expr): Pair {
  const denormal = lt(x, 2 ** -1022);
  const { e: exponent, f } = split(select(denormal, mul(x, DENORMAL), x));
  const e = sub(exponent, select(denormal, f64(54), f64(0)));
  const d = add(f, 2);
  const s = quotient(f, d, undefined, sub(f, sub(d, 2)));
  const z: Pair = { hi: mul(s.hi, s.hi), lo: f64(0) };
  const zLow = fma(mul(s.hi, 2), s.lo, fma(s.hi, s.hi, neg(z.hi)));
  const t = fastTwoSum(TWO_THIRDS.hi, fma(z.hi, horner(z.hi, LOG_PAIR), TWO_THIRDS.lo));
  const cubic = timesPair(timesPair(s, { hi: z.hi, lo: zLow }), t);
  const start = fastTwoSum(mul(e, LN2_SHORT), mul(s.hi, 2));
  const sum = twoSum(start.hi, cubic.hi);
  const low = fma(e, LN2_SHORT_LO, fma(s.lo, 2, add(start.lo, cubic.lo)));
  return fastTwoSum(sum.hi, add(sum.lo, low));
}
