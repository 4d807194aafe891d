/**
 * The OpenCL C renderer: a kernel to the text of a program with one kernel, as module.ts says.
 */
import type { Kernel } from '../../ir/ops.ts';
import type { OpenCLModule, OpenCLOptions, OpenCLTarget } from './module.ts';

/** Renders a verified kernel whose approximated functions have been expanded. */
export function renderOpenCL(kernel: Kernel, target: OpenCLTarget, options: OpenCLOptions): OpenCLModule {
  throw new Error(`internal error: ${kernel.name} cannot be rendered for ${target.dialect} as ${options.name} yet`);
}
