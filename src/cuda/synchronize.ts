/**
 * `cuda.synchronize()`.
 */
import { currentContext } from '../memory/devices.ts';

/**
 * Blocks until all work of the current device has been done, then throws what went wrong, if anything did. Numba:
 * `cuda.synchronize()`.
 */
export function synchronize(): void {
  currentContext().synchronize();
}
