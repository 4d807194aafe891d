/**
 * Everything that `cuda` has, as named exports: memory, streams, kernels, and the vocabulary of kernels.
 *
 * `namespace.ts` makes the object of it, `index.ts` the entry point `tsamba/cuda`. Names are Numba's in camelCase.
 */
export { isCudaArray } from '../array/cuda-interface.ts';
export { DeviceNDArray } from '../array/device-array.ts';
export { asCudaArray, deviceArray, deviceArrayLike, toDevice } from '../array/device-create.ts';
export { DeviceRecord } from '../array/device-record.ts';
export { fromDlpack, toDlpack } from '../array/dlpack.ts';
export { ManagedNDArray, MappedNDArray, PinnedNDArray } from '../array/host-array.ts';
export { managedArray, mappedArray, mappedArrayLike, pinnedArray, pinnedArrayLike } from '../array/host-create.ts';
export { openIpcArray } from '../array/ipc.ts';
export { mapped, pinned } from '../array/pinning.ts';
export { SmartArray } from '../array/smart-array.ts';
export * from '../compiler/intrinsics/integers.ts';
export { In, InOut, Out } from '../kernel/hints.ts';
export { jit } from '../kernel/jit.ts';
export { scalar } from '../kernel/scalar.ts';
export { deferCleanup } from '../memory/defer-cleanup.ts';
export {
  close,
  currentContext,
  currentDevice,
  isAvailable,
  selectDevice,
} from '../memory/devices.ts';
export { detect, gpus } from '../memory/gpus.ts';
export { trackLeaks } from '../memory/leaks.ts';
export { memoryStats } from '../memory/memory-stats.ts';
export { synchronize } from '../memory/synchronize.ts';
export { createEvent as event, Event } from '../stream/event.ts';
export {
  createStream as stream,
  defaultStream,
  externalStream,
  legacyDefaultStream,
  perThreadDefaultStream,
  Stream,
} from '../stream/stream.ts';
export { synchronizeAsync } from '../stream/synchronize.ts';
export { atomic } from './atomic.ts';
export { blockDim, blockIdx, grid, gridDim, gridSize, laneId, threadIdx, warpSize } from './geometry.ts';
export {
  cbrt,
  copysign,
  erf,
  erfc,
  exp2,
  fma,
  fmax,
  fmin,
  lgamma,
  rint,
  rsqrt,
  selp,
  tgamma,
} from './math.ts';
export { constant, local, shared } from './spaces.ts';
export {
  cg,
  nanosleep,
  syncThreads,
  syncThreadsAnd,
  syncThreadsCount,
  syncThreadsOr,
  syncWarp,
  threadFence,
  threadFenceBlock,
  threadFenceSystem,
  uniform,
} from './sync.ts';
export {
  activeMask,
  allSync,
  anySync,
  ballotSync,
  eqSync,
  laneMaskLt,
  matchAllSync,
  matchAnySync,
  shflDownSync,
  shflSync,
  shflUpSync,
  shflXorSync,
} from './warp.ts';
