/**
 * Conversions between vectors, also of types whose lanes differ in width, and the pure lane-by-lane fallback.
 */
import type { ElemType, Expr, ValueType } from '../../ir/ops.ts';
import { isFloat, isUnsigned } from '../../ir/ops.ts';
import type { Local } from './assembler.ts';
import { type Gen, isWide, shapeOf, wasmType } from './gen.ts';
import { roundToHalfVector } from './half.ts';
import { type Push, saturationRange, scalarCast } from './scalar.ts';
import { extractLane, highHalf, packHalves, packLow, replaceLane, splat, splatConst } from './vector.ts';

/** The two ways of evaluating an expression; expr.ts has them. */
export interface Evaluate {
  scalar(e: Expr): void;
  part(e: Expr, part: number): void;
}

/**
 * An operand in lanes `first` and the `count - 1` after it: evaluated at once where it is a vector, into locals that are
 * added to `temps`. The result pushes the value of one lane.
 */
export function laneByLaneOperand(
  g: Gen,
  evaluate: Evaluate,
  e: Expr,
  first: number,
  count: number,
  temps: Local[],
): (lane: number) => void {
  const { f } = g;
  const shape = shapeOf(g, e);
  if (shape !== 'V') {
    return (lane) => {
      evaluate.scalar(e);
      if (shape !== 'C' || lane === 0) return;
      if (isWide(e.type)) f.i64(lane);
      else f.i32(lane);
      f.op(isWide(e.type) ? 'i64.add' : 'i32.add');
    };
  }
  const perPart = isWide(e.type) ? 2 : 4;
  const parts = new Map<number, Local>();
  for (let p = Math.floor(first / perPart); p * perPart < first + count; p++) {
    const local = f.temp('v128');
    evaluate.part(e, p);
    f.set(local);
    temps.push(local);
    parts.set(p, local);
  }
  return (lane) => {
    f.get(parts.get(Math.floor(lane / perPart)) ?? 0);
    extractLane(f, e.type, lane % perPart);
  };
}

/**
 * Part `part` of a result of type `type`, computed lane by lane: `emit` gets thunks that push the operands' lane values and
 * pushes the result (a bool as 0 or 1).
 */
export function laneByLane(
  g: Gen,
  evaluate: Evaluate,
  type: ValueType,
  part: number,
  operands: readonly Expr[],
  emit: (operands: readonly Push[]) => void,
): void {
  const { f } = g;
  const count = isWide(type) ? 2 : 4;
  const first = part * count;
  const temps: Local[] = [];
  const pushes = operands.map((e) => laneByLaneOperand(g, evaluate, e, first, count, temps));
  for (let lane = 0; lane < count; lane++) {
    emit(pushes.map((push) => () => push(first + lane)));
    if (lane === 0) splat(f, type === 'bool' ? 'i32' : type);
    else replaceLane(f, type, lane);
  }
  if (type === 'bool') f.op('i32x4.neg');
  f.release('v128', ...temps);
}

/** Pushes part `part` of a conversion. */
export function castPart(g: Gen, evaluate: Evaluate, e: Expr & { op: 'cast' }, part: number): void {
  const { f } = g;
  const { a, to } = e;
  const from = a.type;
  const a4 = (): void => evaluate.part(a, part);
  if (to === 'bool') {
    toBool(g, evaluate, a, part);
    return;
  }
  if (from === 'bool') {
    fromBool(g, evaluate, e, part);
    return;
  }
  const long = (t: ElemType): boolean => t === 'i64' || t === 'u64';
  if ((long(from) && isFloat(to)) || (isFloat(from) && long(to)) || (from === 'f64' && to === 'f16')) {
    laneByLane(g, evaluate, e.type, part, [a], ([x = () => {}]) => scalarCast(g, from, to, x));
    return;
  }
  const both = (each: () => void, pack: () => void): void => {
    for (const half of [0, 1]) {
      evaluate.part(a, 2 * part + half);
      each();
    }
    pack();
  };
  if (isFloat(from) && isFloat(to)) {
    if (to === from) a4();
    else if (to === 'f64') spread(g, evaluate, a, part, () => f.op('f64x2.promote_low_f32x4'));
    else if (from === 'f64')
      both(
        () => f.op('f32x4.demote_f64x2_zero'),
        () => packHalves(f),
      );
    else roundToHalfVector(f, a4);
    return;
  }
  const unsigned = isUnsigned(from) ? 'u' : 's';
  if (isFloat(to)) {
    if (to === 'f64') {
      spread(g, evaluate, a, part, () => f.op(`f64x2.convert_low_i32x4_${unsigned}`));
      return;
    }
    const single = (): void => {
      a4();
      f.op(`f32x4.convert_i32x4_${unsigned}`);
    };
    if (to === 'f32') single();
    else roundToHalfVector(f, single);
    return;
  }
  if (isFloat(from)) {
    const sign = to === 'u32' ? 'u' : 's';
    if (from === 'f32') {
      a4();
      f.op(`i32x4.trunc_sat_f32x4_${sign}`);
    } else {
      both(
        () => f.op(`i32x4.trunc_sat_f64x2_${sign}_zero`),
        () => packHalves(f),
      );
    }
    const range = saturationRange(to);
    if (range !== undefined) {
      splatConst(f, 'i32', range[0]);
      f.op('i32x4.max_s');
      splatConst(f, 'i32', range[1]);
      f.op('i32x4.min_s');
    }
    return;
  }
  if (long(to)) {
    if (long(from)) a4();
    else {
      evaluate.part(a, part >> 1);
      f.op(`i64x2.extend_${part & 1 ? 'high' : 'low'}_i32x4_${unsigned}`);
    }
    return;
  }
  if (long(from))
    both(
      () => {},
      () => packLow(f),
    );
  else a4();
  narrowVector(g, to);
}

/**
 * Pushes part `part` of ToInt32 of floats. Nearly always all lanes are in range, where the conversion that saturates is the same; where
 * one is not, the floats are reduced modulo 2³² by exact arithmetic, and their magnitudes converted without a sign.
 */
export function toInt32Part(g: Gen, evaluate: Evaluate, a: Expr, part: number): void {
  const { f } = g;
  const single = a.type === 'f32';
  const v = single ? 'f32x4' : 'f64x2';
  const sources = (single ? [part] : [2 * part, 2 * part + 1]).map((p) => {
    const local = f.temp('v128');
    evaluate.part(a, p);
    f.set(local);
    return local;
  });
  const pack = (one: (x: Local) => void): void => {
    for (const x of sources) one(x);
    if (!single) packHalves(f);
  };
  const result = f.temp('v128');
  pack((x) => {
    f.get(x);
    f.op(single ? 'i32x4.trunc_sat_f32x4_s' : 'i32x4.trunc_sat_f64x2_s_zero');
  });
  f.set(result);
  for (const x of sources) {
    f.get(x);
    f.op(`${v}.abs`);
    splatConst(f, a.type, 2 ** 31);
    f.op(`${v}.ge`);
  }
  if (!single) f.op('v128.or');
  f.op('v128.any_true');
  f.if();
  pack((x) => {
    f.get(x, x);
    splatConst(f, a.type, 2 ** -32);
    f.op(`${v}.mul`, `${v}.trunc`);
    splatConst(f, a.type, 2 ** 32);
    f.op(`${v}.mul`, `${v}.sub`, `${v}.abs`, single ? 'i32x4.trunc_sat_f32x4_u' : 'i32x4.trunc_sat_f64x2_u_zero');
  });
  // Those of negative floats are negated: complemented, less -1.
  const negative = f.temp('v128');
  for (const x of sources) {
    f.get(x);
    splatConst(f, a.type, 0);
    f.op(`${v}.lt`);
  }
  if (!single) packLow(f);
  f.tee(negative);
  f.op('v128.xor');
  f.get(negative);
  f.op('i32x4.sub');
  f.set(result);
  f.release('v128', negative);
  f.end();
  f.get(result);
  f.release('v128', result, ...sources);
}

/** Two 4-byte lanes, low or high half of a part, widened by an instruction that takes the low half. */
function spread(g: Gen, evaluate: Evaluate, a: Expr, part: number, widenLow: () => void): void {
  const source = (): void => evaluate.part(a, part >> 1);
  if (part & 1) highHalf(g.f, source);
  else source();
  widenLow();
}

function toBool(g: Gen, evaluate: Evaluate, a: Expr, part: number): void {
  const { f } = g;
  const one = (p: number): void => {
    evaluate.part(a, p);
    if (a.type === 'bool') return;
    if (isFloat(a.type)) {
      const v = a.type === 'f32' ? 'f32x4' : 'f64x2';
      f.op(`${v}.abs`);
      splatConst(f, a.type, 0);
      f.op(`${v}.gt`);
    } else {
      splatConst(f, a.type, 0);
      f.op(wasmType(a.type) === 'i64' ? 'i64x2.ne' : 'i32x4.ne');
    }
  };
  if (!isWide(a.type)) {
    one(part);
    return;
  }
  one(2 * part);
  one(2 * part + 1);
  packLow(f);
}

/** A mask becomes 0 or 1: the bits of a one, where it is set. */
function fromBool(g: Gen, evaluate: Evaluate, e: Expr & { op: 'cast' }, part: number): void {
  const { f } = g;
  if (isWide(e.type)) {
    evaluate.part(e.a, part >> 1);
    f.op(part & 1 ? 'i64x2.extend_high_i32x4_s' : 'i64x2.extend_low_i32x4_s');
  } else {
    evaluate.part(e.a, part);
  }
  splatConst(f, e.type, 1);
  f.op('v128.and');
}

/** Wraps the i32 lanes on the stack to a storage type. */
export function narrowVector(g: Gen, to: ElemType): void {
  const { f } = g;
  if (to === 'i8' || to === 'i16') {
    const shift = to === 'i8' ? 24 : 16;
    f.i32(shift);
    f.op('i32x4.shl');
    f.i32(shift);
    f.op('i32x4.shr_s');
  } else if (to === 'u8' || to === 'u16') {
    splatConst(f, 'i32', to === 'u8' ? 0xff : 0xffff);
    f.op('v128.and');
  }
}
