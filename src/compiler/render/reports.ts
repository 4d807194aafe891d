/**
 * What kernels report to the host by memory: the layout of fault records and of printed values, little-endian, the same in all code that
 * runs by itself on a device. WebAssembly has the fault record alone, one for each thread of the pool.
 *
 * Faults. A module with fault sites has a table of FAULTS.bytes, zero at first. A launch reports in the record that its number falls on
 * (modulo FAULTS.most); the host never has two launches of a module under way that fall on the same. The first thread of a launch that fails
 * claims the record by exchanging the number that stands there for its own, counts the fault, and fills the record; every failing thread stops.
 * Nothing is ever cleared: a record belongs to the launch whose number it has.
 *
 * Printing. A module with print sites has a buffer of PRINTS.bytes, zero at first: how many bytes of records have been taken (may exceed what
 * fits: the rest was dropped), then the records, each followed by its values as 8-byte slots. The host zeroes it after reading.
 */

/** One fault, by byte offsets: all that a message needs. */
export const FAULT = {
  /** u32 */
  site: 0,
  /** u32, linear in the block */
  thread: 4,
  /** u64, linear in the grid */
  block: 8,
  /** i64: the values that the check compared */
  index: 16,
  extent: 24,
  /** u32 */
  launch: 32,
  bytes: 40,
} as const;

/** The table of a module. */
export const FAULTS = {
  /** u32: faults so far, since the module was loaded */
  count: 0,
  records: 8,
  /** a power of two */
  most: 1024,
  /** 8 + 1024 × 40 */
  bytes: 40_968,
} as const;

/** One record of a print buffer, by byte offsets. */
export const PRINT = {
  /** u32: 1 + the number of the print site; written last */
  site: 0,
  /** u32 */
  thread: 4,
  /** u64 */
  block: 8,
  values: 16,
} as const;

/** The print buffer of a module. */
export const PRINTS = {
  /** u32 */
  taken: 0,
  records: 16,
  bytes: 1_048_576,
} as const;
