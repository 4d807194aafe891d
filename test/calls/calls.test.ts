/**
 * A part of the bad calls, the same each time. All of them: `npm run test:calls`.
 */
import { expect, it } from 'vitest';
import { runCalls } from './run.ts';

const PART = 90;

it('calls with odd values end in errors of the library, and change nothing', { timeout: 300_000 }, async () => {
  const { calls, findings } = await runCalls({ part: PART, seed: 7 });
  expect(findings).toEqual([]);
  expect(calls).toBeGreaterThan(200);
});
