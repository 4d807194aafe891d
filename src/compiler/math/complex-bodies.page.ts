/**
 * The bodies of complex functions: pages load them when the first kernel that calls one is compiled.
 */
import { onDemand, type Part } from '../../on-demand.ts';

const part: Part<typeof import('./complex-trig.ts')> = onDemand(() => import('./complex-trig.ts'));

/** Throws MissingPart where they have not been loaded. */
export function complexBodies(): typeof import('./complex-trig.ts')['COMPLEX'] {
  return part.now().COMPLEX;
}
