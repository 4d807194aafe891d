/**
 * Rows of which every so many items do something: `if ((x + y) % 2 === colour) …`, `if (threadIdx.x % 16 === 0) …`.
 *
 * A vector runs what most of its lanes do not want. Where that is many of them, or where they store one by one into what is loaded again a row
 * further on (processors do not forward several stores to one load), the items that may want it are run as scalar code, or, where they are every
 * second one, as lanes of their own (`stepped-lanes.ts`). Which items these are is known where the remainders are those of numbers from 0 on; elsewhere
 * rows are run as vectors.
 */
import { and } from '../../ir/builder.ts';
import { codeSize, conjuncts, mayFail } from '../../ir/measures.ts';
import type { ArraySym, Expr, Stmt } from '../../ir/ops.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { defined, eachExpr, mapExpr, someExpr, someStmt, stmtExprs, written } from '../../ir/passes/walk.ts';
import { scalar } from './expr.ts';
import { type Gen, shapeOf } from './gen.ts';
import { withinLoop, withOneLane, withShift } from './scope.ts';
import { sharedVariables } from './single-items.ts';
import {
  emitSteppedBlocks,
  emitSteppedRow,
  emitSteppedVectors,
  type SteppedLanes,
  steppedLanes,
} from './stepped-lanes.ts';
import { isOfNumber } from './stretches.ts';
import { type Blocks, isOfBlock } from './turns.ts';

export interface Strided {
  /** Items that do something are so far apart. */
  readonly step: number;
  /** Of the first item of a row: `(place + threadIdx.x) % step === rest` where an item does something. */
  readonly place: Expr;
  readonly rest: Expr;
  /** Whether the remainder is a mask, which has no sign. */
  readonly masked: boolean;
  /** What holds for all items of a row, or none does anything. */
  readonly when: Expr | undefined;
  /** What such an item does. */
  readonly body: readonly Stmt[];
  /** How vectors of such items do it, where they can. */
  readonly lanes: SteppedLanes | undefined;
  /** Whether the row of the next block goes on where that of this one ends: threadIdx.x may be counted on through several. */
  readonly goesOn: boolean;
}

/** From here on vectors waste more than they are worth. */
const FAR = 8;
/** The size of what is done for an item in places that are nearer. */
const LARGEST = 120;
/** The size of what tells the first item of a row. */
const LARGEST_PLACE = 40;

/** Undefined where rows are better run as vectors. */
export function stridedRows(g: Gen, { body, loads, saves, reduce }: WorkItemLoop): Strided | undefined {
  const guard = body.at(-1);
  if (g.lanes === 1 || g.lanes > 32 || g.warps || g.variant.quick === true) return undefined;
  if (guard?.op !== 'if' || guard.else.length > 0 || reduce !== undefined || loads.length + saves.length > 0)
    return undefined;
  const values = new Map<number, Expr>();
  const shared = new Set(g.blockVars.map((v) => v.id));
  for (const s of body.slice(0, -1)) {
    if (s.op !== 'assign' || mayFail(s.value) || values.has(s.var.id) || shared.has(s.var.id)) return undefined;
    values.set(
      s.var.id,
      mapExpr(s.value, (e) => (e.op === 'var' ? (values.get(e.var.id) ?? e) : e)),
    );
  }
  const inTerms = (e: Expr): Expr | undefined => {
    const full = mapExpr(e, (x) => (x.op === 'var' ? (values.get(x.var.id) ?? x) : x));
    const known = (x: Expr): boolean => x.op !== 'var' || shared.has(x.var.id);
    return codeSizeOf(full) > LARGEST_PLACE || mayFail(full) || someExpr(full, (x) => !known(x)) ? undefined : full;
  };
  for (const part of conjuncts(guard.cond)) {
    const found = congruence(g, part);
    if (found === undefined) continue;
    const [place, rest] = [inTerms(found.place), inTerms(found.rest)];
    if (place === undefined || rest === undefined || !isForOne(guard.then, shared)) continue;
    if (found.step >= FAR || (isInPlace(guard.then) && codeSize(guard.then, LARGEST) < LARGEST)) {
      const others = conjuncts(guard.cond).filter((e) => e !== part);
      const [common, own] = [true, false].map((isSame) => others.filter((e) => isForAll(g, e, inTerms) === isSame));
      const when = common
        ?.map((e) => inTerms(e) ?? e)
        .reduce<Expr | undefined>((all, e) => (all ? and(all, e) : e), undefined);
      const each = [...body.slice(0, -1), ...guarded(guard, own ?? [])];
      const lanes = steppedLanes(g, found.step, each);
      const isSame = !isOfBlock(rest) && (when === undefined || !isOfBlock(when)) && isOfNumber(g, place);
      const goesOn =
        lanes !== undefined && isSame && !someStmt(each, (s) => !stmtExprs(s).every((e) => isOfNumber(g, e)));
      return { ...found, place, rest, when, body: each, lanes, goesOn };
    }
  }
  return undefined;
}

/** Whether a part of a guard is the same for all items of a row. */
function isForAll(g: Gen, e: Expr, inTerms: (e: Expr) => Expr | undefined): boolean {
  const shape = shapeOf(g, e);
  return (shape === 'U' || shape === 'G') && inTerms(e) !== undefined;
}

/** What is guarded, behind what is left of the guard. */
function guarded(guard: Stmt & { op: 'if' }, conds: readonly Expr[]): readonly Stmt[] {
  return conds.length === 0 ? guard.then : [{ ...guard, cond: conds.reduce(and) }];
}

function codeSizeOf(e: Expr): number {
  let nodes = 0;
  someExpr(e, () => ++nodes < 0);
  return nodes;
}

/** `a % m === r`, `(a & (m - 1)) === r` of an a that goes up by ones along the row, and an r that is the same for all of it. */
function congruence(g: Gen, e: Expr): Omit<Strided, 'body' | 'lanes' | 'when' | 'goesOn'> | undefined {
  if (e.op !== 'compare' || (e.fn !== 'eq' && e.fn !== 'ne')) return undefined;
  for (const [left, right] of [
    [e.a, e.b],
    [e.b, e.a],
  ] as const) {
    const steady = shapeOf(g, right) === 'U' || shapeOf(g, right) === 'G';
    if (left.op !== 'binary' || left.type !== 'i32' || left.b.op !== 'const' || !steady) continue;
    const masked = left.fn === 'and';
    const step = masked ? Number(left.b.value) + 1 : Number(left.b.value);
    if ((!masked && left.fn !== 'rem') || step < 2 || shapeOf(g, left.a) !== 'C') continue;
    if (masked && !Number.isInteger(Math.log2(step))) continue;
    if (e.fn === 'eq') return { step, place: left.a, rest: right, masked };
    // Of two remainders one is left.
    if (step !== 2 || right.op !== 'const' || (right.value !== 0 && right.value !== 1)) continue;
    return { step, place: left.a, rest: { ...right, value: 1 - right.value }, masked };
  }
  return undefined;
}

/** Whether an item can do it by itself, and leaves nothing but memory behind. */
function isForOne(list: readonly Stmt[], shared: ReadonlySet<number>): boolean {
  const isPlain = (s: Stmt): boolean =>
    (s.op === 'assign' || s.op === 'store' || s.op === 'atomic' || s.op === 'if') &&
    written(s)?.array.space !== 'local' &&
    !shared.has(defined(s) ?? -1);
  let own = !someStmt(list, (s) => !isPlain(s));
  eachExpr(list, (e) => {
    // Local arrays lie otherwise in vector code, and `uniform` asks all lanes.
    if ((e.op === 'load' && e.mem.array.space === 'local') || (e.op === 'unary' && e.fn === 'uniform')) own = false;
  });
  return own;
}

/** Whether something is loaded from a global array that is stored to. */
function isInPlace(list: readonly Stmt[]): boolean {
  const stored = new Set<ArraySym>();
  someStmt(list, (s) => {
    const mem = written(s);
    if (mem?.array.space === 'global') stored.add(mem.array);
    return false;
  });
  let found = false;
  eachExpr(list, (e) => {
    found ||= e.op === 'load' && stored.has(e.mem.array);
  });
  return found;
}

/** The size of items that are written one after another, and of how many rows are no more than that. */
const TOGETHER = 1100;
const MOST = 16;

/** Runs a row: `item` writes an item that does something, `otherwise` the row as vectors. */
export function emitStrided(g: Gen, strided: Strided, item: () => void, otherwise: () => void): void {
  const { f, at } = g;
  const { step } = strided;
  const [x] = at.thread;
  const [width] = g.variant.block;
  f.i32(0);
  f.set(x);
  pushKnown(g, strided);
  f.if();
  if (strided.when !== undefined) {
    scalar(g, strided.when);
    f.if();
  }
  const end = (): void => {
    if (strided.when !== undefined) f.end();
    f.else();
    otherwise();
    f.end();
  };
  if (strided.lanes !== undefined) {
    emitSteppedRow(g, strided.lanes, () => pushFirst(g, strided));
    end();
    return;
  }
  pushFirst(g, strided);
  f.set(x);
  const one = (shift: number): void =>
    withinLoop(g, () => withShift(g, shift, () => withOneLane(g, sharedVariables(g), item)));
  const size = Math.max(1, codeSize(strided.body, TOGETHER));
  const items = Math.max(1, Math.floor(width / step));
  const most = Math.max(1, Math.min(MOST, Math.floor(TOGETHER / size)));
  // As often as needed, and then as many each time.
  const together = Math.ceil(items / Math.ceil(items / most));
  /** Runs so many items at a time, for as long as there are as many. */
  const run = (count: number): void => {
    if (count * step === width) {
      for (let k = 0; k < count; k++) one(k * step);
      return;
    }
    f.get(x);
    f.i32(width - (count - 1) * step);
    f.op('i32.lt_s');
    f.if();
    const again = f.loop();
    for (let k = 0; k < count; k++) one(k * step);
    f.get(x);
    f.i32(count * step);
    f.op('i32.add');
    f.tee(x);
    f.i32(width - (count - 1) * step);
    f.op('i32.lt_s');
    f.brIf(again);
    f.end();
    f.end();
  };
  run(together);
  if (together > 1 && width !== together * step) run(1);
  end();
}

/** Runs a row of several blocks that goes on from one to the next; `otherwise` runs it block by block. */
export function emitStridedBlocks(g: Gen, strided: Strided, blocks: Blocks, otherwise: () => void): void {
  const { f, at } = g;
  const { lanes, when } = strided;
  if (lanes === undefined) throw new Error('internal error: blocks without lanes');
  f.get(blocks.first);
  f.set(at.block[0]);
  f.i32(0);
  f.set(at.thread[0]);
  pushKnown(g, strided, () => {
    f.get(blocks.end, blocks.first);
    f.op('i32.sub');
    f.i32(g.variant.block[0]);
    f.op('i32.mul');
  });
  f.if();
  if (when !== undefined) {
    scalar(g, when);
    f.if();
  }
  emitSteppedBlocks(g, lanes, () => pushFirst(g, strided), blocks);
  if (when !== undefined) f.end();
  f.else();
  otherwise();
  f.end();
}

/** Runs the items of one vector by themselves: those of a row that is at an edge elsewhere. */
export function emitStridedVector(g: Gen, strided: Strided, item: () => void, otherwise: () => void): void {
  const { f, at, lanes } = g;
  const { step } = strided;
  const [x] = at.thread;
  const inLanes = strided.lanes;
  if (inLanes === undefined && (lanes % step !== 0 || codeSize(strided.body, TOGETHER) * (lanes / step) > TOGETHER)) {
    otherwise();
    return;
  }
  pushKnown(g, strided);
  f.if();
  if (strided.when !== undefined) {
    scalar(g, strided.when);
    f.if();
  }
  if (inLanes !== undefined) emitSteppedVectors(g, inLanes, () => pushFirst(g, strided));
  else {
    const first = f.temp('i32');
    f.get(x);
    f.tee(first);
    pushFirst(g, strided);
    f.op('i32.add');
    f.set(x);
    for (let k = 0; k < lanes; k += step) withShift(g, k, () => withOneLane(g, sharedVariables(g), item));
    f.get(first);
    f.set(x);
    f.release('i32', first);
  }
  if (strided.when !== undefined) f.end();
  f.else();
  otherwise();
  f.end();
}

/**
 * Pushes whether it is known which items of the row do something: not where a remainder may be of what is negative, or no remainder at all. `width`
 * pushes how many items the row has, without which it is that of one block.
 */
function pushKnown(g: Gen, { step, place, rest, masked }: Strided, width?: () => void): void {
  const { f } = g;
  scalar(g, rest);
  f.i32(step);
  f.op('i32.lt_u');
  if (masked) return;
  scalar(g, place);
  f.i32(2 ** 31 - (width === undefined ? g.variant.block[0] : 0));
  if (width !== undefined) {
    width();
    f.op('i32.sub');
  }
  f.op('i32.lt_u', 'i32.and');
}

/** Pushes the first such item: what is missing from the remainder of the first of the row. */
function pushFirst(g: Gen, { step, place, rest, masked }: Strided): void {
  const { f } = g;
  scalar(g, rest);
  if (masked) {
    scalar(g, place);
    f.op('i32.sub');
    f.i32(step - 1);
    f.op('i32.and');
    return;
  }
  f.i32(step);
  f.op('i32.add');
  scalar(g, place);
  f.i32(step);
  f.op('i32.rem_u', 'i32.sub');
  f.i32(step);
  f.op('i32.rem_u');
}
