/**
 * sin and cos of f64 on processors.
 *
 * |x| up to 2¹⁷ is reduced by π/2 in three parts, of which the first two give exact products with the quotient; what is beyond,
 * infinite or NaN is the host's. The remainder is a pair, so that the neighbourhood of the zeros is as accurate as the rest.
 */
import type { Expr } from '../../ir/ops.ts';
import { abs, add, and, branch, le, mul, not, type Pair, shl, sub, xor } from '../notation.ts';
import { type SineAndCosine, sineAndCosine } from '../trig.ts';
import { bitsOf, byLowBit, fromBits, i64, nearestInt, orHost } from './notation.ts';

const TWO_OVER_PI = 0.6366197723675814;
/** π/2: 36, 36 and 53 significant bits. */
const PI_HALF = [1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23] as const;
/** Up to here a quotient by π/2 fits 17 bits. */
const LARGE = 2 ** 17;

/** (sin r - r) / r³ in r², |r| ≤ π/4: 2⁻⁵⁶ of sin r. */
const SIN = [
  -0.16666666666666666, 0.008333333333330946, -0.0001984126983675497, 2.755731610068303e-6, -2.5051131455427946e-8,
  1.591810123027412e-10,
];
/** (cos r - 1 + r²/2) / r⁴ in r², |r| ≤ π/4: 2⁻⁶⁰. */
const COS = [
  0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-5, -2.7557317270560326e-7, 2.0876146024689747e-9,
  -1.1382614868556325e-11,
];

/** A magnitude is quadrant · π/2 + r; only the two low bits of the quadrant, an i64, mean anything. */
interface Reduced {
  readonly quadrant: Expr;
  readonly r: Pair;
}

/** Where a difference of parts is not exact, its first part is the larger one, so that what it loses is known. */
function reduce(a: Expr): Reduced {
  const k = nearestInt(mul(a, TWO_OVER_PI));
  const first = sub(a, mul(k.float, PI_HALF[0])); // exact
  const second = mul(k.float, PI_HALF[1]);
  const third = mul(k.float, PI_HALF[2]);
  const rough = sub(first, second);
  const hi = sub(rough, third);
  const lo = add(sub(sub(rough, hi), third), sub(sub(first, rough), second));
  return { quadrant: k.bits, r: { hi, lo } };
}

const both = (r: Pair): SineAndCosine => sineAndCosine(r, SIN, COS);

/** Made where it is used: pages load what makes it later than this. */
const signBit = (): Expr => i64(-(2n ** 63n));

/** The sine of x, or of x + π/2, with |x| reduced. */
function sineOf(x: Expr, { quadrant }: Reduced, { sine, cosine }: SineAndCosine): Expr {
  return fromBits(xor(byLowBit(quadrant, sine, cosine), and(xor(shl(quadrant, i64(62n)), bitsOf(x)), signBit())));
}
function cosineOf({ quadrant }: Reduced, { sine, cosine }: SineAndCosine): Expr {
  const sign = and(shl(add(quadrant, i64(1n)), i64(62n)), signBit());
  return fromBits(xor(byLowBit(quadrant, cosine, sine), sign));
}

const beyond = (size: Expr): Expr => not(le(size, LARGE));

export function sin(x: Expr): Expr {
  const size = abs(x);
  const reduced = reduce(size);
  return orHost(beyond(size), 'sin', [x], sineOf(x, reduced, both(reduced.r)));
}

export function cos(x: Expr): Expr {
  const size = abs(x);
  const reduced = reduce(size);
  return orHost(beyond(size), 'cos', [x], cosineOf(reduced, both(reduced.r)));
}

/** Both, from one reduction; the same bits as each separately. */
export function sincos(x: Expr): readonly [sine: Expr, cosine: Expr] {
  const size = abs(x);
  const reduced = reduce(size);
  const parts = both(reduced.r);
  const host = (fn: 'sin' | 'cos'): Expr => ({ op: 'call', type: 'f64', fn, args: [x] });
  const values = [sineOf(x, reduced, parts), cosineOf(reduced, parts)];
  const [sine = x, cosine = x] = branch(true, beyond(size), [host('sin'), host('cos')], values);
  return [sine, cosine];
}
