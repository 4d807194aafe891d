/**
 * What writes functions that call themselves as loops: pages load it when the first kernel is compiled that calls one.
 */
import { onDemand, type Part } from '../../on-demand.ts';

type Frames = typeof import('./recursion-frames.ts');

const part: Part<Frames> = onDemand(() => import('./recursion-frames.ts'));

/** Throws MissingPart where it has not been loaded. */
export const unfolded: Frames['unfolded'] = (...args) => part.now().unfolded(...args);
