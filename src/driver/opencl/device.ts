/**
 * An OpenCL device that is open: the driver contract, put together from its parts. Memory, host memory, streams, kernels and copies
 * have files of their own.
 *
 * Kernels are checked by default on CPU devices: there a stray store kills the process. They fuse a*b+c by default on others.
 */
import { debugWord } from '../../environment.ts';
import { NotSupportedError } from '../../errors.ts';
import { BinaryCache, cacheFolder } from '../binary-cache.ts';
import type {
  BlockingDriver,
  DeviceDriver,
  DeviceInfo,
  Executable,
  HostMemory,
  HostMemoryOptions,
  Pointer,
  Program,
  StreamHandle,
} from '../driver.ts';
import { EnqueuedDriver } from '../enqueued.ts';
import { MOST_ALONG } from '../parts.ts';
import { finishAtExit, keepQuietAtExit } from './at-exit.ts';
import { type OpenCLPipeline, openclPipeline } from './compile.ts';
import { OpenCLContext } from './context.ts';
import { Copies } from './copies.ts';
import { CopyKernels } from './copy-kernels.ts';
import { type ExecutableHost, OpenCLExecutable } from './executable.ts';
import { OpenCLHostMemory } from './host.ts';
import type { OpenCLDevice } from './info.ts';
import { LaunchReports } from './launch-reports.ts';
import type { OpenCL } from './library.ts';
import { OpenCLMemory } from './memory.ts';
import type { Cure } from './miscompiled.ts';
import { cureFor } from './probe-kernels.ts';
import { Programs } from './programs.ts';
import type { OpenCLStream, Queues } from './queues.ts';
import { OpenCLStreams } from './streams.ts';

/** What tests may bring. */
export interface OpenCLOptions {
  readonly pipeline?: OpenCLPipeline;
  /** Folder of the binaries of programs; undefined for the user's. */
  readonly cacheFolder?: string | undefined;
  /** Whether kernels use host memory in place; undefined for what the device says. */
  readonly sharesHostMemory?: boolean | undefined;
  /** Whether markers tell when they came; undefined to find out. */
  readonly markersHaveTimes?: boolean | undefined;
  /** Threads along one axis that one launch may have; undefined for what every device takes. */
  readonly mostAlong?: number | undefined;
}

/** An OpenCL device. */
export class OpenCLDriver extends EnqueuedDriver<OpenCLStream> implements BlockingDriver {
  readonly info: DeviceInfo;
  readonly device: OpenCLDevice;
  readonly checkedByDefault: boolean;
  readonly contractByDefault: boolean;
  readonly context: OpenCLContext;
  readonly memory: OpenCLMemory;
  readonly streams: OpenCLStreams;
  readonly reports: LaunchReports;
  readonly programs: Programs;
  readonly #host: OpenCLHostMemory;
  readonly #kernels: CopyKernels;
  protected readonly copies: Copies;
  readonly #executableHost: ExecutableHost;
  readonly #executables = new Set<OpenCLExecutable>();

  constructor(cl: OpenCL, found: OpenCLDevice, options: OpenCLOptions = {}) {
    super();
    const device = { ...found, sharesHostMemory: options.sharesHostMemory ?? found.sharesHostMemory };
    this.device = device;
    this.checkedByDefault = device.listed.hardware === 'cpu';
    this.contractByDefault = device.listed.hardware !== 'cpu';
    this.context = new OpenCLContext(cl, device);
    this.memory = new OpenCLMemory(this.context);
    this.streams = new OpenCLStreams(this.context, options.markersHaveTimes);
    this.reports = new LaunchReports(this.context, this.queues);
    this.#host = new OpenCLHostMemory(this.context, this.memory, this.queues);
    const cure = this.#cure();
    this.info = cure === undefined ? device.info : { ...device.info, workarounds: [cure.name] };
    this.programs = new Programs(this.context, cacheOf(device, options.cacheFolder));
    this.#kernels = new CopyKernels(this.context, this.programs, this.queues);
    const { context, memory, queues, programs, reports } = this;
    const streamOf = (stream: StreamHandle | undefined, api: string): OpenCLStream => this.streams.resolve(stream, api);
    this.copies = new Copies({
      context,
      memory,
      queues,
      kernels: this.#kernels,
      streamOf,
      synchronizeAndCheck: () => this.synchronizeAndCheck(queues.default),
    });
    this.#executableHost = {
      context,
      memory,
      queues,
      programs,
      reports,
      pipeline: options.pipeline ?? openclPipeline,
      target: { ...device.target, ...cure?.target },
      copies: this.copies,
      synchronous: debugWord('sync'),
      mostAlong: options.mostAlong ?? MOST_ALONG,
      streamOf,
      synchronizeStream: (stream) => this.synchronizeAndCheck(stream),
      loaded: this.#executables,
    };
    finishAtExit(this);
  }

  /** What the compiler needs to be right; a device that nothing helps is not open. */
  #cure(): Cure | undefined {
    const { context, queues, device } = this;
    try {
      return cureFor({ context, queues, cache: cacheIn(cacheFolder('opencl'), device) });
    } catch (error) {
      this.streams.close();
      context.close();
      throw error;
    }
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

  externalStream(): StreamHandle {
    throw this.#unsupported('E_EXTERNAL_STREAM', 'has no CUDA streams that another library could have made');
  }

  // waiting

  protected finish(stream: OpenCLStream): void {
    this.queues.finish(stream);
  }

  protected finishAll(): void {
    this.queues.finishAll();
  }

  // kernels

  load(program: Program): Executable {
    this.context.enter('load');
    return new OpenCLExecutable(this.#executableHost, program);
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
  return cacheIn(folder ?? cacheFolder('opencl'), device);
}

function cacheIn(folder: string | undefined, { identity }: OpenCLDevice): BinaryCache | undefined {
  return folder === undefined ? undefined : new BinaryCache(folder, identity);
}
