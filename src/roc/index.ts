/**
 * The entry point `tsamba/roc`: the members of `roc` as named exports, `roc` itself, and the types of what they take and give.
 */
/// <reference lib="esnext.disposable" preserve="true" />
export type { PinnedArrayOptions } from '../array/host-create.ts';
export type { Pinning } from '../array/pinning.ts';
export type { DeviceLimits, ExecutableAttributes } from '../driver/driver.ts';
export type { Dim } from '../kernel/dims.ts';
export type {
  Argument,
  Arguments,
  Configured,
  ForAllOptions,
  InspectTarget,
  Kernel,
  KernelStats,
} from '../kernel/kernel-types.ts';
export type { GridLaunch, LaunchOptions, ThreadsLaunch } from '../kernel/launch-shape.ts';
export type { JitOptions } from '../kernel/options.ts';
export type { Axes, Cube, Mat, SliceIndex, Vec, View, ViewOf } from '../kernel/types.ts';
export type { Context } from '../memory/context.ts';
export type { Leavable } from '../memory/context-manager.ts';
export type { MemoryStats } from '../memory/stats.ts';
export type { AutoSynchronize, StreamCallback } from '../stream/stream.ts';
export type { GUFunc, GUVectorizeOptions, UFunc, VectorizeOptions } from '../ufunc/types.ts';
export type { RocArrayOptions, RocToDeviceOptions } from './arrays.ts';
export type { Agent, RocKind } from './devices.ts';
export * from './members.ts';
export { hsa, type Roc, roc } from './namespace.ts';
export type { ActiveLanePermute, FenceScope, Permute, SharedMaker, WorkItem } from './vocabulary.ts';
