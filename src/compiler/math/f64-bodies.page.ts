/**
 * The bodies of functions of f64 for processors: pages load them when the first kernel that calls one is compiled.
 */
import { onDemand, type Part } from '../../on-demand.ts';

const part: Part<typeof import('./f64/table.ts')> = onDemand(() => import('./f64/table.ts'));

/** Throws MissingPart where they have not been loaded. */
export function f64Bodies(): typeof import('./f64/table.ts') {
  return part.now();
}
