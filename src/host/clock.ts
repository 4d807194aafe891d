/**
 * The timers of a worker, for pages that nobody sees.
 */
import { WorkerClock } from './worker-clock.ts';

export type { WorkerClock };

export async function loadClock(): Promise<WorkerClock> {
  return new WorkerClock();
}
