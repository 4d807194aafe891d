/**
 * sinh, cosh, tanh, asinh, acosh, atanh of f32.
 *
 * Small arguments have odd polynomials; beyond, all is made of the exponential and logarithm cores, with the rounding errors
 * of square roots carried along where they would show.
 */
import type { Expr } from '../ir/ops.ts';
import { expScaled } from './exp.ts';
import { log, logPair } from './log.ts';
import {
  abs,
  add,
  copysign,
  div,
  eq,
  f32,
  fastTwoSum,
  ge,
  gt,
  lt,
  mul,
  not,
  type Pair,
  polynomial,
  product,
  select,
  sqrt,
  sub,
  twoSum,
  unlikely,
} from './notation.ts';

/** (sinh x - x) / x³ in x², |x| ≤ 1: 2⁻³¹. */
const SINH = [0.1666666716337204, 0.00833331048488617, 0.00019842895562760532, 2.7822131869470468e-6];
/** (tanh x - x) / x³ in x², |x| ≤ 0.55: 2⁻²⁹. */
const TANH = [
  -0.33333316445350647, 0.13332544267177582, -0.0538475476205349, 0.02105071395635605, -0.0062428489327430725,
];
/** (asinh x - x) / x³ in x², |x| ≤ 1/2: 2⁻²⁹. */
const ASINH = [
  -0.1666664332151413, 0.07498640567064285, -0.04438295587897301, 0.02816101908683777, -0.013223294168710709,
];
/** (atanh x - x) / x³ in x², |x| ≤ 1/2: 2⁻²⁹. */
const ATANH = [
  0.33333301544189453, 0.2000245451927185, 0.14223742485046387, 0.11816821992397308, 0.051585931330919266,
  0.1764063984155655,
];
/** Beyond, √(x² ± 1) is x. */
const LARGE = 2 ** 14;

/** x + x³ P(x²). */
function odd(x: Expr, coefficients: readonly number[]): Expr {
  const z = mul(x, x);
  return add(x, mul(mul(x, z), polynomial(z, coefficients)));
}

/** e^|x| / 2 and its reciprocal's quarter, e^-|x| / 2. */
function halves(x: Expr): { readonly grown: Expr; readonly shrunk: Expr } {
  const a = abs(x);
  const grown = expScaled(select(gt(a, 90), 90, a), 1);
  return { grown, shrunk: div(f32(0.25), grown) };
}

export function sinh(x: Expr): Expr {
  const { grown, shrunk } = halves(x);
  return copysign(select(lt(abs(x), 1), odd(abs(x), SINH), sub(grown, shrunk)), x);
}

export function cosh(x: Expr): Expr {
  const { grown, shrunk } = halves(x);
  return add(grown, shrunk);
}

export function tanh(x: Expr): Expr {
  const a = abs(x);
  const squared = expScaled(mul(select(gt(a, 10), 10, a), 2), 0);
  const large = sub(f32(1), div(f32(2), add(squared, 1)));
  return copysign(select(lt(a, 0.55), odd(a, TANH), large), x);
}

/** √(hi + lo) with its rounding error; 0 for 0. */
function rootPair({ hi, lo }: Pair): Pair {
  const s = sqrt(hi);
  const square = product(s, s);
  const missing = add(sub(sub(hi, square.hi), square.lo), lo);
  return { hi: s, lo: select(eq(s, 0), 0, div(mul(missing, 0.5), s)) };
}

export function asinh(x: Expr): Expr {
  const a = abs(x);
  const p = product(a, a);
  const v = twoSum(p.hi, f32(1));
  const s = rootPair(fastTwoSum(v.hi, add(v.lo, p.lo)));
  const u = twoSum(a, s.hi);
  const usual = logPair(u.hi, add(u.lo, s.lo));
  const large = unlikely(not(lt(a, LARGE)), add(log(a), Math.LN2), usual);
  return copysign(select(lt(a, 0.5), odd(a, ASINH), large), x);
}

export function acosh(x: Expr): Expr {
  const t = sub(x, 1);
  const p = product(t, t);
  const v = twoSum(add(t, t), p.hi);
  const s = rootPair(fastTwoSum(v.hi, add(v.lo, p.lo)));
  const sum = twoSum(t, s.hi);
  const w = fastTwoSum(sum.hi, add(sum.lo, s.lo));
  const u = twoSum(f32(1), w.hi);
  const usual = logPair(u.hi, add(u.lo, w.lo), w);
  return select(ge(x, 1), unlikely(not(lt(x, LARGE)), add(log(x), Math.LN2), usual), f32(Number.NaN));
}

export function atanh(x: Expr): Expr {
  const a = abs(x);
  const w = div(add(a, a), sub(f32(1), a));
  const u = twoSum(f32(1), w);
  const large = mul(logPair(u.hi, u.lo), 0.5);
  const edge = select(eq(a, 1), Infinity, f32(Number.NaN));
  return copysign(select(lt(a, 0.5), odd(a, ATANH), select(lt(a, 1), large, edge)), x);
}
