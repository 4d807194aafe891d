/**
 * The conformance suite in pages of Chromium, with the built package as ES modules: the CPU device on one thread, and on all in a worker of an isolated page, and WebGPU on SwiftShader. Chapters that
 * differ in pages, everything where TSAMBA_TEST_REQUIRE names `chromium-all`. Skipped without Chromium, unless that names `chromium`.
 *
 * There is no inspector in pages: tests whose kernels capture what nobody sees say so, and count for nothing.
 */

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { Chromium, findChromium, ISOLATED } from './support/chromium.ts';
import { runInPage, type SuiteResult, type SuiteRun } from './support/chromium-suite.ts';
import { WEBGPU_LACKS } from './support/lacking.ts';
import { BEYOND_SWIFTSHADER } from './support/swiftshader.ts';

const ALL: boolean = isRequired('chromium-all');

/** A kernel that never ends within one block, where nobody can end it. */
const ENDLESS: readonly string[] = [
  'asynchronous launches and timeouts: a kernel that takes too long ends the launch with E_TIMEOUT, and the device goes on',
  'asynchronous launches and timeouts: an awaited kernel that takes too long rejects with E_TIMEOUT',
];

const RUNS: readonly (SuiteRun & { readonly title: string; readonly least: number })[] = [
  {
    title: 'the CPU device on one thread',
    device: 'cpu',
    chapters: [
      'launch',
      'lifetime of memory',
      'streams and events',
      'host memory',
      'asynchronous launches and timeouts',
    ],
    without: ENDLESS,
    least: 110,
  },
  {
    title: 'the CPU device on all cores, in a worker of an isolated page',
    device: 'cpu',
    worker: true,
    page: { headers: ISOLATED },
    chapters: ['geometry', 'barriers', 'asynchronous launches and timeouts', 'faults', 'atomics'],
    least: 60,
  },
  {
    title: 'WebGPU',
    device: 'webgpu',
    chapters: ['geometry', 'barriers', 'atomics', 'faults', 'device arrays', 'asynchronous launches and timeouts'],
    without: BEYOND_SWIFTSHADER,
    lacks: WEBGPU_LACKS,
    least: 80,
  },
];

describe.skipIf(findChromium() === undefined && !isRequired('chromium'))('the suite in pages', () => {
  let browser: Chromium;

  beforeAll(async () => {
    browser = await Chromium.start({ dist: fileURLToPath(new URL('../dist', import.meta.url)) });
  });
  afterAll(() => browser?.close());

  it.each(RUNS)(
    '$title',
    async ({ title: _, least, chapters, ...run }) => {
      const result: SuiteResult = await runInPage(browser, ALL || chapters === undefined ? run : { ...run, chapters });
      expect(result.failed).toEqual([]);
      expect(result.passed).toBeGreaterThan(least);
    },
    30 * 60_000,
  );
});
