/**
 * Device memory as WebGPU has it: buffers, which have no addresses that a host could know.
 *
 * Each buffer gets a range of made-up addresses; pointers into it are resolved to the buffer and an offset when they are used. No address is used twice, and there
 * are gaps between the ranges: a pointer to freed memory stays wrong and is recognised. A buffer that is destroyed lives on until the work that uses it is done.
 */
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import type { Pointer } from '../driver.ts';
import { addressOf } from '../host-memory.ts';
import { type GpuBuffer, type GpuDevice, USAGE } from './api.ts';
import type { Batch } from './batch.ts';

const FIRST = 2 ** 32;
const ALIGNMENT = 256;

/** One buffer and its addresses. */
export interface DeviceBuffer {
  readonly start: number;
  readonly bytes: number;
  readonly buffer: GpuBuffer;
  /** It is the program's own: neither counted nor destroyed here. */
  readonly foreign?: true;
}

/** A buffer, and where in it an address is. */
export interface Location {
  readonly buffer: GpuBuffer;
  readonly offset: number;
}

/** The place of an address of a caller's; `start` is a name of the buffer that no other ever has. */
export interface Place extends Location {
  readonly start: number;
  readonly foreign?: true | undefined;
}

/** Has what is done looked at for errors of one kind, which are posted when they are known. */
export type Watched = (
  filter: 'validation' | 'out-of-memory',
  give: () => void,
  errorOf: (text: string) => DriverError,
) => void;

export class WebGpuMemory {
  readonly #device: GpuDevice;
  readonly #batch: Pick<Batch, 'destroy' | 'alone'>;
  readonly #name: string;
  readonly #total: number;
  /** By rising address. */
  readonly #buffers: DeviceBuffer[] = [];
  readonly #watched: Watched;
  #next = FIRST;
  #live = 0;

  constructor(
    device: GpuDevice,
    batch: Pick<Batch, 'destroy' | 'alone'>,
    name: string,
    total: number,
    watched: Watched,
  ) {
    this.#watched = watched;
    this.#device = device;
    this.#batch = batch;
    this.#name = name;
    this.#total = total;
  }

  info(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return { free: Math.max(0, this.#total - this.#live), total: this.#total, pooled: 0 };
  }

  /** Address of fresh memory. Throws OutOfMemoryError. */
  allocate(bytes: number): number {
    if (!(bytes > 0 && Number.isSafeInteger(bytes))) {
      throw new DriverError('E_INVALID_VALUE', `allocate: ${bytes} is not a number of bytes above 0`, {
        api: 'allocate',
      });
    }
    this.#sizeOf(bytes);
    if (this.#live + bytes > this.#total) throw this.#outOfMemory(bytes, `the device has ${this.#total} bytes`);
    const start = this.#next;
    this.#buffers.push({ start, bytes, buffer: this.create(bytes) });
    this.#next = Math.ceil((start + bytes + ALIGNMENT) / ALIGNMENT) * ALIGNMENT;
    this.#live += bytes;
    return start;
  }

  /** The address of a buffer of the program's own. */
  adopt(buffer: GpuBuffer): number {
    const start = this.#next;
    this.#buffers.push({ start, bytes: buffer.size, buffer, foreign: true });
    this.#next = Math.ceil((start + buffer.size + ALIGNMENT) / ALIGNMENT) * ALIGNMENT;
    return start;
  }

  /** A buffer without addresses, for whoever destroys it himself: whole words. */
  create(bytes: number, usage: number = USAGE.storage | USAGE.copySource | USAGE.copyTarget): GpuBuffer {
    const size = this.#sizeOf(bytes);
    let made: GpuBuffer | undefined;
    const make = (): void => {
      made = this.#device.createBuffer({ size, usage });
    };
    // Whether there was memory is known later.
    this.#watched('out-of-memory', make, (text) =>
      this.#outOfMemory(bytes, text.split('\n', 1)[0] || 'the device has no more'),
    );
    return made as unknown as GpuBuffer;
  }

  /** Bytes of a buffer for so many; throws OutOfMemoryError for more than one may have. */
  #sizeOf(bytes: number): number {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#device.limits;
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    const size = Math.max(4, Math.ceil(bytes / 4) * 4);
    if (size <= most) return size;
    const bound = `one buffer has ${most} bytes at most there (maxBufferSize, maxStorageBufferBindingSize)`;
    throw this.#outOfMemory(bytes, bound, bound);
  }

  free(pointer: Pointer): void {
    const index = this.#indexOf(Number(pointer));
    const found = this.#buffers[index];
    if (found?.start !== Number(pointer)) {
      throw new DriverError('E_INVALID_POINTER', `free: ${pointer} is not an allocation of this device`, {
        api: 'free',
      });
    }
    this.#buffers.splice(index, 1);
    if (found.foreign) return;
    this.#live -= found.bytes;
    this.#batch.destroy(found.buffer);
  }

  /** The buffer that holds all bytes from `pointer + low` to `pointer + high`, and where `pointer` is in it. */
  resolve(pointer: Pointer, low: number, high: number, api: string): Place {
    const address = addressOf(pointer, api);
    const found = this.#buffers[this.#indexOf(address + low)];
    const offset = address - (found?.start ?? 0);
    if (found === undefined || offset + low > found.bytes || offset + high > found.bytes) {
      throw new DriverError(
        'E_INVALID_POINTER',
        `${api}: bytes ${address + low} to ${address + high} are not one allocation of this device`,
        { api },
      );
    }
    // Its owner may have destroyed it, or do so at once.
    if (found.foreign) this.#batch.alone = true;
    return { buffer: found.buffer, offset, start: found.start, foreign: found.foreign };
  }

  close(): void {
    for (const { buffer, foreign } of this.#buffers.splice(0)) if (!foreign) buffer.destroy();
    this.#live = 0;
  }

  #outOfMemory(asked: number, why: string, bound?: string): OutOfMemoryError {
    return new OutOfMemoryError(`cannot allocate ${asked} bytes on ${this.#name}: ${why}; ${this.#live} are live`, {
      asked,
      live: this.#live,
      pending: 0,
      pooled: 0,
      ...(bound === undefined ? {} : { bound }),
    });
  }

  /** Index of the last buffer that starts at or before an address. */
  #indexOf(address: number): number {
    let low = 0;
    let high = this.#buffers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#buffers[middle]?.start ?? 0) <= address) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
