/**
 * Waiting for a stream without blocking: events that are polled from the event loop.
 *
 * The driver's own callbacks are not used: on CUDA they deadlock with a host that blocks in a synchronise. Waiters are
 * asked in the order in which they came, so that what waits on one stream is told in order. The loop stays alive as long as
 * anybody waits.
 */
import type { StreamHandle } from '../driver/driver.ts';
import { DriverError } from '../errors.ts';
import type { Context } from '../memory/context.ts';

/** Asked until it gives true. */
type Poll = () => boolean;

const polls: Poll[] = [];
let scheduled = false;
let idleRounds = 0;

/** Rounds without news after which the loop is left to sleep a millisecond between two. */
const EAGER_ROUNDS = 32;

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  if (idleRounds < EAGER_ROUNDS) setImmediate(round);
  else setTimeout(round, 1);
}

function round(): void {
  scheduled = false;
  const waiting = polls.splice(0);
  const still = waiting.filter((poll) => !poll());
  idleRounds = still.length < waiting.length ? 0 : idleRounds + 1;
  // What was added meanwhile stands in `polls` and comes after.
  polls.unshift(...still);
  if (polls.length > 0) schedule();
}

/** How work on a stream ended: undefined for well, else what was thrown. */
export type Outcome = { readonly error: unknown } | undefined;

/**
 * Calls `then` from the event loop, never at once, when all work that is on the stream now has been done.
 * `handle` undefined is the default stream.
 */
export function whenDone(context: Context, handle: StreamHandle | undefined, then: (outcome: Outcome) => void): void {
  context.checkOpen();
  const event = context.driver.createEvent(false);
  context.driver.recordEvent(event, handle);
  polls.push(() => {
    if (context.closed) {
      const message = `the context of ${context.info.name} was closed while its work was waited for`;
      then({ error: new DriverError('E_CONTEXT_CLOSED', message, { api: 'context' }) });
      return true;
    }
    let outcome: Outcome;
    try {
      if (!context.driver.queryEvent(event)) return false;
      // Does not block any more, but throws what went wrong before the event.
      context.driver.synchronizeEvent(event);
    } catch (error) {
      outcome = { error };
    }
    context.driver.destroyEvent(event);
    then(outcome);
    return true;
  });
  idleRounds = 0;
  schedule();
}
