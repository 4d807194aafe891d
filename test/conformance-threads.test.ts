/**
 * The conformance suite on the CPU device with two threads that share every launch of two blocks or more, however small.
 */
import { defineConformance } from './support/conformance.ts';

await defineConformance({
  title: 'two threads',
  device: 'cpu',
  async open() {
    const { cpuProvider, openCpu } = await import('../src/driver/cpu/device.ts');
    const { registerProvider } = await import('../src/memory/providers.ts');
    registerProvider({ ...cpuProvider, open: () => openCpu({ threads: 2, alwaysParallel: true, quick: false }) });
  },
});
