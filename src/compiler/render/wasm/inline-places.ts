/**
 * Variables of places that are so many elements apart, as in `const a = 2 * t + 1`, are written out where they are read: as variables they would be vectors,
 * out of which each address has to be taken again, and nobody would see that what is at `a` lies beside what is at `2 * t`.
 */
import type { Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { removeDead } from '../../ir/passes/dead.ts';
import {
  assignedIn,
  defined,
  eachExpr,
  eachStmt,
  exprParts,
  mapExpr,
  mapLists,
  mapSame,
  mapTopExprs,
  someExpr,
} from '../../ir/passes/walk.ts';
import { definitionsOf } from './structure.ts';

/** Operations that a place may take. */
const MOST = 8;

export function inlinePlaces(kernel: Kernel): Kernel {
  let mayApply = false;
  eachStmt(kernel.body, (s) => {
    mayApply ||= s.op === 'assign' && someExpr(s.value, isMultiple);
  });
  if (!mayApply) return kernel;
  const definitions = definitionsOf(kernel.body);
  const counting = placesInRounds(kernel.body, definitions);
  const places = new Map<number, Expr>();
  const resolved = (e: Expr): Expr =>
    mapExpr(e, (x) => (x.op === 'var' && definitions.has(x.var.id) ? resolved(definitions.get(x.var.id) as Expr) : x));
  for (const [id, value] of [...definitions, ...counting]) {
    const whole = resolved(value);
    const step = stepOf(whole);
    if (step !== undefined && Math.abs(step) > 1 && sizeOf(whole) <= MOST) places.set(id, whole);
  }
  if (places.size === 0) return kernel;
  const inlined = (e: Expr): Expr => mapExpr(e, (x) => (x.op === 'var' ? (places.get(x.var.id) ?? x) : x));
  const inList = (list: Kernel['body']): Kernel['body'] =>
    mapSame(list, (s) => mapLists(mapTopExprs(s, inlined), inList));
  return { ...kernel, body: removeDead(inList(kernel.body), kernel.checked) };
}

/** Values that rounds of loops assign once, of threadIdx.x and of counters that all threads have in common, and that nothing reads elsewhere than behind that in the round. */
function placesInRounds(body: readonly Stmt[], definitions: ReadonlyMap<number, Expr>): ReadonlyMap<number, Expr> {
  const assigned = new Map<number, Stmt[]>();
  eachStmt(body, (s) => {
    const id = defined(s);
    if (id !== undefined) assigned.set(id, [...(assigned.get(id) ?? []), s]);
  });
  const places = new Map<number, Expr>();
  eachStmt(body, (loop) => {
    if (loop.op !== 'loop') return;
    const changed = assignedIn(loop.body);
    const counters = new Set(
      loop.update.flatMap((s) => (isCount(s, assigned) && !changed.has(s.var.id) ? [s.var.id] : [])),
    );
    if (counters.size === 0) return;
    const isKnown = (e: Expr): boolean =>
      e.op === 'var' ? definitions.has(e.var.id) || counters.has(e.var.id) : exprParts(e).every(isKnown);
    for (const [k, s] of loop.body.entries()) {
      if (s.op !== 'assign' || s.var.type !== 'i32' || assigned.get(s.var.id)?.length !== 1) continue;
      if (!isKnown(s.value) || stepOf(s.value) === undefined) continue;
      const { id } = s.var;
      if (readsOf(id, body) === readsOf(id, loop.body.slice(k + 1))) places.set(id, s.value);
    }
  });
  return places;
}

/** Whether a variable is counted on by a statement and begins at a constant. */
function isCount(s: Stmt, assigned: ReadonlyMap<number, readonly Stmt[]>): s is Stmt & { op: 'assign' } {
  if (s.op !== 'assign' || s.value.op !== 'binary' || s.value.fn !== 'add' || s.value.b.op !== 'const') return false;
  const all = assigned.get(s.var.id) ?? [];
  const begins = all.some((x) => x.op === 'assign' && x.value.op === 'const');
  return begins && all.length === 2 && s.value.a.op === 'var' && s.value.a.var.id === s.var.id;
}

function readsOf(id: number, list: readonly Stmt[]): number {
  let count = 0;
  eachExpr(list, (e) => {
    if (e.op === 'var' && e.var.id === id) count++;
  });
  return count;
}

const isMultiple = (e: Expr): boolean =>
  e.op === 'binary' && e.fn === 'mul' && e.b.op === 'const' && (e.a.op !== 'special' || e.a.name === 'threadIdx.x');

/** By how much a sum grows with threadIdx.x; undefined where that is not known here. */
function stepOf(e: Expr): number | undefined {
  if (e.op === 'const' || e.op === 'param' || e.op === 'var') return 0;
  if (e.op === 'special') return e.name === 'threadIdx.x' ? 1 : e.name === 'laneId' ? undefined : 0;
  if (e.op !== 'binary') return undefined;
  const [a, b] = [stepOf(e.a), stepOf(e.b)];
  if (a === undefined || b === undefined) return undefined;
  if (e.fn === 'add') return a + b;
  if (e.fn === 'sub') return a - b;
  if (e.fn !== 'mul') return undefined;
  if (a === 0 && b === 0) return 0;
  const factor = e.b.op === 'const' ? Number(e.b.value) : e.a.op === 'const' ? Number(e.a.value) : undefined;
  return factor === undefined ? undefined : factor * (e.b.op === 'const' ? a : b);
}

function sizeOf(e: Expr): number {
  let nodes = 0;
  someExpr(e, (x) => {
    if (x.op === 'binary') nodes++;
    return false;
  });
  return nodes;
}
