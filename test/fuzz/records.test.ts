/** Random programs over records, the same each time. Longer runs: `npx tsx test/fuzz/records.ts`. */
import { expect, it } from 'vitest';
import { isThorough } from '../../src/required.testing.ts';
import { generateRecords } from './record-programs.ts';
import { checkRecords, type Verdict } from './records.ts';

const PROGRAMS = isThorough() ? 80 : 40;

it('names of records mean in kernels what they mean in JavaScript', { timeout: 300_000 }, () => {
  const verdicts: Verdict[] = [];
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const verdict = checkRecords(generateRecords(seed));
    if (typeof verdict === 'object') expect.fail(verdict.wrong);
    verdicts.push(verdict);
  }
  expect(verdicts.filter((v) => v === 'right').length).toBeGreaterThan(PROGRAMS / 2);
});
