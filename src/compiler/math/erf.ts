/**
 * erf and erfc of f32.
 *
 * erf is an odd polynomial below 0.9 and 1 - e^-Q(x) beyond. erfc is e^-x² · P(t) / (x + 9/4) with t = (x - 9/4) / (x + 9/4) from
 * 1/2 on; x², e^-x² and the quotient carry their rounding errors as pairs, or the relative error would grow with x.
 */
import type { Expr } from '../ir/ops.ts';
import { expParts, powerOf2, scaleTwice } from './exp.ts';
import {
  abs,
  add,
  copysign,
  div,
  f32,
  fastTwoSum,
  gt,
  lt,
  mul,
  neg,
  polynomial,
  product,
  select,
  sub,
  twoSum,
} from './notation.ts';

/** erf x / x - 1 in x², |x| ≤ 0.9: 2⁻³⁰ of erf x / x. */
const ERF = [
  0.12837916612625122, -0.3761262893676758, 0.11283624172210693, -0.026855560019612312, 0.005191753152757883,
  -0.0008039752719923854, 7.943100354168564e-5,
];
/** -log(erfc x), 0.9 ≤ x ≤ 4: 2⁻²⁹ of erf x. */
const ERFC_LOG = [
  0.00016645358118694276, 1.127797245979309, 0.6369760036468506, 0.10411384701728821, -0.022315364331007004,
  0.003065553493797779, -0.00019822966714855283,
];
/** (x + 9/4) e^x² erfc x in t, 1/2 ≤ x ≤ 10.1: 2⁻²⁹; the constant term has a second part. */
const ERFC = [
  1.0398926734924316, -0.7519590258598328, 0.37151744961738586, -0.1012100800871849, -0.0036103057209402323,
  0.011654211208224297, -0.0008018451044335961, -0.0016110423021018505, 9.64031569310464e-5, 0.00022795292898081243,
];
const ERFC_LOW = -9.024154756787084e-9;
const CENTRE = 2.25;

/** erf x - x for |x| ≤ 0.9. */
function growth(x: Expr): Expr {
  return mul(x, polynomial(mul(x, x), ERF));
}

export function erf(x: Expr): Expr {
  const a = abs(x);
  const bounded = select(gt(a, 4), 4, a);
  const { p, k } = expParts(neg(polynomial(bounded, ERFC_LOG)));
  const large = copysign(sub(f32(1), mul(p, powerOf2(k))), x);
  return select(lt(a, 0.9), add(x, growth(x)), large);
}

/** erfc a for 1/2 ≤ a; NaN for NaN. */
function tailOf(a: Expr): Expr {
  const bounded = select(gt(a, 10.1), 10.1, a);
  const square = product(bounded, bounded);
  const s = fastTwoSum(square.hi, square.lo);
  const { p, low, k } = expParts(neg(s.hi), neg(s.lo));
  const den = twoSum(bounded, f32(CENTRE));
  const inverse = div(f32(1), den.hi);
  // A quotient to half an ulp, by what the first one leaves.
  const above = sub(bounded, CENTRE);
  const rough = mul(above, inverse);
  const covered = product(rough, den.hi);
  const uncovered = sub(sub(sub(above, covered.hi), covered.lo), mul(rough, den.lo));
  const t = add(rough, mul(uncovered, inverse));
  const [first = 0, ...others] = ERFC;
  const num = fastTwoSum(f32(first), add(mul(t, polynomial(t, others)), ERFC_LOW));
  const q = mul(num.hi, inverse);
  const back = product(q, den.hi);
  const missing = sub(add(sub(sub(num.hi, back.hi), back.lo), num.lo), mul(q, den.lo));
  const result = product(p, q);
  const small = add(mul(low, q), mul(p, mul(missing, inverse)));
  return scaleTwice(add(result.hi, add(result.lo, small)), k);
}

export function erfc(x: Expr): Expr {
  const a = abs(x);
  const tail = tailOf(a);
  const one = fastTwoSum(f32(1), neg(x));
  const near = add(one.hi, sub(one.lo, growth(x)));
  return select(lt(a, 0.7), near, select(lt(x, 0), sub(f32(2), tail), tail));
}
