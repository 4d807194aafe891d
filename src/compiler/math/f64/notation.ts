/**
 * What the bodies for f64 on processors have in common beyond ../notation.ts: bits of 64 and pairs, without a fused multiply-add.
 *
 * Bits are chosen, not masks: engines have a comparison of 64-bit lanes, but the masks of this compiler have 32 bits.
 */
import { constant } from '../../ir/builder.ts';
import type { Expr, MathFn } from '../../ir/ops.ts';
import { add, and, sub, unlikely, xor } from '../notation.ts';

export function f64(value: number): Expr {
  return constant('f64', value);
}
export function i64(value: bigint): Expr {
  return constant('i64', value);
}
export function u64(value: bigint): Expr {
  return constant('u64', value);
}
export function bitsOf(a: Expr, type: 'i64' | 'u64' = 'i64'): Expr {
  return { op: 'bitcast', type, a };
}
export function fromBits(a: Expr): Expr {
  return { op: 'bitcast', type: 'f64', a };
}

/** `unlikely(cond, the host's function, value)`: for arguments that the value is not good for. */
export function orHost(cond: Expr, fn: MathFn, args: readonly Expr[], value: Expr): Expr {
  return unlikely(cond, { op: 'call', type: 'f64', fn, args }, value);
}

/** 1.5 · 2⁵²: the unit of the last place is 1 there. */
const MAGIC = 6755399441055744;

/** The nearest integer (|x| < 2⁵¹) as a float and, in the low bits of an i64, as an integer. */
export function nearestInt(x: Expr): { readonly float: Expr; readonly bits: Expr } {
  const shifted = add(x, MAGIC);
  return { float: sub(shifted, MAGIC), bits: bitsOf(shifted) };
}

/** The bits of `a`, or of `b` where the lowest bit of an i64 is 1. */
export function byLowBit(low: Expr, a: Expr, b: Expr): Expr {
  const mask = sub(i64(0n), and(low, i64(1n)));
  const bits = bitsOf(a);
  return xor(bits, and(xor(bits, bitsOf(b)), mask));
}

/** The upper 26 bits of a significand, so that products of two such are exact. */
export function upper(x: Expr): Expr {
  return fromBits(and(bitsOf(x), i64(-(2n ** 27n))));
}
