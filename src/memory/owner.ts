/**
 * Owners of device memory: one allocation, shared by the array that made it and all its views.
 *
 * An owner counts its arrays. When the last is disposed the allocation goes into the context's pending queue. Disposing
 * never invalidates work that has been enqueued: the allocation remembers the streams that used it, and is freed after them.
 * An owner that is dropped without dispose is found by a FinalizationRegistry, which is only the net: no finaliser runs
 * inside a synchronous loop.
 */
import type { DeviceDriver, Pointer, StreamHandle } from '../driver/driver.ts';
import type { PendingItem } from './deallocations.ts';
import type { Site } from './disposal.ts';
import type { StreamRef } from './stream-ref.ts';

/** What an owner asks of the context that it was allocated in. */
export interface MemoryHome {
  readonly driver: DeviceDriver;
  /** The last array of an allocation was disposed. */
  release(allocation: Allocation): void;
  /** The last array of an allocation was collected without having been disposed. */
  releaseDropped(allocation: Allocation): void;
  /** An allocation is being freed. */
  freed(allocation: Allocation): void;
}

/** From here on, streams that are gone are dropped from an allocation's list. */
const MANY_STREAMS = 32;

/** A block of device memory as the driver gave it. Knows nothing of its owner, so that the owner can be collected. */
export class Allocation implements PendingItem {
  readonly context: MemoryHome;
  readonly pointer: Pointer;
  readonly bytes: number;
  /** Where it was made; only while leaks are tracked. */
  readonly site: Site | undefined;
  /** Why the memory is gone though nobody released it: the context was reset or closed. */
  lost: string | undefined = undefined;
  /** The stream that used it most recently: uses in a row on one stream cost a comparison. */
  lastStream: StreamRef | undefined = undefined;
  #streams: Set<StreamRef> | undefined = undefined;

  constructor(context: MemoryHome, pointer: Pointer, bytes: number, site: Site | undefined) {
    this.context = context;
    this.pointer = pointer;
    this.bytes = bytes;
    this.site = site;
  }

  noteUse(stream: StreamRef): void {
    this.lastStream = stream;
    if (stream.handle === undefined) return;
    this.#streams ??= new Set();
    // An array that lives long may meet any number of short-lived streams.
    if (this.#streams.size >= MANY_STREAMS) {
      for (const known of this.#streams) if (known.destroyed) this.#streams.delete(known);
    }
    this.#streams.add(stream);
  }

  /** Frees the memory in the order of the streams that used it; blocks for none of them. */
  destroy(): void {
    this.context.freed(this);
    this.context.driver.free(this.pointer, this.#orderedAfterUses());
  }

  /** A stream on which everything that used the memory has been done; undefined when that holds already. */
  #orderedAfterUses(): StreamHandle | undefined {
    if (this.#streams === undefined) return undefined;
    const { driver } = this.context;
    const busy: StreamHandle[] = [];
    for (const stream of this.#streams) {
      if (stream.handle !== undefined && !stream.destroyed && !driver.queryStream(stream.handle))
        busy.push(stream.handle);
    }
    const last = busy.pop();
    if (last === undefined) return undefined;
    // `undefined` is the default stream, which may have used any memory.
    for (const other of [...busy, undefined]) {
      const event = driver.createEvent(false);
      driver.recordEvent(event, other);
      driver.waitEvent(event, last);
      driver.destroyEvent(event);
    }
    return last;
  }
}

/** Frees what was dropped without dispose, some time after it has been collected. */
const dropped: FinalizationRegistry<Allocation> = new FinalizationRegistry((allocation) => {
  allocation.context.releaseDropped(allocation);
});

/** The owner of one allocation, counted by the arrays that share it. */
export class MemoryOwner {
  readonly context: MemoryHome;
  /** Address of the first byte; 0 for the owner of no memory. */
  readonly address: number;
  readonly bytes: number;
  readonly #allocation: Allocation | undefined;
  #arrays = 0;

  /** Only `Context.allocate` and `Context.noMemory` make owners. */
  constructor(context: MemoryHome, allocation: Allocation | undefined) {
    this.context = context;
    this.#allocation = allocation;
    this.address = allocation === undefined ? 0 : Number(allocation.pointer);
    this.bytes = allocation === undefined ? 0 : allocation.bytes;
    if (allocation !== undefined) dropped.register(this, allocation, this);
  }

  /** How many undisposed arrays share the memory. */
  get arrays(): number {
    return this.#arrays;
  }

  /** Why the memory is gone under its arrays, if it is: the context was reset or closed. */
  get lost(): string | undefined {
    return this.#allocation === undefined ? undefined : this.#allocation.lost;
  }

  /** One more array shares the memory. */
  retain(): void {
    this.#arrays++;
  }

  /** One array fewer shares the memory; the last one puts it into the pending queue. */
  release(): void {
    this.#arrays--;
    if (this.#arrays > 0 || this.#allocation === undefined) return;
    dropped.unregister(this);
    this.context.release(this.#allocation);
  }

  /** Notes that work using the memory has been enqueued on a stream (undefined: the default stream). */
  touch(stream: StreamRef | undefined): void {
    const allocation = this.#allocation;
    if (stream === undefined || allocation === undefined || allocation.lastStream === stream) return;
    allocation.noteUse(stream);
  }
}
