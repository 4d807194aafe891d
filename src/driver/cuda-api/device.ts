/**
 * A device behind the CUDA driver API that is open: the driver contract, put together from its parts. NVIDIA's and HIP's devices derive
 * from it; each brings its library, its kernels and the code of its copies.
 *
 * Each call makes the device's context current, and each call that waits looks at what kernels have left behind before it
 * throws. Memory, host memory, streams and copies have files of their own.
 */
import { debugWord } from '../../environment.ts';
import { NotSupportedError } from '../../errors.ts';
import type {
  BlockingDriver,
  DeviceDriver,
  DeviceInfo,
  Executable,
  HostMemory,
  HostMemoryOptions,
  Pointer,
  PreparedWork,
  Program,
  RecordedWork,
  StreamHandle,
} from '../driver.ts';
import { EnqueuedDriver } from '../enqueued.ts';
import { flushAtExit, keepQuietAtExit } from './at-exit.ts';
import { CudaContext } from './context.ts';
import { Copies } from './copies/copies.ts';
import type { CopyPlatform } from './copies/device.ts';
import type { CudaDevice } from './description.ts';
import type { ExecutableHost } from './executable.ts';
import type { Cuda } from './functions.ts';
import { cudaGraphs } from './graphs.ts';
import { CudaHostMemory } from './host.ts';
import { LaunchReports } from './launch-reports.ts';
import { CudaMemory } from './memory.ts';
import { enablePeer } from './peers.ts';
import { closeShared, openShared, share } from './sharing.ts';
import { type CudaStream, CudaStreams } from './streams.ts';

/** A device that a library with the CUDA driver API manages. */
export abstract class CudaDriver extends EnqueuedDriver<CudaStream> implements BlockingDriver {
  readonly info: DeviceInfo;
  readonly checkedByDefault = false;
  readonly contractByDefault = true;
  readonly context: CudaContext;
  readonly memory: CudaMemory;
  readonly streams: CudaStreams;
  readonly reports: LaunchReports;
  readonly #host: CudaHostMemory;
  protected readonly copies: Copies;
  readonly #executableHost: ExecutableHost;
  readonly #executables = new Set<Executable>();
  readonly #peers = new Set<CudaContext>();

  constructor(cuda: Cuda, { device, info, memoryPools }: CudaDevice, platform: CopyPlatform) {
    super();
    this.info = info;
    this.context = new CudaContext(cuda, device, info.name);
    this.context.enter('open');
    this.streams = new CudaStreams(this.context);
    this.memory = new CudaMemory(this.context, this.streams, memoryPools);
    this.reports = new LaunchReports(this.context);
    this.#host = new CudaHostMemory(this.context);
    this.copies = new Copies({
      cuda,
      platform,
      enter: (api) => this.context.enter(api),
      streamOf: (stream, api) => this.streams.resolve(stream, api).handle,
      check: (result, api) => this.context.check(result, api),
      synchronizeAndCheck: () => this.synchronizeAndCheck(this.streams.default),
      checkFaults: (dry) => {
        this.#finished(dry);
        this.checkFaults(this.streams.default);
      },
      synchronizeStream: (stream) => this.synchronizeStream(stream),
      allocate: (bytes, stream) => this.memory.allocate(bytes, stream, false),
      free: (pointer, stream) => this.memory.free(pointer, stream),
    });
    this.#executableHost = {
      context: this.context,
      streams: this.streams,
      reports: this.reports,
      maxThreadsPerBlock: info.limits.maxThreadsPerBlock,
      synchronous: debugWord('sync'),
      loaded: this.#executables,
      synchronizeStream: (stream) => this.synchronizeAndCheck(stream),
      isHost: (address) => this.#host.isHost(address),
    };
    flushAtExit(this);
  }

  /** Loads a kernel. */
  protected abstract executable(host: ExecutableHost, program: Program): Executable;

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

  profile(on: boolean): void {
    const api = on ? 'cuProfilerStart' : 'cuProfilerStop';
    this.context.enter(api);
    const call = this.context.cuda[api];
    // Without a profiler the driver says so, or nothing: neither is the program's affair.
    call?.();
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

  copyFromPeer(target: Pointer, peer: DeviceDriver, source: Pointer, bytes: number, stream?: StreamHandle): void {
    if (!(peer instanceof CudaDriver && peer.info.kind === this.info.kind)) {
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
    if (stream === undefined) this.synchronizeAndCheck(to);
  }

  // streams and events

  externalStream(handle: bigint): StreamHandle {
    this.context.enter('externalStream');
    return this.streams.external(handle);
  }

  // waiting

  protected finish(stream: CudaStream): void {
    this.context.check(this.context.cuda.cuStreamSynchronize(stream.handle), 'cuStreamSynchronize');
    if (stream === this.streams.default) this.#finished(true);
  }

  protected finishAll(): void {
    this.context.check(this.context.cuda.cuCtxSynchronize(), 'cuCtxSynchronize');
    this.#finished(true);
  }

  /** The kernels of the default stream have ended; `dry`: all of its work. */
  #finished(dry: boolean): void {
    this.context.launches.clear();
    if (dry) this.streams.defaultUsed = false;
  }

  // kernels

  load(program: Program): Executable {
    this.context.enter('load');
    const executable = this.executable(this.#executableHost, program);
    this.#executables.add(executable);
    return executable;
  }

  prepare(work: readonly RecordedWork[]): PreparedWork | undefined {
    // Launches that wait cannot be captured.
    return this.#executableHost.synchronous ? undefined : cudaGraphs(this, work);
  }

  close(): void {
    if (this.context.closed) return;
    keepQuietAtExit(this);
    if (this.context.broken === undefined) {
      this.context.enter('close');
      for (const executable of this.#executables) executable.unload();
      this.closeLibraries();
      this.copies.close();
      this.streams.close();
      this.memory.close();
      this.#host.close();
    }
    this.#executables.clear();
    this.context.close();
  }

  /** Memory that products need which are captured on a stream; the graph frees it. Undefined where no library computes products. */
  captureMemory(_stream: CudaStream): Pointer | undefined {
    return undefined;
  }

  /** Gives back what libraries have on the device. */
  protected closeLibraries(): void {}

  #need(feature: boolean, code: string, what: string): void {
    if (!feature) throw new NotSupportedError(code, `${this.info.name} ${what}`);
  }
}
