/**
 * Vectors with lanes of 8 and 16 bits: how they become wider and narrower, and one operator at a time on them.
 *
 * A lane holds an integer modulo 2^8 or 2^16, or the mask of a bool. Which operators may be computed in which lanes has been
 * decided before (ir/passes/lane-widths.ts).
 */
import type { LaneBits } from '../../ir/passes/lane-widths.ts';
import type { FunctionBuilder, Local } from './assembler.ts';
import type { PlainOp } from './opcodes.ts';
import type { Push } from './scalar.ts';
import { withVector } from './vector.ts';

export type Sign = 's' | 'u';

/** The name of the vector type with lanes of so many bits. */
export function lanesName(bits: LaneBits): 'i8x16' | 'i16x8' | 'i32x4' {
  return bits === 8 ? 'i8x16' : bits === 16 ? 'i16x8' : 'i32x4';
}

/** Pushes the same number in all lanes. */
export function splatBits(f: FunctionBuilder, bits: LaneBits, value: number): void {
  const word = bits === 8 ? (value & 0xff) * 0x01010101 : bits === 16 ? (value & 0xffff) * 0x00010001 : value;
  f.v128([word | 0, word | 0, word | 0, word | 0]);
}

/** Stack: a vector. Leaves one half of its lanes, twice as wide. */
export function extend(f: FunctionBuilder, from: 8 | 16, half: number, sign: Sign): void {
  f.op(`${from === 8 ? 'i16x8' : 'i32x4'}.extend_${half === 0 ? 'low' : 'high'}_${lanesName(from)}_${sign}` as PlainOp);
}

/** What is known of lanes that become narrower: that they fit, with this sign or without; else they are cut. */
export type Fit = Sign | undefined;

/** Pushes part `p` of lanes of `to` bits from parts of wider ones. */
export function narrow(
  f: FunctionBuilder,
  from: LaneBits,
  to: 8 | 16,
  p: number,
  fit: Fit,
  push: (part: number) => void,
): void {
  const cut = (part: number): void => {
    push(part);
    if (fit !== undefined) return;
    splatBits(f, from, 2 ** to - 1);
    f.op('v128.and');
  };
  /** To half the width: `sign` says what to saturate to, which nothing does. */
  const halve = (bits: 16 | 32, part: number, sign: Sign): void => {
    cut(2 * part);
    cut(2 * part + 1);
    f.op(`${bits === 32 ? 'i16x8' : 'i8x16'}.narrow_${lanesName(bits)}_${sign}` as PlainOp);
  };
  const last = fit ?? 'u';
  if (from === 2 * to) {
    halve(to === 8 ? 16 : 32, p, last);
    return;
  }
  // From 32 bits to 8, whose numbers all fit 16 with a sign.
  halve(32, 2 * p, 's');
  halve(32, 2 * p + 1, 's');
  f.op(`i8x16.narrow_i16x8_${last}`);
}

/** Shifts by a constant. Bytes have no shifts worth the name: words do it, and what came from the neighbour goes. */
export function shift(f: FunctionBuilder, bits: 8 | 16, fn: 'shl' | 'shr', sign: Sign, count: number, a: Push): void {
  a();
  if (count === 0) return;
  f.i32(count);
  f.op(fn === 'shl' ? 'i16x8.shl' : `i16x8.shr_${sign}`);
  if (bits === 16) return;
  splatBits(f, 8, fn === 'shl' ? 0xff << count : 0xff >> count);
  f.op('v128.and');
}

/** Words without a sign, divided: the upper parts of products with `factor`. */
export function divideWords(f: FunctionBuilder, x: Local, { factor, shift }: { factor: number; shift: number }): void {
  const half = (which: 'low' | 'high'): void => {
    f.get(x);
    splatBits(f, 16, factor);
    f.op(`i32x4.extmul_${which}_i16x8_u`);
  };
  half('low');
  if (shift === 16) {
    half('high');
    f.shuffle([2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31]);
    return;
  }
  f.i32(shift);
  f.op('i32x4.shr_u');
  half('high');
  f.i32(shift);
  f.op('i32x4.shr_u', 'i16x8.narrow_i32x4_u');
}

/** Up to which `divideBy255` is right: beyond it the sum wraps. */
export const MOST_BY_255: number = 0xffff - 0xff - 1;

/** What scales the product of two bytes back to a byte: (x + 1 + (x >> 8)) >> 8. */
export function divideBy255(f: FunctionBuilder, x: Local): void {
  f.get(x, x);
  f.i32(8);
  f.op('i16x8.shr_u', 'i16x8.add');
  splatBits(f, 16, 1);
  f.op('i16x8.add');
  f.i32(8);
  f.op('i16x8.shr_u');
}

/** The remainder, from the quotient. */
export function remainderWords(f: FunctionBuilder, a: Push, divisor: number, quotient: (x: Local) => void): void {
  withVector(f, a, (x) => {
    f.get(x);
    quotient(x);
    splatBits(f, 16, divisor);
    f.op('i16x8.mul', 'i16x8.sub');
  });
}
