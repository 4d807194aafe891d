/**
 * What is known of a device behind the CUDA driver API before it is opened.
 */
import type { DeviceInfo } from '../driver.ts';

/** A device as it is opened. */
export interface CudaDevice {
  /** The CUdevice. */
  readonly device: number;
  readonly info: DeviceInfo;
  readonly memoryPools: boolean;
}

/** `0000:3b:00.0`. */
export function pciBusId(domain: number, bus: number, device: number): string {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
  return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(device, 2)}.0`;
}
