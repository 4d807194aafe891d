/**
 * Half precision, four values at a time: the vector twins of the helpers `half_to_f32` and `f32_to_half`.
 */
import type { FunctionBuilder } from './assembler.ts';
import type { Push } from './scalar.ts';
import { splatConst, withVector } from './vector.ts';

/** i32x4 of half-precision bits to f32x4. */
export function halfToFloatVector(f: FunctionBuilder, push: Push): void {
  withVector(f, push, (half) => {
    const shifted = f.temp('v128');
    f.get(half);
    splatConst(f, 'i32', 0x7fff);
    f.op('v128.and');
    f.i32(13);
    f.op('i32x4.shl');
    f.tee(shifted);
    splatConst(f, 'i32', 0x7f800000);
    f.op('v128.or');
    // Times 2^112 rebases the exponent and normalises what is denormal.
    f.get(shifted);
    splatConst(f, 'f32', 2 ** 112);
    f.op('f32x4.mul');
    f.get(shifted);
    splatConst(f, 'i32', (0x7c00 << 13) - 1);
    f.op('i32x4.gt_s', 'v128.bitselect');
    f.get(half);
    splatConst(f, 'i32', 0x8000);
    f.op('v128.and');
    f.i32(16);
    f.op('i32x4.shl', 'v128.or');
    f.release('v128', shifted);
  });
}

/** f32x4 to the halves nearest to them, as f32x4: what both conversions give, in a third of the operations. */
export function roundToHalfVector(f: FunctionBuilder, push: Push): void {
  withVector(f, push, (x) => {
    const [size, rounded] = [f.temp('v128'), f.temp('v128')];
    f.get(x);
    f.op('f32x4.abs');
    f.set(size);
    // Normal: half of the last bit, less one, and the last bit itself; what is below goes.
    f.get(size);
    f.i32(13);
    f.op('i32x4.shr_u');
    splatConst(f, 'i32', 1);
    f.op('v128.and');
    f.get(size);
    splatConst(f, 'i32', 0xfff);
    f.op('i32x4.add', 'i32x4.add');
    splatConst(f, 'i32', -0x2000);
    f.op('v128.and');
    // Denormal: the last bit of 0.5 and more is worth as much as that of a denormal.
    f.get(size);
    splatConst(f, 'f32', 0.5);
    f.op('f32x4.add');
    splatConst(f, 'f32', 0.5);
    f.op('f32x4.sub');
    f.get(size);
    splatConst(f, 'i32', 0x38800000 - 1);
    f.op('i32x4.gt_s', 'v128.bitselect');
    f.set(rounded);
    // Too large: infinity, and a NaN stays what it is.
    f.get(size);
    splatConst(f, 'i32', 0x7f800000);
    f.op('i32x4.max_s');
    f.get(rounded);
    // Of the size itself, half of the last bit above the greatest: a NaN of many bits wraps when it is rounded.
    f.get(size);
    splatConst(f, 'i32', 0x477ff000 - 1);
    f.op('i32x4.gt_s', 'v128.bitselect');
    f.get(x);
    splatConst(f, 'i32', -0x80000000);
    f.op('v128.and', 'v128.or');
    f.release('v128', size, rounded);
  });
}

/** f32x4 to i32x4 of half-precision bits, rounding half to even. */
export function floatToHalfVector(f: FunctionBuilder, push: Push): void {
  withVector(f, push, (x) => {
    const bits = f.temp('v128');
    f.get(x);
    f.op('f32x4.abs');
    f.set(bits);
    // Infinity and NaN.
    splatConst(f, 'i32', 0x7e00);
    splatConst(f, 'i32', 0x7c00);
    f.get(bits);
    splatConst(f, 'i32', 0x7f800000);
    f.op('i32x4.gt_s', 'v128.bitselect');
    // Denormal: adding 0.5 leaves the rounded half in the low bits.
    f.get(bits);
    splatConst(f, 'f32', 0.5);
    f.op('f32x4.add');
    splatConst(f, 'i32', 0x3f000000);
    f.op('i32x4.sub');
    // Normal.
    f.get(bits);
    splatConst(f, 'i32', 0xfff - ((127 - 15) << 23));
    f.op('i32x4.add');
    f.get(bits);
    f.i32(13);
    f.op('i32x4.shr_u');
    splatConst(f, 'i32', 1);
    f.op('v128.and', 'i32x4.add');
    f.i32(13);
    f.op('i32x4.shr_u');
    f.get(bits);
    splatConst(f, 'i32', 0x38800000);
    f.op('i32x4.lt_s', 'v128.bitselect');
    f.get(bits);
    splatConst(f, 'i32', 0x47800000 - 1);
    f.op('i32x4.gt_s', 'v128.bitselect');
    f.get(x);
    splatConst(f, 'i32', -0x80000000);
    f.op('v128.and');
    f.i32(16);
    f.op('i32x4.shr_u', 'v128.or');
    // A NaN has no sign.
    splatConst(f, 'i32', 0x7fff);
    splatConst(f, 'i32', -1);
    f.get(bits);
    splatConst(f, 'i32', 0x7f800000);
    f.op('i32x4.gt_s', 'v128.bitselect', 'v128.and');
    f.release('v128', bits);
  });
}
