/**
 * A device for tests of the layers above drivers: each allocation is a block of its own, far from the others, so that an
 * access one byte beyond its block, after its free, or a second free is an error and not a lucky hit.
 *
 * Work runs at once, as on the CPU device. `QueueingDriver` beside this file puts it off.
 */
import type { DeviceInfo, DeviceKind, Executable, Pointer } from '../../src/driver/driver.ts';
import { HOST_FEATURES, HostMemoryDriver, type Location } from '../../src/driver/host-memory.ts';
import { DriverError, OutOfMemoryError } from '../../src/errors.ts';

/** Distance between the addresses of blocks; no block may be larger. */
const SPACING = 2 ** 32;

export class BlockDriver extends HostMemoryDriver {
  override readonly info: DeviceInfo;
  /** Addresses of blocks that were freed, in order. */
  readonly freed: number[] = [];
  closed = false;
  readonly #blocks = new Map<number, Uint8Array>();
  #live = 0;
  #next = 1;

  constructor(totalMemory: number = 2 ** 30, kind: DeviceKind = 'cpu', index = 0) {
    super();
    const limits = {
      maxThreadsPerBlock: 1024,
      maxBlockDim: [1024, 1024, 64] as const,
      maxGridDim: [2 ** 31 - 1, 65535, 65535] as const,
      maxSharedBytesPerBlock: 49152,
      warpSize: 32,
      multiprocessors: 1,
      totalMemory,
    };
    const name = index === 0 ? 'test device' : `test device ${index}`;
    this.info = { kind, name, index, limits, features: HOST_FEATURES };
  }

  /** Bytes that are allocated. */
  get live(): number {
    return this.#live;
  }

  override allocate(bytes: number): Pointer {
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) throw failure('allocate', `${bytes} bytes`);
    const { totalMemory } = this.info.limits;
    if (this.#live + bytes > totalMemory) {
      throw new OutOfMemoryError('the test device is full', { asked: bytes, live: this.#live, pending: 0, pooled: 0 });
    }
    const address = this.#next++ * SPACING;
    // Fresh memory is anything but zeros.
    this.#blocks.set(address, new Uint8Array(bytes).fill(0xa5));
    this.#live += bytes;
    return address;
  }

  override free(pointer: Pointer): void {
    const address = Number(pointer);
    const block = this.#blocks.get(address);
    if (block === undefined) throw failure('free', `${address} is no live allocation`);
    this.#blocks.delete(address);
    this.#live -= block.length;
    this.freed.push(address);
  }

  override memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    const { totalMemory } = this.info.limits;
    return { free: totalMemory - this.#live, total: totalMemory, pooled: 0 };
  }

  override load(): Executable {
    throw failure('load', 'the test device runs no kernels');
  }

  override close(): void {
    this.closed = true;
    this.#blocks.clear();
  }

  protected override open(api: string): void {
    if (this.closed) throw failure(api, 'the device was closed');
  }

  protected override locate(pointer: Pointer, low: number, high: number, api: string): Location {
    const address = Number(pointer);
    const start = Math.floor((address + low) / SPACING) * SPACING;
    const block = this.#blocks.get(start);
    if (block === undefined) throw failure(api, `${address} is in no live allocation`);
    const offset = address - start;
    if (offset + low < 0 || offset + high > block.length) {
      throw failure(api, `bytes ${offset + low} to ${offset + high} of an allocation of ${block.length}`);
    }
    return { bytes: block, offset };
  }
}

export function failure(api: string, message: string): DriverError {
  return new DriverError('E_TEST_DEVICE', `${api}: ${message}`, { api });
}
