/**
 * What a compiled kernel takes of its device: registers and memory, how many of its blocks fit on a multiprocessor, which block size fills it.
 *
 * All of it is said of the specialisation that was last used. CUDA driver API, section "Occupancy".
 */
import type { ExecutableAttributes } from '../driver/driver.ts';
import { type Dim, toCount } from './dims.ts';
import { notCompiled } from './inspect.ts';
import { checkLaunch } from './launch-shape.ts';
import type { Specialisation } from './specialisation.ts';
import type { KernelState } from './state.ts';

/** Registers, memory and block size. */
export function attributesOf(state: KernelState): ExecutableAttributes {
  return lastOf(state).executable.attributes;
}

/** `kernel.maxActiveBlocks(block, sharedBytes)`. */
export function activeBlocksOf(state: KernelState, block: Dim, sharedBytes?: number): number {
  const one = lastOf(state);
  const shape = checkLaunch({ grid: 1, block, sharedBytes }, one.context, {
    launchBounds: state.options.launchBounds,
    cluster: undefined,
  });
  return shape === undefined ? 0 : one.executable.activeBlocks(shape.blockSize, shape.sharedBytes);
}

/** `kernel.suggestBlock(sharedBytes)`. */
export function suggestedBlockOf(state: KernelState, sharedBytes = 0): number {
  const { executable } = lastOf(state);
  return executable.suggestBlock(toCount('sharedBytes', sharedBytes, 0), executable.attributes.maxThreadsPerBlock);
}

function lastOf({ last, name }: KernelState): Specialisation {
  if (last === undefined) throw notCompiled(name);
  return last;
}
