/**
 * The conformance suite as a list: chapters of named tests that run on whatever device is current.
 *
 * A driver is done when all of them pass on it. The suite is framework-free: `runConformance` runs it anywhere, and
 * `conformanceTests` hands the tests to vitest, node:test or anything else.
 */
import { cuda, scope } from '../index.ts';

export interface ConformanceTest {
  readonly chapter: string;
  readonly name: string;
  run(): void | Promise<void>;
}

export type DeviceChoice = number | 'cpu' | 'simulator';

/** The tests of one chapter. What a synchronous one makes on the device is disposed when it ends. */
export function chapter(
  title: string,
  tests: Readonly<Record<string, () => void | Promise<void>>>,
): readonly ConformanceTest[] {
  return Object.entries(tests).map(([name, run]) => ({
    chapter: title,
    name,
    run: run.constructor.name === 'AsyncFunction' ? run : () => scope(run),
  }));
}

export interface ConformanceResult {
  readonly test: ConformanceTest;
  readonly milliseconds: number;
  /** What went wrong; undefined when the test passed. */
  readonly error: unknown;
}

export interface ConformanceOptions {
  /** The device to run on; the current one unless given. */
  readonly device?: DeviceChoice | undefined;
  /** Only tests whose `chapter: name` contains this. */
  readonly filter?: string | undefined;
  readonly onResult?: ((result: ConformanceResult) => void) | undefined;
}

/** Runs tests one after another. Resolves to all results; failures are in them and not thrown. */
export async function runTests(
  tests: readonly ConformanceTest[],
  options: ConformanceOptions = {},
): Promise<readonly ConformanceResult[]> {
  if (options.device !== undefined) cuda.selectDevice(options.device);
  const results: ConformanceResult[] = [];
  for (const test of tests) {
    if (options.filter !== undefined && !`${test.chapter}: ${test.name}`.includes(options.filter)) continue;
    const start = performance.now();
    let error: unknown;
    try {
      await test.run();
      cuda.synchronize();
    } catch (e) {
      error = e ?? new Error('something undefined was thrown');
    }
    const result: ConformanceResult = { test, milliseconds: performance.now() - start, error };
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}
