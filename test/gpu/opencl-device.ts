/**
 * The device of `--device`, for `cuda` and `roc` alike; of OpenCL the one that comes first (`TSAMBA_OPENCL_DEVICE`).
 */
import { openclProvider } from '../../src/driver/opencl/index.ts';
import { errand, inChild } from './errands.ts';

/** What the environment says of the devices that the tests use. */
export function environmentFor(device: string): Readonly<Record<string, string>> {
  return { TSAMBA_DEVICE: device, TSAMBA_ROC_DRIVER: device };
}

const DESCRIBE = errand('describe the OpenCL device', () => {
  const { count, reason } = openclProvider.probe();
  const info = count > 0 ? openclProvider.describe?.(0) : undefined;
  console.log(info === undefined ? `no device: ${reason}` : `${info.name}, ${info.driverVersion}`);
});

/** The device's name and driver, for reports; undefined where it is not an OpenCL device. Leaves OpenCL to other processes. */
export function openclDevice(device: string): string | undefined {
  return device === 'opencl' ? inChild(DESCRIBE).out.trim() : undefined;
}
