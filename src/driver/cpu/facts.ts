/**
 * What the CPU device wants to know of a kernel before it has ever run: whether its threads contend for memory,
 * and roughly how long one of them takes.
 */
import type { Expr, Kernel, Stmt } from '../../compiler/ir/ops.ts';
import { exprParts, someStmt, stmtExprs, stmtLists } from '../../compiler/ir/passes/walk.ts';

/** What `Schedule` decides by until launches have been timed. */
export interface KernelFacts {
  /** Updates global memory atomically: with several threads that costs, and may cost more than they bring. */
  readonly contended: boolean;
  /** Very rough nanoseconds a thread. */
  readonly estimate: number;
}

const NANOSECONDS_PER_NODE = 0.2;
/** Rounds that a loop is taken to make when nothing is known. */
const ROUNDS = 16;

export function factsOf(kernel: Kernel): KernelFacts {
  return {
    contended: someStmt(kernel.body, (s) => s.op === 'atomic' && s.mem.array.space === 'global'),
    estimate: nodesOf(kernel.body) * NANOSECONDS_PER_NODE,
  };
}

function nodesOf(list: readonly Stmt[]): number {
  let nodes = 0;
  for (const s of list) {
    nodes++;
    for (const e of stmtExprs(s)) nodes += exprNodes(e);
    const factor = s.op === 'loop' ? ROUNDS : 1;
    for (const inner of stmtLists(s)) nodes += factor * nodesOf(inner);
  }
  return nodes;
}

function exprNodes(e: Expr): number {
  let nodes = e.op === 'call' ? 20 : 1;
  for (const part of exprParts(e)) nodes += exprNodes(part);
  return nodes;
}
