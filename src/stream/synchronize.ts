/**
 * `cuda.synchronizeAsync()`.
 */
import type { Context } from '../memory/context.ts';
import { currentContext } from '../memory/devices.ts';
import { done } from './waiting.ts';

/**
 * Resolves when the work that is on the current device now has been done, without blocking the event loop; rejects with what went
 * wrong. The only form of `synchronize()` on devices that nothing can wait for.
 */
export function synchronizeAsync(): Promise<void> {
  return synchronizeContext(currentContext());
}

/** As `synchronizeAsync`, for a context. */
export async function synchronizeContext(context: Context): Promise<void> {
  context.checkOpen();
  context.counters.synchronizations++;
  await context.turns.afterThem();
  await done(context, undefined);
}
