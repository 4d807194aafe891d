/**
 * The conformance suite on the CPU device with two threads that share every launch of two blocks or more, however small.
 */
import { defineConformance } from './support/conformance.ts';

await defineConformance({
  title: 'two threads',
  device: 'cpu',
  async open() {
    const { openCpu } = await import('../src/driver/cpu/device.ts');
    const { Context } = await import('../src/memory/context.ts');
    const { cudaDevices } = await import('../src/memory/devices.ts');
    cudaDevices.enter(new Context(openCpu({ threads: 2, alwaysParallel: true })));
  },
});
