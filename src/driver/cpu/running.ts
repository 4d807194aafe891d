/**
 * What compiles kernels for the CPU device and runs them, which is most of it.
 */
import { Engine } from './engine.ts';
import { CpuExecutable } from './executable.ts';

/** Its classes. */
export interface Running {
  readonly Engine: typeof Engine;
  readonly CpuExecutable: typeof CpuExecutable;
}

const RUNNING: Running = { Engine, CpuExecutable };

export function running(): Running {
  return RUNNING;
}
