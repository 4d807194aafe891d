/**
 * Loads that a stretch of straight code repeats are made once: the rows and columns of a register tile, which the copies of an
 * unrolled nest load anew for each product.
 *
 * A stretch ends with any statement that is not an assignment. Checks of equal loads are equal, so that the first one's are enough.
 */
import { assign, type KernelBuilder, read } from '../builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { ExpressionKeys } from './expression-keys.ts';
import { mapStretches } from './stretches.ts';
import { mapParts, mapTopExprs, stmtExprs } from './walk.ts';

type Assign = Stmt & { readonly op: 'assign' };

/** The same kernel when no load is repeated. */
export function reuseLoads(kernel: Kernel): Kernel {
  return mapStretches(kernel, (s): s is Assign => s.op === 'assign', inStretch);
}

function inStretch(stretch: readonly Assign[], b: KernelBuilder): readonly Assign[] {
  const times = new Map<string, number>();
  const counted = new ExpressionKeys();
  for (const s of stretch) {
    for (const e of stmtExprs(s)) counted.each(e, (key) => times.set(key, (times.get(key) ?? 0) + 1));
    counted.assigned(s.var);
  }
  if (![...times.values()].some((n) => n > 1)) return stretch;
  const keys = new ExpressionKeys();
  const held = new Map<string, Var>();
  return stretch.flatMap((s): readonly Assign[] => {
    const before: Assign[] = [];
    const change = (e: Expr): Expr => {
      const key = keys.of(e);
      const inner = mapParts(e, change);
      if (key === undefined || (times.get(key) ?? 0) < 2) return inner;
      let v = held.get(key);
      if (v === undefined) {
        v = b.variable(e.type, '%loaded');
        held.set(key, v);
        before.push(assign(v, inner, s.pos) as Assign);
      }
      return read(v);
    };
    const own = mapTopExprs(s, change) as Assign;
    keys.assigned(s.var);
    return [...before, own];
  });
}
