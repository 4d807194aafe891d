/**
 * The CPU device: kernels as WebAssembly on this process's own threads, memory in one WebAssembly.Memory.
 *
 * Work is done when it is enqueued, but for what is launched asynchronously. Each worker thread of the user's that loads Tsamba has
 * a device of its own.
 */
import { switchFromEnvironment, variable } from '../../environment.ts';
import { DriverError, OutOfMemoryError, TsambaRangeError } from '../../errors.ts';
import { attempt, nodeModule } from '../../host/index.ts';
import { processors, whyNoThreads } from '../../host/threads.ts';
import { loadParts, partsAreMissing, whenLoaded } from '../../on-demand.ts';
import { show } from '../../show.ts';
import type { BlockingProvider, DeviceInfo, Executable, Pointer, Program, StreamHandle } from '../driver.ts';
import { HOST_FEATURES, HostMemoryDriver, LAUNCH_LIMITS, type Location, maxThreads } from '../host-memory.ts';
import type { CpuOptions, Engine } from './engine.ts';
import { DeviceMemory } from './memory.ts';
import { fetchRunning, running } from './running.ts';

const MAX_CPU_THREADS = 256;

/** A CPU device that is open. Reads `TSAMBA_CPU_THREADS` and `TSAMBA_CPU_SIMD` when it is made. */
export class CpuDriver extends HostMemoryDriver {
  readonly info: DeviceInfo;
  readonly #memory: DeviceMemory;
  readonly #makeEngine: () => Engine;
  #engine: Engine | undefined = undefined;
  #closed = false;

  constructor(index: number, options: CpuOptions = {}) {
    super();
    const { lanes = switchFromEnvironment('TSAMBA_CPU_SIMD') === false ? 1 : 4 } = options;
    const usual = threadsFrom(variable('TSAMBA_CPU_THREADS'));
    const { threads = usual } = options;
    const memory = new DeviceMemory(options.maxPages);
    this.#memory = memory;
    this.#makeEngine = () => new (running().Engine)(options, memory, threads, lanes);
    memory.beforeMove = () => this.waitForWork();
    this.info = {
      kind: 'cpu',
      // Where there are many processors, reading of them all takes milliseconds.
      get name() {
        const model = attempt(() => nodeModule('node:os').cpus()[0]?.model.trim()) ?? 'WebAssembly';
        return `CPU (${model}, ${threads} ${threads === 1 ? 'thread' : 'threads'})`;
      },
      index,
      restriction: threads === 1 ? restriction() : undefined,
      limits: { ...LAUNCH_LIMITS, multiprocessors: threads, totalMemory: memory.total },
      features: HOST_FEATURES,
    };
  }

  /** What the kernels of this device share: for tests and benchmarks. */
  get engine(): Engine {
    this.#engine ??= this.#makeEngine();
    return this.#engine;
  }

  allocate(bytes: number, stream?: StreamHandle): Pointer {
    this.open('allocate');
    this.streams.resolve(stream, 'allocate');
    const memory = this.#memory;
    const { queue } = this.streams;
    if (queue.idle || queue.running) return memory.allocate(bytes);
    try {
      return memory.allocate(bytes);
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      // Memory that has been given back may be waiting for a kernel.
      this.waitForWork();
      return memory.allocate(bytes);
    }
  }

  free(pointer: Pointer, stream?: StreamHandle): void {
    this.open('free');
    this.streams.resolve(stream, 'free');
    if (this.streams.queue.idle) this.#memory.free(Number(pointer));
    else this.afterWork(() => this.#memory.free(Number(pointer)));
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return this.#memory.info();
  }

  load(program: Program): Executable {
    this.open('load');
    return new (running().CpuExecutable)(this.engine, program.kernel, maxThreads(program), this);
  }

  get loadLater(): ((program: Program) => Promise<Executable>) | undefined {
    return partsAreMissing() ? (program) => whenLoaded(() => this.load(program)) : undefined;
  }

  readonly fetch: (() => void) | undefined = fetchRunning;

  get complete(): (() => Promise<void>) | undefined {
    return partsAreMissing() ? loadParts : undefined;
  }

  close(): void {
    this.#closed = true;
    this.#engine?.dropPool();
  }

  protected locate(pointer: Pointer, low: number, high: number, api: string): Location {
    const memory = this.#memory;
    return { offset: memory.check(pointer, low, high, api), bytes: memory.bytes };
  }

  protected override get generation(): number {
    return this.#memory.generation;
  }

  protected open(api: string): void {
    if (!this.#closed) return;
    throw new DriverError(
      'E_DEVICE_CLOSED',
      `${api}: the CPU device has been closed: make new arrays and streams, which opens it again`,
      { api },
    );
  }
}

/** Opens a CPU device of its own, with options that tests and benchmarks want. */
export function openCpu(options: CpuOptions = {}): CpuDriver {
  return new CpuDriver(0, options);
}

/** There is always one CPU device. */
export const cpuProvider: BlockingProvider = {
  kind: 'cpu',
  probe: () => ({ count: 1 }),
  open: (index) => new CpuDriver(index),
};

function threadsFrom(text: string | undefined): number {
  if (text === undefined || text === '') return Math.min(usableProcessors(), MAX_CPU_THREADS);
  const wanted = Number(text);
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MAX_CPU_THREADS) {
    throw new TsambaRangeError(
      'E_ENVIRONMENT',
      `TSAMBA_CPU_THREADS is ${show(text)}, but must be a whole number from 1 to ${MAX_CPU_THREADS}`,
    );
  }
  return wanted;
}

function usableProcessors(): number {
  return whyNoThreads() === undefined ? processors() : 1;
}

function restriction(): string | undefined {
  const why = whyNoThreads();
  return why === undefined ? undefined : `and on one thread, because ${why}`;
}
