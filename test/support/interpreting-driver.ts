/**
 * A device for tests of kernels that must not depend on any renderer: kernels are run by the reference interpreter of the IR,
 * at once, on one flat memory. Faults are thrown by the next synchronising call, as on real devices.
 */

import { interpret } from '../../src/compiler/ir/interpret.ts';
import type { Kernel } from '../../src/compiler/ir/ops.ts';
import type {
  DeviceInfo,
  Executable,
  LaunchArgs,
  LaunchShape,
  Pointer,
  Program,
  StreamHandle,
} from '../../src/driver/driver.ts';
import { HOST_FEATURES, HostMemoryDriver, type Location } from '../../src/driver/host-memory.ts';
import { DriverError, OutOfMemoryError } from '../../src/errors.ts';

/** One launch as the driver got it. */
export interface SeenLaunch {
  readonly kernel: Kernel;
  readonly shape: LaunchShape;
  readonly args: LaunchArgs;
  readonly stream: StreamHandle | undefined;
}

export class InterpretingDriver extends HostMemoryDriver {
  override readonly info: DeviceInfo;
  readonly launches: SeenLaunch[] = [];
  readonly programs: Program[] = [];
  unloaded = 0;
  readonly #memory: Uint8Array;
  #next = 64;

  constructor(bytes: number = 2 ** 20) {
    super();
    this.#memory = new Uint8Array(bytes).fill(0xa5);
    const limits = {
      maxThreadsPerBlock: 1024,
      maxBlockDim: [1024, 1024, 64] as const,
      maxGridDim: [2 ** 31 - 1, 65535, 65535] as const,
      maxSharedBytesPerBlock: 49152,
      warpSize: 32,
      multiprocessors: 1,
      totalMemory: bytes,
    };
    this.info = { kind: 'cpu', name: 'the interpreter', index: 0, limits, features: HOST_FEATURES };
  }

  override allocate(bytes: number): Pointer {
    const address = this.#next;
    this.#next = Math.ceil((address + bytes) / 16) * 16;
    if (this.#next <= this.#memory.length) return address;
    throw new OutOfMemoryError('the interpreter is full', { asked: bytes, live: address, pending: 0, pooled: 0 });
  }

  override free(): void {}

  override memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return { free: this.#memory.length - this.#next, total: this.#memory.length, pooled: 0 };
  }

  override load(program: Program): Executable {
    this.programs.push(program);
    const { kernel } = program;
    return {
      attributes: {
        registers: 0,
        sharedBytes: sharedBytesOf(kernel),
        localBytes: 0,
        constBytes: 0,
        maxThreadsPerBlock: program.launchBounds ?? 1024,
      },
      launch: (shape, args, stream) => this.#launch(kernel, shape, args, stream),
      inspect: (target) => (target === 'wasm' ? '(module)' : undefined),
      suggestBlock: (_sharedBytes, limit) => Math.min(256, limit),
      activeBlocks: () => 1,
      unload: () => {
        this.unloaded++;
      },
    };
  }

  #launch(kernel: Kernel, shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    this.launches.push({ kernel, shape, args: [...args], stream });
    const { fault } = interpret(kernel, shape, args, this.#memory);
    if (fault === undefined) return;
    const error = new DriverError('E_KERNEL_FAULT', `${kernel.name}: ${fault.message}`, { launch: kernel.name });
    this.streams.faults.post(error, this.streams.resolve(stream, 'launch'));
  }

  override close(): void {}

  protected override open(): void {}

  protected override locate(pointer: Pointer, low: number, high: number, api: string): Location {
    const offset = Number(pointer);
    if (offset + low >= 0 && offset + high <= this.#memory.length) return { bytes: this.#memory, offset };
    throw new DriverError('E_TEST_DEVICE', `${api}: bytes ${offset + low} to ${offset + high} are outside of memory`, {
      api,
    });
  }
}

function sharedBytesOf(kernel: Kernel): number {
  let bytes = 0;
  for (const { space, length, align } of kernel.arrays) {
    if (space === 'shared') bytes += (length ?? 0) * align;
  }
  return bytes;
}
