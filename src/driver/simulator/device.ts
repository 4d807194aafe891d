/**
 * The simulator: kernels as JavaScript, thread by thread, with every check there is. For finding mistakes, not for speed.
 */

import { DriverError } from '../../errors.ts';
import type { BlockingProvider, DeviceInfo, Executable, Pointer, Program, StreamHandle } from '../driver.ts';
import { withExternals } from '../externals.ts';
import { HOST_FEATURES, HostMemoryDriver, LAUNCH_LIMITS, type Location, maxThreads } from '../host-memory.ts';
import { SimulatorExecutable } from './executable.ts';
import { SimulatorMemory } from './memory.ts';

/** A simulator that is open. */
export class SimulatorDriver extends HostMemoryDriver {
  readonly info: DeviceInfo;
  readonly #memory = new SimulatorMemory();
  #closed = false;

  constructor(index: number) {
    super();
    this.info = {
      kind: 'simulator',
      name: 'simulator (JavaScript, checks everything)',
      index,
      limits: { ...LAUNCH_LIMITS, multiprocessors: 1, totalMemory: this.#memory.info().total },
      features: HOST_FEATURES,
    };
  }

  allocate(bytes: number, stream?: StreamHandle): Pointer {
    this.open('allocate');
    this.streams.resolve(stream, 'allocate');
    return this.#memory.allocate(bytes);
  }

  free(pointer: Pointer, stream?: StreamHandle): void {
    this.open('free');
    this.streams.resolve(stream, 'free');
    this.afterWork(() => this.#memory.free(pointer));
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return this.#memory.info();
  }

  load(program: Program): Executable {
    this.open('load');
    const kernel = withExternals(program.kernel, [], 'the simulator');
    return new SimulatorExecutable(kernel, maxThreads(program), this.#memory, this);
  }

  close(): void {
    this.#closed = true;
    this.#memory.clear();
  }

  protected locate(pointer: Pointer, low: number, high: number, api: string): Location {
    return this.#memory.locate(pointer, low, high, api);
  }

  protected open(api: string): void {
    if (this.#closed) {
      throw new DriverError(
        'E_DEVICE_CLOSED',
        `${api}: the simulator has been closed: make new arrays and streams, which opens it again`,
        { api },
      );
    }
  }
}

/** There is always one simulator. */
export const simulatorProvider: BlockingProvider = {
  kind: 'simulator',
  probe: () => ({ count: 1 }),
  open: (index) => new SimulatorDriver(index),
};
