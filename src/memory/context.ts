/**
 * A context: what a namespace has on an open device: what is allocated there, what waits to be freed, and what has been counted.
 *
 * All device memory is allocated and released here. Which context is the current one is `device-selection.ts`; arrays, streams and
 * kernels stand above and hold the context they were made in.
 */
import type { DeviceDriver, DeviceInfo, DeviceKind, Failure } from '../driver/driver.ts';
import { FaultLog, type Moment } from '../driver/faults.ts';
import { DriverError, OutOfMemoryError, TsambaTypeError } from '../errors.ts';
import { freezeData, lockProperties, refuseAssignments } from '../guarded.ts';
import { markFailed, warn } from '../host/index.ts';
import { blocking, canWait } from './blocking.ts';
import { Deallocations, type PendingItem } from './deallocations.ts';
import { allocationSite, forgetSite } from './leaks.ts';
import { deallocationLimits } from './limits.ts';
import { MemoryStream } from './memory-stream.ts';
import { OpenDevice, type Tenant } from './open-device.ts';
import { Allocation, type MemoryHome, MemoryOwner } from './owner.ts';
import { Pressure } from './pressure.ts';
import { printAs } from './printing.ts';
import type { Holder, Outliving, Resource } from './resources.ts';
import { Counters, type MemoryStats } from './stats.ts';
import type { StreamRef, StreamUser } from './stream-ref.ts';
import { Turns } from './turns.ts';

/** What is not the same for all namespaces. */
export interface ContextOptions {
  readonly namespace?: string | undefined;
  readonly readsWait?: boolean | undefined;
}

/** One open device. Numba: `cuda.current_context()`. */
export class Context implements MemoryHome, Tenant {
  #driver: DeviceDriver;
  readonly #device: OpenDevice;
  /** Called before each launch while faults are injected; throws to make the launch fail. */
  beforeLaunch: (() => void) | undefined = undefined;
  readonly info: DeviceInfo;
  /** By what name users know the functions that it belongs to: `cuda`, `roc`. For messages. */
  readonly namespace: string;
  /** Whether `copyToHost` waits also where it is given a stream, which then only says after what it comes: so in `roc`. */
  readonly readsWait: boolean;
  /** Device memory that waits to be freed. */
  readonly deallocations: Deallocations;
  /** Streams, events and loaded kernels that wait to be destroyed. */
  readonly resourceDeallocations: Deallocations;
  readonly counters: Counters = new Counters();
  /** Asynchronous calls that have their place in the order of the device and are not enqueued yet. */
  readonly turns: Turns = new Turns();
  /** The owner shared by all arrays without elements. */
  readonly noMemory: MemoryOwner;
  /** Goes up with each reset: what was loaded on the device before is gone. */
  epoch = 0;
  /** Faults that came up where nobody could be told, such as in a callback: the next synchronising call throws them. */
  readonly #faults: FaultLog = new FaultLog();
  /** Has the engine collect dropped arrays when much memory is live. */
  readonly pressure: Pressure;
  #closed = false;
  #holds = 0;
  readonly #allocations = new Set<Allocation>();
  readonly #resources = new Set<Resource>();
  #memoryStream: MemoryStream | undefined = undefined;
  readonly #outliving = new Set<Outliving>();
  /** Streams for which host memory is kept alive. */
  readonly holders: Set<Holder> = new Set();

  /** On a device that others may share, or on a driver of its own. */
  constructor(on: OpenDevice | DeviceDriver, { namespace = 'cuda', readsWait = false }: ContextOptions = {}) {
    this.#device = on instanceof OpenDevice ? on : new OpenDevice(on);
    const { driver } = this.#device;
    this.#device.enter(this);
    this.#driver = driver;
    this.namespace = namespace;
    this.readsWait = readsWait;
    this.info = freezeData(driver.info);
    const { maxCount, ratio } = deallocationLimits();
    this.deallocations = new Deallocations(maxCount, Math.trunc(driver.info.limits.totalMemory * ratio), () => {
      this.driver.trim?.();
    });
    this.resourceDeallocations = new Deallocations(maxCount, Number.POSITIVE_INFINITY);
    this.noMemory = new MemoryOwner(this, undefined);
    this.pressure = new Pressure(driver.info.limits.totalMemory, {
      live: () => this.counters.live,
      free: () => (this.#closed ? 0 : this.driver.memoryInfo().free),
    });
    lockProperties(
      this,
      'info',
      'namespace',
      'readsWait',
      'deallocations',
      'resourceDeallocations',
      'counters',
      'turns',
      'noMemory',
      'pressure',
      'holders',
    );
  }

  /** The way to the device. Replaced for a while when faults are injected: read it anew for each call. */
  get driver(): DeviceDriver {
    return this.#driver;
  }

  /** Only another way to the same device. */
  set driver(driver: DeviceDriver) {
    if (driver?.info !== this.info) {
      throw new TsambaTypeError(
        'E_PROPERTY',
        `driver of Context cannot be assigned: its memory is that of ${this.info.name}`,
      );
    }
    this.#driver = driver;
  }

  get kind(): DeviceKind {
    return this.info.kind;
  }

  /** Devices of one name are told apart by their number, and what has the same hardware below it by whose it is. */
  get place(): string {
    const { kind, index, name } = this.info;
    return `${this.namespace}'s ${kind} device ${index} (${name})`;
  }

  /** Whether it is on the same device: then memory, streams and events of one are good in the other. */
  isWith(other: Context): boolean {
    return this.#device === other.#device;
  }

  /** Whether `close()` was called; a closed context can do nothing. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Allocates device memory, `shareable` if other processes are to open it. When there is none left, frees what is pending and tries
   * once more.
   * @throws OutOfMemoryError with the byte counts.
   */
  allocate(bytes: number, stream?: StreamUser | undefined, shareable = false): MemoryOwner {
    if (bytes === 0) return this.noMemory;
    // Another library's stream may be gone when the memory is not.
    const origin = stream === undefined || stream.ref.external ? this.memoryStream : stream.ref;
    const pointer = this.retrying(bytes, () => this.driver.allocate(bytes, origin?.handle, shareable));
    const allocation = this.own(new Allocation(this, pointer, bytes, allocationSite(bytes), origin));
    const owner = new MemoryOwner(this, allocation, bytes, shareable);
    owner.touch(stream);
    return owner;
  }

  /** Where memory comes and goes that belongs to no stream; undefined, the default stream, where that holds up no other. */
  get memoryStream(): StreamRef | undefined {
    const { externalStreams, streamOrdered } = this.info.features;
    if (!externalStreams || !streamOrdered) return undefined;
    if (this.#memoryStream === undefined || this.#memoryStream.destroyed) {
      this.#memoryStream = new MemoryStream(this.driver);
      this.adopt(this.#memoryStream);
    }
    return this.#memoryStream;
  }

  /** Counts memory that has been allocated, by whatever call, as this context's own: it dies with it. */
  own<A extends Allocation>(allocation: A): A {
    this.#allocations.add(allocation);
    this.counters.allocated(allocation.bytes, this.deallocations.bytes);
    this.pressure.note(this.counters.live);
    return allocation;
  }

  /** Calls `allocate`; when it runs out of memory, frees what is pending and calls it once more. Throws OutOfMemoryError. */
  retrying<T>(bytes: number, allocate: () => T): T {
    this.checkOpen();
    try {
      return allocate();
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
    }
    this.#device.freePending();
    try {
      return allocate();
    } catch (error) {
      if (error instanceof OutOfMemoryError) throw this.#outOfMemory(bytes, error);
      throw error;
    }
  }

  #outOfMemory(asked: number, cause: OutOfMemoryError): OutOfMemoryError {
    this.pressure.exhausted();
    const live = this.counters.live;
    const pending = this.deallocations.bytes;
    const { free, total, pooled } = this.driver.memoryInfo();
    const pieces = free > asked ? ', none of it in one piece large enough' : '';
    const held = pending > 0 && this.deallocations.deferred ? ' (deferCleanup keeps them: leave it first)' : '';
    const error = new OutOfMemoryError(
      `cannot allocate ${asked} bytes on ${this.info.name}: ${live} bytes are live, ${pending} pending${held}, ` +
        `${pooled} pooled, ${free} of ${total} free${pieces}. Give back arrays that are no longer needed with \`using\`, dispose() or ` +
        'scope(): what is merely dropped is found between turns of the event loop only, never within a synchronous loop',
      { asked, live, pending, pooled },
    );
    error.cause = cause;
    return error;
  }

  freePending(): void {
    this.#flushReporting(this.deallocations);
  }

  /** The last user of an allocation is gone: it goes into the pending queue. A free that fails is reported as a warning. */
  release(allocation: Allocation): void {
    if (!this.#allocations.has(allocation)) return;
    this.counters.live -= allocation.bytes;
    forgetSite(allocation.site);
    this.#addReporting(this.deallocations, allocation);
  }

  /** As `release`, for memory that was dropped without dispose. */
  releaseDropped(allocation: Allocation): void {
    if (!this.#allocations.has(allocation)) return;
    this.counters.live -= allocation.bytes;
    this.#addReporting(this.deallocations, allocation);
  }

  /** Called by an allocation that is being freed. */
  freed(allocation: Allocation): void {
    this.#allocations.delete(allocation);
    this.counters.frees++;
  }

  /** Makes a stream, an event or a loaded kernel die with this context. */
  adopt(resource: Resource): void {
    this.#resources.add(resource);
  }

  /** Keeps a stream that was destroyed with work left on it until that is done. */
  outlive(stream: Outliving): void {
    // There are few: most streams are idle when they are disposed.
    for (const other of this.#outliving) if (other.finished()) this.#outliving.delete(other);
    this.#outliving.add(stream);
  }

  /** Forgets a resource that has been given up already. */
  disown(resource: Resource): void {
    this.#resources.delete(resource);
  }

  /** Keeps the driver open, also when the context is closed, until the function that it gives is called. */
  holdOpen(): () => void {
    this.#holds++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      if (this.#closed && this.#holds === 0) attempt(() => this.#device.leave(this));
    };
  }

  /** Puts a resource that is no longer used into the pending queue. */
  retire(resource: Resource): void {
    if (!this.#resources.delete(resource)) return;
    this.#addReporting(this.resourceDeallocations, { bytes: 0, destroy: () => resource.destroy() });
  }

  /** Bytes of device memory that are free, and that there are. Numba: `get_memory_info()`. */
  memoryInfo(): { readonly free: number; readonly total: number } {
    this.checkOpen();
    const { free, total } = this.driver.memoryInfo();
    return { free, total };
  }

  memoryStats(): MemoryStats {
    const { live, peak, allocations, frees, synchronizations, copies } = this.counters;
    return {
      live,
      pending: this.deallocations.bytes,
      pooled: this.#closed ? 0 : this.driver.memoryInfo().pooled,
      peak,
      allocations,
      frees,
      synchronizations,
      copies: {
        hostToDevice: { ...copies.hostToDevice },
        deviceToHost: { ...copies.deviceToHost },
        deviceToDevice: { ...copies.deviceToDevice },
      },
    };
  }

  /** Blocks until all work of the device is done; throws what went wrong, if anything did. */
  synchronize(): void {
    this.checkOpen();
    const driver = blocking(this.driver, 'synchronize()', `await ${this.namespace}.synchronizeAsync()`);
    if (this.turns.waiting > 0) this.turns.check('synchronize()');
    this.counters.synchronizations++;
    driver.synchronize();
    this.#settled();
    this.throwFault();
  }

  /** All work of the device has been done, or is given up. */
  #settled(): void {
    if (this.holders.size > 0) for (const holder of [...this.holders]) holder.release();
    if (this.#outliving.size === 0) return;
    for (const stream of this.#outliving) stream.finished();
    this.#outliving.clear();
  }

  /** Keeps a fault for the next synchronising call; one that nobody is told of is printed at exit. */
  keepFault(error: unknown): void {
    this.#faults.post(error instanceof DriverError ? error : wrapped(error), this);
  }

  /** Throws a fault that was kept, if there is one, once. */
  throwFault(): void {
    this.#faults.raise();
  }

  /** When a wait begins, as far as faults go that were kept. */
  get faultsNow(): Moment {
    return this.#faults.now;
  }

  /** A fault that was kept, for who began to wait at a moment: also one that comes up later, since nobody knows of which work it is. */
  failureSince(began: Moment): Failure | undefined {
    return this.#faults.failure(undefined, { position: Number.POSITIVE_INFINITY, told: began.told });
  }

  /** Waits for the device, then frees everything on it: arrays, streams, events and loaded kernels made before are dead. */
  reset(): void {
    this.checkOpen();
    this.#drop('its context was reset');
    this.epoch++;
  }

  /** Frees everything, and closes the device where no other context is on it. Twice is a no-op. */
  close(): void {
    if (this.#closed) return;
    this.#drop('its context was closed');
    this.#closed = true;
    // Memory that a program may still read through an ArrayBuffer must outlive the context.
    if (this.#holds === 0) this.#device.leave(this);
  }

  checkOpen(): void {
    if (!this.#closed) return;
    throw new DriverError(
      'E_CONTEXT_CLOSED',
      `the context of ${this.info.name} was closed; make new arrays and streams`,
      {
        api: 'context',
      },
    );
  }

  #drop(why: string): void {
    this.#reportFaults();
    for (const queue of [this.deallocations, this.resourceDeallocations]) {
      queue.endDeferrals();
      while (queue.length > 0) this.#flushReporting(queue);
    }
    for (const resource of this.#resources) attempt(() => resource.destroy());
    this.#resources.clear();
    for (const allocation of [...this.#allocations]) {
      allocation.lost = why;
      this.counters.live -= allocation.bytes;
      attempt(() => allocation.destroy());
    }
  }

  /** Waits for the device, where that is possible. The work that failed is thrown away with everything else; its errors must not be lost, though. */
  #reportFaults(): void {
    for (;;) {
      try {
        if (canWait(this.driver)) this.driver.synchronize();
        this.#settled();
        this.#faults.raise();
        return;
      } catch (error) {
        if (isRepetition(error)) return;
        report('work failed before its context was given up', error);
        // Nobody can synchronise with it any more: a fault that nobody was told of.
        markFailed();
        // A device that is broken for good says so each time it is asked.
        if (!(error instanceof DriverError) || error.api !== 'kernel') return;
      }
    }
  }

  toString(): string {
    const state = this.closed ? 'closed' : `${this.counters.live} bytes live`;
    return `Context(${this.info.name}, ${state})`;
  }

  /** Disposing must not throw for what another array's memory does: failures of automatic frees become warnings. */
  #addReporting(queue: Deallocations, item: PendingItem): void {
    attempt(() => queue.add(item));
  }

  #flushReporting(queue: Deallocations): void {
    attempt(() => queue.clear());
  }
}

printAs(Context.prototype);
refuseAssignments('Context', Context.prototype);

/** A device that is lost repeats at each call what somebody has been told already: the first failure is the cause. */
function isRepetition(error: unknown): boolean {
  return error instanceof DriverError && error.cause instanceof DriverError;
}

function attempt(free: () => void): void {
  try {
    free();
  } catch (error) {
    if (!isRepetition(error)) report('freeing device memory failed', error);
  }
}

function report(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  warn(`${what}: ${message}`, {
    type: 'TsambaWarning',
    code: 'TSAMBA_FREE_FAILED',
  });
}

function wrapped(error: unknown): DriverError {
  const message = error instanceof Error ? error.message : String(error);
  return new DriverError('E_FAULT', message, { cause: error });
}
