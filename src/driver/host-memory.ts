/**
 * What devices have in common whose memory is this process's own: copies, fills, streams, events. The CPU device and the simulator
 * derive from it; each brings its memory and its kernels. Copies run at once, unless their stream has work in the queue.
 */
import { debugWord } from '../environment.ts';
import { DriverError, NotSupportedError, OutOfMemoryError } from '../errors.ts';
import { sizeOf } from '../layout/index.ts';
import type {
  BlockingDriver,
  DeviceFeatures,
  DeviceInfo,
  DeviceLimits,
  DeviceSide,
  EventHandle,
  Executable,
  Failure,
  HostMemory,
  HostMemoryOptions,
  HostSide,
  LaunchArgs,
  Pointer,
  Program,
  StreamHandle,
  StridedCopy,
  StridedFill,
} from './driver.ts';
import { Mirrors } from './mirrors.ts';
import { ImmediateStreams } from './streams.ts';
import { copyOut, copyStrided, extent, fillStrided } from './strided.ts';
import type { Work } from './work-queue.ts';

/** Bytes of device memory, and where in them an address is. */
export interface Location {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** What a driver of this kind is to the kernels that it has loaded. */
export interface LaunchHost {
  /** The stream's identity; throws when it cannot take work. */
  streamOf(stream: StreamHandle | undefined): object;
  /** Takes the fault of a launch: keeps it for the next synchronising call on `stream`, or throws it now. */
  onFault(error: DriverError, stream: object): void;
  /** Blocks until the work in the queue is done: a launch follows all before it. */
  waitForWork(): void;
  /** Puts a launch into the queue. */
  enqueue(stream: object, work: Work): void;
  /** Keeps a fault of work in the queue for those who wait for its stream. */
  keepFault(error: DriverError, stream: object): void;
  /** Somebody has been told of the fault: who begins to wait from now on is not. */
  acknowledgeFault(error: DriverError): void;
  /** Calls `release` when all work that is in the queue now is done. */
  afterWork(release: () => void): void;
  /** Around each run of a kernel: brings host memory that is mapped up to date on either side. */
  beforeLaunch(args: LaunchArgs): void;
  afterLaunch(args: LaunchArgs): void;
}

/** Limits of launches: what NVIDIA's H100 has, so that what runs here fits there. */
export const LAUNCH_LIMITS: Omit<DeviceLimits, 'multiprocessors' | 'totalMemory'> = {
  maxThreadsPerBlock: 1024,
  maxBlockDim: [1024, 1024, 64],
  maxGridDim: [2 ** 31 - 1, 65535, 65535],
  maxSharedBytesPerBlock: 227 * 1024,
  warpSize: 32,
};

/** What such devices can do beyond the rest of the contract. */
export const HOST_FEATURES: DeviceFeatures = {
  streamOrdered: true,
  ipc: false,
  cooperative: false,
  externalStreams: false,
  mapsHostMemory: true,
  stopsKernels: true,
  hostCanWait: true,
};

/** A device over memory of this process: the parts of the contract that need to know nothing else of it. */
export abstract class HostMemoryDriver implements BlockingDriver, LaunchHost {
  abstract readonly info: DeviceInfo;
  readonly checkedByDefault = true;
  readonly contractByDefault = false;
  protected readonly streams: ImmediateStreams = new ImmediateStreams();
  readonly #mirrors = new Mirrors();
  /** Mapped memory whose host view is the device's own memory, and how often that had moved when it was made. */
  readonly #direct = new Map<number, Uint8Array>();
  #generation = 0;
  /** `TSAMBA_DEBUG=sync`: faults are thrown by the launch itself. */
  readonly #synchronous: boolean = debugWord('sync');

  abstract allocate(bytes: number, stream?: StreamHandle): Pointer;
  abstract free(pointer: Pointer, stream?: StreamHandle): void;
  abstract memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number };
  abstract load(program: Program): Executable;
  abstract close(): void;

  /** Finds the bytes from `pointer + low` to `pointer + high`; throws a DriverError when they are not all device memory. */
  protected abstract locate(pointer: Pointer, low: number, high: number, api: string): Location;

  streamOf(stream: StreamHandle | undefined): object {
    this.open('launch');
    return this.streams.resolve(stream, 'launch');
  }

  onFault(error: DriverError, stream: object): void {
    if (this.#synchronous) throw error;
    this.streams.faults.post(error, stream);
  }

  waitForWork(): void {
    this.streams.waitForWork();
  }

  enqueue(stream: object, work: Work): void {
    this.streams.enqueue(stream, work);
  }

  keepFault(error: DriverError, stream: object): void {
    this.streams.faults.post(error, stream);
  }

  acknowledgeFault(error: DriverError): void {
    this.streams.faults.acknowledge(error);
  }

  afterWork(release: () => void): void {
    this.streams.perform(this.streams.resolve(undefined, 'afterWork'), release);
  }

  /** How often the memory has moved: views of it that were made before show the bytes of then. */
  protected get generation(): number {
    return 0;
  }

  beforeLaunch(args: LaunchArgs): void {
    this.#followMoves();
    if (!this.#mirrors.none) this.#mirrors.pullFor(args);
  }

  afterLaunch(args: LaunchArgs): void {
    this.#followMoves();
    if (!this.#mirrors.none) this.#mirrors.pushFor(args);
  }

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    if (this.#waits(stream, 'copyToDevice'))
      return this.#defer(stream, this.copyToDevice.bind(this, target, source, stream));
    if (source.length === 0) return;
    const { bytes, offset } = this.#find(target, 0, source.length, 'copyToDevice');
    bytes.set(source, offset);
    this.#wrote(target, 0, source.length);
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    if (this.#waits(stream, 'copyToHost'))
      return this.#defer(stream, this.copyToHost.bind(this, target, source, stream));
    if (target.length === 0) return;
    const { bytes, offset } = this.#find(source, 0, target.length, 'copyToHost');
    target.set(bytes.subarray(offset, offset + target.length));
  }

  copyOnDevice(target: Pointer, source: Pointer, count: number, stream?: StreamHandle): void {
    if (this.#waits(stream, 'copyOnDevice'))
      return this.#defer(stream, this.copyOnDevice.bind(this, target, source, count, stream));
    if (count === 0) return;
    const to = this.#find(target, 0, count, 'copyOnDevice');
    const from = this.#find(source, 0, count, 'copyOnDevice');
    moveBytes(to, from, count);
    this.#wrote(target, 0, count);
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void {
    if (this.#waits(stream, 'copyToDeviceStrided'))
      return this.#defer(stream, this.copyToDeviceStrided.bind(this, copy, stream));
    const { target, source, shape, itemSize } = copy;
    if (sizeOf(shape) === 0) return;
    const reach = extent(target.strides, shape, itemSize);
    const to = this.#elements(target, reach, 'copyToDeviceStrided');
    copyStrided({ target: to, source, shape, itemSize });
    this.#wrote(target.pointer, ...reach);
  }

  copyToHostStrided(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): void {
    if (this.#waits(stream, 'copyToHostStrided'))
      return this.#defer(stream, this.copyToHostStrided.bind(this, copy, stream));
    const { target, source, shape, itemSize } = copy;
    if (sizeOf(shape) === 0) return;
    const from = this.#elements(source, extent(source.strides, shape, itemSize), 'copyToHostStrided');
    copyStrided({ target, source: from, shape, itemSize });
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void {
    if (this.#waits(stream, 'copyOnDeviceStrided'))
      return this.#defer(stream, this.copyOnDeviceStrided.bind(this, copy, stream));
    const { target, source, shape, itemSize } = copy;
    if (sizeOf(shape) === 0) return;
    const targetReach = extent(target.strides, shape, itemSize);
    const sourceReach = extent(source.strides, shape, itemSize);
    const to = this.#elements(target, targetReach, 'copyOnDeviceStrided');
    const from = this.#elements(source, sourceReach, 'copyOnDeviceStrided');
    const overlap =
      to.bytes.buffer === from.bytes.buffer &&
      to.offset + targetReach[0] < from.offset + sourceReach[1] &&
      from.offset + sourceReach[0] < to.offset + targetReach[1];
    copyStrided({ target: to, source: overlap ? copyOut(from, shape, itemSize) : from, shape, itemSize });
    this.#wrote(target.pointer, ...targetReach);
  }

  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void {
    if (this.#waits(stream, 'fillStrided')) return this.#defer(stream, this.fillStrided.bind(this, fill, stream));
    const { target, shape, pattern } = fill;
    if (sizeOf(shape) === 0) return;
    const reach = extent(target.strides, shape, pattern.length);
    fillStrided({ target: this.#elements(target, reach, 'fillStrided'), shape, pattern });
    this.#wrote(target.pointer, ...reach);
  }

  createStream(): StreamHandle {
    this.open('createStream');
    return this.streams.create();
  }

  destroyStream(stream: StreamHandle): void {
    this.streams.destroy(stream);
  }

  builtinStream(_which: 'legacy' | 'per-thread'): StreamHandle {
    this.open('builtinStream');
    return this.streams.builtin();
  }

  externalStream(): StreamHandle {
    throw this.#unsupported('E_EXTERNAL_STREAM', 'has no CUDA streams that another library could have made');
  }

  synchronizeStream(stream: StreamHandle): void {
    this.streams.synchronize(stream);
  }

  queryStream(stream: StreamHandle): boolean {
    return this.streams.query(stream);
  }

  createEvent(timing: boolean): EventHandle {
    this.open('createEvent');
    return this.streams.createEvent(timing);
  }

  destroyEvent(event: EventHandle): void {
    this.streams.destroyEvent(event);
  }

  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    this.streams.record(event, stream);
  }

  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    this.streams.wait(event, stream);
  }

  queryEvent(event: EventHandle): boolean {
    return this.streams.queryEvent(event);
  }

  synchronizeEvent(event: EventHandle): void {
    this.streams.synchronizeEvent(event);
  }

  reachEvent(event: EventHandle): void {
    this.streams.reachEvent(event);
  }

  failureBefore(event: EventHandle): Failure | undefined {
    return this.streams.failureBefore(event);
  }

  elapsedTime(start: EventHandle, end: EventHandle): number {
    return this.streams.elapsed(start, end);
  }

  synchronize(): void {
    this.streams.waitForWork();
    this.streams.faults.raise();
  }

  hostBytes(pointer: Pointer, length: number): Uint8Array {
    const { bytes, offset } = this.locate(pointer, 0, length, 'hostBytes');
    return bytes.subarray(offset, offset + length);
  }

  /** Pinned memory is memory like any other here; mapped and managed memory is the device's own, as the host sees it. */
  allocateHost(bytes: number, options: HostMemoryOptions): HostMemory {
    this.open('allocateHost');
    if (options.kind === 'pinned') {
      try {
        return { host: 0, bytes: new Uint8Array(bytes), pointer: undefined };
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw noHostMemory(bytes, error);
      }
    }
    const pointer = this.allocate(bytes);
    const address = Number(pointer);
    const view = this.#view(address, bytes);
    // As fresh memory of the host is elsewhere.
    view.fill(0);
    this.#followMoves();
    this.#direct.set(address, view);
    return { host: address, bytes: view, pointer };
  }

  freeHost(memory: HostMemory): void {
    this.#release(memory);
  }

  /** Registered memory that kernels are to reach gets a copy on the device, which is kept equal. */
  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory {
    this.open('registerHost');
    if (!mapped) return { host: 0, bytes, pointer: undefined };
    const pointer = this.allocate(bytes.length);
    const address = Number(pointer);
    this.#mirrors.add(address, bytes, () => this.#view(address, bytes.length));
    return { host: address, bytes, pointer };
  }

  unregisterHost(memory: HostMemory): void {
    this.#release(memory);
  }

  #release({ host }: HostMemory): void {
    const address = host as number;
    if (address === 0) return;
    this.#direct.delete(address);
    this.#mirrors.delete(address);
    this.free(address);
  }

  #view(address: number, length: number): Uint8Array {
    const { bytes, offset } = this.locate(address, 0, length, 'allocateHost');
    return bytes.subarray(offset, offset + length);
  }

  /** Views that no longer show the device's memory, because that has moved, become mirrors of it. */
  #followMoves(): void {
    const { generation } = this;
    if (this.#generation === generation) return;
    this.#generation = generation;
    for (const [address, view] of this.#direct) {
      this.#mirrors.add(address, view, () => this.#view(address, view.length));
    }
    this.#direct.clear();
  }

  /** As `locate`, with what the host has written to memory that is mapped. */
  #find(pointer: Pointer, low: number, high: number, api: string): Location {
    const location = this.locate(pointer, low, high, api);
    this.#followMoves();
    if (!this.#mirrors.none) this.#mirrors.pull(Number(pointer) + low, Number(pointer) + high);
    return location;
  }

  /** Elements of device memory as this process sees them; `low` and `high` are what they reach. */
  #elements({ pointer, strides }: DeviceSide, [low, high]: readonly [number, number], api: string): HostSide {
    const { bytes, offset } = this.#find(pointer, low, high, api);
    return { bytes, offset, strides };
  }

  /** Shows the host what has been written to memory that is mapped. */
  #wrote(pointer: Pointer, low: number, high: number): void {
    if (!this.#mirrors.none) this.#mirrors.push(Number(pointer) + low, Number(pointer) + high);
  }

  share(): Uint8Array {
    throw this.#unsupported('E_IPC', 'cannot share memory with other processes');
  }

  openShared(): Pointer {
    throw this.#unsupported('E_IPC', 'cannot share memory with other processes');
  }

  closeShared(): void {
    throw this.#unsupported('E_IPC', 'cannot share memory with other processes');
  }

  copyFromPeer(): void {
    throw this.#unsupported('E_PEER', 'is the only device of its kind');
  }

  #unsupported(code: string, what: string): NotSupportedError {
    return new NotSupportedError(code, `${this.info.name} ${what}`);
  }

  /** Throws once the device has been closed. */
  protected abstract open(api: string): void;

  /**
   * A call without a stream waits for everything before it, and so is where earlier faults come to light. Whether one with a stream has
   * to wait for work in the queue.
   */
  #waits(stream: StreamHandle | undefined, api: string): boolean {
    this.open(api);
    const { streams } = this;
    if (stream === undefined) {
      streams.waitForWork();
      streams.faults.raise();
      return false;
    }
    const target = streams.resolve(stream, api);
    return !streams.queue.idle && !streams.queue.running && streams.busy(target);
  }

  /** Makes a call again when the queue has come so far. It is bound, not a closure, for which every call would pay. */
  #defer(stream: StreamHandle | undefined, call: () => void): void {
    this.streams.perform(this.streams.resolve(stream, 'copy'), call);
  }
}

function noHostMemory(asked: number, cause: RangeError): OutOfMemoryError {
  const error = new OutOfMemoryError(`the host has no ${asked} bytes of memory for pinned arrays`, {
    asked,
    live: 0,
    pending: 0,
    pooled: 0,
  });
  error.cause = cause;
  return error;
}

/** Moves bytes; the ranges may overlap. */
function moveBytes(to: Location, from: Location, count: number): void {
  if (to.bytes.buffer === from.bytes.buffer && to.bytes.byteOffset === from.bytes.byteOffset) {
    to.bytes.copyWithin(to.offset, from.offset, from.offset + count);
  } else {
    to.bytes.set(from.bytes.subarray(from.offset, from.offset + count), to.offset);
  }
}

/** How many threads the blocks of a loaded kernel may have. */
export function maxThreads({ launchBounds }: Program): number {
  const { maxThreadsPerBlock } = LAUNCH_LIMITS;
  return Math.min(launchBounds ?? maxThreadsPerBlock, maxThreadsPerBlock);
}

/** A pointer as a plain number; anything that is not an address of ours is an error. */
export function addressOf(pointer: Pointer, api: string): number {
  const address = Number(pointer);
  if (Number.isSafeInteger(address) && address > 0) return address;
  const what = address === 0 ? 'a null pointer' : `${String(pointer)}, which is not an address`;
  throw new DriverError('E_INVALID_POINTER', `${api}: got ${what}`, { api });
}
