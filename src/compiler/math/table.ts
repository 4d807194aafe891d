/**
 * The math table: for each approximated function a body that computes it from the plain operations of the IR.
 *
 * All devices expand the same bodies (passes/expand-math.ts), so that they agree bit for bit wherever products and sums are
 * not contracted. Errors over all arguments: docs/math.md. Renderers may let a device contract, never reassociate: the bodies
 * add and subtract constants to round, and sum exactly in two parts.
 */
import type { Expr, MathFn } from '../ir/ops.ts';
import { erf, erfc } from './erf.ts';
import { exp, exp2, expm1 } from './exp.ts';
import { lgamma, tgamma } from './gamma.ts';
import { acosh, asinh, atanh, cosh, sinh, tanh } from './hyperbolic.ts';
import { acos, asin, atan, atan2 } from './inverse.ts';
import { log, log1p, log2, log10 } from './log.ts';
import { pow } from './pow.ts';
import { cbrt, hypot, rsqrt } from './roots.ts';
import { cos, sin, tan } from './trig.ts';

/** Builds the result from the arguments. A pure graph: nodes may be shared, see lower.ts. */
export type MathBody = (...args: Expr[]) => Expr;

/** Two results of one argument, which share what they can. */
export type PairBody = (x: Expr) => readonly [Expr, Expr];

/** Bodies for f32 arguments. */
export const MATH_F32: Readonly<Record<MathFn, MathBody>> = {
  exp: unary(exp),
  exp2: unary(exp2),
  expm1: unary(expm1),
  log: unary(log),
  log2: unary(log2),
  log10: unary(log10),
  log1p: unary(log1p),
  sin: unary(sin),
  cos: unary(cos),
  tan: unary(tan),
  asin: unary(asin),
  acos: unary(acos),
  atan: unary(atan),
  atan2: binary(atan2),
  sinh: unary(sinh),
  cosh: unary(cosh),
  tanh: unary(tanh),
  asinh: unary(asinh),
  acosh: unary(acosh),
  atanh: unary(atanh),
  pow: binary(pow),
  hypot,
  cbrt: unary(cbrt),
  rsqrt: unary(rsqrt),
  erf: unary(erf),
  erfc: unary(erfc),
  tgamma: unary((x) => tgamma(x)),
  lgamma: unary((x) => lgamma(x)),
};

/** A body of one argument. */
export function unary(body: (x: Expr) => Expr): MathBody {
  return (...args) => body(argument(args, 0));
}

/** A body of two arguments. */
export function binary(body: (x: Expr, y: Expr) => Expr): MathBody {
  return (...args) => body(argument(args, 0), argument(args, 1));
}

function argument(args: readonly Expr[], k: number): Expr {
  const a = args[k];
  if (!a) throw new RangeError(`a math function was called with ${args.length} arguments and needs more`);
  return a;
}
