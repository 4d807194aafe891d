/**
 * Barrier legality: every barrier of a kernel must be reached by all threads of a block that are still running.
 *
 * The front end turns the findings into errors with a code frame; the rule is the same for all devices. Threads that
 * returned earlier take no part, as on CUDA hardware.
 */
import type { Pos } from '../../source.ts';
import type { Kernel } from '../ops.ts';
import type { Reason } from './uniformity.ts';
import { analyseUniformity } from './uniformity.ts';
import { eachStmt, hasBarrier } from './walk.ts';

export interface BarrierProblem {
  /** The barrier. */
  readonly pos: Pos;
  /** The construct that threads take differently: an `if`, or a break, continue or return. */
  readonly reasonPos: Pos;
  /** Where a jump leads past it. */
  readonly jump: 'break' | 'continue' | undefined;
  /** Why the condition varies, outermost first. */
  readonly chain: readonly Reason[];
}

/** Finds the barriers that some running threads of a block may not reach. Before return lowering. */
export function checkBarriers(kernel: Kernel): BarrierProblem[] {
  if (!hasBarrier(kernel.body)) return [];
  const uniformity = analyseUniformity(kernel);
  const problems: BarrierProblem[] = [];
  eachStmt(kernel.body, (s) => {
    const parting = s.op === 'barrier' ? uniformity.parting(s) : undefined;
    if (!parting) return;
    problems.push({
      pos: s.pos,
      reasonPos: parting.stmt.pos,
      jump: parting.stmt.op === 'break' || parting.stmt.op === 'continue' ? parting.stmt.op : undefined,
      chain: uniformity.why(parting.cond),
    });
  });
  return problems;
}
