/**
 * How a strided fill is done: by the driver's memset where it is contiguous, else by the fill kernel. Pure.
 */
import type { StridedFill, StridedSide } from '../driver.ts';
import { type CopyLaunch, launchesOf } from './launches.ts';
import { fillWalkOf, type Walk } from './walk.ts';

/** `memset`: `count` elements of `size` bytes. The two-dimensional memsets of the driver are slower than the kernel. */
export type FillPlan =
  | {
      readonly how: 'memset';
      readonly target: number;
      readonly size: 1 | 2 | 4;
      readonly value: number;
      readonly count: number;
    }
  | { readonly how: 'kernel'; readonly launches: readonly CopyLaunch[]; readonly pattern: Uint8Array }
  /** A copy from the pattern in device memory, which stands still. */
  | { readonly how: 'copy'; readonly walk: Walk; readonly pattern: Uint8Array };

/** Plans a fill whose first element is at address `target`; undefined when there are no elements. */
export function planFill(fill: StridedFill<StridedSide>, target: number): FillPlan | undefined {
  const { pattern } = fill;
  const walk = fillWalkOf(fill);
  if (walk === undefined) return undefined;
  const period = periodOf(pattern);
  // The run of elements that touch each other: within it only the period of the pattern matters.
  const inner = walk.axes.at(-1);
  const touching = !walk.ordered && inner?.t === walk.item;
  const run: Walk = touching ? { ...walk, axes: walk.axes.slice(0, -1), item: walk.item * inner.n } : walk;
  const set = memset(run, period, target);
  if (set !== undefined) return set;
  const launches = launchesOf(run, target, undefined);
  const unit = launches[0]?.unit ?? 1;
  // A unit no smaller than the period holds whole ones; a smaller one would need another value from unit to unit.
  if (unit >= period.length) return { how: 'kernel', launches, pattern: repeated(period, unit) };
  return { how: 'copy', walk, pattern };
}

function memset(run: Walk, period: Uint8Array, target: number): FillPlan | undefined {
  const size = period.length;
  if (run.axes.length > 0 || !(size === 1 || size === 2 || size === 4)) return undefined;
  const at = target + run.t;
  if (at % size !== 0) return undefined;
  const value = period.reduce((sum, byte, k) => sum + byte * 2 ** (8 * k), 0);
  return { how: 'memset', target: at, size, value, count: run.item / size };
}

/** The shortest pattern that gives the same bytes when it is repeated. */
function periodOf(pattern: Uint8Array): Uint8Array {
  for (let length = 1; length < pattern.length; length *= 2) {
    if (pattern.every((byte, k) => byte === pattern[k % length])) return pattern.subarray(0, length);
  }
  return pattern;
}

function repeated(period: Uint8Array, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, k) => period[k % period.length] as number);
}
