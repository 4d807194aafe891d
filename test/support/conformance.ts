/**
 * Puts the conformance suite into vitest: one test for each of its tests, on one device.
 *
 * The library is imported here, after the environment has been set: what a CPU device is like is decided when it is opened.
 */
import { describe, it } from 'vitest';
import type { DeviceKind } from '../../src/driver/driver.ts';
import { lackingIn } from './lacking.ts';

export interface ConformanceRun {
  /** What vitest shows above the tests. */
  readonly title: string;
  readonly device: DeviceKind;
  /** Set before the library is loaded. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the tests only every n-th, beginning with the k-th, which is 1 for the first. */
  readonly part?: readonly [k: number, n: number];
  /** Of these chapters only. */
  readonly chapters?: readonly string[];
  /** Tests that this device cannot run. */
  readonly without?: readonly string[];
  /** Codes of NotSupportedError with which this device refuses what it lacks: such tests are skipped. */
  readonly lacks?: readonly string[];
  /** Told of each test that has passed. */
  onPassed?(): void;
  /** Makes the device, when `device` alone does not say enough. */
  open?(): Promise<void>;
}

export async function defineConformance(run: ConformanceRun): Promise<void> {
  Object.assign(process.env, {
    TSAMBA_DEVICE: run.device,
    TSAMBA_ROC_DRIVER: run.device,
    TSAMBA_WARN_IMPLICIT_COPY: '0',
    ...run.environment,
  });
  await run.open?.();
  const { cuda } = await import('../../src/index.ts');
  const { conformanceTests } = await import('../../testsuite/index.ts');
  const { canWait, settled } = await import('../../testsuite/waiting.ts');
  describe(`${run.title}: ${cuda.currentDevice().name}`, () => {
    const [part, parts] = run.part ?? [1, 1];
    for (const [k, test] of conformanceTests.entries()) {
      if (k % parts !== part - 1) continue;
      if (run.chapters?.includes(test.chapter) === false) continue;
      if (test.blocks && !canWait()) continue;
      if (run.without?.includes(`${test.chapter}: ${test.name}`) === true) continue;
      it(`${test.chapter}: ${test.name}`, async (context) => {
        try {
          await test.run();
          await settled();
        } catch (error) {
          const lacking = lackingIn(error, run.lacks ?? []);
          if (lacking === undefined) throw error;
          context.skip(lacking);
        }
        run.onPassed?.();
      });
    }
  });
}
