/**
 * A context: what a namespace has on an open device. What it holds there is `holdings.ts`.
 *
 * All device memory is allocated here. Which context is the current one is `device-selection.ts`; arrays, streams and
 * kernels stand above and hold the context they were made in.
 */
import type { DeviceDriver, DeviceInfo, DeviceKind, Failure, Pointer, StreamHandle } from '../driver/driver.ts';
import { FaultLog, type Moment } from '../driver/faults.ts';
import { DriverError, OutOfMemoryError, TsambaTypeError } from '../errors.ts';
import { freezeData, lockProperties, refuseAssignments } from '../guarded.ts';
import { markFailed } from '../host/index.ts';
import { noteContext } from '../profile/observing.ts';
import { blocking, canWait } from './blocking.ts';
import { attempt, isRepetition, report } from './freeing.ts';
import { Holdings } from './holdings.ts';
import { allocationSite } from './leaks.ts';
import { Listeners } from './listeners.ts';
import { MemoryStream } from './memory-stream.ts';
import { OpenDevice, type Tenant } from './open-device.ts';
import { Allocation, type MemoryHome, MemoryOwner } from './owner.ts';
import { printAs } from './printing.ts';
import { refuseRecording, refuseWaiting } from './recording.ts';
import { runDry } from './run-dry.ts';
import type { MemoryStats } from './stats.ts';
import type { StreamRef, StreamUser } from './stream-ref.ts';
import type { Turns } from './turns.ts';

/** What is not the same for all namespaces. */
export interface ContextOptions {
  readonly namespace?: string | undefined;
  readonly readsWait?: boolean | undefined;
}

/** One open device. Numba: `cuda.current_context()`. */
export class Context extends Holdings implements MemoryHome, Tenant {
  #driver: DeviceDriver;
  readonly #device: OpenDevice;
  /** Called before each launch while faults are injected; throws to make the launch fail. */
  beforeLaunch: (() => void) | undefined = undefined;
  /** What the device is called and can do. */
  readonly info: DeviceInfo;
  /** The name by which users know the functions that it belongs to: `cuda`, `roc`. For messages. */
  readonly namespace: string;
  /** Asynchronous calls that have their place in the order of the device and are not enqueued yet. */
  readonly turns: Turns;
  /** Calls that wait for work of this context; closing it in order waits until they have been told. */
  readonly listeners: Listeners = new Listeners();
  /** Whether `copyToHost` waits also where it is given a stream, which then only says after what it comes: so in `roc`. */
  readonly readsWait: boolean;
  /** The owner shared by all arrays without elements. */
  readonly noMemory: MemoryOwner;
  /** Goes up with each reset: what was loaded on the device before is gone. */
  epoch = 0;
  /** Faults that came up where nobody could be told, such as in a callback: the next synchronising call throws them. */
  readonly #faults: FaultLog = new FaultLog();
  #closed = false;
  #holds = 0;
  /** Resolves when what was under way at the last `close` or `reset` is done, and the device given back; where nobody can wait. */
  #givingUp: Promise<void> = Promise.resolve();
  #memoryStream: MemoryStream | undefined = undefined;

  /** On a device that others may share, or on a driver of its own. */
  constructor(on: OpenDevice | DeviceDriver, { namespace = 'cuda', readsWait = false }: ContextOptions = {}) {
    const device = on instanceof OpenDevice ? on : new OpenDevice(on);
    const { driver } = device;
    super(driver.info.limits.totalMemory, {
      free: () => (this.#closed ? 0 : this.driver.memoryInfo().free),
      trim: () => this.driver.trim?.(),
    });
    this.#device = device;
    device.enter(this);
    this.#driver = driver;
    this.turns = device.turns;
    this.namespace = namespace;
    this.readsWait = readsWait;
    this.info = freezeData(driver.info);
    this.noMemory = new MemoryOwner(this, undefined);
    lockProperties(
      this,
      'info',
      'namespace',
      'readsWait',
      'deallocations',
      'resourceDeallocations',
      'counters',
      'turns',
      'listeners',
      'noMemory',
      'pressure',
      'holders',
    );
    noteContext(this);
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

  /** What kind of device it is: `'cpu'`, `'nvidia'`, …. */
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
    const pointer = this.#pointer(bytes, origin?.handle, shareable);
    const allocation = this.own(new Allocation(this, pointer, bytes, allocationSite(bytes), origin));
    const owner = new MemoryOwner(this, allocation, bytes, shareable);
    owner.touch(stream);
    return owner;
  }

  #pointer(bytes: number, on: StreamHandle | undefined, shareable: boolean): Pointer {
    this.checkOpen();
    try {
      return this.#driver.allocate(bytes, on, shareable);
    } catch (error) {
      return this.#retry(bytes, error, on, shareable);
    }
  }

  #retry(bytes: number, error: unknown, on: StreamHandle | undefined, shareable: boolean): Pointer {
    return this.#again(bytes, error, () => this.#driver.allocate(bytes, on, shareable));
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

  /** Calls `allocate`; when it runs out of memory, frees what is pending and calls it once more. Throws OutOfMemoryError. */
  retrying<T>(bytes: number, allocate: () => T): T {
    this.checkOpen();
    try {
      return allocate();
    } catch (error) {
      return this.#again(bytes, error, allocate);
    }
  }

  #again<T>(bytes: number, failed: unknown, allocate: () => T): T {
    if (!(failed instanceof OutOfMemoryError)) throw failed;
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
    const { bound } = cause;
    if (bound !== undefined) {
      const message = `cannot allocate ${asked} bytes on ${this.info.name}: ${bound}: make several arrays of it`;
      return new OutOfMemoryError(message, { asked, live, pending, pooled, bound });
    }
    const error = new OutOfMemoryError(
      `cannot allocate ${asked} bytes on ${this.info.name}: ${live} bytes are live, ${pending} pending${held}, ` +
        `${pooled} pooled, ${free} of ${total} free${pieces}. Free arrays that are no longer needed with \`using\`, dispose() or ` +
        'scope(): arrays that are merely dropped are only found between turns of the event loop, never within a synchronous loop',
      { asked, live, pending, pooled },
    );
    error.cause = cause;
    return error;
  }

  /** Keeps the driver open, also when the context is closed, until the function that it gives is called. */
  holdOpen(): () => void {
    this.#holds++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      if (this.#closed) attempt(() => this.#leave());
    };
  }

  /** Bytes of device memory that are free, and that there are. Numba: `get_memory_info()`. */
  memoryInfo(): { readonly free: number; readonly total: number } {
    this.checkOpen();
    const { free, total } = this.driver.memoryInfo();
    return { free, total };
  }

  /** Bytes and counts since the context was opened. Synchronous; does not wait. */
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

  /** Blocks until all work of the device is done; throws the error if something failed. */
  synchronize(): void {
    refuseWaiting('synchronize()');
    this.checkOpen();
    const driver = blocking(this.driver, 'synchronize()', `await ${this.namespace}.synchronizeAsync()`);
    if (this.turns.waiting > 0) this.turns.check('synchronize()');
    this.counters.synchronizations++;
    driver.synchronize();
    this.settled();
    this.throwFault();
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

  /**
   * Waits for the device, then frees everything on it: arrays, streams, events and loaded kernels made before are dead. Where nobody can
   * wait, what has been enqueued is done all the same, and `resetAsync` says when.
   */
  reset(): void {
    refuseRecording('reset()', 'it ends all work', 'call it outside');
    this.checkOpen();
    this.#giveUp('its context was reset');
    this.epoch++;
  }

  /** As `reset`, after all calls before it, without blocking. */
  async resetAsync(): Promise<void> {
    this.checkOpen();
    await this.#quiet();
    this.reset();
    await this.#givingUp;
  }

  /** Frees everything as `reset` does, and closes the device where no other context is on it. Calling it again does nothing. */
  close(): void {
    if (this.#closed) return;
    refuseRecording('close()', 'it ends all work', 'call it outside');
    this.#giveUp('its context was closed');
    this.#closed = true;
    this.#leave();
  }

  /** As `close`, after all calls before it, without blocking. */
  async closeAsync(): Promise<void> {
    if (!this.#closed) await this.#quiet();
    this.close();
    await this.#givingUp;
  }

  /** Leaves the device, at once where it has been waited for. Memory that a program may still read through an ArrayBuffer outlives the context. */
  #leave(): void {
    const leave = (): void => {
      if (this.#holds === 0) this.#device.leave(this);
    };
    if (canWait(this.driver)) leave();
    else this.#givingUp = this.#givingUp.then(() => attempt(leave));
  }

  /** Resolves when all calls before this one have been enqueued and done. What went wrong is left to who gives up the context. */
  async #quiet(): Promise<void> {
    await this.turns.afterThem();
    if (this.#closed) return;
    await runDry(this.driver).catch(() => undefined);
    await this.listeners.gone();
  }

  /** Throws a DriverError (E_CONTEXT_CLOSED) if the context is closed. */
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

  #giveUp(why: string): void {
    if (canWait(this.driver)) this.#reportFaults();
    else this.#givingUp = this.#reportFaultsLater();
    this.drop(why);
  }

  /** Waits for the device. The work that failed is thrown away with everything else; its errors must not be lost, though. */
  #reportFaults(): void {
    for (;;) {
      try {
        if (canWait(this.driver)) this.driver.synchronize();
        this.settled();
        this.throwFault();
        return;
      } catch (error) {
        if (isRepetition(error)) return;
        reportWork(error);
        // A device that is broken for good says so each time it is asked.
        if (!(error instanceof DriverError) || error.api !== 'kernel') return;
      }
    }
  }

  /** The same, when what has been enqueued until now is done. */
  async #reportFaultsLater(): Promise<void> {
    if (this.driver.lost) return;
    try {
      for (;;) {
        await this.turns.afterThem();
        const failure = await runDry(this.driver);
        if (failure === undefined) break;
        failure.acknowledge();
        reportWork(failure.error);
      }
      if (this.#closed) this.settled();
      else this.dropFinished();
      this.throwFault();
    } catch (error) {
      if (!isRepetition(error)) reportWork(error);
    }
  }

  override toString(): string {
    const state = this.closed ? 'closed' : `${this.counters.live} bytes live`;
    return `Context(${this.info.name}, ${state})`;
  }
}

printAs(Context.prototype);
refuseAssignments('Context', Context.prototype);

/** Nobody can synchronise with it any more: a fault that nobody was told of. */
function reportWork(error: unknown): void {
  report('work failed before its context was given up', error);
  markFailed();
}

function wrapped(error: unknown): DriverError {
  const message = error instanceof Error ? error.message : String(error);
  return new DriverError('E_FAULT', message, { cause: error });
}
