/**
 * What kernels of `roc` are written with: OpenCL's work-item functions, barriers and fences with a scope, shared arrays, atomics, and the
 * exchange between the lanes of a wavefront.
 *
 * A work item is a thread, a work-group a block, an NDRange a grid: kernels may use the words of `cuda` beside these. Opaque values that
 * the compiler knows by identity; on the host they throw.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import { type AtomicOperations, atomicOperations } from '../cuda/atomic.ts';
import type { DTypeLike, ValueOf } from '../dtype/types.ts';
import type { Cube, Mat, Vec } from '../kernel/types.ts';

/** A work-item function: `dim` is 0 (neighbouring work items, and the last axis of an array), 1 or 2. */
export type WorkItem = (dim: number) => number;

/**
 * The work item's position in the whole NDRange; 0 for dimensions that do not exist. OpenCL's `get_global_id`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.getGlobalId(0); }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 0, 1, 2, 3 ]
 */
export const getGlobalId: WorkItem = intrinsic<WorkItem>('roc.getGlobalId');
/**
 * The work item's position in its work-group; 0 for dimensions that do not exist. OpenCL's `get_local_id`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.getLocalId(0); }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 0, 1, 0, 1 ]
 */
export const getLocalId: WorkItem = intrinsic<WorkItem>('roc.getLocalId');
/**
 * The work-group's position among all; 0 for dimensions that do not exist. OpenCL's `get_group_id`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.getGroupId(0); }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 0, 0, 1, 1 ]
 */
export const getGroupId: WorkItem = intrinsic<WorkItem>('roc.getGroupId');
/**
 * Number of work-groups; 1 for dimensions that do not exist. OpenCL's `get_num_groups`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.getNumGroups(0); }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 2, 2, 2, 2 ]
 */
export const getNumGroups: WorkItem = intrinsic<WorkItem>('roc.getNumGroups');
/**
 * Number of work items of the whole NDRange; 1 for dimensions that do not exist. OpenCL's `get_global_size`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.getGlobalSize(0); }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 4, 4, 4, 4 ]
 */
export const getGlobalSize: WorkItem = intrinsic<WorkItem>('roc.getGlobalSize');
/**
 * Work items of a work-group; 1 for dimensions that do not exist. OpenCL's `get_local_size`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.getLocalSize(0); }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 2, 2, 2, 2 ]
 */
export const getLocalSize: WorkItem = intrinsic<WorkItem>('roc.getLocalSize');
/**
 * The number of dimensions, up to the last that has more than one work item: a u32. OpenCL's `get_work_dim`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.getWorkDim(); }).launch({ grid: 2, block: 2 }, y);
 * console.log(y); // Int32Array(4) [ 1, 1, 1, 1 ]
 */
export const getWorkDim: () => number = intrinsic<() => number>('roc.getWorkDim');

/**
 * For `barrier` and `memFence`: orders accesses to shared memory. Numba's number; OpenCL's own is another.
 * @example
 * const y = Int32Array.of(1, 2, 3, 4);
 * const reverse = roc.jit((y: Vec<i32>) => {
 *   const [s, t] = [roc.shared.array(4, i32), roc.getLocalId(0)];
 *   s[t] = y[t]!;
 *   roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
 *   y[t] = s[3 - t]!;
 * });
 * reverse.launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
 */
export const CLK_LOCAL_MEM_FENCE: 0 = 0;
/**
 * For `barrier` and `memFence`: orders accesses to global memory. Numba's number; OpenCL's own is another.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getLocalId(0)] = 1; roc.barrier(roc.CLK_GLOBAL_MEM_FENCE); y[roc.getLocalId(0)]! += 1; }).launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 2, 2, 2, 2 ]
 */
export const CLK_GLOBAL_MEM_FENCE: 1 = 1;

/** What `barrier` and `memFence` take: `CLK_LOCAL_MEM_FENCE` or `CLK_GLOBAL_MEM_FENCE`. */
export type FenceScope = typeof CLK_LOCAL_MEM_FENCE | typeof CLK_GLOBAL_MEM_FENCE;

/**
 * Waits for all work items of the group, whatever the scope; what they wrote before, to the memory that the scope names (global without
 * one), is then visible. All that have not returned must reach it: a kernel in which only some would does not compile (K401).
 * Numba's `roc.barrier(scope)`, OpenCL's `barrier`.
 * @example
 * const y = Int32Array.of(1, 2, 3, 4);
 * const reverse = roc.jit((y: Vec<i32>) => {
 *   const [s, t] = [roc.shared.array(4, i32), roc.getLocalId(0)];
 *   s[t] = y[t]!;
 *   roc.barrier();
 *   y[t] = s[3 - t]!;
 * });
 * reverse.launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
 */
export const barrier: (scope?: FenceScope) => void = intrinsic<(scope?: FenceScope) => void>('roc.barrier');
/**
 * Orders this work item's own accesses to the memory that the scope names; does not wait. Numba's `roc.mem_fence(scope)`.
 * @example
 * const y = new Int32Array(2);
 * roc.jit((y: Vec<i32>) => { y[0] = 7; roc.memFence(roc.CLK_GLOBAL_MEM_FENCE); roc.atomic.add(y, 1, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Int32Array(2) [ 7, 1 ]
 */
export const memFence: (scope: FenceScope) => void = intrinsic<(scope: FenceScope) => void>('roc.memFence');
/**
 * Waits for the work items of the wavefront. Made as a barrier of the work-group, on every device, and must be reached as one: a kernel
 * in which only some wavefronts would does not compile (K401). Numba's `roc.wavebarrier()`.
 * @example
 * const y = Int32Array.of(1, 2, 3, 4);
 * const reverse = roc.jit((y: Vec<i32>) => {
 *   const [s, t] = [roc.shared.array(4, i32), roc.getLocalId(0)];
 *   s[t] = y[t]!;
 *   roc.waveBarrier();
 *   y[t] = s[3 - t]!;
 * });
 * reverse.launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
 */
export const waveBarrier: () => void = intrinsic<() => void>('roc.waveBarrier');

/** Makes an array of a shape that is known when the kernel is compiled. Its elements are not initialised. */
export interface SharedMaker {
  <const D extends DTypeLike>(shape: number | readonly [number], dtype: D): Vec<ValueOf<D>>;
  <const D extends DTypeLike>(shape: readonly [number, number], dtype: D): Mat<ValueOf<D>>;
  <const D extends DTypeLike>(shape: readonly [number, number, number], dtype: D): Cube<ValueOf<D>>;
}

/**
 * Shared memory (OpenCL's local memory): one array for all work items of a group. Lengths are positive. Numba's `roc.shared`.
 * @example
 * const y = Int32Array.of(1, 2, 3, 4);
 * const reverse = roc.jit((y: Vec<i32>) => {
 *   const [s, t] = [roc.shared.array(4, i32), roc.getLocalId(0)];
 *   s[t] = y[t]!;
 *   roc.barrier();
 *   y[t] = s[3 - t]!;
 * });
 * reverse.launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
 */
export const shared: {
  /**
   * An array in shared memory: `roc.shared.array([16, 16], f32)`. Lengths are constants.
   * @example
   * const y = Int32Array.of(1, 2, 3, 4);
   * const reverse = roc.jit((y: Vec<i32>) => {
   *   const [s, t] = [roc.shared.array(4, i32), roc.getLocalId(0)];
   *   s[t] = y[t]!;
   *   roc.barrier();
   *   y[t] = s[3 - t]!;
   * });
   * reverse.launch({ grid: 1, block: 4 }, y);
   * console.log(y); // Int32Array(4) [ 4, 3, 2, 1 ]
   */
  readonly array: SharedMaker;
} = Object.freeze({
  array: intrinsic<SharedMaker>('roc.shared.array'),
});

/**
 * Atomic updates of elements, each giving the old value: those of `cuda.atomic`. Numba's `roc.atomic` has `add` alone, for integers.
 * @example
 * const y = new Int32Array(1);
 * roc.jit((y: Vec<i32>) => { roc.atomic.add(y, 0, 2); }).launch({ grid: 1, block: 4 }, y);
 * console.log(y[0]); // 8
 */
export const atomic: AtomicOperations = atomicOperations('roc.atomic');

/** Exchanges values of i32, u32, i64, u64, f32 or f64 between the 64 lanes of a wavefront. */
export interface Permute {
  (lane: number, value: number): number;
  (lane: number, value: bigint): bigint;
}

/**
 * Gives `value` to lane `lane % 64` of the wavefront (push). Gives what another lane gave to this one, that of the highest when
 * several did, 0 when none did. All work items of the group that have not returned must reach the same call. Numba's
 * `roc.ds_permute`, AMD's `ds_permute_b32`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.dsPermute(roc.getLocalId(0) + 1, 10 + roc.getLocalId(0)); }).launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 0, 10, 11, 12 ]
 */
export const dsPermute: Permute = intrinsic<Permute>('roc.dsPermute');
/**
 * The `value` of lane `lane % 64` of the wavefront (pull); 0 where that lane takes no part. All work items of the group that have not
 * returned must reach the same call. Numba's `roc.ds_bpermute`, AMD's `ds_bpermute_b32`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.dsBpermute(roc.getLocalId(0) + 1, 10 + roc.getLocalId(0)); }).launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 11, 12, 13, 0 ]
 */
export const dsBpermute: Permute = intrinsic<Permute>('roc.dsBpermute');

/** `activeLanePermuteWaveWidth(value, lane, identity, useIdentity)`. */
export interface ActiveLanePermute {
  (value: number, lane: number, identity: number, useIdentity: boolean): number;
  (value: bigint, lane: number, identity: bigint, useIdentity: boolean): bigint;
}

/**
 * The `value` of lane `lane % 64` of the wavefront, but `identity` where that lane takes no part or `useIdentity` holds here. All work
 * items of the group that have not returned must reach the same call. Numba's `roc.activelanepermute_wavewidth`.
 * @example
 * const y = new Int32Array(4);
 * roc.jit((y: Vec<i32>) => { y[roc.getGlobalId(0)] = roc.activeLanePermuteWaveWidth(roc.getLocalId(0), 3 - roc.getLocalId(0), 0, false); }).launch({ grid: 1, block: 4 }, y);
 * console.log(y); // Int32Array(4) [ 3, 2, 1, 0 ]
 */
export const activeLanePermuteWaveWidth: ActiveLanePermute = intrinsic<ActiveLanePermute>(
  'roc.activeLanePermuteWaveWidth',
);
