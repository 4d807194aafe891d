/**
 * Reads the fault record that a module leaves in scratch when a check fails.
 */
import type { FaultRecord } from '../fault-message.ts';

/** `site` is what `run` returned, minus one. */
export function readFault(view: DataView, site: number): FaultRecord {
  return {
    site,
    thread: view.getInt32(4, true),
    block: view.getInt32(8, true),
    index: view.getBigInt64(16, true),
    extent: view.getBigInt64(24, true),
  };
}
