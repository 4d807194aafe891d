/**
 * Loops over `k = starts[row]; k < starts[row + 1]; k++`: the bound is loaded once, and what each round asks of the counter is asked of
 * the bound ahead.
 *
 * A load in the test of a loop is evaluated before the first round in any case, so that it may as well stand in front of a loop
 * that writes nothing. A counter that goes up by ones from 0 or more to a bound that is no more than an extent needs no check
 * in between: such a loop is there twice, with its checks for all other launches.
 */
import { and, assign, compare, i32, ifElse, KernelBuilder, read } from '../builder.ts';
import { type Loop, testedLoop } from '../loops.ts';
import { exprsSize, mayFail } from '../measures.ts';
import type { Check, Expr, Kernel, Label, MemRef, Stmt, Var } from '../ops.ts';
import { countingLoop } from './trip-counts.ts';
import {
  assignedIn,
  eachAccess,
  exprParts,
  mapLists,
  mapParts,
  mapStmtExprs,
  mapTopExprs,
  someExpr,
  someStmt,
} from './walk.ts';

type Load = Expr & { readonly op: 'load' };

// ---------------------------------------------------------------- bounds in memory

/** Loads the bounds of loops once; the same kernel when none has any. */
export function hoistBounds(kernel: Kernel): Kernel {
  let builder: KernelBuilder | undefined;
  const b = (): KernelBuilder => {
    builder ??= KernelBuilder.from(kernel);
    return builder;
  };
  const held = (e: Load): readonly [Load, Var] => [e, b().variable(e.type, '%bound')];
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    const out: Stmt[] = [];
    for (const s of list) {
      const inner = mapLists(s, inList);
      const found = inner.op === 'loop' ? steadyLoads(inner) : [];
      if (found.length === 0) out.push(inner);
      else insert(out, found.map(held), inner as Loop);
    }
    return out.length === list.length && out.every((s, k) => s === list[k]) ? list : out;
  };
  const body = inList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, vars: [...b().vars], body };
}

/** Loads in the test of a loop that give the same in each round. */
function steadyLoads(loop: Loop): readonly Load[] {
  const exit = testedLoop(loop)?.exit;
  const all = [...loop.body, ...loop.update];
  if (exit === undefined || !someExpr(exit, (e) => e.op === 'load') || someStmt(all, (s) => !isQuiet(s))) return [];
  const assigned = assignedIn(all);
  // What only waits for memory to change is left to wait.
  if (!someExpr(exit, (e) => e.op === 'var' && assigned.has(e.var.id))) return [];
  const changes = (e: Expr): boolean =>
    (e.op === 'var' && assigned.has(e.var.id)) || (e.op === 'unary' && e.fn === 'uniform');
  const found: Load[] = [];
  const visit = (e: Expr): void => {
    if (e.op === 'load' && !someExpr(e, changes)) found.push(e);
    else for (const part of exprParts(e)) visit(part);
  };
  visit(exit);
  return found;
}

/** Whether a statement neither writes memory nor waits for, or orders, what others write. */
function isQuiet({ op }: Stmt): boolean {
  return op === 'assign' || op === 'if' || op === 'loop' || op === 'block' || op === 'break' || op === 'continue';
}

/** Puts a loop behind `out`, and its bounds before it: before the start of the counter where that makes no difference. */
function insert(out: Stmt[], bounds: readonly (readonly [Load, Var])[], loop: Loop): void {
  const [test, ...body] = loop.body;
  const held = new Map<Expr, Var>(bounds);
  const replace = (e: Expr): Expr => {
    const v = held.get(e);
    return v === undefined ? mapParts(e, replace) : read(v);
  };
  const start = out.at(-1);
  const assigns = bounds.map(([e, v]) => assign(v, e, loop.pos));
  const first =
    start?.op === 'assign' &&
    !mayFail(start.value) &&
    !bounds.some(([e]) => someExpr(e, (x) => x.op === 'var' && x.var.id === start.var.id));
  if (first) out.splice(-1, 0, ...assigns);
  else out.push(...assigns);
  if (test !== undefined) out.push({ ...loop, body: [mapTopExprs(test, replace), ...body] });
}

// ---------------------------------------------------------------- checks of counters

/** Expression nodes of a body that is worth having twice. */
const LARGEST = 120;

/**
 * Loops beside themselves without checks of their counters; the same kernel when none has any. For code that runs thread by thread.
 * Those with labels in `asked` are left alone.
 */
export function askAhead(kernel: Kernel, asked: { has(label: Label): boolean } = new Set()): Kernel {
  if (!kernel.checked) return kernel;
  const b = KernelBuilder.from(kernel);
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    const out = list.map((s) => {
      const inner = mapLists(s, inList);
      return inner.op === 'loop' && !asked.has(inner.label) ? (twice(inner) ?? inner) : inner;
    });
    return out.every((s, k) => s === list[k]) ? list : out;
  };
  const twice = (loop: Loop): Stmt | undefined => {
    const counting = countingLoop(loop);
    if (counting === undefined || counting.inclusive || counting.counter.type !== 'i32') return undefined;
    const { counter, bound, step, body } = counting;
    const nested = (s: Stmt): boolean => s.op === 'loop' || s.op === 'block';
    if (step.op !== 'const' || step.value !== 1 || someStmt(body, nested) || exprsSize(body) > LARGEST)
      return undefined;
    const extents = extentsOf(body, counter);
    if (extents.length === 0) return undefined;
    const label = b.label();
    const inside = [compare('ge', read(counter), i32(0)), ...extents.map((e) => compare('le', bound, e))];
    const copy = (s: Stmt): Stmt => unchecked(s, counter, loop.label, label);
    const bare: Loop = { ...loop, label, body: loop.body.map(copy), update: loop.update.map(copy) };
    return ifElse(inside.reduce(and), [bare], [loop], loop.pos);
  };
  const body = inList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, body };
}

/** A copy of a statement in a loop with another label, without the checks of its counter. */
function unchecked(s: Stmt, counter: Var, from: number, to: number): Stmt {
  const bare = <T extends { readonly mem: MemRef }>(of: T): T => ({
    ...of,
    mem: { ...of.mem, checks: of.mem.checks.filter((check) => !isOfCounter(check, counter)) },
  });
  const own = mapStmtExprs(s, (e) =>
    e.op === 'load' ? bare(e) : e.op === 'unary' && e.fn === 'uniform' ? { ...e } : e,
  );
  if (own.op === 'store' || own.op === 'atomic') return bare(own);
  if ((own.op === 'break' || own.op === 'continue') && own.label === from) return { ...own, label: to };
  return { ...mapLists(own, (list) => list.map((x) => unchecked(x, counter, from, to))) };
}

/** Whether a check asks whether the counter is below something that does not change. */
export function isOfCounter({ index, extent }: Check, counter: Var): boolean {
  const steady = extent.op === 'param' || extent.op === 'const';
  return steady && extent.type === 'i32' && index.op === 'var' && index.var === counter;
}

/** The extents in such checks, each once. */
export function extentsOf(body: readonly Stmt[], counter: Var): readonly Expr[] {
  const found = new Map<string, Expr>();
  const note = ({ checks }: MemRef): void => {
    for (const { extent } of checks.filter((check) => isOfCounter(check, counter)))
      found.set(
        extent.op === 'param' ? `param ${extent.param}` : String(extent.op === 'const' && extent.value),
        extent,
      );
  };
  eachAccess(body, note);
  return [...found.values()];
}
