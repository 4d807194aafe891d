/**
 * What devices have in common whose memory is this process's own and whose work runs at once: copies, fills, streams,
 * events. The CPU device and the simulator derive from it; each brings its memory and its kernels.
 */
import { DriverError, NotSupportedError } from '../errors.ts';
import type {
  DeviceDriver,
  DeviceFeatures,
  DeviceInfo,
  DeviceLimits,
  EventHandle,
  Executable,
  HostMemory,
  HostMemoryOptions,
  Pointer,
  Program,
  StreamHandle,
  StridedRegion,
} from './driver.ts';
import { ImmediateStreams } from './streams.ts';
import { compactStrides, copyOut, copyStrided, elementCount, extent, fillStrided } from './strided.ts';

/** Bytes of device memory, and where in them an address is. */
export interface Place {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** What a driver of this kind is to the kernels that it has loaded. */
export interface LaunchHost {
  /** The stream's identity; throws when it cannot take work. */
  streamOf(stream: StreamHandle | undefined): object;
  /** Takes the fault of a launch: keeps it for the next synchronising call on `stream`, or throws it now. */
  onFault(error: DriverError, stream: object): void;
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
  mapsHostMemory: false,
};

/** A device over memory of this process: the parts of the contract that need to know nothing else of it. */
export abstract class HostMemoryDriver implements DeviceDriver, LaunchHost {
  abstract readonly info: DeviceInfo;
  readonly checkedByDefault = true;
  readonly contractByDefault = false;
  protected readonly streams: ImmediateStreams = new ImmediateStreams();
  /** `TSAMBA_DEBUG=sync`: faults are thrown by the launch itself. */
  readonly #synchronous: boolean = (process.env['TSAMBA_DEBUG'] ?? '').split(/[\s,]+/).includes('sync');

  abstract allocate(bytes: number, stream?: StreamHandle): Pointer;
  abstract free(pointer: Pointer, stream?: StreamHandle): void;
  abstract memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number };
  abstract load(program: Program): Executable;
  abstract close(): void;

  /** Finds the bytes from `pointer + low` to `pointer + high`; throws a DriverError when they are not all device memory. */
  protected abstract locate(pointer: Pointer, low: number, high: number, api: string): Place;

  streamOf(stream: StreamHandle | undefined): object {
    this.open('launch');
    return this.streams.resolve(stream, 'launch');
  }

  onFault(error: DriverError, stream: object): void {
    if (this.#synchronous) throw error;
    this.streams.faults.post(error, stream);
  }

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    this.#order(stream, 'copyToDevice');
    if (source.length === 0) return;
    const { bytes, offset } = this.locate(target, 0, source.length, 'copyToDevice');
    bytes.set(source, offset);
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    this.#order(stream, 'copyToHost');
    if (target.length === 0) return;
    const { bytes, offset } = this.locate(source, 0, target.length, 'copyToHost');
    target.set(bytes.subarray(offset, offset + target.length));
  }

  copyOnDevice(target: Pointer, source: Pointer, count: number, stream?: StreamHandle): void {
    this.#order(stream, 'copyOnDevice');
    if (count === 0) return;
    const to = this.locate(target, 0, count, 'copyOnDevice');
    const from = this.locate(source, 0, count, 'copyOnDevice');
    moveBytes(to, from, count);
  }

  copyToDeviceStrided(
    target: Pointer,
    targetStrides: readonly number[],
    source: Uint8Array,
    sourceOffset: number,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): void {
    this.#order(stream, 'copyToDeviceStrided');
    if (elementCount(region) === 0) return;
    const to = this.locate(target, ...extent(targetStrides, region), 'copyToDeviceStrided');
    copyStrided(to.bytes, to.offset, targetStrides, source, sourceOffset, sourceStrides, region);
  }

  copyToHostStrided(
    target: Uint8Array,
    targetOffset: number,
    targetStrides: readonly number[],
    source: Pointer,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): void {
    this.#order(stream, 'copyToHostStrided');
    if (elementCount(region) === 0) return;
    const from = this.locate(source, ...extent(sourceStrides, region), 'copyToHostStrided');
    copyStrided(target, targetOffset, targetStrides, from.bytes, from.offset, sourceStrides, region);
  }

  copyOnDeviceStrided(
    target: Pointer,
    targetStrides: readonly number[],
    source: Pointer,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): void {
    this.#order(stream, 'copyOnDeviceStrided');
    if (elementCount(region) === 0) return;
    const targetExtent = extent(targetStrides, region);
    const sourceExtent = extent(sourceStrides, region);
    const to = this.locate(target, ...targetExtent, 'copyOnDeviceStrided');
    let from = this.locate(source, ...sourceExtent, 'copyOnDeviceStrided');
    let strides = sourceStrides;
    const overlap =
      to.bytes.buffer === from.bytes.buffer &&
      to.offset + targetExtent[0] < from.offset + sourceExtent[1] &&
      from.offset + sourceExtent[0] < to.offset + targetExtent[1];
    if (overlap) {
      const compact = copyOut(from.bytes, from.offset, sourceStrides, region);
      from = { bytes: compact, offset: 0 };
      strides = compactStrides(region);
    }
    copyStrided(to.bytes, to.offset, targetStrides, from.bytes, from.offset, strides, region);
  }

  fillStrided(
    target: Pointer,
    strides: readonly number[],
    region: StridedRegion,
    pattern: Uint8Array,
    stream?: StreamHandle,
  ): void {
    this.#order(stream, 'fillStrided');
    if (elementCount(region) === 0) return;
    const { bytes, offset } = this.locate(target, ...extent(strides, region), 'fillStrided');
    fillStrided(bytes, offset, strides, region, pattern);
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

  elapsedTime(start: EventHandle, end: EventHandle): number {
    return this.streams.elapsed(start, end);
  }

  synchronize(): void {
    this.streams.faults.raise();
  }

  allocateHost(bytes: number, options: HostMemoryOptions): HostMemory {
    this.open('allocateHost');
    if (options.kind !== 'pinned') throw this.#unsupported('E_HOST_MEMORY', `has no ${options.kind} host memory`);
    return { host: undefined, bytes: new Uint8Array(bytes), pointer: undefined };
  }

  freeHost(_memory: HostMemory): void {}

  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory {
    this.open('registerHost');
    if (mapped) throw this.#unsupported('E_HOST_MEMORY', 'cannot reach arrays of the host in place');
    return { host: undefined, bytes, pointer: undefined };
  }

  unregisterHost(_memory: HostMemory): void {}

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

  /** A call without a stream waits for everything before it, and so is where earlier faults come to light. */
  #order(stream: StreamHandle | undefined, api: string): void {
    this.open(api);
    if (stream === undefined) this.streams.faults.raise();
    else this.streams.resolve(stream, api);
  }
}

/** Moves bytes; the ranges may overlap. */
function moveBytes(to: Place, from: Place, count: number): void {
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

/** A pointer as a plain number; anything that is no address of ours is an error. */
export function addressOf(pointer: Pointer, api: string): number {
  const address = Number(pointer);
  if (Number.isSafeInteger(address) && address > 0) return address;
  const what = address === 0 ? 'a null pointer' : `${String(pointer)}, which is no address`;
  throw new DriverError('E_INVALID_POINTER', `${api}: got ${what}`, { api });
}
