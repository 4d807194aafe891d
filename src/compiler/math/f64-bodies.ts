/**
 * The bodies of functions of f64 for processors, at once.
 */
import * as table from './f64/table.ts';

export function f64Bodies(): typeof table {
  return table;
}
