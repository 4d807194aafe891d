/**
 * Windows of rows, `for (j < 8) for (i < 8) sum += …`, whose rows are whole vectors: all of it is one run of vectors, with one question ahead of it.
 *
 * Where a row begins in an array grows by the same from row to row, so that it is computed once and counted on.
 */
import type { Loop } from '../../ir/loops.ts';
import type { Expr, MemRef } from '../../ir/ops.ts';
import { sameExpr } from '../../ir/same.ts';
import { pushPlace } from './address.ts';
import type { Local } from './assembler.ts';
import { scalar } from './expr.ts';
import { type Gen, type Pointer, varLocals } from './gen.ts';
import type { Asked } from './laned-rounds.ts';
import { type Along, askAll, type Count, distance, otherLanes, pushCount, step } from './round-lanes.ts';
import { begin, emitRow, finish, type List, valuesOf, vector } from './rounds.ts';
import { growth, lanesOf, type Window } from './row-sums.ts';
import { withinLoop, withOtherLanes, withPointers } from './scope.ts';

/** Vectors of a window that are written one after another: engines then compute what their addresses have in common once. */
const MOST_WRITTEN = 16;
/** Vectors of a row that are. */
const MOST_VECTORS = 4;
/** Places that are counted on: each takes two registers. */
const MOST_PLACES = 4;

/** Writes what goes ahead of a loop whose rounds may be lanes, if anything; `list` writes statements. */
export function emitRounds(g: Gen, { label }: Loop, list: List): void {
  const row = g.rows?.rows.get(label);
  const window = g.rows?.windows.get(label);
  if (window !== undefined) emitWindow(g, window, list);
  else if (row !== undefined) emitRow(g, row, list);
}

/** All of a window: the loop around its rows is left with nothing to do. */
function emitWindow(g: Gen, window: Window, list: List): void {
  const { f } = g;
  const { row, bound, first, start, rounds } = window;
  const lanes = lanesOf(row);
  const [outer, inner] = [window.counter, row.counter].map((v) => varLocals(g, v)[0] as Local) as [Local, Local];
  const other = otherLanes(g, row, valuesOf(row), lanes);
  const vectors = rounds / lanes;
  const done = f.block();
  const rows = distance(g, bound, outer, first);
  if (typeof rows !== 'number' || rows < 1) {
    pushCount(g, rows);
    f.i64(1);
    f.op('i64.lt_s');
    f.brIf(done);
  }
  f.i32(start);
  f.set(inner);
  askAll(g, row, (asked) => along(g, window, asked, outer, rows), done);
  const totals = begin(g, row, other, typeof rows === 'number' ? rows * vectors : undefined);
  const places = vectors > MOST_VECTORS ? [] : placesOf(g, window, outer);
  const one = (pointers: Gen['pointers']): void => {
    withinLoop(g, () => withPointers(g, pointers, () => withOtherLanes(g, other, () => vector(g, row, totals, list))));
    step(g, inner, lanes);
  };
  const oneRow = (): void => {
    list(window.ahead);
    f.i32(start);
    f.set(inner);
    if (vectors <= MOST_VECTORS) for (let k = 0; k < vectors; k++) one(pointersTo(places, k * lanes));
    else {
      const next = f.loop();
      one(g.pointers);
      f.get(inner);
      f.i32(start + rounds);
      f.op('i32.lt_s');
      f.brIf(next);
      f.end();
    }
  };
  if (typeof rows === 'number' && rows * Math.min(vectors, MOST_VECTORS) <= MOST_WRITTEN) {
    for (let k = 0; k < rows; k++) {
      f.i32((first ?? 0) + k);
      f.set(outer);
      if (k > 0) moveOn(g, places);
      oneRow();
    }
    step(g, outer, 1);
  } else {
    const again = f.loop();
    oneRow();
    moveOn(g, places);
    step(g, outer, 1);
    f.get(outer);
    scalar(g, bound);
    f.op('i32.lt_s');
    f.brIf(again);
    f.end();
  }
  finish(g, totals);
  f.end();
  for (const { local, by } of places) f.release('i32', local, ...(by === undefined ? [] : [by]));
}

/** How the index of a check changes in a window. */
function along(g: Gen, window: Window, { index }: Asked, outer: Local, rows: Count): Along {
  const { f } = g;
  const { row, rounds } = window;
  const grows = growth(window, index);
  const counts = [...(grows === 'ones' ? [rows] : []), ...(row.shape(index) === 'C' ? [rounds] : [])];
  if (grows !== 'even') return { counts };
  const even = (): void => {
    nextRow(g, outer, () => scalar(g, index));
    scalar(g, index);
    f.op('i32.sub', 'i64.extend_i32_s');
    pushCount(g, rows);
    f.i64(1);
    f.op('i64.sub', 'i64.mul');
  };
  return { counts, even };
}

/** Writes code as of the next row. */
function nextRow(g: Gen, outer: Local, write: () => void): void {
  step(g, outer, 1);
  write();
  step(g, outer, -1);
}

/** Where a row begins in an array, and by how many bytes the next one is further on. */
interface Place {
  readonly mem: MemRef;
  readonly index: Expr;
  readonly loads: MemRef[];
  readonly local: Local;
  /** The local that says it; none where it is known. */
  readonly by: Local | undefined;
  readonly known: number;
}

/** The places of the first row; none where there are too many. */
function placesOf(g: Gen, window: Window, outer: Local): readonly Place[] {
  const { f } = g;
  const { row } = window;
  const groups: { mem: MemRef; index: Expr; loads: MemRef[] }[] = [];
  if (g.variant.memory64) return [];
  for (const [{ mem }, index] of row.indices) {
    if (row.shape(mem.index) !== 'C' || growth(window, index) === undefined) continue;
    const same = groups.find((x) => x.mem.array === mem.array && x.mem.scale === mem.scale && sameExpr(x.index, index));
    if (same === undefined) groups.push({ mem, index, loads: [mem] });
    else same.loads.push(mem);
  }
  if (groups.length > MOST_PLACES) return [];
  return groups.map((group) => {
    const { mem, index } = group;
    const local = f.temp('i32');
    pushPlace(g, mem, index);
    f.set(local);
    const grows = growth(window, index);
    const known = grows === 'ones' ? mem.scale : 0;
    if (grows !== 'even') return { ...group, local, by: undefined, known };
    const by = f.temp('i32');
    nextRow(g, outer, () => pushPlace(g, mem, index));
    f.get(local);
    f.op('i32.sub');
    f.set(by);
    return { ...group, local, by, known };
  });
}

/** The pointers of a vector that begins so many rounds into its row. */
function pointersTo(places: readonly Place[], rounds: number): ReadonlyMap<Expr, Pointer> {
  return new Map(
    places.flatMap(({ loads, local }) =>
      loads.map((mem) => [mem.index, { mem, local, beyond: rounds * mem.scale }] as const),
    ),
  );
}

/** Goes on to the next row. */
function moveOn({ f }: Gen, places: readonly Place[]): void {
  for (const { local, by, known } of places) {
    if (by === undefined && known === 0) continue;
    f.get(local);
    if (by === undefined) f.i32(known);
    else f.get(by);
    f.op('i32.add');
    f.set(local);
  }
}
