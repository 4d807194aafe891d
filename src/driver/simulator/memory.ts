/**
 * The simulator's memory: one buffer for each allocation, found by address.
 *
 * Addresses are never used twice, so a pointer to freed memory stays wrong and is recognised; the gaps between allocations
 * make stray addresses land nowhere.
 */
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import type { Pointer } from '../driver.ts';
import { addressOf } from '../host-memory.ts';
import { Shadow } from './shadow.ts';

const FIRST = 0x1_0000;
const GAP = 256;
/** Bytes that may be live at once. */
const TOTAL = 4 * 2 ** 30;

/** One allocation, with its shadow. */
export class Allocation {
  readonly start: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Who touched what, for races. */
  readonly shadow: Shadow;

  constructor(start: number, size: number) {
    this.start = start;
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
    this.shadow = new Shadow(size);
  }
}

/** The memory of one simulator. */
export class SimulatorMemory {
  /** By rising address. */
  readonly #allocations: Allocation[] = [];
  #next = FIRST;
  #live = 0;

  info(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return { free: TOTAL - this.#live, total: TOTAL, pooled: 0 };
  }

  allocate(bytes: number): number {
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new DriverError('E_INVALID_VALUE', `allocate: ${bytes} is not a number of bytes above 0`, {
        api: 'allocate',
      });
    }
    const start = this.#next;
    try {
      if (this.#live + bytes > TOTAL) throw new RangeError('too much');
      this.#allocations.push(new Allocation(start, bytes));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new OutOfMemoryError(
        `out of memory on the simulator: asked for ${bytes} bytes; ${this.#live} of ${TOTAL} are live. Dispose of arrays ` +
          'that are no longer needed, or simulate a smaller problem.',
        { asked: bytes, live: this.#live, pending: 0, pooled: 0 },
      );
    }
    this.#live += bytes;
    this.#next = Math.ceil((start + bytes + GAP) / GAP) * GAP;
    return start;
  }

  free(pointer: Pointer): void {
    const index = this.#indexOf(Number(pointer));
    const allocation = this.#allocations[index];
    if (allocation?.start !== Number(pointer)) {
      throw new DriverError('E_INVALID_POINTER', `free: ${pointer} is not an allocation of this device`, {
        api: 'free',
      });
    }
    this.#allocations.splice(index, 1);
    this.#live -= allocation.bytes.length;
  }

  /** The allocation in which an address lies; the address just behind one counts as in it. */
  find(address: number): Allocation | undefined {
    const allocation = this.#allocations[this.#indexOf(address)];
    return allocation !== undefined && address <= allocation.start + allocation.bytes.length ? allocation : undefined;
  }

  /** The allocation that holds all bytes from `pointer + low` to `pointer + high`, and where `pointer` is in it. */
  locate(pointer: Pointer, low: number, high: number, api: string): { bytes: Uint8Array; offset: number } {
    const address = addressOf(pointer, api);
    const allocation = this.find(address + low);
    const offset = address - (allocation?.start ?? 0);
    if (allocation === undefined || offset + high > allocation.bytes.length) {
      throw new DriverError(
        'E_INVALID_POINTER',
        `${api}: bytes ${address + low} to ${address + high} are not one allocation of this device`,
        { api },
      );
    }
    return { bytes: allocation.bytes, offset };
  }

  clear(): void {
    this.#allocations.length = 0;
    this.#live = 0;
  }

  /** Index of the last allocation that starts at or before an address. */
  #indexOf(address: number): number {
    let low = 0;
    let high = this.#allocations.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#allocations[middle]?.start ?? 0) <= address) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
