/**
 * Regions that one item of a row runs: `if (threadIdx.x === 0) …`, also with loops in it. As a vector with one active lane they would gather and scatter what
 * they load and store, and keep a mask; they are scalar code.
 */
import type { Stmt } from '../../ir/ops.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { defined, eachExpr, someStmt, written } from '../../ir/passes/walk.ts';
import { type Gen, varShape } from './gen.ts';
import { setItem } from './row-vectors.ts';
import { withinLoop, withOneLane } from './scope.ts';

const PLAIN: ReadonlySet<Stmt['op']> = new Set([
  'assign',
  'store',
  'atomic',
  'if',
  'loop',
  'block',
  'break',
  'continue',
]);

/** Whether the one item of a row that gets beyond the guard of a region may run what is behind it by itself. */
export function mayRunAlone(g: Gen, { body, saves, reduce }: WorkItemLoop): boolean {
  if (g.lanes === 1 || g.warps || g.variant.quick === true) return false;
  if (reduce !== undefined || saves.length > 0) return false;
  const shared = new Set(g.blockVars.map((v) => v.id));
  const isPlain = (s: Stmt): boolean =>
    PLAIN.has(s.op) && written(s)?.array.space !== 'local' && !shared.has(defined(s) ?? -1);
  if (someStmt(body, (s) => !isPlain(s))) return false;
  let own = true;
  eachExpr(body, (e) => {
    // Local arrays lie otherwise in vector code, and `uniform` asks all lanes.
    if ((e.op === 'load' && e.mem.array.space === 'local') || (e.op === 'unary' && e.fn === 'uniform')) own = false;
  });
  return own;
}

/** Runs the item that threadIdx.x says. */
export function emitItem(g: Gen, item: () => void): void {
  withinLoop(g, () =>
    withOneLane(g, sharedVariables(g), () => {
      setItem(g);
      item();
    }),
  );
}

/** Variables that vectors have one value of; all others are the item's own. */
export function sharedVariables(g: Gen): Gen['vars'] {
  const even = (id: number): boolean => {
    const v = g.kernel.vars.find((other) => other.id === id);
    return v !== undefined && ['U', 'G'].includes(varShape(g, v));
  };
  return new Map([...g.vars].filter(([id]) => even(id)));
}
