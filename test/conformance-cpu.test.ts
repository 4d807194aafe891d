/**
 * The conformance suite on the CPU device with SIMD, on the caller's thread alone.
 */
import { defineConformance } from './support/conformance.ts';

await defineConformance({
  title: 'SIMD',
  device: 'cpu',
  async open() {
    const { cpuProvider, openCpu } = await import('../src/driver/cpu/device.ts');
    const { registerProvider } = await import('../src/memory/providers.ts');
    // Launches of tests are so short that most would run scalar code, as they do in the tests of documentation and examples.
    registerProvider({ ...cpuProvider, open: () => openCpu({ threads: 1, scalarFirst: false }) });
  },
});
