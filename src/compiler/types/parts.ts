/**
 * Where each node of the tree keeps its operands and inner lists: once for reading and once for rebuilding. All walks start here.
 *
 * What a case returns is held against the node's type, as in `ir/parts.ts`. What nothing in it changes stays the same object.
 */
import type { InnerLists, OperandFields, Operands } from '../ir/fields.ts';
import type { Range, TExpr, TMem, TreeTypes, TStmt } from './tree.ts';

// reading

/** The variable that an expression reads: a live range, or the elements of an array whose type is open. */
export function rangeRead(e: TExpr): Range | undefined {
  return e.k === 'local' ? e.range : e.k === 'load' ? e.mem.root.open : undefined;
}

type Parts<N> = Operands<N, TreeTypes>;
type Fields<N> = OperandFields<N, TreeTypes>;

/** Of leaves, which are most nodes: walks ask many times. */
const NONE: [] = [];

/** The operands of an expression, in order of evaluation. */
export function operands(e: TExpr): readonly TExpr[] {
  switch (e.k) {
    case 'lit':
    case 'local':
    case 'arg':
    case 'special':
    case 'extent':
    case 'stride':
    case 'available':
      return NONE satisfies Parts<typeof e>;
    case 'absent':
    case 'index':
    case 'neg':
    case 'plus':
    case 'widen':
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
    case 'uniform':
    case 'bitcast':
    case 'half':
      return [e.a] satisfies Parts<typeof e>;
    case 'arith':
    case 'bits':
    case 'shift':
    case 'logic':
    case 'compare':
    case 'minmax':
    case 'imul':
    case 'like':
      return [e.a, e.b] satisfies Parts<typeof e>;
    case 'select':
      return [e.cond, e.a, e.b] satisfies Parts<typeof e>;
    case 'math':
    case 'intrinsic':
      return ({ args: e.args } satisfies Fields<typeof e>).args;
    case 'complex':
      return ({ args: e.args } satisfies Fields<typeof e>).args;
    case 'fma':
      return ({ args: e.args } satisfies Fields<typeof e>).args;
    case 'exact': {
      const { args, by } = { args: e.args, by: e.by } satisfies Fields<typeof e>;
      return by === undefined ? args : [...args, by];
    }
    case 'native': {
      const { args, otherwise } = { args: e.args, otherwise: e.otherwise } satisfies Fields<typeof e>;
      return otherwise === undefined ? args : [...args, otherwise];
    }
    case 'load':
    case 'address':
      return memOperands(({ mem: e.mem } satisfies Fields<typeof e>).mem);
  }
}

/** The expressions inside a memory reference. */
export function memOperands(mem: TMem): readonly TExpr[] {
  const parts = mem.which === undefined ? [mem.index] : [mem.which, mem.index];
  for (const { index, extent } of mem.checks) parts.push(index, extent);
  return parts;
}

/** The expressions that a statement evaluates itself (not those of nested statements). */
export function expressionsOf(s: TStmt): readonly TExpr[] {
  switch (s.k) {
    case 'assign':
      return [s.value] satisfies Parts<typeof s>;
    case 'if':
      return [s.cond] satisfies Parts<typeof s>;
    case 'rest':
      return [s.nanoseconds] satisfies Parts<typeof s>;
    case 'store': {
      const { mem, value } = { mem: s.mem, value: s.value } satisfies Fields<typeof s>;
      return [...memOperands(mem), value];
    }
    case 'atomic': {
      const { mem, args } = { mem: s.mem, args: s.args } satisfies Fields<typeof s>;
      return [...memOperands(mem), ...args];
    }
    case 'barrier': {
      const { pred } = { pred: s.pred } satisfies Fields<typeof s>;
      return pred === undefined ? [] : [pred];
    }
    case 'warp': {
      const { mask, args } = { mask: s.mask, args: s.args } satisfies Fields<typeof s>;
      return mask === undefined ? args : [mask, ...args];
    }
    case 'extern':
      return ({ args: s.args } satisfies Fields<typeof s>).args;
    case 'print': {
      const { parts } = { parts: s.parts } satisfies Fields<typeof s>;
      return parts.filter((p): p is TExpr => typeof p !== 'string');
    }
    case 'presence':
    case 'name':
    case 'overwritten':
    case 'loop':
    case 'block':
    case 'recursive':
    case 'recurse':
    case 'break':
    case 'continue':
    case 'return':
    case 'fence':
    case 'trap':
      return [] satisfies Parts<typeof s>;
  }
}

/** The lists of statements inside a statement. */
function listsOf(s: TStmt): readonly (readonly TStmt[])[] {
  switch (s.k) {
    case 'if':
      return [s.then, s.else] satisfies InnerLists<typeof s, TreeTypes>;
    case 'loop':
      return [s.body, s.update] satisfies InnerLists<typeof s, TreeTypes>;
    case 'block':
    case 'recursive':
    case 'recurse':
      return [s.body] satisfies InnerLists<typeof s, TreeTypes>;
    default:
      return [] satisfies InnerLists<typeof s, TreeTypes>;
  }
}

/** Calls `visit` for every statement, outer before inner. */
export function walkStatements(list: readonly TStmt[], visit: (s: TStmt) => void): void {
  for (const s of list) {
    visit(s);
    for (const inner of listsOf(s)) walkStatements(inner, visit);
  }
}

/** Calls `visit` for an expression and all below it, operands first. */
export function walkExpression(e: TExpr, visit: (e: TExpr) => void): void {
  for (const x of operands(e)) walkExpression(x, visit);
  visit(e);
}

// rebuilding

type Replace = (e: TExpr) => TExpr;
type Leaf<N> = Parts<N> extends readonly [] ? N : never;

/** The expression with `replace` applied to it and to all below it, operands first. */
export function rewriteExpression(e: TExpr, replace: Replace): TExpr {
  return replace(mapOperands(e, (x) => rewriteExpression(x, replace)));
}

/** The same operation on changed operands; itself when none of them changes. */
export function mapOperands(e: TExpr, change: Replace): TExpr {
  switch (e.k) {
    case 'lit':
    case 'local':
    case 'arg':
    case 'special':
    case 'extent':
    case 'stride':
    case 'available':
      return e satisfies Leaf<typeof e>;
    case 'index':
    case 'neg':
    case 'plus':
    case 'widen':
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
    case 'uniform':
    case 'bitcast':
    case 'half': {
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
    case 'imul':
    case 'like': {
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
    case 'complex': {
      const args = e.args.map(change);
      return args.every((x, k) => x === e.args[k]) ? e : { ...bare(e), args };
    }
    case 'fma': {
      const [a, b, c] = e.args;
      const args = [change(a), change(b), change(c)] as const;
      return args.every((x, k) => x === e.args[k]) ? e : { ...bare(e), args };
    }
    case 'exact': {
      const args = e.args.map(change);
      const by = e.by && change(e.by);
      return by === e.by && args.every((x, k) => x === e.args[k]) ? e : { ...bare(e), args, by };
    }
    case 'native': {
      const args = e.args.map(change);
      const otherwise = e.otherwise && change(e.otherwise);
      const same = otherwise === e.otherwise && args.every((x, k) => x === e.args[k]);
      return same ? e : { ...e, ...({ args, otherwise } satisfies Fields<typeof e>) };
    }
    case 'load':
    case 'address': {
      const mem = mapMem(e.mem, change);
      return mem === e.mem ? e : { ...bare(e), mem };
    }
  }
}

function mapMem(mem: TMem, change: Replace): TMem {
  const index = change(mem.index);
  const which = mem.which && change(mem.which);
  let same = index === mem.index && which === mem.which;
  const checks = mem.checks.map((c) => {
    const [i, extent] = [change(c.index), change(c.extent)];
    same &&= i === c.index && extent === c.extent;
    return { ...c, index: i, extent };
  });
  return same ? mem : { ...mem, which, index, checks };
}

/** A node without its operands, as far as types can tell: whoever makes one of it must give them all. */
function bare<N extends TExpr>(node: N): N extends unknown ? Omit<N, keyof Fields<N>> : never {
  return node as never;
}

/** The statement with the expressions that it evaluates itself rewritten, and its lists by `list`. */
export function rewriteStatement(s: TStmt, replace: Replace, list: (l: readonly TStmt[]) => readonly TStmt[]): TStmt {
  return mapStatement(s, (e) => rewriteExpression(e, replace), list);
}

/** The statement with `each` in place of the expressions that it evaluates itself, and its lists by `list`. */
export function mapStatement(s: TStmt, each: Replace, list: (l: readonly TStmt[]) => readonly TStmt[]): TStmt {
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
    case 'recursive':
    case 'recurse':
      return { ...s, body: list(s.body) };
    case 'barrier':
      return s.pred === undefined ? s : { ...s, pred: each(s.pred) };
    case 'warp':
      return { ...s, ...(s.mask !== undefined && { mask: each(s.mask) }), args: s.args.map(each) };
    case 'extern':
      return { ...s, args: s.args.map(each) };
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
