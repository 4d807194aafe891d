/**
 * How smart arrays are told from others without their class, which pages load only where programs use it.
 */
import type { SmartArray } from './smart-array.ts';

export function isSmart(value: unknown): value is SmartArray<unknown> {
  return typeof value === 'object' && value !== null && '~smartArray' in value;
}
