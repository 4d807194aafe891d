/**
 * Evaluation of expressions, as one value (shapes G, U, C) or part by part (any shape).
 *
 * Loads and whatever can fail have been evaluated into locals before (prepare.ts); the rest is pure, so that it may be
 * written out several times: the engine's optimiser finds what is common and moves what does not change out of loops.
 */
import { OPPOSITE } from '../../ir/measures.ts';
import type { Expr, ValueType } from '../../ir/ops.ts';
import { isInt, isUnsigned } from '../../ir/ops.ts';
import { chosenExtreme } from '../../ir/passes/extremes.ts';
import type { LaneBits } from '../../ir/passes/lane-widths.ts';
import { castPart, type Evaluate, laneByLane, toInt32Part } from './convert.ts';
import { type Gen, isWide, maskParts, shapeOf, varLocals, varShape, wasmType } from './gen.ts';
import { scalarIntrinsic, vectorIntrinsic } from './intrinsics.ts';
import { bitsOf, narrowPart, resize, wideProduct } from './narrow.ts';
import { compareOp, type DivisorKnown, type Push, pushConst, scalarBinary, scalarCast, scalarUnary } from './scalar.ts';
import { pushLaneMask, staticBits } from './static-lanes.ts';
import {
  extractLane,
  floatExtremeOf,
  packLow,
  splat,
  splatConst,
  vectorBinary,
  vectorCompare,
  vectorShift,
  vectorUnary,
} from './vector.ts';
import { divideVector } from './vector-divide.ts';

export function evaluator(g: Gen): Evaluate {
  return { scalar: (e) => scalar(g, e), part: (e, p) => part(g, e, p) };
}

/** Pushes a value of shape G or U, or that of lane 0. */
export function scalar(g: Gen, e: Expr): void {
  const { f } = g;
  const kept = g.prepared.get(e);
  if (kept !== undefined) {
    if (kept.locals.length === 0) throw new Error(`internal error: a vector where one value is wanted (${e.op})`);
    if (kept.shape === 'V') firstLane(g, e);
    else f.get(kept.locals[0] ?? 0);
    return;
  }
  switch (e.op) {
    case 'const':
      pushConst(f, e.type, e.value);
      return;
    case 'var':
      if (varShape(g, e.var) === 'V') firstLane(g, e);
      else f.get(...varLocals(g, e.var));
      return;
    case 'param':
      f.get(paramLocal(g, e.param));
      return;
    case 'special':
      special(g, e.name);
      return;
    case 'unary':
      scalarUnary(g, e.fn, e.a.type, () => scalar(g, e.a));
      return;
    case 'binary':
      scalarBinary(
        g,
        e.fn,
        e.type,
        () => scalar(g, e.a),
        () => scalar(g, e.b),
        knownDivisor(e.b),
      );
      return;
    case 'compare':
      scalar(g, e.a);
      scalar(g, e.b);
      f.op(compareOp(e.fn, e.a.type));
      return;
    case 'select':
      scalar(g, e.a);
      scalar(g, e.b);
      scalar(g, e.cond);
      f.op('select');
      return;
    case 'cast':
      scalarCast(g, e.a.type, e.to, () => scalar(g, e.a));
      return;
    case 'bitcast':
      scalarBitcast(g, e.a.type, e.type, () => scalar(g, e.a));
      return;
    case 'fma':
      for (const operand of [e.a, e.b, e.c]) scalar(g, operand);
      f.call(g.helpers.index(`fma_${e.type}`));
      return;
    case 'call':
      callScalar(
        g,
        e,
        e.args.map((a) => () => scalar(g, a)),
      );
      return;
    case 'intrinsic':
      scalarIntrinsic(
        f,
        e,
        e.args.map((a) => () => scalar(g, a)),
      );
      return;
    case 'load':
      throw new Error('internal error: a load that was not prepared');
    case 'native':
    case 'address':
    case 'available':
      throw new Error(`internal error: ${e.op} was not settled`);
    default:
      e satisfies never;
  }
}

/** Pushes lane 0 of a vector. */
function firstLane(g: Gen, e: Expr): void {
  part(g, e, 0);
  extractLane(g.f, e.type, 0);
}

export function paramLocal(g: Gen, index: number): number {
  const local = g.params.get(index);
  if (local === undefined) throw new Error(`internal error: parameter ${index} was not loaded`);
  return local;
}

function special(g: Gen, name: (Expr & { op: 'special' })['name']): void {
  const { f, at } = g;
  const axis = name.endsWith('.x') ? 0 : name.endsWith('.y') ? 1 : 2;
  switch (name) {
    case 'threadIdx.x':
      f.get(at.thread[0]);
      if (g.shift !== undefined) {
        f.i32(g.shift);
        f.op('i32.add');
      }
      return;
    case 'threadIdx.y':
    case 'threadIdx.z':
      f.get(at.thread[axis]);
      return;
    case 'blockIdx.x':
    case 'blockIdx.y':
    case 'blockIdx.z':
      f.get(at.block[axis]);
      return;
    case 'blockDim.x':
    case 'blockDim.y':
    case 'blockDim.z':
      f.i32(g.variant.block[axis]);
      return;
    case 'gridDim.x':
    case 'gridDim.y':
    case 'gridDim.z':
      f.get(at.grid[axis]);
      return;
    case 'laneId':
      if (g.warps) {
        f.i32(0);
        return;
      }
      f.get(at.item);
      f.i32(31);
      f.op('i32.and');
      return;
    case 'warpSize':
      f.i32(32);
      return;
    case 'sharedBytes':
      f.get(at.sharedBytes);
      return;
  }
}

/** A constant divisor needs no guards. */
function knownDivisor(b: Expr): DivisorKnown {
  if (b.op !== 'const') return { nonZero: false, notMinusOne: false, positive: false };
  const by = Number(b.value);
  return { nonZero: by !== 0, notMinusOne: by !== -1, positive: by > 0 };
}

function scalarBitcast(g: Gen, from: ValueType, to: ValueType, a: Push): void {
  const [source, target] = [wasmType(from), wasmType(to)];
  a();
  if (source === target) return;
  g.f.op(`${target as 'i32'}.reinterpret_${source as 'f32'}`);
}

/** A function of floats by import, in double precision. */
function callScalar(g: Gen, e: Expr & { op: 'call' }, args: readonly Push[]): void {
  const { f } = g;
  for (const push of args) {
    push();
    if (e.type === 'f32') f.op('f64.promote_f32');
  }
  f.call(g.helpers.math(e.fn));
  if (e.type === 'f32') f.op('f32.demote_f64');
}

/** Pushes the value of the first active lane. */
export function pushFirstLane(g: Gen, e: Expr): void {
  const { f, mask } = g;
  const shape = shapeOf(g, e);
  if (shape === 'G' || shape === 'U' || (shape === 'C' && mask === null)) {
    scalar(g, e);
    return;
  }
  const type = wasmType(e.type);
  const local = f.temp(type);
  const perPart = isWide(e.type) ? 2 : 4;
  const done = f.block();
  for (let lane = 0; lane < g.lanes; lane++) {
    part(g, e, Math.floor(lane / perPart));
    extractLane(f, e.type, lane % perPart);
    f.set(local);
    if (mask === null) break;
    f.get(mask.parts[lane >> 2] ?? 0);
    f.lane('i32x4.extract_lane', lane & 3);
    f.brIf(done);
  }
  f.end();
  f.get(local);
  f.release(type, local);
}

/** Stack: a part of a mask. Keeps the lanes in which a condition is `wanted`, with as few instructions as may be. */
export function restrict(g: Gen, e: Expr, wanted: boolean, p: number): void {
  const { f } = g;
  if (bitsOf(g, e) < 32) {
    part(g, e, p);
    f.op(wanted ? 'v128.and' : 'v128.andnot');
    return;
  }
  if (e.op === 'unary' && e.fn === 'not' && !g.prepared.has(e)) {
    restrict(g, e.a, !wanted, p);
    return;
  }
  if (e.op === 'binary' && e.fn === (wanted ? 'and' : 'or')) {
    restrict(g, e.a, wanted, p);
    restrict(g, e.b, wanted, p);
    return;
  }
  // Integers have no instructions for <= and >=.
  if (!wanted && e.op === 'compare' && isInt(e.a.type)) {
    const opposite: Expr = { ...e, fn: OPPOSITE[e.fn] };
    g.shapes.set(opposite, shapeOf(g, e));
    part(g, opposite, p);
    f.op('v128.and');
    return;
  }
  part(g, e, p);
  f.op(wanted ? 'v128.and' : 'v128.andnot');
}

const IOTA = [0, 1, 2, 3] as const;

/** Pushes one part of a value of any shape. */
export function part(g: Gen, e: Expr, p: number): void {
  const { f } = g;
  const kept = g.prepared.get(e);
  if (kept?.shape === 'V') {
    resize(g, e, kept.bits ?? 32, 32, p, (q) => f.get(kept.locals[q] ?? 0));
    return;
  }
  const shape = shapeOf(g, e);
  if (shape === 'V' && kept === undefined) {
    const bits = bitsOf(g, e);
    if (bits === 32) vectorPart(g, e, p);
    else resize(g, e, bits, 32, p, (q) => lanesPart(g, e, bits, q));
    return;
  }
  if (e.op === 'const') {
    splatConst(f, e.type, e.value);
    return;
  }
  if (kept?.splat !== undefined && kept.locals.length === 0) {
    f.get(kept.splat);
    return;
  }
  if (kept !== undefined && shape !== 'C' && maskParts(g) > 1) {
    // Parts are evaluated in order: the first one makes the vector for the others. It does so each time, as code may be
    // written twice, in branches of which only one is run.
    if (p === 0) {
      scalar(g, e);
      splat(f, e.type);
      kept.splat ??= f.temp('v128');
      f.tee(kept.splat);
      return;
    }
    if (kept.splat !== undefined) {
      f.get(kept.splat);
      return;
    }
  }
  scalar(g, e);
  splat(f, e.type);
  if (shape === 'C') addLanes(g, e.type, p);
}

/** Pushes part `p` of a value of any shape in lanes of `bits`, modulo 2^bits. */
export function lanesPart(g: Gen, e: Expr, bits: LaneBits, p: number): void {
  narrowPart(g, evaluator(g), e, bits, p);
}

/** Adds the lane numbers of part `p` to the integers on the stack. */
export function addLanes(g: Gen, type: ValueType, p: number): void {
  if (isWide(type)) {
    g.f.v128([2 * p, 0, 2 * p + 1, 0]);
    g.f.op('i64x2.add');
  } else {
    g.f.v128(lanesFrom(4 * p));
    g.f.op('i32x4.add');
  }
}

export function lanesFrom(first: number): [number, number, number, number] {
  return IOTA.map((lane) => first + lane) as [number, number, number, number];
}

function vectorPart(g: Gen, e: Expr, p: number): void {
  const { f } = g;
  const bits = e.type === 'bool' ? staticBits(g, e) : undefined;
  if (bits !== undefined) {
    pushLaneMask(g, bits >> (4 * p), 4);
    return;
  }
  const evaluate = evaluator(g);
  const a =
    (x: Expr): Push =>
    () =>
      part(g, x, p);
  const fallback = (operands: readonly Expr[], emit: (operands: readonly Push[]) => void): void =>
    laneByLane(g, evaluate, e.type, p, operands, emit);
  switch (e.op) {
    case 'var':
      f.get(varLocals(g, e.var)[p] ?? 0);
      return;
    case 'special':
      f.get(g.at.item);
      f.op('i32x4.splat');
      addLanes(g, 'i32', p);
      splatConst(f, 'i32', 31);
      f.op('v128.and');
      return;
    case 'unary':
      if (e.fn === 'isNaN' || e.fn === 'isFinite') floatTest(g, e, p);
      else if (e.fn === 'toInt32') toInt32Part(g, evaluate, e.a, p);
      else if (!vectorUnary(f, e.fn, e.type, a(e.a))) {
        fallback([e.a], ([x = () => {}]) => scalarUnary(g, e.fn, e.a.type, x));
      }
      return;
    case 'binary':
      binaryPart(g, e, p, fallback);
      return;
    case 'compare':
      if (!isWide(e.a.type)) {
        vectorCompare(f, e.fn, e.a.type, a(e.a), a(e.b));
      } else {
        for (const half of [2 * p, 2 * p + 1]) {
          vectorCompare(
            f,
            e.fn,
            e.a.type,
            () => part(g, e.a, half),
            () => part(g, e.b, half),
          );
        }
        packLow(f);
      }
      return;
    case 'select':
      selectPart(g, e, p);
      return;
    case 'cast':
      castPart(g, evaluate, e, p);
      return;
    case 'bitcast':
      part(g, e.a, p);
      return;
    case 'fma':
      fallback([e.a, e.b, e.c], (operands) => {
        for (const push of operands) push();
        f.call(g.helpers.index(`fma_${e.type}`));
      });
      return;
    case 'call':
      fallback(e.args, (args) => callScalar(g, e, args));
      return;
    case 'intrinsic':
      if (!vectorIntrinsic(f, e, e.args.map(a))) fallback(e.args, (args) => scalarIntrinsic(f, e, args));
      return;
    case 'const':
    case 'param':
    case 'load':
    case 'native':
    case 'address':
    case 'available':
      throw new Error(`internal error: ${e.op} is not to be evaluated as a vector`);
    default:
      e satisfies never;
  }
}

function floatTest(g: Gen, e: Expr & { op: 'unary' }, p: number): void {
  const { f } = g;
  const v = e.a.type === 'f64' ? 'f64x2' : 'f32x4';
  const one = (q: number): void => {
    part(g, e.a, q);
    if (e.fn === 'isNaN') {
      part(g, e.a, q);
      f.op(`${v}.ne`);
    } else {
      f.op(`${v}.abs`);
      splatConst(f, e.a.type, Number.POSITIVE_INFINITY);
      f.op(`${v}.lt`);
    }
  };
  if (v === 'f32x4') {
    one(p);
    return;
  }
  one(2 * p);
  one(2 * p + 1);
  packLow(f);
}

function binaryPart(
  g: Gen,
  e: Expr & { op: 'binary' },
  p: number,
  fallback: (operands: readonly Expr[], emit: (operands: readonly Push[]) => void) => void,
): void {
  const { f } = g;
  const a = (): void => part(g, e.a, p);
  const b = (): void => part(g, e.b, p);
  const { fn, type } = e;
  if ((fn === 'shl' || fn === 'shr') && shapeOf(g, e.b) !== 'V' && shapeOf(g, e.b) !== 'C') {
    vectorShift(f, fn, type, a, () => {
      scalar(g, e.b);
      if (isWide(type)) f.op('i32.wrap_i64');
    });
    return;
  }
  const division = fn === 'div' || fn === 'rem' || fn === 'floordiv';
  if (division && isInt(type) && !isWide(type)) {
    const simple = isUnsigned(type) && fn === 'floordiv' ? 'div' : fn;
    const constant = e.b.op === 'const' && Number(e.b.value) !== 0 ? Number(e.b.value) : undefined;
    divideVector(f, simple, type, a, b, constant, g.variant.quick !== true && isSteadyWrap(g, e));
    return;
  }
  if ((fn === 'min' || fn === 'max') && (type === 'f32' || type === 'f64')) {
    const [value, other] = e.b.op === 'const' ? [e.b.value, a] : [e.a.op === 'const' ? e.a.value : Number.NaN, b];
    const constant = Number(value);
    if (!Number.isNaN(constant) && !(fn === 'min' && Object.is(constant, -0))) {
      floatExtremeOf(f, fn, type, other, constant);
      return;
    }
  }
  if (wideProduct(g, evaluator(g), e, p) || vectorBinary(f, fn, type, a, b)) return;
  fallback([e.a, e.b], ([x = () => {}, y = () => {}]) => scalarBinary(g, fn, type, x, y, knownDivisor(e.b)));
}

/** `(x + 1) % n`, `(x - 1 + n) % n` */
function isSteadyWrap(g: Gen, { a, b }: Expr & { op: 'binary' }): boolean {
  const shape = shapeOf(g, b);
  return a.op === 'binary' && (a.fn === 'add' || a.fn === 'sub') && shape !== 'V' && shape !== 'C';
}

function selectPart(g: Gen, e: Expr & { op: 'select' }, p: number): void {
  const { f } = g;
  const bits = staticBits(g, e.cond);
  const perPart = isWide(e.type) ? 2 : 4;
  const here = bits === undefined ? undefined : (bits >> (perPart * p)) & (2 ** perPart - 1);
  if (here === 0 || here === 2 ** perPart - 1) {
    part(g, here === 0 ? e.b : e.a, p);
    return;
  }
  const cond = shapeOf(g, e.cond);
  const extreme = here === undefined && cond === 'V' ? chosenExtreme(e) : undefined;
  if (extreme !== undefined) {
    part(g, e.b, p);
    part(g, e.a, p);
    f.op(`${e.type === 'f32' ? 'f32x4' : 'f64x2'}.p${extreme}`);
    return;
  }
  part(g, e.a, p);
  part(g, e.b, p);
  if (cond !== 'V') {
    scalar(g, e.cond);
    f.op('select');
    return;
  }
  if (here !== undefined) {
    pushLaneMask(g, here, perPart);
  } else if (isWide(e.type)) {
    part(g, e.cond, p >> 1);
    f.op(p & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
  } else {
    part(g, e.cond, p);
  }
  f.op('v128.bitselect');
}
