/**
 * Exchange between the threads of a warp: shuffles, votes and matches. `mask` names the lanes that take part, one bit per lane.
 *
 * All lanes that `mask` names and that are still running must reach the same call. A lane that takes no part gives nothing: asked for its
 * value, another gets its own. The CPU device exchanges through shared memory and barriers of the block.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

/** Gives each lane the `value` of another. i32, u32, i64, u64, f32, f64, complex numbers, vectors, and structs of these. */
export interface Shuffle {
  (mask: number, value: number, lane: number): number;
  <T extends object>(mask: number, value: T, lane: number): T;
  (mask: number, value: bigint, lane: number): bigint;
}

type Vote = (mask: number, predicate: boolean | number) => boolean;

/**
 * The value of lane `lane % warpSize`. Numba's `cuda.shfl_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.shflSync(0xffffffff, cuda.laneId, 5); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 5
 */
export const shflSync: Shuffle = intrinsic<Shuffle>('shflSync');
/**
 * The value of the lane `delta` below; the own value where there is none. Numba's `cuda.shfl_up_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.shflUpSync(0xffffffff, cuda.laneId, 1); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[0], y[1], y[2]); // 0 0 1
 */
export const shflUpSync: Shuffle = intrinsic<Shuffle>('shflUpSync');
/**
 * The value of the lane `delta` above; the own value where there is none. Numba's `cuda.shfl_down_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.shflDownSync(0xffffffff, cuda.laneId, 1); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[0], y[1], y[31]); // 1 2 31
 */
export const shflDownSync: Shuffle = intrinsic<Shuffle>('shflDownSync');
/**
 * The value of lane `laneId ^ mask`. Numba's `cuda.shfl_xor_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.shflXorSync(0xffffffff, cuda.laneId, 1); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[0], y[1]); // 1 0
 */
export const shflXorSync: Shuffle = intrinsic<Shuffle>('shflXorSync');

/**
 * Whether `predicate` holds in all lanes. Numba's `cuda.all_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.allSync(0xffffffff, cuda.laneId < 3) ? 1 : 0; }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 0
 */
export const allSync: Vote = intrinsic<Vote>('allSync');
/**
 * Whether `predicate` holds in any lane. Numba's `cuda.any_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.anySync(0xffffffff, cuda.laneId < 3) ? 1 : 0; }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 1
 */
export const anySync: Vote = intrinsic<Vote>('anySync');
/**
 * Whether `predicate` is the same in all lanes. Numba's `cuda.eq_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.eqSync(0xffffffff, cuda.laneId < 32) ? 1 : 0; }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 1
 */
export const eqSync: Vote = intrinsic<Vote>('eqSync');
/**
 * The lanes in which `predicate` holds, one bit per lane. Numba's `cuda.ballot_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.ballotSync(0xffffffff, cuda.laneId < 3); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 7
 */
export const ballotSync: (mask: number, predicate: boolean | number) => number =
  intrinsic<(mask: number, predicate: boolean | number) => number>('ballotSync');
/**
 * The lanes that have the same `value` (bits) as this one. Numba's `cuda.match_any_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.popc(cuda.matchAnySync(0xffffffff, cuda.laneId % 4)); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 8
 */
export const matchAnySync: (mask: number, value: number | bigint) => number =
  intrinsic<(mask: number, value: number | bigint) => number>('matchAnySync');
/**
 * `[mask, true]` when all lanes have the same `value`, else `[0, false]`. Numba's `cuda.match_all_sync`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { const [, same] = cuda.matchAllSync(0xffffffff, 7); y[cuda.laneId] = same ? 1 : 0; }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 1
 */
export const matchAllSync: (mask: number, value: number | bigint) => readonly [number, boolean] =
  intrinsic<(mask: number, value: number | bigint) => readonly [number, boolean]>('matchAllSync');

/**
 * The lanes that are running. Numba's `cuda.activemask`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.popc(cuda.activeMask()); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[1]); // 32
 */
export const activeMask: () => number = intrinsic<() => number>('activeMask');
/**
 * The lanes below this one. Numba's `cuda.lanemask_lt`.
 * @example
 * const y = new Int32Array(32);
 * cuda.jit((y: Vec<i32>) => { y[cuda.laneId] = cuda.popc(cuda.laneMaskLt()); }).launch({ grid: 1, block: 32 }, y);
 * console.log(y[0], y[31]); // 0 31
 */
export const laneMaskLt: () => number = intrinsic<() => number>('laneMaskLt');
