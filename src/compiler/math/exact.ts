/**
 * Functions of floats whose results are exact, or rounded once, written in operations of the IR for f32 and f64 alike: parts of numbers,
 * powers of two, neighbours, the IEEE remainder. Expanded while lowering, so that every device computes the same.
 */
import { add, binary, bitcast, cast, compare, constant, i32, mul, select, sub, unary } from '../ir/builder.ts';
import type { Expr } from '../ir/ops.ts';

/** Evaluates a value once, before what uses it. */
type Hold = (value: Expr) => Expr;

/** `ldexp` takes an i32 second, and `exponent` gives one; all else is of the type of the operands. */
export type ExactFn = 'ldexp' | 'mantissa' | 'exponent' | 'nextafter' | 'remainder';

interface Format {
  readonly float: 'f32' | 'f64';
  readonly word: 'i32' | 'i64';
  readonly fraction: number;
  readonly bias: number;
  readonly word1: Expr;
}

function formatOf(x: Expr): Format {
  return x.type === 'f32'
    ? { float: 'f32', word: 'i32', fraction: 23, bias: 127, word1: constant('i32', 1) }
    : { float: 'f64', word: 'i64', fraction: 52, bias: 1023, word1: constant('i64', 1n) };
}

const int = ({ word }: Format, n: bigint): Expr => constant(word, word === 'i64' ? n : Number(n));

/** 2 to a power that a normal number can have. */
function power(f: Format, n: Expr): Expr {
  const biased = cast(f.word, add(n, i32(f.bias)));
  return bitcast(f.float, binary('shl', biased, int(f, BigInt(f.fraction))));
}

/** x · 2ⁿ, rounded once: what is beyond the exponents comes in steps, and only the last can round. */
function ldexp(x: Expr, n: Expr, hold: Hold): Expr {
  const f = formatOf(x);
  const [most, down] = [f.bias, f.bias - 1 - (f.fraction + 1)];
  let [y, rest] = [hold(x), hold(n)];
  for (let round = 0; round < 2; round++) {
    const [large, small] = [compare('gt', rest, i32(most)), compare('lt', rest, i32(1 - f.bias))];
    const step = hold(select(large, i32(most), select(small, i32(-down), i32(0))));
    y = hold(mul(y, power(f, step)));
    rest = hold(sub(rest, step));
  }
  const bounded = binary('max', binary('min', rest, i32(most)), i32(1 - f.bias));
  return mul(y, power(f, bounded));
}

interface Split {
  /** In [1/2, 1), with the sign; zeros, infinities and NaN as they are. */
  readonly mantissa: Expr;
  readonly exponent: Expr;
}

function split(x: Expr, hold: Hold): Split {
  const f = formatOf(x);
  const value = hold(x);
  const size = hold(unary('abs', value));
  const denormal = hold(compare('lt', size, constant(f.float, 2 ** (1 - f.bias))));
  const grown = hold(select(denormal, mul(value, constant(f.float, 2 ** (f.fraction + 1))), value));
  const bits = hold(bitcast(f.word, grown));
  const exponentBits = int(f, BigInt(2 * f.bias + 1));
  const biased = cast('i32', binary('and', binary('shr', bits, int(f, BigInt(f.fraction))), exponentBits));
  const plain = hold(
    binary(
      'or',
      compare('eq', size, constant(f.float, 0)),
      unary('not', compare('lt', size, constant(f.float, Number.POSITIVE_INFINITY))),
    ),
  );
  const lost = select(denormal, i32(f.fraction + 1), i32(0));
  const kept = unary('not', binary('shl', exponentBits, int(f, BigInt(f.fraction))));
  const half = int(f, BigInt(f.bias - 1) << BigInt(f.fraction));
  const mantissa = bitcast(f.float, binary('or', binary('and', bits, kept), half));
  return {
    mantissa: select(plain, value, mantissa),
    exponent: select(plain, i32(0), sub(sub(biased, i32(f.bias - 1)), lost)),
  };
}

/** The float next to x on the way to y. */
function nextafter(x: Expr, y: Expr, hold: Hold): Expr {
  const f = formatOf(x);
  const [a, b] = [hold(x), hold(y)];
  const zero = constant(f.float, 0);
  const away = compare('eq', compare('lt', a, b), compare('gt', a, zero));
  const bits = hold(bitcast(f.word, a));
  const next = bitcast(f.float, select(away, add(bits, f.word1), sub(bits, f.word1)));
  const least = binary('copysign', bitcast(f.float, f.word1), b);
  const moved = select(compare('eq', a, zero), least, next);
  const isNumber = binary('and', compare('eq', a, a), compare('eq', b, b));
  return select(isNumber, select(compare('eq', a, b), b, moved), add(a, b));
}

/** x - n y for the whole n nearest to x / y, ties to even: exact (IEEE 754, fdlibm's way). */
function remainder(x: Expr, y: Expr, hold: Hold): Expr {
  const { float, bias } = formatOf(x);
  const value = hold(x);
  const size = hold(unary('abs', y));
  const twice = add(size, size);
  // Where 2 y overflows, x is below it anyway.
  const first = hold(binary('rem', unary('abs', value), twice));
  // Half of a tiny y would not be exact; twice the rest is.
  const tiny = hold(compare('lt', size, constant(float, 2 ** (2 - bias))));
  const half = hold(mul(size, constant(float, 0.5)));
  const above = (r: Expr, fn: 'gt' | 'ge'): Expr => select(tiny, compare(fn, add(r, r), size), compare(fn, r, half));
  const second = hold(select(above(first, 'gt'), sub(first, size), first));
  // A step down leaves at most half; at half it was odd.
  const again = binary('and', compare('ne', second, first), above(second, 'ge'));
  const rest = hold(select(again, sub(second, size), second));
  return mul(binary('copysign', constant(float, 1), value), rest);
}

/** A function of operands of one float type; `by` is the power of `ldexp`. */
export function exact(fn: ExactFn, args: readonly Expr[], by: Expr | undefined, hold: Hold): Expr {
  const [x, y] = args;
  if (x === undefined) throw new Error(`internal error: ${fn} without an operand`);
  switch (fn) {
    case 'ldexp':
      return ldexp(x, by ?? i32(0), hold);
    case 'mantissa':
      return split(x, hold).mantissa;
    case 'exponent':
      return split(x, hold).exponent;
    case 'nextafter':
      return nextafter(x, y ?? x, hold);
    case 'remainder':
      return remainder(x, y ?? x, hold);
  }
}
