/**
 * Conditions of the form `i < n` over consecutive i, tested for a whole vector at once by its first and last value.
 *
 * Where n is an extent that has a limit (see render.ts), one unsigned comparison says more: that 0 <= i < n in all lanes,
 * which is what the bounds checks of accesses at i ask as well.
 */
import { conjuncts } from '../../ir/measures.ts';
import type { Check, Expr, Stmt } from '../../ir/ops.ts';
import { assignedIn, eachStmt, exprParts, someExpr, stmtExprs } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import type { BranchTarget } from './assembler.ts';
import { scalar } from './expr.ts';
import { type Gen, shapeOf } from './gen.ts';

export interface WholeVectorTest {
  /** What is evaluated. */
  readonly exprs: readonly Expr[];
  /** Leaves for `target` unless the condition surely holds in all lanes. */
  branchUnless(target: BranchTarget): void;
  /** Checks in the guarded statements that hold then. */
  implied(list: readonly Stmt[]): readonly Check[];
}

interface Bound {
  readonly index: Expr;
  readonly extent: Expr & { op: 'param' };
}

/** Undefined where the condition has another form. */
export function wholeVectorTest(g: Gen, cond: Expr): WholeVectorTest | undefined {
  const bounds: Bound[] = [];
  for (const part of conjuncts(cond)) {
    const bound = boundOf(g, part);
    if (bound === undefined) return undefined;
    bounds.push(bound);
  }
  return {
    exprs: bounds.map((b) => b.index),
    branchUnless: (target) => {
      for (const { index, extent } of bounds) {
        scalar(g, index);
        g.f.get(g.limits.get(extent.param) ?? 0);
        g.f.op('i32.ge_u');
        g.f.brIf(target);
      }
    },
    implied: (list) => impliedBy(bounds, list),
  };
}

/** `i < n`, or `!(i >= n)`, with a consecutive i and an n that has a limit. */
function boundOf(g: Gen, e: Expr): Bound | undefined {
  const negated = e.op === 'unary' && e.fn === 'not';
  const compare = negated ? e.a : e;
  if (compare.op !== 'compare' || compare.a.type !== 'i32') return undefined;
  const [index, extent] = compare.fn === (negated ? 'ge' : 'lt') ? [compare.a, compare.b] : [compare.b, compare.a];
  if (compare.fn !== (negated ? 'ge' : 'lt') && compare.fn !== (negated ? 'le' : 'gt')) return undefined;
  if (extent.op !== 'param' || !g.limits.has(extent.param) || shapeOf(g, index) !== 'C') return undefined;
  return { index, extent };
}

function impliedBy(bounds: readonly Bound[], list: readonly Stmt[]): Check[] {
  const changed = assignedIn(list);
  // What is assigned in the list is not the tested value any more, at least in parts of it.
  const steady = bounds.filter(
    ({ index }) => !someExpr(index, (e) => e.op === 'load' || (e.op === 'var' && changed.has(e.var.id))),
  );
  const hoisted: Check[] = [];
  const visitChecks = (checks: readonly Check[]): void => {
    for (const check of checks) {
      if (steady.some((b) => sameExpr(b.index, check.index) && sameExpr(b.extent, check.extent))) hoisted.push(check);
    }
  };
  const visit = (e: Expr): void => {
    if (e.op === 'load') visitChecks(e.mem.checks);
    for (const operand of exprParts(e)) visit(operand);
  };
  eachStmt(list, (s) => {
    for (const e of stmtExprs(s)) visit(e);
    if (s.op === 'store' || s.op === 'atomic') visitChecks(s.mem.checks);
  });
  return hoisted;
}
