/**
 * The simulator: kernels as JavaScript, thread by thread, with every check there is. For finding mistakes, not for speed.
 */

import { DriverError } from '../../errors.ts';
import type { DeviceInfo, DriverProvider, Executable, Pointer, Program, StreamHandle } from '../driver.ts';
import { HostMemoryDriver, type Place } from '../host-memory.ts';
import { SimulatorExecutable } from './executable.ts';
import { SimulatorMemory } from './memory.ts';

const MAX_THREADS_PER_BLOCK = 1024;
const MAX_SHARED_BYTES = 227 * 1024;

export class SimulatorDriver extends HostMemoryDriver {
  readonly info: DeviceInfo;
  readonly #memory = new SimulatorMemory();
  /** Faults are thrown by the launch itself. */
  readonly #synchronous: boolean;
  #closed = false;

  constructor(index: number) {
    super();
    this.#synchronous = (process.env['TSAMBA_DEBUG'] ?? '').split(',').includes('sync');
    this.info = {
      kind: 'simulator',
      name: 'simulator (JavaScript, checks everything)',
      index,
      limits: {
        maxThreadsPerBlock: MAX_THREADS_PER_BLOCK,
        maxBlockDim: [1024, 1024, 64],
        maxGridDim: [2 ** 31 - 1, 65535, 65535],
        maxSharedBytesPerBlock: MAX_SHARED_BYTES,
        warpSize: 32,
        multiprocessors: 1,
        totalMemory: this.#memory.info().total,
      },
    };
  }

  allocate(bytes: number, stream?: StreamHandle): Pointer {
    this.open('allocate');
    if (stream !== undefined) this.streams.resolve(stream, 'allocate');
    return this.#memory.allocate(bytes);
  }

  free(pointer: Pointer, stream?: StreamHandle): void {
    this.open('free');
    if (stream !== undefined) this.streams.resolve(stream, 'free');
    this.#memory.free(pointer);
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return this.#memory.info();
  }

  load(program: Program): Executable {
    this.open('load');
    const maxThreads = Math.min(program.launchBounds ?? MAX_THREADS_PER_BLOCK, MAX_THREADS_PER_BLOCK);
    return new SimulatorExecutable(program.kernel, maxThreads, {
      memory: this.#memory,
      streamOf: (stream) => {
        this.open('launch');
        return this.streams.resolve(stream, 'launch');
      },
      onFault: (error, stream) => {
        if (this.#synchronous) throw error;
        this.streams.faults.post(error, stream);
      },
    });
  }

  close(): void {
    this.#closed = true;
    this.#memory.clear();
  }

  protected locate(pointer: Pointer, low: number, high: number, api: string): Place {
    return this.#memory.locate(pointer, low, high, api);
  }

  protected open(api: string): void {
    if (this.#closed) {
      throw new DriverError('E_DEVICE_CLOSED', `${api}: the simulator has been closed`, { api });
    }
  }
}

/** There is always one simulator. */
export const simulatorProvider: DriverProvider = {
  kind: 'simulator',
  probe: () => ({ count: 1 }),
  open: (index) => new SimulatorDriver(index),
};
