/**
 * For tests: the OpenCL device of this machine, or whether there is none. Where TSAMBA_TEST_REQUIRE names `pocl`, a missing device is
 * a failure; elsewhere tests that need one are skipped.
 */

import { isRequired } from '../../required.testing.ts';
import type { OpenCLDriver, OpenCLOptions } from './device.ts';
import { openclProvider, openOpenCL } from './index.ts';

/** Whether there is a device. Throws when there must be one. */
export function hasOpenCL(): boolean {
  const { count, reason } = openclProvider.probe();
  if (count === 0 && isRequired('pocl')) throw new Error(`TSAMBA_TEST_REQUIRE names pocl: ${reason}`);
  return count > 0;
}

/** The first device. */
export function openTestDevice(options?: OpenCLOptions): OpenCLDriver {
  return openOpenCL(0, options);
}
