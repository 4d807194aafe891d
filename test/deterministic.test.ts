/**
 * The CPU device with two threads that share every launch gives the same bits every time; `npm run test:gpu` runs the same a thousand times.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cpuProvider, openCpu } from '../src/driver/cpu/device.ts';
import { cuda } from '../src/index.ts';
import { registerProvider } from '../src/memory/providers.ts';
import { REPEATED } from './gpu/deterministic.ts';

beforeAll(() => {
  registerProvider({ ...cpuProvider, open: () => openCpu({ threads: 2, alwaysParallel: true, quick: false }) });
  cuda.selectDevice('cpu');
});
afterAll(() => {
  cuda.close();
  registerProvider(cpuProvider);
});

it.each(Object.entries(REPEATED))('%s', (_, run) => {
  const before = cuda.memoryStats().live;
  run({ runs: 13, length: 30_011 });
  expect(cuda.memoryStats().live).toBe(before);
});
