/**
 * Copies and fills of one NVIDIA device: the copy part of the driver contract.
 *
 * Without a stream everything goes through the default stream and is done on return. Decides between the driver's own copies,
 * staging by several threads, and kernels over strides; plans are made in `plan.ts`, kernels in `kernels.ts`.
 */
import type { DeviceDriver, Pointer, StreamHandle, StridedRegion } from '../../driver.ts';
import type { CopyDevice } from './device.ts';

/** The calls of the driver contract that are made here. */
export type CopyCalls = Pick<
  DeviceDriver,
  | 'copyToDevice'
  | 'copyToHost'
  | 'copyOnDevice'
  | 'copyToDeviceStrided'
  | 'copyToHostStrided'
  | 'copyOnDeviceStrided'
  | 'fillStrided'
>;
