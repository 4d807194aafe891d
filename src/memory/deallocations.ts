/**
 * The queue of pending deallocations: freeing is put off, because on a GPU it waits for all work in flight.
 *
 * Numba's rule (`_PendingDeallocs`): an item is appended, then everything is freed, first in first out, if there are more
 * than `maxCount` items or more than `maxBytes` bytes. While deallocation is deferred nothing is freed, not even by
 * `clear()`. What an item is (memory, a stream, an event, a module) is its own affair.
 */

/** Something that waits to be freed. */
export interface PendingItem {
  /** Bytes of device memory that it holds; 0 for streams, events and modules. */
  readonly bytes: number;
  destroy(): void;
}

/** Pending deallocations of one context. Numba: `current_context().deallocations`. */
export class Deallocations {
  /** More items than this are not kept pending. */
  readonly maxCount: number;
  /** More bytes than this are not kept pending. */
  readonly maxBytes: number;
  #items: PendingItem[] = [];
  #bytes = 0;
  readonly #deferrals = new Set<() => void>();

  readonly #giveBack: (() => void) | undefined;

  /** `giveBack` makes the driver return what it keeps. */
  constructor(maxCount: number, maxBytes: number, giveBack?: () => void) {
    this.maxCount = maxCount;
    this.maxBytes = maxBytes;
    this.#giveBack = giveBack;
  }

  /** Number of items that wait to be freed. */
  get length(): number {
    return this.#items.length;
  }

  /** Bytes of device memory that wait to be freed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a `deferCleanup` is in force. */
  get deferred(): boolean {
    return this.#deferrals.size > 0;
  }

  /** Puts an item into the queue; frees the whole queue if it has grown beyond its limits. Throws what a free throws. */
  add(item: PendingItem): void {
    this.#items.push(item);
    this.#bytes += item.bytes;
    if (this.#items.length > this.maxCount || this.#bytes > this.maxBytes) this.#free();
  }

  /**
   * Frees everything that is pending, oldest first; nothing while deallocation is deferred. A free that fails ends this and is
   * thrown: that item is dropped, the ones after it wait for the next time. What the driver keeps of freed memory for itself goes back to
   * the device as well.
   */
  clear(): void {
    this.#free();
    if (!this.deferred) this.#giveBack?.();
  }

  #free(): void {
    while (!this.deferred) {
      const item = this.#items.shift();
      if (item === undefined) return;
      this.#bytes -= item.bytes;
      item.destroy();
    }
  }

  /** Puts off all freeing until the function that it gives has been called; nests. Calling that twice is a no-op. */
  defer(): () => void {
    const end: () => void = () => {
      // Frees nothing by itself, as in Numba: the next item beyond the limits does.
      this.#deferrals.delete(end);
    };
    this.#deferrals.add(end);
    return end;
  }

  /** Ends all deferrals: the context is going away. */
  endDeferrals(): void {
    this.#deferrals.clear();
  }
}
