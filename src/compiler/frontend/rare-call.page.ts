/**
 * The handler of a call that few kernels make: pages load them when the first such kernel is compiled.
 */
import { onDemand, type Part } from '../../on-demand.ts';
import type { Handler } from './intrinsic-call.ts';

const part: Part<typeof import('./rare-calls.ts')> = onDemand(() => import('./rare-calls.ts'));

/** Throws MissingPart where they have not been loaded. */
export function rareHandler(name: string): Handler | undefined {
  return part.now().RARE_HANDLERS[name];
}

export function isHalfArithmetic(name: string): boolean {
  return part.now().isHalfArithmetic(name);
}
