/**
 * Blocks as boxes: the rows of a block, without those and without the ends of those that a guard leaves out, run with no checks.
 *
 * Of the blocks of a stencil in three dimensions most are at an edge somewhere. Where the guard is bounds on each axis by itself, what is left of a
 * block is a smaller one (`box-peeling.ts`). That is asked about once, like interior blocks are, about everything: if all that it accesses is
 * within bounds, each of its rows is run as whole vectors from where it begins. The last vector of a row begins where it ends with the row, among
 * items that have been run: what those store is what is there already.
 *
 * Where a row begins in each array is computed once for it, and counted on from vector to vector: engines would compute it again for each.
 */

import { i32, special } from '../../ir/builder.ts';
import { canFail, size } from '../../ir/measures.ts';
import type { ArraySym, Expr, MemRef, Stmt } from '../../ir/ops.ts';
import { type PeeledBox, peelBox } from '../../ir/passes/box-peeling.ts';
import { mergeGuards } from '../../ir/passes/guard-peeling.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { defined, exprParts, mapExpr, specialsIn, stmtExprs } from '../../ir/passes/walk.ts';
import { distanceOf, pushPlace } from './address.ts';
import type { BranchTarget, Local } from './assembler.ts';
import { cannotFail } from './checks.ts';
import { lanesFrom, scalar } from './expr.ts';
import { type Gen, type Pointer, shapeOf, varShape } from './gen.ts';
import { findInterior, type Interior } from './interior.ts';
import { MaskStack } from './masks.ts';
import { withPrepared } from './prepare.ts';
import { withSteady } from './row-steady.ts';
import { setItem, unmasked } from './row-vectors.ts';
import { withinLoop, withPointers, withStored } from './scope.ts';
import { emitList } from './statements.ts';
import { isOfNumber } from './stretches.ts';
import type { Box, Ends } from './sums.ts';

export interface BoxRows {
  readonly box: PeeledBox;
  /** What an item does, without checks. */
  readonly node: WorkItemLoop;
  /** Whether all items of a box may do that. */
  readonly holdsIn: Interior['holdsIn'] | undefined;
  /** Whether it is asked for more than checks, so that items of other boxes may fail in nothing. */
  readonly chooses: boolean;
  /** How many threads there are along x, where several neighbouring blocks are one box. */
  readonly span: Expr | undefined;
}

/** Accesses along a row, those of an array together that lie as far apart in each row. */
interface Group {
  /** The first one in memory, and its index in terms of what there is when a row begins. */
  readonly first: MemRef;
  readonly index: Expr;
  readonly members: readonly { readonly mem: MemRef; readonly beyond: number }[];
}

/** Places in memory that are kept for a row. */
const MOST_POINTERS = 16;
/** The size of an index. */
const LARGEST = 60;

type Plain = Stmt & { readonly op: 'assign' | 'store' };

/** The boxes that a region leaves of its blocks, where threads have a place in more than one dimension: rows are short, and there are many. */
export function boxesOf(g: Gen, node: WorkItemLoop, alone: boolean): BoxRows | undefined {
  return mayBeBoxes(g, node) ? findBoxRows(g, node, mergeGuards(node.body), alone) : undefined;
}

function mayBeBoxes({ variant }: Gen, { body }: WorkItemLoop): boolean {
  const [, height, depth] = variant.block;
  return height * depth > 1 || specialsIn(body).has('blockIdx.y');
}

/** Blocks that are one box at most: as many as one call is for. */
const MOST_BLOCKS = 16;

/**
 * Undefined where a region is something else than assignments and stores, all under one guard, or guards leave no boxes. `alone`: a block does nothing
 * else, and leaves nothing but memory behind.
 */
function findBoxRows(g: Gen, node: WorkItemLoop, list: readonly Stmt[], alone: boolean): BoxRows | undefined {
  if (g.lanes === 1 || g.warps || g.variant.memory64 || node.reduce !== undefined) return undefined;
  const last = list.at(-1);
  const own = last?.op === 'if' ? last.then : [];
  const isPlain = (s: Stmt): s is Plain => s.op === 'assign' || s.op === 'store';
  if (node.loads.length + node.saves.length > 0 || ![...own, ...list.slice(0, -1)].every(isPlain)) return undefined;
  if (last === undefined || (last.op !== 'if' && !isPlain(last))) return undefined;
  const goesOn = alone && [...list, ...own].every((s) => stmtExprs(s).every((e) => isOfNumber(g, e)));
  const span = goesOn ? named(g) : undefined;
  const box = peelBox(list, g.uniformity, g.variant.block, goesOn ? { span, blocks: MOST_BLOCKS } : {});
  if (box === undefined) return undefined;
  const all = [...box.decls, ...box.body];
  const ids = all.flatMap((s) => defined(s) ?? []);
  const kept = new Set(g.blockVars.map((v) => v.id));
  const { entry } = analyseLiveness(all);
  if (new Set(ids).size < ids.length || ids.some((id) => kept.has(id) || entry.has(id))) return undefined;
  const interior = findInterior(g, all, goesOn ? MOST_BLOCKS : 1);
  const chooses = interior?.chooses === true;
  // Where some items do something else, there are blocks that have none of them.
  if (chooses && alone) return findBoxRows(g, node, list, false);
  const body = (interior?.body ?? all).filter(isPlain);
  if (body.length < (interior?.body ?? all).length || !cannotFail(g, body)) return undefined;
  if (groupsOf(g, body).length === 0) return undefined;
  return { box, node: { ...node, body }, holdsIn: interior?.holdsIn, chooses, span };
}

/** Accesses along rows. */
function groupsOf(g: Gen, body: readonly Stmt[]): readonly Group[] {
  const values = new Map(body.flatMap((s) => (s.op === 'assign' ? [[s.var.id, s.value] as const] : [])));
  /** Whether a value is the same for a row. */
  const isSteady = (e: Expr): boolean => {
    if (e.op === 'special') return e.name !== 'threadIdx.x' && e.name !== 'laneId';
    if (e.op !== 'var') return e.op !== 'load' && !canFail(e) && exprParts(e).every(isSteady);
    const value = values.get(e.var.id);
    return value === undefined ? varShape(g, e.var) === 'U' || varShape(g, e.var) === 'G' : isSteady(value);
  };
  /** How much a value grows from item to item; undefined where that is not known. */
  const growth = (e: Expr): number | undefined => {
    if (isSteady(e)) return 0;
    if (e.op === 'special') return e.name === 'threadIdx.x' ? 1 : undefined;
    if (e.op === 'var') {
      const value = values.get(e.var.id);
      return value && growth(value);
    }
    if (e.op !== 'binary' || e.type !== 'i32' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
    const [a, b] = [growth(e.a), growth(e.b)];
    return a === undefined || b === undefined ? undefined : e.fn === 'add' ? a + b : a - b;
  };
  const early = (e: Expr): Expr =>
    mapExpr(e, (x) => {
      const value = x.op === 'var' ? values.get(x.var.id) : undefined;
      return value ? early(value) : x;
    });
  const found: { mem: MemRef; index: Expr }[] = [];
  const visit = (mem: MemRef): void => {
    const { index, array } = mem;
    if (array.space === 'local' || shapeOf(g, index) !== 'C' || growth(index) !== 1 || index.type !== 'i32') return;
    const full = early(index);
    if (size(full) <= LARGEST) found.push({ mem, index: full });
  };
  const inExpr = (e: Expr): void => {
    if (e.op === 'load') visit(e.mem);
    for (const part of exprParts(e)) inExpr(part);
  };
  for (const s of body) {
    for (const e of stmtExprs(s)) inExpr(e);
    if (s.op === 'store') visit(s.mem);
  }
  const groups: { array: ArraySym; members: { mem: MemRef; index: Expr; at: number }[] }[] = [];
  for (const one of found) {
    let at: number | undefined;
    const group = groups.find(({ array, members: [to] }) => {
      if (to === undefined || array !== one.mem.array || to.mem.scale !== one.mem.scale) return false;
      at = distanceOf({ ...one.mem, index: one.index, disp: 0 }, { ...to.mem, index: to.index, disp: 0 });
      return at !== undefined;
    });
    if (group !== undefined) group.members.push({ ...one, at: at ?? 0 });
    else groups.push({ array: one.mem.array, members: [{ ...one, at: 0 }] });
  }
  return groups.slice(0, MOST_POINTERS).map(({ members }) => {
    const first = members.reduce((a, b) => (b.at < a.at ? b : a));
    return {
      first: first.mem,
      index: first.index,
      members: members.map((m) => ({ mem: m.mem, beyond: m.at - first.at })),
    };
  });
}

/** Runs a block; `start` begins an item, `otherwise` writes blocks of which it cannot be told that nothing fails. */
export function emitBoxRows(g: Gen, rows: BoxRows, start: () => void, otherwise: () => void): void {
  const { f } = g;
  const { box, holdsIn, span } = rows;
  const blocks = f.temp('i32');
  const done = f.block();
  const empty = f.block();
  const general = f.block();
  const needs = (push: () => void): void => {
    push();
    f.op('i32.eqz');
    f.brIf(general);
  };
  if (span !== undefined) pushSpan(g, span, blocks);
  if (box.holds.op !== 'const' || box.holds.value !== true) needs(() => scalar(g, box.holds));
  const temps: Local[] = [];
  const ends = box.ends.map((own) => axisEnds(g, own, empty, temps)) as [AxisEnds, AxisEnds, AxisEnds];
  const asked: Box = [ends[0].asked, ends[1].asked, ends[2].asked];
  const holds = holdsIn?.(asked);
  if (holds !== undefined && (holds.op !== 'const' || holds.value !== true)) needs(() => scalar(g, holds));
  const nest = (axis: 0 | 1 | 2): void => {
    if (axis === 0) {
      emitRow(g, rows.node, ends[0], start);
      return;
    }
    const { lo, hi } = ends[axis];
    const local = g.at.thread[axis];
    lo();
    f.set(local);
    if (g.variant.block[axis] === 1) {
      nest((axis - 1) as 0 | 1);
      return;
    }
    const again = f.loop();
    nest((axis - 1) as 0 | 1);
    f.get(local);
    f.i32(1);
    f.op('i32.add');
    f.tee(local);
    hi();
    f.op('i32.lt_s');
    f.brIf(again);
    f.end();
  };
  nest(2);
  f.br(empty);
  f.end();
  otherwise();
  f.br(done);
  f.end();
  if (span !== undefined) {
    const [block] = g.at.block;
    f.get(block, blocks);
    f.op('i32.add');
    f.i32(1);
    f.op('i32.sub');
    f.set(block);
  }
  f.end();
  f.release('i32', blocks, ...temps);
}

/** Sets how many blocks there are, and threads along x in all of them. */
function pushSpan(g: Gen, span: Expr, blocks: Local): void {
  const { f, at } = g;
  const threads = f.local('i32');
  f.get(at.endX, at.block[0]);
  f.op('i32.sub');
  f.tee(blocks);
  f.i32(MOST_BLOCKS);
  f.get(blocks);
  f.i32(MOST_BLOCKS);
  f.op('i32.lt_u', 'select');
  f.tee(blocks);
  f.i32(g.variant.block[0]);
  f.op('i32.mul');
  f.set(threads);
  hold(g, span, threads);
}

interface AxisEnds {
  readonly lo: () => void;
  readonly hi: () => void;
  /** Where constant. */
  readonly first: number | undefined;
  readonly end: number | undefined;
  readonly asked: Ends;
}

/** Evaluates the ends of an axis; leaves for `empty` where nothing lies between them. */
function axisEnds(g: Gen, { lo, hi }: PeeledBox['ends'][0], empty: BranchTarget, temps: Local[]): AxisEnds {
  const { f } = g;
  const kept = (e: Expr): { push: () => void; known: number | undefined; local: Local | undefined } => {
    if (e.op === 'const') return { push: () => f.i32(Number(e.value)), known: Number(e.value), local: undefined };
    const local = f.temp('i32');
    temps.push(local);
    withPrepared(g, [e], [], () => scalar(g, e));
    f.set(local);
    return { push: () => f.get(local), known: undefined, local };
  };
  const [from, to] = [kept(lo), kept(hi)];
  if (from.known === undefined || to.known === undefined) {
    from.push();
    to.push();
    f.op('i32.ge_s');
    f.brIf(empty);
  }
  let last: Expr = i32((to.known ?? 0) - 1);
  if (to.local !== undefined) {
    const local = f.temp('i32');
    temps.push(local);
    to.push();
    f.i32(1);
    f.op('i32.sub');
    f.set(local);
    last = hold(g, named(g), local);
  }
  const first = from.local === undefined ? i32(from.known ?? 0) : hold(g, named(g), from.local);
  return { lo: from.push, hi: to.push, first: from.known, end: to.known, asked: { first, last } };
}

/** What a local will hold, as an expression: it is asked for by this very object. */
function named(g: Gen): Expr {
  const e: Expr = { ...special('blockDim.x') };
  g.shapes.set(e, 'G');
  return e;
}

function hold(g: Gen, e: Expr, local: Local): Expr {
  g.prepared.set(e, { type: 'i32', shape: 'G', locals: [local] });
  return e;
}

/** Runs a row from one end to the other. */
function emitRow(g: Gen, node: WorkItemLoop, ends: AxisEnds, start: () => void): void {
  ends.lo();
  g.f.set(g.at.thread[0]);
  setItem(g);
  withSteady(g, node, (body) => emitVectors(g, body, ends, start));
}

function emitVectors(g: Gen, body: readonly Stmt[], { lo, hi, first, end }: AxisEnds, start: () => void): void {
  const { f, at, lanes } = g;
  const [x] = at.thread;
  const [width] = g.variant.block;
  const groups = groupsOf(g, body);
  const locals = groups.map(({ first: mem, index }) => {
    const local = f.temp('i32');
    pushPlace(g, mem, index);
    f.set(local);
    return local;
  });
  const pointers = new Map<Expr, Pointer>();
  for (const [k, { members }] of groups.entries())
    for (const { mem, beyond } of members) pointers.set(mem.index, { mem, local: locals[k] ?? 0, beyond });
  const item = (stack: MaskStack): void => {
    start();
    emitList(g, body, stack);
  };
  /** Goes on by so many items. */
  const move = (push: () => void): void => {
    for (const [k, local] of locals.entries()) {
      f.get(local);
      push();
      const { scale } = (groups[k] as Group).first;
      f.i32(scale);
      f.op('i32.mul', 'i32.add');
      f.set(local);
    }
    f.get(x);
    push();
    f.op('i32.add');
    f.set(x);
  };
  const last = f.temp('i32');
  hi();
  f.i32(lanes);
  f.op('i32.sub');
  f.set(last);
  const isWhole = first === 0 && end === width && width % lanes === 0;
  const within = (run: () => void): void => withinLoop(g, () => withPointers(g, pointers, run));
  const all = (): void => {
    const again = f.loop();
    within(() => unmasked(g, item, () => {}));
    move(() => f.i32(lanes));
    f.get(x, last);
    f.op('i32.le_s');
    f.brIf(again);
    f.end();
  };
  if (isWhole) all();
  else {
    f.get(x, last);
    f.op('i32.le_s');
    f.if();
    all();
    f.end();
    f.get(x);
    hi();
    f.op('i32.lt_s');
    f.if();
    within(() => rest(g, item, last, lo, hi, move));
    f.end();
  }
  f.release('i32', last, ...locals);
}

/** The items of a row that its whole vectors leave: a vector that ends where the row does, or, where a row is shorter than that, begins there. */
function rest(
  g: Gen,
  item: (stack: MaskStack) => void,
  last: Local,
  lo: () => void,
  hi: () => void,
  move: (push: () => void) => void,
): void {
  const { f, at } = g;
  const [x] = at.thread;
  const [back, count] = [f.temp('i32'), f.temp('i32')];
  // How many lanes have been run, or none.
  if (g.uniformity.isAligned()) f.i32(0);
  else {
    f.get(x, last);
    f.op('i32.sub');
    f.i32(0);
    f.get(last);
    lo();
    f.op('i32.ge_s', 'select');
  }
  f.set(back);
  move(() => {
    f.i32(0);
    f.get(back);
    f.op('i32.sub');
  });
  hi();
  f.get(x);
  f.op('i32.sub');
  f.set(count);
  setItem(g);
  const stack = new MaskStack(g);
  const done = f.block();
  const isLeft = (p: number): void => {
    f.v128(lanesFrom(4 * p));
    f.get(back);
    f.op('i32x4.splat', 'i32x4.ge_s');
    f.v128(lanesFrom(4 * p));
    f.get(count);
    f.op('i32x4.splat', 'i32x4.lt_s', 'v128.and');
  };
  stack.within(done, isLeft, () => {
    withStored(g, back, () => item(stack));
    f.end();
  });
  f.release('i32', back, count);
}
