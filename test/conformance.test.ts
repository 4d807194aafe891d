/**
 * The conformance suite on the CPU device (SIMD; scalar in a process of its own, as the choice is made once) and the simulator.
 */
import { describe, it } from 'vitest';
import { cuda } from '../src/index.ts';
import { conformanceTests } from '../src/testsuite/index.ts';

for (const device of ['cpu', 'simulator'] as const) {
  describe(device, () => {
    for (const test of conformanceTests) {
      it(`${test.chapter}: ${test.name}`, async () => {
        cuda.selectDevice(device);
        await test.run();
        cuda.synchronize();
      });
    }
  });
}
