/**
 * `--device opencl`: the tests on the OpenCL device that comes first (`TSAMBA_OPENCL_DEVICE`), `cuda` and `roc` alike.
 */
import { openclProvider, openOpenCL } from '../../src/driver/opencl/index.ts';
import { Context } from '../../src/memory/context.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { errand, inChild } from './errands.ts';

/** What the environment says of the devices that the tests use. */
export function environmentFor(device: string): Readonly<Record<string, string>> {
  return device === 'opencl' ? { TSAMBA_DEVICE: 'cpu', TSAMBA_ROC_DRIVER: 'opencl' } : { TSAMBA_DEVICE: device };
}

/** Makes the device of `--device opencl` the current one; the others become it by the environment. */
export function activateDevice(device: string): void {
  if (device === 'opencl') cudaDevices.enter(new Context(openOpenCL(0)));
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
