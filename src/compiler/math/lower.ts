/**
 * Makes statements of the expression graphs that the math table's bodies return.
 *
 * Nodes that are used more than once become temporaries, in an order in which each stands before its uses; all others stay
 * nested. A select marked as rare becomes an `if`, and what only its first arm needs is computed inside; a branch
 * becomes one `if` for all values that it decides.
 */
import { assign, read, when } from '../ir/builder.ts';
import type { ArraySym, Expr, Stmt, ValueType, Var } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { BranchSelect } from './gpu/notation.ts';

/** Where the temporaries and constant tables of a body come from. */
export interface LowerTo {
  readonly variable: (type: ValueType) => Var;
  readonly table: (array: ArraySym) => ArraySym;
  readonly pos: Pos;
}

/** Appends to `out` what computes `root` and returns the expression that reads it. */
export function lowerGraph(root: Expr, out: Stmt[], { variable, table, pos }: LowerTo): Expr {
  const uses = countUses(root);

  function lower(e: Expr, into: Stmt[], done: Map<Expr, Expr>): Expr {
    const known = done.get(e);
    if (known) return known;
    if (e.op === 'select' && 'rare' in e) {
      const cond = lower(e.cond, into, done);
      const result = variable(e.type);
      into.push(assign(result, lower(e.b, into, done), pos));
      const inside: Stmt[] = [];
      const value = lower(e.a, inside, new Map(done));
      into.push(when(cond, [...inside, assign(result, value, pos)], [], pos));
      done.set(e, read(result));
      return read(result);
    }
    if (e.op === 'select' && 'group' in e) {
      branch(e as BranchSelect, into, done);
      return done.get(e) ?? e;
    }
    const mapped = mapOperands(e, (x) => lower(x, into, done));
    const copy = mapped.op === 'load' ? { ...mapped, mem: { ...mapped.mem, array: table(mapped.mem.array) } } : mapped;
    if ((uses.get(e) ?? 0) < 2 || isLeaf(e)) return copy;
    const named = variable(e.type);
    into.push(assign(named, copy, pos));
    done.set(e, read(named));
    return read(named);
  }

  /** Computes all members of a branch, so that each side is computed once. */
  function branch({ cond, group }: BranchSelect, into: Stmt[], done: Map<Expr, Expr>): void {
    const { members, rare } = group;
    const test = lower(cond, into, done);
    const results = members.map((m) => variable(m.type));
    const arm = (of: (m: BranchSelect) => Expr, list: Stmt[], known: Map<Expr, Expr>): Stmt[] => {
      const values = members.map((m) => lower(of(m), list, known));
      results.forEach((result, k) => {
        const value = values[k];
        if (value) list.push(assign(result, value, pos));
      });
      return list;
    };
    if (rare) arm((m) => m.b, into, done);
    const other = rare ? [] : arm((m) => m.b, [], new Map(done));
    into.push(
      when(
        test,
        arm((m) => m.a, [], new Map(done)),
        other,
        pos,
      ),
    );
    members.forEach((m, k) => {
      const result = results[k];
      if (result) done.set(m, read(result));
    });
  }

  return lower(root, out, new Map());
}

function countUses(root: Expr): Map<Expr, number> {
  const uses = new Map<Expr, number>();
  const visit = (e: Expr): Expr => {
    const seen = uses.get(e) ?? 0;
    uses.set(e, seen + 1);
    if (seen === 0) mapOperands(e, visit);
    return e;
  };
  visit(root);
  return uses;
}

function isLeaf(e: Expr): boolean {
  return e.op === 'const' || e.op === 'var' || e.op === 'param';
}

/** The same node over other operands; the node itself when none of them changed. */
export function mapOperands(e: Expr, map: (operand: Expr) => Expr): Expr {
  switch (e.op) {
    case 'const':
    case 'var':
    case 'param':
    case 'special':
      return e;
    case 'unary':
    case 'cast':
    case 'bitcast': {
      const a = map(e.a);
      return a === e.a ? e : { ...e, a };
    }
    case 'binary':
    case 'compare': {
      const a = map(e.a);
      const b = map(e.b);
      return a === e.a && b === e.b ? e : { ...e, a, b };
    }
    case 'select': {
      const cond = map(e.cond);
      const a = map(e.a);
      const b = map(e.b);
      return cond === e.cond && a === e.a && b === e.b ? e : { ...e, cond, a, b };
    }
    case 'fma': {
      const a = map(e.a);
      const b = map(e.b);
      const c = map(e.c);
      return a === e.a && b === e.b && c === e.c ? e : { ...e, a, b, c };
    }
    case 'intrinsic': {
      const args = e.args.map(map);
      return args.every((a, k) => a === e.args[k]) ? e : { ...e, args };
    }
    case 'load': {
      const index = map(e.mem.index);
      return index === e.mem.index ? e : { ...e, mem: { ...e.mem, index } };
    }
    case 'call':
      throw new Error(`a body of the math table contains a ${e.op}`);
  }
}
