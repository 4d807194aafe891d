/**
 * The stream in whose order memory comes and goes that belongs to no stream of the user's.
 *
 * On CUDA the default stream waits for all others, and all others wait for it: allocating or freeing in its order would make
 * streams wait for each other that have nothing to do with each other. This stream only waits for the default one, so that
 * what is freed here comes after all work there; nothing else is ever enqueued, so that memory is there as good as at once.
 */
import type { DeviceDriver, StreamHandle } from '../driver/driver.ts';
import type { Resource } from './resources.ts';
import type { StreamRef } from './stream-ref.ts';

/** A stream of the driver for allocations and frees alone. Dies with its context. */
export class MemoryStream implements StreamRef, Resource {
  readonly handle: StreamHandle;
  readonly external = false;
  readonly tail = undefined;
  destroyed = false;
  readonly #driver: DeviceDriver;

  constructor(driver: DeviceDriver) {
    this.#driver = driver;
    this.handle = driver.createStream();
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#driver.destroyStream(this.handle);
  }
}
