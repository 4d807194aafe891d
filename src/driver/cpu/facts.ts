/**
 * What the CPU device wants to know of a kernel before it has ever run: whether its threads contend for memory,
 * and roughly how long one of them takes.
 */
import { work } from '../../compiler/ir/measures.ts';
import type { Kernel, Stmt } from '../../compiler/ir/ops.ts';
import { hasTripCount } from '../../compiler/ir/passes/trip-counts.ts';
import { someStmt, stmtLists } from '../../compiler/ir/passes/walk.ts';

/** What `Schedule` decides by until launches have been timed. */
export interface KernelFacts {
  /** Updates global memory atomically: which several threads cannot do by plain loads and stores. */
  readonly atomics: boolean;
  /** Does little else: with several threads updates cost much more, perhaps more than the threads bring. */
  readonly contended: boolean;
  /** Very rough nanoseconds a thread. */
  readonly estimate: number;
  /** Whether its loops count to a bound that is known when they begin. */
  readonly loops: 'none' | 'counted' | 'endless';
  /** Whether each thread goes through it for itself, so that in which order they do does not show. */
  readonly separate: boolean;
  /** Whether a thread may load after it has stored to global memory, so that it matters whether it loads what it has stored. */
  readonly ordered: boolean;
}

export const NANOSECONDS_PER_NODE = 0.2;
/** What an atomic update costs beyond a plain one, when several threads update the same elements. */
const NODES_PER_UPDATE = 60;

const ENTANGLING: ReadonlySet<Stmt['op']> = new Set(['barrier', 'atomic', 'warp', 'fence', 'print']);

export function factsOf(kernel: Kernel): KernelFacts {
  const { nodes, updates } = work(kernel.body);
  return {
    atomics: updates > 0,
    contended: updates * NODES_PER_UPDATE > nodes / 3,
    estimate: nodes * NANOSECONDS_PER_NODE,
    loops: loopsOf(kernel.body),
    ordered: storesIn(kernel.body) > 1,
    separate: !someStmt(kernel.body, ({ op }) => ENTANGLING.has(op)),
  };
}

/** Stores to global memory, each of a loop's counted twice. */
function storesIn(list: readonly Stmt[]): number {
  let count = 0;
  for (const s of list) {
    if (s.op === 'store' && s.mem.array.space === 'global') count++;
    for (const inner of stmtLists(s)) count += (s.op === 'loop' ? 2 : 1) * storesIn(inner);
  }
  return count;
}

function loopsOf(body: readonly Stmt[]): KernelFacts['loops'] {
  if (!someStmt(body, (s) => s.op === 'loop')) return 'none';
  return someStmt(body, (s) => s.op === 'loop' && !hasTripCount(s)) ? 'endless' : 'counted';
}
