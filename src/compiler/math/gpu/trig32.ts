/**
 * sin, cos, tan of f32 for GPUs.
 *
 * The argument less a multiple of π/2 in three fused steps, exact enough up to 105,615; beyond, the reduction of Payne and
 * Hanek, on a path of its own. The sign of x is put back at the end, so that zeros keep theirs.
 */
import type { Expr } from '../../ir/ops.ts';
import {
  abs,
  add,
  and,
  asF32,
  asI32,
  branch,
  f32,
  i32,
  le,
  lt,
  mul,
  ne,
  neg,
  not,
  type Pair,
  select,
  shl,
  sub,
  unlikely,
  xor,
} from '../notation.ts';
import { reduceLarge } from '../trig.ts';
import { approx, fma, horner, mulhi, nearestProduct } from './notation.ts';

const TWO_OVER_PI = 0.6366197466850281;
/** π/2 in three parts. */
const PI_HALF = [1.5707963705062866, -4.371138828673793e-8, -1.7151245100058819e-15] as const;
/** Up to here the reduction by three parts is as accurate as the rest. */
const LARGE = 105615;

/** (sin r - r) / r³ in r², |r| ≤ π/4: 2⁻²⁸. */
const SIN = [-0.16666655242443085, 0.008332189172506332, -0.00019518277258612216];
/** cos r in r², |r| ≤ π/4: 2⁻³³. */
const COS = [1, -0.5, 0.04166664555668831, -0.0013887310633435845, 2.4432561986031942e-5];
/** (tan r - r) / r³ in r², |r| ≤ π/4: 2⁻²⁹. */
const TAN = [
  0.3333335220813751, 0.13332577049732208, 0.05406986549496651, 0.021230118349194527, 0.010972131043672562,
  -8.447418076684698e-5, 0.004462494980543852,
];

interface Reduced {
  readonly r: Expr;
  /** r with what its last rounding lost; only tan asks for it. */
  readonly pair: Pair;
  readonly quadrant: Expr;
}

/** A non-negative x less a multiple of π/2. */
function reduceSmall(a: Expr): Reduced {
  const k = nearestProduct(a, TWO_OVER_PI);
  const first = fma(k.float, -PI_HALF[0], a); // exact
  const second = fma(k.float, -PI_HALF[1], first);
  const r = fma(k.float, -PI_HALF[2], second);
  return { r, pair: { hi: r, lo: fma(k.float, -PI_HALF[2], sub(second, r)) }, quadrant: k.bits };
}

/** `of` the reduced |x|, by whichever reduction; infinite and NaN give NaN. */
function reducing(a: Expr, of: (reduced: Reduced) => Expr): Expr {
  const large = reduceLarge(a, (m, w) => mulhi(m, w));
  const beyond = select(
    lt(a, Infinity),
    of({ r: large.r.hi, pair: large.r, quadrant: large.quadrant }),
    f32(Number.NaN),
  );
  return unlikely(not(le(a, LARGE)), beyond, of(reduceSmall(a)));
}

function both(r: Expr): { readonly sine: Expr; readonly cosine: Expr } {
  const z = mul(r, r);
  return { sine: fma(horner(z, SIN), mul(z, r), r), cosine: horner(z, COS) };
}

/** sin(r + quadrant · π/2), its sign less that of `signs`. */
function sinAt(r: Expr, quadrant: Expr, signs?: Expr, { sine, cosine } = both(r)): Expr {
  const value = select(ne(and(quadrant, 1), 0), cosine, sine);
  const flipped = shl(quadrant, 30);
  const sign = and(signs === undefined ? flipped : xor(flipped, signs), i32(-0x80000000));
  return asF32(xor(asI32(value), sign));
}

export function sin(x: Expr): Expr {
  return reducing(abs(x), ({ r, quadrant }) => sinAt(r, quadrant, asI32(x)));
}

export function cos(x: Expr): Expr {
  return reducing(abs(x), ({ r, quadrant }) => sinAt(r, add(quadrant, 1)));
}

/** Both, from one reduction; the same bits as each separately. */
export function sincos(x: Expr): readonly [sine: Expr, cosine: Expr] {
  const a = abs(x);
  const of = (r: Expr, quadrant: Expr): [Expr, Expr] => {
    const parts = both(r);
    return [sinAt(r, quadrant, asI32(x), parts), sinAt(r, add(quadrant, 1), undefined, parts)];
  };
  const [near, far] = [reduceSmall(a), reduceLarge(a, (m, w) => mulhi(m, w))];
  const large = of(far.r.hi, far.quadrant).map((y) => select(lt(a, Infinity), y, f32(Number.NaN)));
  const [sine = x, cosine = x] = branch(true, not(le(a, LARGE)), large, of(near.r, near.quadrant));
  return [sine, cosine];
}

export function tan(x: Expr): Expr {
  return reducing(abs(x), ({ pair: { hi: r, lo: early }, quadrant }) => {
    const z = mul(r, r);
    // The derivative of tan, roughly, for what r lost.
    const curve = fma(early, fma(z, 1.4, 1), mul(mul(z, r), horner(z, TAN)));
    const t = add(r, curve);
    const lost = sub(curve, sub(t, r));
    const inverse = approx('rcpApprox', neg(t));
    const missing = fma(inverse, lost, fma(inverse, t, 1));
    const value = select(ne(and(quadrant, 1), 0), fma(missing, inverse, inverse), t);
    return asF32(xor(asI32(value), and(asI32(x), i32(-0x80000000))));
  });
}
