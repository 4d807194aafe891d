/**
 * Memory pressure: makes the engine collect garbage when device memory, not heap, is what is scarce.
 *
 * A dropped array is a hundred bytes to V8, however many gigabytes hang on it: a program that drops arrays and is otherwise frugal
 * would run out of device memory long before V8 has a reason to collect. So when much more is live than was after the last
 * collection, one is run between two turns of the event loop, after which finalisers give the memory back. Never inside synchronous
 * code: no finaliser could run there. Programs that dispose what they make stay below the threshold and pay a comparison.
 */
import { onIdleTurn } from '../host/turns.ts';
import { collectGarbage } from './collect.ts';

/** Nothing is collected for less than this, or a quarter of the device's memory. */
const LEAST = 256 * 2 ** 20;
/** Collections may take this part of the time, as long as memory is not about to run out. */
const PART = 1 / 20;

/** What the rule needs to know of a device. */
export interface PressureGauge {
  /** Bytes of device memory that arrays hold. */
  live(): number;
  /** Bytes that could still be allocated. */
  free(): number;
}

/** The rule by which collections are asked for; one for each context. */
export class Pressure {
  readonly #gauge: PressureGauge;
  readonly #collect: () => boolean;
  readonly #total: number;
  readonly #least: number;
  /** Live bytes beyond which something is to be done; infinite while it is being done. */
  #threshold: number;
  /** The threshold that the round under way was begun for. */
  #exceeded = 0;
  /** Puts off a collection that would take too much of the time. */
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  /** When the next collection may begin, as `performance.now()` has it. */
  #next = 0;
  /** How many collections there were. */
  collections = 0;

  constructor(total: number, gauge: PressureGauge, collect: () => boolean = collectGarbage) {
    this.#gauge = gauge;
    this.#collect = collect;
    this.#total = total;
    this.#least = Math.min(LEAST, total / 4);
    this.#threshold = this.#least;
  }

  /** Called with the live bytes after each allocation. */
  note(live: number): void {
    if (live > this.#threshold) this.#schedule();
  }

  /** An allocation has failed: collects as soon as the event loop turns, for whoever tries again. */
  exhausted(): void {
    this.#next = 0;
    if (this.#threshold < Number.POSITIVE_INFINITY) {
      this.#threshold = 0;
      this.#schedule();
    }
    // A turn of its own, whatever the loop waits for.
    this.#immediate?.ref();
  }

  #schedule(): void {
    if (this.#timer === undefined) this.#exceeded = this.#threshold;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#threshold = Number.POSITIVE_INFINITY;
    // After the callback that allocates: the end of a program is not put off. Never in pages, where nobody may ask for a collection either.
    this.#immediate = onIdleTurn(() => this.#round());
  }

  #round(): void {
    this.#immediate = undefined;
    const live = this.#gauge.live();
    // What was only large within a turn has been disposed by now.
    if (live <= this.#exceeded) {
      this.#threshold = this.#exceeded;
      return;
    }
    const now = performance.now();
    const urgent = this.#total / 2;
    if (now < this.#next && live < urgent) {
      this.#threshold = urgent;
      this.#timer = setTimeout(() => this.#schedule(), this.#next - now).unref();
      return;
    }
    // Where the engine cannot be asked the threshold stays infinite.
    if (!this.#collect()) return;
    this.collections++;
    const end = performance.now();
    this.#next = end + (end - now) / PART;
    // Finalisers run in the turn after this one.
    onIdleTurn(() => onIdleTurn(() => this.#rearm()));
  }

  #rearm(): void {
    const live = this.#gauge.live();
    // Others use the device too: half of what is left must not be filled with garbage. A step that is too small would collect for ever.
    const room = Math.max(this.#gauge.free() / 2, this.#total / 64);
    this.#threshold = Math.min(Math.max(this.#least, 2 * live), live + room);
  }
}
