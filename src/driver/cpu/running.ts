/**
 * What compiles kernels for the CPU device and runs them, which is most of it.
 */
import * as runner from './runner.ts';

/** Pages have yet to load it. */
export const fetchRunning: (() => void) | undefined = undefined;

export function running(): typeof runner {
  return runner;
}
