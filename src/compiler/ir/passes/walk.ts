/**
 * Going through IR trees: searches, and rebuilding with a change. `parts.ts` knows the parts of each node.
 *
 * Rebuilding keeps what did not change as it is, so that a pass that finds nothing returns the tree it was given.
 */
import type { Expr, Kernel, Label, MemRef, Special, Stmt } from '../ops.ts';
import { exprParts, mapLists, mapParts, mapSame, mapTopExprs, memParts, stmtExprs, stmtLists } from '../parts.ts';

export { exprParts, mapLists, mapParts, mapSame, mapTopExprs, memParts, stmtExprs, stmtLists };

// ---------------------------------------------------------------- expressions

/** Whether the expression or one below it satisfies the test. */
export function someExpr(e: Expr, test: (e: Expr) => boolean): boolean {
  if (test(e)) return true;
  for (const part of exprParts(e)) if (someExpr(part, test)) return true;
  return false;
}

/** Whether the expression loads anything. */
export function hasLoad(e: Expr): boolean {
  return someExpr(e, (x) => x.op === 'load');
}

/** What a statement loads, an element again where it is loaded again; not what only checks of an access load. */
export function loadsOf(s: Stmt): (Expr & { op: 'load' })[] {
  const found: (Expr & { op: 'load' })[] = [];
  const visit = (e: Expr): void => {
    if (e.op === 'load') found.push(e);
    for (const part of e.op === 'load' ? [e.mem.index] : exprParts(e)) visit(part);
  };
  for (const e of stmtExprs(s)) visit(e);
  return found;
}

/** Ids of the variables that an expression reads are added to `into`. */
export function addReads(e: Expr, into: { add(id: number): unknown }): void {
  if (e.op === 'var') into.add(e.var.id);
  for (const part of exprParts(e)) addReads(part, into);
}

/** Calls `visit` for an expression and for each below it, outer ones first. */
export function eachPart(e: Expr, visit: (e: Expr) => void): void {
  visit(e);
  for (const part of exprParts(e)) eachPart(part, visit);
}

/** Rebuilds an expression from the leaves up; `change` sees each node after its operands were changed. */
export function mapExpr(e: Expr, change: (e: Expr) => Expr): Expr {
  const inner = (x: Expr): Expr => change(mapParts(x, inner));
  return inner(e);
}

// ---------------------------------------------------------------- statements

/** The memory that a statement itself writes. */
export function written(s: Stmt): MemRef | undefined {
  return s.op === 'store' || s.op === 'atomic' ? s.mem : undefined;
}

/** Whether a statement itself may write any memory. */
export function mayWrite(s: Stmt): boolean {
  return s.op === 'extern' || written(s) !== undefined;
}

/** Parameters of arrays that no statement writes to. */
export function readOnlyParams({ params, body }: Kernel): Set<number> {
  const found = new Set(params.filter(({ type }) => type === 'ptr').map(({ index }) => index));
  eachStmt(body, (s) => {
    for (const { array } of reachedBy(s)) found.delete(array.param ?? -1);
  });
  return found;
}

/** Memory that a statement writes, or lets a function of another language write. */
export function reachedBy(s: Stmt): readonly MemRef[] {
  if (s.op === 'extern') return s.args.flatMap((a) => (a.op === 'address' ? [a.mem] : []));
  const mem = written(s);
  return mem === undefined ? [] : [mem];
}

/** Calls `visit` for each statement of the tree, outer ones first, in the order of the text. */
export function eachStmt(list: readonly Stmt[], visit: (s: Stmt) => void): void {
  for (const s of list) {
    visit(s);
    for (const inner of stmtLists(s)) eachStmt(inner, visit);
  }
}

/** Calls `visit` for each expression that a list evaluates, and for all in it. */
export function eachExpr(list: readonly Stmt[], visit: (e: Expr) => void): void {
  eachStmt(list, (s) => {
    for (const e of stmtExprs(s)) eachPart(e, visit);
  });
}

/** Calls `visit` for each place in memory that a list writes, then for each that it loads. */
export function eachAccess(list: readonly Stmt[], visit: (mem: MemRef) => void): void {
  eachStmt(list, (s) => {
    const mem = written(s);
    if (mem !== undefined) visit(mem);
  });
  eachExpr(list, (e) => {
    if (e.op === 'load') visit(e.mem);
  });
}

/** The places, sizes and other given values that are read. */
export function specialsIn(list: readonly Stmt[]): Set<Special> {
  const found = new Set<Special>();
  eachExpr(list, (e) => {
    if (e.op === 'special') found.add(e.name);
  });
  return found;
}

export function someStmt(list: readonly Stmt[], test: (s: Stmt) => boolean): boolean {
  for (const s of list) {
    if (test(s)) return true;
    for (const inner of stmtLists(s)) if (someStmt(inner, test)) return true;
  }
  return false;
}

export function hasBarrier(list: readonly Stmt[]): boolean {
  return someStmt(list, (s) => s.op === 'barrier');
}

export function hasLoop(list: readonly Stmt[]): boolean {
  return someStmt(list, (s) => s.op === 'loop');
}

export function hasReturn(list: readonly Stmt[]): boolean {
  return someStmt(list, (s) => s.op === 'return');
}

/** Whether something in the list breaks out of (or continues) the construct with this label. */
export function jumpsTo(list: readonly Stmt[], label: Label): boolean {
  return someStmt(list, (s) => (s.op === 'break' || s.op === 'continue') && s.label === label);
}

/** Whether control never comes out at the end of the list: it ends in a jump, on every path. */
export function neverEnds(list: readonly Stmt[]): boolean {
  const last = list.at(-1);
  switch (last?.op) {
    case 'break':
    case 'continue':
    case 'return':
    case 'trap':
      return true;
    case 'if':
      return neverEnds(last.then) && neverEnds(last.else);
    case 'block':
      return neverEnds(last.body) && !jumpsTo(last.body, last.label);
    case 'loop':
      return !someStmt(last.body.concat(last.update), (s) => s.op === 'break' && s.label === last.label);
    default:
      return false;
  }
}

/** The variable that a statement itself assigns. */
export function defined(s: Stmt): number | undefined {
  if (s.op === 'assign') return s.var.id;
  return s.op === 'atomic' || s.op === 'barrier' || s.op === 'warp' || s.op === 'extern' ? s.result?.id : undefined;
}

/** Ids of all variables that a list of statements assigns. */
export function assignedIn(list: readonly Stmt[]): Set<number> {
  const ids = new Set<number>();
  eachStmt(list, (s) => {
    const id = defined(s);
    if (id !== undefined) ids.add(id);
  });
  return ids;
}

/** Changes the expressions that a statement itself evaluates; `change` is applied as by `mapExpr`. */
export function mapStmtExprs(s: Stmt, change: (e: Expr) => Expr): Stmt {
  return mapTopExprs(s, (e) => mapExpr(e, change));
}
