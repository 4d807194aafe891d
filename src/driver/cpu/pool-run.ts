/**
 * A kernel that the workers run without the caller, as a launch in the queue sees it.
 */
import type { DriverError } from '../../errors.ts';
import type { Running } from '../async-launch.ts';
import type { DetachedRun, Ended } from './detached.ts';

/** What the kernel makes of how its job ended, and of how many blocks were done then. */
export type Conclude = (how: Ended, done: number) => DriverError | undefined;

/** A kernel on the pool. */
export class PoolRun implements Running {
  readonly eager = false;
  readonly #run: DetachedRun;
  readonly #conclude: Conclude;

  constructor(run: DetachedRun, conclude: Conclude) {
    this.#run = run;
    this.#conclude = conclude;
  }

  get done(): number {
    return this.#run.done;
  }

  advance(): boolean {
    return this.#run.advance();
  }

  finish(): void {
    this.#run.finish();
  }

  stop(): void {
    this.#run.stop();
  }

  end(): DriverError | undefined {
    return this.#conclude(this.#run.end(), this.#run.done);
  }
}
