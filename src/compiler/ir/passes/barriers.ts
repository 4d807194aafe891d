/**
 * Barrier legality: every barrier of a kernel must be reached by all threads of a block that are still running.
 *
 * The front end turns the findings into errors with a code frame; the rule is the same for all devices.
 */
import type { Pos } from '../../source.ts';
import type { Kernel } from '../ops.ts';
import type { Reason } from './uniformity.ts';

export interface BarrierProblem {
  /** The barrier. */
  readonly pos: Pos;
  /** The construct that threads take differently: an `if`, a loop, a break or continue. */
  readonly reasonPos: Pos;
  readonly text: string;
  /** Why its condition varies, outermost first. */
  readonly chain: readonly Reason[];
}

export function checkBarriers(kernel: Kernel): BarrierProblem[] {
  throw new Error(`not there yet ${kernel.name}`);
}
