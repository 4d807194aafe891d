/**
 * The entry point `tsamba/nccl`: communicators over several GPUs and processes.
 */
/// <reference lib="esnext.disposable" preserve="true" />
import { grouped } from './group.ts';
import { init, initAll } from './init.ts';
import { uniqueId } from './native/init.ts';

export { type Combining, Communicator, type OnStream, type Rooted } from './communicator.ts';
export { type CommunicatorCode, CommunicatorError } from './errors.ts';
export type { InitAllOptions, InitOptions } from './init.ts';
export type { AnyArray } from './operands.ts';
export type { ReduceOp } from './ops.ts';
export { histogram, reduce, sort } from './primitives.ts';
export { type Shard, type ShardOptions, shard } from './shards.ts';
export type { TransportName } from './transport.ts';

/** Several GPUs, processes and hosts: what `nccl` has. */
export interface NcclNamespace {
  /**
   * One rank, in its own process or worker. Its number comes from the launcher's environment (`npx tsamba run`, torchrun, Slurm, Open MPI,
   * Kubernetes' operators) unless given; without any, it is rank 0 of 1. Resolves when all ranks have arrived. Under NCCL, the rank's GPU becomes the
   * current device. NCCL: `ncclCommInitRank`.
   * @throws as promise: NotSupportedError without NCCL or a GPU, CommunicatorError if ranks do not arrive, TypeError and RangeError for invalid options.
   * @example
   * import { nccl } from 'tsamba/nccl';
   *
   * await using comm = await nccl.init({ transport: 'reference' });
   * const x = cuda.toDevice(Float32Array.of(1, 2));
   * await comm.allReduce(x);
   * console.log(comm.rank, comm.size, x.copyToHost()); // 0 1 Float32Array(2) [ 1, 2 ]
   */
  readonly init: typeof init;
  /**
   * All ranks in this thread, one for each GPU that the process sees; with the reference transport, `size` ranks on the current device. Calls of
   * several ranks belong in an `nccl.group`. NCCL: `ncclCommInitAll`.
   * @throws NotSupportedError without NCCL or a GPU.
   */
  readonly initAll: typeof initAll;
  /** An id for programs that distribute it to all ranks themselves: `nccl.init({ rank, size, id })`. NCCL: `ncclGetUniqueId`. */
  readonly uniqueId: () => string;
  /** Makes all calls within it as one: required if ranks send to each other at the same time, or if one thread has several ranks. Returns the body's result. NCCL: `ncclGroupStart`. */
  readonly group: typeof grouped;
}

/** Several GPUs, processes and hosts. */
export const nccl: NcclNamespace = /* @__PURE__ */ Object.freeze({
  init,
  initAll,
  uniqueId: () => uniqueId(),
  group: grouped,
});
