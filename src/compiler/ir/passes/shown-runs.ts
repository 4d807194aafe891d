/**
 * What passes did, in words.
 */
import { showTime } from '../../../show-time.ts';
import type { Kernel } from '../ops.ts';
import { printKernel } from '../print.ts';

/** What one pass did. */
export interface PassRun {
  readonly name: string;
  readonly before: Kernel;
  readonly after: Kernel;
  readonly milliseconds: number;
}

/** Many passes make a new tree in any case. */
export function isChanged({ before, after }: PassRun): boolean {
  return after !== before && printKernel(after) !== printKernel(before);
}

/** Name and time. */
export function summary(run: PassRun): string {
  return `${run.name}${isChanged(run) ? '' : ', no change'}: ${showTime(run.milliseconds)}`;
}
