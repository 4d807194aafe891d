/**
 * Barrier legality: every barrier of a kernel must be reached by all threads of a block that are still running.
 *
 * The front end turns the findings into errors with a code frame; the rule is the same for all devices. Threads that
 * returned earlier take no part, as on CUDA hardware; what a block computes together wants them all.
 */
import type { Pos } from '../../source.ts';
import type { Kernel, Stmt } from '../ops.ts';
import type { Reason } from './uniformity.ts';
import { analyseUniformity } from './uniformity.ts';
import { eachStmt, hasBarrier, mapLists, someStmt } from './walk.ts';

export interface BarrierProblem {
  /** The barrier. */
  readonly pos: Pos;
  /** The construct that threads take differently: an `if`, or a break, continue or return. */
  readonly reasonPos: Pos;
  /** Where a jump leads past it. */
  readonly jump: 'break' | 'continue' | 'return' | undefined;
  /** Why the condition varies, outermost first. */
  readonly chain: readonly Reason[];
}

/** Finds the barriers that some running threads of a block may not reach. Before return lowering. */
export function checkBarriers(kernel: Kernel): BarrierProblem[] {
  if (!hasBarrier(kernel.body)) return [];
  const uniformity = analyseUniformity(kernel);
  const problems: BarrierProblem[] = [];
  const left = returnsBefore(kernel.body);
  eachStmt(kernel.body, (s) => {
    if (s.op !== 'barrier') return;
    const passed = s.whole
      ? left
          .get(s)
          ?.map((r) => uniformity.parting(r))
          .find((p) => p !== undefined)
      : undefined;
    const parting = uniformity.parting(s) ?? passed;
    if (!parting) return;
    if (parting === passed) {
      const { stmt, cond } = passed;
      problems.push({ pos: s.pos, reasonPos: stmt.pos, jump: 'return', chain: uniformity.why(cond) });
      return;
    }
    problems.push({
      pos: s.pos,
      reasonPos: parting.stmt.pos,
      jump: parting.stmt.op === 'break' || parting.stmt.op === 'continue' ? parting.stmt.op : undefined,
      chain: uniformity.why(parting.cond),
    });
  });
  return problems;
}

type Returns = readonly (Stmt & { readonly op: 'return' })[];

/** For each barrier that wants all threads, the returns that a thread may have come to before: those above it, and all of a loop around it. */
function returnsBefore(body: readonly Stmt[]): ReadonlyMap<Stmt, Returns> {
  const found = new Map<Stmt, Returns>();
  if (!someStmt(body, (s) => s.op === 'barrier' && s.whole === true)) return found;
  const seen: (Stmt & { readonly op: 'return' })[] = [];
  const look = (list: readonly Stmt[]): void => {
    for (const s of list) {
      if (s.op === 'return') seen.push(s);
      else if (s.op === 'barrier') found.set(s, [...seen]);
      else if (s.op === 'loop') {
        eachStmt([s], (x) => {
          if (x.op === 'return') seen.push(x);
        });
      }
      mapLists(s, (inner) => {
        look(inner);
        return inner;
      });
    }
  };
  look(body);
  return found;
}
