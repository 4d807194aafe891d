/**
 * A pipeline as text: the IR that it begins with and what each pass makes of it.
 */
import type { Kernel } from '../ops.ts';
import { printKernel } from '../print.ts';
import { observingPasses } from './pipeline.ts';
import { isChanged, type PassRun, summary } from './shown-runs.ts';

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
