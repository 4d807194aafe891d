/**
 * The math table for f64 on processors: bodies with which vectors of two numbers are faster than the host's function for each.
 *
 * Functions that have none here are the host's.
 */
import type { MathFn } from '../../ir/ops.ts';
import { rsqrt } from '../roots.ts';
import { binary, type MathBody, unary } from '../table.ts';
import { exp, exp2, tanh } from './exp.ts';
import { log, log2, log10 } from './log.ts';
import { hypot, pow } from './pow.ts';
import { cos, sin } from './trig.ts';

export { sincos as SINCOS_F64 } from './trig.ts';

export const MATH_F64: Readonly<Partial<Record<MathFn, MathBody>>> = {
  exp: unary(exp),
  exp2: unary(exp2),
  log: unary(log),
  log2: unary(log2),
  log10: unary(log10),
  sin: unary(sin),
  cos: unary(cos),
  tanh: unary(tanh),
  pow: binary(pow),
  hypot,
  rsqrt: unary(rsqrt),
};
