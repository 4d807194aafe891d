/**
 * Lowering of casts: to the scalar types, of literals by their values, and to clamped bytes.
 */
import { SCALAR_TOKENS, u8c } from '../../dtype/index.ts';
import { type Expr, isFloat, type ValueType, widen } from '../ir/ops.ts';
import { isHalf } from '../types/lattice.ts';
import type { TExpr } from '../types/tree.ts';
import { typeOf } from '../types/typing.ts';
import { castTo, clamp, widenLiteral } from './convert.ts';
import type { Lowering } from './lowering.ts';

/** A cast to a machine type, as host and device carry it out. */
export function lowerCast(x: Lowering, e: Extract<TExpr, { k: 'cast' }>, want: ValueType | undefined): Expr {
  const { a } = e;
  if (e.by === 'u8c') return clamped(x, a);
  if (isHalf(typeOf(e)) && typeOf(a) === e.to) return x.lower(a, undefined);
  if (e.by === 'lane') return castTo(x.to(a, widen(e.to), { store: e.to }), e.to, e.pos);
  const own = e.by === undefined ? undefined : typeOf(e);
  if (own === 'int') return x.to(a, 'i32');
  const to = own === 'B' ? x.settle(own, want) : e.to;
  const type = widen(to);
  if (a.k === 'lit') {
    if (isFloat(type) && typeof a.value !== 'bigint') {
      return { op: 'const', type, value: SCALAR_TOKENS[to](a.value) as number };
    }
    if (typeof a.value === 'bigint')
      return castTo({ op: 'const', type: a.value >= 2n ** 63n ? 'u64' : 'i64', value: a.value }, to, e.pos);
    const n = Number(a.value);
    if (Number.isInteger(n) && Math.abs(n) < 2 ** 63) return castTo(widenLiteral(n), to, e.pos);
    return castTo({ op: 'const', type: 'f64', value: n }, to, e.pos);
  }
  // 32 bits are cut from 32 bits whatever their sign.
  if (isFloat(type) || type === 'i64' || type === 'u64') x.settled(a, to, isFloat(type) ? type : 'i32');
  // What has no type of its own is computed in the type of the cast, if that is a float or a bigint is cut.
  const adopts = isFloat(type) || ((type === 'i64' || type === 'u64') && typeOf(a) === 'B');
  return castTo(x.lower(a, adopts ? type : undefined), to, e.pos);
}

/** A value of any type as stores to u8c take it, an i32: clamped to a byte, floats rounded half to even, 0 for NaN. */
export function clamped(x: Lowering, e: TExpr): Expr {
  const { pos } = e;
  if (e.k === 'lit') return { op: 'const', type: 'i32', value: u8c(e.value) };
  x.settled(e, 'clamping');
  return clamp(x.lower(e, undefined), pos);
}
