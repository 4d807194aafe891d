/**
 * What stays the same in all rounds of a loop is computed in front of it.
 *
 * The assembler does that as well, but decides whether to unroll before: a loop of fewer instructions is unrolled. Only
 * arithmetic is hoisted, no loads; and nothing dear out of code that may not run.
 */
import type { Expr, MemRef, Stmt } from '../../ir/ops.ts';
import { assignedIn, exprParts, stmtExprs, stmtLists } from '../../ir/passes/walk.ts';
import type { Gen } from './gen.ts';
import { addressOf, varyingIndex } from './memory.ts';

/** Registers that hoisted values, and what they are computed from, may take. */
const MOST = 96;

/** Evaluates in front of a loop what is the same in all its rounds; it is found again where it is used. */
export function hoist(g: Gen, loop: Stmt & { op: 'loop' }): void {
  const assigned = assignedIn([...loop.body, ...loop.update]);
  const steady = new Map<Expr, boolean>();
  const limit = g.code.registers + MOST;

  function isSteady(e: Expr): boolean {
    const known = steady.get(e);
    if (known !== undefined) return known;
    const own = !(e.op === 'load' || (e.op === 'var' && assigned.has(e.var.id)) || isAssertion(e));
    const result = own && exprParts(e).every(isSteady);
    steady.set(e, result);
    return result;
  }

  function expression(e: Expr, certain: boolean): void {
    if (isLeaf(e)) return;
    // Predicates are few.
    if (e.type !== 'bool' && isSteady(e) && (certain || !isDear(e))) {
      if (g.code.registers < limit) g.value(e);
    } else if (e.op === 'load') access(e.mem, certain);
    else for (const part of exprParts(e)) expression(part, certain);
  }

  function access(mem: MemRef, certain: boolean): void {
    if (g.kernel.checked) for (const c of mem.checks) for (const e of [c.index, c.extent]) expression(e, certain);
    const index = varyingIndex(g, mem);
    if (index === undefined || index.op === 'const') return;
    if (!isSteady(index) || (!certain && isDear(index))) expression(index, certain);
    else if (g.code.registers < limit) addressOf(g, { ...mem, checks: [] });
  }

  function list(stmts: readonly Stmt[], certain: boolean): void {
    for (const s of stmts) {
      if (s.op === 'store' || s.op === 'atomic') {
        access(s.mem, certain);
        for (const e of s.op === 'store' ? [s.value] : s.args) expression(e, certain);
      } else for (const e of stmtExprs(s)) expression(e, certain);
      for (const inner of stmtLists(s)) list(inner, certain && s.op === 'block');
    }
  }

  list([...loop.body, ...loop.update], true);
}

function isLeaf(e: Expr): boolean {
  return e.op === 'const' || e.op === 'var' || e.op === 'param' || e.op === 'special';
}

/** Whether the expression itself is a place where checked mode can stop. */
function isAssertion(e: Expr): boolean {
  if (e.op === 'cast') return e.checked === true;
  return (e.op === 'unary' && e.fn === 'uniform') || (e.op === 'binary' && e.fn === 'ipow');
}

function isDear(e: Expr): boolean {
  if (e.op === 'call' || (e.op === 'unary' && e.fn === 'sqrt')) return true;
  if (e.op === 'binary' && ['div', 'rem', 'floordiv', 'ipow'].includes(e.fn)) return true;
  return exprParts(e).some(isDear);
}
