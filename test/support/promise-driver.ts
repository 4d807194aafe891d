/**
 * A device that answers only through promises: the CPU device behind a queue that the event loop empties.
 *
 * Nothing is done within the call that asks for it, but some turns of the event loop later, in the order of the calls: so is the one
 * queue of a GPU in a page. There is no call that waits. Memory that is given to a stream's copy is read late, and what a call without a
 * stream names is read at once. What fails in the queue is a fault of its stream.
 */
import { type CpuDriver, openCpu } from '../../src/driver/cpu/index.ts';
import type {
  DeviceDriver,
  DeviceInfo,
  DeviceSide,
  DriverProvider,
  EventHandle,
  Executable,
  Failure,
  HostMemory,
  HostMemoryOptions,
  HostSide,
  LaunchArgs,
  LaunchShape,
  Pointer,
  Program,
  StreamHandle,
  StridedCopy,
  StridedFill,
} from '../../src/driver/driver.ts';
import { FaultLog, type Moment } from '../../src/driver/faults.ts';
import { DriverError } from '../../src/errors.ts';

/** Turns of the event loop between a call and what it does. */
const TURNS = 2;

/** An event: where and when it was recorded, and how many of its marks the queue has not reached. */
interface Mark {
  readonly inner: EventHandle;
  stream: StreamHandle | undefined;
  moment: Moment | undefined;
  pending: number;
}

/** Resolves some turns of the event loop later. */
export async function turns(count: number = TURNS): Promise<void> {
  for (let k = 0; k < count; k++) await new Promise<void>((resolve) => void setImmediate(resolve));
}

/** The device; opened by `promiseProvider`, or for a context of a test's own. */
export class PromiseDriver implements DeviceDriver {
  readonly info: DeviceInfo;
  readonly checkedByDefault = true;
  readonly contractByDefault = false;
  readonly #device: CpuDriver = openCpu({ threads: 1 });
  readonly #faults = new FaultLog();
  /** What stands for the default stream in the log. */
  readonly #default: object = {};
  #queue: (() => void)[] = [];
  #pumping = false;
  readonly #marks = new WeakMap<EventHandle, Mark>();
  readonly #unfinished = new Map<StreamHandle, number>();

  constructor() {
    const { info } = this.#device;
    const features = { ...info.features, hostCanWait: false, stopsKernels: false };
    this.info = { ...info, name: `${info.name}, by promises alone`, features };
  }

  /** Pieces of work that have not been done. */
  get busy(): number {
    return this.#queue.length;
  }

  #enqueue(stream: StreamHandle | undefined, work: () => void): void {
    if (stream !== undefined) this.#unfinished.set(stream, (this.#unfinished.get(stream) ?? 0) + 1);
    const position = this.#faults.advance();
    this.#queue.push(() => {
      try {
        work();
        this.#device.synchronize();
      } catch (error) {
        const fault =
          error instanceof DriverError ? error : new DriverError('E_FAULT', String(error), { cause: error });
        this.#faults.post(fault, stream ?? this.#default, position);
      }
      if (stream !== undefined) this.#unfinished.set(stream, (this.#unfinished.get(stream) ?? 1) - 1);
    });
    if (!this.#pumping) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#queue.length > 0) {
      await turns();
      for (const work of this.#queue.splice(0)) work();
    }
    this.#pumping = false;
  }

  // memory

  allocate(bytes: number, stream?: StreamHandle): Pointer {
    return this.#device.allocate(bytes, stream);
  }

  free(pointer: Pointer, stream?: StreamHandle): void {
    this.#enqueue(stream, () => this.#device.free(pointer));
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return this.#device.memoryInfo();
  }

  allocateHost(bytes: number, options: HostMemoryOptions): HostMemory {
    return this.#device.allocateHost(bytes, options);
  }

  freeHost(memory: HostMemory): void {
    this.#enqueue(undefined, () => this.#device.freeHost(memory));
  }

  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory {
    return this.#device.registerHost(bytes, mapped);
  }

  unregisterHost(memory: HostMemory): void {
    this.#enqueue(undefined, () => this.#device.unregisterHost(memory));
  }

  share(): Uint8Array {
    return this.#device.share();
  }

  openShared(): Pointer {
    return this.#device.openShared();
  }

  closeShared(): void {
    this.#device.closeShared();
  }

  // copies

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    const bytes = stream === undefined ? source.slice() : source;
    this.#enqueue(stream, () => this.#device.copyToDevice(target, bytes));
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void {
    this.#enqueue(stream, () => this.#device.copyOnDevice(target, source, bytes));
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void {
    const { target, source, shape, itemSize } = copy;
    const bytes = stream === undefined ? source.bytes.slice() : source.bytes;
    const kept = { target, source: { ...source, bytes }, shape, itemSize };
    this.#enqueue(stream, () => this.#device.copyToDeviceStrided(kept));
  }

  async copyToHostLater(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#enqueue(stream, () => {
        try {
          this.#device.copyToHostStrided(copy);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    await turns();
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void {
    this.#enqueue(stream, () => this.#device.copyOnDeviceStrided(copy));
  }

  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void {
    const kept = stream === undefined ? { ...fill, pattern: fill.pattern.slice() } : fill;
    this.#enqueue(stream, () => this.#device.fillStrided(kept));
  }

  copyFromPeer(): void {
    this.#device.copyFromPeer();
  }

  // streams and events

  createStream(): StreamHandle {
    return this.#device.createStream();
  }

  builtinStream(which: 'legacy' | 'per-thread'): StreamHandle {
    return this.#device.builtinStream(which);
  }

  externalStream(): StreamHandle {
    return this.#device.externalStream();
  }

  destroyStream(stream: StreamHandle): void {
    this.#enqueue(undefined, () => this.#device.destroyStream(stream));
  }

  queryStream(stream: StreamHandle): boolean {
    return (this.#unfinished.get(stream) ?? 0) === 0;
  }

  createEvent(timing: boolean): EventHandle {
    const inner = this.#device.createEvent(timing);
    const handle: EventHandle = { event: inner };
    this.#marks.set(handle, { inner, stream: undefined, moment: undefined, pending: 0 });
    return handle;
  }

  #mark(event: EventHandle): Mark {
    const mark = this.#marks.get(event);
    if (mark === undefined) throw new DriverError('E_EVENT', 'an event of another device', { api: 'event' });
    return mark;
  }

  destroyEvent(event: EventHandle): void {
    const { inner } = this.#mark(event);
    this.#enqueue(undefined, () => this.#device.destroyEvent(inner));
  }

  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    const mark = this.#mark(event);
    mark.pending++;
    mark.stream = stream;
    mark.moment = this.#faults.now;
    this.#enqueue(stream, () => {
      mark.pending--;
      this.#device.recordEvent(mark.inner, stream);
    });
  }

  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    const { stream: from, moment } = this.#mark(event);
    if (moment === undefined) return;
    const at = this.#faults.advance();
    this.#enqueue(stream, () => this.#faults.follow(from, moment, stream ?? this.#default, at));
  }

  queryEvent(event: EventHandle): boolean {
    return this.#mark(event).pending === 0;
  }

  failureBefore(event: EventHandle): Failure | undefined {
    const { stream, moment } = this.#mark(event);
    return moment === undefined ? undefined : this.#faults.failure(stream, moment);
  }

  elapsedTime(start: EventHandle, end: EventHandle): number {
    return this.#device.elapsedTime(this.#mark(start).inner, this.#mark(end).inner);
  }

  // kernels

  async loadLater(program: Program): Promise<Executable> {
    await turns();
    const inner = this.#device.load(program);
    return {
      attributes: inner.attributes,
      launch: (shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void => {
        const [kept, values] = [{ ...shape, timeout: 0 }, [...args]];
        this.#enqueue(stream, () => inner.launch(kept, values, stream));
      },
      inspect: (target) => inner.inspect(target),
      suggestBlock: (sharedBytes, limit) => inner.suggestBlock(sharedBytes, limit),
      activeBlocks: (threads, sharedBytes) => inner.activeBlocks(threads, sharedBytes),
      unload: () => this.#enqueue(undefined, () => inner.unload()),
    };
  }

  close(): void {
    this.#queue = [];
    this.#device.close();
  }
}

/** A kind of device that takes its time to open. */
export const promiseProvider: DriverProvider = {
  kind: 'cpu',
  probe: () => ({ count: 1 }),
  open: async () => {
    await turns();
    return new PromiseDriver();
  },
};
