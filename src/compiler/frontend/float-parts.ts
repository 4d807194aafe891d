/**
 * What is asked of floats, in operations of the IR: whether they are numbers, finite or whole, and the bits of halves.
 */
import { SCALARS } from '../../dtype/index.ts';
import { binary, bitcast, bool, cast, constant, eq, i32, lt, unary } from '../ir/builder.ts';
import { narrowSingle, widenNarrow } from '../ir/narrow-float.ts';
import { type Expr, isFloat } from '../ir/ops.ts';

/** Evaluates a value once, before what uses it. */
type Hold = (value: Expr) => Expr;

/** `Number.isNaN(a)` and its kin. */
export function tested(fn: 'isNaN' | 'isFinite' | 'isInteger' | 'isNegative', a: Expr, hold: Hold): Expr {
  // Of integers nobody asks whether they are negative but to tell 0 from -0.
  if (!isFloat(a.type)) return bool(fn !== 'isNaN' && fn !== 'isNegative');
  if (fn === 'isNegative')
    return a.type === 'f64' ? lt(bitcast('i64', a), constant('i64', 0n)) : lt(bitcast('i32', a), i32(0));
  if (fn !== 'isInteger') return { op: 'unary', type: 'bool', fn, a };
  const held = hold(a);
  return binary('and', eq(unary('trunc', held), held), { op: 'unary', type: 'bool', fn: 'isFinite', a: held });
}

/** The bits of the half nearest to an f32, as an i32 with their sign. */
export function halfBits(a: Expr, hold: Hold): Expr {
  return cast('i16', narrowSingle(SCALARS.f16.narrow, a, hold));
}

/** The half that the lower bits of an i32 are. */
export function halfValue(bits: Expr, hold: Hold): Expr {
  return widenNarrow(SCALARS.f16.narrow, cast('u16', bits), hold);
}
