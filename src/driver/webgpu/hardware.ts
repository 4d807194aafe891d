/**
 * What an adapter of WebGPU computes on, which it does not say in so many words.
 */
import type { HardwareInfo } from '../driver.ts';
import type { GpuInfo } from './api.ts';

/** By name; by number of the PCI bus, which Deno gives. */
const VENDORS: Readonly<Record<string, HardwareInfo['vendor']>> = {
  nvidia: 'nvidia',
  amd: 'amd',
  intel: 'intel',
  4318: 'nvidia',
  4098: 'amd',
  32902: 'intel',
};

/** Whether an adapter is a processor or a GPU, and who made that. */
export function hardwareOf({
  isFallbackAdapter,
  vendor = '',
  architecture,
  device,
  description,
}: GpuInfo): HardwareInfo {
  const names = [architecture, device, description].join();
  const isProcessor = isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i.test(names);
  return { type: isProcessor ? 'cpu' : 'gpu', vendor: isProcessor ? 'other' : (VENDORS[vendor] ?? 'other') };
}

/** Whether this adapter has to be asked whether it runs loops to their ends (`rounds.ts`): others are known to, and opening them costs no kernel. */
export function mayCutLoops({ device, description }: GpuInfo): boolean {
  return /llvmpipe|lavapipe/i.test(`${device} ${description}`);
}
