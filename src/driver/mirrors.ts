/**
 * Host memory that a device of this process reads and writes "in place" though its kernels cannot reach it: copies on both
 * sides, made equal before the device reads and after it has written.
 *
 * Work is over when it has been enqueued on these devices, so nobody can see that there are two copies. Ranges that kernels are
 * given no address into cost a comparison.
 */

/** Bytes of the host and where the device has them. */
interface Mirror {
  readonly host: Uint8Array;
  readonly length: number;
  readonly address: number;
  /** The device's side as it is now: its memory may be replaced. */
  readonly device: () => Uint8Array;
}

/** The mirrored ranges of one device. */
export class Mirrors {
  readonly #mirrors = new Map<number, Mirror>();

  /** Whether there is anything to do at all. */
  get none(): boolean {
    return this.#mirrors.size === 0;
  }

  /** Keeps `host` and the device's bytes from `address` on equal. */
  add(address: number, host: Uint8Array, device: () => Uint8Array): void {
    this.#mirrors.set(address, { host, length: host.length, address, device });
  }

  delete(address: number): void {
    this.#mirrors.delete(address);
  }

  clear(): void {
    this.#mirrors.clear();
  }

  /** The device is about to read or write from `low` to `high`: it gets what the host has. */
  pull(low: number, high: number): void {
    for (const mirror of this.#mirrors.values()) {
      const part = overlap(mirror, low, high);
      if (part !== undefined) mirror.device().set(mirror.host.subarray(...part), part[0]);
    }
  }

  /** The device has written from `low` to `high`: the host gets it. */
  push(low: number, high: number): void {
    for (const mirror of this.#mirrors.values()) {
      const part = overlap(mirror, low, high);
      if (part !== undefined) mirror.host.set(mirror.device().subarray(...part), part[0]);
    }
  }

  /** Before a launch: whatever the kernel has an address into. */
  pullFor(args: readonly (number | bigint | boolean)[]): void {
    for (const mirror of this.#named(args)) mirror.device().set(mirror.host);
  }

  /** After a launch, also one that failed. */
  pushFor(args: readonly (number | bigint | boolean)[]): void {
    for (const mirror of this.#named(args)) mirror.host.set(mirror.device());
  }

  /** Those that an argument points into. A number that only looks like an address costs a copy and changes nothing. */
  *#named(args: readonly (number | bigint | boolean)[]): Iterable<Mirror> {
    for (const mirror of this.#mirrors.values()) {
      const { address, length } = mirror;
      const named = args.some((arg) => typeof arg !== 'boolean' && arg >= address && arg < address + length);
      if (named && isThere(mirror)) yield mirror;
    }
  }
}

function overlap(mirror: Mirror, low: number, high: number): [from: number, to: number] | undefined {
  const from = Math.max(low - mirror.address, 0);
  const to = Math.min(high - mirror.address, mirror.length);
  return from < to && isThere(mirror) ? [from, to] : undefined;
}

/** The host's buffer may have been transferred away meanwhile. */
function isThere(mirror: Mirror): boolean {
  return mirror.host.length === mirror.length;
}
