/**
 * Replaces operations by what computes them: a graph of expressions over the operands, as the math table and the table of intrinsics have them.
 *
 * The statements that compute an operation stand right before the statement that uses it; loops have no expressions of their own,
 * so that nothing is moved out of one.
 */
import { lowerGraph, lowerGraphs } from '../../math/lower.ts';
import type { Pos } from '../../source.ts';
import { assign, KernelBuilder, read } from '../builder.ts';
import type { ArraySym, Expr, Kernel, Stmt } from '../ops.ts';
import { mapLists, mapStmtExprs } from './walk.ts';

/** An operation that has operands in a list. */
export type Operation = Expr & { readonly op: 'call' | 'intrinsic' };

/** What computes an operation from its operands, which are leaves; undefined where it stays. */
export type Expansion = (e: Operation) => ((...operands: readonly Expr[]) => Expr) | undefined;

/** What computes two operations on one operand together; undefined where each is computed by itself. */
export type Joint = (a: Operation, b: Operation) => ((operand: Expr) => readonly [Expr, Expr]) | undefined;

/** The same kernel with operations expanded; the kernel itself when there are none. */
export function expandOperations(kernel: Kernel, expansion: Expansion, joint: Joint = () => undefined): Kernel {
  const symbols = KernelBuilder.from(kernel);
  const tables = new Map<ArraySym, ArraySym>();
  let expanded = false;

  /** What an expression's node becomes; the statements that compute it go to `out`. */
  function expand(e: Operation, out: Stmt[], pos: Pos): Expr {
    const build = expansion(e);
    if (!build) return e;
    expanded = true;
    const label = `%${e.op === 'call' ? e.fn : e.fn.name}`;
    const name = (value: Expr): Expr => {
      if (value.op === 'const' || value.op === 'var' || value.op === 'param') return value;
      const v = symbols.variable(value.type, label);
      out.push(assign(v, value, pos));
      return read(v);
    };
    const graph = build(...e.args.map(name));
    return name(lowerGraph(graph, out, { variable: (type) => symbols.variable(type, label), table, pos }));
  }

  /** Whether two variables are given operations on one variable that are computed together. */
  function together(s: Stmt, next: Stmt | undefined, out: Stmt[]): boolean {
    if (s.op !== 'assign' || next?.op !== 'assign' || s.value.op !== 'call' || next.value.op !== 'call') return false;
    const [[a], [b]] = [s.value.args, next.value.args];
    if (a?.op !== 'var' || b?.op !== 'var' || a.var !== b.var || a.var === s.var) return false;
    const build = joint(s.value, next.value);
    if (build === undefined) return false;
    expanded = true;
    const label = `%${s.value.fn}`;
    const to = { variable: (type: Expr['type']) => symbols.variable(type, label), table, pos: s.pos };
    const [first, second] = lowerGraphs(build(a), out, to);
    // The second may read what the first one's variable held.
    const held = symbols.variable(next.var.type, label);
    out.push(assign(held, second ?? a, next.pos), assign(s.var, first ?? a, s.pos));
    out.push(assign(next.var, read(held), next.pos));
    return true;
  }

  /** A body's table as one of the kernel's constant arrays. */
  function table(array: ArraySym): ArraySym {
    const known = tables.get(array) ?? symbols.constants(array.elem, `%${array.name}`, array.data ?? new Uint8Array());
    tables.set(array, known);
    return known;
  }

  function list(statements: readonly Stmt[]): Stmt[] {
    const out: Stmt[] = [];
    for (let k = 0; k < statements.length; k++) {
      const s = statements[k] as Stmt;
      if (together(s, statements[k + 1], out)) {
        k++;
        continue;
      }
      // An operation may be shared, as an index and the check of it are.
      const done = new Map<Expr, Expr>();
      const own = mapStmtExprs(s, (e) => {
        if (e.op !== 'call' && e.op !== 'intrinsic') return e;
        const known = done.get(e) ?? expand(e, out, s.pos);
        done.set(e, known);
        return known;
      });
      out.push(mapLists(own, list));
    }
    return out;
  }

  const body = list(kernel.body);
  return expanded ? { ...kernel, arrays: [...symbols.arrays], vars: [...symbols.vars], body } : kernel;
}
