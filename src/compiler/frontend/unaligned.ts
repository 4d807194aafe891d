/**
 * Members of packed records that are not aligned: GPUs fault on such accesses, so they are made of smaller ones that are.
 *
 * A load puts the pieces together, a store takes the value apart. The bits of f16 are converted by hand, since no IR
 * operation gives them.
 */
import { add, binary, bitcast, cast, compare, constant, f32, i32, mul, select, sub, unary } from '../ir/builder.ts';
import { ELEM_SIZE, type ElemType, type Expr, type MemRef, type Stmt, widen } from '../ir/ops.ts';
import type { TMem } from '../types/tree.ts';

type Hold = (value: Expr) => Expr;

/** Whether an access would fault on some devices. */
export function isMisaligned(m: TMem): boolean {
  return m.align < ELEM_SIZE[m.elem];
}

const PIECES: Readonly<Record<number, ElemType>> = { 1: 'u8', 2: 'u16', 4: 'u32' };

/** The references to the aligned pieces of an element, lowest first; the index is computed once. */
function piecesOf(mem: MemRef, align: number, hold: Hold): readonly MemRef[] {
  const index = hold(mem.index);
  const checks = mem.checks.map((c) => ({ ...c, index: hold(c.index), extent: hold(c.extent) }));
  const elem = PIECES[align] ?? 'u8';
  return Array.from({ length: ELEM_SIZE[mem.elem] / align }, (_, k) => ({
    ...mem,
    elem,
    index,
    checks,
    disp: mem.disp + k * align,
  }));
}

/** The element at an address that is a multiple of `align` only. */
export function loadPieces(mem: MemRef, align: number, hold: Hold): Expr {
  const parts = piecesOf(mem, align, hold).map((m): Expr => ({ op: 'load', type: widen(m.elem), mem: m }));
  if (align === 4) return fromWide(join64(parts[0] as Expr, parts[1] as Expr), mem.elem);
  const word = (from: number, count: number): Expr =>
    parts
      .slice(from, from + count)
      .map((part, k) => (k === 0 ? part : binary('shl', part, i32(8 * align * k))))
      .reduce((low, high) => binary('or', low, high));
  if (ELEM_SIZE[mem.elem] < 8) return fromWord(hold(word(0, parts.length)), mem.elem);
  const half = parts.length / 2;
  return fromWide(join64(cast('u32', word(0, half)), cast('u32', word(half, half))), mem.elem);
}

function join64(low: Expr, high: Expr): Expr {
  return binary('or', cast('u64', low), binary('shl', cast('u64', high), constant('u64', 32)));
}

function fromWide(bits: Expr, elem: ElemType): Expr {
  return elem === 'f64' ? bitcast('f64', bits) : elem === 'i64' ? cast('i64', bits) : bits;
}

/** `bits` is an i32 with the element in its low bits, and zeros above. */
function fromWord(bits: Expr, elem: ElemType): Expr {
  switch (elem) {
    case 'f32':
      return bitcast('f32', bits);
    case 'f16':
      return fromHalf(bits);
    case 'u32':
      return cast('u32', bits);
    case 'i16':
      return cast('i16', bits);
    default:
      return bits;
  }
}

/** Writes an element to an address that is a multiple of `align` only. */
export function storePieces(mem: MemRef, align: number, value: Expr, hold: Hold): readonly Stmt[] {
  const { pos } = mem;
  const parts = piecesOf(mem, align, hold);
  const wide = ELEM_SIZE[mem.elem] === 8;
  const bits = hold(wide ? toWide(value) : toWord(hold(value), mem.elem));
  return parts.map((part, k): Stmt => {
    const shift = 8 * align * k;
    const shifted = shift === 0 ? bits : binary('shr', bits, constant(bits.type, shift));
    return { op: 'store', mem: part, value: cast(widen(part.elem), shifted), pos };
  });
}

function toWide(value: Expr): Expr {
  return value.type === 'f64' ? bitcast('u64', value) : cast('u64', value);
}

function toWord(value: Expr, elem: ElemType): Expr {
  if (elem === 'f16') return toHalf(value);
  return value.type === 'f32' ? bitcast('i32', value) : cast('i32', value);
}

/** The number whose half-precision bits these are; IEEE 754 binary16. */
function fromHalf(bits: Expr): Expr {
  const magnitude = binary('and', bits, i32(0x7fff));
  const normal = bitcast('f32', add(binary('shl', magnitude, i32(13)), i32(112 << 23)));
  const special = bitcast('f32', binary('or', binary('shl', magnitude, i32(13)), i32(0x7f800000)));
  const small = mul(cast('f32', magnitude), f32(2 ** -24));
  const positive = select(
    compare('lt', magnitude, i32(0x400)),
    small,
    select(compare('ge', magnitude, i32(0x7c00)), special, normal),
  );
  return select(compare('ne', binary('and', bits, i32(0x8000)), i32(0)), unary('neg', positive), positive);
}

/** The half-precision bits nearest to a number. */
function toHalf(value: Expr): Expr {
  const rounded = cast('f16', value);
  const sign = binary('and', binary('shr', bitcast('i32', rounded), i32(16)), i32(0x8000));
  const size = unary('abs', rounded);
  const normal = sub(binary('shr', bitcast('i32', size), i32(13)), i32(112 << 10));
  const small = cast('i32', mul(size, f32(2 ** 24)));
  const finite = select(compare('lt', size, f32(2 ** -14)), small, normal);
  const limited = select(compare('gt', size, f32(65504)), i32(0x7c00), finite);
  return binary('or', sign, select(unary('isNaN', rounded), i32(0x7e00), limited));
}
