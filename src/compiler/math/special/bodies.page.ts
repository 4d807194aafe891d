/**
 * The body of a special function: pages load them when the first kernel that calls one is compiled.
 */
import { onDemand, type Part } from '../../../on-demand.ts';
import type { Expr } from '../../ir/ops.ts';
import type { SpecialFn } from './names.ts';

const part: Part<typeof import('./index.ts')> = onDemand(() => import('./index.ts'));

/** Throws MissingPart where they have not been loaded. */
export function specialBody(fn: SpecialFn): (x: Expr) => Expr {
  return part.now().SPECIAL[fn];
}
