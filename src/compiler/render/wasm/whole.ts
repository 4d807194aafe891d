/**
 * Conditions of the form `i < n` over consecutive i, tested for a whole vector at once by its first and last value.
 *
 * Where n is an extent that has a limit (see render.ts), one unsigned comparison says more: that 0 <= i < n in all lanes,
 * which is what the bounds checks of accesses at i ask as well. Of an i that is known not to wrap, such as threadIdx.x, any comparison with what is
 * the same in all lanes holds in all of them if it holds in the first, or in the last.
 */
import { add, compare, i32 } from '../../ir/builder.ts';
import { conjuncts, MIRRORED, mayFail, OPPOSITE } from '../../ir/measures.ts';
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

/** A comparison of the first lane, or the last, that holds in all lanes if it holds there. */
interface Edge {
  readonly test: Expr;
  readonly exprs: readonly Expr[];
}

interface Bound {
  readonly index: Expr;
  readonly extent: Expr & { op: 'param' };
}

/** Undefined where the condition has another form. */
export function wholeVectorTest(g: Gen, cond: Expr): WholeVectorTest | undefined {
  const bounds: Bound[] = [];
  const edges: Edge[] = [];
  for (const part of conjuncts(cond)) {
    const bound = boundOf(g, part);
    const edge = bound === undefined ? edgeOf(g, part) : undefined;
    if (bound !== undefined) bounds.push(bound);
    else if (edge !== undefined) edges.push(edge);
    else return undefined;
  }
  return {
    exprs: [...bounds.map((b) => b.index), ...edges.flatMap((e) => e.exprs)],
    branchUnless: (target) => {
      for (const { index, extent } of bounds) {
        scalar(g, index);
        g.f.get(g.limits.get(extent.param) ?? 0);
        g.f.op('i32.ge_u');
        g.f.brIf(target);
      }
      for (const { test } of edges) {
        scalar(g, test);
        g.f.op('i32.eqz');
        g.f.brIf(target);
      }
    },
    implied: (list) => impliedBy(bounds, list),
  };
}

/** `i < n`, or `!(i >= n)`, with a consecutive i and an n that has a limit. */
function boundOf(g: Gen, e: Expr): Bound | undefined {
  const negated = e.op === 'unary' && e.fn === 'not';
  const given = negated ? e.a : e;
  if (given.op !== 'compare' || given.a.type !== 'i32') return undefined;
  const [index, extent] = given.fn === (negated ? 'ge' : 'lt') ? [given.a, given.b] : [given.b, given.a];
  if (given.fn !== (negated ? 'ge' : 'lt') && given.fn !== (negated ? 'le' : 'gt')) return undefined;
  if (extent.op !== 'param' || !g.limits.has(extent.param) || shapeOf(g, index) !== 'C') return undefined;
  return { index, extent };
}

/** `i < b`, `i >= b` and their like, with a consecutive i that does not wrap, and a b that all lanes share. */
function edgeOf(g: Gen, e: Expr): Edge | undefined {
  const negated = e.op === 'unary' && e.fn === 'not';
  const given = negated ? e.a : e;
  if (given.op !== 'compare' || given.a.type !== 'i32' || given.fn === 'eq' || given.fn === 'ne') return undefined;
  const plain = negated ? OPPOSITE[given.fn] : given.fn;
  const turned = shapeOf(g, given.b) === 'C';
  const [index, bound, fn] = turned ? [given.b, given.a, MIRRORED[plain]] : [given.a, given.b, plain];
  const range = shapeOf(g, index) === 'C' && !mayFail(index) ? g.ranges.of(index) : undefined;
  const isShared = shapeOf(g, bound) === 'U' || shapeOf(g, bound) === 'G';
  if (range === undefined || !isShared || range[1] > 2 ** 31 - g.lanes) return undefined;
  const last = fn === 'lt' || fn === 'le' ? g.lanes - 1 : 0;
  return { test: compare(fn, add(index, i32(last)), bound), exprs: [index, bound] };
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
