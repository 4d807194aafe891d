/**
 * Everything that `roc` has, as named exports: memory, streams, kernels, and the vocabulary of kernels.
 *
 * `namespace.ts` makes the object of it, `index.ts` the entry point `tsamba/roc`. Names are Numba's in camelCase.
 */
export { cache } from '../kernel/cache.ts';
export { declareDevice } from '../kernel/external.ts';
export { In, InOut, Out } from '../kernel/hints.ts';
export { Stream } from '../stream/stream.ts';
export { agents } from './agents.ts';
export { DeviceNDArray, DeviceRecord, deviceArray, deviceArrayLike, toDevice } from './arrays.ts';
export { block, warp, wave } from './collectives.ts';
export { isAvailable } from './devices.ts';
export {
  close,
  closeAsync,
  coarsegrainArray,
  currentContext,
  currentDevice,
  finegrainArray,
  jit,
  memoryStats,
  open,
  profile,
  selectDevice,
  stream,
  synchronize,
  synchronizeAsync,
} from './host.ts';
export { dot, einsum, fuse, graph, guvectorize, matmul, vectorize } from './library.ts';
export { deregister, register } from './registration.ts';
export {
  activeLanePermuteWaveWidth,
  atomic,
  barrier,
  CLK_GLOBAL_MEM_FENCE,
  CLK_LOCAL_MEM_FENCE,
  dsBpermute,
  dsPermute,
  getGlobalId,
  getGlobalSize,
  getGroupId,
  getLocalId,
  getLocalSize,
  getNumGroups,
  getWorkDim,
  memFence,
  shared,
  waveBarrier,
} from './vocabulary.ts';
