/**
 * `captures.ts` in pages, which have no environment to ask for it.
 */
import type { CapturedFunction } from '../compiler/frontend/captured.ts';
import type { CaptureSnapshot } from './captures.ts';

export type { CaptureSnapshot };

export function snapshotCaptures(_: CapturedFunction): CaptureSnapshot | undefined {
  return undefined;
}

export function compareCaptures(_: string, __: CaptureSnapshot, ___: CapturedFunction): void {}
