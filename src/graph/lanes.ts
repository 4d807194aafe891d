/**
 * In which order recorded work must be done: what streams and events say, as a graph. Pure.
 *
 * Streams keep their meaning: work on one is in order; the default stream comes after all others, and they after it; events order the rest.
 * Of each lane the frontier is known, the work that comes last there: what is recorded next comes after that.
 */

/** The lane of the default stream. */
const DEFAULT = 0;

/** Places of work in the list. */
type Places = readonly number[];

/** The order of work that is being recorded. */
export class Lanes {
  readonly #lanes = new Map<unknown, number>();
  /** By lane; one that is not here is as far as the default stream. */
  readonly #frontiers = new Map<number, Places>();
  #count = 0;

  /** Of a stream's identity; undefined is the default stream. */
  laneOf(stream: unknown): number {
    if (stream === undefined) return DEFAULT;
    const known = this.#lanes.get(stream);
    if (known !== undefined) return known;
    const lane = this.#lanes.size + 1;
    this.#lanes.set(stream, lane);
    return lane;
  }

  /** Adds a piece of work; gives what it must come after. */
  add(lane: number): Places {
    const after = this.frontier(lane);
    this.#advance(lane, [this.#count++]);
    return after;
  }

  /** What comes last on a lane. The default stream waits for all. */
  frontier(lane: number): Places {
    if (lane !== DEFAULT) return this.#frontiers.get(lane) ?? this.#frontiers.get(DEFAULT) ?? [];
    return [...new Set([...this.#frontiers.values()].flat())].sort((a, b) => a - b);
  }

  /** What is added to a lane from now on comes after these as well. */
  wait(lane: number, mark: Places): void {
    const both = new Set([...this.frontier(lane), ...mark]);
    this.#advance(
      lane,
      [...both].sort((a, b) => a - b),
    );
  }

  #advance(lane: number, frontier: Places): void {
    // All lanes come after the default stream from here on.
    if (lane === DEFAULT) this.#frontiers.clear();
    this.#frontiers.set(lane, frontier);
  }
}
