/**
 * Kernels whose blocks wait for each other, on devices that run one block after another.
 */
import type { Kernel } from '../compiler/ir/ops.ts';
import { someStmt } from '../compiler/ir/passes/walk.ts';
import { NotSupportedError } from '../errors.ts';

/** Whether a kernel has a barrier of the whole grid. */
export function waitsForGrid(kernel: Kernel): boolean {
  return someStmt(kernel.body, (s) => s.op === 'barrier' && s.kind === 'grid');
}

/** Where blocks run one after another, only a grid of one block can wait for itself. */
export function refuseSeveralBlocks(kernel: Kernel, blocks: number, device: string): void {
  if (blocks <= 1) return;
  throw new NotSupportedError(
    'E_COOPERATIVE',
    `kernel ${kernel.name} waits for all blocks of its grid (cg.thisGrid().sync()), but ${device} runs ${blocks} blocks one after another: ` +
      'launch one block, or split the kernel in two at the barrier',
  );
}
