/**
 * Guards that leave a box of a block: bounds on each of threadIdx.x, y and z by itself, which are the same for the whole block.
 *
 * `if (x > 0 && y > 0 && x < w - 1 && y < h - 1)` of a stencil is one. In a block at an edge, rows and columns are left out; what remains is
 * a smaller block, about which as much can be asked ahead as about a whole one.
 */
import { binary, bool, i32 } from '../builder.ts';
import { conjuncts } from '../measures.ts';
import type { Expr, Stmt } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { type Along, boundOf, conjunction, inTermsOf, isDeclaration, needsItem } from './guard-peeling.ts';
import type { Uniformity } from './uniformity.ts';
import { someExpr } from './walk.ts';

export interface PeeledBox {
  /** Assignments before the guard, without effects, and what is guarded. */
  readonly decls: readonly (Stmt & { op: 'assign' })[];
  readonly body: readonly Stmt[];
  /** Whether the bounds stand for the guard: false where a coordinate of the block wraps, or no item of it passes. The same for the block. */
  readonly holds: Expr;
  /** Along each axis: i32, the same for the block; 0 <= lo, hi <= extent. Those that pass have lo <= threadIdx < hi. */
  readonly ends: readonly [BoxEnds, BoxEnds, BoxEnds];
}

export interface BoxEnds {
  readonly lo: Expr;
  readonly hi: Expr;
}

const AXES = ['threadIdx.x', 'threadIdx.y', 'threadIdx.z'] as const;

/**
 * Undefined where a guard asks for something else as well. A region without a guard is all of the block. `span`: how many threads there are along x,
 * an i32, where that is the extent of the block times what `blocks` is at most.
 */
export function peelBox(
  list: readonly Stmt[],
  uniformity: Uniformity,
  block: readonly [number, number, number],
  { span, blocks = 1 }: { readonly span?: Expr | undefined; readonly blocks?: number } = {},
): PeeledBox | undefined {
  const last = list.at(-1);
  const guard = last?.op === 'if' ? last : undefined;
  const decls = guard === undefined ? [] : list.slice(0, -1);
  if ((guard !== undefined && guard.else.length > 0) || !decls.every(isDeclaration)) return undefined;
  const outside = inTermsOf(decls);
  const isSteady = (e: Expr): boolean =>
    !someExpr(e, (x) => needsItem(x, uniformity) || (x.op === 'special' && x.name.startsWith('threadIdx')));
  const axes = AXES.map((axis, k): Along => {
    const extent = block[k] ?? 1;
    return k === 0 ? { axis, extent: extent * blocks, span, isSteady } : { axis, extent, isSteady };
  });
  const los: Expr[] = [i32(0), i32(0), i32(0)];
  const his: (Expr | undefined)[] = [undefined, undefined, undefined];
  const holds: Expr[] = [];
  for (const part of guard === undefined ? [] : conjuncts(guard.cond)) {
    const full = outside(part);
    if (full === undefined) return undefined;
    if (isSteady(full)) {
      holds.push(full);
      continue;
    }
    const bounds = axes.map((along) => boundOf(full, along));
    const k = bounds.findIndex((b) => b !== undefined);
    const bound = bounds[k];
    // Vectors that rest on multiples of their lanes begin there.
    if (bound === undefined || (k === 0 && bound.lo !== undefined && uniformity.isAligned())) return undefined;
    holds.push(bound.exact);
    if (bound.lo !== undefined) los[k] = binary('max', los[k] ?? i32(0), bound.lo);
    const hi = his[k];
    if (bound.hi !== undefined) his[k] = hi === undefined ? bound.hi : binary('min', hi, bound.hi);
  }
  const all = [span ?? i32(block[0]), i32(block[1]), i32(block[2])] as const;
  const ends = (k: 0 | 1 | 2): BoxEnds => ({ lo: foldExpr(los[k] ?? i32(0)), hi: foldExpr(his[k] ?? all[k]) });
  return {
    decls,
    body: guard?.then ?? list,
    holds: foldExpr(conjunction(holds) ?? bool(true)),
    ends: [ends(0), ends(1), ends(2)],
  };
}
