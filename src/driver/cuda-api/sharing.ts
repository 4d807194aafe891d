/**
 * Device memory shared with other processes by CUDA's IPC handles.
 *
 * Only memory of `cuMemAlloc` can be shared: what comes from a pool is refused by the driver. A process cannot open its own
 * handles. CUDA driver API: cuIpcGetMemHandle and its like.
 */
import { DriverError, TsambaTypeError } from '../../errors.ts';
import type { CudaContext } from './context.ts';
import { IPC_HANDLE_BYTES } from './functions.ts';
import type { CudaMemory } from './memory.ts';

const LAZY_ENABLE_PEER_ACCESS = 1;

export function share(context: CudaContext, memory: CudaMemory, pointer: number): Uint8Array {
  if (!memory.isShareable(pointer)) {
    throw new DriverError(
      'E_IPC',
      `share: the memory at ${pointer} was not allocated for sharing: allocate it with { ipc: true }`,
      {
        api: 'share',
      },
    );
  }
  const handle = new Uint8Array(IPC_HANDLE_BYTES);
  context.check(context.cuda.cuIpcGetMemHandle(handle, pointer), 'cuIpcGetMemHandle');
  return handle;
}

export function openShared(context: CudaContext, handle: Uint8Array): number {
  if (handle.length !== IPC_HANDLE_BYTES) {
    throw new TsambaTypeError('E_IPC', `an IPC handle has ${IPC_HANDLE_BYTES} bytes, this has ${handle.length}`);
  }
  const { cuda, out } = context;
  const result = cuda.cuIpcOpenMemHandle(out.at(0), { bytes: handle }, LAZY_ENABLE_PEER_ACCESS);
  context.check(result, 'cuIpcOpenMemHandle', {
    about: 'opening memory of another process',
    help: 'the process that shares the memory must be a different one, must still be running, and must not have freed the memory; both must use the same device',
  });
  return out.long(0);
}

export function closeShared(context: CudaContext, pointer: number): void {
  context.check(context.cuda.cuIpcCloseMemHandle(pointer), 'cuIpcCloseMemHandle');
}
