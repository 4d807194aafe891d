/**
 * Checks what passes have made, and prints it as `TSAMBA_DEBUG` asks.
 */
import { trace, tracing } from '../../../trace.ts';
import type { Kernel } from '../ops.ts';
import { printKernel } from '../print.ts';
import { verify } from '../verified.ts';
import { isChanged, type PassRun, summary } from './shown-runs.ts';

/** Blames a pass for what it has broken, not for what it was given: tests make kernels by hand. */
export function checkRun({ name, before, after }: PassRun): void {
  const cause = after === before ? undefined : malformation(after);
  if (cause === undefined || malformation(before) !== undefined) return;
  throw new Error(`the pass '${name}' made IR that is malformed`, { cause });
}

function malformation(kernel: Kernel): unknown {
  try {
    verify(kernel);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Prints what a pass did. */
export function tracePass(run: PassRun): void {
  if (!tracing('passes')) return;
  checkRun(run);
  trace('passes', () => `${run.before.name}: ${summary(run)}`);
  if (isChanged(run)) trace('ir', () => `after ${run.name}\n${printKernel(run.after)}`);
}
