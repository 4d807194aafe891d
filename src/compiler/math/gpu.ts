/**
 * The math table for GPUs: bodies with fma and with the approximations that the hardware has (`ApproxOp`).
 */
import type { MathFn } from '../ir/ops.ts';
import { MATH_F32, MATH_F64, type MathBody } from './table.ts';

/** The body of a function for GPUs. */
export function gpuBody(fn: MathFn, type: 'f32' | 'f64', fast: boolean): MathBody | undefined {
  if (type === 'f32') return fast ? MATH_F32[fn] : MATH_F32[fn];
  return MATH_F64[fn];
}
