/**
 * `checked-runs.ts` in pages, where nothing is checked and nothing printed.
 */
import type { PassRun } from './shown-runs.ts';

export function checkRun(_: PassRun): void {}

export function tracePass(_: PassRun): void {}
