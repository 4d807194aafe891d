/**
 * Functions of NaN where compilers take `!(x < y)` for `x >= y`, as WGSL lets them: what is NaN is seen by its bits.
 */
import type { Expr } from '../ir/ops.ts';
import { and, asI32, gt, i32, isNotANumber, select, unlikely } from './notation.ts';

const BITS = new DataView(new ArrayBuffer(4));

/** What a function gives, but NaN for NaN. Where the function has a rare branch that NaN takes, the test for it is there, and the usual branch pays nothing. */
export function keepNaN(x: Expr, result: Expr): Expr {
  if (result.op === 'select' && result.branch?.unlikely === true && result.branch.members.length === 1) {
    const rare = nanByBits(result.cond, x);
    if (rare !== undefined) return unlikely(rare, select(isNotANumber(x), x, result.a), result.b);
  }
  return select(isNotANumber(x), x, result);
}

/** A condition that holds for NaN and is a test of bits, if `cond` is one or has one that means the same. */
function nanByBits(cond: Expr, x: Expr): Expr | undefined {
  if (isBeyondNumbers(cond, x)) return cond;
  // !(|x| <= c)
  const inner = cond.op === 'unary' && cond.fn === 'not' ? cond.a : undefined;
  if (inner?.op !== 'compare' || inner.fn !== 'le' || inner.b.op !== 'const') return undefined;
  if (inner.a.op !== 'unary' || inner.a.fn !== 'abs' || inner.a.a !== x) return undefined;
  BITS.setFloat32(0, Number(inner.b.value));
  return gt(and(asI32(x), 0x7fffffff), i32(BITS.getInt32(0)));
}

/** Whether this is `bits - least >= most` in u32 which holds for all bits of NaN, whose sign may be set. */
function isBeyondNumbers(e: Expr, x: Expr): boolean {
  if (e.op !== 'compare' || e.fn !== 'ge' || e.a.type !== 'u32' || e.b.op !== 'const') return false;
  if (e.a.op !== 'binary' || e.a.fn !== 'sub' || e.a.b.op !== 'const') return false;
  const { a: bits, b: least } = e.a;
  if (bits.op !== 'bitcast' || bits.a !== x) return false;
  const holds = (value: number): boolean => (value - Number(least.value)) >>> 0 >= Number((e.b as typeof least).value);
  // Between each pair the difference grows with the bits, as long as it does not wrap within.
  return Number(least.value) < 0x7f800001 && [0x7f800001, 0x7fffffff, 0xff800001, 0xffffffff].every(holds);
}
