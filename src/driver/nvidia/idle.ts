/**
 * A CUDA driver whose calls succeed and do nothing, for rehearsals: the real one is still starting, and may not be called.
 */
import type { Ffi } from '../../ffi/ffi.ts';
import type { CudaDevice } from '../cuda-api/description.ts';
import type { Cuda } from '../cuda-api/functions.ts';

/** Bytes between the addresses of two views: more than out-parameters and parameters of kernels take. */
const APART = 0x1_0000;

/** Usual limits; one multiprocessor, so that no grid leaves others idle. */
export const IDLE_DEVICE: CudaDevice = {
  device: 0,
  memoryPools: true,
  info: {
    kind: 'nvidia',
    name: 'rehearsal',
    index: 0,
    limits: {
      maxThreadsPerBlock: 1024,
      maxBlockDim: [1024, 1024, 64],
      maxGridDim: [2 ** 31 - 1, 65535, 65535],
      maxSharedBytesPerBlock: 227 * 1024,
      warpSize: 32,
      multiprocessors: 1,
      totalMemory: 2 ** 30,
    },
    computeCapability: [9, 0],
    features: {
      streamOrdered: true,
      ipc: false,
      cooperative: true,
      externalStreams: true,
      mapsHostMemory: true,
      stopsKernels: false,
      hostCanWait: true,
    },
  },
};

/** The functions of a driver, of which none is called. */
export function idleCuda(cuda: Cuda): Cuda {
  const cells = new Map<number, ArrayBufferView>();
  const address = (view: ArrayBufferView): number => {
    const at = APART * (cells.size + 1);
    cells.set(at, view);
    return at;
  };
  const put = (cell: number, value: number): number => {
    const { buffer, byteOffset } = cells.get(cell - (cell % APART)) as ArrayBufferView;
    new DataView(buffer).setBigUint64(byteOffset + (cell % APART), BigInt(value), true);
    return 0;
  };
  let made = 0;
  /** Gives another handle or address each time. */
  const make = (cell: number): number => {
    made += 0x1000;
    return put(cell, made);
  };
  const nothing = (): number => 0;
  const functions = Object.entries(cuda).filter(([, value]) => typeof value === 'function');
  return {
    ...cuda,
    ...Object.fromEntries(functions.map(([name]) => [name, nothing])),
    cuDevicePrimaryCtxRetain: make,
    cuMemAlloc: make,
    cuMemAllocAsync: make,
    cuStreamCreate: make,
    cuStreamCreateWithPriority: make,
    cuModuleLoadDataEx: make,
    cuModuleGetFunction: make,
    cuFuncGetAttribute: (cell: number, which: number) => put(cell, which === 0 ? 1024 : 0),
    // Without a linker there is no machine code, and so none that would be kept on disk.
    cuLinkCreate: undefined,
    ffi: { address } as Partial<Ffi>,
  } as unknown as Cuda;
}
