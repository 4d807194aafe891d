/**
 * Host memory that the driver allocated: pinned, mapped or managed. Shared by arrays like device memory, but freed only when no
 * ArrayBuffer over it can be reached either.
 */
import { DEVICE_KINDS, type HostMemory, type HostMemoryOptions } from '../../driver/driver.ts';
import type { Context } from '../context.ts';
import { allocationSite } from '../leaks.ts';
import { Allocation, MemoryOwner } from '../owner.ts';
import { detach, keepInPlace, whenCollected } from './exposed.ts';
import { addHostUser, type HostUser } from './uses.ts';

const NO_BYTES = new Uint8Array();
const EVERYTHING = { start: 0, end: Number.POSITIVE_INFINITY };

/** One block of host memory. It does not refer to the ArrayBuffer, so that this can be collected. */
class HostAllocation extends Allocation implements HostUser {
  readonly start: number = EVERYTHING.start;
  readonly end: number = EVERYTHING.end;
  readonly #context: Context;
  readonly #memory: HostMemory;
  readonly #letGo: () => void;
  /** An ArrayBuffer over it may be reachable. */
  #exposed: boolean;
  /** Nobody uses it any more, as far as arrays go. */
  #given = false;

  constructor(context: Context, memory: HostMemory, counted: number) {
    super(context, memory.pointer ?? 0, counted, allocationSite(memory.bytes.length));
    this.#context = context;
    this.#memory = { host: memory.host, bytes: NO_BYTES, pointer: memory.pointer };
    // Host memory that is JavaScript's own is never unmapped.
    this.#exposed = !DEVICE_KINDS[context.kind].inProcess;
    this.#letGo = this.#exposed ? context.holdOpen() : () => undefined;
  }

  /** The last array was disposed: TypedArrays that are left must not reach the memory. */
  override released(buffer: unknown): void {
    super.released(buffer);
    if (!(buffer instanceof ArrayBuffer)) return;
    if (this.#exposed) {
      if (detach(buffer)) this.#hidden();
      else whenCollected(buffer, () => this.#hidden());
    } else if (this.#memory.pointer === undefined) detach(buffer);
  }

  override dropped(): void {
    super.dropped();
    this.#hidden();
  }

  #hidden(): void {
    this.#exposed = false;
    if (this.#given) this.#giveBack();
  }

  override destroy(): void {
    this.#context.freed(this);
    this.finishUses(this.#memory.pointer !== undefined);
    this.#given = true;
    if (!this.#exposed) this.#giveBack();
  }

  #giveBack(): void {
    this.#given = false;
    try {
      this.#context.driver.freeHost(this.#memory);
    } finally {
      this.#letGo();
    }
  }
}

/** What is known of a buffer that the driver allocated. Keeps the owner alive as long as the memory can be reached. */
export interface KnownBuffer {
  readonly owner: MemoryOwner;
  /** Address of its first byte on the device; undefined where only copies use it. */
  readonly pointer: number | undefined;
}

const known = new WeakMap<object, KnownBuffer>();

/** What is known of a buffer, if all of it is memory that the driver allocated: it is pinned for good. */
export function knownBuffer(buffer: ArrayBufferLike): KnownBuffer | undefined {
  return known.get(buffer);
}

/** Host memory with its owner. */
export interface OwnedHostMemory {
  readonly owner: MemoryOwner;
  /** The bytes, as the host sees them. */
  readonly bytes: Uint8Array;
  /** The device's address; undefined where only copies use the memory. */
  readonly pointer: number | undefined;
  /** Keeps the memory alive as long as a TypedArray over it. */
  keepAliveWith(data: ArrayBufferView): void;
}

/**
 * Allocates host memory of a kind; when there is none left, frees what is pending and tries once more. Pinned memory counts as 0
 * bytes of device memory, as in Numba. `bytes` > 0. Throws OutOfMemoryError.
 */
export function allocateHostMemory(context: Context, bytes: number, options: HostMemoryOptions): OwnedHostMemory {
  const memory = context.retrying(bytes, () => context.driver.allocateHost(bytes, options));
  const allocation = context.own(new HostAllocation(context, memory, options.kind === 'pinned' ? 0 : bytes));
  const owner = new MemoryOwner(context, allocation, bytes);
  const { buffer } = memory.bytes;
  const pointer = memory.pointer === undefined ? undefined : Number(memory.pointer);
  const own = buffer instanceof ArrayBuffer && memory.bytes.length === buffer.byteLength;
  if (own) {
    if (!DEVICE_KINDS[context.kind].inProcess) keepInPlace(buffer);
    addHostUser(buffer, allocation);
    known.set(buffer, { owner, pointer });
    owner.externalOwner = buffer;
  }
  return {
    owner,
    bytes: memory.bytes,
    pointer,
    keepAliveWith: (data) => {
      if (!own) known.set(data, { owner, pointer });
    },
  };
}
