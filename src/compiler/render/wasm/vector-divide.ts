/**
 * Division of 32-bit integer vectors, which SIMD128 lacks.
 *
 * By a constant power of two it is shifts, by most other positive constants a product (`divide-constant.ts`). Otherwise it is done in double
 * precision, whose quotient of two 32-bit integers never rounds across an integer: the true quotient is at least 2^-32 away from
 * the next one and the relative error is 2^-53.
 */
import { isUnsigned, type ValueType } from '../../ir/ops.ts';
import { reciprocal } from '../../ir/passes/lane-widths.ts';
import type { FunctionBuilder, Local } from './assembler.ts';
import { divideByConstant } from './divide-constant.ts';
import type { Push } from './scalar.ts';
import { highHalf, packHalves, splatConst, withVector } from './vector.ts';

export type Division = 'div' | 'rem' | 'floordiv';

/** `constant`: the divisor where it is one. `wraps`: a remainder that most often takes the divisor away once, or not at all. */
export function divideVector(
  f: FunctionBuilder,
  fn: Division,
  type: ValueType,
  a: Push,
  b: Push,
  constant: number | undefined,
  wraps: boolean,
): void {
  const power = constant !== undefined && constant > 0 ? Math.log2(constant) : Number.NaN;
  if (Number.isInteger(power)) {
    dividePower(f, fn, type, a, power);
    return;
  }
  withVector(f, a, (x) =>
    withVector(f, b, (y) => {
      const divided = (): void => {
        if (fn === 'rem') f.get(x);
        quotient(f, fn, type, x, y, constant);
        if (fn === 'rem') {
          f.get(y);
          f.op('i32x4.mul', 'i32x4.sub');
        }
        if (constant === undefined) {
          // x/0 and x%0 are 0.
          f.get(y);
          splatConst(f, 'i32', 0);
          f.op('i32x4.ne', 'v128.and');
        }
      };
      if (fn === 'rem' && wraps) wrapped(f, type, x, y, divided);
      else divided();
    }),
  );
}

/** `x % y`, without a division where 0 <= x < 2 y in all lanes. */
function wrapped(f: FunctionBuilder, type: ValueType, x: Local, y: Local, divided: () => void): void {
  withVector(
    f,
    () => {
      // Below y, x - y wraps to more than x.
      f.get(x, x, y);
      f.op('i32x4.sub', 'i32x4.min_u');
    },
    (rest) => {
      f.get(rest, y);
      f.op('i32x4.ge_u');
      if (!isUnsigned(type)) {
        f.get(x);
        f.op('v128.or');
        f.get(y);
        f.op('v128.or');
      }
      f.op('i32x4.bitmask');
      f.if('v128');
      divided();
      f.else();
      f.get(rest);
      f.end();
    },
  );
}

function quotient(
  f: FunctionBuilder,
  fn: Division,
  type: ValueType,
  x: Local,
  y: Local,
  constant: number | undefined,
): void {
  const unsigned = isUnsigned(type);
  // Signed dividends are made positive, for which there is always one; of unsigned ones some divisors, 7 among them, need 33 bits.
  const most = unsigned ? 2 ** 32 - 1 : 2 ** 31;
  const inverse = constant !== undefined && constant > 0 ? reciprocal(constant, most, 32) : undefined;
  if (inverse !== undefined) {
    divideByConstant(f, x, inverse, unsigned ? 'unsigned' : fn === 'floordiv' ? 'floor' : 'trunc');
    return;
  }
  const sign = unsigned ? 'u' : 's';
  for (const half of ['low', 'high']) {
    for (const operand of [x, y]) {
      if (half === 'low') f.get(operand);
      else highHalf(f, () => f.get(operand));
      f.op(`f64x2.convert_low_i32x4_${sign}`);
    }
    f.op('f64x2.div');
    if (fn === 'floordiv') f.op('f64x2.floor');
    f.op(`i32x4.trunc_sat_f64x2_${sign}_zero`);
  }
  packHalves(f);
  if (sign === 's' && (constant === undefined || constant === -1)) {
    // The least integer by -1 saturates above, but wraps.
    withVector(
      f,
      () => {},
      (q) => {
        f.get(x);
        f.op('i32x4.neg');
        f.get(q, y);
        splatConst(f, 'i32', -1);
        f.op('i32x4.eq', 'v128.bitselect');
      },
    );
  }
}

function dividePower(f: FunctionBuilder, fn: Division, type: ValueType, a: Push, power: number): void {
  const unsigned = isUnsigned(type);
  if (power === 0) {
    a();
    if (fn === 'rem') {
      f.op('drop');
      splatConst(f, type, 0);
    }
    return;
  }
  const mask = 2 ** power - 1;
  if (unsigned || fn === 'floordiv') {
    a();
    if (fn === 'rem') {
      splatConst(f, 'i32', mask);
      f.op('v128.and');
    } else {
      f.i32(power);
      f.op(unsigned ? 'i32x4.shr_u' : 'i32x4.shr_s');
    }
    return;
  }
  withVector(f, a, (x) => {
    // Truncation rounds negative dividends up: add divisor - 1 to them before shifting.
    const biased = (): void => {
      f.get(x, x);
      f.i32(31);
      f.op('i32x4.shr_s');
      f.i32(32 - power);
      f.op('i32x4.shr_u', 'i32x4.add');
    };
    if (fn === 'div') {
      biased();
      f.i32(power);
      f.op('i32x4.shr_s');
      return;
    }
    f.get(x);
    biased();
    splatConst(f, 'i32', ~mask);
    f.op('v128.and', 'i32x4.sub');
  });
}
