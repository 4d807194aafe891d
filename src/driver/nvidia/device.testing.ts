/**
 * A GPU that tests have, over the model of libcuda.
 */
import type { DeviceInfo } from '../driver.ts';

/** What it says of itself. */
export const deviceInfo: DeviceInfo = {
  kind: 'nvidia',
  name: 'Model GPU',
  index: 0,
  limits: {
    maxThreadsPerBlock: 1024,
    maxBlockDim: [1024, 1024, 64],
    maxGridDim: [2 ** 31 - 1, 65535, 65535],
    maxSharedBytesPerBlock: 100_000,
    warpSize: 32,
    multiprocessors: 1,
    totalMemory: 2 ** 30,
  },
  computeCapability: [9, 0],
  features: {
    streamOrdered: true,
    ipc: true,
    cooperative: true,
    externalStreams: true,
    mapsHostMemory: true,
    stopsKernels: false,
    hostCanWait: true,
  },
};
