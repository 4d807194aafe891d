/**
 * Work of a device that goes on while the program does: kernels that were launched asynchronously, and what comes after them.
 *
 * One piece runs at a time, in the order in which they came. The event loop looks after the first: each time round at first, then
 * ever less often, as `stream/waiting.ts` does; it stays alive as long as there is work. Whoever blocks until a piece is done runs
 * the queue on the spot. What a piece does, and to whom it tells how it ended, is its own affair.
 */
import { DriverError } from '../errors.ts';
import { after, onNextTurn } from '../host/turns.ts';
import { Interruption } from './interrupts.ts';

/** A piece of work. What goes wrong in it is its own affair: nothing is thrown but an `Interruption` of `finish`, after which it goes on. */
export interface Work {
  /** Begins, goes on for a little while, or has a look; never blocks for long. Whether the work is over. */
  advance(): boolean;
  /** Blocks until the work is over. */
  finish(): void;
  /** Whether it gets on only while it is called: then the event loop calls it each time round. */
  readonly eager?: boolean | undefined;
}

/** Milliseconds for which the loop looks each time round, the part of the time waited that it sleeps then, and at most. */
const EAGER = 1;
const PART = 1 / 64;
const LONGEST = 5;

/** The work of one device, first come, first served. Pieces have numbers, from 1. */
export class WorkQueue {
  readonly #work: Work[] = [];
  #enqueued = 0;
  #done = 0;
  #running = false;
  /** Whether the event loop will have a look. */
  #scheduled = false;
  /** When the first piece became the first. */
  #since = 0;

  /** The number of the piece that came last. */
  get enqueued(): number {
    return this.#enqueued;
  }

  get idle(): boolean {
    return this.#work.length === 0;
  }

  /** Whether a piece is being run by the caller, somewhere above on its stack. */
  get running(): boolean {
    return this.#running;
  }

  /** Adds a piece, which begins now if it is the first. Its number. */
  add(work: Work): number {
    this.#work.push(work);
    const number = ++this.#enqueued;
    if (this.#work.length === 1) {
      this.#since = performance.now();
      // A kernel's console.log may be what enqueues: its own launch is the first then, and not over.
      if (!this.#running) this.#pass();
    }
    this.#schedule();
    return number;
  }

  /** Whether the piece of this number, and so all before it, is over. Does not block. */
  finished(number: number): boolean {
    if (this.#done < number && !this.#running) this.#pass();
    return this.#done >= number;
  }

  /** Blocks until the piece of this number is over. */
  wait(number: number): void {
    while (this.#done < number) {
      if (this.#running) {
        throw new DriverError(
          'E_NESTED_LAUNCH',
          'a kernel cannot be waited for from inside itself (from console.log?): wait for it after the launch',
          { api: 'launch' },
        );
      }
      try {
        this.#guarded((work) => {
          work.finish();
          return true;
        });
      } catch (error) {
        throw error instanceof Interruption ? error.reason : error;
      }
    }
  }

  /** Goes on with the first piece, and with those after it as far as they are over at once. */
  #pass(): void {
    while (this.#work.length > 0 && this.#guarded((work) => work.advance()));
  }

  #guarded(step: (work: Work) => boolean): boolean {
    const work = this.#work[0] as Work;
    this.#running = true;
    let over = false;
    try {
      over = step(work);
    } finally {
      this.#running = false;
      if (over) {
        this.#work.shift();
        this.#done++;
        this.#since = performance.now();
      }
    }
    return over;
  }

  #schedule(): void {
    const [first] = this.#work;
    if (first === undefined || this.#scheduled) return;
    this.#scheduled = true;
    const waited = performance.now() - this.#since;
    const look = (): void => {
      this.#scheduled = false;
      if (!this.#running) this.#pass();
      this.#schedule();
    };
    if (first.eager === true || waited < EAGER) onNextTurn(look);
    else after(Math.min(Math.max(waited * PART, 1), LONGEST), look);
  }
}
