/**
 * What the threads of a block, or the lanes of a warp, compute together: reductions, scans and sorts, by any operator. Device functions in Tsamba's own language.
 */
import { exchange, histogram, load, store } from './moves.ts';
import { scanBlock, scansOf, scanWarp, scanWave } from './scans.ts';
import { sortsOf } from './sorts.ts';
import type { BlockCollectives, Collectives } from './types.ts';
import { BLOCK, WARP, WAVE } from './words.ts';

export type {
  Arrangement,
  BlockCollectives,
  BlockExchange,
  BlockHistogram,
  BlockLoad,
  BlockStore,
  CollectiveReduce,
  CollectiveScan,
  CollectiveSort,
  CollectiveSortByKey,
  Collectives,
  ExchangeOptions,
  ExclusiveScan,
  LoadOptions,
  MoveArrangement,
  SortOrder,
  ThreadItems,
} from './types.ts';

/**
 * What the threads of a block compute together, whatever its shape; threads are counted x first. The shared memory is found by the compiler: where it depends on the number of
 * threads, for as many as `launchBounds` allows, else as the device does. All threads of the block must reach the call, as with a barrier. CUB: `BlockReduce`, `BlockScan`,
 * `BlockRadixSort`, `BlockHistogram`, `BlockLoad`, `BlockStore`, `BlockExchange`.
 * @example
 * const y = new Int32Array(64);
 * cuda.jit((y: Vec<i32>) => { y[cuda.grid(1)] = cuda.block.reduce(1, (a, b) => a + b); }).launch({ grid: 1, block: 64 }, y);
 * console.log(y[5]); // 64
 */
export const block: BlockCollectives = /* @__PURE__ */ Object.freeze({
  ...scansOf(scanBlock),
  ...sortsOf(BLOCK),
  ...{ load, store, exchange, histogram },
}) as unknown as BlockCollectives;

/**
 * What the 32 lanes of a warp compute together: by shuffles, and sorts in shared memory. All lanes of the warp that run must reach the call. CUB: `WarpReduce`,
 * `WarpScan`, `WarpMergeSort`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.warp.inclusiveScan(1, (a, b) => a + b); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[0], y[31]); // 1 32
 */
export const warp: Collectives = /* @__PURE__ */ Object.freeze({
  ...scansOf(scanWarp),
  ...sortsOf(WARP),
}) as unknown as Collectives;

/** What the 64 lanes of a wavefront compute together, with barriers of their block: `roc.wave`. */
export const wave: Collectives = /* @__PURE__ */ Object.freeze({
  ...scansOf(scanWave),
  ...sortsOf(WAVE),
}) as unknown as Collectives;
