/**
 * The math table of f64 for GPUs.
 */
import type { MathFn } from '../ir/ops.ts';
import * as exp64 from './gpu/exp64.ts';
import * as gamma64 from './gpu/gamma64.ts';
import * as inverse64 from './gpu/inverse64.ts';
import * as log64 from './gpu/log64.ts';
import * as pow64 from './gpu/pow64.ts';
import * as trig64 from './gpu/trig64.ts';
import { binary, type MathBody, type PairBody, unary } from './table.ts';

/** Bodies for f64 arguments. */
export const GPU_F64: Readonly<Record<MathFn, MathBody>> = {
  exp: unary(exp64.exp),
  exp2: unary(exp64.exp2),
  expm1: unary(exp64.expm1),
  log: unary(log64.log),
  log2: unary(log64.log2),
  log10: unary(log64.log10),
  log1p: unary(log64.log1p),
  sin: unary(trig64.sin),
  cos: unary(trig64.cos),
  tan: unary(trig64.tan),
  asin: unary(inverse64.asin),
  acos: unary(inverse64.acos),
  atan: unary(inverse64.atan),
  atan2: binary(inverse64.atan2),
  sinh: unary(exp64.sinh),
  cosh: unary(exp64.cosh),
  tanh: unary(exp64.tanh),
  asinh: unary(inverse64.asinh),
  acosh: unary(inverse64.acosh),
  atanh: unary(inverse64.atanh),
  pow: binary(pow64.pow),
  hypot: pow64.hypot,
  cbrt: unary(pow64.cbrt),
  rsqrt: unary(pow64.rsqrt),
  erf: unary(gamma64.erf),
  erfc: unary(gamma64.erfc),
  tgamma: unary(gamma64.tgamma),
  lgamma: unary(gamma64.lgamma),
};

/** Sine and cosine together. */
export const GPU_SINCOS_F64: PairBody = trig64.sincos;
