/**
 * `clock.ts` in pages, which load it when they first pause while they are hidden.
 */
import type { WorkerClock } from './worker-clock.ts';

export type { WorkerClock };

export async function loadClock(): Promise<WorkerClock> {
  const clock = await import('./worker-clock.ts');
  return new clock.WorkerClock();
}
