/**
 * Chapters of the conformance suite in pages of Firefox, whose engine is not the one of Node.js and Chromium: the CPU device on one thread, and on all in an isolated page. Skipped without Firefox,
 * unless TSAMBA_TEST_REQUIRE names `firefox`.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { ISOLATED } from './support/chromium.ts';
import { SUITE, type SuiteResult, type SuiteRun } from './support/chromium-suite.ts';
import { findFirefox, runInFirefox } from './support/firefox.ts';

const FOLDERS = { dist: fileURLToPath(new URL('../dist', import.meta.url)) };

/** A kernel that never ends within one block, launched on the main thread, where nobody can end it. */
const ENDLESS =
  'asynchronous launches and timeouts: a kernel that takes too long ends the launch with E_TIMEOUT, and the device goes on';

const RUNS: readonly (SuiteRun & { readonly title: string; readonly least: number })[] = [
  {
    title: 'the CPU device on one thread',
    device: 'cpu',
    chapters: [
      'launch',
      'geometry',
      'barriers',
      'atomics',
      'faults',
      'math functions',
      'integers',
      'warps',
      'device arrays',
    ],
    least: 150,
  },
  {
    title: 'the CPU device on all cores, in an isolated page',
    device: 'cpu',
    page: { headers: ISOLATED },
    chapters: ['geometry', 'barriers', 'atomics', 'asynchronous launches and timeouts'],
    without: [ENDLESS],
    least: 60,
  },
];

describe.skipIf(findFirefox() === undefined && !isRequired('firefox'))('the suite in pages of Firefox', () => {
  it.each(RUNS)(
    '$title',
    async ({ title: _, least, page, ...run }) => {
      const body = `const run = ${JSON.stringify(run)}; const base = './'; ${SUITE}`;
      const result = (await runInFirefox(body, FOLDERS, page)) as SuiteResult;
      expect(result.failed).toEqual([]);
      expect(result.passed).toBeGreaterThan(least);
      if (page !== undefined) expect(result.name).toMatch(/[2-9]\d* threads/);
    },
    10 * 60_000,
  );
});
