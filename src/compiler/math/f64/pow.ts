/**
 * Powers and lengths of f64 on processors.
 *
 * x^y = 2^(y log₂ x) with a logarithm of 64 bits: log(m) = s (2 + ⅔ s² + s⁴ P(s²)) for s = (m - 1) / (m + 1). What must not lose bits is
 * a sum of two numbers, the first of which has 26 bits, so that products of two such are exact.
 */
import type { Expr } from '../../ir/ops.ts';
import {
  abs,
  add,
  and,
  div,
  eq,
  fastTwoSum,
  ge,
  le,
  lt,
  mul,
  not,
  or,
  type Pair,
  polynomial,
  sqrt,
  sub,
} from '../notation.ts';
import { expPower } from './exp.ts';
import { split, unusual } from './log.ts';
import { f64, orHost, upper } from './notation.ts';

/** ((log(1 + f) / s - 2) / s² - 2/3) / s² in s²: 2⁻⁶⁵. */
const LOG = [
  0.4, 0.2857142857142937, 0.222222222216545, 0.1818181833570672, 0.1538459492898411, 0.133348065173055,
  0.11706187519978793, 0.11723689023649232,
];
/** 2 / (3 ln 2): 26 bits and the rest. */
const FACTOR = [0.9617967009544373, -7.028461650952758e-9] as const;

/** log₂ m for m in [√½, √2) as 26 bits and the rest. */
function logOf(m: Expr): Pair {
  const f = sub(m, 1);
  const d = add(m, 1);
  const inverse = div(f64(1), d);
  const s = mul(f, inverse);
  const sh = upper(s);
  const dh = upper(d);
  const dl = sub(m, sub(dh, 1));
  const sl = mul(inverse, sub(sub(f, mul(sh, dh)), mul(sh, dl)));
  // s² = sh² + the rest; log m = ⅔ s (3 + s² + 3/2 s⁴ P).
  const square = mul(sh, sh);
  const z = mul(s, s);
  const rest = add(mul(sl, add(sh, s)), mul(mul(mul(z, z), 1.5), polynomial(z, LOG)));
  const th = upper(add(add(square, 3), rest));
  const tl = sub(rest, sub(sub(th, 3), square));
  const first = mul(sh, th);
  const second = add(mul(sl, th), mul(tl, s));
  const ph = upper(add(first, second));
  const pl = sub(second, sub(ph, first));
  const top = mul(ph, FACTOR[0]);
  const low = add(mul(pl, FACTOR[0] + FACTOR[1]), mul(ph, FACTOR[1]));
  return { hi: top, lo: low };
}

/** x^y for a positive normal x where the result is normal; else the host's. */
export function pow(x: Expr, y: Expr): Expr {
  const { e, m } = split(x);
  const l = logOf(m);
  const sum = fastTwoSum(e, l.hi);
  const hi = upper(add(sum.hi, add(sum.lo, l.lo)));
  const lo = add(add(sum.lo, l.lo), sub(sum.hi, hi));
  const yh = upper(y);
  const product = mul(yh, hi);
  const rest = add(mul(sub(y, yh), hi), mul(y, lo));
  const usual = and(not(unusual(x)), le(abs(product), 1020));
  return orHost(not(usual), 'pow', [x, y], expPower(product, rest));
}

/** √(Σ x²) where no square leaves the range; else the host's. */
export function hypot(...args: readonly Expr[]): Expr {
  const squares = args.map((x) => mul(x, x));
  const sum = squares.reduce((total, square) => add(total, square));
  const none = args.map((x) => eq(x, 0)).reduce((a, b) => and(a, b));
  const usual = and(lt(sum, 2 ** 1000), or(ge(sum, 2 ** -960), none));
  return orHost(not(usual), 'hypot', args, sqrt(sum));
}
