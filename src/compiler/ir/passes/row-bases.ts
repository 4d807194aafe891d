/**
 * Values within a row of items: which may differ from item to item, and what is left of an index without threadIdx.x.
 */
import { binary, i32 } from '../builder.ts';
import { mayFail } from '../measures.ts';
import type { Expr, Kernel } from '../ops.ts';
import type { Liveness } from './liveness.ts';
import { defined, eachStmt, exprParts, someExpr } from './walk.ts';

/** By `Var.id`: all values of a variable, undefined for anything that is not an expression. */
export type Assignments = ReadonlyMap<number, readonly (Expr | undefined)[]>;

export function assignmentsOf(kernel: Kernel, { entry }: Liveness): Assignments {
  const found = new Map<number, (Expr | undefined)[]>();
  // Zero in the first place.
  for (const id of entry) found.set(id, [undefined]);
  eachStmt(kernel.body, (s) => {
    const id = defined(s);
    if (id === undefined) return;
    const value = s.op === 'assign' ? s.value : undefined;
    if (!found.get(id)?.push(value)) found.set(id, [value]);
  });
  return found;
}

/** Whether a value is, at first sight, an item's own. Which way items go is not looked at. */
export function isOfItem(e: Expr, assignments: Assignments, seen: Set<number> = new Set()): boolean {
  return someExpr(e, (x) => {
    if (x.op === 'special') return x.name === 'threadIdx.x' || x.name === 'laneId';
    if (x.op !== 'var') return x.op === 'load';
    if (seen.has(x.var.id)) return false;
    seen.add(x.var.id);
    return (assignments.get(x.var.id) ?? []).some((value) => value === undefined || isOfItem(value, assignments, seen));
  });
}

/** The value less threadIdx.x, if that is in it once and the rest is the same for the row. */
export function rowBase(e: Expr, assignments: Assignments): Expr | undefined {
  if (mayFail(e)) return undefined;
  if (e.op === 'special' && e.name === 'threadIdx.x') return i32(0);
  if (e.op === 'var') {
    const [value, ...others] = assignments.get(e.var.id) ?? [];
    // `const first = grid(1)`: what it is made of must still be what it was then.
    if (value === undefined || others.length > 0 || !isConstant(e, assignments)) return undefined;
    return rowBase(value, assignments);
  }
  if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub') || e.type !== 'i32') return undefined;
  const [mineA, mineB] = [isOfItem(e.a, assignments), isOfItem(e.b, assignments)];
  if (mineA === mineB || (mineB && e.fn === 'sub')) return undefined;
  const inner = rowBase(mineA ? e.a : e.b, assignments);
  return inner && (mineA ? binary(e.fn, inner, e.b) : binary(e.fn, e.a, inner));
}

/** Whether all variables in a value, and in theirs, are assigned once. */
export function isConstant(e: Expr, assignments: Assignments): boolean {
  if (e.op !== 'var') return exprParts(e).every((part) => isConstant(part, assignments));
  const [value, ...others] = assignments.get(e.var.id) ?? [];
  return value !== undefined && others.length === 0 && !mayFail(value) && isConstant(value, assignments);
}
