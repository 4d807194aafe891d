/**
 * The providers of all kinds of devices. Builds for pages take `provider-list.page.ts` instead.
 */
import { cpuProvider } from '../driver/cpu/index.ts';
import type { DriverProvider } from '../driver/driver.ts';
import { hipProvider } from '../driver/hip/index.ts';
import { nvidiaProvider } from '../driver/nvidia/index.ts';
import { openclProvider } from '../driver/opencl/index.ts';
import { simulatorProvider } from '../driver/simulator/index.ts';
import { webgpuProvider } from '../driver/webgpu/index.ts';

export const PROVIDERS: readonly DriverProvider[] = [
  cpuProvider,
  simulatorProvider,
  nvidiaProvider,
  openclProvider,
  hipProvider,
  webgpuProvider,
];
