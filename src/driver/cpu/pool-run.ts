/**
 * A kernel that the workers run without the caller, as a launch in the queue sees it.
 */
import type { DriverError } from '../../errors.ts';
import type { Running } from '../async-launch.ts';
import type { DetachedRun, Ended } from './detached.ts';

/** What the kernel makes of how its job ended, and of how many blocks were done then. */
export type Conclude = (how: Ended, done: number) => DriverError | undefined;

/** A kernel on the pool; one that no worker takes goes another way. */
export class PoolRun implements Running {
  readonly #run: DetachedRun;
  readonly #conclude: Conclude;
  readonly #otherwise: () => Running;
  #other: Running | undefined;

  constructor(run: DetachedRun, conclude: Conclude, otherwise: () => Running) {
    this.#run = run;
    this.#conclude = conclude;
    this.#otherwise = otherwise;
  }

  get eager(): boolean {
    return this.#other?.eager ?? false;
  }

  get done(): number {
    return (this.#other ?? this.#run).done;
  }

  advance(): boolean {
    if (this.#other !== undefined) return this.#other.advance();
    const over = this.#run.advance();
    if (!this.#run.unmanned) return over;
    this.#other = this.#otherwise();
    return this.#other.advance();
  }

  finish(): void {
    if (this.#other === undefined) {
      this.#run.finish();
      if (!this.#run.unmanned) return;
      this.#other = this.#otherwise();
    }
    this.#other.finish();
  }

  stop(): void {
    (this.#other ?? this.#run).stop();
  }

  end(): DriverError | undefined {
    return this.#other === undefined ? this.#conclude(this.#run.end(), this.#run.done) : this.#other.end();
  }
}
