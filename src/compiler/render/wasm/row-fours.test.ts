/**
 * Four rounds at a time of loops along rows: that they do what the rounds do one by one. `test/fuzz/row-fours.test.ts` runs more.
 */
import { expect, it } from 'vitest';
import { checkFaults, checkRounds } from './row-fours.testing.ts';

it.each([true, false])('random rounds do what they do one by one: checks %s', (checked) => {
  let fours = 0;
  for (let seed = 0; seed < 50; seed++) if (checkRounds(seed, checked)) fours++;
  expect(fours).toBeGreaterThan(12);
});

it('checks fail where they did', () => {
  let failed = 0;
  for (let seed = 1000; seed < 1030; seed++) failed += checkFaults(seed);
  expect(failed).toBeGreaterThan(25);
});
