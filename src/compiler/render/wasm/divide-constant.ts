/**
 * Division of 32-bit integer vectors by a constant: the upper half of a product with the divisor's reciprocal, shifted. (Granlund and Montgomery,
 * "Division by invariant integers using multiplication".)
 */
import type { Reciprocal } from '../../ir/passes/lane-widths.ts';
import type { FunctionBuilder, Local } from './assembler.ts';
import { splatConst, withVector } from './vector.ts';

/** Pushes the quotient of `x`, rounded towards zero or, as a `floor`, downwards. */
export function divideByConstant(
  f: FunctionBuilder,
  x: Local,
  { factor, shift }: Reciprocal,
  rounding: 'unsigned' | 'trunc' | 'floor',
): void {
  if (rounding === 'unsigned') {
    shiftedProduct(f, x, factor, shift);
    return;
  }
  withVector(
    f,
    () => {
      f.get(x);
      f.i32(31);
      f.op('i32x4.shr_s');
    },
    (sign) =>
      withVector(
        f,
        () => {
          f.get(x);
          // ⌊x / d⌋ of a negative x is ~⌊~x / d⌋.
          if (rounding === 'floor') {
            f.get(sign);
            f.op('v128.xor');
          } else f.op('i32x4.abs');
        },
        (size) => {
          shiftedProduct(f, size, factor, shift);
          f.get(sign);
          f.op('v128.xor');
          if (rounding === 'floor') return;
          f.get(sign);
          f.op('i32x4.sub');
        },
      ),
  );
}

function shiftedProduct(f: FunctionBuilder, u: Local, factor: number, shift: number): void {
  for (const half of ['low', 'high'] as const) {
    f.get(u);
    splatConst(f, 'u32', factor);
    f.op(`i64x2.extmul_${half}_i32x4_u`);
  }
  // The upper words of both pairs of products.
  f.shuffle([4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]);
  f.i32(shift - 32);
  f.op('i32x4.shr_u');
}
