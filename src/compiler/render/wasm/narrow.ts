/**
 * Evaluation of integers and bools in lanes of 8 and 16 bits, and the conversions between lanes of different widths.
 *
 * Whoever wants a value says in lanes of how many bits; it is computed in those, or in those that suit it better and then
 * converted. `part` of expr.ts is what lanes of 32 bits are asked of, and asks here where narrower ones are better.
 */
import type { ElemType, Expr } from '../../ir/ops.ts';
import { elementBits, fits, fitsSign, type LaneBits, reciprocal } from '../../ir/passes/lane-widths.ts';
import type { Local } from './assembler.ts';
import type { Evaluate } from './convert.ts';
import { type Gen, shapeOf, varLocals } from './gen.ts';
import {
  divideBy255,
  divideWords,
  extend,
  lanesName,
  MOST_BY_255,
  narrow,
  remainderWords,
  type Sign,
  shift,
  splatBits,
} from './narrow-ops.ts';
import type { PlainOp } from './opcodes.ts';
import type { Push } from './scalar.ts';
import { withVector } from './vector.ts';

/** The bits of the lanes in which a vector is best computed. */
export function bitsOf(g: Gen, e: Expr): LaneBits {
  return g.widths === undefined || shapeOf(g, e) !== 'V' ? 32 : g.widths.of(e);
}

/** The bits in which a vector is computed that is wanted in lanes of `wanted`. */
export function bitsFor(g: Gen, e: Expr, wanted: LaneBits): LaneBits {
  return g.widths === undefined || shapeOf(g, e) !== 'V' ? 32 : g.widths.wantedAs(e, wanted);
}

/** The bits in which an expression that is computed in lanes of `bits` wants its operands. */
export function operandBits(g: Gen, e: Expr, bits: LaneBits): LaneBits {
  if (e.op === 'compare') return g.widths?.compare(e.a, e.b)?.bits ?? 32;
  return e.op === 'cast' && e.a.type === 'f32' ? 32 : bits;
}

/** Pushes part `p` of a value of any shape in lanes of `bits`, modulo 2^bits. */
export function narrowPart(g: Gen, evaluate: Evaluate, e: Expr, bits: LaneBits, p: number): void {
  const { f, widths } = g;
  if (bits === 32 || widths === undefined) {
    evaluate.part(e, p);
    return;
  }
  const kept = g.prepared.get(e);
  const shape = shapeOf(g, e);
  if (shape !== 'V' && shape !== 'C') {
    splatNarrow(g, evaluate, e, bits);
    return;
  }
  if (kept?.shape === 'V') {
    resize(g, e, kept.bits ?? 32, bits, p, (q) => f.get(kept.locals[q] ?? 0));
    return;
  }
  const own = shape === 'C' ? 32 : widths.wantedAs(e, bits);
  const saturated = own > bits ? saturation(g, e, bits) : undefined;
  if (own === bits) compute(g, evaluate, e, bits, p);
  else if (saturated !== undefined)
    narrow(f, saturated.bits, bits, p, saturated.sign, (q) => narrowPart(g, evaluate, saturated.of, saturated.bits, q));
  else resize(g, e, own, bits, p, (q) => narrowPart(g, evaluate, e, own, q));
}

/** Pushes part `p` in lanes of `to` bits from the parts in lanes of `from`, which hold the value itself if they are the narrower. */
export function resize(g: Gen, e: Expr, from: LaneBits, to: LaneBits, p: number, push: (q: number) => void): void {
  if (from === to) {
    push(p);
    return;
  }
  const { f } = g;
  const range = g.widths?.ranges.of(e) ?? [0, 1];
  if (from < to) {
    const sign: Sign = e.type !== 'bool' && range[0] >= 0 ? 'u' : 's';
    const half = to === 32 ? 16 : 8;
    resize(g, e, from, half, p >> 1, push);
    extend(f, half, p & 1, sign);
  } else if (to !== 32) {
    narrow(f, from, to, p, e.type === 'bool' ? 's' : fits(range, to), push);
  }
}

/**
 * `min(max(x, least), most)` with the limits of a type of `bits` is what narrowing x does by itself; so is half of it where the
 * result fits.
 */
function saturation(
  g: Gen,
  e: Expr,
  bits: 8 | 16,
): { readonly of: Expr; readonly bits: 16 | 32; readonly sign: Sign } | undefined {
  const { widths } = g;
  if (widths === undefined || e.op !== 'binary' || e.type !== 'i32') return undefined;
  const sign = fits(widths.ranges.of(e), bits);
  if (sign === undefined) return undefined;
  const least = sign === 'u' ? 0 : -(2 ** (bits - 1));
  const most = sign === 'u' ? 2 ** bits - 1 : 2 ** (bits - 1) - 1;
  let x: Expr = e;
  while (x.op === 'binary' && (x.fn === 'min' || x.fn === 'max')) {
    const [limit, other]: readonly Expr[] = x.a.op === 'const' ? [x.a, x.b] : [x.b, x.a];
    if (limit?.op !== 'const' || other === undefined || Number(limit.value) !== (x.fn === 'min' ? most : least)) break;
    x = other;
  }
  const range = widths.ranges.of(x);
  if (x === e) return undefined;
  const from = bitsOf(g, x);
  // What is narrowed is taken for numbers with a sign.
  if (from <= bits || from === 8 || fits(range, from) === undefined || range[1] >= 2 ** (from - 1)) return undefined;
  return { of: x, bits: from, sign };
}

function splatNarrow(g: Gen, evaluate: Evaluate, e: Expr, bits: 8 | 16): void {
  const { f } = g;
  if (e.op === 'const') {
    splatBits(f, bits, e.type === 'bool' ? -Number(e.value) : Number(e.value));
    return;
  }
  if (e.type === 'bool') f.i32(0);
  evaluate.scalar(e);
  if (e.type === 'bool') f.op('i32.sub');
  f.op(`${lanesName(bits)}.splat`);
}

function compute(g: Gen, evaluate: Evaluate, e: Expr, bits: 8 | 16, p: number): void {
  const { f } = g;
  const lanes = lanesName(bits);
  const operand =
    (x: Expr): Push =>
    () =>
      narrowPart(g, evaluate, x, bits, p);
  switch (e.op) {
    case 'var':
      f.get(varLocals(g, e.var)[p] ?? 0);
      return;
    case 'unary':
      if (e.fn === 'abs' && distance(g, e.a, bits, operand)) return;
      operand(e.a)();
      if (e.fn === 'not') f.op('v128.not');
      else if (e.fn !== 'uniform') f.op(`${lanes}.${e.fn as 'neg'}`);
      return;
    case 'binary':
      binary(g, e, bits, operand(e.a), operand(e.b));
      return;
    case 'compare':
      compare(g, evaluate, e, p);
      return;
    case 'select':
      operand(e.a)();
      operand(e.b)();
      if (shapeOf(g, e.cond) === 'V') {
        operand(e.cond)();
        f.op('v128.bitselect');
      } else {
        evaluate.scalar(e.cond);
        f.op('select');
      }
      return;
    case 'bitcast':
      operand(e.a)();
      return;
    case 'cast':
      cast(g, evaluate, e, bits, p, operand(e.a));
      return;
    default:
      throw new Error(`internal error: ${e.op} is not to be evaluated in lanes of ${bits} bits`);
  }
}

/** The size of a difference that has one bit more than lanes of `bits`; false for any other. */
function distance(g: Gen, e: Expr, bits: 8 | 16, operand: (x: Expr) => Push): boolean {
  const { f, widths } = g;
  if (widths === undefined || e.op !== 'binary' || fitsSign(widths.ranges.of(e), bits, 's')) return false;
  const sign = widths.distance(e, bits);
  if (sign === undefined) return false;
  for (const fn of ['max', 'min'] as const) {
    operand(e.a)();
    operand(e.b)();
    f.op(`${lanesName(bits)}.${fn}_${sign}`);
  }
  f.op(`${lanesName(bits)}.sub`);
  return true;
}

function binary(g: Gen, e: Expr & { op: 'binary' }, bits: 8 | 16, a: Push, b: Push): void {
  const { f } = g;
  const lanes = lanesName(bits);
  const both = (op: PlainOp): void => {
    a();
    b();
    f.op(op);
  };
  const constant = e.b.op === 'const' ? Number(e.b.value) : 0;
  const sign: Sign = isNatural(g, e.a) ? 'u' : 's';
  switch (e.fn) {
    case 'add':
    case 'sub':
      both(`${lanes}.${e.fn}`);
      return;
    case 'mul':
      both('i16x8.mul');
      return;
    case 'and':
    case 'or':
    case 'xor':
      both(`v128.${e.fn}`);
      return;
    case 'shl':
    case 'shr':
      shift(f, bits, e.fn, sign, constant, a);
      return;
    case 'min':
    case 'max':
      both(`${lanes}.${e.fn}_${isNatural(g, e.a) && isNatural(g, e.b) ? 'u' : 's'}`);
      return;
    case 'div':
    case 'floordiv':
    case 'rem':
      divide(g, e, bits, constant, a);
      return;
    default:
      throw new Error(`internal error: ${e.fn} is not to be evaluated in lanes of ${bits} bits`);
  }
}

/** Whether a value is never negative. */
function isNatural(g: Gen, e: Expr): boolean {
  return (g.widths?.ranges.of(e)[0] ?? -1) >= 0;
}

/** Division of what is not negative by a positive constant. */
function divide(g: Gen, e: Expr & { op: 'binary' }, bits: 8 | 16, divisor: number, a: Push): void {
  const { f } = g;
  const power = Math.log2(divisor);
  if (Number.isInteger(power)) {
    if (e.fn !== 'rem') {
      shift(f, bits, 'shr', 'u', power, a);
      return;
    }
    a();
    splatBits(f, bits, divisor - 1);
    f.op('v128.and');
    return;
  }
  const most = g.widths?.ranges.of(e.a)[1] ?? 0xffff;
  const found = reciprocal(divisor, most, 16);
  if (found === undefined) throw new Error(`internal error: no reciprocal of ${divisor}`);
  const quotient = (x: Local): void => {
    if (divisor === 255 && most <= MOST_BY_255) divideBy255(f, x);
    else divideWords(f, x, found);
  };
  if (e.fn === 'rem') remainderWords(f, a, divisor, quotient);
  else withVector(f, a, quotient);
}

function compare(g: Gen, evaluate: Evaluate, e: Expr & { op: 'compare' }, p: number): void {
  const { f } = g;
  const found = g.widths?.compare(e.a, e.b);
  if (found === undefined) throw new Error('internal error: a comparison of wide values in narrow lanes');
  const { bits, sign, clamp } = found;
  for (const x of [e.a, e.b]) {
    const shape = shapeOf(g, x);
    if (shape === 'V' || shape === 'C') narrowPart(g, evaluate, x, bits, p);
    else clamped(g, evaluate, x, bits, clamp);
  }
  const order = e.fn === 'eq' || e.fn === 'ne' ? e.fn : (`${e.fn}_${sign}` as const);
  f.op(`${lanesName(bits)}.${order}`);
}

/** A scalar brought to within limits beyond which it makes no difference to a comparison. */
function clamped(g: Gen, evaluate: Evaluate, e: Expr, bits: 8 | 16, [least, most]: readonly [number, number]): void {
  const { f } = g;
  const [low, high] = g.widths?.ranges.of(e) ?? [0, 0];
  if (e.op === 'const') {
    splatBits(f, bits, Math.min(Math.max(Number(e.value), least), most));
    return;
  }
  evaluate.scalar(e);
  const x = f.temp('i32');
  const order = e.type === 'u32' ? 'u' : 's';
  const bring = (bound: number, keep: PlainOp): void => {
    f.set(x);
    f.get(x);
    f.i32(bound);
    f.get(x);
    f.i32(bound);
    f.op(keep, 'select');
  };
  // Without a sign nothing is below 0, and -1 would be the largest number.
  if (low < least && (order === 's' || least > 0)) bring(least, `i32.gt_${order}`);
  if (high > most) bring(most, `i32.lt_${order}`);
  f.release('i32', x);
  f.op(`${lanesName(bits)}.splat`);
}

function cast(g: Gen, evaluate: Evaluate, e: Expr & { op: 'cast' }, bits: 8 | 16, p: number, a: Push): void {
  const { f } = g;
  if (e.a.type === 'bool') {
    a();
    splatBits(f, bits, 1);
    f.op('v128.and');
    return;
  }
  if (e.a.type === 'f32') {
    saturate(g, evaluate, e, bits, p);
    return;
  }
  a();
  const target = elementBits(e.to) ?? 32;
  if (target >= bits || isByte(e.to, g.widths?.ranges.of(e.a) ?? [Number.NEGATIVE_INFINITY, 0])) return;
  if (e.to === 'u8') {
    splatBits(f, 16, 0xff);
    f.op('v128.and');
    return;
  }
  f.i32(8);
  f.op('i16x8.shl');
  f.i32(8);
  f.op('i16x8.shr_s');
}

/** Whether bytes of a type hold a range. */
function isByte(to: ElemType, [low, high]: readonly [number, number]): boolean {
  return to === 'u8' ? low >= 0 && high <= 0xff : low >= -0x80 && high <= 0x7f;
}

/** Part `p` in lanes of 32 bits of the product of two values that fit 16; false where they do not. */
export function wideProduct(g: Gen, evaluate: Evaluate, e: Expr & { op: 'binary' }, p: number): boolean {
  const { f, widths } = g;
  if (widths === undefined || e.fn !== 'mul') return false;
  const operands = [e.a, e.b];
  const sign = (['s', 'u'] as const).find((s) => operands.every((x) => fitsSign(widths.ranges.of(x), 16, s)));
  const ready = operands.every((x) => shapeOf(g, x) !== 'C' && widths.isComputable(x, 16));
  if (sign === undefined || !ready) return false;
  for (const x of operands) narrowPart(g, evaluate, x, 16, p >> 1);
  f.op(`i32x4.extmul_${p & 1 ? 'high' : 'low'}_i16x8_${sign}`);
  return true;
}

/** Floats to integers of 8 or 16 bits, which saturate: narrowing does just that. */
function saturate(g: Gen, evaluate: Evaluate, e: Expr & { op: 'cast' }, bits: 8 | 16, p: number): void {
  const { f } = g;
  const unsigned = e.to === 'u8' || e.to === 'u16';
  const words = (q: number): void => {
    for (const half of [2 * q, 2 * q + 1]) {
      evaluate.part(e.a, half);
      f.op('i32x4.trunc_sat_f32x4_s');
    }
    f.op(e.to === 'u16' ? 'i16x8.narrow_i32x4_u' : 'i16x8.narrow_i32x4_s');
  };
  if (bits === 8) {
    words(2 * p);
    words(2 * p + 1);
    f.op(`i8x16.narrow_i16x8_${unsigned ? 'u' : 's'}`);
    return;
  }
  words(p);
  if (elementBits(e.to) === 16) return;
  splatBits(f, 16, unsigned ? 0 : -0x80);
  f.op('i16x8.max_s');
  splatBits(f, 16, unsigned ? 0xff : 0x7f);
  f.op('i16x8.min_s');
}
