/**
 * asin, acos, atan, atan2 of f32.
 *
 * atan maps t to t, (t - 1) / (t + 1) or -1 / t with a magnitude of at most 1/2, one division either way, and adds a multiple
 * of π/4 in two parts. asin and acos go over to the square root of (1 - |x|) / 2 above 1/2, with the root's rounding error.
 */
import type { Expr } from '../ir/ops.ts';
import {
  abs,
  add,
  and,
  asI32,
  copysign,
  div,
  eq,
  f32,
  gt,
  lt,
  mul,
  not,
  polynomial,
  select,
  sqrt,
  sub,
  unlikely,
  upper,
} from './notation.ts';

/** (asin x - x) / x³ in x², |x| ≤ 1/2: 2⁻²⁷. */
const ASIN = [0.16666752099990845, 0.074953094124794, 0.04546915367245674, 0.02418474107980728, 0.04215839505195618];
/** (atan t - t) / t³ in t², |t| ≤ 1/2: 2⁻²⁷. */
const ATAN = [-0.3333323299884796, 0.19994167983531952, -0.14174212515354156, 0.10155827552080154, -0.0512516051530838];

const PI_HALF = 1.5707963705062866;
const PI_HALF_LO = -4.3711390001862426e-8;
/** π/4: 20 bits, so that small multiples are exact, and the rest. */
const PI_QUARTER_HI = 0.7853984832763672;
const PI_QUARTER_LO = -3.1987892157303577e-7;

/** For |x| in 1/2 … 1: s = √((1 - |x|) / 2) as 12 bits, what is missing, and asin s / s - 1. */
function arc(x: Expr): { readonly s: Expr; readonly sh: Expr; readonly sl: Expr; readonly curve: Expr } {
  const a = abs(x);
  const z = select(gt(a, 0.5), mul(sub(f32(1), a), 0.5), mul(x, x));
  const s = sqrt(z);
  const sh = upper(s);
  const sl = div(sub(z, mul(sh, sh)), add(add(s, sh), 1e-30)); // 0 / 1e-30 at |x| = 1
  return { s, sh, sl, curve: mul(z, polynomial(z, ASIN)) };
}

export function asin(x: Expr): Expr {
  const { s, sh, sl, curve } = arc(x);
  const rest = sub(mul(mul(s, 2), curve), sub(f32(PI_HALF_LO), mul(sl, 2)));
  const large = sub(f32(PI_HALF / 2), sub(rest, sub(f32(PI_HALF / 2), mul(sh, 2))));
  return select(gt(abs(x), 0.5), copysign(large, x), add(x, mul(x, curve)));
}

export function acos(x: Expr): Expr {
  const { s, sh, sl, curve } = arc(x);
  const tail = add(mul(s, curve), sl);
  const right = mul(add(sh, tail), 2);
  const left = sub(f32(2 * PI_HALF), mul(add(sh, sub(tail, f32(PI_HALF_LO))), 2));
  const middle = sub(f32(PI_HALF), add(x, sub(mul(x, curve), PI_HALF_LO)));
  return select(gt(abs(x), 0.5), select(gt(x, 0), right, left), middle);
}

/** base · π/4 + sign · atan(num / den), |num / den| ≤ 1/2, base a small integer. */
function arcOfQuotient(num: Expr, den: Expr, base: Expr): Expr {
  const y = div(num, den);
  const z = mul(y, y);
  const v = add(y, mul(mul(y, z), polynomial(z, ATAN)));
  return add(mul(base, PI_QUARTER_HI), add(v, mul(base, PI_QUARTER_LO)));
}

export function atan(x: Expr): Expr {
  const t = abs(x);
  const middle = gt(t, 0.5);
  const far = gt(t, 2);
  const num = select(far, f32(-1), select(middle, sub(t, 1), t));
  const den = select(far, t, select(middle, add(t, 1), f32(1)));
  const base = select(far, f32(2), select(middle, f32(1), f32(0)));
  return copysign(arcOfQuotient(num, den, base), x);
}

export function atan2(y: Expr, x: Expr): Expr {
  const ax = abs(x);
  const ay = abs(y);
  const steep = gt(ay, ax);
  const a = select(steep, ax, ay);
  const b = select(steep, ay, ax);
  const back = lt(asI32(x), 0);
  const angle = (small: Expr, large: Expr): Expr => {
    const middle = gt(small, mul(large, 0.5));
    const num = select(middle, sub(small, large), small);
    const den = select(middle, add(large, small), large);
    const first = select(middle, f32(1), f32(0));
    const second = select(steep, sub(f32(2), first), first);
    const base = select(back, sub(f32(4), second), second);
    const turned = select(steep, sub(f32(0), num), num);
    return arcOfQuotient(select(back, sub(f32(0), turned), turned), den, base);
  };
  // Zero, huge (their sum overflows), infinite and NaN.
  const usual = and(gt(b, 0), lt(b, 2 ** 126));
  const infinite = eq(b, Infinity);
  const smaller = select(infinite, select(eq(a, Infinity), f32(1), mul(a, 0)), mul(a, 0.25));
  const larger = select(infinite, f32(1), select(eq(b, 0), f32(1), mul(b, 0.25)));
  return copysign(unlikely(not(usual), angle(smaller, larger), angle(a, b)), y);
}
