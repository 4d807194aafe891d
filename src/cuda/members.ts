/**
 * Everything that `cuda` has, as named exports: memory, streams, kernels, and the vocabulary of kernels.
 *
 * `namespace.ts` makes the object of it, `index.ts` the entry point `tsamba/cuda`. Names are Numba's in camelCase.
 */
export { isCudaArray } from '../array/cuda-interface.ts';
export { DeviceNDArray } from '../array/device-array.ts';
export { DeviceRecord } from '../array/device-record.ts';
export { toDlpack } from '../array/dlpack.ts';
export { ManagedNDArray, MappedNDArray, PinnedNDArray } from '../array/host-array.ts';
export { SmartArray } from '../array/smart-array.ts';
export * from '../compiler/intrinsics/integers.ts';
export { cache } from '../kernel/cache.ts';
export { declareDevice } from '../kernel/external.ts';
export { In, InOut, Out } from '../kernel/hints.ts';
export { scalar } from '../kernel/scalar.ts';
export { detect, gpus, isAvailable } from '../memory/gpus.ts';
export { trackLeaks } from '../memory/leaks.ts';
export { Event } from '../stream/event.ts';
export { nvtx } from '../stream/nvtx.ts';
export { Stream } from '../stream/stream.ts';
export { atomic } from './atomic.ts';
export * from './bessel.ts';
export * from './bits.ts';
export * from './caches.ts';
export { block, warp } from './collectives/index.ts';
export { fast } from './fast.ts';
export { blockDim, blockIdx, grid, gridDim, gridSize, laneId, threadIdx, warpSize } from './geometry.ts';
export { bf16, fp16 } from './half.ts';
export {
  asCudaArray,
  close,
  closeAsync,
  currentContext,
  currentDevice,
  defaultStream,
  deferCleanup,
  deviceArray,
  deviceArrayLike,
  event,
  externalStream,
  fromDlpack,
  fromGpuBuffer,
  gpuDevice,
  jit,
  legacyDefaultStream,
  managedArray,
  mapped,
  mappedArray,
  mappedArrayLike,
  memoryStats,
  open,
  openIpcArray,
  perThreadDefaultStream,
  pinned,
  pinnedArray,
  pinnedArrayLike,
  present,
  profile,
  profileStart,
  profileStop,
  profiling,
  selectDevice,
  stream,
  synchronize,
  synchronizeAsync,
  toDevice,
} from './host.ts';
export { dot, einsum, fuse, graph, guvectorize, matmul, Reduce, reduce, vectorize } from './library.ts';
export * from './math.ts';
export { random } from './random.ts';
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
export { vload, vstore } from './vector.ts';
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
