/**
 * Variables whose values have nothing to do with each other become several: where rounds of a loop are written out, each of them assigns anew to what is
 * its own, such as a sum or a place. What has one definition can be put in the place of its name, and stores that come later may wait for others.
 */
import { KernelBuilder, read } from '../builder.ts';
import type { Kernel, Label, Stmt, Var } from '../ops.ts';
import { assignedIn, eachStmt, mapExpr, mapLists, mapSame, mapTopExprs, someExpr, stmtLists } from './walk.ts';

/** The kernel with variables of their own for values that are over before another one begins; the same kernel when it has none. */
export function splitRanges(kernel: Kernel): Kernel {
  let b: KernelBuilder | undefined;
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    const inner = mapSame(list, (s) => mapLists(s, inList));
    const ends = endsOf(inner);
    if (ends.size === 0) return inner;
    b ??= KernelBuilder.from(kernel);
    const current = new Map<number, Var>();
    return inner.map((s, k) => {
      const own = withReads(s, current);
      if (s.op !== 'assign') return own;
      if (begins(s)) {
        current.delete(s.var.id);
        if (ends.has(k)) current.set(s.var.id, (b as KernelBuilder).variable(s.var.type, s.var.name));
      }
      const v = current.get(s.var.id);
      return v === undefined ? own : { ...(own as typeof s), var: v };
    });
  };
  const body = inList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, vars: b === undefined ? kernel.vars : [...b.vars], body };
}

/** Whether what a variable was before does not matter any more. */
function begins({ var: v, value }: Stmt & { op: 'assign' }): boolean {
  return !someExpr(value, (e) => e.op === 'var' && e.var.id === v.id);
}

/** Places of the assignments in a list whose variables have other values later in it, which nothing but the list itself sees or changes until then. */
function endsOf(list: readonly Stmt[]): ReadonlySet<number> {
  const ends = new Set<number>();
  /** Where the value of a variable begins that may turn out to be one by itself. */
  const begun = new Map<number, number>();
  for (const [k, s] of list.entries()) {
    if (s.op === 'assign') {
      if (!begins(s)) continue;
      const from = begun.get(s.var.id);
      if (from !== undefined) ends.add(from);
      begun.set(s.var.id, k);
    } else if (leaves(s)) {
      // Whoever comes after the list may want what variables are now.
      begun.clear();
    } else {
      for (const id of assignedIn([s])) begun.delete(id);
    }
  }
  return ends;
}

/** Whether control may go from a statement to somewhere behind its list. */
function leaves(s: Stmt): boolean {
  if (stmtLists(s).length === 0) return s.op === 'break' || s.op === 'continue';
  const labels = new Set<Label>();
  let found = false;
  eachStmt([s], (x) => {
    if (x.op === 'loop' || x.op === 'block') labels.add(x.label);
    if (x.op === 'break' || x.op === 'continue') found ||= !labels.has(x.label);
  });
  return found;
}

function withReads(s: Stmt, current: ReadonlyMap<number, Var>): Stmt {
  if (current.size === 0) return s;
  const own = mapTopExprs(s, (e) =>
    mapExpr(e, (x) => {
      const v = x.op === 'var' ? current.get(x.var.id) : undefined;
      return v === undefined ? x : read(v);
    }),
  );
  return mapLists(own, (list) => mapSame(list, (x) => withReads(x, current)));
}
