/**
 * Copies of statements with variables of their own.
 */
import { read } from '../builder.ts';
import type { Expr, Stmt, Var } from '../ops.ts';
import { mapLists, mapStmtExprs } from './walk.ts';

export function renameExpr(copies: ReadonlyMap<number, Var>): (e: Expr) => Expr {
  return (e) => {
    const copy = e.op === 'var' ? copies.get(e.var.id) : undefined;
    return copy ? read(copy) : e;
  };
}

/** Statements with other variables in the place of some, by `Var.id`. */
export function renamed(list: readonly Stmt[], copies: ReadonlyMap<number, Var>): readonly Stmt[] {
  const rename = renameExpr(copies);
  return list.map((s) => {
    const t = mapLists(mapStmtExprs(s, rename), (inner) => renamed(inner, copies));
    if (t.op === 'assign') return { ...t, var: copies.get(t.var.id) ?? t.var };
    if ('result' in t && t.result) return { ...t, result: copies.get(t.result.id) ?? t.result };
    return t;
  });
}
