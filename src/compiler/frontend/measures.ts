/**
 * What an expression costs and depends on, for partial evaluation, which decides whether it is kept in a temporary, moved or evaluated twice.
 */
import { walkExpression } from '../types/parts.ts';
import type { TExpr, TStmt } from '../types/tree.ts';

/** Reads the same later as now: nothing in it can be assigned or stored to in between. */
export function isStable(e: TExpr): boolean {
  let stable = true;
  walkExpression(e, (x) => {
    if (x.k === 'load' || x.k === 'absent' || (x.k === 'local' && !x.local.stable)) stable = false;
  });
  return stable;
}

export function touchesMemory(e: TExpr): boolean {
  let found = false;
  walkExpression(e, (x) => {
    if (x.k === 'load') found = true;
  });
  return found;
}

/** May be evaluated although the source might not: no memory access, and little work. */
export function isCheap(e: TExpr): boolean {
  let cheap = true;
  walkExpression(e, (x) => {
    if (x.k === 'load' || x.k === 'uniform' || x.k === 'math' || x.k === 'complex') cheap = false;
  });
  return cheap && size(e) <= 24;
}

export function size(e: TExpr): number {
  let n = 0;
  walkExpression(e, () => {
    n++;
  });
  return n;
}

/** Whether control never comes out at the end of a list, as its last statement says. */
export function neverEnds(list: readonly TStmt[]): boolean {
  const last = list.at(-1)?.k;
  return last === 'return' || last === 'trap';
}

/** Whether what stands behind a list is not reached from its end, as its last statement says: control goes elsewhere. */
export function jumps(list: readonly TStmt[]): boolean {
  const last = list.at(-1)?.k;
  return last === 'break' || last === 'continue' || neverEnds(list);
}
