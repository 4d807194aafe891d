/**
 * The memory of the CPU device: one shared WebAssembly.Memory that grows, with an allocator inside it.
 *
 * Starts with 32-bit addresses (up to 4 GiB). Where the engine has 64-bit memories, an allocation that does not fit moves the
 * contents, once, into such a memory; addresses stay valid, but modules must be made anew (`generation` tells). Device
 * pointers are byte offsets. Page 0 belongs to nobody, so that no pointer is 0.
 */
import { DriverError, NotSupportedError, OutOfMemoryError } from '../../errors.ts';
import { attempt, nodeModule } from '../../host/index.ts';
import { addressOf } from '../host-memory.ts';
import { Allocator } from './allocator.ts';
import { type WasmMemory, WebAssembly } from './webassembly.ts';

const PAGE = 65536;
/** Bytes after each array that vector code may read past its end. */
const SLACK = 64;
/** Bytes that there must be behind everything: a vector of 32 lanes of 8 bytes may begin at the last element of all. */
const END = 256;
/** The memory grows by at least this much; pages that nobody touches cost nothing. */
const GROWTH = 256;
const MAX_PAGES_32 = 65536;
/** V8's bound for 64-bit memories. */
const MAX_PAGES_64 = 262144;

/** Page 1 is the driver's own: launch records. Allocations start after it. */
export const RECORD_ADDRESS: number = PAGE;
export const RECORD_BYTES: number = PAGE;
const FIRST_ADDRESS = 2 * PAGE;

/** The memory of one CPU device. */
export class DeviceMemory {
  /** Counts moves into another memory: code compiled for an earlier one must be made anew. */
  generation = 0;
  memory64 = false;
  /** Called before the memory moves: nobody may be using it then. */
  beforeMove: () => void = () => undefined;
  #memory: WasmMemory;
  #bytes: Uint8Array;
  #maxPages: number;
  readonly #allocator: Allocator;
  readonly #sizes = new Map<number, number>();
  #live = 0;

  constructor(maxPages: number = MAX_PAGES_32) {
    [this.#memory, this.#maxPages] = create32(Math.min(maxPages, MAX_PAGES_32));
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#allocator = new Allocator(FIRST_ADDRESS, this.#maxPages * PAGE);
  }

  get memory(): WasmMemory {
    return this.#memory;
  }

  /** All of the memory as it is now; ask again after each allocation. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Bytes that could be had in all. */
  get total(): number {
    const pages = this.memory64 || !hasMemory64() ? this.#maxPages : Math.max(this.#maxPages, wantedPages64());
    return pages * PAGE - FIRST_ADDRESS;
  }

  info(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return { free: this.total - this.#allocator.live, total: this.total, pooled: this.#allocator.pooled };
  }

  /** Address of `bytes` fresh bytes, aligned to 64. Throws OutOfMemoryError. */
  allocate(bytes: number): number {
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new DriverError('E_INVALID_VALUE', `allocate: ${bytes} is not a number of bytes above 0`, {
        api: 'allocate',
      });
    }
    const address = this.#allocator.allocate(bytes + SLACK) ?? this.#afterMove(bytes);
    if (address === undefined || !this.#grow()) {
      if (address !== undefined) this.#allocator.free(address);
      throw this.#outOfMemory(bytes);
    }
    this.#sizes.set(address, bytes);
    this.#live += bytes;
    return address;
  }

  free(address: number): void {
    const bytes = this.#sizes.get(address);
    if (bytes === undefined) {
      throw new DriverError('E_INVALID_POINTER', `free: ${address} is not an allocation of this device`, {
        api: 'free',
      });
    }
    this.#sizes.delete(address);
    this.#live -= bytes;
    this.#allocator.free(address);
  }

  /** Throws unless all bytes from `pointer + low` to `pointer + high` are memory of this device. */
  check(pointer: number | bigint, low: number, high: number, api: string): number {
    const address = addressOf(pointer, api);
    if (address + low < FIRST_ADDRESS || address + high > this.#allocator.top) {
      throw new DriverError(
        'E_INVALID_POINTER',
        `${api}: bytes ${address + low} to ${address + high} are not memory of this device`,
        { api },
      );
    }
    return address;
  }

  /** Makes the memory as long as the allocator's high-water mark; false when the engine refuses. */
  #grow(): boolean {
    const missing = Math.ceil((this.#allocator.top + END - this.#bytes.length) / PAGE);
    if (missing <= 0) return true;
    const room = this.#maxPages - this.#bytes.length / PAGE;
    for (const pages of [Math.max(missing, GROWTH), missing]) {
      if (pages > room && pages !== missing) continue;
      try {
        const more = Math.min(pages, room);
        this.#memory.grow(this.memory64 ? BigInt(more) : more);
        this.#bytes = new Uint8Array(this.#memory.buffer);
        return true;
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    }
    return false;
  }

  /** Moves into a 64-bit memory and tries again; undefined where there is none, or no more room in it. */
  #afterMove(bytes: number): number | undefined {
    if (this.memory64 || !hasMemory64()) return undefined;
    const pages = wantedPages64();
    if (pages <= this.#maxPages) return undefined;
    const created = create64(this.#bytes.length / PAGE, pages);
    if (created === undefined) return undefined;
    this.beforeMove();
    const [memory, maxPages] = created;
    const to = new Uint8Array(memory.buffer);
    to.set(this.#bytes.subarray(RECORD_ADDRESS, FIRST_ADDRESS), RECORD_ADDRESS);
    for (const [start, length] of this.#sizes) to.set(this.#bytes.subarray(start, start + length), start);
    this.#memory = memory;
    this.#bytes = to;
    this.#maxPages = maxPages;
    this.memory64 = true;
    this.generation++;
    this.#allocator.limit = maxPages * PAGE;
    return this.#allocator.allocate(bytes + SLACK);
  }

  #outOfMemory(asked: number): OutOfMemoryError {
    const { pooled, largest } = this.#allocator;
    const free = Math.max(0, Math.min(largest, this.#maxPages * PAGE) - SLACK);
    const more =
      this.memory64 || hasMemory64() ? '' : ', or use Node 24 or newer, where the CPU device has more than 4 GiB';
    return new OutOfMemoryError(
      `out of memory on the CPU device: asked for ${size(asked)}, the largest free piece is ${size(free)}; of ` +
        `${size(this.total)} in all, ${size(this.#live)} are live and ${size(pooled)} are kept for reuse. ` +
        `Dispose of arrays that are no longer needed (\`using\`, dispose(), scope())${more}.`,
      { asked, live: this.#live, pending: 0, pooled },
    );
  }
}

function create32(maxPages: number): [WasmMemory, number] {
  if (WebAssembly === undefined) {
    throw new NotSupportedError(
      'E_NO_WEBASSEMBLY',
      'the CPU device needs WebAssembly, which this process does not have (node --jitless turns it off): run without that, ' +
        'or in the simulator, TSAMBA_DEVICE=simulator',
    );
  }
  // A machine with little address space may refuse the full reservation.
  for (let maximum = maxPages; ; maximum = Math.floor(maximum / 2)) {
    try {
      return [new WebAssembly.Memory({ initial: Math.min(GROWTH, maximum), maximum, shared: true }), maximum];
    } catch (error) {
      if (!(error instanceof RangeError)) throw noSharedMemory(error);
      if (maximum < 1024) throw error;
    }
  }
}

function noSharedMemory(cause: unknown): NotSupportedError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new NotSupportedError(
    'E_NO_WEBASSEMBLY',
    `the CPU device needs WebAssembly with shared memory, which this engine refuses (${why}): run in Node.js 20.19 or newer, ` +
      'or in a browser that has WebAssembly threads',
  );
}

function create64(initial: number, maximum: number): [WasmMemory, number] | undefined {
  for (let pages = maximum; pages > MAX_PAGES_32; pages = Math.floor(pages * 0.75)) {
    try {
      const descriptor = { address: 'i64', initial: BigInt(initial), maximum: BigInt(pages), shared: true } as const;
      return [new WebAssembly.Memory(descriptor), pages];
    } catch {
      // Try a smaller reservation.
    }
  }
  return undefined;
}

let memory64Known: boolean | undefined;

/** Whether this engine has shared 64-bit memories of more than 4 GiB. */
export function hasMemory64(): boolean {
  // (module (memory i64 1 65537 shared)): flags 7 are maximum, shared, 64-bit.
  const bytes = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 6, 1, 7, 1, 0x81, 0x80, 4);
  memory64Known ??= WebAssembly.validate(bytes) && create64(1, MAX_PAGES_32 + 1) !== undefined;
  return memory64Known;
}

/** As much as the machine has, up to what engines allow. */
function wantedPages64(): number {
  return Math.min(MAX_PAGES_64, Math.floor((attempt(() => nodeModule('node:os').totalmem()) ?? 0) / PAGE));
}

function size(bytes: number): string {
  if (bytes >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
  if (bytes >= 2 ** 20) return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return `${bytes} bytes`;
}
