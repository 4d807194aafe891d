/**
 * An NVIDIA device that is open: the driver contract, put together from its parts.
 *
 * Each call makes the device's context current, and each call that waits looks at what kernels have left behind before it
 * throws. Memory, host memory, streams, kernels and copies have files of their own.
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
import { type PtxPipeline, ptxPipeline } from './compile.ts';
import { CudaContext } from './context.ts';
import { Copies } from './copies/copies.ts';
import type { CopyVariant } from './copies/device.ts';
import { CudaExecutable, type ExecutableHost } from './executable.ts';
import { CudaHostMemory } from './host.ts';
import { type CudaDevice, isaOf } from './info.ts';
import type { Cuda } from './library.ts';
import { CudaMemory } from './memory.ts';
import { enablePeer } from './peers.ts';
import { LaunchRecords } from './records.ts';
import { closeShared, openShared, share } from './sharing.ts';
import { type CudaStream, CudaStreams } from './streams.ts';
import { flushAtExit, keepQuietAtExit } from './unobserved.ts';

/** What is different on devices of a library that answers in place of libcuda. */
export interface Backend {
  readonly copies: CopyVariant;
  load(host: ExecutableHost, program: Program): Executable;
}

/** What tests and drivers built on this one may bring. */
export interface NvidiaOptions {
  readonly pipeline?: PtxPipeline;
  readonly backend?: Backend | undefined;
}

/** An NVIDIA device. */
export class NvidiaDriver implements DeviceDriver {
  readonly info: DeviceInfo;
  readonly checkedByDefault = false;
  readonly contractByDefault = true;
  readonly context: CudaContext;
  readonly memory: CudaMemory;
  readonly streams: CudaStreams;
  readonly records: LaunchRecords;
  readonly #host: CudaHostMemory;
  readonly #copies: Copies;
  readonly #executableHost: ExecutableHost;
  readonly #executables = new Set<Executable>();
  readonly #backend: Backend | undefined;
  readonly #peers = new Set<CudaContext>();

  constructor(cuda: Cuda, { device, info, memoryPools }: CudaDevice, options: NvidiaOptions = {}) {
    this.info = info;
    this.#backend = options.backend;
    this.context = new CudaContext(cuda, device, info.name);
    this.context.enter('open');
    this.streams = new CudaStreams(this.context);
    this.memory = new CudaMemory(this.context, this.streams, memoryPools);
    this.records = new LaunchRecords(this.context);
    this.#host = new CudaHostMemory(this.context);
    this.#copies = new Copies({
      cuda,
      variant: options.backend?.copies,
      enter: (api) => this.context.enter(api),
      streamOf: (stream, api) => this.streams.resolve(stream, api).handle,
      check: (result, api) => this.context.check(result, api),
      settle: () => this.#settle(),
      observe: (dry) => this.#observe(dry),
      synchronizeStream: (stream) => this.synchronizeStream(stream),
      allocate: (bytes, stream) => this.memory.allocate(bytes, stream, false),
      free: (pointer, stream) => this.memory.free(pointer, stream),
    });
    const [major = 0, minor = 0] = info.computeCapability ?? [];
    this.#executableHost = {
      context: this.context,
      streams: this.streams,
      records: this.records,
      pipeline: options.pipeline ?? ptxPipeline,
      target: { capability: 10 * major + minor, isa: isaOf(cuda.version) },
      maxThreadsPerBlock: info.limits.maxThreadsPerBlock,
      maxSharedBytes: info.limits.maxSharedBytesPerBlock,
      cooperative: info.features.cooperative,
      synchronous: debugWord('sync'),
      loaded: this.#executables,
      synchronizeStream: (stream) => this.#synchronize(stream),
    };
    flushAtExit(this);
  }

  // memory

  allocate(bytes: number, stream?: StreamHandle, shareable = false): Pointer {
    this.context.enter('allocate');
    const on = stream === undefined ? undefined : this.streams.resolve(stream, 'allocate').handle;
    return this.memory.allocate(bytes, on, shareable);
  }

  free(pointer: Pointer, stream?: StreamHandle): void {
    this.context.enter('free');
    this.memory.free(pointer, stream === undefined ? undefined : this.streams.resolve(stream, 'free').handle);
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    this.context.enter('memoryInfo');
    return this.memory.info();
  }

  allocateHost(bytes: number, options: HostMemoryOptions): HostMemory {
    this.context.enter('allocateHost');
    return this.#host.allocate(bytes, options);
  }

  freeHost(memory: HostMemory): void {
    this.context.enter('freeHost');
    this.#host.free(memory);
  }

  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory {
    this.context.enter('registerHost');
    return this.#host.register(bytes, mapped);
  }

  unregisterHost(memory: HostMemory): void {
    this.context.enter('unregisterHost');
    this.#host.unregister(memory);
  }

  share(pointer: Pointer): Uint8Array {
    this.context.enter('share');
    this.#need(this.info.features.ipc, 'E_IPC', 'cannot share memory with other processes');
    return share(this.context, this.memory, Number(pointer));
  }

  openShared(handle: Uint8Array): Pointer {
    this.context.enter('openShared');
    this.#need(this.info.features.ipc, 'E_IPC', 'cannot share memory with other processes');
    return openShared(this.context, handle);
  }

  closeShared(pointer: Pointer): void {
    this.context.enter('closeShared');
    closeShared(this.context, Number(pointer));
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

  fillStrided(
    target: Pointer,
    strides: readonly number[],
    region: StridedRegion,
    pattern: Uint8Array,
    stream?: StreamHandle,
  ): void {
    this.#copies.fillStrided(target, strides, region, pattern, stream);
  }

  copyFromPeer(target: Pointer, peer: DeviceDriver, source: Pointer, bytes: number, stream?: StreamHandle): void {
    if (!(peer instanceof NvidiaDriver && peer.info.kind === this.info.kind)) {
      throw new NotSupportedError('E_PEER', `${this.info.name} cannot copy from ${peer.info.name} without the host`);
    }
    const { cuda } = this.context;
    if (!this.#peers.has(peer.context)) {
      this.#peers.add(peer.context);
      enablePeer(this, peer);
    }
    this.context.enter('copyFromPeer');
    if (bytes === 0) return;
    const to = this.streams.resolve(stream, 'copyFromPeer');
    const [here, there] = [this.context.handle, peer.context.handle];
    const result = cuda.cuMemcpyPeerAsync(target, here, source, there, bytes, to.handle);
    this.context.check(result, 'cuMemcpyPeerAsync');
    if (stream === undefined) this.#settle();
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

  externalStream(handle: bigint): StreamHandle {
    this.context.enter('externalStream');
    return this.streams.external(handle);
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
    return this.streams.query(stream);
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
    return this.streams.queryEvent(event);
  }

  synchronizeEvent(event: EventHandle): void {
    this.context.enter('synchronizeEvent');
    const mark = this.streams.synchronizeEvent(event);
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
    this.context.check(this.context.cuda.cuCtxSynchronize(), 'cuCtxSynchronize');
    this.#observe(true);
  }

  /** The default stream has run dry, and with it all others that wait for it; throws what went wrong. */
  #settle(): void {
    this.#synchronize(this.streams.default);
  }

  /** After a call that has waited for the kernels of the default stream itself; `dry`: for all of it. */
  #observe(dry: boolean): void {
    this.context.launches.clear();
    if (dry) this.streams.defaultUsed = false;
    this.records.collect(undefined);
    this.records.log.raise();
  }

  #synchronize(stream: CudaStream): void {
    this.context.check(this.context.cuda.cuStreamSynchronize(stream.handle), 'cuStreamSynchronize');
    const ordered = this.#orderedWith(stream);
    if (ordered === undefined) {
      this.#observe(true);
      return;
    }
    this.records.collect(ordered);
    this.records.log.raise(ordered);
  }

  /** Work on the default stream comes after that of all streams: undefined for these. */
  #orderedWith(stream: CudaStream): CudaStream | undefined {
    return stream === this.streams.default ? undefined : stream;
  }

  // kernels

  load(program: Program): Executable {
    this.context.enter('load');
    const executable = this.#backend
      ? this.#backend.load(this.#executableHost, program)
      : new CudaExecutable(this.#executableHost, program);
    this.#executables.add(executable);
    return executable;
  }

  close(): void {
    if (this.context.closed) return;
    keepQuietAtExit(this);
    if (this.context.broken === undefined) {
      this.context.enter('close');
      for (const executable of this.#executables) executable.unload();
      this.#copies.close();
      this.streams.close();
      this.memory.close();
      this.#host.close();
    }
    this.#executables.clear();
    this.context.close();
  }

  #need(feature: boolean, code: string, what: string): void {
    if (!feature) throw new NotSupportedError(code, `${this.info.name} ${what}`);
  }
}
