/**
 * What the lanes of a warp give each other, where a vector is a warp: shuffles in registers. Votes and matches are in `votes.ts`.
 *
 * Where each lane's source is known while the code is written, a part takes one instruction or none; else the values go through
 * memory. Lanes that take no part give nothing: who asks for their value gets the own one. The lanes of a vector run in step,
 * so that nobody need wait for them.
 */
import type { Expr, Stmt } from '../../ir/ops.ts';
import { isFull } from '../../ir/passes/uniformity.ts';
import { WARP_SIZE } from '../../ir/warp.ts';
import type { Local } from './assembler.ts';
import { lanesFrom, part, scalar } from './expr.ts';
import { type Gen, isWide, maskParts, partCount, shapeOf, varLocals, varShape, wasmType } from './gen.ts';
import { blendPart } from './masks.ts';
import { staticLanes } from './static-lanes.ts';
import { extractLane, replaceLane, splatConst } from './vector.ts';

export type Exchange = Stmt & { readonly op: 'warp' };
type Result = NonNullable<Exchange['result']>;

/** A shuffle: every lane's value, or its own where there is none to be had. */
export function emitShuffle(g: Gen, s: Exchange, result: Result): void {
  const [value, by] = s.args;
  if (value === undefined || by === undefined) return;
  const { f } = g;
  if (isSteady(g, value) && varShape(g, result) !== 'V') {
    scalar(g, value);
    f.set(varLocals(g, result)[0] ?? 0);
    return;
  }
  const values = keepParts(g, value);
  const all = g.mask === null && isFull(s.mask);
  const from = staticSources(g, s, by);
  if (varShape(g, result) !== 'V') {
    if (from === undefined) loadOne(g, value, values, by);
    else {
      const perPart = isWide(value.type) ? 2 : 4;
      f.get(values[Math.floor((from[0] ?? 0) / perPart)] ?? 0);
      extractLane(f, value.type, (from[0] ?? 0) % perPart);
    }
    f.set(varLocals(g, result)[0] ?? 0);
  } else if (from !== undefined) {
    setParts(g, s, result, (p) => {
      pushShuffled(g, values, isWide(value.type) ? 2 : 4, from, p);
      if (!all) keepOwn(g, value, values, p, (q) => givesStatic(g, s, from, q));
    });
  } else if (all && s.fn !== 'shfl' && s.fn !== 'shflXor' && isSteady(g, by)) {
    shiftThroughMemory(g, s, result, value, values, by);
  } else {
    gatherThroughMemory(g, s, result, value, values, by, all);
  }
  f.release('v128', ...values);
}

/** Whether all lanes have the same value. */
export function isSteady(g: Gen, e: Expr): boolean {
  const shape = shapeOf(g, e);
  return shape === 'G' || shape === 'U';
}

/** The lane whose value each lane asks for, where that is known; its own where it leaves the vector. */
function staticSources(g: Gen, { fn }: Exchange, by: Expr): readonly number[] | undefined {
  return staticLanes(g, by)?.map((steps, lane) => {
    const n = Number(steps) & (WARP_SIZE - 1);
    const from = fn === 'shfl' ? n : fn === 'shflXor' ? lane ^ n : fn === 'shflUp' ? lane - n : lane + n;
    return from >= 0 && from < g.lanes ? from : lane;
  });
}

/** Evaluates all parts into locals. */
export function keepParts(g: Gen, e: Expr): readonly Local[] {
  return Array.from({ length: partCount(g, e.type) }, (_, p) => {
    const local = g.f.temp('v128');
    part(g, e, p);
    g.f.set(local);
    return local;
  });
}

/** Gives the active lanes of a result its parts. All are evaluated before one is set: operands may read the variable. */
export function setParts(g: Gen, s: Exchange, result: Result, push: (p: number) => void): void {
  const { f } = g;
  const locals = varLocals(g, result);
  const blend = g.mask !== null && g.uniformity.needsBlend(s);
  for (const [p, local] of locals.entries()) {
    push(p);
    if (blend) blendPart(g, result.type, local, p);
  }
  for (const local of [...locals].reverse()) f.set(local);
}

/** Pushes part `p` of vectors whose lane k is the lane `from[k]` of `parts`. */
function pushShuffled(g: Gen, parts: readonly Local[], perPart: 2 | 4, from: readonly number[], p: number): void {
  const { f } = g;
  const sources = from.slice(p * perPart, (p + 1) * perPart);
  const bytes = 16 / perPart;
  const [first = 0, ...others] = [...new Set(sources.map((lane) => Math.floor(lane / perPart)))];
  f.get(parts[first] ?? 0);
  const inPlace = others.length === 0 && sources.every((lane, k) => lane % perPart === k);
  if (inPlace) return;
  // With each further part, what has been put in its place stays there.
  for (const [round, other] of (others.length > 0 ? others : [first]).entries()) {
    f.get(parts[other] ?? 0);
    f.shuffle(
      sources.flatMap((lane, k) => {
        const isOther = Math.floor(lane / perPart) === other && others.length > 0;
        const start = isOther ? 16 + (lane % perPart) * bytes : (round === 0 ? lane % perPart : k) * bytes;
        return Array.from({ length: bytes }, (_, b) => start + b);
      }),
    );
  }
}

/** Stack: what part `p` is given. Keeps it in the lanes that `gives` pushes for each four lanes, and the own value elsewhere. */
function keepOwn(g: Gen, value: Expr, own: readonly Local[], p: number, gives: (q: number) => void): void {
  const { f } = g;
  f.get(own[p] ?? 0);
  gives(isWide(value.type) ? p >> 1 : p);
  if (isWide(value.type)) f.op(p & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
  f.op('v128.bitselect');
}

/** Pushes in which of four lanes the source takes part: it is active, and the mask names it. */
function givesStatic(g: Gen, s: Exchange, from: readonly number[], q: number): void {
  const { f, mask } = g;
  if (mask !== null) pushShuffled(g, mask.parts, 4, from, q);
  if (s.mask === undefined || isFull(s.mask)) return;
  part(g, s.mask, q);
  f.v128(lanesFrom(4 * q).map((lane) => (1 << (from[lane] ?? 0)) | 0) as [number, number, number, number]);
  f.op('v128.and');
  splatConst(f, 'i32', 0);
  f.op('i32x4.ne');
  if (mask !== null) f.op('v128.and');
}

// ---------------------------------------------------------------- through memory

/** Bytes of the area between the values of two lanes. */
const step = (e: Expr): 4 | 8 => (isWide(e.type) ? 8 : 4);

/** Stores the parts at the start of the area. */
export function storeForAll(g: Gen, parts: readonly Local[], offset = 0): void {
  const { f } = g;
  for (const [p, local] of parts.entries()) {
    f.get(g.at.scratch, local);
    f.memory('v128.store', 2, g.layout.exchange + offset + 16 * p);
  }
}

/** Pushes the address of an element of the area, less its offset; `push` pushes its number. */
export function pushElement(g: Gen, size: 4 | 8, push: () => void): void {
  const { f } = g;
  f.get(g.at.scratch);
  push();
  f.i32(Math.log2(size));
  f.op('i32.shl');
  // Down from the area, too.
  if (g.variant.memory64) f.op('i64.extend_i32_s', 'i64.add');
  else f.op('i32.add');
}

/** Pushes the value of a lane that all ask for. */
function loadOne(g: Gen, value: Expr, values: readonly Local[], by: Expr): void {
  const { f } = g;
  storeForAll(g, values);
  pushElement(g, step(value), () => pushSteps(g, by));
  f.memory(`${wasmType(value.type)}.load`, 2, g.layout.exchange);
}

function pushSteps(g: Gen, by: Expr): void {
  scalar(g, by);
  g.f.i32(WARP_SIZE - 1);
  g.f.op('i32.and');
}

/** All lanes are there and go up or down by as much: vectors from beside where they were stored. */
function shiftThroughMemory(
  g: Gen,
  s: Exchange,
  result: Result,
  value: Expr,
  values: readonly Local[],
  by: Expr,
): void {
  const { f } = g;
  storeForAll(g, values);
  const steps = f.temp('i32');
  pushSteps(g, by);
  f.set(steps);
  setParts(g, s, result, (p) => {
    pushElement(g, step(value), () => {
      if (s.fn === 'shflUp') f.i32(0);
      f.get(steps);
      if (s.fn === 'shflUp') f.op('i32.sub');
    });
    f.memory('v128.load', 2, g.layout.exchange + 16 * p);
    keepOwn(g, value, values, p, (q) => {
      f.v128(lanesFrom(4 * q));
      if (s.fn === 'shflUp') {
        f.get(steps);
        f.op('i32x4.splat', 'i32x4.ge_s');
      } else {
        f.i32(g.lanes);
        f.get(steps);
        f.op('i32.sub', 'i32x4.splat', 'i32x4.lt_s');
      }
    });
  });
  f.release('i32', steps);
}

/** Each lane from where it wants: lane by lane. */
function gatherThroughMemory(
  g: Gen,
  s: Exchange,
  result: Result,
  value: Expr,
  values: readonly Local[],
  by: Expr,
  all: boolean,
): void {
  const { f, mask } = g;
  storeForAll(g, values);
  const active = 8 * g.lanes;
  if (mask !== null) storeForAll(g, mask.parts, active);
  const from = sourceParts(g, s, by);
  const size = step(value);
  const perPart = 16 / size;
  setParts(g, s, result, (p) => {
    pushGathered(g, size, from, p * perPart, 0);
    if (!all) {
      keepOwn(g, value, values, p, (q) => {
        if (mask !== null) pushGathered(g, 4, from, 4 * q, active);
        if (s.mask === undefined || isFull(s.mask)) return;
        pushNamed(g, s.mask, from, q);
        if (mask !== null) f.op('v128.and');
      });
    }
  });
  f.release('v128', ...from);
}

/** The source of each lane in locals, of four lanes each; the own lane where it leaves the vector. */
function sourceParts(g: Gen, { fn }: Exchange, by: Expr): readonly Local[] {
  const { f } = g;
  const steps = f.temp('v128');
  const parts = Array.from({ length: maskParts(g) }, (_, q) => {
    const local = f.temp('v128');
    part(g, by, q);
    splatConst(f, 'i32', WARP_SIZE - 1);
    f.op('v128.and');
    f.set(steps);
    if (fn !== 'shfl') f.v128(lanesFrom(4 * q));
    f.get(steps);
    if (fn !== 'shfl') f.op(fn === 'shflXor' ? 'v128.xor' : fn === 'shflUp' ? 'i32x4.sub' : 'i32x4.add');
    f.tee(local);
    f.v128(lanesFrom(4 * q));
    f.get(local);
    splatConst(f, 'i32', g.lanes);
    f.op('i32x4.lt_u', 'v128.bitselect');
    f.set(local);
    return local;
  });
  f.release('v128', steps);
  return parts;
}

/** Pushes a vector of the elements, at `offset` in the area, of the sources of the lanes from `first` on. */
function pushGathered(g: Gen, size: 4 | 8, from: readonly Local[], first: number, offset: number): void {
  const { f } = g;
  const at = g.layout.exchange + offset;
  const vector = f.temp('v128');
  for (let k = 0; k < 16 / size; k++) {
    const lane = first + k;
    pushElement(g, size, () => {
      f.get(from[lane >> 2] ?? 0);
      f.lane('i32x4.extract_lane', lane & 3);
    });
    if (k === 0) f.memory(`v128.load${(8 * size) as 32}_zero`, 2, at);
    else {
      f.get(vector);
      f.memoryLane(`v128.load${(8 * size) as 32}_lane`, 2, at, k);
    }
    f.set(vector);
  }
  f.get(vector);
  f.release('v128', vector);
}

/** Pushes in which of four lanes the mask of the lane names its source. */
function pushNamed(g: Gen, mask: Expr, from: readonly Local[], q: number): void {
  const { f } = g;
  const [own, named] = [f.temp('v128'), f.temp('v128')];
  part(g, mask, q);
  f.set(own);
  f.v128([0, 0, 0, 0]);
  f.set(named);
  for (let k = 0; k < 4; k++) {
    f.get(named, own);
    f.lane('i32x4.extract_lane', k);
    f.get(from[q] ?? 0);
    f.lane('i32x4.extract_lane', k);
    f.op('i32.shr_u');
    f.i32(1);
    f.op('i32.and');
    replaceLane(f, 'i32', k);
    f.set(named);
  }
  f.get(named);
  splatConst(f, 'i32', 0);
  f.op('i32x4.ne');
  f.release('v128', own, named);
}
