/**
 * Pipelines: a device's passes as a list of names, run in order; who wants to see or to check each result observes them.
 *
 * `TSAMBA_DEBUG=passes` prints what each pass did and how long it took, `inspect({ target: 'passes' })` shows the IR after each one that
 * changed it, and the tests run the verifier after every pass.
 */
import { tracing } from '../../../trace.ts';
import type { Kernel } from '../ops.ts';
import { checkRun, tracePass } from './checked-runs.ts';
import type { PassRun } from './shown-runs.ts';

export type { PassRun };

/** A step from kernel to kernel. One that finds nothing to do gives back the kernel that it was given. */
export interface Pass {
  readonly name: string;
  readonly run: (kernel: Kernel) => Kernel;
  /** What runs behind it where it has changed something. */
  readonly cleanup?: Pass | undefined;
}

export type PassObserver = (run: PassRun) => void;

const observers = new Set<PassObserver>();

/** Runs the passes in order. */
export function runPasses(passes: readonly Pass[], kernel: Kernel): Kernel {
  let current = kernel;
  for (const pass of passes) {
    const before = current;
    current = runPass(pass, before);
    if (current !== before && pass.cleanup !== undefined) current = runPass(pass.cleanup, current);
  }
  return current;
}

/** Runs one pass, observed if somebody observes. */
export function runPass({ name, run }: Pass, kernel: Kernel): Kernel {
  return runAnalysing(name, kernel, (before) => ({ kernel: run(before) })).kernel;
}

/** Runs a pass that gives more than the kernel: what it has found out about it. */
export function runAnalysing<R extends { readonly kernel: Kernel }>(
  name: string,
  before: Kernel,
  run: (kernel: Kernel) => R,
): R {
  if (observers.size === 0 && !tracing('passes')) return run(before);
  const start = performance.now();
  const result = run(before);
  const done = { name, before, after: result.kernel, milliseconds: performance.now() - start };
  for (const observe of observers) observe(done);
  tracePass(done);
  return result;
}

/** Observes all passes that run in `body`. */
export function observingPasses<R>(observer: PassObserver, body: () => R): R {
  observers.add(observer);
  try {
    return body();
  } finally {
    observers.delete(observer);
  }
}

/** From now on the verifier runs after each pass that changed something. For tests. */
export function verifyPasses(): void {
  observers.add(checkRun);
}
