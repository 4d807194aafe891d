/**
 * Decides for each launch whether the caller runs it alone or the thread pool helps, from what earlier launches took.
 *
 * Waking threads costs some microseconds, so small launches stay on the caller. Kernels that update global memory
 * atomically may be faster alone, where the updates need not be atomic: both ways are tried and the better one is kept.
 */

/** Launches expected to take less than this on one thread stay there. */
const ALONE_NS = 20_000;
/** Runs of each kind before the two are compared: the first ones are spent on compiling. */
const TRIES = 3;
/** Runs together where that is not much slower: threads start, and the engine compiles, while the first ones are made. */
const MORE_TRIES = 10;
/** Launches after which a comparison is made again. */
const RETRY = 256;

/** What is known of the times of one kernel with one block shape. */
export class Schedule {
  /** Nanoseconds a block on one thread: measured, or guessed before. */
  #alone: number;
  #parallel = 0;
  #aloneRuns = 0;
  #parallelRuns = 0;
  #sinceCompared = 0;
  #untimed = 0;
  /** Nanoseconds a block when the workers did it without the caller. */
  #watched: number | undefined;
  readonly #contended: boolean;
  readonly #threads: number;

  /** `estimate`: nanoseconds a block. `contended`: more threads are not certainly better. */
  constructor(estimate: number, contended: boolean, threads: number) {
    this.#alone = estimate;
    this.#contended = contended;
    this.#threads = threads;
  }

  /** Whether a launch of so many blocks is worth the pool. */
  worthPool(blocks: number): boolean {
    if (blocks < 2 || this.#alone * blocks < ALONE_NS) return false;
    if (!this.#contended) return true;
    if (this.#aloneRuns < TRIES) return false;
    if (this.#parallelRuns < TRIES) return true;
    if (this.#parallelRuns < MORE_TRIES && this.#parallel < 2 * this.#alone) return true;
    if (++this.#sinceCompared < RETRY) return this.#parallel < this.#alone;
    this.#sinceCompared = 0;
    return this.#parallel >= this.#alone;
  }

  /** Whether this launch should be timed: always at first, now and then for launches that are known to be short. */
  wantsTime(blocks: number): boolean {
    if (this.#aloneRuns < 16 || this.#alone * blocks > ALONE_NS / 4) return true;
    this.#untimed = (this.#untimed + 1) & 31;
    return this.#untimed === 0;
  }

  /** Whether anything has been measured yet. */
  get measured(): boolean {
    return this.#aloneRuns + this.#parallelRuns > 0 || this.#watched !== undefined;
  }

  /** Milliseconds that so many blocks are expected to take at most. */
  expected(blocks: number): number {
    const watched = this.#aloneRuns + this.#parallelRuns > 0 ? undefined : this.#watched;
    return ((watched ?? this.#alone) * blocks) / 1e6;
  }

  /** The workers have done it without the caller. */
  ranWatched(blocks: number, milliseconds: number): void {
    this.#watched = (milliseconds * 1e6) / blocks;
  }

  ranAlone(blocks: number, milliseconds: number): void {
    const sample = (milliseconds * 1e6) / blocks;
    this.#alone = this.#aloneRuns++ === 0 ? sample : this.#mix(this.#alone, sample);
  }

  ranParallel(blocks: number, milliseconds: number): void {
    const sample = (milliseconds * 1e6) / blocks;
    this.#parallel = this.#parallelRuns++ < 2 ? sample : this.#mix(this.#parallel, sample);
    // Never measured alone: at most so long would it take.
    if (this.#aloneRuns === 0) this.#alone = mix(this.#alone, sample * this.#threads, 0.3);
  }

  /** What is compared is what each way can do: whatever else the machine is busy with makes only single runs slow. */
  #mix(old: number, sample: number): number {
    return this.#contended && sample < old ? sample : mix(old, sample, this.#contended ? 0.1 : 0.3);
  }
}

function mix(old: number, sample: number, share: number): number {
  return (1 - share) * old + share * sample;
}
