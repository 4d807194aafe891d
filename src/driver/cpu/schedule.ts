/**
 * Decides for each launch whether the caller runs it alone or the thread pool helps, from what earlier launches took.
 *
 * Waking threads costs some microseconds, so small launches stay on the caller, and those that are not much larger go to the
 * pool only in bursts, where the threads are awake. For these, and for kernels that update global memory atomically, which
 * may be faster alone, where the updates need not be atomic, both ways are tried and the better one is kept.
 */

/** Launches expected to take less than this on one thread stay there: to wake a thread takes half of it. */
const ALONE_NS = 40_000;
/** The same where launches follow one another so closely that workers stay awake; from there on both ways are compared. */
const BURST_NS = 8_000;
/** What a chunk of blocks should take at least: to fetch one takes about a tenth of that. */
const CHUNK_NS = 1_000;
/** Runs of each kind before the two are compared: the first ones are spent on compiling. */
const TRIES = 3;
/** Runs together where that is not much slower: threads start, and the engine compiles, while the first ones are made. */
const MORE_TRIES = 10;
/** Launches after which a comparison is made again, at first and at last: engines improve code while it runs. */
const RETRY = { first: 16, last: 256 };

/** What is known of the times of one kernel with one block shape. */
export class Schedule {
  /** Nanoseconds a block on one thread: measured, or guessed before. */
  #alone: number;
  #parallel = 0;
  #aloneRuns = 0;
  #parallelRuns = 0;
  #sinceCompared = 0;
  #retry = RETRY.first;
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

  /** Whether a launch of so many blocks is worth the pool. `burst`: whether it follows another closely, asked where that decides. */
  worthPool(blocks: number, burst: () => boolean = () => false): boolean {
    const expected = this.#alone * blocks;
    if (blocks < 2 || expected < BURST_NS) return false;
    const short = expected < ALONE_NS;
    if (short && !burst()) return false;
    if (!this.#contended && !short) return true;
    if (this.#aloneRuns < TRIES) return false;
    if (this.#parallelRuns < TRIES) return true;
    if (this.#parallelRuns < MORE_TRIES && this.#parallel < 2 * this.#alone) return true;
    if (++this.#sinceCompared < this.#retry) return this.#parallel < this.#alone;
    this.#sinceCompared = 0;
    this.#retry = Math.min(2 * this.#retry, RETRY.last);
    return this.#parallel >= this.#alone;
  }

  /** The fewest blocks that are worth handing out. */
  get grain(): number {
    return Math.ceil(CHUNK_NS / Math.max(this.#alone, 1));
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
    // At most so long would it take alone; what was measured at first may have been code that was not optimised yet.
    const most = sample * this.#threads;
    if (this.#aloneRuns === 0 || (!this.#contended && most < this.#alone)) this.#alone = mix(this.#alone, most, 0.3);
  }

  /** What is compared is what each way can do: whatever else the machine is busy with makes only single runs slow. */
  #mix(old: number, sample: number): number {
    return this.#contended && sample < old ? sample : mix(old, sample, this.#contended ? 0.1 : 0.3);
  }
}

function mix(old: number, sample: number, share: number): number {
  return (1 - share) * old + share * sample;
}
