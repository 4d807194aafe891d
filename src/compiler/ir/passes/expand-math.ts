/**
 * Replaces calls of approximated functions (exp, sin, pow …) by the bodies of the math tables: as `expand-plain-math.ts` does, or by those for GPUs.
 */
import { gpuBody, gpuSincos } from '../../math/gpu.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { expandCalls, expandPlainMath, type PlainMathOptions } from './expand-plain-math.ts';
import { mapLists, mapStmtExprs, someExpr, someStmt, stmtExprs } from './walk.ts';

export type ExpandMathOptions =
  | PlainMathOptions
  /**
   * The table for GPUs: every call is expanded, with fma and the approximations of `ApproxOp`. With `Kernel.fastMath`, f32
   * calls become such approximations as they are, and division and square root of f32 `divApprox` and `sqrtApprox`.
   */
  | { readonly target: 'gpu' };

/** The same kernel with calls expanded; the kernel itself when it has none. */
export function expandMath(kernel: Kernel, options?: ExpandMathOptions): Kernel {
  if (options?.target !== 'gpu') return expandPlainMath(kernel, options);
  const all = kernel.fastMath;
  const expanded = expandCalls(
    kernel,
    (e) => gpuBody(e.fn, e.type, all || e.fast === true),
    (type) => gpuSincos(type, all),
  );
  if (!all && !someStmt(kernel.body, (s) => stmtExprs(s).some((e) => someExpr(e, isFast)))) return expanded;
  return { ...expanded, body: approximate(expanded.body, all) };
}

const isFast = (e: Expr): boolean => (e.op === 'unary' || e.op === 'binary') && e.fast === true;

/** Division and square root of f32 by the hardware's approximations, all of them or those that ask for it. */
function approximate(list: readonly Stmt[], all: boolean): Stmt[] {
  const change = (e: Expr): Expr => {
    if (e.type !== 'f32' || !(all || isFast(e))) return e;
    if (e.op === 'binary' && e.fn === 'div') return { ...e, fn: 'divApprox' };
    return e.op === 'unary' && e.fn === 'sqrt' ? { ...e, fn: 'sqrtApprox' } : e;
  };
  return list.map((s) => mapLists(mapStmtExprs(s, change), (inner) => approximate(inner, all)));
}
