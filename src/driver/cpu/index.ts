/** The CPU device's door: its provider, and `openCpu` with options for tests and benchmarks. */
export { type CpuDriver, cpuProvider, openCpu } from './device.ts';
export type { CpuOptions } from './engine.ts';
