/**
 * What threads of a block know of each other through atomics and fences: the order that a lock or a published flag makes.
 *
 * Vector clocks, after C++'s fences: what a thread did before a fence is handed over by its next atomic updates, and received by a thread
 * that updates the same place and passes a fence itself. Either fence missing, nothing is handed over, and `shadow.ts` reports the race.
 * Barriers need none of it: each phase between them begins anew.
 */

/** For each thread, how many of its fences are known of. */
type Clock = Int32Array;

interface Known {
  /** What the thread has received; its own entry counts its fences. */
  readonly now: Clock;
  /** As it stood at the last fence: what its atomics hand over. */
  readonly fenced: Clock;
  /** Received by atomics, in force after the next fence. */
  readonly pending: Clock;
}

function join(to: Clock, from: Clock): void {
  for (let k = 0; k < to.length; k++) if ((from[k] as number) > (to[k] as number)) to[k] = from[k] as number;
}

export class Clocks {
  readonly #threads: number;
  readonly #known = new Map<number, Known>();
  readonly #locations = new Map<object, Map<number, Clock>>();

  constructor(threads: number) {
    this.#threads = threads;
  }

  /** A barrier: nothing from before it matters any more. */
  clear(): void {
    if (this.#known.size === 0) return;
    this.#known.clear();
    this.#locations.clear();
  }

  /** The thread's own time: accesses between two of its fences share one. */
  of(thread: number): number {
    return this.#known.get(thread)?.now[thread] ?? 1;
  }

  /** Whether `thread` comes after what `other` did at that time. */
  isAfter(thread: number, other: number, time: number): boolean {
    return (this.#known.get(thread)?.now[other] ?? 0) >= time;
  }

  fence(thread: number): void {
    const { now, fenced, pending } = this.#knownOf(thread);
    join(now, pending);
    fenced.set(now);
    now[thread] = (now[thread] as number) + 1;
  }

  /** An atomic at a place of a memory; `changes` unless it only looked, as a compare-and-swap that fails. */
  atomic(thread: number, memory: object, at: number, changes: boolean): void {
    // Before the first fence nobody has anything to hand over.
    if (this.#known.size === 0) return;
    const locations = this.#locations.get(memory) ?? new Map<number, Clock>();
    this.#locations.set(memory, locations);
    const held = locations.get(at);
    const own = this.#known.get(thread);
    if (held !== undefined) join((own ?? this.#knownOf(thread)).pending, held);
    if (own === undefined || !changes) return;
    if (held === undefined) locations.set(at, own.fenced.slice());
    else join(held, own.fenced);
  }

  #knownOf(thread: number): Known {
    let known = this.#known.get(thread);
    if (known === undefined) {
      const clock = (): Clock => new Int32Array(this.#threads);
      known = { now: clock(), fenced: clock(), pending: clock() };
      known.now[thread] = 1;
      this.#known.set(thread, known);
    }
    return known;
  }
}
