/**
 * Counters of loops that threads leave one by one: `while (k < n && a[i + k] === b[k]) k++`.
 *
 * Behind the loop each thread has a count of its own, so that the counter is one number for each lane of a vector, also in the loop, where the lanes that
 * are still there all have the same. There, another variable counts instead, which nobody reads afterwards: what it is added to is consecutive, and what is
 * read by it alone is read once.
 */
import { assign, KernelBuilder, read } from '../builder.ts';
import type { Loop } from '../loops.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { renamed } from './rename.ts';
import { isRead } from './round-copies.ts';
import { analyseUniformity, type Uniformity } from './uniformity.ts';
import { assignedIn, defined, eachStmt, mapLists } from './walk.ts';

/** Constants that variables have at a place, by `Var.id`. */
type Known = Map<number, Expr>;

/** After simplification, for vectors of so many lanes; the same kernel when there are no such counters. */
export function countRoundsApart(kernel: Kernel, block: readonly [number, number, number], lanes: number): Kernel {
  const b = KernelBuilder.from(kernel);
  let uniformity: Uniformity | undefined;
  /** Whether lanes leave the loop one by one, and each wants its count. */
  const isApart = (loop: Loop, v: Var): boolean => {
    uniformity ??= analyseUniformity(kernel, { block, lanes });
    return uniformity.divergence(loop) === 'V' && uniformity.varShape(v) === 'V';
  };
  const inList = (list: readonly Stmt[], known: Known): readonly Stmt[] => {
    let changed = false;
    const out = list.flatMap((s) => {
      const now = statement(s, known);
      for (const id of assignedIn([s])) known.delete(id);
      if (s.op === 'assign' && s.value.op === 'const') known.set(s.var.id, s.value);
      changed ||= now.length > 1 || now[0] !== s;
      return now;
    });
    return changed ? out : list;
  };
  const statement = (s: Stmt, known: Known): readonly Stmt[] => {
    const changes = s.op === 'if' ? new Set<number>() : assignedIn([s]);
    const within = mapLists(s, (list) => inList(list, new Map([...known].filter(([id]) => !changes.has(id)))));
    if (s.op !== 'loop') return [within];
    const counters = countersOf(s).filter((v) => known.has(v.id) && isApart(s, v));
    if (counters.length === 0) return [within];
    const copies = counters.map((v) => [v, b.variable(v.type, `%${v.name}`)] as const);
    const starts = copies.map(([v, copy]) => assign(copy, known.get(v.id) as Expr, s.pos));
    return [...starts, mapLists(within, (list) => counting(list, copies))];
  };
  const body = inList(kernel.body, new Map());
  return body === kernel.body ? kernel : { ...kernel, vars: [...b.vars], body };
}

/** The variables that all rounds of a loop change once, by a constant, wherever lanes leave it. */
function countersOf(loop: Loop): readonly Var[] {
  const times = new Map<number, number>();
  eachStmt([...loop.body, ...loop.update], (s) => {
    const id = defined(s);
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  });
  const counts = (s: Stmt, before: readonly Stmt[]): readonly Var[] =>
    s.op === 'assign' && isStep(s.value, s.var) && times.get(s.var.id) === 1 && !jumpsOn(before, loop) ? [s.var] : [];
  return [
    ...loop.body.flatMap((s, k) => counts(s, loop.body.slice(0, k))),
    ...loop.update.flatMap((s) => counts(s, [])),
  ];
}

/** Whether some lanes may go on with the next round before others. */
const jumpsOn = (list: readonly Stmt[], { label }: Loop): boolean => {
  let found = false;
  eachStmt(list, (s) => {
    found ||= s.op === 'continue' && s.label === label;
  });
  return found;
};

const isStep = (e: Expr, v: Var): boolean =>
  e.op === 'binary' && e.type === 'i32' && (e.fn === 'add' || e.fn === 'sub') && isRead(e.a, v) && e.b.op === 'const';

/** The list with other variables in the place of counters, which are given their values where they change. */
function counting(list: readonly Stmt[], copies: readonly (readonly [Var, Var])[]): readonly Stmt[] {
  const byId = new Map(copies.map(([v, copy]) => [v.id, copy] as const));
  return renamed(list, byId).flatMap((s) => {
    const of = s.op === 'assign' ? copies.find(([, copy]) => copy === s.var) : undefined;
    return of === undefined ? [s] : [s, assign(of[0], read(of[1]), s.pos)];
  });
}
