/**
 * Special functions: bodies for f32 and f64 alike, in plain operations and calls of the math table. Expanded while lowering, so that every device computes the same
 * from what it has.
 */
import type { Expr } from '../../ir/ops.ts';
import { i0, i1, j0, j1, y0, y1 } from './bessel.ts';
import { erfcinv, erfcx, erfinv, normcdf, normcdfinv } from './error.ts';
import type { SpecialFn } from './names.ts';

export const SPECIAL: Readonly<Record<SpecialFn, (x: Expr) => Expr>> = {
  j0,
  j1,
  y0,
  y1,
  i0,
  i1,
  erfinv,
  erfcinv,
  erfcx,
  normcdf,
  normcdfinv,
};
