/**
 * What runs kernels on several threads: pages load it with what runs them on one, where they are isolated.
 */
import { whyNoThreads } from '../../host/threads.ts';
import { onDemand, type Part } from '../../on-demand.ts';

export type Workers = typeof import('./workers.ts');

const part: Part<Workers> | undefined =
  whyNoThreads() === undefined ? onDemand(() => import('./workers.ts')) : undefined;

/** Undefined in pages that can have no workers. */
export function severalThreads(): Workers | undefined {
  return part?.now();
}

/** Loads it, where it is of use. */
export async function loadSeveralThreads(): Promise<void> {
  await part?.load();
}
