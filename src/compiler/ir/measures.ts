/**
 * What passes and renderers ask of expressions and statements before they move, copy or drop them: how large, and what may go wrong.
 */
import type { CompareOp, Expr, Stmt } from './ops.ts';
import { exprParts } from './parts.ts';
import { eachStmt, someExpr, stmtExprs } from './passes/walk.ts';

/** Nodes of an expression. */
export function size(e: Expr): number {
  return exprParts(e).reduce((sum, part) => sum + size(part), 1);
}

/** Nodes of all expressions in a list. */
export function exprsSize(list: readonly Stmt[]): number {
  let nodes = 0;
  eachStmt(list, (s) => {
    for (const e of stmtExprs(s)) nodes += size(e);
  });
  return nodes;
}

/** Whether a node by itself, its operands apart, can fail in checked mode. */
export function canFail(e: Expr): boolean {
  switch (e.op) {
    case 'cast':
      return e.checked === true;
    case 'unary':
      return e.fn === 'uniform';
    case 'binary':
      return e.fn === 'ipow';
    default:
      return e.op === 'load';
  }
}

/** Whether evaluating an expression can fail or read memory: then it must not be dropped, added or done by another thread. */
export function mayFail(e: Expr): boolean {
  return someExpr(e, canFail);
}

/** The comparison that holds of integers where the one given does not. */
export const OPPOSITE = { eq: 'ne', ne: 'eq', lt: 'ge', ge: 'lt', gt: 'le', le: 'gt' } as const;

/** The comparison that holds of `b` and `a` where the one given holds of `a` and `b`. */
export const MIRRORED: Readonly<Record<CompareOp, CompareOp>> = {
  lt: 'gt',
  gt: 'lt',
  le: 'ge',
  ge: 'le',
  eq: 'eq',
  ne: 'ne',
};
