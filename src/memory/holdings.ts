/**
 * What a context holds: allocations, streams, events and loaded kernels, in use or waiting to be freed. All of it dies with the context.
 *
 * Nothing here waits for the device: the context does before it drops everything, where that is possible.
 */

import { Deallocations, type PendingItem } from './deallocations.ts';
import { attempt } from './freeing.ts';
import { forgetSite } from './leaks.ts';
import { deallocationLimits } from './limits.ts';
import type { Allocation } from './owner.ts';
import { Pressure } from './pressure.ts';
import type { Holder, Outliving, Resource } from './resources.ts';
import { Counters } from './stats.ts';

/** What is asked of the device. */
interface DeviceCalls {
  /** Bytes of device memory that are free. */
  free(): number;
  /** Gives back what the driver keeps of freed memory. */
  trim(): void;
}

export abstract class Holdings {
  /** Device memory that waits to be freed. */
  readonly deallocations: Deallocations;
  /** Streams, events and loaded kernels that wait to be destroyed. */
  readonly resourceDeallocations: Deallocations;
  /** What `memoryStats()` shows. */
  readonly counters: Counters = new Counters();
  /** Has the engine collect dropped arrays when much memory is live. */
  readonly pressure: Pressure;
  /** Streams for which host memory is kept alive. */
  readonly holders: Set<Holder> = new Set();
  /** In no order; each knows its place. */
  readonly #allocations: Allocation[] = [];
  readonly #resources = new Set<Resource>();
  readonly #outliving = new Set<Outliving>();

  constructor(totalMemory: number, { free, trim }: DeviceCalls) {
    const { maxCount, ratio } = deallocationLimits();
    this.deallocations = new Deallocations(maxCount, Math.trunc(totalMemory * ratio), trim);
    this.resourceDeallocations = new Deallocations(maxCount, Number.POSITIVE_INFINITY);
    this.pressure = new Pressure(totalMemory, { live: () => this.counters.live, free });
  }

  /** Counts memory that has been allocated, by whatever call, as this context's own: it dies with it. */
  own<A extends Allocation>(allocation: A): A {
    allocation.place = this.#allocations.length;
    this.#allocations.push(allocation);
    this.counters.allocated(allocation.bytes, this.deallocations.bytes);
    this.pressure.note(this.counters.live);
    return allocation;
  }

  /** The last user of an allocation is gone: it goes into the pending queue. A free that fails is reported as a warning. */
  release(allocation: Allocation): void {
    if (!this.#holds(allocation)) return;
    this.counters.live -= allocation.bytes;
    forgetSite(allocation.site);
    add(this.deallocations, allocation);
  }

  /** As `release`, for memory that was dropped without dispose. */
  releaseDropped(allocation: Allocation): void {
    if (!this.#holds(allocation)) return;
    this.counters.live -= allocation.bytes;
    add(this.deallocations, allocation);
  }

  /** Called by an allocation that is being freed. */
  freed(allocation: Allocation): void {
    this.counters.frees++;
    const last = this.#allocations.at(-1);
    if (last === undefined || !this.#holds(allocation)) return;
    this.#allocations[allocation.place] = last;
    last.place = allocation.place;
    this.#allocations.pop();
    allocation.place = -1;
  }

  #holds(allocation: Allocation): boolean {
    return this.#allocations[allocation.place] === allocation;
  }

  /** Frees what waits in the queue of device memory. */
  freePending(): void {
    clear(this.deallocations);
  }

  /** Makes a stream, an event or a loaded kernel die with this context. */
  adopt(resource: Resource): void {
    this.#resources.add(resource);
  }

  /** Forgets a resource that has been given up already. */
  disown(resource: Resource): void {
    this.#resources.delete(resource);
  }

  /** Puts a resource that is no longer used into the pending queue. */
  retire(resource: Resource): void {
    if (!this.#resources.delete(resource)) return;
    add(this.resourceDeallocations, { bytes: 0, destroy: () => resource.destroy() });
  }

  /** Keeps a stream that was destroyed with work left on it until that is done. */
  outlive(stream: Outliving): void {
    // There are few: most streams are idle when they are disposed.
    this.dropFinished();
    this.#outliving.add(stream);
  }

  /** Forgets destroyed streams whose work has been done. */
  protected dropFinished(): void {
    for (const stream of this.#outliving) if (stream.finished()) this.#outliving.delete(stream);
  }

  /** All work of the device has been done, or is given up: so is what was kept for it. */
  protected settled(): void {
    if (this.holders.size > 0) for (const holder of [...this.holders]) holder.release();
    if (this.#outliving.size === 0) return;
    for (const stream of this.#outliving) stream.finished();
    this.#outliving.clear();
  }

  /** Frees everything. `why` is what arrays over the memory say from now on. */
  protected drop(why: string): void {
    for (const queue of [this.deallocations, this.resourceDeallocations]) {
      queue.endDeferrals();
      while (queue.length > 0) clear(queue);
    }
    for (const resource of this.#resources) attempt(() => resource.destroy());
    this.#resources.clear();
    for (const allocation of [...this.#allocations]) {
      allocation.lost = why;
      this.counters.live -= allocation.bytes;
      attempt(() => allocation.destroy());
    }
  }
}

function add(queue: Deallocations, item: PendingItem): void {
  attempt(() => queue.add(item));
}

function clear(queue: Deallocations): void {
  attempt(() => queue.clear());
}
