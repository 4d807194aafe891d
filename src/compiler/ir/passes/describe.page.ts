/**
 * `describe.ts` of pages, which is loaded when it is called.
 */
import { onDemand, type Part } from '../../../on-demand.ts';

type Describing = typeof import('./describing.ts');

const part: Part<Describing> = onDemand(() => import('./describing.ts'));

export const describePasses: Describing['describePasses'] = (...args) => part.now().describePasses(...args);
