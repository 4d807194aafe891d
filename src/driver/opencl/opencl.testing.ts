/**
 * For tests: the OpenCL device of this machine, or whether there is none. Where TSAMBA_TEST_REQUIRE names `pocl`, a missing device is
 * a failure; elsewhere tests that need one are skipped.
 */

import { isRequired } from '../../required.testing.ts';
import { OpenCLDriver, type OpenCLOptions } from './device.ts';
import { openclProvider } from './index.ts';
import { describeDevice } from './info.ts';
import { probeOpenCL } from './platforms.ts';
import { strict } from './strict.testing.ts';

/** Whether there is a device. Throws when there must be one. */
export function hasOpenCL(): boolean {
  const { count, reason } = openclProvider.probe();
  if (count === 0 && isRequired('pocl')) throw new Error(`TSAMBA_TEST_REQUIRE names pocl: ${reason}`);
  return count > 0;
}

/** The first device, by calls that every implementation takes. */
export function openTestDevice(options?: OpenCLOptions): OpenCLDriver {
  const { cl, devices } = probeOpenCL();
  const [first] = devices;
  if (cl === undefined || first === undefined) throw new Error('there is no OpenCL device');
  return new OpenCLDriver(strict(cl), describeDevice(cl, first, 0), options);
}
