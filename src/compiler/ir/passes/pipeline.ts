/**
 * Pipelines: a device's passes as a list of names, run in order; who wants to see or to check each result observes them.
 *
 * `TSAMBA_DEBUG=passes` prints what each pass did and how long it took, `inspect({ target: 'passes' })` shows the IR after each one that
 * changed it, and the tests run the verifier after every pass.
 */
import { showTime, trace, tracing } from '../../../trace.ts';
import type { Kernel } from '../ops.ts';
import { printKernel } from '../print.ts';
import { verify } from '../verified.ts';

/** A step from kernel to kernel. One that finds nothing to do gives back the kernel that it was given. */
export interface Pass {
  readonly name: string;
  readonly run: (kernel: Kernel) => Kernel;
  /** What runs behind it where it has changed something. */
  readonly cleanup?: Pass | undefined;
}

/** What one pass did. */
export interface PassRun {
  readonly name: string;
  readonly before: Kernel;
  readonly after: Kernel;
  readonly milliseconds: number;
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

/** The IR that a pipeline begins with and what each of its passes makes of it, as text. */
export function describePasses(kernel: Kernel, pipeline: (kernel: Kernel) => unknown): string {
  const runs: PassRun[] = [];
  // A kernel of its own: pipelines remember what they have prepared.
  observingPasses(
    (run) => runs.push(run),
    () => pipeline({ ...kernel }),
  );
  return [
    `// as the front end made it\n${printKernel(kernel).trimEnd()}`,
    ...runs.map((run) =>
      isChanged(run) ? `// ${summary(run)}\n${printKernel(run.after).trimEnd()}` : `// ${summary(run)}`,
    ),
  ].join('\n\n');
}

/** Blames a pass for what it has broken, not for what it was given: tests make kernels by hand. */
function checkRun({ name, before, after }: PassRun): void {
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

function tracePass(run: PassRun): void {
  if (!tracing('passes')) return;
  checkRun(run);
  trace('passes', () => `${run.before.name}: ${summary(run)}`);
  if (isChanged(run)) trace('ir', () => `after ${run.name}\n${printKernel(run.after)}`);
}

/** Many passes make a new tree in any case. */
function isChanged({ before, after }: PassRun): boolean {
  return after !== before && printKernel(after) !== printKernel(before);
}

function summary(run: PassRun): string {
  return `${run.name}${isChanged(run) ? '' : ', no change'}: ${showTime(run.milliseconds)}`;
}
