/**
 * `deferCleanup()`: puts off freeing, which on a GPU waits for all work in flight, until a time-critical part is over.
 */
import { currentContext } from './devices.ts';
import { checkBody, type Leavable, leavable, leaveAfter } from './leaving.ts';

/**
 * Puts off all freeing on the current context until the result is disposed, or until `body` (sync or async) is done. Nests.
 * Leaving frees nothing by itself: the next deallocation beyond the limits does. While it is in force, running out of memory
 * cannot free what is pending. Numba: `defer_cleanup()`.
 */
export function deferCleanup(): Leavable;
export function deferCleanup<R>(body: () => R): R;
export function deferCleanup<R>(body?: () => R): Leavable | R {
  if (body !== undefined) checkBody('deferCleanup', body);
  const context = currentContext();
  const ends = [context.deallocations.defer(), context.resourceDeallocations.defer()];
  const leave = (): void => {
    for (const end of ends) end();
  };
  return body === undefined ? leavable(leave) : leaveAfter(leave, body);
}
