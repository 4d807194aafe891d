/**
 * The provider of AMD GPUs by HIP. Loads nothing before it is asked.
 */
import { NotSupportedError } from '../../errors.ts';
import type { BlockingProvider, DeviceInfo } from '../driver.ts';
import { HipDriver, type HipOptions } from './device.ts';
import { describeDevice } from './info.ts';
import type { Hip } from './library.ts';
import { amdgcnCode } from './offline.ts';
import { probeHip } from './probe.ts';

/** AMD GPUs, by ROCm's HIP runtime. */
export const hipProvider: BlockingProvider = {
  kind: 'hip',
  probe(): { readonly count: number; readonly reason?: string | undefined } {
    const { count, reason } = probeHip();
    return reason === undefined ? { count } : { count, reason };
  },
  describe: (index): DeviceInfo => describeDevice(hipFor(index), index).info,
  offline: [amdgcnCode],
  open: (index) => openHip(index),
};

/** Opens a device, with options that tests want. */
export function openHip(index: number, options: HipOptions = {}): HipDriver {
  const hip = hipFor(index);
  return new HipDriver(hip, describeDevice(hip, index), options);
}

function hipFor(index: number): Hip {
  const { hip, count, reason } = probeHip();
  if (hip === undefined) throw new NotSupportedError('E_NO_DEVICE', `there is no HIP device to use: ${reason}`);
  if (index < count) return hip;
  throw new NotSupportedError('E_NO_DEVICE', `there is no HIP device ${index}: ROCm finds ${count}, from 0 on`);
}
