/**
 * Looks after work that was enqueued: asks NCCL for what went wrong aside, and whether the streams come on. Runs between turns of the event
 * loop while there is work, some times a second, and costs a call nothing but a note of its stream.
 */
import type { EventHandle } from '../../driver/driver.ts';
import type { Context } from '../../memory/context.ts';
import type { Stream } from '../../stream/stream.ts';

/** Milliseconds from one look to the next. */
const PERIOD = 50;

/** What is told to who has the communicator. */
export interface Watched {
  readonly context: Context;
  /** Asks NCCL; ends the communicator if something went wrong. */
  poll(): void;
  /** Work has not been done for so many milliseconds. */
  stuck(milliseconds: number): void;
}

interface Mark {
  readonly event: EventHandle;
  readonly since: number;
}

export class Watch {
  readonly #watched: Watched;
  readonly #timeout: number;
  readonly #used = new Set<Stream | undefined>();
  #since = 0;
  #marks: Mark[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(watched: Watched, timeout: number) {
    this.#watched = watched;
    this.#timeout = timeout;
  }

  /** Work was enqueued on a stream. */
  note(stream: Stream | undefined): void {
    if (this.#used.size === 0) this.#since = Date.now();
    this.#used.add(stream);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#look(), PERIOD);
    (this.#timer as { unref?(): void }).unref?.();
  }

  /** Whether there is work that has not been done, as far as is known without waiting. */
  isBusy(): boolean {
    this.#mark();
    this.#settle();
    return this.#marks.length > 0;
  }

  #look(): void {
    if (this.#watched.context.closed) return this.stop();
    this.#watched.poll();
    this.#settle();
    const [oldest] = this.#marks;
    const age = oldest === undefined ? 0 : Date.now() - oldest.since;
    if (age > this.#timeout) return this.#watched.stuck(age);
    this.#mark();
    if (this.#marks.length === 0 && this.#timer !== undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  /** Takes out what has been reached. */
  #settle(): void {
    const { driver } = this.#watched.context;
    this.#marks = this.#marks.filter(({ event }) => {
      if (!driver.queryEvent(event)) return true;
      driver.destroyEvent(event);
      return false;
    });
  }

  /** One mark for all work on a stream since the last look. */
  #mark(): void {
    const { driver } = this.#watched.context;
    for (const stream of this.#used) {
      if (stream?.disposed) continue;
      const event = driver.createEvent(false);
      driver.recordEvent(event, stream?.handle);
      this.#marks.push({ event, since: this.#since });
    }
    this.#used.clear();
  }

  /** The communicator is gone. Calling it again does nothing. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const { driver, closed } = this.#watched.context;
    if (!closed) for (const { event } of this.#marks) driver.destroyEvent(event);
    this.#marks = [];
    this.#used.clear();
  }
}
