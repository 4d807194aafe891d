/**
 * What writes out short loops and makes variables of small arrays of a thread: pages load it when a device first needs it.
 */
import { onDemand, type Part } from '../../on-demand.ts';

type Named = typeof import('./named-elements.ts');

const part: Part<Named> = onDemand(() => import('./named-elements.ts'));

/** Throws MissingPart where it has not been loaded. */
export const nameElements: Named['nameElements'] = (...args) => part.now().nameElements(...args);
