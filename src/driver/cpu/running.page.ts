/**
 * What compiles kernels for the CPU device and runs them: pages load it when the first kernel is compiled for it, or when it is opened by `open`.
 */
import { onDemand, type Part } from '../../on-demand.ts';
import type { Engine } from './engine.ts';
import type { CpuExecutable } from './executable.ts';

interface Running {
  readonly Engine: typeof Engine;
  readonly CpuExecutable: typeof CpuExecutable;
}

const part: Part<Running> = onDemand(async () => {
  const [{ Engine }, { CpuExecutable }] = await Promise.all([import('./engine.ts'), import('./executable.ts')]);
  return { Engine, CpuExecutable };
});

export function running(): Running {
  return part.now();
}
