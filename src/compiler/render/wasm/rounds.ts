/**
 * Rounds of a loop as the lanes of vectors, in code that runs thread by thread: sums of what lies in a row (`row-sums.ts`).
 *
 * As many whole vectors of rounds as there are go ahead of the loop, if all of their checks hold; the loop itself does what is left,
 * and all of it where some check may fail, so that reports of faults are what they are anyhow. Sums are kept in lanes of 32 bits:
 * bytes and words are added in pairs, products of words by the instruction that does both.
 */
import type { Loop } from '../../ir/loops.ts';
import type { Expr, ValueType, Var } from '../../ir/ops.ts';
import { ANY } from '../../ir/passes/integer-ranges.ts';
import { fitsSign, type LaneBits, LaneWidths } from '../../ir/passes/lane-widths.ts';
import type { Uniformity } from '../../ir/passes/uniformity.ts';
import { eachPart } from '../../ir/passes/walk.ts';
import type { BranchTarget, Local } from './assembler.ts';
import { lanesPart, part, scalar } from './expr.ts';
import { type Gen, isVector, partsOf, varLocals } from './gen.ts';
import { LaneFacts } from './lane-facts.ts';
import type { PlainOp } from './opcodes.ts';
import { withPrepared } from './prepare.ts';
import { type Asked, lanesOf, type RowSum, type Sum, type Window, windowShape } from './row-sums.ts';
import { type OtherLanes, withinLoop, withOtherLanes } from './scope.ts';

type Totals = readonly (readonly [Sum, Local])[];
type List = (parts: RowSum['parts']) => void;

/** Writes what goes ahead of a loop, if anything; `list` writes statements. */
export function emitRounds(g: Gen, { label }: Loop, list: List): void {
  const row = g.rows?.rows.get(label);
  const window = g.rows?.windows.get(label);
  if (window !== undefined) emitWindow(g, window, list);
  else if (row !== undefined) emitRow(g, row, list);
}

/** Whole vectors of a row. */
function emitRow(g: Gen, row: RowSum, list: List): void {
  const { f } = g;
  const lanes = lanesOf(row);
  const counter = varLocals(g, row.counter)[0] as Local;
  const other = otherLanes(g, row, lanes);
  const done = f.block();
  const rounds = distance(g, row.bound, counter);
  rounds();
  f.i64(lanes);
  f.op('i64.lt_s');
  f.brIf(done);
  askAll(g, row, ({ index }) => (row.shape(index) === 'C' ? [rounds] : []), done);
  const last = f.temp('i32');
  scalar(g, row.bound);
  f.i32(lanes);
  f.op('i32.sub');
  f.set(last);
  const totals = begin(g, row);
  const again = f.loop();
  withinLoop(g, () => withOtherLanes(g, other, () => vector(g, row, totals, list)));
  step(g, counter, lanes);
  f.get(counter, last);
  f.op('i32.le_s');
  f.brIf(again);
  f.end();
  finish(g, totals);
  f.end();
  f.release('i32', last);
}

/** Rows of a window that are written one after another: engines then compute what their addresses have in common once. */
const MOST_ROWS = 8;
/** Vectors of a row that are written one after another. */
const MOST_VECTORS = 4;

/** All of a window: the loop around its rows is left with nothing to do. */
function emitWindow(g: Gen, window: Window, list: List): void {
  const { f } = g;
  const { row, bound, first, start, rounds } = window;
  const lanes = lanesOf(row);
  const [outer, inner] = [window.counter, row.counter].map((v) => varLocals(g, v)[0] as Local) as [Local, Local];
  const other = otherLanes(g, row, lanes);
  const done = f.block();
  const rows = distance(g, bound, outer);
  rows();
  f.i64(1);
  f.op('i64.lt_s');
  f.brIf(done);
  f.i32(start);
  f.set(inner);
  const along = ({ index }: Asked): (() => void)[] => [
    ...(windowShape(window, index) === 'C' ? [rows] : []),
    ...(row.shape(index) === 'C' ? [(): void => f.i64(rounds)] : []),
  ];
  askAll(g, row, along, done);
  const totals = begin(g, row);
  const vectors = rounds / lanes;
  const one = (): void => {
    withinLoop(g, () => withOtherLanes(g, other, () => vector(g, row, totals, list)));
    step(g, inner, lanes);
  };
  const oneRow = (): void => {
    f.i32(start);
    f.set(inner);
    if (vectors <= MOST_VECTORS) for (let k = 0; k < vectors; k++) one();
    else {
      const next = f.loop();
      one();
      f.get(inner);
      f.i32(start + rounds);
      f.op('i32.lt_s');
      f.brIf(next);
      f.end();
    }
  };
  const count = bound.op === 'const' && first !== undefined ? Number(bound.value) - first : MOST_ROWS + 1;
  if (count <= MOST_ROWS) {
    for (let k = 0; k < count; k++) {
      f.i32((first ?? 0) + k);
      f.set(outer);
      oneRow();
    }
    step(g, outer, 1);
  } else {
    const again = f.loop();
    oneRow();
    step(g, outer, 1);
    f.get(outer);
    scalar(g, bound);
    f.op('i32.lt_s');
    f.brIf(again);
    f.end();
  }
  finish(g, totals);
  f.end();
}

function step({ f }: Gen, counter: Local, by: number): void {
  f.get(counter);
  f.i32(by);
  f.op('i32.add');
  f.set(counter);
}

/** Pushes how many rounds a loop has yet to make, in 64 bits. */
function distance(g: Gen, bound: Expr, counter: Local): () => void {
  const { f } = g;
  return () => {
    scalar(g, bound);
    f.op('i64.extend_i32_s');
    f.get(counter);
    f.op('i64.extend_i32_s', 'i64.sub');
  };
}

/**
 * Leaves where some check may fail. What they ask of is there for the first round; `along` says how many rounds there are of each loop in which it
 * counts up. From 0 on and no further than the extent, nothing wraps in between.
 */
function askAll(g: Gen, row: RowSum, along: (asked: Asked) => readonly (() => void)[], done: BranchTarget): void {
  const { f } = g;
  if (!g.kernel.checked) return;
  for (const asked of row.checks) {
    const { check, index } = asked;
    if (g.eliminated.has(check) || g.hoisted.has(check)) continue;
    const counts = along(asked);
    scalar(g, index);
    if (counts.length === 0) {
      scalar(g, check.extent);
      f.op('i32.ge_u');
      f.brIf(done);
      continue;
    }
    f.i32(0);
    f.op('i32.lt_s');
    f.brIf(done);
    scalar(g, index);
    f.op('i64.extend_i32_s');
    for (const push of counts) {
      push();
      f.op('i64.add');
    }
    f.i64(counts.length - 1);
    f.op('i64.sub');
    scalar(g, check.extent);
    f.op('i64.extend_i32_s', 'i64.gt_s');
    f.brIf(done);
  }
}

/** Vectors for the sums, which hold nothing yet, or nothing but the sum itself. */
function begin(g: Gen, row: RowSum): Totals {
  const { f } = g;
  return row.sums.map((sum) => {
    const total = f.temp('v128');
    if (isAdded(sum)) f.v128([0, 0, 0, 0]);
    else {
      f.get(varLocals(g, sum.var)[0] as Local);
      f.op('i32x4.splat');
    }
    f.set(total);
    return [sum, total];
  });
}

/** Whether what a sum is at first may be put to it last, rather than into each lane. */
const isAdded = ({ fn }: Sum): boolean => fn === 'add' || fn === 'sub' || fn === 'xor';

/** What a vector of rounds does. */
function vector(g: Gen, row: RowSum, totals: Totals, list: List): void {
  list(row.parts);
  for (const [sum, total] of totals) addUp(g, sum, total);
}

/** The state in which expressions are written whose lanes are rounds. */
function otherLanes(g: Gen, row: RowSum, lanes: 4 | 8 | 16): OtherLanes {
  const own = new Set(row.parts.map((s) => s.var.id));
  const { shape, varShape } = row;
  const read = (e: Expr): void => {
    if (e.op === 'var' && !own.has(e.var.id)) varLocals(g, e.var);
  };
  for (const { value } of [...row.parts, ...row.sums]) eachPart(value, read);
  const uniformity: Uniformity = {
    shape,
    varShape,
    divergence: () => 'G',
    needsBlend: () => false,
    parting: () => undefined,
    isAligned: () => false,
    isKeptOnce: () => false,
    why: () => [],
    another: (v) => v,
    inPlaceOf: () => undefined,
  };
  return {
    lanes,
    uniformity,
    definitions: g.definitions,
    hoisted: new Set([...g.hoisted, ...row.checks.map(({ check }) => check)]),
    rank: g.rank,
    shapes: new Map(),
    laneFacts: new LaneFacts({ ...g.kernel, body: [] }, uniformity, lanes),
    vars: new Map([...g.vars].filter(([id]) => !own.has(id))),
    widths:
      lanes < 8
        ? undefined
        : new LaneWidths(g.kernel, {
            shape,
            mayNarrow: (v: Var) => own.has(v.id) && varShape(v) === 'V',
            least: lanes === 16 ? 8 : 16,
          }),
  };
}

/** Adds the values of all lanes to those of a sum, whichever lane they come to. */
function addUp(g: Gen, { fn, value }: Sum, total: Local): void {
  const { f } = g;
  const each = (count: number, op: PlainOp, push: (p: number) => void): void => {
    for (let p = 0; p < count; p++) {
      f.get(total);
      push(p);
      f.op(op);
      f.set(total);
    }
  };
  if (fn !== 'add' && fn !== 'sub') {
    withPrepared(g, [value], [], () => each(g.lanes / 4, combining(fn, value.type), (p) => part(g, value, p)));
    return;
  }
  const op = combining(fn, value.type);
  const factors = wordsOf(g, value);
  if (factors !== undefined) {
    const products = (p: number): void => {
      for (const e of factors) lanesPart(g, e, 16, p);
      f.op('i32x4.dot_i16x8_s');
    };
    withPrepared(g, factors, [], () => each(partsOf(g, 16), op, products), undefined, 16);
    return;
  }
  const bits: LaneBits = isVector(g, value) ? (g.widths?.of(value) ?? 32) : 32;
  // What could be either is taken to have a sign, which takes processors one instruction.
  const sign = bits < 32 && fitsSign(g.widths?.ranges.of(value) ?? ANY, bits, 's') ? 's' : 'u';
  const pairs = (p: number): void => {
    lanesPart(g, value, bits, p);
    if (bits === 8) f.op(`i16x8.extadd_pairwise_i8x16_${sign}`);
    if (bits < 32) f.op(`i32x4.extadd_pairwise_i16x8_${bits === 8 ? 's' : sign}`);
  };
  withPrepared(g, [value], [], () => each(partsOf(g, bits), op, pairs), undefined, bits);
}

/** The factors of a product, where both are words with a sign. */
function wordsOf(g: Gen, value: Expr): readonly [Expr, Expr] | undefined {
  const { widths } = g;
  if (widths === undefined || value.op !== 'binary' || value.fn !== 'mul') return undefined;
  const isWord = (e: Expr): boolean =>
    isVector(g, e) && widths.isComputable(e, 16) && fitsSign(widths.ranges.of(e), 16, 's');
  return isWord(value.a) && isWord(value.b) ? [value.a, value.b] : undefined;
}

/** Puts what the lanes have come to into the variables. */
function finish(g: Gen, totals: Totals): void {
  const { f } = g;
  for (const [sum, total] of totals) {
    const own = varLocals(g, sum.var)[0] as Local;
    const op = combining(sum.fn === 'sub' ? 'add' : sum.fn, sum.var.type);
    for (const bytes of [8, 4]) {
      f.get(total, total, total);
      f.shuffle(Array.from({ length: 16 }, (_, at) => (at + bytes) % 16));
      f.op(op);
      f.set(total);
    }
    if (isAdded(sum)) f.get(own);
    f.get(total);
    f.lane('i32x4.extract_lane', 0);
    if (isAdded(sum)) f.op(sum.fn === 'xor' ? 'i32.xor' : 'i32.add');
    f.set(own);
  }
  f.release('v128', ...totals.map(([, total]) => total));
}

/** The operation on lanes of 32 bits. */
function combining(fn: Sum['fn'], type: ValueType): PlainOp {
  if (fn === 'add' || fn === 'sub') return `i32x4.${fn}`;
  return fn === 'min' || fn === 'max' ? `i32x4.${fn}_${type === 'u32' ? 'u' : 's'}` : `v128.${fn}`;
}
