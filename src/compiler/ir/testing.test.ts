import { expect, test } from 'vitest';
import { randomCases } from '../../required.testing.ts';
import { checkBarriers } from './passes/barriers.ts';
import { outcome, randomSample } from './testing.ts';

test('random kernels run to their end, and the order in which threads take turns does not show', () => {
  let ended = 0;
  const cases = randomCases(300);
  for (let seed = 0; seed < cases; seed++) {
    const sample = randomSample(seed);
    const result = outcome(sample);
    const back = outcome(sample, sample.kernel, { order: (n) => Array.from({ length: n }, (_, i) => n - 1 - i) });
    expect(back, sample.name).toBe(result);
    expect(result, sample.name).toMatch(/^\[/);
    expect(checkBarriers(sample.kernel), sample.name).toEqual([]);
    ended++;
  }
  expect(ended).toBe(cases);
});
