/**
 * What all kernels of one CPU device share: its memory, threads, launch record and scratch.
 */
import { DriverError } from '../../errors.ts';
import type { LaunchArgs, LaunchShape } from '../driver.ts';
import { type Pipeline, wasmPipeline } from './compile.ts';
import type { DeviceMemory } from './memory.ts';
import type { ThreadPool } from './pool.ts';
import { LaunchRecord } from './record.ts';
import { severalThreads, type Workers } from './several-threads.ts';
import { AWAKE_MS } from './worker-facts.ts';

/** Options of a CPU device, for tests and benchmarks. */
export interface CpuOptions {
  /** 4: SIMD across work items. 1: scalar code. Default 4, or 1 when TSAMBA_CPU_SIMD is 0. */
  readonly lanes?: 1 | 4 | undefined;
  /** Threads that run kernels, the caller's included. Default TSAMBA_CPU_THREADS or what the machine has. */
  readonly threads?: number | undefined;
  /** Every launch of two blocks or more uses all threads, however small it is. */
  readonly alwaysParallel?: boolean | undefined;
  /** Whether short runs go by code that is quickly compiled (`plans.ts`). Default true; false: all code is compiled in full. */
  readonly quick?: boolean | undefined;
  /** Whether the shortest runs go by scalar code, which is compiled in less time still. Default true. */
  readonly scalarFirst?: boolean | undefined;
  /** Most 64 KiB pages of device memory before 64-bit addresses are tried. */
  readonly maxPages?: number | undefined;
  /** How kernels become code. */
  readonly pipeline?: Pipeline | undefined;
}

/** The inside of one CPU device. */
export class Engine {
  readonly memory: DeviceMemory;
  readonly lanes: 1 | 4;
  readonly threads: number;
  readonly alwaysParallel: boolean;
  readonly quick: boolean;
  readonly scalarFirst: boolean;
  readonly pipeline: Pipeline;
  /** What runs kernels on other threads; undefined where there can be none. */
  readonly workers: Workers | undefined = severalThreads();
  /** Base of the scratch areas, one every `scratchStride` bytes; how many there are. */
  scratch = 0;
  scratchStride = 0;
  /** When the last launch ended that was timed. */
  lastEnd = 0;
  #scratchAreas = 0;
  #record: LaunchRecord;
  #recordGeneration = 0;
  #pool: ThreadPool | undefined;
  #poolGeneration = 0;
  #busy: string | undefined;

  constructor(options: CpuOptions, memory: DeviceMemory, threads: number, lanes: 1 | 4) {
    this.memory = memory;
    this.lanes = lanes;
    this.threads = threads;
    this.alwaysParallel = options.alwaysParallel ?? false;
    this.quick = options.quick ?? true;
    this.scalarFirst = options.scalarFirst ?? true;
    this.pipeline = options.pipeline ?? wasmPipeline;
    this.#record = new LaunchRecord(this.memory);
  }

  /** The threads, made when first asked for and made anew when the memory has moved. Undefined where there can be none but this one. */
  get pool(): ThreadPool | undefined {
    const { memory, workers } = this;
    if (workers === undefined) return undefined;
    if (this.#pool !== undefined && this.#poolGeneration === memory.generation) return this.#pool;
    this.#pool?.stop();
    this.#poolGeneration = memory.generation;
    this.#pool = new workers.ThreadPool(this.threads, memory.memory, memory.memory64);
    return this.#pool;
  }

  /** Whether a launch that begins now follows another closely. */
  get inBurst(): boolean {
    return performance.now() - this.lastEnd < AWAKE_MS;
  }

  /** Gives up threads that are in an unknown state. */
  dropPool(): void {
    this.#pool?.stop();
    this.#pool = undefined;
  }

  /** Makes room for `areas` scratch areas of at least `bytes` bytes. May move the memory. */
  reserveScratch(areas: number, bytes: number): void {
    if (areas <= this.#scratchAreas && bytes <= this.scratchStride) return;
    const stride = Math.max(this.scratchStride, Math.ceil(bytes / 64) * 64 + 64);
    const count = Math.max(this.#scratchAreas, areas);
    const fresh = this.memory.allocate(stride * count);
    if (this.scratch !== 0) this.memory.free(this.scratch);
    this.scratch = fresh;
    this.scratchStride = stride;
    this.#scratchAreas = count;
  }

  writeRecord(shape: LaunchShape, constants: number, encoding: Uint8Array, args: LaunchArgs): void {
    if (this.#recordGeneration !== this.memory.generation) {
      this.#record = new LaunchRecord(this.memory);
      this.#recordGeneration = this.memory.generation;
    }
    this.#record.write(shape, constants, encoding, args);
  }

  /** Marks the beginning of a launch. One kernel at a time: its record and scratch are the device's only ones. */
  begin(kernel: string): void {
    if (this.#busy !== undefined) {
      throw new DriverError(
        'E_NESTED_LAUNCH',
        `kernel ${kernel} was launched while kernel ${this.#busy} runs (from console.log?): launch it afterwards`,
        { api: 'launch' },
      );
    }
    this.#busy = kernel;
  }

  end(): void {
    this.#busy = undefined;
  }
}
