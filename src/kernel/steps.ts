/**
 * Work of the library's own kernels: launches that follow one another on a stream, with the arrays that only they need.
 */
import { NotSupportedError } from '../errors.ts';
import { cannotWait } from '../memory/blocking.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { whenLoaded } from '../on-demand.ts';
import type { LaunchOptions } from './launch-shape.ts';

/** What is launched: a kernel, or what stands for one. */
export interface Launchable {
  readonly name: string;
  launch(shape: LaunchOptions, ...args: readonly unknown[]): void;
  compileAsync(...args: readonly unknown[]): Promise<void>;
}

/** One launch. */
export interface Step {
  readonly kernel: Launchable;
  readonly shape: LaunchOptions;
  readonly args: readonly unknown[];
}

/** Launches in their order, and what is disposed once they are enqueued: memory goes back when the work on it is done. */
export interface Steps {
  readonly steps: readonly Step[];
  readonly temporaries: readonly { dispose(): void }[];
}

/** Enqueues the launches; does not wait. */
export function launchSteps({ steps, temporaries }: Steps): void {
  try {
    for (const { kernel, shape, args } of steps) kernel.launch(shape, ...args);
  } catch (error) {
    throw error instanceof NotSupportedError && error.code === 'E_NO_WAIT' ? noWait(steps) : error;
  } finally {
    disposeUnseen(temporaries);
  }
}

/** A device that compiles through promises alone. */
function noWait([first]: Steps['steps']): NotSupportedError {
  const name = first?.kernel.name ?? 'f';
  return cannotWait(
    `${name} is not compiled for these arguments yet, and the device compiles through promises alone`,
    `await ${name}.async(…)`,
  );
}

/** As `launchSteps`, on devices that compile through promises alone. */
export async function launchStepsLater(work: Steps): Promise<void> {
  try {
    for (const { kernel, args } of work.steps) await kernel.compileAsync(...args);
    // A page may lack what makes code for this shape of blocks: then the launch enqueues nothing, and goes on once that is loaded.
    const left = [...work.steps];
    await whenLoaded(() => {
      for (let step = left[0]; step !== undefined; step = left[0]) {
        step.kernel.launch(step.shape, ...step.args);
        left.shift();
      }
    });
  } finally {
    disposeUnseen(work.temporaries);
  }
}
