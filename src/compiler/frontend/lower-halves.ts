/**
 * Lowering of arithmetic on floats of 16 bits: each operation is that of f32, rounded to the format.
 *
 * For sums, products, quotients and square roots that is the same as rounding the exact result once, since f32 has more than twice the digits; an fma
 * says its format itself (`ir/ops.ts`). A value of type f16 or bf16 therefore is one, in an f32, wherever it is.
 */
import { SCALAR_TOKENS } from '../../dtype/index.ts';
import type { ElemType, Expr } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { type Half, isHalf, type Type } from '../types/lattice.ts';
import type { TExpr } from '../types/tree.ts';
import { fail } from './diagnostics.ts';

/** A value as one of type `t`: of f32 rounded, where that is a half. */
export function rounded(value: Expr, t: Type | undefined, pos: Pos): Expr {
  if (t === undefined || !isHalf(t) || (value.op === 'cast' && value.to === t)) return value;
  if (value.op === 'const') return { ...value, value: SCALAR_TOKENS[t](Number(value.value)) as number };
  return { op: 'cast', type: 'f32', to: t, a: value, pos };
}

/** What is stored need not be rounded to the element before. */
export function roundedByStore(value: Expr, elem: ElemType): Expr {
  const half = elem === 'f16' || elem === 'bf16';
  return half && value.op === 'cast' && value.to === elem && value.a.type === 'f32' ? value.a : value;
}

/** Refuses a literal that would be an infinity. */
export function refuseTooLarge(e: TExpr, t: Half): void {
  if (e.k === 'neg') return refuseTooLarge(e.a, t);
  if (e.k !== 'lit') return;
  const n = Number(e.value);
  if (!Number.isFinite(n) || Number.isFinite(SCALAR_TOKENS[t](n) as number)) return;
  fail('K212', e.pos, `${n} does not fit ${t}, which it is combined with here`, {
    help: `write f32(…) around the ${t}, or a smaller value`,
  });
}
