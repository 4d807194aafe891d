/**
 * `memoryStats()`: what the current context has counted.
 */
import { currentContext } from './devices.ts';
import type { MemoryStats } from './stats.ts';

/** Bytes live, pending, pooled and at the peak; counts of allocations, frees, copies and synchronisations. */
export function memoryStats(): MemoryStats {
  return currentContext().memoryStats();
}
