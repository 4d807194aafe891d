/**
 * `trace.ts` in pages, which have no environment: nothing is asked for.
 */
import type { TraceWord } from './environment.ts';

export function tracing(_: TraceWord): boolean {
  return false;
}

export function trace(_: TraceWord, __: () => string): void {}

export function traceTime<R>(_: TraceWord, __: () => string, body: () => R): R {
  return body();
}
