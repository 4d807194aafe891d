/**
 * `if (v > m) m = v` is m = the larger one: no branch, and no mask where threads are lanes.
 *
 * Of words that is `max`. Others stay a choice by the same comparison, which says of floats what becomes of NaN and of zeros. What is assigned has been evaluated
 * for the comparison in any case.
 */
import { assign, binary, select } from '../builder.ts';
import { type CompareOp, type Expr, isFloat, type Kernel, type Stmt } from '../ops.ts';
import { sameExpr } from '../same.ts';
import { isRead } from './round-copies.ts';
import { mapLists, mapSame, someExpr } from './walk.ts';

const LARGER: ReadonlySet<CompareOp> = new Set<CompareOp>(['gt', 'ge']);

/** The kernel without branches for the larger or smaller of two values; the same kernel when it has none. */
export function chooseExtremes(kernel: Kernel): Kernel {
  const inList = (list: readonly Stmt[]): readonly Stmt[] =>
    mapSame(list, (s) => (s.op === 'if' ? extremeOf(s) : undefined) ?? mapLists(s, inList));
  const body = inList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, body };
}

function extremeOf({ cond, then, else: otherwise }: Stmt & { op: 'if' }): Stmt | undefined {
  const [s] = then;
  if (s?.op !== 'assign' || then.length > 1 || otherwise.length > 0 || cond.op !== 'compare') return undefined;
  const { var: m, value } = s;
  if (cond.fn === 'eq' || cond.fn === 'ne' || someExpr(value, isAsserted)) return undefined;
  const first = isRead(cond.b, m) && sameExpr(cond.a, value);
  if (!first && !(isRead(cond.a, m) && sameExpr(cond.b, value))) return undefined;
  const own: Expr = first ? cond.b : cond.a;
  if (m.type !== 'i32' && m.type !== 'u32') return assign(m, select(cond, value, own), s.pos);
  return assign(m, binary(LARGER.has(cond.fn) === first ? 'max' : 'min', own, value), s.pos);
}

/** What threads assert is asserted once in each place. */
function isAsserted(e: Expr): boolean {
  return e.op === 'unary' && e.fn === 'uniform';
}

/**
 * Which of two floats a choice takes, `a > b ? a : b` and its like: what WebAssembly's `pmax(b, a)` gives, a where b is less than a, and b where it is not or
 * one of them is NaN.
 */
export function chosenExtreme({ type, cond, a, b }: Expr & { op: 'select' }): 'min' | 'max' | undefined {
  if (!isFloat(type) || cond.op !== 'compare' || (cond.fn !== 'lt' && cond.fn !== 'gt')) return undefined;
  const inOrder = sameExpr(cond.a, a) && sameExpr(cond.b, b);
  if (!inOrder && !(sameExpr(cond.a, b) && sameExpr(cond.b, a))) return undefined;
  return (cond.fn === 'gt') === inOrder ? 'max' : 'min';
}
