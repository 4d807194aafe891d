/**
 * The conformance suite as a list: chapters of named tests that run on whatever device is current.
 *
 * A driver is done when all of them pass on it. The suite is framework-free: `runConformance` runs it anywhere, and
 * `conformanceTests` hands the tests to vitest, node:test or anything else.
 */
import type { DeviceKind } from '../src/cuda/index.ts';
import { cuda, roc, TsambaTypeError } from '../src/index.ts';
import { scopeWhileAlone } from '../src/memory/scope.ts';
import { canWait, settled } from './waiting.ts';

/** A test of the conformance suite. */
export interface ConformanceTest {
  /** The part of the library that it is about. */
  readonly chapter: string;
  /** What it says about devices. */
  readonly name: string;
  /** It is about calls that wait: devices that only answer through promises do without. */
  readonly blocks: boolean;
  /** Runs the test on the current device; rejects if it fails. */
  run(): Promise<void>;
}

/** The device to test: its kind, or the number of an NVIDIA GPU. */
export type DeviceChoice = number | DeviceKind;

type Body = () => void | Promise<void>;

/** A test with something to be said about it. */
export interface Marked {
  readonly run: Body;
  /** What it makes on the device it disposes itself. */
  readonly owns?: boolean;
  readonly blocks?: boolean;
}

/** Marks a test that disposes what it makes on the device itself. */
export function waiting(run: Body): Marked {
  return { run, owns: true };
}

/** Marks a test about calls that wait for the device. */
export function blocking(run: Body): Marked {
  return { run, blocks: true };
}

/** The tests of one chapter. What they make on the device is disposed when they end. */
export function chapter(title: string, tests: Readonly<Record<string, Body | Marked>>): readonly ConformanceTest[] {
  return Object.entries(tests).map(([name, test]) => {
    const { run, owns = false, blocks = false }: Marked = typeof test === 'function' ? { run: test } : test;
    return { chapter: title, name, blocks, run: owns ? async () => run() : () => scopeWhileAlone(run) };
  });
}

/** What became of a test. */
export interface ConformanceResult {
  /** The test. */
  readonly test: ConformanceTest;
  /** Milliseconds that it took. */
  readonly milliseconds: number;
  /** What went wrong; undefined when the test passed. */
  readonly error: unknown;
}

/** Options of a run of the suite. */
export interface ConformanceOptions {
  /** The device to run on: its kind, or the number of an NVIDIA GPU; the current ones of `cuda` and `roc` unless given. */
  readonly device?: DeviceChoice | undefined;
  /** Only tests whose `chapter: name` contains this. */
  readonly filter?: string | undefined;
  /** Called after each test. */
  readonly onResult?: ((result: ConformanceResult) => void) | undefined;
}

/** The chapters on `roc` run on the same device. */
async function select(device: DeviceChoice | undefined): Promise<void> {
  if (device === undefined) return;
  const { kind, index } = await cuda.open(device);
  await roc.open(kind, index);
}

/** Runs tests one after another. Resolves to all results; failures are in them and not thrown. */
/** A misspelt filter would run the whole suite. */
function checkOptions(options: unknown): asserts options is ConformanceOptions {
  const known = ['device', 'filter', 'onResult'];
  const isPlain = typeof options === 'object' && options !== null && !Array.isArray(options);
  const odd = isPlain ? Object.keys(options).find((key) => !known.includes(key)) : '';
  if (!isPlain || odd !== undefined) {
    throw new TsambaTypeError('E_OPTION', `runConformance takes its options as an object with ${known.join(', ')}`);
  }
  const { filter, onResult } = options as { readonly filter?: unknown; readonly onResult?: unknown };
  if (filter !== undefined && typeof filter !== 'string') {
    throw new TsambaTypeError('E_OPTION', 'filter must be a string that names of tests contain');
  }
  if (onResult !== undefined && typeof onResult !== 'function') {
    throw new TsambaTypeError('E_OPTION', 'onResult must be a function');
  }
}

export async function runTests(
  tests: readonly ConformanceTest[],
  options: ConformanceOptions = {},
): Promise<readonly ConformanceResult[]> {
  checkOptions(options);
  await select(options.device);
  const results: ConformanceResult[] = [];
  for (const test of tests) {
    if (options.filter !== undefined && !`${test.chapter}: ${test.name}`.includes(options.filter)) continue;
    if (test.blocks && !canWait()) continue;
    const start = performance.now();
    let error: unknown;
    try {
      await test.run();
      await settled();
    } catch (e) {
      error = e ?? new Error('something undefined was thrown');
    }
    const result: ConformanceResult = { test, milliseconds: performance.now() - start, error };
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}
