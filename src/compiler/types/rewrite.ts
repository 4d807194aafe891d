/**
 * Rebuilds parts of the tree with some of its expressions replaced. What nothing in it changes stays the same object.
 */
import type { OperandFields, Operands } from '../ir/fields.ts';
import type { TExpr, TMem, TreeTypes, TStmt } from './tree.ts';

type Replace = (e: TExpr) => TExpr;
type Leaf<N> = Operands<N, TreeTypes> extends readonly [] ? N : never;

/** The expression with `replace` applied to it and to all below it, operands first. */
export function rewriteExpression(e: TExpr, replace: Replace): TExpr {
  return replace(mapOperands(e, (x) => rewriteExpression(x, replace)));
}

/** The same operation on changed operands; itself when none of them changes. */
function mapOperands(e: TExpr, change: Replace): TExpr {
  switch (e.k) {
    case 'lit':
    case 'local':
    case 'arg':
    case 'special':
    case 'extent':
    case 'stride':
      return e satisfies Leaf<typeof e>;
    case 'index':
    case 'neg':
    case 'plus':
    case 'abs':
    case 'sign':
    case 'bitnot':
    case 'not':
    case 'truth':
    case 'cast':
    case 'word':
    case 'round':
    case 'toInt':
    case 'clz32':
    case 'test':
    case 'uniform': {
      const a = change(e.a);
      return a === e.a ? e : { ...bare(e), a };
    }
    case 'absent': {
      // Of a variable, or of nothing that can be absent.
      const a = change(e.a);
      return a === e.a || a.k !== 'local' ? e : { ...bare(e), a };
    }
    case 'arith':
    case 'bits':
    case 'shift':
    case 'logic':
    case 'compare':
    case 'minmax':
    case 'imul': {
      const [a, b] = [change(e.a), change(e.b)];
      return a === e.a && b === e.b ? e : { ...bare(e), a, b };
    }
    case 'select': {
      const [cond, a, b] = [change(e.cond), change(e.a), change(e.b)];
      return cond === e.cond && a === e.a && b === e.b ? e : { ...bare(e), cond, a, b };
    }
    case 'math':
    case 'intrinsic': {
      const args = e.args.map(change);
      return args.every((x, k) => x === e.args[k]) ? e : { ...bare(e), args };
    }
    case 'fma': {
      const [a, b, c] = e.args;
      const args = [change(a), change(b), change(c)] as const;
      return args.every((x, k) => x === e.args[k]) ? e : { ...bare(e), args };
    }
    case 'load': {
      const mem = mapMem(e.mem, change);
      return mem === e.mem ? e : { ...bare(e), mem };
    }
  }
}

function mapMem(mem: TMem, change: Replace): TMem {
  const index = change(mem.index);
  let same = index === mem.index;
  const checks = mem.checks.map((c) => {
    const [i, extent] = [change(c.index), change(c.extent)];
    same &&= i === c.index && extent === c.extent;
    return { ...c, index: i, extent };
  });
  return same ? mem : { ...mem, index, checks };
}

/** A node without its operands, as far as types can tell: whoever makes one of it must give them all. */
function bare<N extends TExpr>(node: N): N extends unknown ? Omit<N, keyof OperandFields<N, TreeTypes>> : never {
  return node as never;
}

/** The statement with the expressions that it evaluates itself rewritten, and its lists by `list`. */
export function rewriteStatement(s: TStmt, replace: Replace, list: (l: readonly TStmt[]) => readonly TStmt[]): TStmt {
  const each = (e: TExpr): TExpr => rewriteExpression(e, replace);
  switch (s.k) {
    case 'assign':
      return { ...s, value: each(s.value) };
    case 'store':
      return { ...s, mem: mapMem(s.mem, each), value: each(s.value) };
    case 'atomic':
      return { ...s, mem: mapMem(s.mem, each), args: s.args.map(each) };
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
