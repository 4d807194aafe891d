/**
 * Owners of device memory: one allocation, shared by the array that made it and all its views.
 *
 * An owner counts its arrays. When the last is disposed the allocation goes into the context's pending queue. Disposing
 * never invalidates work that has been enqueued: the allocation remembers the streams that used it, and is freed after them.
 * An owner that is dropped without dispose is found by a FinalizationRegistry, which is only the net: no finaliser runs
 * inside a synchronous loop.
 */
import type { DeviceDriver, EventHandle, Pointer, StreamHandle } from '../driver/driver.ts';
import { canWait } from './blocking.ts';
import type { PendingItem } from './deallocations.ts';
import { disposedError, type Site } from './disposal.ts';
import { recording } from './recording.ts';
import type { StreamRef, StreamUser } from './stream-ref.ts';

/** What an owner asks of the context that it was allocated in. */
export interface MemoryHome {
  /** The driver of the device. */
  readonly driver: DeviceDriver;
  /** The last array of an allocation was disposed. */
  release(allocation: Allocation): void;
  /** The last array of an allocation was collected without having been disposed. */
  releaseDropped(allocation: Allocation): void;
  /** An allocation is being freed. */
  freed(allocation: Allocation): void;
  /** Where memory comes and goes that belongs to no stream; undefined: in the order of the default stream. */
  readonly memoryStream: StreamRef | undefined;
  /** Keeps what went wrong where nobody could be told. */
  keepFault(error: unknown): void;
}

/** From here on, streams that have nothing left to do are dropped from an allocation's list. */
const MANY_STREAMS = 32;

/** What may still use memory. */
interface Unfinished {
  readonly busy: readonly StreamHandle[];
  /** Marks behind the last work on streams that are no more. */
  readonly tails: readonly EventHandle[];
}

/** A block of device memory as the driver gave it. Knows nothing of its owner, so that the owner can be collected. */
export class Allocation implements PendingItem {
  readonly context: MemoryHome;
  readonly pointer: Pointer;
  readonly bytes: number;
  /** Its place among those of its context; -1 for none. */
  place = -1;
  /** Where it was made; only while leaks are tracked. */
  readonly site: Site | undefined;
  /** Why the memory is gone though nobody released it: the context was reset or closed. */
  lost: string | undefined = undefined;
  /** The stream in whose order it was allocated; undefined is the default stream. */
  readonly origin: StreamRef | undefined;
  /** The stream that used it most recently: uses in a row on one stream cost a comparison. */
  lastStream: StreamRef | undefined = undefined;
  #streams: Set<StreamRef> | undefined = undefined;
  /** Marks on other libraries' streams, made when the memory was released: those streams may be gone by the time it is freed. */
  #marks: EventHandle[] = [];
  /** Whether other libraries' streams may use it of which nothing is known any more. */
  #unknownUses = false;

  constructor(context: MemoryHome, pointer: Pointer, bytes: number, site: Site | undefined, origin?: StreamRef) {
    this.context = context;
    this.pointer = pointer;
    this.bytes = bytes;
    this.site = site;
    this.origin = origin;
  }

  /** Work that uses the memory is about to be enqueued. */
  noteUse(stream: StreamRef): void {
    this.lastStream = stream;
    if (stream.handle === undefined) return;
    this.#streams ??= new Set();
    if (this.#streams.has(stream)) return;
    // An array that lives long may meet any number of short-lived streams.
    if (this.#streams.size >= MANY_STREAMS) this.#dropIdle(this.#streams);
    this.#streams.add(stream);
    if (stream !== this.origin) this.#orderFirstUse(stream, stream.handle);
  }

  #dropIdle(streams: Set<StreamRef>): void {
    const { driver } = this.context;
    for (const known of streams) {
      if (known.external) this.#unknownUses = true;
      else if (known.handle !== undefined && !known.destroyed && !driver.queryStream(known.handle)) continue;
      else if (known.tail !== undefined) continue;
      streams.delete(known);
    }
  }

  /**
   * Memory exists from its allocation on, in the order of the stream that it was allocated on: another stream must come after that.
   * The device's own streams come after the default stream by themselves.
   */
  #orderFirstUse(stream: StreamRef, handle: StreamHandle): void {
    const { driver } = this.context;
    const { origin } = this;
    if (origin?.destroyed) {
      if (origin.tail !== undefined) driver.waitEvent(origin.tail, handle);
      return;
    }
    if (origin === undefined ? !stream.external : origin.handle === undefined || driver.queryStream(origin.handle))
      return;
    waitFor(driver, origin?.handle, handle);
  }

  /** The last array was disposed; `externalOwner` is the object outside that the owner has kept alive so far. */
  released(_externalOwner: unknown): void {
    if (this.#streams === undefined) return;
    const { driver } = this.context;
    for (const stream of this.#streams) {
      if (!stream.external) continue;
      const mark = driver.createEvent(false);
      driver.recordEvent(mark, stream.handle);
      this.#marks.push(mark);
      this.#streams.delete(stream);
    }
  }

  /** The owner was collected without having been disposed: nobody can reach the memory any more. */
  dropped(): void {
    for (const stream of this.#streams ?? []) {
      if (!stream.external) continue;
      this.#unknownUses = true;
      this.#streams?.delete(stream);
    }
  }

  /**
   * The streams that may still use the memory. `reached`: kernels can use it, and so the default stream (undefined) may as well;
   * copies on that are done when they return.
   */
  users(reached: boolean): readonly (StreamHandle | undefined)[] {
    return reached ? [...this.#unfinished().busy, undefined] : this.#unfinished().busy;
  }

  /**
   * Blocks until everything that used the memory has been done; `reached` as for `users`. What went wrong is for the next
   * synchronising call. Where nobody can wait the driver keeps what it still uses.
   */
  finishUses(reached: boolean): void {
    const { driver } = this.context;
    if (!canWait(driver)) return;
    const { tails } = this.#unfinished();
    try {
      if (this.#unknownUses) driver.synchronize();
      for (const handle of this.users(reached)) {
        const event = driver.createEvent(false);
        driver.recordEvent(event, handle);
        try {
          driver.reachEvent(event);
        } finally {
          driver.destroyEvent(event);
        }
      }
      for (const tail of tails) driver.reachEvent(tail);
    } catch (error) {
      this.context.keepFault(error);
    } finally {
      this.#forgetMarks();
    }
  }

  /** The streams that used the memory and have work left, the default stream apart. */
  #unfinished(): Unfinished {
    const { driver } = this.context;
    const busy: StreamHandle[] = [];
    const tails = [...this.#marks];
    for (const { handle, destroyed, tail, external } of this.#streams ?? []) {
      if (tail !== undefined) tails.push(tail);
      else if (handle !== undefined && !destroyed && (external || !driver.queryStream(handle))) busy.push(handle);
    }
    return { busy, tails };
  }

  #forgetMarks(): void {
    for (const mark of this.#marks.splice(0)) this.context.driver.destroyEvent(mark);
  }

  /** Frees the memory in the order of the streams that used it; blocks for none of them. */
  destroy(): void {
    this.context.freed(this);
    // Memory without an owner that used other libraries' streams: there is no other way to know that they are done.
    if (this.#unknownUses) this.finishUses(true);
    this.context.driver.free(this.pointer, this.#orderedAfterUses());
    if (this.#marks.length > 0) this.#forgetMarks();
  }

  /** A stream after whose work everything that used the memory has been done; undefined is the default stream. */
  #orderedAfterUses(): StreamHandle | undefined {
    // A context that is reset or closed has waited for everything.
    if (this.lost !== undefined) return undefined;
    const { driver, memoryStream } = this.context;
    if (this.#streams === undefined) return memoryStream?.handle;
    const { busy, tails } = this.#unfinished();
    const last = busy[0] ?? memoryStream?.handle;
    for (const other of busy.slice(1)) waitFor(driver, other, last);
    // The default stream may have used any memory. Where there is a memory stream, all streams come after the default one.
    if (last !== undefined && memoryStream === undefined) waitFor(driver, undefined, last);
    for (const tail of tails) driver.waitEvent(tail, last);
    return last;
  }
}

/** Makes what is enqueued on one stream from now on wait for what another has now; undefined is the default stream. */
export function waitFor(driver: DeviceDriver, from: StreamHandle | undefined, to: StreamHandle | undefined): void {
  const event = driver.createEvent(false);
  try {
    driver.recordEvent(event, from);
    driver.waitEvent(event, to);
  } finally {
    driver.destroyEvent(event);
  }
}

/** Frees what was dropped without dispose, some time after it has been collected. */
const dropped: FinalizationRegistry<Allocation> = new FinalizationRegistry((allocation) => {
  allocation.dropped();
  allocation.context.releaseDropped(allocation);
});

/**
 * Owners made in this turn of the event loop, which `dropped` does not watch yet: most are disposed before it ends, and to be put into a
 * registry and taken out of it costs more than all the rest of them. No finaliser could run before it ends, so that nothing is lost.
 */
const young: MemoryOwner[] = [];
/** So many are kept alive at most. */
const MOST_YOUNG = 64;
let scheduled = false;

/** The owner of one allocation, counted by the arrays that share it. */
export class MemoryOwner {
  /** The context that the memory was allocated in. */
  readonly context: MemoryHome;
  /** Address of the first byte; 0 for the owner of no memory. */
  readonly address: number;
  /** Bytes of the allocation. */
  readonly bytes: number;
  /** The memory can be given to `driver.share`. */
  readonly shareable: boolean;
  #externalOwner: unknown = undefined;
  readonly #allocation: Allocation | undefined;
  #arrays = 0;
  #released = false;
  /** Its place among the young ones, -1 when it is none of them. */
  #youngAt = -1;

  /** `bytes`: how many the arrays may use, where that is not how many are counted. */
  constructor(context: MemoryHome, allocation: Allocation | undefined, bytes?: number, shareable = false) {
    this.context = context;
    this.#allocation = allocation;
    this.shareable = shareable;
    this.address = allocation === undefined ? 0 : Number(allocation.pointer);
    this.bytes = allocation === undefined ? 0 : (bytes ?? allocation.bytes);
    if (allocation !== undefined) this.#watchLater();
    // Address and size are what arrays over the memory are checked against.
    Object.freeze(this);
  }

  #watchLater(): void {
    if (young.length === MOST_YOUNG) MemoryOwner.#watchAll();
    this.#youngAt = young.length;
    young.push(this);
    if (scheduled) return;
    scheduled = true;
    // Not every host has `queueMicrotask`.
    void Promise.resolve().then(() => {
      scheduled = false;
      MemoryOwner.#watchAll();
    });
  }

  static #watchAll(): void {
    for (const owner of young) {
      owner.#youngAt = -1;
      if (owner.#allocation !== undefined) dropped.register(owner, owner.#allocation, owner);
    }
    young.length = 0;
  }

  #unwatch(): void {
    const last = young.at(-1);
    if (this.#youngAt < 0 || last === undefined) {
      dropped.unregister(this);
      return;
    }
    young[this.#youngAt] = last;
    last.#youngAt = this.#youngAt;
    young.pop();
    this.#youngAt = -1;
  }

  /** Whatever has to stay alive as long as the memory is used: the object that it belongs to. */
  get externalOwner(): unknown {
    return this.#externalOwner;
  }

  set externalOwner(object: unknown) {
    this.#externalOwner = object;
  }

  /** How many undisposed arrays share the memory. */
  get arrays(): number {
    return this.#arrays;
  }

  /** Why the memory is gone under its arrays, if it is: the context was reset or closed. */
  get lost(): string | undefined {
    return this.#allocation === undefined ? undefined : this.#allocation.lost;
  }

  /** One more array shares the memory. Throws RangeError when it has been given back. */
  retain(): void {
    if (this.#released) {
      const remedy = 'make the new array before the last one over the memory is disposed';
      throw disposedError('memory', undefined, remedy);
    }
    this.#arrays++;
  }

  /** One array fewer shares the memory; the last one puts it into the pending queue. */
  release(): void {
    this.#arrays--;
    if (this.#arrays > 0 || this.#allocation === undefined) return;
    this.#released = true;
    this.#unwatch();
    this.#allocation.released(this.#externalOwner);
    this.#externalOwner = undefined;
    this.context.release(this.#allocation);
  }

  /** Blocks until all work that uses the memory has been done; what went wrong is for the next synchronising call. */
  waitForUses(): void {
    this.#allocation?.finishUses(true);
  }

  /**
   * Notes that work using the memory is about to be enqueued on a stream (undefined: the default stream), which is made to come
   * after the allocation.
   */
  touch(stream: StreamUser | undefined): void {
    // Recorded work is not enqueued: the graph keeps the memory, and notes its streams.
    if (recording.current !== undefined) recording.current.keep(this);
    else this.#noteUse(stream);
  }

  #noteUse(stream: StreamUser | undefined): void {
    const allocation = this.#allocation;
    if (stream === undefined || allocation === undefined || allocation.lastStream === stream.ref) return;
    allocation.noteUse(stream.ref);
  }
}
