/**
 * The process that runs the tests: one after another from a given one on, telling its parent what it begins and how it ended.
 *
 * What it tells goes out at once, so that the parent knows where it was when it crashes. When a failed test has left the device
 * unusable it ends, and the parent starts another one.
 */
import { cuda } from '../../src/index.ts';
import { Skipped } from './suite.ts';
import type { Entry } from './tests.ts';

export type Message =
  | { readonly begins: number }
  | {
      readonly ends: number;
      readonly ms: number;
      readonly error?: string;
      readonly skipped?: string;
      readonly note?: string;
    };

/** The device is unusable, and the tests that are left need another process. */
export const BROKEN = 3;

export async function runTests(list: readonly Entry[], from: number, tell: (m: Message) => void): Promise<number> {
  for (let k = from; k < list.length; k++) {
    tell({ begins: k });
    const started = performance.now();
    try {
      const note = await list[k].run();
      tell({ ends: k, ms: performance.now() - started, ...(note === undefined ? {} : { note }) });
    } catch (error) {
      const ms = performance.now() - started;
      if (error instanceof Skipped) tell({ ends: k, ms, skipped: error.message });
      else {
        tell({ ends: k, ms, error: textOf(error) });
        if (!usable()) return BROKEN;
      }
    }
  }
  return 0;
}

/** Whether the device still works: a fault that waited to be reported may come up once. */
function usable(): boolean {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      cuda.synchronize();
      cuda.toDevice([1, 2, 3]).dispose();
      cuda.synchronize();
      return true;
    } catch {}
  }
  return false;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error ?? 'something undefined was thrown');
  const code = (error as { code?: unknown }).code;
  const what = `${error.name}${code === undefined ? '' : ` ${String(code)}`}: ${error.message}`;
  const known = error.name === 'ConformanceFailure' || code !== undefined;
  return known ? what : `${what}${(error.stack ?? '').split('\n').slice(1, 4).join('\n')}`;
}
