/**
 * What passes and renderers ask of expressions and statements before they move, copy or drop them: how large, and what may go wrong.
 */
import type { CompareOp, Expr, Stmt } from './ops.ts';
import { exprParts } from './parts.ts';
import { eachStmt, someExpr, stmtExprs, stmtLists } from './passes/walk.ts';

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

/**
 * Roughly how much code a list of statements becomes where threads may part in it, exact up to `limit`: shared expressions are written out at
 * each use.
 */
export function codeSize(list: readonly Stmt[], limit: number): number {
  let nodes = 0;
  const visit = (e: Expr): void => {
    nodes++;
    if (nodes <= limit) for (const operand of exprParts(e)) visit(operand);
  };
  eachStmt(list, (s) => {
    // Each further level of divergence doubles the code.
    nodes += s.op === 'if' || s.op === 'loop' ? limit / 8 : 1;
    for (const e of stmtExprs(s)) visit(e);
  });
  return nodes;
}

/** Rounds that a loop is taken to make when nothing is known. */
const ROUNDS = 16;

/** Roughly what a thread does: nodes that it evaluates, and its atomic updates of global memory. */
export function work(
  list: readonly Stmt[],
  rounds: (loop: Stmt) => number = () => ROUNDS,
): { readonly nodes: number; readonly updates: number } {
  let [nodes, updates] = [0, 0];
  for (const s of list) {
    nodes++;
    if (s.op === 'atomic' && s.mem.array.space === 'global') updates++;
    for (const e of stmtExprs(s)) nodes += exprWork(e);
    const factor = s.op === 'loop' ? rounds(s) : 1;
    for (const inner of stmtLists(s)) {
      const within = work(inner, rounds);
      nodes += factor * within.nodes;
      updates += factor * within.updates;
    }
  }
  return { nodes, updates };
}

function exprWork(e: Expr): number {
  let nodes = e.op === 'call' ? 20 : 1;
  for (const part of exprParts(e)) nodes += exprWork(part);
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

/** Conditions that hold together where the one given does, and only there: `!(a || b)` is `!a` and `!b`. */
export function conjuncts(e: Expr): readonly Expr[] {
  if (e.op === 'binary' && e.fn === 'and') return [...conjuncts(e.a), ...conjuncts(e.b)];
  const denied = e.op === 'unary' && e.fn === 'not' ? e.a : undefined;
  if (denied?.op === 'unary' && denied.fn === 'not') return conjuncts(denied.a);
  if (denied?.op !== 'binary' || denied.fn !== 'or') return [e];
  return [denied.a, denied.b].flatMap((a) => conjuncts({ op: 'unary', type: 'bool', fn: 'not', a }));
}
