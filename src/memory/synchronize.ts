/**
 * `cuda.synchronize()`.
 */
import { currentContext } from './devices.ts';

/**
 * Blocks until all work of the current device has been done, then throws what went wrong, if anything did. Numba:
 * `cuda.synchronize()`.
 */
export function synchronize(): void {
  currentContext().synchronize();
}
