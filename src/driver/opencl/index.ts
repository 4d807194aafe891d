/**
 * The provider of OpenCL devices. Loads nothing before it is asked.
 */
import { NotSupportedError } from '../../errors.ts';
import type { BlockingProvider, DeviceInfo } from '../driver.ts';
import { OpenCLDriver, type OpenCLOptions } from './device.ts';
import { mayHaveGpu } from './hardware.ts';
import { describeDevice, type OpenCLDevice } from './info.ts';
import type { OpenCL } from './library.ts';
import { openclCode } from './offline.ts';
import { probeOpenCL } from './platforms.ts';

/** OpenCL devices: GPUs of AMD first, then other GPUs, then CPUs. */
export const openclProvider: BlockingProvider = {
  kind: 'opencl',
  probe(): { readonly count: number; readonly reason?: string | undefined } {
    const { devices, reason } = probeOpenCL();
    return reason === undefined ? { count: devices.length } : { count: 0, reason };
  },
  mayHaveGpu: () => mayHaveGpu(),
  describe: (index): DeviceInfo => deviceAt(index).device.info,
  offline: [openclCode],
  open: (index) => openOpenCL(index),
};

/** Opens a device, with options that tests want. */
export function openOpenCL(index: number, options: OpenCLOptions = {}): OpenCLDriver {
  const { cl, device } = deviceAt(index);
  return new OpenCLDriver(cl, device, options);
}

function deviceAt(index: number): { readonly cl: OpenCL; readonly device: OpenCLDevice } {
  const { cl, devices, reason } = probeOpenCL();
  if (cl === undefined) throw new NotSupportedError('E_NO_DEVICE', `there is no OpenCL device to use: ${reason}`);
  const listed = devices[index];
  if (listed !== undefined) return { cl, device: describeDevice(cl, listed, index) };
  throw new NotSupportedError(
    'E_NO_DEVICE',
    `there is no OpenCL device ${index}: the platforms have ${devices.length}, from 0 on`,
  );
}
