/**
 * A job that the workers do without the caller: how it is waited for, and ended when it takes too long or is not wanted any more.
 *
 * Workers keep the time themselves: the engine ends what they run, they report it and live on. Who will not stop when asked, which a
 * worker within a block cannot, is terminated, and the pool with it; the next job makes another. Nobody returns from here before
 * the last worker has stopped writing to memory.
 */

import { mayBlock } from '../../host/threads.ts';
import { waitListening } from '../interrupts.ts';
import type { Job, ThreadFault, ThreadPool } from './pool.ts';
import { clock } from './worker-code.ts';

/** How a job ended. */
export interface Ended {
  /** `over`: by itself, with or without faults. `unmanned`: no worker ever came, and none will. */
  readonly ending: 'unmanned' | 'over' | 'timeout' | 'stopped' | 'died';
  /** The faults of its threads. */
  readonly faults: readonly ThreadFault[];
  /** The pool is of no more use. */
  readonly lost: boolean;
}

/** Milliseconds that workers have to find out for themselves: that time is over, and that they are asked to stop. */
const OVERDUE = 500;
const ASKED = 20;
/** Milliseconds until a thread that was terminated is believed to be gone where nobody can tell: before the event loop ever heard of it. */
const GONE = 200;
/** Milliseconds for which the caller sleeps at most before it looks after the workers. */
const SLICE = 100;

/** One detached job. */
export class DetachedRun {
  readonly #pool: ThreadPool;
  readonly #job: Job;
  readonly #limit: number;
  #ending: Ended['ending'] | undefined;
  #stoppedAt: number | undefined;
  #terminatedAt: number | undefined;
  #gone = false;

  /** The pool has begun the job. `limit`: milliseconds, 0 for any time. */
  constructor(pool: ThreadPool, job: Job, limit: number) {
    this.#pool = pool;
    this.#job = job;
    this.#limit = limit;
  }

  /** Blocks that are done. */
  get done(): number {
    return this.#pool.done;
  }

  /** Whether nobody has done, or will do, any of it. */
  get unmanned(): boolean {
    return this.#ending === 'unmanned';
  }

  /** Whether all workers have left the job; sees to it that they do when it is time. */
  advance(): boolean {
    if (this.#ending !== undefined) return true;
    const pool = this.#pool;
    if (this.#terminatedAt !== undefined) {
      if (!this.#gone && !pool.ended) return false;
      this.#ending = this.#stoppedAt === undefined ? 'timeout' : 'stopped';
      return true;
    }
    if (!pool.busy) {
      const cut = pool.done < this.#job.total;
      this.#ending = cut && pool.timedOut ? 'timeout' : cut && this.#stoppedAt !== undefined ? 'stopped' : 'over';
      return true;
    }
    if (pool.broken) {
      this.#ending = 'died';
      return true;
    }
    if (pool.unmanned && pool.reclaim()) {
      this.#ending = 'unmanned';
      return true;
    }
    const { runtime } = pool;
    const overdue = this.#limit > 0 && runtime > this.#limit + OVERDUE;
    const refuses = this.#stoppedAt !== undefined && clock() - this.#stoppedAt > ASKED;
    if (overdue || refuses) this.#terminate();
    return false;
  }

  /** Blocks until all workers have left the job. Throws an `Interruption` when a SIGINT handler throws: the job goes on. */
  finish(): void {
    const pool = this.#pool;
    pool.spin();
    // Workers of a page need its event loop to start.
    if (!mayBlock() && this.#ending === undefined && pool.reclaim()) this.#ending = 'unmanned';
    while (!this.advance()) {
      if (this.#terminatedAt !== undefined && clock() - this.#terminatedAt > GONE) this.#gone = true;
      else if (this.#stoppedAt !== undefined || this.#terminatedAt !== undefined) pool.sleep(1);
      else pool.sleep(SLICE, waitListening);
    }
  }

  /** Asks the workers to take no more blocks; those who are within one for too long are terminated. */
  stop(): void {
    if (this.#stoppedAt !== undefined || this.#ending !== undefined) return;
    this.#stoppedAt = clock();
    this.#pool.halt();
  }

  end(): Ended {
    const ending = this.#ending ?? 'over';
    const lost = ending === 'died' || this.#terminatedAt !== undefined;
    return { ending, faults: lost ? [] : this.#pool.takeFaults(), lost };
  }

  #terminate(): void {
    this.#terminatedAt = clock();
    void this.#pool.terminate().then(() => {
      this.#gone = true;
    });
  }
}
