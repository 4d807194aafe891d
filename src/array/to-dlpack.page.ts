/**
 * `to-dlpack.ts` in pages, where nobody could take a tensor by its pointer.
 */
import { readOptions } from '../options.ts';
import type { DeviceMemory } from './device-memory.ts';
import { checkDlpackVersion, type DlpackCapsule, dlpackFfi, type ToDlpackOptions } from './dlpack-export.ts';

/** Throws NotSupportedError, which says that there is no FFI. */
export function exportDlpack(array: DeviceMemory, options: ToDlpackOptions = {}): Required<DlpackCapsule> {
  const { version = 1 } = readOptions('toDlpack', options, ['version']);
  checkDlpackVersion('toDlpack', version);
  array.checkUsable();
  dlpackFfi('toDlpack');
  throw new Error('internal error: a page has an FFI');
}
