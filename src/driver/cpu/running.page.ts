/**
 * What compiles kernels for the CPU device and runs them: pages load it when the first kernel is compiled for it, or when it is opened by `open`.
 */
import { onDemand, type Part } from '../../on-demand.ts';
import { loadSeveralThreads } from './several-threads.page.ts';

type Running = typeof import('./runner.ts');

const part: Part<Running> = onDemand(async () => {
  const [runner] = await Promise.all([import('./runner.ts'), loadSeveralThreads()]);
  return runner;
});

/** Begins to load it. */
export const fetchRunning: (() => void) | undefined = () => void part.load().catch(() => undefined);

export function running(): Running {
  return part.now();
}
