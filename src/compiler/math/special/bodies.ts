/**
 * The body of a special function, at once.
 */
import type { Expr } from '../../ir/ops.ts';
import { SPECIAL } from './index.ts';
import type { SpecialFn } from './names.ts';

export function specialBody(fn: SpecialFn): (x: Expr) => Expr {
  return SPECIAL[fn];
}
