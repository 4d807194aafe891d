/**
 * A CPU device with as little memory as a test wants.
 */
import { CpuDriver } from '../../src/driver/cpu/device.ts';
import type { Pointer, StreamHandle } from '../../src/driver/driver.ts';
import { OutOfMemoryError } from '../../src/errors.ts';

export class LimitedCpuDriver extends CpuDriver {
  readonly #total: number;
  readonly #sizes = new Map<number, number>();
  #live = 0;

  constructor(totalMemory: number) {
    super(0, { threads: 1 });
    this.#total = totalMemory;
    const { info } = this;
    Object.defineProperty(this, 'info', { value: { ...info, limits: { ...info.limits, totalMemory } } });
  }

  override allocate(bytes: number, stream?: StreamHandle): Pointer {
    if (this.#live + bytes > this.#total) {
      throw new OutOfMemoryError('the limit is reached', { asked: bytes, live: this.#live, pending: 0, pooled: 0 });
    }
    const pointer = super.allocate(bytes, stream);
    this.#sizes.set(Number(pointer), bytes);
    this.#live += bytes;
    return pointer;
  }

  override free(pointer: Pointer, stream?: StreamHandle): void {
    super.free(pointer, stream);
    this.#live -= this.#sizes.get(Number(pointer)) ?? 0;
    this.#sizes.delete(Number(pointer));
  }

  override memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return { free: this.#total - this.#live, total: this.#total, pooled: 0 };
  }
}
