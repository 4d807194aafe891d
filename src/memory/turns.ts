/**
 * The order of asynchronous calls, where something must come before they are enqueued.
 *
 * A launch whose kernel has to be compiled by a promise, or whose host arrays an earlier launch has yet to fill, has its place among
 * the calls and nothing enqueued. Asynchronous calls that come after it
 * take their turn after it; those that cannot wait say so, since they would overtake it.
 */
import { DriverError } from '../errors.ts';
import { cannotWait } from './blocking.ts';

/** The context of a call, as far as that goes: what the call was to use is gone when it was closed or reset meanwhile. */
export interface Caller {
  /** Goes up with each reset. */
  readonly epoch: number;
  /** Throws when it was closed. */
  checkOpen(): void;
}

/** Enqueues something in a call's turn. Throws when the caller's context was closed or reset since it was called. */
export type Enter = <R>(enqueue: () => R) => R;

/** The calls of one device that wait for their turn. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #inside = false;
  /** How many calls have their place and are not enqueued yet. */
  waiting = 0;

  /** Runs `body` when the calls before it have been enqueued; those after it come when its promise is settled. */
  async take<T>(caller: Caller, body: (enter: Enter) => Promise<T>): Promise<T> {
    const { epoch } = caller;
    this.waiting++;
    const turn = this.#last.then(() => body((enqueue) => this.#enter(caller, epoch, enqueue)));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.waiting--;
    }
  }

  /** Resolves when the calls that wait now have been enqueued; at once if there are none. */
  afterThem(): Promise<unknown> | undefined {
    return this.waiting === 0 ? undefined : this.#last;
  }

  #enter<R>(caller: Caller, epoch: number, enqueue: () => R): R {
    caller.checkOpen();
    if (caller.epoch !== epoch) {
      throw new DriverError('E_CONTEXT_RESET', 'the context was reset before this call was enqueued: make it again', {
        api: 'context',
      });
    }
    this.#inside = true;
    try {
      return enqueue();
    } finally {
      this.#inside = false;
    }
  }

  /** Throws when a call that is enqueued at once would overtake others. */
  check(call: string): void {
    if (this.waiting === 0 || this.#inside) return;
    throw cannotWait(
      `${call} would overtake a launchAsync that is not enqueued yet: its kernel is being compiled, or an earlier launchAsync has yet to fill its host arrays`,
      'await the launchAsync before',
    );
  }
}
