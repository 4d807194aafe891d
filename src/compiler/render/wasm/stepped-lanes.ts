/**
 * Lanes that are every other item of a row, for rows of which only those do something: see `strided-rows.ts`.
 *
 * Item 2 k + first of a row is lane k: in what it does, threadIdx.x is written as `2 * threadIdx.x + first`, and vectors of half as many threads run
 * that. What they load lies two elements apart, which a shuffle of two vectors brings together; they store lane by lane, as the elements in between are
 * other threads'.
 */
import { add, i32, mul, read } from '../../ir/builder.ts';
import { ELEM_SIZE, type Expr, type MemRef, type Stmt, type Var } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { renamed } from '../../ir/passes/rename.ts';
import { analyseUniformity, type Uniformity } from '../../ir/passes/uniformity.ts';
import {
  assignedIn,
  eachExpr,
  eachStmt,
  mapLists,
  mapStmtExprs,
  someStmt,
  specialsIn,
  written,
} from '../../ir/passes/walk.ts';
import { cannotFail } from './checks.ts';
import { type Gen, varLocals } from './gen.ts';
import { LaneFacts } from './lane-facts.ts';
import { MaskStack } from './masks.ts';
import { type OtherLanes, withFirst, withinLoop, withMask, withOtherLanes, withShift } from './scope.ts';
import { emitList } from './statements.ts';
import { definitionsOf, ranking } from './structure.ts';
import type { Blocks } from './turns.ts';

/** Items that are so far apart are lanes, in vectors of so many. */
export const STEP = 2;
const LANES = 4;
/** Vectors that are written one after another: of a row, and in each round of a loop over several blocks. */
const TOGETHER = 8;
const IN_ROUND = 4;

export interface SteppedLanes {
  readonly lanes: OtherLanes;
  /** The first item of the row that does something: 0 or 1. */
  readonly first: Var;
  /** What lane k does as threadIdx.x. */
  readonly body: readonly Stmt[];
}

/** Undefined where items are better run one by one: where they load from all over memory, or might fail. */
export function steppedLanes(g: Gen, step: number, body: readonly Stmt[]): SteppedLanes | undefined {
  const [width, height, depth] = g.variant.block;
  const [any] = g.kernel.vars;
  if (step !== STEP || width % (STEP * LANES) !== 0 || g.lanes % (STEP * LANES) !== 0) return undefined;
  if (any === undefined || g.variant.memory64 || !cannotFail(g, body)) return undefined;
  // The lane of an item is not where it is in the vector.
  if (specialsIn(body).has('laneId')) return undefined;
  // Read before it is assigned, a variable is 0 in each item.
  const { entry } = analyseLiveness(body);
  if ([...assignedIn(body)].some((id) => entry.has(id))) return undefined;
  const first: Var = { ...g.uniformity.another(any), name: '%first', type: 'i32' };
  const own = stepped(g, first, body);
  const kernel = { ...g.kernel, body: own };
  const uniformity = analyseUniformity(kernel, { block: [width / STEP, height, depth], lanes: LANES });
  const laneFacts = new LaneFacts(kernel, uniformity, LANES);
  if (!isNear(own, uniformity, laneFacts)) return undefined;
  const lanes: OtherLanes = {
    lanes: LANES,
    uniformity,
    hoisted: g.hoisted,
    shapes: new Map(),
    laneFacts,
    vars: g.vars,
    widths: undefined,
    definitions: definitionsOf(own, new Set([first.id])),
    rank: ranking(own),
  };
  return { lanes, first, body: own };
}

/** Statements by variables of their own in terms of the lanes, without the checks, all of which hold. */
function stepped(g: Gen, first: Var, body: readonly Stmt[]): readonly Stmt[] {
  const copies = new Map<number, Var>();
  eachStmt(body, (s) => {
    if (s.op === 'assign' && !copies.has(s.var.id)) copies.set(s.var.id, g.uniformity.another(s.var));
  });
  const unchecked = <T extends { readonly mem: MemRef }>(of: T): T =>
    of.mem.checks.length === 0 ? of : { ...of, mem: { ...of.mem, checks: [] } };
  const place = (e: Expr): Expr => {
    if (e.op === 'load') return unchecked(e);
    return e.op === 'special' && e.name === 'threadIdx.x' ? add(mul(e, i32(STEP)), read(first)) : e;
  };
  const change = (list: readonly Stmt[]): readonly Stmt[] =>
    list.map((s) => {
      const own = mapLists(mapStmtExprs(s, place), change);
      return own.op === 'store' ? unchecked(own) : own;
    });
  return change(renamed(body, copies));
}

/** Whether all accesses are to elements of four bytes, at distances from each other that are known. */
function isNear(body: readonly Stmt[], uniformity: Uniformity, facts: LaneFacts): boolean {
  const isNearby = ({ elem, index }: MemRef): boolean => {
    const offsets = facts.offsets(index);
    return ELEM_SIZE[elem] === 4 && offsets !== undefined && offsets.every((x) => Math.abs(x) <= STEP * LANES);
  };
  let near = !someStmt(body, (s) => {
    const mem = written(s);
    return (mem !== undefined && !isNearby(mem)) || (s.op === 'if' && uniformity.divergence(s) === 'V');
  });
  eachExpr(body, (e) => {
    near &&= e.op !== 'load' || isNearby(e.mem);
  });
  return near;
}

/** Runs a row, of which `first` pushes the first item that does something: the local of threadIdx.x is changed. */
export function emitSteppedRow(g: Gen, s: SteppedLanes, first: () => void): void {
  const { f, at } = g;
  const [x] = at.thread;
  const lanes = g.variant.block[0] / STEP;
  first();
  withOtherLanes(g, s.lanes, () => {
    f.set(varLocals(g, s.first)[0] ?? 0);
    if (lanes / LANES <= TOGETHER) {
      for (let k = 0; k < lanes; k += LANES) {
        f.i32(k);
        f.set(x);
        withFirst(g, k, () => vector(g, s));
      }
      return;
    }
    f.i32(0);
    f.set(x);
    const again = f.loop();
    withinLoop(g, () => vector(g, s));
    f.get(x);
    f.i32(LANES);
    f.op('i32.add');
    f.tee(x);
    f.i32(lanes);
    f.op('i32.lt_s');
    f.brIf(again);
    f.end();
  });
}

/** Runs a row of several blocks, as one on which threadIdx.x is counted on. */
export function emitSteppedBlocks(g: Gen, s: SteppedLanes, first: () => void, { first: from, end }: Blocks): void {
  const { f, at } = g;
  const [x] = at.thread;
  const lanes = g.variant.block[0] / STEP;
  let together = Math.min(lanes / LANES, IN_ROUND);
  while ((lanes / LANES) % together > 0) together--;
  const count = f.temp('i32');
  f.get(end, from);
  f.op('i32.sub');
  f.i32(lanes);
  f.op('i32.mul');
  f.set(count);
  first();
  withOtherLanes(g, s.lanes, () => {
    f.set(varLocals(g, s.first)[0] ?? 0);
    f.i32(0);
    f.set(x);
    const again = f.loop();
    for (let k = 0; k < together; k++) withinLoop(g, () => withShift(g, k * LANES, () => vector(g, s)));
    f.get(x);
    f.i32(together * LANES);
    f.op('i32.add');
    f.tee(x);
    f.get(count);
    f.op('i32.lt_u');
    f.brIf(again);
    f.end();
  });
  f.release('i32', count);
}

/** Runs the items of a vector of the row, which begins at the local of threadIdx.x: `first` pushes which of them is the first that does something. */
export function emitSteppedVectors(g: Gen, s: SteppedLanes, first: () => void): void {
  const { f, at, lanes } = g;
  const [x] = at.thread;
  first();
  withOtherLanes(g, s.lanes, () => {
    f.set(varLocals(g, s.first)[0] ?? 0);
    const before = f.temp('i32');
    f.get(x);
    f.tee(before);
    f.i32(1);
    f.op('i32.shr_u');
    f.set(x);
    for (let k = 0; k < lanes / STEP; k += LANES) {
      if (k > 0) {
        f.get(x);
        f.i32(LANES);
        f.op('i32.add');
        f.set(x);
      }
      vector(g, s);
    }
    f.get(before);
    f.set(x);
    f.release('i32', before);
  });
}

function vector(g: Gen, { body }: SteppedLanes): void {
  withMask(g, null, () => emitList(g, body, new MaskStack(g)));
}
