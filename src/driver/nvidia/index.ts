/**
 * The provider of NVIDIA devices. Loads nothing before it is asked.
 */

import { NotSupportedError } from '../../errors.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import type { BlockingProvider, DeviceInfo } from '../driver.ts';
import { NvidiaDriver, type NvidiaOptions } from './device.ts';
import { describeDevice } from './info.ts';
import { ptxCode } from './offline.ts';
import { probeCuda } from './probe.ts';
import { sassCode } from './sass.ts';

/** NVIDIA GPUs, by their CUDA driver. */
export const nvidiaProvider: BlockingProvider = {
  kind: 'nvidia',
  probe(): { readonly count: number; readonly reason?: string | undefined } {
    const { count, reason } = probeCuda();
    return reason === undefined ? { count } : { count, reason };
  },
  describe: (index): DeviceInfo => describeDevice(driverFor(index), index).info,
  offline: [ptxCode, sassCode],
  open: (index) => openNvidia(index),
};

/** Opens a device, with options that tests want. */
export function openNvidia(index: number, options: NvidiaOptions = {}): NvidiaDriver {
  const cuda = driverFor(index);
  return new NvidiaDriver(cuda, describeDevice(cuda, index), options);
}

function driverFor(index: number): Cuda {
  const { cuda, count, reason } = probeCuda();
  if (cuda === undefined) throw new NotSupportedError('E_NO_GPU', `there is no NVIDIA GPU to use: ${reason}`);
  if (index < count) return cuda;
  throw new NotSupportedError('E_NO_DEVICE', `there is no NVIDIA GPU ${index}: the driver finds ${count}, from 0 on`);
}
