/**
 * What becomes of errors where nobody can be told: freeing that fails, and work that failed on a device that is given up, are warnings.
 */
import { DriverError } from '../errors.ts';
import { warn } from '../host/index.ts';

/** A device that is lost repeats at each call what somebody has been told already: the first failure is the cause. */
export function isRepetition(error: unknown): boolean {
  return error instanceof DriverError && error.cause instanceof DriverError;
}

/** Frees something. Disposing must not throw for what another array's memory does: failures become warnings. */
export function attempt(free: () => void): void {
  try {
    free();
  } catch (error) {
    if (!isRepetition(error)) report('freeing device memory failed', error);
  }
}

/** Warns of what went wrong. */
export function report(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  warn(`${what}: ${message}`, { type: 'TsambaWarning', code: 'TSAMBA_FREE_FAILED' });
}
