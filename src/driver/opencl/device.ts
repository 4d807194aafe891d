/**
 * An OpenCL device that is open: the driver contract, put together from its parts. Memory, host memory, streams, kernels and copies
 * have files of their own.
 *
 * Kernels are checked by default on CPU devices: there a stray store kills the process. They fuse a*b+c by default on others.
 */
import { debugWord } from '../../environment.ts';
import { NotSupportedError } from '../../errors.ts';
import type {
  DeviceDriver,
  DeviceInfo,
  EventHandle,
  Executable,
  HostMemory,
  HostMemoryOptions,
  Pointer,
  Program,
  StreamHandle,
  StridedRegion,
} from '../driver.ts';
import { BinaryCache, cacheFolder } from './binary-cache.ts';
import { type OpenCLPipeline, openclPipeline } from './compile.ts';
import { OpenCLContext } from './context.ts';
import { Copies } from './copies.ts';
import { CopyKernels } from './copy-kernels.ts';
import { type ExecutableHost, OpenCLExecutable } from './executable.ts';
import { OpenCLHostMemory } from './host.ts';
import type { OpenCLDevice } from './info.ts';
import type { OpenCL } from './library.ts';
import { OpenCLMemory } from './memory.ts';
import { Programs } from './programs.ts';
import type { OpenCLStream, Queues } from './queues.ts';
import { LaunchRecords } from './records.ts';
import { OpenCLStreams } from './streams.ts';
import { finishAtExit, keepQuietAtExit } from './unobserved.ts';

/** What tests may bring. */
export interface OpenCLOptions {
  readonly pipeline?: OpenCLPipeline;
  /** Folder of the binaries of programs; undefined for the user's. */
  readonly cacheFolder?: string | undefined;
  /** Whether kernels use host memory in place; undefined for what the device says. */
  readonly sharesHostMemory?: boolean | undefined;
  /** Whether markers tell when they came; undefined to find out. */
  readonly markersHaveTimes?: boolean | undefined;
}

/** An OpenCL device. */
export class OpenCLDriver implements DeviceDriver {
  readonly info: DeviceInfo;
  readonly device: OpenCLDevice;
  readonly checkedByDefault: boolean;
  readonly contractByDefault: boolean;
  readonly context: OpenCLContext;
  readonly memory: OpenCLMemory;
  readonly streams: OpenCLStreams;
  readonly records: LaunchRecords;
  readonly programs: Programs;
  readonly #host: OpenCLHostMemory;
  readonly #kernels: CopyKernels;
  readonly #copies: Copies;
  readonly #executableHost: ExecutableHost;
  readonly #executables = new Set<OpenCLExecutable>();

  constructor(cl: OpenCL, found: OpenCLDevice, options: OpenCLOptions = {}) {
    const device = { ...found, sharesHostMemory: options.sharesHostMemory ?? found.sharesHostMemory };
    this.info = device.info;
    this.device = device;
    this.checkedByDefault = device.listed.hardware === 'cpu';
    this.contractByDefault = device.listed.hardware !== 'cpu';
    this.context = new OpenCLContext(cl, device);
    this.memory = new OpenCLMemory(this.context);
    this.streams = new OpenCLStreams(this.context, options.markersHaveTimes);
    this.records = new LaunchRecords(this.context, this.queues);
    this.#host = new OpenCLHostMemory(this.context, this.memory, this.queues);
    this.programs = new Programs(this.context, cacheOf(device, options.cacheFolder));
    this.#kernels = new CopyKernels(this.context, this.programs, this.queues);
    const { context, memory, queues, programs, records } = this;
    const streamOf = (stream: StreamHandle | undefined, api: string): OpenCLStream => this.streams.resolve(stream, api);
    this.#copies = new Copies({
      context,
      memory,
      queues,
      kernels: this.#kernels,
      streamOf,
      settle: () => this.#synchronize(queues.default),
    });
    this.#executableHost = {
      context,
      memory,
      queues,
      programs,
      records,
      pipeline: options.pipeline ?? openclPipeline,
      target: device.target,
      copies: this.#copies,
      synchronous: debugWord('sync'),
      streamOf,
      synchronizeStream: (stream) => this.#synchronize(stream),
    };
    finishAtExit(this);
  }

  get queues(): Queues {
    return this.streams.queues;
  }

  // memory

  allocate(bytes: number, stream?: StreamHandle): Pointer {
    this.context.enter('allocate');
    this.streams.resolve(stream, 'allocate');
    return this.memory.allocate(bytes);
  }

  free(pointer: Pointer, stream?: StreamHandle): void {
    this.context.enter('free');
    this.streams.resolve(stream, 'free');
    this.memory.free(pointer);
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return this.memory.info();
  }

  allocateHost(bytes: number, options: HostMemoryOptions): HostMemory {
    this.context.enter('allocateHost');
    return this.#host.allocate(bytes, options);
  }

  freeHost(memory: HostMemory): void {
    this.context.enter('freeHost');
    this.#host.release(memory, 'freeHost');
  }

  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory {
    this.context.enter('registerHost');
    return this.#host.register(bytes, mapped);
  }

  unregisterHost(memory: HostMemory): void {
    this.context.enter('unregisterHost');
    this.#host.release(memory, 'unregisterHost');
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

  // copies

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    this.#copies.copyToDevice(target, source, stream);
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    this.#copies.copyToHost(target, source, stream);
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void {
    this.#copies.copyOnDevice(target, source, bytes, stream);
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
    this.#copies.copyToDeviceStrided(target, targetStrides, source, sourceOffset, sourceStrides, region, stream);
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
    this.#copies.copyToHostStrided(target, targetOffset, targetStrides, source, sourceStrides, region, stream);
  }

  /** As `copyToHostStrided` on a stream, but never blocks: resolves when the bytes are in `target`. */
  copyToHostLater(
    target: Uint8Array,
    targetOffset: number,
    targetStrides: readonly number[],
    source: Pointer,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): Promise<void> {
    return this.#copies.copyToHostLater(target, targetOffset, targetStrides, source, sourceStrides, region, stream);
  }

  copyOnDeviceStrided(
    target: Pointer,
    targetStrides: readonly number[],
    source: Pointer,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): void {
    this.#copies.copyOnDeviceStrided(target, targetStrides, source, sourceStrides, region, stream);
  }

  fillStrided(
    target: Pointer,
    strides: readonly number[],
    region: StridedRegion,
    pattern: Uint8Array,
    stream?: StreamHandle,
  ): void {
    this.#copies.fillStrided(target, strides, region, pattern, stream);
  }

  /** Goes by the host: OpenCL contexts of different devices share no memory. */
  copyFromPeer(target: Pointer, peer: DeviceDriver, source: Pointer, bytes: number, stream?: StreamHandle): void {
    if (!(peer instanceof OpenCLDriver)) {
      throw new NotSupportedError('E_PEER', `${this.info.name} cannot copy from ${peer.info.name} without the host`);
    }
    this.context.enter('copyFromPeer');
    if (bytes === 0) return;
    const between = new Uint8Array(new ArrayBuffer(Math.max(128, bytes)), 0, bytes);
    peer.copyToHost(between, source);
    this.copyToDevice(target, between, stream);
  }

  // streams and events

  createStream(): StreamHandle {
    this.context.enter('createStream');
    return this.streams.create();
  }

  builtinStream(which: 'legacy' | 'per-thread'): StreamHandle {
    this.context.enter('builtinStream');
    return this.streams.builtin(which);
  }

  externalStream(): StreamHandle {
    throw this.#unsupported('E_EXTERNAL_STREAM', 'has no CUDA streams that another library could have made');
  }

  destroyStream(stream: StreamHandle): void {
    this.context.enter('destroyStream');
    this.streams.destroy(stream);
  }

  synchronizeStream(stream: StreamHandle): void {
    this.context.enter('synchronizeStream');
    this.#synchronize(this.streams.resolve(stream, 'synchronizeStream'));
  }

  queryStream(stream: StreamHandle): boolean {
    this.context.enter('queryStream');
    return this.queues.isDone(this.streams.resolve(stream, 'queryStream'));
  }

  createEvent(timing: boolean): EventHandle {
    this.context.enter('createEvent');
    return this.streams.createEvent(timing);
  }

  destroyEvent(event: EventHandle): void {
    this.context.enter('destroyEvent');
    this.streams.destroyEvent(event);
  }

  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    this.context.enter('recordEvent');
    this.streams.record(event, stream, this.records.launched);
  }

  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    this.context.enter('waitEvent');
    this.streams.wait(event, stream, this.records.launched);
  }

  queryEvent(event: EventHandle): boolean {
    this.context.enter('queryEvent');
    return this.streams.query(event);
  }

  synchronizeEvent(event: EventHandle): void {
    this.context.enter('synchronizeEvent');
    const mark = this.streams.synchronize(event);
    if (mark === undefined) return;
    const stream = this.#orderedWith(mark.stream);
    this.records.collect(stream, mark.before);
    this.records.log.raise(stream);
  }

  elapsedTime(start: EventHandle, end: EventHandle): number {
    this.context.enter('elapsedTime');
    return this.streams.elapsed(start, end);
  }

  synchronize(): void {
    this.context.enter('synchronize');
    this.queues.finishAll();
    this.records.collect(undefined);
    this.records.log.raise();
  }

  #synchronize(stream: OpenCLStream): void {
    this.queues.finish(stream);
    const ordered = this.#orderedWith(stream);
    this.records.collect(ordered);
    this.records.log.raise(ordered);
  }

  /** Work on the default stream comes after that of all streams: undefined for these. */
  #orderedWith(stream: OpenCLStream): OpenCLStream | undefined {
    return stream === this.queues.default ? undefined : stream;
  }

  // kernels

  load(program: Program): Executable {
    this.context.enter('load');
    const executable = new OpenCLExecutable(this.#executableHost, program);
    this.#executables.add(executable);
    return executable;
  }

  close(): void {
    if (this.context.closed) return;
    keepQuietAtExit(this);
    if (this.#finished()) {
      for (const executable of this.#executables) executable.unload();
      this.#host.close();
      this.#kernels.close();
      this.programs.close();
      this.memory.close();
      this.streams.close();
    }
    this.#executables.clear();
    this.context.close();
  }

  /** Waits for what is left; false when the device has failed on it, and is left as it is. */
  #finished(): boolean {
    if (this.context.broken !== undefined) return false;
    try {
      this.queues.finishAll();
      return true;
    } catch {
      return false;
    }
  }

  #unsupported(code: string, what: string): NotSupportedError {
    return new NotSupportedError(code, `${this.info.name} ${what}`);
  }
}

/** PoCL keeps what it has built itself, for each block shape even. */
function cacheOf(device: OpenCLDevice, folder: string | undefined): BinaryCache | undefined {
  if (folder === undefined && device.listed.platformName === 'Portable Computing Language') return undefined;
  const at = folder ?? cacheFolder();
  return at === undefined ? undefined : new BinaryCache(at, device.identity);
}
