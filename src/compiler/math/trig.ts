/**
 * sin, cos, tan of f32.
 *
 * |x| below 6000 is reduced by π/2 in four parts, of which the first three give exact products with the quotient; what is
 * beyond multiplies its significand with 96 bits of 2/π (Payne and Hanek), in u32 arithmetic, on the rare path. Either way
 * the remainder is a pair, so that the neighbourhood of the zeros is as accurate as the rest.
 */
import type { Expr } from '../ir/ops.ts';
import {
  abs,
  add,
  and,
  asF32,
  asI32,
  asU32,
  branch,
  div,
  eq,
  f32,
  fastTwoSum,
  i32,
  le,
  lt,
  mul,
  ne,
  nearestInt,
  not,
  or,
  type Pair,
  polynomial,
  product,
  select,
  shl,
  shr,
  sub,
  toF32,
  toI32,
  u32,
  unlikely,
  xor,
} from './notation.ts';

const TWO_OVER_PI = 0.636619772;
/** π/2: 12, 6, 11 and 24 significant bits, the first three down to 2⁻¹¹, 2⁻²³, 2⁻³⁵. */
const PI_HALF = [1.57080078125, -4.410743713378906e-6, -4.371395334601402e-8, 2.5633440682570896e-12] as const;
/** Up to here a quotient by π/2 fits 12 bits. */
const LARGE = 6000;

/** 2/π as a binary fraction, 32 bits a word. */
const TWO_OVER_PI_WORDS = [0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab];
/** π/2 · 2⁻³⁰ as a pair. */
const PI_HALF_SCALED = 1.462918119976564e-9;
const PI_HALF_SCALED_LO = -4.070940267922164e-17;

/** (x - sin x) / x³ in x², |x| ≤ π/4: 2⁻²⁸. */
const SIN = [-0.16666653752326965, 0.008332106284797192, -0.00019507884280756116];
/** (cos x - 1 + x²/2) / x⁴ in x², |x| ≤ π/4: 2⁻³³. */
const COS = [0.04166664555668831, -0.0013887304812669754, 2.4431425117654726e-5];
/** (tan x - x) / x³ in x², |x| ≤ π/4: 2⁻²⁹. */
const TAN = [
  0.3333335220813751, 0.13332577049732208, 0.05406986549496651, 0.021230118349194527, 0.010972131043672562,
  -8.447418076684698e-5, 0.004462494980543852,
];

/** x = quadrant · π/2 + r; only the two low bits of the quadrant mean anything. */
export interface Reduced {
  readonly quadrant: Expr;
  readonly r: Pair;
}

function reduceSmall(x: Expr): Reduced {
  const k = nearestInt(mul(x, TWO_OVER_PI));
  const exact = sub(sub(x, mul(k.float, PI_HALF[0])), mul(k.float, PI_HALF[1]));
  const third = mul(k.float, PI_HALF[2]);
  const c = sub(exact, third);
  const lo = sub(sub(sub(exact, c), third), mul(k.float, PI_HALF[3]));
  return { quadrant: k.bits, r: fastTwoSum(c, lo) };
}

/** The upper 32 bits of a 24-bit number times a 32-bit one. */
function highProduct(m: Expr, w: Expr): Expr {
  const mh = shr(m, 16);
  const ml = and(m, 0xffff);
  const wh = shr(w, 16);
  const wl = and(w, 0xffff);
  const first = add(mul(mh, wl), shr(mul(ml, wl), 16));
  const second = add(mul(ml, wh), and(first, 0xffff));
  return add(mul(mh, wh), add(shr(first, 16), shr(second, 16)));
}

export function reduceLarge(x: Expr, high32: (m: Expr, w: Expr) => Expr = highProduct): Reduced {
  const magnitude = and(asU32(x), 0x7fffffff);
  const m = or(and(magnitude, 0x7fffff), 0x800000);
  // The bits of 2/π that give the product's bits of weight 2 and below start at bit e + 7, a zero word put in front.
  const start = add(shr(magnitude, 23), 7 - 127);
  const word = shr(start, 5);
  const words = [u32(0), ...TWO_OVER_PI_WORDS.map(u32)];
  const at = (k: number): Expr =>
    [3, 2, 1, 0].reduce((rest, w) => select(eq(word, w), words[w + k] ?? u32(0), rest), words[4 + k] ?? u32(0));
  const shift = and(start, 31);
  const back = sub(u32(31), shift);
  const window = (k: number): Expr => or(shl(at(k), shift), shr(shr(at(k + 1), 1), back));
  const middle = mul(m, window(1));
  const carryIn = high32(m, window(2));
  const low = add(middle, carryIn);
  const high = add(add(mul(m, window(0)), high32(m, window(1))), select(lt(low, carryIn), u32(1), u32(0)));
  const quadrant = shr(add(high, 0x20000000), 30);
  const signed = asI32(sub(high, shl(quadrant, 30)));
  const coarse = toF32(signed);
  const fine = add(toF32(sub(signed, toI32(coarse))), mul(toF32(low), 2 ** -32));
  const part = fastTwoSum(coarse, fine);
  const p = product(part.hi, f32(PI_HALF_SCALED));
  const r = fastTwoSum(p.hi, add(p.lo, add(mul(part.lo, PI_HALF_SCALED), mul(part.hi, PI_HALF_SCALED_LO))));
  const negative = lt(x, 0);
  const flip = (v: Expr) => select(negative, sub(f32(0), v), v);
  const q = asI32(quadrant);
  return { quadrant: select(negative, sub(i32(0), q), q), r: { hi: flip(r.hi), lo: flip(r.lo) } };
}

/** The function of the reduced argument, by whichever reduction; infinite and NaN give NaN. */
function reducing(x: Expr, of: (reduced: Reduced) => Expr): Expr {
  const finite = select(lt(abs(x), Infinity), of(reduceLarge(x)), f32(Number.NaN));
  return unlikely(not(le(abs(x), LARGE)), finite, of(reduceSmall(x)));
}

export interface SineAndCosine {
  readonly sine: Expr;
  readonly cosine: Expr;
}

/** sin r and cos r of what is left of an angle, of either width, by polynomials in r². */
export function sineAndCosine({ hi, lo }: Pair, sin: readonly number[], cos: readonly number[]): SineAndCosine {
  const z = mul(hi, hi);
  const half = mul(z, 0.5);
  const sine = add(hi, add(mul(mul(hi, z), polynomial(z, sin)), sub(lo, mul(lo, half))));
  const one = sub(1, half);
  const cosine = add(one, add(sub(sub(1, one), half), sub(mul(mul(z, z), polynomial(z, cos)), mul(hi, lo))));
  return { sine, cosine };
}

const both = (r: Pair): SineAndCosine => sineAndCosine(r, SIN, COS);

/** sin(r + quadrant' · π/2) where quadrant' is the quadrant and `ahead` more. */
export function sinAt({ quadrant, r }: Reduced, ahead: number, { sine, cosine }: SineAndCosine = both(r)): Expr {
  const q = ahead === 0 ? quadrant : add(quadrant, ahead);
  const value = select(ne(and(q, 1), 0), cosine, sine);
  return asF32(xor(asI32(value), shl(and(q, 2), 30)));
}

export function sin(x: Expr): Expr {
  return reducing(x, (reduced) => select(eq(x, 0), x, sinAt(reduced, 0)));
}

export function cos(x: Expr): Expr {
  return reducing(x, (reduced) => sinAt(reduced, 1));
}

/** Both, from one reduction; the same bits as each separately. */
export function sincos(x: Expr): readonly [sine: Expr, cosine: Expr] {
  const of = (reduced: Reduced): [Expr, Expr] => {
    const parts = both(reduced.r);
    return [select(eq(x, 0), x, sinAt(reduced, 0, parts)), sinAt(reduced, 1, parts)];
  };
  const finite = lt(abs(x), Infinity);
  const large = of(reduceLarge(x)).map((y) => select(finite, y, f32(Number.NaN)));
  const [sine = x, cosine = x] = branch(true, not(le(abs(x), LARGE)), large, of(reduceSmall(x)));
  return [sine, cosine];
}

export function tan(x: Expr): Expr {
  return reducing(x, ({ quadrant, r }) => {
    const z = mul(r.hi, r.hi);
    const slope = add(r.lo, mul(mul(r.lo, z), add(mul(z, 0.6666667), 1)));
    const t = fastTwoSum(r.hi, add(mul(mul(r.hi, z), polynomial(z, TAN)), slope));
    const inverse = div(f32(-1), t.hi);
    const cotangent = add(inverse, mul(mul(inverse, inverse), t.lo));
    return select(eq(x, 0), x, select(ne(and(quadrant, 1), 0), cotangent, t.hi));
  });
}
