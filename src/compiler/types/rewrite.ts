/**
 * Rebuilds parts of the tree with some of its expressions replaced. What nothing in it changes stays the same object.
 */
import { operands, type TExpr, type TMem, type TStmt } from './tree.ts';

type Replace = (e: TExpr) => TExpr;

/** The expression with `replace` applied to it and to all below it, operands first. */
export function rewriteExpression(e: TExpr, replace: Replace): TExpr {
  const old = operands(e);
  const made = old.map((x) => rewriteExpression(x, replace));
  return replace(made.every((x, k) => x === old[k]) ? e : withOperands(e, made));
}

/** The same operation on other operands, in the order of `operands`. */
function withOperands(e: TExpr, made: readonly TExpr[]): TExpr {
  const [a, b, c] = made as [TExpr, TExpr, TExpr];
  switch (e.k) {
    case 'lit':
    case 'local':
    case 'arg':
    case 'special':
    case 'extent':
    case 'stride':
      return e;
    case 'arith':
    case 'bits':
    case 'shift':
    case 'logic':
    case 'compare':
    case 'minmax':
    case 'imul':
      return { ...e, a, b };
    case 'select':
      return { ...e, cond: a, a: b, b: c };
    case 'math':
    case 'intrinsic':
      return { ...e, args: made };
    case 'fma':
      return { ...e, args: [a, b, c] };
    case 'absent':
      return a.k === 'local' ? { ...e, a } : e;
    case 'load':
      return { ...e, mem: withMemOperands(e.mem, made) };
    default:
      return { ...e, a };
  }
}

function withMemOperands(mem: TMem, made: readonly TExpr[]): TMem {
  const checks = mem.checks.map((c, k) => ({
    ...c,
    index: made[1 + 2 * k] ?? c.index,
    extent: made[2 + 2 * k] ?? c.extent,
  }));
  return { ...mem, index: made[0] ?? mem.index, checks };
}

function rewriteMem(mem: TMem, replace: Replace): TMem {
  const each = (e: TExpr): TExpr => rewriteExpression(e, replace);
  return {
    ...mem,
    index: each(mem.index),
    checks: mem.checks.map((c) => ({ ...c, index: each(c.index), extent: each(c.extent) })),
  };
}

/** The statement with the expressions that it evaluates itself rewritten, and its lists by `list`. */
export function rewriteStatement(s: TStmt, replace: Replace, list: (l: readonly TStmt[]) => readonly TStmt[]): TStmt {
  const each = (e: TExpr): TExpr => rewriteExpression(e, replace);
  switch (s.k) {
    case 'assign':
      return { ...s, value: each(s.value) };
    case 'store':
      return { ...s, mem: rewriteMem(s.mem, replace), value: each(s.value) };
    case 'atomic':
      return { ...s, mem: rewriteMem(s.mem, replace), args: s.args.map(each) };
    case 'if':
      return { ...s, cond: each(s.cond), then: list(s.then), else: list(s.else) };
    case 'loop':
      return { ...s, body: list(s.body), update: list(s.update) };
    case 'block':
      return { ...s, body: list(s.body) };
    case 'barrier':
      return s.pred === undefined ? s : { ...s, pred: each(s.pred) };
    case 'warp':
      return { ...s, ...(s.mask !== undefined && { mask: each(s.mask) }), args: s.args.map(each) };
    case 'rest':
      return { ...s, nanoseconds: each(s.nanoseconds) };
    case 'print':
      return { ...s, parts: s.parts.map((p) => (typeof p === 'string' ? p : each(p))) };
    case 'name':
    case 'overwritten':
    case 'presence':
    case 'break':
    case 'continue':
    case 'return':
    case 'fence':
    case 'trap':
      return s;
    default:
      return s satisfies never;
  }
}
