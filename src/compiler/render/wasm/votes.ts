/**
 * Votes and matches among the lanes of a warp, where a vector is a warp: bits of masks, one a lane.
 *
 * All lanes that take part get the same answer, in one value, unless their masks differ; `matchAny` has one for each lane.
 */
import type { Expr } from '../../ir/ops.ts';
import { isFull } from '../../ir/passes/uniformity.ts';
import type { Local } from './assembler.ts';
import { type Exchange, emitShuffle, isSteady, keepParts, pushElement, setParts, storeForAll } from './exchange.ts';
import { part, scalar } from './expr.ts';
import { type Gen, isWide, maskParts, varLocals, varShape } from './gen.ts';
import { packLow, splat, splatConst, vectorCompare } from './vector.ts';

type Result = NonNullable<Exchange['result']>;

/** Any statement of lanes with each other. Waiting is nothing: the lanes of a vector run in step. */
export function emitExchange(g: Gen, s: Exchange): void {
  if (s.result === undefined || s.fn === 'sync') return;
  if (s.fn.startsWith('shfl')) emitShuffle(g, s, s.result);
  else emitVote(g, s, s.result);
}

function emitVote(g: Gen, s: Exchange, result: Result): void {
  const { f } = g;
  const [value] = s.args;
  const own = s.mask !== undefined && !isSteady(g, s.mask);
  const common = own ? undefined : s.mask;
  const present = f.temp('i32');
  pushPresent(g, common);
  f.set(present);
  if (s.fn === 'matchAny' || (s.fn === 'matchAll' && own)) matchEach(g, s, result, value, present);
  else {
    const chosen = f.temp('i32');
    if (s.fn === 'matchAll' && value !== undefined) pushSameAsFirst(g, value, present);
    else if (value === undefined) f.get(present);
    else pushBits(g, (q) => part(g, value, q));
    f.get(present);
    f.op('i32.and');
    f.set(chosen);
    if (own) setParts(g, s, result, (q) => answerPart(g, s, q, chosen, present));
    else setAnswer(g, s, result, chosen, present);
    f.release('i32', chosen);
  }
  f.release('i32', present);
}

/** Pushes the lanes that are active and named by a mask that all of them have. */
function pushPresent(g: Gen, mask: Expr | undefined): void {
  const { f } = g;
  const active = g.mask;
  if (active === null) f.i32(g.lanes === 32 ? -1 : 2 ** g.lanes - 1);
  else pushBits(g, (q) => f.get(active.parts[q] ?? 0));
  if (mask === undefined || isFull(mask)) return;
  scalar(g, mask);
  f.op('i32.and');
}

/** Pushes a bit for each lane of a mask, whose parts `push` pushes. */
function pushBits(g: Gen, push: (q: number) => void): void {
  const { f } = g;
  const parts = maskParts(g);
  const half = (q: number): void => {
    push(q);
    push(q + 1);
    f.op('i16x8.narrow_i32x4_s');
  };
  if (parts < 4) {
    if (parts === 1) {
      push(0);
      f.op('i32x4.bitmask');
      return;
    }
    half(0);
    f.op('i16x8.bitmask');
    return;
  }
  for (let q = 0; q < parts; q += 4) {
    half(q);
    half(q + 2);
    f.op('i8x16.narrow_i16x8_s', 'i8x16.bitmask');
    if (q === 0) continue;
    f.i32(4 * q);
    f.op('i32.shl', 'i32.or');
  }
}

/** The one answer for all lanes. */
function setAnswer(g: Gen, s: Exchange, result: Result, chosen: Local, present: Local): void {
  const { f } = g;
  f.get(chosen);
  switch (s.fn) {
    case 'all':
      f.get(present);
      f.op('i32.eq');
      break;
    case 'any':
      f.i32(0);
      f.op('i32.ne');
      break;
    case 'eq':
      f.get(present);
      f.op('i32.eq');
      f.get(chosen);
      f.op('i32.eqz', 'i32.or');
      break;
    case 'matchAll':
      f.i32(0);
      f.get(chosen, present);
      f.op('i32.eq', 'select');
      break;
  }
  if (varShape(g, result) !== 'V') {
    f.set(varLocals(g, result)[0] ?? 0);
    return;
  }
  const answer = f.temp('i32');
  f.set(answer);
  setParts(g, s, result, () => {
    f.get(answer);
    splat(f, result.type);
  });
  f.release('i32', answer);
}

/** Pushes the answers of four lanes, each of which counts those that its own mask names. */
function answerPart(g: Gen, s: Exchange, q: number, chosen: Local, present: Local): void {
  const { f } = g;
  const named = (bits: Local): void => {
    f.get(bits);
    f.op('i32x4.splat');
    if (s.mask !== undefined) part(g, s.mask, q);
    f.op('v128.and');
  };
  named(chosen);
  switch (s.fn) {
    case 'all':
      named(present);
      f.op('i32x4.eq');
      break;
    case 'any':
      splatConst(f, 'i32', 0);
      f.op('i32x4.ne');
      break;
    case 'eq':
      named(present);
      f.op('i32x4.eq');
      named(chosen);
      splatConst(f, 'i32', 0);
      f.op('i32x4.eq', 'v128.or');
      break;
  }
}

// ---------------------------------------------------------------- matches

/** Pushes in which of four lanes (kept in parts) the bits are those that `other` pushes as a vector. */
function pushSame(g: Gen, value: Expr, values: readonly Local[], q: number, other: () => void): void {
  const { f } = g;
  const wide = isWide(value.type);
  for (const p of wide ? [2 * q, 2 * q + 1] : [q]) {
    vectorCompare(f, 'eq', wide ? 'i64' : 'i32', () => f.get(values[p] ?? 0), other);
  }
  if (wide) packLow(f);
}

/** Pushes the lanes that have the same bits as the first that takes part. */
function pushSameAsFirst(g: Gen, value: Expr, present: Local): void {
  const { f } = g;
  const values = keepParts(g, value);
  const first = f.temp('v128');
  storeForAll(g, values);
  pushLoadSplat(g, value, () => {
    f.get(present);
    // With nobody, whatever lies there.
    f.op('i32.ctz');
    f.i32(31);
    f.op('i32.and');
  });
  f.set(first);
  pushBits(g, (q) => pushSame(g, value, values, q, () => f.get(first)));
  f.release('v128', first, ...values);
}

function pushLoadSplat(g: Gen, value: Expr, lane: () => void): void {
  const size = isWide(value.type) ? 8 : 4;
  pushElement(g, size, lane);
  g.f.memory(`v128.load${(8 * size) as 32}_splat`, 2, g.layout.exchange);
}

/** For each lane those with the same bits, one after another: `matchAny`, and `matchAll` where each lane asks others. */
function matchEach(g: Gen, s: Exchange, result: Result, value: Expr | undefined, present: Local): void {
  if (value === undefined) return;
  const { f } = g;
  const values = keepParts(g, value);
  const found = Array.from({ length: maskParts(g) }, () => f.temp('v128'));
  const [lane, bit] = [f.temp('i32'), f.temp('i32')];
  const other = f.temp('v128');
  storeForAll(g, values);
  for (const local of found) {
    f.v128([0, 0, 0, 0]);
    f.set(local);
  }
  f.i32(0);
  f.set(lane);
  const again = f.loop();
  pushLoadSplat(g, value, () => f.get(lane));
  f.set(other);
  // Of those who are not there nobody asks.
  f.get(present);
  f.i32(1);
  f.get(lane);
  f.op('i32.shl', 'i32.and');
  f.set(bit);
  for (const [q, local] of found.entries()) {
    f.get(local);
    pushSame(g, value, values, q, () => f.get(other));
    f.get(bit);
    f.op('i32x4.splat', 'v128.and', 'v128.or');
    f.set(local);
  }
  f.get(lane);
  f.i32(1);
  f.op('i32.add');
  f.tee(lane);
  f.i32(g.lanes);
  f.op('i32.lt_s');
  f.brIf(again);
  f.end();
  setParts(g, s, result, (q) => {
    const named = (push: () => void): void => {
      push();
      if (s.mask === undefined || isFull(s.mask)) return;
      part(g, s.mask, q);
      f.op('v128.and');
    };
    const same = (): void => named(() => f.get(found[q] ?? 0));
    same();
    if (s.fn === 'matchAny') return;
    const everyone = (): void => {
      f.get(present);
      f.op('i32x4.splat');
    };
    same();
    named(everyone);
    f.op('i32x4.eq', 'v128.and');
  });
  f.release('i32', lane, bit);
  f.release('v128', other, ...found, ...values);
}
