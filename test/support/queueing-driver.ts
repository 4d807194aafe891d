/**
 * A device that works late: what is enqueued on a stream is done when somebody waits for the stream, or lets it step.
 *
 * Streams keep their order and nothing else: the least that a real device promises. So work that was not waited for, memory
 * freed too early and host memory that changed too soon come to light. Without a stream, calls run at once, after what the
 * default stream has. With `cuda: true` it has CUDA's other streams, the device's own and external ones; a stream whose address was given
 * to `loseExternal` must not be touched any more.
 */
import type {
  BlockingDriver,
  DeviceInfo,
  DeviceSide,
  EventHandle,
  Executable,
  Failure,
  HostMemory,
  HostMemoryOptions,
  HostSide,
  Pointer,
  Program,
  StreamHandle,
  StridedCopy,
  StridedFill,
} from '../../src/driver/driver.ts';
import { BlockDriver, failure } from './block-driver.ts';

interface Work {
  /** Undefined for work that is not held up by anything. */
  readonly ready?: () => boolean;
  run(): void;
}

class Queue {
  readonly work: Work[] = [];
  alive = true;
}

interface Mark {
  readonly device: { step(): boolean };
  pending: number;
  alive: boolean;
}

export class QueueingDriver implements BlockingDriver {
  readonly device: BlockDriver;
  readonly checkedByDefault = true;
  readonly contractByDefault = false;
  readonly #default = new Queue();
  readonly #perThread = new Queue();
  readonly #queues: Queue[] = [this.#default, this.#perThread];
  #stepping = false;
  readonly #external = new Map<bigint, Queue>();
  readonly info: DeviceInfo;

  constructor(totalMemory?: number, options: { readonly cuda?: boolean; readonly index?: number } = {}) {
    const { cuda = false, index = 0 } = options;
    this.device = new BlockDriver(totalMemory, cuda ? 'nvidia' : 'cpu', index);
    const { info } = this.device;
    this.info = { ...info, features: { ...info.features, externalStreams: cuda } };
  }

  /** How many streams have work left. */
  get busy(): number {
    return this.#queues.filter(({ work }) => work.length > 0).length;
  }

  /** Another library has destroyed its stream. */
  loseExternal(address: bigint): void {
    const queue = this.#external.get(address);
    if (queue !== undefined) queue.alive = false;
  }

  /** Does one piece of work of each stream; true if there was any. */
  step(): boolean {
    if (this.#stepping) return false;
    this.#stepping = true;
    let any = false;
    try {
      for (const queue of [...this.#queues]) any = this.#stepOne(queue) || any;
    } finally {
      this.#stepping = false;
    }
    return any;
  }

  /** Enqueues something to be done on a stream, or on the default one: a kernel, as far as memory is concerned. */
  enqueue(stream: StreamHandle | undefined, run: () => void): void {
    this.#queue(stream).work.push({ run });
  }

  allocate(bytes: number, stream?: StreamHandle): Pointer {
    if (stream !== undefined) this.#queue(stream);
    return this.device.allocate(bytes);
  }

  free(pointer: Pointer, stream?: StreamHandle): void {
    // The default stream has its place for this as well: freeing blocks nobody.
    this.#queue(stream).work.push({ run: () => this.device.free(pointer) });
    if (stream === undefined && this.#default.work.length === 1) this.#stepOne(this.#default);
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return this.device.memoryInfo();
  }

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    this.#do(stream, () => this.device.copyToDevice(target, source));
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    this.#do(stream, () => this.device.copyToHost(target, source));
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void {
    this.#do(stream, () => this.device.copyOnDevice(target, source, bytes));
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void {
    this.#do(stream, () => this.device.copyToDeviceStrided(copy));
  }

  copyToHostStrided(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): void {
    this.#do(stream, () => this.device.copyToHostStrided(copy));
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void {
    this.#do(stream, () => this.device.copyOnDeviceStrided(copy));
  }

  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void {
    this.#do(stream, () => this.device.fillStrided(fill));
  }

  allocateHost(bytes: number, options: HostMemoryOptions): HostMemory {
    return this.device.allocateHost(bytes, options);
  }

  freeHost(memory: HostMemory): void {
    this.device.freeHost(memory);
  }

  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory {
    return this.device.registerHost(bytes, mapped);
  }

  unregisterHost(memory: HostMemory): void {
    this.device.unregisterHost(memory);
  }

  share(): Uint8Array {
    return this.device.share();
  }

  openShared(): Pointer {
    return this.device.openShared();
  }

  closeShared(): void {
    this.device.closeShared();
  }

  copyFromPeer(target: Pointer, peer: BlockingDriver, source: Pointer, bytes: number, stream?: StreamHandle): void {
    if (!(peer instanceof QueueingDriver) || peer === this) throw failure('copyFromPeer', 'no other device');
    this.#do(stream, () => {
      const data = new Uint8Array(bytes);
      peer.device.copyToHost(data, source);
      this.device.copyToDevice(target, data);
    });
  }

  builtinStream(which: 'legacy' | 'per-thread'): StreamHandle {
    if (which === 'legacy') return { stream: this.#default, address: 1n };
    return { stream: this.#perThread, address: 2n };
  }

  externalStream(address: bigint): StreamHandle {
    let queue = this.#external.get(address);
    if (queue === undefined) {
      queue = new Queue();
      this.#queues.push(queue);
      this.#external.set(address, queue);
    }
    return { stream: queue, address };
  }

  createStream(): StreamHandle {
    const queue = new Queue();
    this.#queues.push(queue);
    return { stream: queue };
  }

  /** As on CUDA, what is left on it is done all the same. */
  destroyStream(stream: StreamHandle): void {
    this.#queue(stream).alive = false;
    const live = this.#queues.filter((queue) => queue.alive || queue.work.length > 0);
    this.#queues.splice(0, this.#queues.length, ...live);
  }

  synchronizeStream(stream: StreamHandle): void {
    this.#drain(this.#queue(stream));
  }

  queryStream(stream: StreamHandle): boolean {
    return this.#queue(stream).work.length === 0;
  }

  createEvent(): EventHandle {
    return { event: { device: this, pending: 0, alive: true } satisfies Mark };
  }

  /** As on CUDA, an event may be destroyed while streams still wait for it. */
  destroyEvent(event: EventHandle): void {
    mark(event).alive = false;
  }

  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    const recorded = mark(event);
    recorded.pending++;
    this.#queue(stream).work.push({
      run: () => {
        recorded.pending--;
      },
    });
  }

  /** The event may be another device's: what it waits for there goes on while this device steps. */
  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    const awaited = mark(event);
    const { device } = awaited;
    const ready = (): boolean => {
      // What is waited for on another device goes on meanwhile, as far as it does not wait for this one.
      if (device !== this) while (awaited.pending > 0 && device.step());
      return awaited.pending === 0;
    };
    this.#queue(stream).work.push({ ready, run: () => undefined });
  }

  queryEvent(event: EventHandle): boolean {
    // Asking lets time pass, or a poll would wait for ever.
    this.step();
    return mark(event).pending === 0;
  }

  synchronizeEvent(event: EventHandle): void {
    while (mark(event).pending > 0 && this.step());
  }

  reachEvent(event: EventHandle): void {
    this.synchronizeEvent(event);
  }

  failureBefore(_event: EventHandle): Failure | undefined {
    return undefined;
  }

  elapsedTime(): number {
    return 0;
  }

  synchronize(): void {
    for (const queue of this.#queues) this.#drain(queue);
  }

  load(_program: Program): Executable {
    return this.device.load();
  }

  close(): void {
    this.device.close();
  }

  #do(stream: StreamHandle | undefined, run: () => void): void {
    if (stream !== undefined) {
      this.#queue(stream).work.push({ run });
      return;
    }
    this.#drain(this.#default);
    run();
  }

  #drain(queue: Queue): void {
    while (queue.work.length > 0) {
      if (this.#stepOne(queue)) continue;
      if (!this.step()) throw failure('synchronize', 'the streams wait for each other');
    }
  }

  #stepOne(queue: Queue): boolean {
    const [work] = queue.work;
    if (work === undefined || work.ready?.() === false) return false;
    queue.work.shift();
    work.run();
    return true;
  }

  #queue(handle: StreamHandle | undefined): Queue {
    if (handle === undefined) return this.#default;
    const queue = handle.stream;
    if (!(queue instanceof Queue) || !queue.alive) throw failure('stream', 'no live stream of this device');
    return queue;
  }
}

function mark(handle: EventHandle): Mark {
  const event = handle.event as Mark;
  if (!event.alive) throw failure('event', 'the event was destroyed');
  return event;
}
