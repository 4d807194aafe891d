/**
 * Leaner kernels for devices that branch dearly and check nothing: drops checks that nobody makes, and joins guards.
 */
import { and, ifElse } from '../builder.ts';
import { size } from '../measures.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { mapLists, mapStmtExprs, someExpr } from './walk.ts';

/** An unchecked kernel without the checks of its accesses, so that what only they use is no longer computed. */
export function dropChecks(kernel: Kernel): Kernel {
  if (kernel.checked) return kernel;
  const bare = (s: Stmt): Stmt => {
    const own = mapStmtExprs(s, (e) =>
      e.op === 'load' && e.mem.checks.length > 0 ? { ...e, mem: { ...e.mem, checks: [] } } : e,
    );
    const inner = mapLists(own, (list) => list.map(bare));
    return inner.op === 'store' || inner.op === 'atomic' ? { ...inner, mem: { ...inner.mem, checks: [] } } : inner;
  };
  return { ...kernel, body: kernel.body.map(bare) };
}

/** More than this is not evaluated for nothing. */
const CHEAP = 24;

/** `if (a) { if (b) … }` as `if (a && b) …`, where b costs little and cannot fail: one branch instead of two. */
export function joinGuards(kernel: Kernel): Kernel {
  return { ...kernel, body: kernel.body.map((s) => joined(s, kernel.checked)) };
}

function joined(s: Stmt, checked: boolean): Stmt {
  const outer = mapLists(s, (list) => list.map((x) => joined(x, checked)));
  if (outer.op !== 'if' || outer.else.length > 0 || outer.then.length !== 1) return outer;
  const [inner] = outer.then;
  if (inner?.op !== 'if' || inner.else.length > 0 || !isCheap(inner.cond, checked)) return outer;
  return ifElse(and(outer.cond, inner.cond), inner.then, [], outer.pos);
}

function isCheap(e: Expr, checked: boolean): boolean {
  const dear = (x: Expr): boolean => {
    if (x.op === 'load' || x.op === 'call') return true;
    if (x.op === 'unary') return x.fn === 'uniform' || x.fn === 'sqrt';
    if (x.op === 'cast') return checked && x.checked === true;
    return x.op === 'binary' && ['div', 'rem', 'floordiv', 'ipow'].includes(x.fn);
  };
  return size(e) <= CHEAP && !someExpr(e, dear);
}
