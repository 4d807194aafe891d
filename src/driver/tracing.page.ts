/**
 * `tracing.ts` in pages, which have no environment: no driver prints what passes it.
 */
import type { DeviceDriver } from './driver.ts';

export function traced(driver: DeviceDriver): DeviceDriver {
  return driver;
}
