/**
 * sin, cos, tan of f64 for GPUs.
 *
 * |x| below 2³⁰ is reduced by π/2 in three parts; beyond, the significand is multiplied with 192 bits of 2/π (Payne and
 * Hanek) in 64-bit integers, on the rare path. Either way the remainder is a pair.
 */
import { KernelBuilder } from '../../ir/builder.ts';
import type { ArraySym, Expr } from '../../ir/ops.ts';
import { f64, i64, u64 } from '../f64/notation.ts';
import {
  abs,
  add,
  and,
  fastTwoSum,
  i32,
  le,
  lt,
  mul,
  ne,
  neg,
  not,
  or,
  type Pair,
  select,
  shl,
  shr,
  sub,
  twoSum,
  xor,
} from '../notation.ts';
import {
  bitsAs,
  element,
  exactProduct,
  floor,
  fma,
  horner,
  lowWord,
  mulhi,
  nearestProduct,
  product,
  quotient,
  timesPair,
  to,
  unlikelyOf,
} from './notation.ts';

const TWO_OVER_PI = 0.6366197723675814;
/** π/2 in three parts. */
const PI_HALF = [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33] as const;
const LARGE = 2 ** 30;
/** π/2 · 2⁻⁶² */
const PI_HALF_SCALED: Pair = { hi: f64(3.4061215800865545e-19), lo: f64(1.3277647201629795e-35) };

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

/** 2/π as a binary fraction, 64 bits a word, a word of zeros in front. */
const WORDS = [
  0x0000000000000000n,
  0xa2f9836e4e441529n,
  0xfc2757d1f534ddc0n,
  0xdb6295993c439041n,
  0xfe5163abdebbc561n,
  0xb7246e3a424dd2e0n,
  0x06492eea09d1921cn,
  0xfe1deb1cb129a73en,
  0xe88235f52ebb4484n,
  0xe99c7026b45f7e41n,
  0x3991d639835339f4n,
  0x9c845f8bbdf9283bn,
  0x1ff897ffde05980fn,
  0xef2f118b5a0a6d1fn,
  0x6d367ecf27cb09b7n,
  0x4f463f669e5fea2dn,
  0x7527bac7ebe5f17bn,
  0x3d0739f78a5292ean,
  0x6bfb5fb11f8d5d08n,
  0x56033046fc7b6babn,
  0xf0cfbc209af4361dn,
];
const TABLE: ArraySym = new KernelBuilder('').constants(
  'u64',
  'twoOverPi',
  new Uint8Array(BigUint64Array.from(WORDS).buffer),
);

/** |x| = quadrant · π/2 + r; only the two low bits of the quadrant, an i32, mean anything. */
interface Reduced {
  readonly quadrant: Expr;
  readonly r: Pair;
}

function reduceSmall(a: Expr): Reduced {
  const k = nearestProduct(a, TWO_OVER_PI);
  const start = fma(k.float, -PI_HALF[0], a); // exact
  const p = exactProduct(k.float, f64(-PI_HALF[1]));
  const r = twoSum(start, p.hi);
  return { quadrant: lowWord(k.bits), r: { hi: r.hi, lo: fma(k.float, -PI_HALF[2], add(r.lo, p.lo)) } };
}

function reduceLarge(a: Expr): Reduced {
  const bits = bitsAs('u64', a);
  const m = or(and(bits, u64(0xfffffffffffffn)), u64(1n << 52n));
  // a = m · 2^e, e from -22 on. Bits of 2/π before the one of weight 2^(1-e) give multiples of 4.
  const start = add(to('i32', shr(bits, u64(52n))), i32(64 - 2 - 1075));
  const word = shr(start, i32(6));
  const shift = to('u64', and(start, i32(63)));
  const back = sub(u64(63n), shift);
  const words = [0, 1, 2, 3].map((k) => element(TABLE, add(word, i32(k))));
  const window = (k: number): Expr => {
    const [here = f64(0), next = f64(0)] = words.slice(k);
    return or(shl(here, shift), shr(shr(next, u64(1n)), back));
  };
  const carryIn = mulhi(window(2), m);
  const low = add(mul(window(1), m), carryIn);
  const carry = select(lt(low, carryIn), u64(1n), u64(0n));
  const high = add(add(mul(window(0), m), mulhi(window(1), m)), carry);
  const quadrant = shr(add(high, u64(1n << 61n)), u64(62n));
  const signed = bitsAs('i64', sub(high, shl(quadrant, u64(62n))));
  const coarse = to('f64', signed);
  const fine = add(to('f64', sub(signed, to('i64', coarse))), mul(to('f64', low), 2 ** -64));
  const r = timesPair(fastTwoSum(coarse, fine), PI_HALF_SCALED);
  return { quadrant: to('i32', quadrant), r };
}

/** The reduced |x|, by whichever reduction; of infinite ones and NaN it is NaN. */
function reduced(a: Expr): Reduced {
  const flat = ({ quadrant, r }: Reduced) => ({ quadrant, hi: r.hi, lo: r.lo });
  const large = reduceLarge(a);
  const hi = select(lt(a, Infinity), large.r.hi, f64(Number.NaN));
  const { quadrant, ...r } = unlikelyOf(not(le(a, LARGE)), { ...flat(large), hi }, flat(reduceSmall(a)));
  return { quadrant, r };
}

/** sin r and cos r, as pairs but for the last rounding. */
function both({ hi, lo }: Pair): { readonly sine: Pair; readonly cosine: Pair } {
  const z = mul(hi, hi);
  const half = mul(z, 0.5);
  const one = sub(f64(1), half);
  const sine: Pair = { hi, lo: fma(mul(z, hi), horner(z, SIN), fma(neg(lo), half, lo)) };
  const rest = sub(sub(f64(1), one), half);
  const cosine: Pair = { hi: one, lo: fma(mul(z, z), horner(z, COS), fma(neg(hi), lo, rest)) };
  return { sine, cosine };
}

/** sin(r + quadrant · π/2), its sign less that of `signs`, as a pair. */
function sinPair(r: Pair, quadrant: Expr, signs?: Expr, { sine, cosine } = both(r)): Pair {
  const odd = ne(and(quadrant, i32(1)), i32(0));
  const flipped = shl(to('i64', quadrant), i64(62n));
  const sign = and(signs === undefined ? flipped : xor(flipped, signs), i64(-(2n ** 63n)));
  const signed = (v: Expr): Expr => bitsAs('f64', xor(bitsAs('i64', v), sign));
  return { hi: signed(select(odd, cosine.hi, sine.hi)), lo: signed(select(odd, cosine.lo, sine.lo)) };
}

function sum({ hi, lo }: Pair): Expr {
  return add(hi, lo);
}

export function sin(x: Expr): Expr {
  const { r, quadrant } = reduced(abs(x));
  return sum(sinPair(r, quadrant, bitsAs('i64', x)));
}

export function cos(x: Expr): Expr {
  const { r, quadrant } = reduced(abs(x));
  return sum(sinPair(r, add(quadrant, i32(1))));
}

/** Both, from one reduction; the same bits as each separately. */
export function sincos(x: Expr): readonly [sine: Expr, cosine: Expr] {
  const { r, quadrant } = reduced(abs(x));
  const parts = both(r);
  const sine = sum(sinPair(r, quadrant, bitsAs('i64', x), parts));
  return [sine, sum(sinPair(r, add(quadrant, i32(1)), undefined, parts))];
}

export function tan(x: Expr): Expr {
  const { quadrant, r } = reduced(abs(x));
  const { sine, cosine } = both(r);
  const odd = ne(and(quadrant, i32(1)), i32(0));
  const n = fastTwoSum(sine.hi, sine.lo);
  const d = fastTwoSum(cosine.hi, cosine.lo);
  const q = quotient(
    select(odd, neg(d.hi), n.hi),
    select(odd, n.hi, d.hi),
    select(odd, neg(d.lo), n.lo),
    select(odd, n.lo, d.lo),
  );
  const sign = and(bitsAs('i64', x), i64(-(2n ** 63n)));
  return bitsAs('f64', xor(bitsAs('i64', add(q.hi, q.lo)), sign));
}

/** sin(π size) for size ≥ 0; what is left of it over a multiple of 2, and that over a half, are exact. */
export function sinPiPair(size: Expr): Pair {
  const y = fma(floor(mul(size, 0.5)), -2, size);
  const twice = nearestProduct(y, 2);
  const f = fma(twice.float, -0.5, y);
  const hi = product(f, Math.PI);
  const lo = fma(f, 1.2246467991473532e-16, fma(f, Math.PI, neg(hi)));
  const s = sinPair({ hi, lo }, lowWord(twice.bits));
  return fastTwoSum(s.hi, s.lo);
}
