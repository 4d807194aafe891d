/**
 * What the work items of a group, or of a wavefront, compute together: the functions of `cuda.block` and `cuda.warp`, for kernels of `roc`.
 */
import {
  type BlockCollectives,
  type Collectives,
  block as ofBlock,
  warp as ofWarp,
  wave as ofWave,
} from '../cuda/collectives/index.ts';

/**
 * What the work items of a work-group compute together: `reduce inclusiveScan exclusiveScan sort sortByKey load store exchange histogram`, as of `cuda.block`. All work items of
 * the group must reach the call, as with a barrier.
 * @example
 * const y = new Int32Array(64);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.block.reduce(1, (a, b) => a + b); }).launch({ grid: 1, block: 64 }, y);
 * console.log(y[5]); // 64
 */
export const block: BlockCollectives = ofBlock;

/**
 * What the 64 lanes of a wavefront compute together, on every device, as for `roc.dsPermute`: `reduce inclusiveScan exclusiveScan sort sortByKey`. Wavefronts that are narrower on a
 * device work two by two. Made with barriers: all work items of the group must reach the call.
 * @example
 * const y = new Int32Array(128);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.wave.inclusiveScan(1, (a, b) => a + b); }).launch({ grid: 1, block: 128 }, y);
 * console.log(y[0], y[63], y[64]); // 1 64 1
 */
export const wave: Collectives = ofWave;

/**
 * What 32 neighbouring lanes compute together, half a wavefront: `cuda.warp`, for kernels that are to do the same on all devices. Without barriers of the group where a device
 * has shuffles.
 * @example
 * const y = new Int32Array(64);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.warp.reduce(1, (a, b) => a + b); }).launch({ grid: 1, block: 64 }, y);
 * console.log(y[0], y[40]); // 32 32
 */
export const warp: Collectives = ofWarp;
