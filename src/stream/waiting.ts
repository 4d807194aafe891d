/**
 * Waiting for a stream without blocking: events that are polled from the event loop.
 *
 * The driver's own callbacks are not used: on CUDA they deadlock with a host that blocks in a synchronise. What waits on one
 * stream is told in order, and only the first of each stream is asked about. At first the loop asks each time round, which
 * adds microseconds to short waits; then timers ask, ever less often, so that long waits cost nothing. A driver that says itself when there is
 * news is asked then. The loop stays alive as long as anybody waits.
 */
import type { DeviceDriver, EventHandle, Failure, StreamHandle } from '../driver/driver.ts';
import type { Moment } from '../driver/faults.ts';
import { DriverError } from '../errors.ts';
import { after, onNextTurn } from '../host/turns.ts';
import type { Context } from '../memory/context.ts';
import { refuseWaiting } from '../memory/recording.ts';

/** How work on a stream ended: undefined for well. A failure that nobody acknowledges is kept for the next call that waits. */
export type Outcome = Pick<Failure, 'error' | 'acknowledge'> | undefined;

interface Waiter {
  readonly context: Context;
  readonly event: EventHandle;
  /** Whether the event is destroyed when it has come; else it is somebody's who destroys it. */
  readonly owned: boolean;
  /** What the context itself knew when the wait began. */
  readonly began: Moment;
  readonly then: (outcome: Outcome) => void;
}

/** Those who wait, by the driver's stream: in the order in which they came. */
const queues = new Map<unknown, Waiter[]>();

/** Milliseconds without news for which the loop asks each time round. */
const EAGER = 1;
/** Then it sleeps for this part of the time that it has waited, in milliseconds from 1 to `LONGEST`. */
const PART = 1 / 64;
const LONGEST = 5;
/** Where all drivers say when there is news: it is only looked whether they are alive. */
const PATIENT = 100;

/** Drivers that say when there is news. */
const heard = new WeakSet<DeviceDriver>();

/** Whether it asks in the next turn; what takes back a later one. */
let asksNext = false;
let dropTimer: (() => void) | undefined;
/** When something was last heard of, or somebody began to wait. */
let lastNews = 0;

function schedule(): void {
  if (asksNext || dropTimer !== undefined) return;
  const waited = performance.now() - lastNews;
  if ([...queues.values()].every(([first]) => first?.context.driver.onNews !== undefined)) {
    dropTimer = after(PATIENT, round);
  } else if (waited < EAGER) {
    asksNext = true;
    onNextTurn(round);
  } else dropTimer = after(Math.min(Math.max(waited * PART, 1), LONGEST), round);
}

/** Asks once the code that runs now is done: a driver may have had its answer while a thread waited. */
function hear(): void {
  queueMicrotask(() => {
    if (queues.size === 0) return;
    dropTimer?.();
    dropTimer = undefined;
    round();
  });
}

/** Asks at once again, where the loop would be asleep. */
function wake(): void {
  lastNews = performance.now();
  dropTimer?.();
  dropTimer = undefined;
  schedule();
}

function round(): void {
  asksNext = false;
  dropTimer = undefined;
  let news = false;
  for (const [key, queue] of [...queues]) {
    // Who begins to wait meanwhile comes in the next round, or the loop would do nothing else.
    for (let left = queue.length; left > 0; left--) {
      const [first] = queue;
      const outcome = first === undefined ? 'waiting' : ask(first);
      if (outcome === 'waiting') break;
      queue.shift();
      news = true;
      if (first === undefined) continue;
      try {
        tell(first, outcome);
      } finally {
        first.context.listeners.leave();
      }
    }
    if (queue.length === 0 && queues.get(key) === queue) queues.delete(key);
  }
  if (news) lastNews = performance.now();
  if (queues.size > 0) schedule();
}

function tell({ context, then }: Waiter, failure: Failure | undefined): void {
  if (failure === undefined) return then(undefined);
  let acknowledged = failure.kept;
  const acknowledge = (): void => {
    acknowledged = true;
    failure.acknowledge();
  };
  then({ error: failure.error, acknowledge });
  if (!acknowledged && !context.closed) context.keepFault(failure.error);
}

/** What a call of the driver threw. */
function thrown(error: unknown): Failure {
  return { error, kept: false, acknowledge: () => undefined };
}

/** How the work before a waiter's event ended, or that it has not. */
function ask({ context, event, owned, began }: Waiter): Failure | undefined | 'waiting' {
  if (context.closed) {
    const message = `the context of ${context.info.name} was closed while its work was waited for`;
    return thrown(new DriverError('E_CONTEXT_CLOSED', message, { api: 'context' }));
  }
  const { driver } = context;
  let failure: Failure | undefined;
  try {
    if (!driver.queryEvent(event)) return 'waiting';
    failure = driver.failureBefore(event) ?? context.failureSince(began);
  } catch (error) {
    failure = thrown(error);
  }
  try {
    if (owned) driver.destroyEvent(event);
  } catch (error) {
    // A device that is broken for good says so at each call.
    failure ??= thrown(error);
  }
  return failure;
}

/**
 * Calls `then` from the event loop, never at once, when all work that is on the stream now has been done.
 * `handle` undefined is the default stream.
 */
export function whenDone(context: Context, handle: StreamHandle | undefined, then: (outcome: Outcome) => void): void {
  refuseWaiting('waiting for work');
  context.checkOpen();
  const { driver } = context;
  const event = driver.createEvent(false);
  try {
    driver.recordEvent(event, handle);
  } catch (error) {
    driver.destroyEvent(event);
    throw error;
  }
  wait(handle ?? context, { context, event, owned: true, began: context.faultsNow, then });
}

/** As `whenDone`, for the work before an event that somebody has recorded and keeps until `then` is called. */
export function whenReached(context: Context, event: EventHandle, then: (outcome: Outcome) => void): void {
  wait(event, { context, event, owned: false, began: context.faultsNow, then });
}

/** `whenDone` as a promise, for who is told of what went wrong. */
export function done(context: Context, handle: StreamHandle | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    whenDone(context, handle, (outcome) => settle(outcome, resolve, reject));
  });
}

/** Tells of an outcome by the functions of a promise. */
export function settle(outcome: Outcome, resolve: () => void, reject: (error: unknown) => void): void {
  if (outcome === undefined) return resolve();
  outcome.acknowledge();
  reject(outcome.error);
}

function wait(key: unknown, waiter: Waiter): void {
  waiter.context.listeners.add();
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, [waiter]);
  else queue.push(waiter);
  wake();
  const { driver } = waiter.context;
  if (driver.onNews === undefined) return;
  if (!heard.has(driver)) driver.onNews(hear);
  heard.add(driver);
  // Now it knows that somebody waits.
  if (driver.queryEvent(waiter.event)) hear();
}
