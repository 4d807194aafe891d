/**
 * Members of packed records that are not aligned: GPUs fault on such accesses, so they are made of smaller ones that are.
 *
 * A load puts the pieces together, a store takes the value apart.
 */
import { rowOf } from '../../dtype/index.ts';
import { binary, bitcast, cast, constant, i32 } from '../ir/builder.ts';
import { type Hold, narrowSingle, widenNarrow } from '../ir/narrow-float.ts';
import { ELEM_SIZE, type ElemType, type Expr, type MemRef, type Stmt, widen } from '../ir/ops.ts';
import type { TMem } from '../types/tree.ts';

/** Whether an access would fault on some devices. */
export function isMisaligned(m: Pick<TMem, 'align' | 'elem'>): boolean {
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
  if (ELEM_SIZE[mem.elem] < 8) return fromWord(hold(word(0, parts.length)), mem.elem, hold);
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
function fromWord(bits: Expr, elem: ElemType, hold: Hold): Expr {
  const { narrow } = rowOf(elem);
  if (narrow !== undefined) return widenNarrow(narrow, bits, hold);
  switch (elem) {
    case 'f32':
      return bitcast('f32', bits);
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
  const bits = hold(wide ? toWide(value) : toWord(hold(value), mem.elem, hold));
  return parts.map((part, k): Stmt => {
    const shift = 8 * align * k;
    const shifted = shift === 0 ? bits : binary('shr', bits, constant(bits.type, shift));
    return { op: 'store', mem: part, value: cast(widen(part.elem), shifted), pos };
  });
}

function toWide(value: Expr): Expr {
  return value.type === 'f64' ? bitcast('u64', value) : cast('u64', value);
}

function toWord(value: Expr, elem: ElemType, hold: Hold): Expr {
  const { narrow } = rowOf(elem);
  if (narrow !== undefined) return narrowSingle(narrow, value, hold);
  return value.type === 'f32' ? bitcast('i32', value) : cast('i32', value);
}
