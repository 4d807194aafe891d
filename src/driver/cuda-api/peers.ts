/**
 * Direct access between two devices of a platform, where their connection has it; copies go through the host where not, by the
 * driver's own doing.
 *
 * CUDA driver API, section "Peer Context Memory Access", and cuMemPoolSetAccess for memory of pools.
 */

import { OutParameters } from '../../ffi/out-parameters.ts';
import type { CudaContext } from './context.ts';
import type { CudaMemory } from './memory.ts';
import { CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED } from './result.ts';

const LOCATION_DEVICE = 1;
const ACCESS_READ_WRITE = 3;

interface Peer {
  readonly context: CudaContext;
  readonly memory: CudaMemory;
}

/** Lets each of two devices reach the other's memory, as far as they can. */
export function enablePeer(one: Peer, other: Peer): void {
  reach(one, other);
  reach(other, one);
}

/** Makes `from` reach the memory of `to`. */
function reach(from: Peer, to: Peer): void {
  const { cuda, out } = from.context;
  if (cuda.cuDeviceCanAccessPeer(out.at(0), from.context.device, to.context.device) !== 0 || out.int(0) === 0) return;
  from.context.enter('cuCtxEnablePeerAccess');
  const result = cuda.cuCtxEnablePeerAccess(to.context.handle, 0);
  if (result !== CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) from.context.check(result, 'cuCtxEnablePeerAccess');
  if (to.memory.pool === 0 || cuda.cuMemPoolSetAccess === undefined) return;
  // CUmemAccessDesc: location type, device, flags.
  const description = new OutParameters(cuda.ffi);
  description.set(0, BigInt(LOCATION_DEVICE) | (BigInt(from.context.device) << 32n));
  description.set(1, BigInt(ACCESS_READ_WRITE));
  to.context.enter('cuMemPoolSetAccess');
  to.context.check(cuda.cuMemPoolSetAccess(to.memory.pool, description.at(0), 1), 'cuMemPoolSetAccess');
}
