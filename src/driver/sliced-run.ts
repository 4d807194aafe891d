/**
 * A kernel that this thread runs a few blocks at a time, so that the event loop gets its turns in between.
 *
 * For kernels that no other thread can run: those that print, and all of the simulator's.
 */
import type { DriverError } from '../errors.ts';
import type { Running } from './async-launch.ts';
import { within } from './limited.ts';

/** Milliseconds that the event loop waits for, blocks permitting. */
const SLICE = 8;

/** How a device runs blocks, and what it says when there was no time for all. */
export interface BlockRunner {
  readonly total: number;
  /** Milliseconds for all blocks together, 0 for any time. */
  readonly limit: number;
  /** Called before each slice, and after it, also when the engine has ended it: `finally` in `run` is not reached then. */
  enter?(): void;
  leave?(): void;
  /** Runs blocks `first` … `end - 1`; what went wrong. */
  run(first: number, end: number): DriverError | undefined;
  timedOut(done: number): DriverError;
}

/** A kernel that is run in slices of time. */
export class SlicedRun implements Running {
  readonly eager = true;
  readonly #runner: BlockRunner;
  #next = 0;
  /** Blocks that are run without a look at the clock. */
  #batch = 1;
  #spent = 0;
  #error: DriverError | undefined;
  #stopped = false;

  constructor(runner: BlockRunner) {
    this.#runner = runner;
  }

  get done(): number {
    return this.#next;
  }

  advance(): boolean {
    return this.#go(SLICE);
  }

  finish(): void {
    while (!this.#go(Number.POSITIVE_INFINITY));
  }

  stop(): void {
    this.#stopped = true;
  }

  end(): DriverError | undefined {
    return this.#error;
  }

  /** Runs blocks for about so many milliseconds; whether it is over. */
  #go(milliseconds: number): boolean {
    const runner = this.#runner;
    const { limit } = runner;
    const started = performance.now();
    runner.enter?.();
    try {
      if (limit === 0) this.#blocks(started + milliseconds);
      else {
        const ended = within(limit - this.#spent, () => this.#blocks(started + milliseconds));
        this.#spent += performance.now() - started;
        if (this.#left && (!ended || this.#spent >= limit)) this.#error = runner.timedOut(this.#next);
      }
    } finally {
      runner.leave?.();
    }
    return !this.#left;
  }

  get #left(): boolean {
    return !this.#stopped && this.#error === undefined && this.#next < this.#runner.total;
  }

  #blocks(until: number): void {
    const { total } = this.#runner;
    let began = performance.now();
    do {
      const end = Math.min(this.#next + this.#batch, total);
      this.#error = this.#runner.run(this.#next, end);
      this.#next = end;
      const now = performance.now();
      if (now - began < SLICE / 8) this.#batch = Math.min(2 * this.#batch, 2 ** 20);
      else if (now - began > SLICE / 2) this.#batch = Math.max(1, this.#batch >> 1);
      began = now;
    } while (this.#left && began < until);
  }
}
