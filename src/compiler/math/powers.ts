/**
 * Powers of integers as floats: exact where the power fits 30 bits, and rounded once where its reciprocal is meant.
 */
import { binary, call, cast, compare, constant, i32, select, unary } from '../ir/builder.ts';
import { type Expr, isUnsigned } from '../ir/ops.ts';
import { exact } from './exact.ts';

type Hold = (value: Expr) => Expr;

/** Below this a power is computed in integers, whose digits all fit. */
const EXACT = 2 ** 30;

/** a ** b of integers of any types, as a float. */
export function powerOfIntegers(type: 'f32' | 'f64', base: Expr, exponent: Expr, hold: Hold): Expr {
  const b = hold(exponent);
  if (base.op === 'const' && Number(base.value) === 2) return exact('ldexp', [constant(type, 1)], small(b), hold);
  const a = hold(base);
  // As a float an exponent may lose its last bit, which says the sign of the power.
  const size = hold(call('pow', unary('abs', cast(type, a)), cast(type, b)));
  const isOdd = compare('ne', binary('and', b, one(b)), zero(b));
  const power = isUnsigned(a.type)
    ? size
    : select(binary('and', compare('lt', a, zero(a)), isOdd), unary('neg', size), size);
  const fits = hold(
    binary('and', compare('gt', size, constant(type, 1 / EXACT)), compare('lt', size, constant(type, EXACT))),
  );
  const isNegative = isUnsigned(b.type) ? constant('bool', false) : hold(compare('lt', b, zero(b)));
  const steps = select(isNegative, binary('sub', zero(b), b), b);
  const wide = a.type === 'i64' || b.type === 'i64' ? 'i64' : 'i32';
  // Of ±1 the exponent may be anything; its last bit is what counts.
  const most = wide === 'i64' ? constant('i64', 2n ** 63n - 1n) : i32(2 ** 31 - 1);
  const n = select(fits, binary('and', cast(wide, steps), most), cast(wide, i32(0)));
  // Without a sign there is no exponent to refuse; the bits are the same.
  const bits = wide === 'i64' ? 'u64' : 'u32';
  const whole = hold(cast(type, cast(wide, binary('ipow', cast(bits, a), cast(bits, n)))));
  return select(fits, select(isNegative, binary('div', constant(type, 1), whole), whole), power);
}

function zero({ type }: Expr): Expr {
  return constant(type, type === 'i64' || type === 'u64' ? 0n : 0);
}

function one({ type }: Expr): Expr {
  return constant(type, type === 'i64' || type === 'u64' ? 1n : 1);
}

/** An exponent as an i32: beyond some thousands all are alike. */
function small(b: Expr): Expr {
  if (b.type === 'i32') return b;
  const limit = (n: number): Expr => constant(b.type, b.type === 'i64' ? BigInt(n) : n);
  const below = binary('min', b, limit(10_000));
  return cast('i32', isUnsigned(b.type) ? below : binary('max', below, limit(-10_000)));
}
