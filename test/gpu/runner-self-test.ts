/**
 * Tests that do what tests do when things go wrong, so that the runner itself can be tested: `--filter "the runner"`.
 */
import { type GpuModule, skip } from './suite.ts';

const tests: GpuModule['tests'] = [
  { name: 'passes', run: () => undefined },
  { name: 'passes with a note', run: () => 'all is well' },
  {
    name: 'throws',
    run: () => {
      throw new Error('thrown on purpose');
    },
  },
  { name: 'ends the process', run: () => process.exit(7) },
  { name: 'crashes the process', run: () => process.abort() },
  { name: 'never ends', run: () => new Promise<void>((resolve) => setTimeout(resolve, 1e8)), seconds: 0.5 },
  { name: 'is skipped', run: () => skip('skipped on purpose') },
  { name: 'passes later', run: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) },
];

export const runnerSelfTest: GpuModule = {
  chapter: 'the runner',
  tests: tests.map((test) => ({ ...test, onDemand: true })),
};
