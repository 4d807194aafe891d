/**
 * The error for a fault that a kernel's own checks found: what the record says, in words. The same on every device.
 */
import type { Kernel } from '../compiler/ir/ops.ts';
import { FAULT } from '../compiler/render/reports.ts';
import type { FaultSite } from '../compiler/render/sites.ts';
import type { DriverError } from '../errors.ts';
import type { LaunchShape } from './driver.ts';
import { HELP, kernelFault, outOfRange } from './launch-errors.ts';

/** What a failed check left: where, and the values that it compared. */
export interface FaultRecord {
  readonly site: number;
  /** Linear numbers, x fastest. */
  readonly thread: number;
  readonly block: number;
  readonly index: bigint;
  readonly extent: bigint;
}

/** Reads the record that starts at a byte. */
export function readFault(view: DataView, at = 0): FaultRecord {
  return {
    site: view.getUint32(at + FAULT.site, true),
    thread: view.getUint32(at + FAULT.thread, true),
    block: Number(view.getBigUint64(at + FAULT.block, true)),
    index: view.getBigInt64(at + FAULT.index, true),
    extent: view.getBigInt64(at + FAULT.extent, true),
  };
}

/** The error for a fault record. */
export function faultAt(
  kernel: Kernel,
  shape: LaunchShape,
  sites: readonly FaultSite[],
  record: FaultRecord,
): DriverError {
  const site = sites[record.site];
  const [what, help] = describeFault(kernel, site, record);
  return kernelFault(kernel, shape, what, site?.pos, record, help);
}

/** What happened, and advice. */
function describeFault(kernel: Kernel, site: FaultSite | undefined, record: FaultRecord): [string, string?] {
  const { index, extent } = record;
  switch (site?.kind) {
    case 'bounds': {
      if (site.array === undefined) break;
      const what = outOfRange(kernel, site.array, site.axis ?? 0, index, extent);
      return index < 0n ? [what, HELP.negative] : [what];
    }
    case 'trap':
      return [site.message ?? 'the kernel stopped itself'];
    case 'cast':
      return [`the value ${index} does not fit its 32-bit type`, HELP.cast];
    case 'uniform':
      return ['the argument of uniform() differs between the threads of the block'];
    case 'exponent':
      return [`integer power with the negative exponent ${index}`, HELP.exponent];
  }
  return [`stopped at site ${record.site}`];
}
