/**
 * Counters of a block: elements of shared arrays, at constant places, that all items of a region change by atomic operations whose order cannot be
 * told from what comes out, and that they do nothing else with. Lanes change a vector in a register, and what that has come to is put into memory
 * behind the region: else each vector would wait for the one before to store the counter.
 */
import { ELEM_SIZE, type Expr, isInt, type MemRef, type Stmt } from '../../ir/ops.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { eachExpr, eachStmt, written } from '../../ir/passes/walk.ts';
import { isCounted, isJoint, joinOf, neutralOf, pushJoined, putJoined } from './atomics.ts';
import type { Counted, Counter, Gen } from './gen.ts';
import { withCounters } from './scope.ts';
import { splatConst } from './vector.ts';

/** Vectors that are kept in registers for it at most. */
const MOST = 4;
/** The vectors of a region from which on it pays. */
const FEWEST = 4;

/** Writes a region, its counters in registers. */
export function withCountersOf(g: Gen, node: WorkItemLoop, body: () => void): void {
  const found = countersOf(g, node);
  if (found.length === 0) {
    body();
    return;
  }
  const { f } = g;
  const counters = found.map((of): Counter => ({ of, place: placeOf(of.mem) ?? 0, local: f.local('v128') }));
  for (const { of, local } of counters) {
    splatConst(f, 'i32', neutralOf(of));
    f.set(local);
  }
  withCounters(g, counters, body);
  for (const { of, local } of counters) putJoined(g, of, () => f.get(local));
}

/** Writes an atomic operation as a change of a register, if it is one of a counter that is in one. */
export function emitCounted(g: Gen, s: Stmt & { op: 'atomic' }): boolean {
  const counter = counterOf(g, s);
  if (counter === undefined) return false;
  const { f } = g;
  pushJoined(g, s);
  f.get(counter.local);
  f.op(joinOf(counter.of));
  f.set(counter.local);
  return true;
}

/** Whether a statement changes a register alone. */
export function counterOf(g: Gen, s: Stmt): Counter | undefined {
  if (s.op !== 'atomic' || g.counters.length === 0 || !isJoint(g, s)) return undefined;
  const place = placeOf(s.mem);
  return g.counters.find(({ of, place: at }) => of.fn === s.fn && of.mem.array === s.mem.array && at === place);
}

/** Which element it is, where that is certain, and that it is there. */
function placeOf({ array, elem, index, scale, disp, checks }: MemRef): number | undefined {
  if (index.op !== 'const' || elem !== array.elem || scale !== ELEM_SIZE[elem] || disp !== 0) return undefined;
  const isWithin = (e: Expr, extent: number): boolean =>
    e.op === 'const' && Number(e.value) >= 0 && Number(e.value) < extent;
  const holds = checks.every((c) => c.extent.op === 'const' && isWithin(c.index, Number(c.extent.value)));
  return holds && isWithin(index, array.length ?? 0) ? Number(index.value) : undefined;
}

function countersOf(g: Gen, { body }: WorkItemLoop): readonly Counted[] {
  const [width, height, depth] = g.variant.block;
  if (g.lanes === 1 || Math.floor(width / g.lanes) * height * depth < FEWEST) return [];
  const found: Counted[] = [];
  /** Arrays that are used otherwise. */
  const others = new Set<unknown>();
  eachStmt(body, (s) => {
    const mem = written(s);
    if (mem === undefined) return;
    const first = found.find(({ mem: known }) => known.array === mem.array && placeOf(known) === placeOf(mem));
    if (s.op !== 'atomic' || !isCounted(s) || mem.array.space !== 'shared' || mem.array.dynamic === true)
      others.add(mem.array);
    else if (placeOf(mem) === undefined || (first !== undefined && first.fn !== s.fn)) others.add(mem.array);
    else if (first === undefined) found.push(s);
  });
  eachExpr(body, (e: Expr) => {
    if (e.op === 'load') others.add(e.mem.array);
  });
  const own = found.filter(({ mem }) => isInt(mem.elem) && !others.has(mem.array));
  return own.length > MOST ? [] : own;
}
