/**
 * Replaces intrinsics that a device has no form of by the expansions of the table.
 */
import type { Expr, Kernel } from '../ops.ts';
import { expandOperations } from './expand.ts';
import { someExpr, someStmt, stmtExprs } from './walk.ts';

type Call = Expr & { readonly op: 'intrinsic' };

/** Expansions may be made of other intrinsics: the pass goes on until it finds none to expand. */
export function expandIntrinsics(kernel: Kernel, isNative: (e: Call) => boolean): Kernel {
  const expanded = expandOperations(kernel, (e) => (e.op === 'intrinsic' && !isNative(e) ? e.fn.expand : undefined));
  return expanded === kernel ? kernel : expandIntrinsics(expanded, isNative);
}

/** Whether the pass has something to do. */
export function hasExpansions({ body }: Kernel, isNative: (e: Call) => boolean): boolean {
  const expands = (e: Expr): boolean => someExpr(e, (x) => x.op === 'intrinsic' && !isNative(x));
  return someStmt(body, (s) => stmtExprs(s).some(expands));
}
