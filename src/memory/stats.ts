/**
 * What a context counts: bytes live and at the peak, allocations, frees, copies, synchronisations.
 *
 * Counters only; who counts is the context and the transfers of `array/`. `memoryStats()` shows them.
 */

/** Copies in one direction. */
export interface CopyCount {
  /** How many copies there were. */
  readonly count: number;
  /** How many bytes they copied. */
  readonly bytes: number;
}

/** The result of `cuda.memoryStats()`: bytes and counts since the context was opened. */
export interface MemoryStats {
  /** Bytes of allocations that are in use. */
  readonly live: number;
  /** Bytes that wait in the queue of pending deallocations. */
  readonly pending: number;
  /** Bytes that the driver keeps for later allocations. */
  readonly pooled: number;
  /** The most bytes that were ever live and pending together. */
  readonly peak: number;
  /** How many allocations there were. */
  readonly allocations: number;
  /** How many allocations were freed. */
  readonly frees: number;
  /** How often the host waited for the device. */
  readonly synchronizations: number;
  /** Copies, by direction. */
  readonly copies: {
    /** From the host to the device. */
    readonly hostToDevice: CopyCount;
    /** From the device to the host. */
    readonly deviceToHost: CopyCount;
    /** Within the device, and from other devices. */
    readonly deviceToDevice: CopyCount;
  };
}

/** `hostToDevice`, `deviceToHost`, `deviceToDevice`. */
export type CopyDirection = keyof MemoryStats['copies'];

/** The counters of one context. */
export class Counters {
  live = 0;
  peak = 0;
  allocations = 0;
  frees = 0;
  synchronizations = 0;
  readonly copies: Record<CopyDirection, { count: number; bytes: number }> = {
    hostToDevice: { count: 0, bytes: 0 },
    deviceToHost: { count: 0, bytes: 0 },
    deviceToDevice: { count: 0, bytes: 0 },
  };

  allocated(bytes: number, pending: number): void {
    this.allocations++;
    this.live += bytes;
    this.peak = Math.max(this.peak, this.live + pending);
  }

  copied(direction: CopyDirection, bytes: number): void {
    const counter = this.copies[direction];
    counter.count++;
    counter.bytes += bytes;
  }
}
