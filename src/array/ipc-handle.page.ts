/**
 * `ipc-handle.ts` of pages, no device of which shares memory with other processes.
 */
import { NotSupportedError } from '../errors.ts';
import type { DeviceMemory } from './device-memory.ts';

export function describeIpc({ context }: DeviceMemory): never {
  throw new NotSupportedError('E_IPC', `ipcHandle: ${context.info.name} cannot share memory with other processes`);
}
