/**
 * What runs kernels on several threads.
 */
import * as workers from './workers.ts';

export type Workers = typeof workers;

/** Undefined in pages that can have no workers. */
export function severalThreads(): Workers | undefined {
  return workers;
}
