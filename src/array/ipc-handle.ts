/**
 * IPC handles: device memory by a name under which other processes on the same GPU open it.
 *
 * A handle is plain data, so that JSON, messages and files carry it. Its `bytes` are CUDA's own 64 (`CUipcMemHandle`), as Numba and
 * CuPy have them, and stand for a whole allocation: `offset` says where in it the array begins. Opening is `ipc.ts`.
 */
import { type Descr, descrOf } from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
import { processId } from '../host/index.ts';
import type { DeviceMemory } from './device-memory.ts';

/** What another process needs to open an array. */
export interface IpcArrayHandle {
  /** Tells the handle from other plain objects. */
  readonly type: 'tsamba.ipc';
  /** The 64 bytes of a CUipcMemHandle. */
  readonly bytes: readonly number[];
  /** Bytes of the allocation. */
  readonly size: number;
  /** Bytes from the start of the allocation to the first element. */
  readonly offset: number;
  /** Length of each axis, in elements. */
  readonly shape: readonly number[];
  /** Bytes from one element to the next along each axis. */
  readonly strides: readonly number[];
  /** NumPy's array-protocol string: `'<f4'`; `descr` has the fields of a struct. */
  readonly dtype: string;
  /** The fields of a struct, as in NumPy's `dtype.descr`; absent for other types. */
  readonly descr?: Descr | undefined;
  /** The process that made it. */
  readonly pid: number;
}

/** The handle of an array. Throws NotSupportedError for memory that was not allocated for it. */
export function describeIpc(array: DeviceMemory): IpcArrayHandle {
  const { context, owner, pointer, shape, strides, dtype, size } = array;
  if (!context.info.features.ipc) {
    throw new NotSupportedError('E_IPC', `ipcHandle: ${context.info.name} cannot share memory with other processes`);
  }
  if (size === 0) throw new NotSupportedError('E_IPC', 'ipcHandle: an array without elements has no memory to share');
  if (!owner.shareable) {
    throw new NotSupportedError(
      'E_IPC',
      'ipcHandle: this memory cannot be shared with other processes; make the array with deviceArray(shape, dtype, { ipc: true })',
    );
  }
  return {
    type: 'tsamba.ipc',
    bytes: [...context.driver.share(owner.address)],
    size: owner.bytes,
    offset: pointer - owner.address,
    shape: [...shape],
    strides: [...strides],
    dtype: dtype.typestr,
    ...(dtype.fields === undefined ? {} : { descr: descrOf(dtype) }),
    pid: processId(),
  };
}
