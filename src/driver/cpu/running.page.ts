/**
 * What compiles kernels for the CPU device and runs them: pages load it when the first kernel is compiled for it, or when it is opened by `open`.
 */
import { onDemand, type Part } from '../../on-demand.ts';

type Running = typeof import('./runner.ts');

const part: Part<Running> = onDemand(() => import('./runner.ts'));

/** Begins to load it. */
export const fetchRunning: (() => void) | undefined = () => void part.load().catch(() => undefined);

export function running(): Running {
  return part.now();
}
