/**
 * Floats narrower than f32 in IR operations: bits to values and back, of any format that the table of scalar types has.
 *
 * For devices that have no instructions for a format (passes/expand-narrow.ts), and for elements that lie in memory in pieces
 * (frontend/unaligned.ts). Only shifts, sums and comparisons of 32 bits: what flushes denormals does no harm. On the host it is
 * dtype/narrow-float.ts.
 */
import { greatestOf, type NarrowFloat, nanOf } from '../../dtype/index.ts';
import {
  add,
  binary,
  bitcast,
  cast,
  compare,
  constant,
  f32,
  i32,
  mul,
  or,
  select,
  sub,
  u32,
  unary,
} from './builder.ts';
import { type Expr, isUnsigned } from './ops.ts';

/** Gives a value a name, for what needs it more than once. */
export type Hold = (value: Expr) => Expr;

/** Bits of f32. */
const FRACTION = 23;
const BIAS = 127;
const INFINITY = 0x7f800000;

const biasOf = ({ exponentBits }: NarrowFloat): number => 2 ** (exponentBits - 1) - 1;

/** The value of an element: `bits` is an i32 with the element in its low bits, and zeros above. */
export function widenNarrow(format: NarrowFloat, bits: Expr, hold: Hold): Expr {
  const { exponentBits, fractionBits } = format;
  const size = exponentBits + fractionBits;
  // The upper bits of an f32.
  if (exponentBits === 8) return bitcast('f32', binary('shl', bits, i32(31 - size)));
  const all = hold(bits);
  const magnitude = hold(binary('and', all, i32(2 ** size - 1)));
  const shifted = binary('shl', magnitude, i32(FRACTION - fractionBits));
  const bias = biasOf(format);
  const normal = bitcast('f32', add(shifted, i32((BIAS - bias) << FRACTION)));
  const special = format.finite ? f32(Number.NaN) : bitcast('f32', or(shifted, i32(INFINITY)));
  const small = mul(cast('f32', magnitude), f32(2 ** (1 - bias - fractionBits)));
  const positive = hold(
    select(
      compare('lt', magnitude, i32(2 ** fractionBits)),
      small,
      select(compare('gt', magnitude, i32(greatestOf(format))), special, normal),
    ),
  );
  return select(compare('ne', binary('and', all, i32(2 ** size)), i32(0)), unary('neg', positive), positive);
}

/**
 * The bits of the element nearest to an f32, ties to even, in the low bits of an i32. Above they are zeros, or with f32's exponents copies of
 * the sign, which widening drops.
 */
export function narrowSingle(format: NarrowFloat, single: Expr, hold: Hold): Expr {
  const { exponentBits, fractionBits } = format;
  const size = exponentBits + fractionBits;
  const value = hold(single);
  const word = hold(bitcast('i32', value));
  const drop = FRACTION - fractionBits;
  // Half of the last bit, less one, and the last bit itself: above the half, and at it if the last bit is odd, the sum carries.
  const rounded = (x: Expr, rebase: number): Expr => {
    const odd = binary('and', binary('shr', x, i32(drop)), i32(1));
    return binary('shr', add(add(x, i32(2 ** (drop - 1) - 1 - rebase)), odd), i32(drop));
  };
  const nan = i32(nanOf(format));
  // The exponents are those of f32, subnormals and infinity included.
  if (exponentBits === 8) return select(unary('isNaN', value), nan, rounded(word, 0));
  const bias = biasOf(format);
  const magnitude = hold(binary('and', word, i32(0x7fffffff)));
  const sign = binary('and', binary('shr', word, i32(31 - size)), i32(2 ** size));
  const normal = rounded(magnitude, (BIAS - bias) << FRACTION);
  // Its last bit is worth as much as that of a subnormal: the sum leaves the rounded one in the low bits.
  const magic = 2 ** (FRACTION + 1 - bias - fractionBits);
  const base = (Math.log2(magic) + BIAS) << FRACTION;
  const small = sub(bitcast('i32', add(bitcast('f32', magnitude), f32(magic))), i32(base));
  const finite = select(compare('lt', magnitude, i32((BIAS + 1 - bias) << FRACTION)), small, normal);
  const limit = i32(greatestOf(format) + (format.saturates ? 0 : 1));
  const limited = binary('min', finite, limit);
  return select(unary('isNaN', value), nan, or(sign, limited));
}

/**
 * An f32 rounded to a format, as an f32: what `widenNarrow` of `narrowSingle` gives, without the way there and back. A NaN stays as it is.
 */
export function roundSingle(format: NarrowFloat, single: Expr, hold: Hold): Expr {
  const { exponentBits, fractionBits } = format;
  const value = hold(single);
  const word = hold(bitcast('i32', value));
  const drop = FRACTION - fractionBits;
  const kept = i32(-(2 ** drop));
  const rounded = (x: Expr): Expr => {
    const odd = binary('and', binary('shr', x, i32(drop)), i32(1));
    return binary('and', add(add(x, i32(2 ** (drop - 1) - 1)), odd), kept);
  };
  if (exponentBits === 8) return select(unary('isNaN', value), value, bitcast('f32', rounded(word)));
  const bias = biasOf(format);
  const magnitude = hold(binary('and', word, i32(0x7fffffff)));
  // As in `narrowSingle`: the sum has the rounded subnormal in its low bits.
  const unit = 2 ** (1 - bias - fractionBits);
  const magic = unit * 2 ** FRACTION;
  const base = (Math.log2(magic) + BIAS) << FRACTION;
  const count = sub(bitcast('i32', add(bitcast('f32', magnitude), f32(magic))), i32(base));
  const small = bitcast('i32', mul(cast('f32', count), f32(unit)));
  const finite = hold(select(compare('lt', magnitude, i32((BIAS + 1 - bias) << FRACTION)), small, rounded(magnitude)));
  const greatest = (greatestOf(format) + ((BIAS - bias) << fractionBits)) << drop;
  const limited = select(compare('gt', finite, i32(greatest)), i32(format.saturates ? greatest : INFINITY), finite);
  const sign = binary('and', word, i32(-0x80000000));
  return select(unary('isNaN', value), value, bitcast('f32', or(sign, limited)));
}

/** a * b + c of floats of 16 bits, rounded once. */
export function fusedNarrow(name: 'f16' | 'bf16', [a, b, c]: readonly [Expr, Expr, Expr], hold: Hold): Expr {
  // The product is exact: of halves in f32, of bf16, which go as far as f32 does, in f64.
  const wide = (x: Expr): Expr => (name === 'f16' ? x : cast('f64', x));
  return oddSum(hold(mul(wide(a), wide(b))), hold(wide(c)), hold);
}

/** A sum, rounded to odd: an error that rounding has made is found (Knuth's TwoSum), and ends in the last bit. */
function oddSum(x: Expr, y: Expr, hold: Hold): Expr {
  const sum = hold(add(x, y));
  const part = hold(sub(sum, x));
  const error = hold(add(sub(x, sub(sum, part)), sub(y, part)));
  const [bits, one] = sum.type === 'f64' ? (['i64', constant('i64', 1)] as const) : (['i32', i32(1)] as const);
  const zero = constant(sum.type, 0);
  const word = hold(bitcast(bits, sum));
  const outwards = compare('eq', compare('gt', error, zero), compare('gt', sum, zero));
  const next = select(outwards, add(word, one), sub(word, one));
  // Not so where a NaN or an infinity is among them: the error is NaN then.
  const inexact = binary('or', compare('gt', error, zero), compare('lt', error, zero));
  const even = compare('eq', binary('and', word, one), constant(bits, 0));
  return select(binary('and', inexact, even), bitcast(sum.type, next), sum);
}

/**
 * A value of any type as an f32 that rounds to a narrower float as the value itself does: what f32 cannot hold is cut off, and the last bit
 * set for it ("round to odd").
 */
export function oddSingle(value: Expr, hold: Hold): Expr {
  switch (value.type) {
    case 'f32':
      return value;
    case 'bool':
      return cast('f32', value);
    case 'i32':
    case 'u32': {
      const x = hold(value);
      const exact = 2 ** 24;
      const fits = isUnsigned(x.type)
        ? compare('lt', x, u32(exact))
        : compare('lt', cast('u32', add(x, i32(exact))), u32(2 * exact));
      return cast('f32', select(fits, x, lowBitsTogether(x, 9)));
    }
    case 'i64':
    case 'u64': {
      const x = hold(value);
      const exact = 2n ** 53n;
      const fits = isUnsigned(x.type)
        ? compare('lt', x, constant('u64', exact))
        : compare('lt', cast('u64', add(x, constant('i64', exact))), constant('u64', 2n * exact));
      return oddSingle(cast('f64', select(fits, x, lowBitsTogether(x, 12))), hold);
    }
    case 'f64': {
      const x = hold(value);
      const single = hold(cast('f32', x));
      const back = hold(cast('f64', single));
      const over = cast('i32', compare('gt', unary('abs', back), unary('abs', x)));
      const odd = or(sub(bitcast('i32', single), over), i32(1));
      const exact = binary('or', compare('eq', back, x), unary('isNaN', x));
      return select(exact, single, bitcast('f32', odd));
    }
  }
}

/** An integer whose low bits became one: whether any of them is set. */
function lowBitsTogether(x: Expr, count: number): Expr {
  const low = 2 ** count - 1;
  const none = constant(x.type, 0);
  const any = select(
    compare('ne', binary('and', x, constant(x.type, low)), none),
    constant(x.type, 2 ** (count - 1)),
    none,
  );
  const high = binary('shl', binary('shr', x, constant(x.type, count)), constant(x.type, count));
  return or(high, any);
}
