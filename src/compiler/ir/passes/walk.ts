/**
 * Going through IR trees: the parts of an expression or statement, searches, and rebuilding with a change.
 *
 * Rebuilding keeps what did not change as it is, so that a pass that finds nothing returns the tree it was given.
 */
import type { Expr, Label, MemRef, Special, Stmt } from '../ops.ts';
import { exprParts, memParts } from '../parts.ts';

export { exprParts, memParts };

// ---------------------------------------------------------------- expressions

/** Whether the expression or one below it satisfies the test. */
export function someExpr(e: Expr, test: (e: Expr) => boolean): boolean {
  return test(e) || exprParts(e).some((part) => someExpr(part, test));
}

/** Ids of the variables that an expression reads are added to `into`. */
export function addReads(e: Expr, into: { add(id: number): unknown }): void {
  if (e.op === 'var') into.add(e.var.id);
  for (const part of exprParts(e)) addReads(part, into);
}

/** Changes each expression that a memory access evaluates as a whole. */
function mapMem(mem: MemRef, change: (e: Expr) => Expr): MemRef {
  const index = change(mem.index);
  const checks = mapSame(mem.checks, (c) => {
    const [i, extent] = [change(c.index), change(c.extent)];
    return i === c.index && extent === c.extent ? c : { ...c, index: i, extent };
  });
  return index === mem.index && checks === mem.checks ? mem : { ...mem, index, checks };
}

/** `list.map(change)`, but the list itself when nothing changed. */
export function mapSame<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change);
  return changed.some((item, i) => item !== list[i]) ? changed : list;
}

/** Rebuilds an expression from the leaves up; `change` sees each node after its operands were changed. */
export function mapExpr(e: Expr, change: (e: Expr) => Expr): Expr {
  switch (e.op) {
    case 'const':
    case 'var':
    case 'param':
    case 'special':
      return change(e);
    case 'unary':
    case 'cast':
    case 'bitcast': {
      const a = mapExpr(e.a, change);
      return change(a === e.a ? e : { ...e, a });
    }
    case 'binary':
    case 'compare': {
      const [a, b] = [mapExpr(e.a, change), mapExpr(e.b, change)];
      return change(a === e.a && b === e.b ? e : { ...e, a, b });
    }
    case 'select': {
      const [cond, a, b] = [mapExpr(e.cond, change), mapExpr(e.a, change), mapExpr(e.b, change)];
      return change(cond === e.cond && a === e.a && b === e.b ? e : { ...e, cond, a, b });
    }
    case 'fma': {
      const [a, b, c] = [mapExpr(e.a, change), mapExpr(e.b, change), mapExpr(e.c, change)];
      return change(a === e.a && b === e.b && c === e.c ? e : { ...e, a, b, c });
    }
    case 'call':
    case 'intrinsic': {
      const args = mapSame(e.args, (a) => mapExpr(a, change));
      return change(args === e.args ? e : { ...e, args });
    }
    case 'load': {
      const mem = mapMem(e.mem, (x) => mapExpr(x, change));
      return change(mem === e.mem ? e : { ...e, mem });
    }
  }
}

// ---------------------------------------------------------------- statements

/** The expressions that a statement itself evaluates, not those of statements inside it. */
export function stmtExprs(s: Stmt): readonly Expr[] {
  switch (s.op) {
    case 'assign':
      return [s.value];
    case 'store':
      return [s.value, ...memParts(s.mem)];
    case 'atomic':
      return [...s.args, ...memParts(s.mem)];
    case 'if':
      return [s.cond];
    case 'barrier':
      return s.pred ? [s.pred] : [];
    case 'warp':
      return s.mask ? [s.mask, ...s.args] : s.args;
    case 'rest':
      return [s.nanoseconds];
    case 'print':
      return s.parts.filter((p) => typeof p !== 'string');
    default:
      return [];
  }
}

/** The lists of statements inside a statement. */
export function stmtLists(s: Stmt): readonly (readonly Stmt[])[] {
  switch (s.op) {
    case 'if':
      return [s.then, s.else];
    case 'loop':
      return [s.body, s.update];
    case 'block':
      return [s.body];
    default:
      return [];
  }
}

/** A statement with its inner lists changed. */
export function mapLists<S extends Stmt>(s: S, change: (list: readonly Stmt[]) => readonly Stmt[]): S {
  switch (s.op) {
    case 'if':
      return { ...s, then: change(s.then), else: change(s.else) };
    case 'loop':
      return { ...s, body: change(s.body), update: change(s.update) };
    case 'block':
      return { ...s, body: change(s.body) };
    default:
      return s;
  }
}

/** The memory that a statement itself writes. */
export function written(s: Stmt): MemRef | undefined {
  return s.op === 'store' || s.op === 'atomic' ? s.mem : undefined;
}

/** Calls `visit` for each statement of the tree, outer ones first, in the order of the text. */
export function eachStmt(list: readonly Stmt[], visit: (s: Stmt) => void): void {
  for (const s of list) {
    visit(s);
    for (const inner of stmtLists(s)) eachStmt(inner, visit);
  }
}

/** The places, sizes and other given values that are read. */
export function specialsIn(list: readonly Stmt[]): Set<Special> {
  const found = new Set<Special>();
  const visit = (e: Expr): void => {
    if (e.op === 'special') found.add(e.name);
    for (const part of exprParts(e)) visit(part);
  };
  eachStmt(list, (s) => {
    for (const e of stmtExprs(s)) visit(e);
  });
  return found;
}

export function someStmt(list: readonly Stmt[], test: (s: Stmt) => boolean): boolean {
  return list.some((s) => test(s) || stmtLists(s).some((inner) => someStmt(inner, test)));
}

export function hasBarrier(list: readonly Stmt[]): boolean {
  return someStmt(list, (s) => s.op === 'barrier');
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
  return s.op === 'atomic' || s.op === 'barrier' || s.op === 'warp' ? s.result?.id : undefined;
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

/** Changes the expressions that a statement itself evaluates, each as a whole. */
export function mapTopExprs(s: Stmt, change: (e: Expr) => Expr): Stmt {
  switch (s.op) {
    case 'assign': {
      const value = change(s.value);
      return value === s.value ? s : { ...s, value };
    }
    case 'store': {
      const [value, mem] = [change(s.value), mapMem(s.mem, change)];
      return value === s.value && mem === s.mem ? s : { ...s, value, mem };
    }
    case 'atomic': {
      const [args, mem] = [mapSame(s.args, change), mapMem(s.mem, change)];
      return args === s.args && mem === s.mem ? s : { ...s, args, mem };
    }
    case 'if': {
      const cond = change(s.cond);
      return cond === s.cond ? s : { ...s, cond };
    }
    case 'barrier': {
      if (!s.pred) return s;
      const pred = change(s.pred);
      return pred === s.pred ? s : { ...s, pred };
    }
    case 'warp': {
      const [mask, args] = [s.mask && change(s.mask), mapSame(s.args, change)];
      return mask === s.mask && args === s.args ? s : { ...s, mask, args };
    }
    case 'rest': {
      const nanoseconds = change(s.nanoseconds);
      return nanoseconds === s.nanoseconds ? s : { ...s, nanoseconds };
    }
    case 'print': {
      const parts = mapSame(s.parts, (p) => (typeof p === 'string' ? p : change(p)));
      return parts === s.parts ? s : { ...s, parts };
    }
    default:
      return s;
  }
}

/** Changes the expressions that a statement itself evaluates; `change` is applied as by `mapExpr`. */
export function mapStmtExprs(s: Stmt, change: (e: Expr) => Expr): Stmt {
  return mapTopExprs(s, (e) => mapExpr(e, change));
}
