/**
 * The entry point `tsamba/cuda`: the members of `cuda` as named exports, `cuda` itself, and the types of what they take and give.
 */
/// <reference lib="esnext.disposable" preserve="true" />
export type { CudaArrayInterface, CudaArrayLike } from '../array/cuda-interface.ts';
export type { DeviceArrayOptions, ToDeviceOptions } from '../array/device-create.ts';
export type { DlpackCapsule, DlpackVersion, FromDlpackOptions, ToDlpackOptions } from '../array/dlpack.ts';
export type { ArrayOperand, AxisOptions, EvaluateOptions, Expression } from '../array/expression.ts';
export type {
  ManagedArrayOptions,
  MappedArrayOptions,
  MappedLikeOptions,
  PinnedArrayOptions,
} from '../array/host-create.ts';
export type { OpenIpcOptions } from '../array/ipc.ts';
export type { IpcArrayHandle } from '../array/ipc-handle.ts';
export type { DeviceOf, DevicesOf, Mapping, Pinning } from '../array/pinning.ts';
export type { DeviceKind, DeviceLimits, ExecutableAttributes } from '../driver/driver.ts';
export type { AsyncLaunchOptions } from '../kernel/async-launch.ts';
export type { Cache } from '../kernel/cache.ts';
export type { Dim } from '../kernel/dims.ts';
export type { DeclareOptions, ExternalCall } from '../kernel/external.ts';
export type { Direction, Hinted } from '../kernel/hints.ts';
export type {
  Argument,
  Arguments,
  Configured,
  ForAllOptions,
  InspectTarget,
  Kernel,
  KernelStats,
  SpecialisationStats,
} from '../kernel/kernel-types.ts';
export type { GridLaunch, LaunchOptions, ThreadsLaunch } from '../kernel/launch-shape.ts';
export type { LinkCode, LinkInput } from '../kernel/link.ts';
export type { JitOptions } from '../kernel/options.ts';
export type { ScalarArgument } from '../kernel/scalar.ts';
export type { Axes, Cube, Mat, SliceIndex, Vec, View, ViewOf } from '../kernel/types.ts';
export type { Chosen as ProductChoice, ProductMaker } from '../matmul/library.ts';
export type { Dot, DotOperand, Einsum, Matmul, MatmulOptions, MatrixOperand } from '../matmul/types.ts';
export type { Context } from '../memory/context.ts';
export type { Leavable } from '../memory/context-manager.ts';
export type { Device } from '../memory/device.ts';
export type { DeviceChoice } from '../memory/device-functions.ts';
export type { Leak, LeakTracker } from '../memory/leaks.ts';
export type { MemoryStats } from '../memory/stats.ts';
export type { Trace, TraceEvent } from '../profile/chrome.ts';
export type { CopyDirection, EventKind } from '../profile/observing.ts';
export type { Profile, ProfileOptions } from '../profile/profile.ts';
export type { MemorySample, ProfiledDevice, ProfileEvent, Span } from '../profile/records.ts';
export type { CopySum, Sum, Summary, SummaryOptions, SummaryRow } from '../profile/summary.ts';
export type { ReduceIntoOptions, ReduceOptions, Reducible, Reduction } from '../reduce/reduce.ts';
export type { Nvtx, NvtxRange } from '../stream/nvtx.ts';
export type { AutoSynchronize, StreamCallback } from '../stream/stream.ts';
export type {
  AccumulateOptions,
  CallOptions,
  GUFunc,
  GUVectorizeOptions,
  Operands,
  ReduceAxisOptions,
  UFunc,
  VectorizeOptions,
} from '../ufunc/types.ts';
export * from './members.ts';
export { type Cuda, cuda } from './namespace.ts';
