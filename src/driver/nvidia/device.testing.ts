/**
 * A GPU that tests have, over the model of libcuda.
 */
import type { DeviceInfo } from '../driver.ts';
import { IDLE_DEVICE } from './idle.ts';

const { info } = IDLE_DEVICE;

/** What it says of itself. */
export const deviceInfo: DeviceInfo = {
  ...info,
  name: 'Model GPU',
  limits: { ...info.limits, maxSharedBytesPerBlock: 100_000 },
  features: { ...info.features, ipc: true },
};
