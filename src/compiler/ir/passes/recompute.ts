/**
 * Values that are cheaper to compute again in each barrier region than to save for each work item.
 *
 * Such as `row` and `col`: assigned once, from nothing but the thread's indices, parameters and constants, so that the
 * value is the same whenever it is computed.
 */
import type { BinaryOp, Expr, Stmt, UnaryOp, Var } from '../ops.ts';
import type { VarSet } from './liveness.ts';
import { exprParts } from './walk.ts';

const CHEAP_UNARY: ReadonlySet<UnaryOp> = new Set<UnaryOp>(['neg', 'abs', 'not']);
const CHEAP_BINARY: ReadonlySet<BinaryOp> = new Set<BinaryOp>([
  'add',
  'sub',
  'mul',
  'and',
  'or',
  'xor',
  'shl',
  'shr',
  'min',
  'max',
]);
/** Operations one value may take, those of the variables in it included. */
const MOST = 12;

export interface Recomputable {
  readonly var: Var;
  readonly assignment: Stmt & { op: 'assign' };
  /** Variables that must have been recomputed before. */
  readonly needs: readonly number[];
}

/**
 * `assignments`: those of variables that are assigned only once, and never read before. `shared` variables may be read
 * anywhere and need no recomputing themselves.
 */
export function findRecomputable(
  assignments: readonly (Stmt & { op: 'assign' })[],
  shared: VarSet,
): ReadonlyMap<number, Recomputable> {
  const found = new Map<number, Recomputable>();
  const costs = new Map<number, number>();
  // Values may depend on each other in any order of the text; each round finds those whose operands were found before.
  for (let before = -1; before !== costs.size; ) {
    before = costs.size;
    for (const assignment of assignments) {
      const v = assignment.var;
      const cost = costs.has(v.id) ? Number.POSITIVE_INFINITY : costOf(assignment.value);
      if (cost > MOST) continue;
      costs.set(v.id, shared.has(v.id) ? 0 : cost);
      if (!shared.has(v.id)) found.set(v.id, { var: v, assignment, needs: needsOf(assignment.value) });
    }
  }
  return found;

  function costOf(e: Expr): number {
    const parts = exprParts(e).reduce((sum, part) => sum + costOf(part), 0);
    switch (e.op) {
      case 'const':
      case 'param':
      case 'special':
        return 0;
      case 'var':
        return costs.get(e.var.id) ?? Number.POSITIVE_INFINITY;
      case 'unary':
        return CHEAP_UNARY.has(e.fn) ? parts + 1 : Number.POSITIVE_INFINITY;
      case 'binary':
        return CHEAP_BINARY.has(e.fn) ? parts + 1 : Number.POSITIVE_INFINITY;
      case 'cast':
        return e.checked ? Number.POSITIVE_INFINITY : parts + 1;
      case 'compare':
      case 'select':
      case 'bitcast':
        return parts + 1;
      default:
        return Number.POSITIVE_INFINITY;
    }
  }

  function needsOf(e: Expr): number[] {
    if (e.op === 'var') return shared.has(e.var.id) ? [] : [e.var.id];
    return exprParts(e).flatMap(needsOf);
  }
}
