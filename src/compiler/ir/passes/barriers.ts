/**
 * Barrier legality: every barrier of a kernel must be reached by all threads of a block that are still running.
 *
 * The front end turns the findings into errors with a code frame; the rule is the same for all devices. Threads that
 * returned earlier take no part, as on CUDA hardware.
 */
import type { Pos } from '../../source.ts';
import type { Kernel, Stmt } from '../ops.ts';
import type { Parting, Reason } from './uniformity.ts';
import { analyseUniformity } from './uniformity.ts';
import { eachStmt, hasBarrier } from './walk.ts';

export interface BarrierProblem {
  /** The barrier. */
  readonly pos: Pos;
  /** The construct that threads take differently: an `if`, or a break, continue or return. */
  readonly reasonPos: Pos;
  /** What is wrong, without the reasons: 'this barrier is inside an if whose condition varies between threads'. */
  readonly text: string;
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
      text: describe(parting),
      chain: uniformity.why(parting.cond),
    });
  });
  return problems;
}

function describe({ stmt }: { readonly stmt: Stmt } & Parting): string {
  const only = 'so that only some threads of the block would reach it';
  switch (stmt.op) {
    case 'break':
      return `this barrier is passed over by a break whose condition varies between threads, ${only}`;
    case 'continue':
      return `this barrier is passed over by a continue whose condition varies between threads, ${only}`;
    default:
      return `this barrier is under a condition that varies between threads, ${only}`;
  }
}
