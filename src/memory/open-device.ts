/**
 * A device that is open: one driver, however many namespaces compute on it.
 *
 * A context is what one namespace has on a device. Contexts on the same device reach each other's memory, streams and events; the device
 * is closed with the last of them.
 */
import type { DeviceDriver } from '../driver/driver.ts';
import { Turns } from './turns.ts';

/** What a context is on the device that it shares. */
export interface Tenant {
  /** Frees what waits to be freed: another context on the device has run out of memory. */
  freePending(): void;
}

/** A driver that is open, and the contexts on it. */
export class OpenDevice {
  readonly driver: DeviceDriver;
  /** Asynchronous calls that have their place in the order of the device and are not enqueued yet, whichever namespace made them. */
  readonly turns: Turns = new Turns();
  readonly #tenants = new Set<Tenant>();
  readonly #closed: (device: OpenDevice) => void;
  #left = false;

  /** `closed` is told when the driver has been closed. */
  constructor(driver: DeviceDriver, closed: (device: OpenDevice) => void = () => undefined) {
    this.driver = driver;
    this.#closed = closed;
  }

  /** Whether nobody can compute on it any more: it has been closed, or lost. */
  get gone(): boolean {
    return this.#left || this.driver.lost === true;
  }

  enter(tenant: Tenant): void {
    this.#tenants.add(tenant);
  }

  /** A context is done with the device; the last one closes the driver. */
  leave(tenant: Tenant): void {
    if (!this.#tenants.delete(tenant) || this.#tenants.size > 0) return;
    this.#left = true;
    this.#closed(this);
    this.driver.close();
  }

  /** Has every context free what it keeps pending. */
  freePending(): void {
    for (const tenant of this.#tenants) tenant.freePending();
  }
}
