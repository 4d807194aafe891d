/**
 * Makes statements of the expression graphs that the math table's bodies return.
 *
 * Nodes that are used more than once become temporaries, in an order in which each stands before its uses; all others stay
 * nested. A branch becomes one `if` for all values that it decides, and what only one of its arms needs is computed inside.
 */
import { assign, ifElse, read } from '../ir/builder.ts';
import type { ArraySym, Branch, Expr, Stmt, ValueType, Var } from '../ir/ops.ts';
import { mapParts } from '../ir/parts.ts';
import type { Pos } from '../source.ts';

/** Where the temporaries and constant tables of a body come from. */
export interface LowerTo {
  readonly variable: (type: ValueType) => Var;
  readonly table: (array: ArraySym) => ArraySym;
  readonly pos: Pos;
}

/** Appends to `out` what computes `root` and returns the expression that reads it. Bodies of the table call nothing but the host, of f64. */
export function lowerGraph(root: Expr, out: Stmt[], to: LowerTo): Expr {
  const refuse = (e: Expr): void => {
    if (e.op === 'call' && e.type !== 'f64') throw new Error('a body of the math table contains a call');
  };
  return lowerGraphs([root], out, to, refuse)[0] ?? root;
}

/** As `lowerGraph`, for several results that share nodes. `check` sees each node. */
export function lowerGraphs(
  roots: readonly Expr[],
  out: Stmt[],
  { variable, table, pos }: LowerTo,
  check: (e: Expr) => void = () => {},
): readonly Expr[] {
  const uses = countUses(roots);

  function lower(e: Expr, into: Stmt[], done: Map<Expr, Expr>): Expr {
    const known = done.get(e);
    if (known) return known;
    if (e.op === 'select' && e.branch !== undefined) {
      lowerBranch(e.cond, e.branch, into, done);
      return done.get(e) ?? e;
    }
    check(e);
    const mapped = mapParts(e, (x) => lower(x, into, done));
    const copy = mapped.op === 'load' ? { ...mapped, mem: { ...mapped.mem, array: table(mapped.mem.array) } } : mapped;
    if ((uses.get(e) ?? 0) < 2 || isLeaf(e)) return copy;
    const named = variable(e.type);
    into.push(assign(named, copy, pos));
    done.set(e, read(named));
    return read(named);
  }

  /** Computes all members of a branch, so that each side is computed once. */
  function lowerBranch(cond: Expr, { members, unlikely }: Branch, into: Stmt[], done: Map<Expr, Expr>): void {
    const test = lower(cond, into, done);
    const results = members.map((m) => variable(m.type));
    const arm = (of: (m: Branch['members'][number]) => Expr, list: Stmt[], known: Map<Expr, Expr>): Stmt[] => {
      const values = members.map((m) => lower(of(m), list, known));
      results.forEach((result, k) => {
        const value = values[k];
        if (value) list.push(assign(result, value, pos));
      });
      return list;
    };
    if (unlikely) arm((m) => m.b, into, done);
    const other = unlikely ? [] : arm((m) => m.b, [], new Map(done));
    into.push(
      ifElse(
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

  const done = new Map<Expr, Expr>();
  return roots.map((root) => lower(root, out, done));
}

function countUses(roots: readonly Expr[]): Map<Expr, number> {
  const uses = new Map<Expr, number>();
  const visit = (e: Expr): Expr => {
    const seen = uses.get(e) ?? 0;
    uses.set(e, seen + 1);
    if (seen === 0) mapParts(e, visit);
    return e;
  };
  roots.forEach(visit);
  return uses;
}

function isLeaf(e: Expr): boolean {
  return e.op === 'const' || e.op === 'var' || e.op === 'param';
}
