/**
 * Rounds of a loop as the lanes of vectors, in code that runs thread by thread: sums of what lies in a row (`row-sums.ts`).
 *
 * As many whole vectors of rounds as there are go ahead of the loop, if all of their checks hold; the loop itself does what is left,
 * and all of it where some check may fail, so that reports of faults are what they are anyhow. Sums are kept in lanes of 32 bits:
 * bytes and words are added in pairs, products of words by the instruction that does both.
 */
import type { Expr, ValueType } from '../../ir/ops.ts';
import { ANY } from '../../ir/passes/integer-ranges.ts';
import { fits, fitsSign, type LaneBits } from '../../ir/passes/lane-widths.ts';
import type { Local } from './assembler.ts';
import { lanesPart, part, scalar } from './expr.ts';
import { type Gen, isVector, partsOf, varLocals } from './gen.ts';
import type { PlainOp } from './opcodes.ts';
import { withPrepared } from './prepare.ts';
import { askAll, distance, otherLanes, pushCount, step } from './round-lanes.ts';
import { lanesOf, type RowSum, type Sum } from './row-sums.ts';
import { type OtherLanes, withinLoop, withOtherLanes } from './scope.ts';

/** What lanes have come to so far, in a vector. */
interface Total {
  readonly sum: Sum;
  readonly local: Local;
  /** Whether its lanes are of 16 bits, which hold all that there will be: as numbers with a sign, or without. */
  readonly narrow: 's' | 'u' | undefined;
}
export type Totals = readonly Total[];
export type List = (parts: RowSum['parts']) => void;

export const valuesOf = ({ sums }: RowSum): readonly Expr[] => sums.map((sum) => sum.value);

/** Whole vectors of a row, ahead of its loop; `list` writes statements. */
export function emitRow(g: Gen, row: RowSum, list: List): void {
  const { f } = g;
  const lanes = lanesOf(row);
  const counter = varLocals(g, row.counter)[0] as Local;
  const other = otherLanes(g, row, valuesOf(row), lanes);
  const done = f.block();
  const rounds = distance(g, row.bound, counter);
  pushCount(g, rounds);
  f.i64(lanes);
  f.op('i64.lt_s');
  f.brIf(done);
  askAll(g, row, ({ index }) => ({ counts: row.shape(index) === 'C' ? [rounds] : [] }), done);
  const last = f.temp('i32');
  scalar(g, row.bound);
  f.i32(lanes);
  f.op('i32.sub');
  f.set(last);
  const totals = begin(g, row, other);
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

/** Vectors for the sums, which hold nothing yet, or nothing but the sum itself. `vectors`: how many of rounds there will be, if that is known. */
export function begin(g: Gen, row: RowSum, other: OtherLanes, vectors?: number): Totals {
  const { f } = g;
  return row.sums.map((sum) => {
    const local = f.temp('v128');
    if (isAdded(sum)) f.v128([0, 0, 0, 0]);
    else {
      f.get(varLocals(g, sum.var)[0] as Local);
      f.op('i32x4.splat');
    }
    f.set(local);
    let narrow: Total['narrow'];
    withOtherLanes(g, other, () => {
      narrow = vectors === undefined ? undefined : narrowTotal(g, sum, vectors);
    });
    return { sum, local, narrow };
  });
}

/** Whether lanes of 16 bits hold a sum of so many vectors, and with which sign. */
function narrowTotal(g: Gen, { fn, value }: Sum, vectors: number): Total['narrow'] {
  if (fn !== 'add' || wordsOf(g, value) !== undefined) return undefined;
  const bits = bitsOf(g, value);
  if (bits === 32) return undefined;
  const range = g.widths?.ranges.of(value) ?? ANY;
  // Lanes get two values from a vector of bytes, and from words one of each part.
  const times = vectors * (bits === 8 ? 2 : partsOf(g, bits));
  return fits([range[0] * times, range[1] * times], 16);
}

/** Whether what a sum is at first may be put to it last, rather than into each lane. */
const isAdded = ({ fn }: Sum): boolean => fn === 'add' || fn === 'sub' || fn === 'xor';

/** What a vector of rounds does. */
export function vector(g: Gen, row: RowSum, totals: Totals, list: List): void {
  list(row.parts);
  for (const total of totals) addUp(g, total);
}

/** Adds the values of all lanes to those of a sum, whichever lane they come to. */
function addUp(g: Gen, { sum: { fn, value }, local: total, narrow }: Total): void {
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
  const bits = bitsOf(g, value);
  // What could be either is taken to have a sign, which takes processors one instruction.
  const sign = bits < 32 && fitsSign(g.widths?.ranges.of(value) ?? ANY, bits, 's') ? 's' : 'u';
  const pairs = (p: number): void => {
    lanesPart(g, value, bits, p);
    if (bits === 8) f.op(`i16x8.extadd_pairwise_i8x16_${sign}`);
    if (bits < 32 && narrow === undefined) f.op(`i32x4.extadd_pairwise_i16x8_${bits === 8 ? 's' : sign}`);
  };
  const adds = narrow === undefined ? op : 'i16x8.add';
  withPrepared(g, [value], [], () => each(partsOf(g, bits), adds, pairs), undefined, bits);
}

/** The bits of the lanes in which a value is added up. */
function bitsOf(g: Gen, value: Expr): LaneBits {
  return isVector(g, value) ? (g.widths?.of(value) ?? 32) : 32;
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
export function finish(g: Gen, totals: Totals): void {
  const { f } = g;
  for (const { sum, local: total, narrow } of totals) {
    if (narrow !== undefined) {
      f.get(total);
      f.op(`i32x4.extadd_pairwise_i16x8_${narrow}`);
      f.set(total);
    }
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
  f.release('v128', ...totals.map(({ local }) => local));
}

/** The operation on lanes of 32 bits. */
function combining(fn: Sum['fn'], type: ValueType): PlainOp {
  if (fn === 'add' || fn === 'sub') return `i32x4.${fn}`;
  return fn === 'min' || fn === 'max' ? `i32x4.${fn}_${type === 'u32' ? 'u' : 's'}` : `v128.${fn}`;
}
