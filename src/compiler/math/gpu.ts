/**
 * The math table for GPUs: bodies with fma and with the approximations that the hardware has (`ApproxOp`).
 *
 * f32 functions that have no body of their own here take that of the table for all devices. Errors: docs/math.md.
 */
import type { Expr, MathFn } from '../ir/ops.ts';
import { lgamma, tgamma } from './gamma.ts';
import { divideByReciprocal } from './gpu/divide32.ts';
import * as erf32 from './gpu/erf32.ts';
import * as exp32 from './gpu/exp32.ts';
import * as fast32 from './gpu/fast32.ts';
import * as inverse32 from './gpu/inverse32.ts';
import * as log32 from './gpu/log32.ts';
import { either } from './gpu/notation.ts';
import * as trig32 from './gpu/trig32.ts';
import { GPU_F64, GPU_SINCOS_F64 } from './gpu-f64.ts';
import { unlikely } from './notation.ts';
import { binary, MATH_F32, type MathBody, type PairBody, unary } from './table.ts';

/** A body with quotients by reciprocals. */
function reciprocals(body: MathBody): MathBody {
  return (...args) => divideByReciprocal(body(...args));
}

const unlikelySelect = (cond: Expr, a: Expr, b: Expr): Expr => unlikely(cond, a, b);

/** Bodies for f32 arguments. */
export const GPU_F32: Readonly<Record<MathFn, MathBody>> = {
  ...MATH_F32,
  exp: unary(exp32.exp),
  exp2: unary(exp32.exp2),
  expm1: unary(exp32.expm1),
  log: unary(log32.log),
  log2: unary(log32.log2),
  log10: unary(log32.log10),
  log1p: unary(log32.log1p),
  sin: unary(trig32.sin),
  cos: unary(trig32.cos),
  tan: unary(trig32.tan),
  asin: unary(inverse32.asin),
  acos: unary(inverse32.acos),
  atan: unary(inverse32.atan),
  sinh: unary(exp32.sinh),
  cosh: unary(exp32.cosh),
  tanh: unary(exp32.tanh),
  pow: binary(exp32.pow),
  hypot: erf32.hypot,
  cbrt: unary(erf32.cbrt),
  rsqrt: unary(erf32.rsqrt),
  erf: unary(erf32.erf),
  erfc: reciprocals(MATH_F32.erfc),
  asinh: reciprocals(MATH_F32.asinh),
  acosh: reciprocals(MATH_F32.acosh),
  atanh: reciprocals(MATH_F32.atanh),
  tgamma: unary((x) => tgamma(x, unlikelySelect)),
  lgamma: reciprocals(unary((x) => lgamma(x, either, unlikelySelect))),
};

/** Bodies for f32 arguments with fastMath. */
export const GPU_FAST_F32: Readonly<Record<MathFn, MathBody>> = {
  ...GPU_F32,
  ...Object.fromEntries(Object.entries(fast32.FAST_UNARY).map(([fn, body]) => [fn, unary(body)])),
  pow: binary(fast32.fastPow),
  hypot: fast32.fastHypot,
};

/** Sine and cosine together; undefined where they are the hardware's instructions. */
export function gpuSincos(type: 'f32' | 'f64', fast: boolean): PairBody | undefined {
  if (type === 'f64') return GPU_SINCOS_F64;
  return fast ? undefined : trig32.sincos;
}

/** The body of a function for GPUs; undefined where the hardware's own instruction is all there is to it (`rsqrt.approx.f32`). */
export function gpuBody(fn: MathFn, type: 'f32' | 'f64', fast: boolean): MathBody | undefined {
  if (type === 'f64') return GPU_F64[fn];
  if (fn === 'rsqrt' && !fast) return undefined;
  return fast ? GPU_FAST_F32[fn] : GPU_F32[fn];
}
