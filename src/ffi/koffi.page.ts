/**
 * `koffi.ts` in pages, which can call no native libraries.
 */
import type { FfiOrReason } from './koffi.ts';

/** Why there is no FFI. */
export function loadFfi(): FfiOrReason {
  return { reason: 'koffi, which calls native libraries, is not for pages' };
}
