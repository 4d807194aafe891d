/**
 * Device memory as OpenCL has it: buffers, which have no addresses that a host could know.
 *
 * Each buffer gets a range of made-up addresses, and pointers into it are resolved to the buffer and an offset when they are used.
 * No address is used twice, and there are gaps between the ranges: a pointer to freed memory stays wrong and is recognised, and
 * what was resolved once may be remembered until a buffer is released. OpenCL does not tell how much memory is free, so it is counted here. A buffer
 * that is released lives on until the work that uses it is done. OpenCL API specification, section "Buffer Objects".
 */
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import type { Pointer } from '../driver.ts';
import { addressOf } from '../host-memory.ts';
import type { OpenCLContext } from './context.ts';
import { CL_INVALID_BUFFER_SIZE, CL_OUT_OF_RESOURCES, describeResult, isOutOfMemory } from './result.ts';

const FIRST = 2 ** 32;
const ALIGNMENT = 256;
const MEM_READ_WRITE = 1;

/** One buffer and its addresses. */
export interface DeviceBuffer {
  readonly start: number;
  readonly bytes: number;
  /** The cl_mem. */
  readonly handle: number;
  /** Host memory of which this is a copy, on devices that cannot reach it. */
  readonly mirror: Uint8Array | undefined;
  /** Whether `allocate` made it. */
  readonly counted: boolean;
}

/** A buffer, and where in it an address is. */
export interface Location {
  readonly buffer: DeviceBuffer;
  readonly offset: number;
}

/** The memory of one context. */
export class OpenCLMemory {
  readonly #context: OpenCLContext;
  /** By rising address. */
  readonly #buffers: DeviceBuffer[] = [];
  /** How often a buffer has been released: what was resolved before may be gone. */
  releases = 0;
  #next = FIRST;
  #live = 0;
  #mirrors = 0;

  constructor(context: OpenCLContext) {
    this.#context = context;
  }

  /** Buffers that are copies of host memory. */
  get mirrors(): number {
    return this.#mirrors;
  }

  info(): { readonly free: number; readonly total: number; readonly pooled: number } {
    const total = this.#context.device.info.limits.totalMemory;
    return { free: Math.max(0, total - this.#live), total, pooled: 0 };
  }

  /** Address of fresh memory. Throws OutOfMemoryError. */
  allocate(bytes: number): number {
    if (!(bytes > 0 && Number.isSafeInteger(bytes))) {
      throw new DriverError('E_INVALID_VALUE', `allocate: ${bytes} is not a number of bytes above 0`, {
        api: 'allocate',
      });
    }
    const { totalMemory } = this.#context.device.info.limits;
    if (this.#live + bytes > totalMemory) {
      throw this.#outOfMemory(bytes, `the device has ${totalMemory} bytes`);
    }
    const start = this.adopt(this.create(bytes), bytes, { counted: true }).start;
    this.#live += bytes;
    return start;
  }

  /** A buffer without addresses, for whoever releases it himself. Throws OutOfMemoryError. */
  create(bytes: number, flags: number = MEM_READ_WRITE, host: Uint8Array | null = null): number {
    const { cl, out, device } = this.#context;
    if (bytes > device.maxAllocation) {
      throw this.#outOfMemory(bytes, `one allocation may have ${device.maxAllocation} (CL_DEVICE_MAX_MEM_ALLOC_SIZE)`);
    }
    const handle = cl.clCreateBuffer(this.#context.handle, flags, bytes, host, out.at(0));
    const result = out.int(0);
    if (result === 0) return handle;
    if (isOutOfMemory(result) || result === CL_OUT_OF_RESOURCES || result === CL_INVALID_BUFFER_SIZE) {
      throw this.#outOfMemory(bytes, describeResult(result));
    }
    throw this.#context.failure(result, 'clCreateBuffer');
  }

  /** Gives a buffer its addresses. */
  adopt(
    handle: number,
    bytes: number,
    { mirror, counted = false }: { mirror?: Uint8Array; counted?: boolean },
  ): DeviceBuffer {
    const buffer: DeviceBuffer = { start: this.#next, bytes, handle, mirror, counted };
    this.#buffers.push(buffer);
    this.#next = Math.ceil((this.#next + bytes + ALIGNMENT) / ALIGNMENT) * ALIGNMENT;
    if (mirror !== undefined) this.#mirrors++;
    return buffer;
  }

  free(pointer: Pointer): void {
    const buffer = this.#buffers[this.#indexOf(Number(pointer))];
    if (buffer?.start !== Number(pointer) || !buffer.counted) {
      throw new DriverError('E_INVALID_POINTER', `free: ${pointer} is not an allocation of this device`, {
        api: 'free',
      });
    }
    this.release(buffer);
    this.#live -= buffer.bytes;
  }

  /** Takes the addresses back and releases the buffer. */
  release(buffer: DeviceBuffer): void {
    const index = this.#indexOf(buffer.start);
    if (this.#buffers[index] !== buffer) return;
    this.#buffers.splice(index, 1);
    this.releases++;
    if (buffer.mirror !== undefined) this.#mirrors--;
    this.#context.check(this.#context.cl.clReleaseMemObject(buffer.handle), 'clReleaseMemObject');
  }

  /** The buffer in which an address lies; the address just behind one counts as in it. */
  find(address: number): DeviceBuffer | undefined {
    const buffer = this.#buffers[this.#indexOf(address)];
    return buffer !== undefined && address <= buffer.start + buffer.bytes ? buffer : undefined;
  }

  /** The buffer that holds all bytes from `pointer + low` to `pointer + high`, and where `pointer` is in it. */
  resolve(pointer: Pointer, low: number, high: number, api: string): Location {
    const address = addressOf(pointer, api);
    const buffer = this.find(address + low);
    const offset = address - (buffer?.start ?? 0);
    if (buffer === undefined || offset + high > buffer.bytes) {
      throw new DriverError(
        'E_INVALID_POINTER',
        `${api}: bytes ${address + low} to ${address + high} are not one allocation of this device`,
        { api },
      );
    }
    return { buffer, offset };
  }

  /** Releases everything; failures do not matter any more. */
  close(): void {
    for (const { handle } of this.#buffers) this.#context.cl.clReleaseMemObject(handle);
    this.#buffers.length = 0;
    this.#live = 0;
    this.#mirrors = 0;
  }

  #outOfMemory(asked: number, why: string): OutOfMemoryError {
    return new OutOfMemoryError(
      `cannot allocate ${asked} bytes on ${this.#context.name}: ${why}; ${this.#live} are live`,
      { asked, live: this.#live, pending: 0, pooled: 0 },
    );
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
