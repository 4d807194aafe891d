/**
 * Loads that neighbouring statements repeat: `re = x[b] * c - y[b] * d; im = x[b] * d + y[b] * c`. Engines do not see that a vector
 * is loaded twice, least of all one that is gathered.
 *
 * A run is a statement and the assignments after it, with the first store behind them, which loads before it stores.
 */
import type { Expr, Stmt } from '../../ir/ops.ts';
import { defined, loadsOf, someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { boundsHazards } from './checks.ts';
import { type Gen, isVector } from './gen.ts';

type Load = Expr & { op: 'load' };

export interface SharedLoads {
  /** Those of the first statement, with others of it that can fail, and their like in the others. */
  readonly loads: readonly Load[];
  /** Statements from the first one to the last that shares a load with it. */
  readonly count: number;
}

/** How many statements are looked at. */
const LONGEST = 8;

/** The vectors that the first statement of a list loads and others load again; undefined if there are none. */
export function sharedLoads(g: Gen, list: readonly Stmt[], from: number): SharedLoads | undefined {
  const first = list[from];
  if (first?.op !== 'assign' || g.lanes === 1) return undefined;
  const own = loadsOf(first).filter((e) => isVector(g, e) && !g.prepared.has(e));
  if (own.length === 0) return undefined;
  const assigned = new Set([first.var.id]);
  const loads = new Set<Load>();
  let count = 1;
  for (const s of list.slice(from + 1, from + LONGEST)) {
    if (s.op !== 'assign' && s.op !== 'store') break;
    for (const other of loadsOf(s)) {
      const twin = own.find((e) => sameExpr(e, other));
      if (twin === undefined || someExpr(other, (e) => e.op === 'var' && assigned.has(e.var.id))) continue;
      loads.add(twin).add(other);
      count = list.indexOf(s, from) - from + 1;
    }
    if (s.op === 'store') break;
    assigned.add(defined(s) ?? -1);
  }
  // What can fail before them is asked before them.
  const before = own.filter((e) => loads.has(e) || boundsHazards(g, e.mem).length > 0);
  return loads.size === 0 ? undefined : { loads: [...new Set([...before, ...loads])], count };
}
