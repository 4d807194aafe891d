/**
 * The driver of the current device, for tests that call it themselves and wait for what it does.
 */
import type { BlockingDriver } from '../../src/driver/driver.ts';
import { blocking } from '../../src/memory/blocking.ts';
import type { Context } from '../../src/memory/context.ts';
import { cudaDevices } from '../../src/memory/devices.ts';

/** Throws on a device that nothing can wait for. */
export function blockingDriver(context: Context = cudaDevices.currentContext()): BlockingDriver {
  return blocking(context.driver, 'this test', 'one that awaits');
}
