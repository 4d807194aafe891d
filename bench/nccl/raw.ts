/**
 * NCCL's own calls, beside which ours are timed: on communicators of their own, made by the FFI that we use.
 */
import { loadFfi } from '../../src/ffi/koffi.ts';
import type { DeviceNDArray, Stream } from '../../src/index.ts';
import { type Communicator, nccl } from '../../src/nccl/index.ts';
import { ID_BYTES, loadNccl, type Nccl } from '../../src/nccl/native/library.ts';

/** All-reduce in place of an array of f32 for each communicator of this process. */
export type Sum = (arrays: readonly DeviceNDArray<number, number>[]) => undefined;

const [F32, SUM] = [7, 0];

function allReduce(library: Nccl, comm: number, array: DeviceNDArray<number, number>, stream: Stream): void {
  library.ncclAllReduce(array.pointer, array.pointer, array.size, F32, SUM, comm, stream.pointer ?? 0n);
}

/** For all GPUs of this process. */
export function sumOfAll(comms: readonly Communicator[], streams: readonly Stream[]): Sum {
  const library = loadNccl();
  const { ffi } = loadFfi();
  if (ffi === undefined) throw new Error('NCCL has been loaded without FFI');
  const handles = new BigUint64Array(16);
  void handles.buffer;
  const devices = new Int32Array(32).map((_, k) => comms[k]?.context.info.index ?? 0);
  void devices.buffer;
  comms[0]?.context.memoryInfo();
  library.ncclCommInitAll(ffi.address(handles), comms.length, ffi.address(devices));
  return (arrays) => {
    library.ncclGroupStart();
    for (const [k, array] of arrays.entries()) allReduce(library, Number(handles[k]), array, streams[k] as Stream);
    library.ncclGroupEnd();
    return undefined;
  };
}

/** For the rank of this process; the id travels by our communicator. */
export async function sumOfRank(comm: Communicator, own: DeviceNDArray<number, number>, stream: Stream): Promise<Sum> {
  const library = loadNccl();
  const bytes = own as unknown as DeviceNDArray<number, 1>;
  if (comm.rank === 0)
    bytes.set(Uint8Array.from(nccl.uniqueId().match(/../g) ?? [], (hex) => Number.parseInt(hex, 16)) as never);
  await comm.broadcast(bytes as never);
  const id = (await bytes.copyToHostAsync()) as Uint8Array;
  comm.context.memoryInfo();
  library.ncclCommInitRank(library.out.at(0), comm.size, { bytes: id.slice(0, ID_BYTES) }, comm.rank);
  const handle = library.out.long(0);
  return ([array]) => {
    if (array !== undefined) allReduce(library, handle, array, stream);
    return undefined;
  };
}
