/**
 * Copies of a loop's rounds, and how many rounds there are.
 */
import { binary, constant } from '../builder.ts';
import { exprsSize } from '../measures.ts';
import type { Expr, Stmt, Var } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { eachStmt, mapExpr, mapLists, mapStmtExprs } from './walk.ts';

/** Every statement stands in one place only. Expressions may be shared, but not what is checked place by place. */
export function copyOf(s: Stmt): Stmt {
  return { ...mapLists(mapStmtExprs(s, anew), (list) => list.map(copyOf)) };
}

/** What threads assert to be uniform may differ from round to round: each round asserts for itself. */
export function anew(e: Expr): Expr {
  return e.op === 'unary' && e.fn === 'uniform' ? { ...e } : e;
}

/** Whether an expression is the variable. */
export function isRead(e: Expr, v: Var): boolean {
  return e.op === 'var' && e.var.id === v.id;
}

/** What a counter that grows by `step` is `k` rounds later. */
export function laterBy(counter: Expr, step: Expr, k: number): Expr {
  return foldExpr(binary('add', counter, binary('mul', step, constant(step.type, k))));
}

/** A copy of a statement in which `put` stands for the counter; `change` sees what that makes of expressions. */
export function copyAt(s: Stmt, counter: Var, put: Expr, change: (e: Expr) => Expr = anew): Stmt {
  const own = mapStmtExprs(s, (e) => (isRead(e, counter) ? put : change(e)));
  return { ...mapLists(own, (list) => list.map((x) => copyAt(x, counter, put, change))) };
}

/** How often the body runs, when start, step and condition are constants. */
export function countRounds(exit: Expr, step: Expr, counter: Var, start: Expr, most: number): number | undefined {
  let value = start;
  for (let rounds = 0; rounds <= most; rounds++) {
    const at = (e: Expr): Expr => foldExpr(mapExpr(e, (x) => (isRead(x, counter) ? value : x)));
    const over = at(exit);
    if (over.op !== 'const') return undefined;
    if (over.value === true) return rounds;
    value = at(step);
    if (value.op !== 'const') return undefined;
  }
  return undefined;
}

/** Expressions and statements. */
export function nodesIn(body: readonly Stmt[]): number {
  let statements = 0;
  eachStmt(body, () => {
    statements++;
  });
  return statements + exprsSize(body);
}
