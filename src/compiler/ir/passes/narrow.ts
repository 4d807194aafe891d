/**
 * Guard narrowing: turns the guard of a region, `decls; if (conjunction) { body }`, into bounds on threadIdx.x.
 *
 * Parts of the conjunction that are the same for a row of work items become one test per row; comparisons of a consecutive
 * value with a uniform one become the first and last work item to run, so that full vectors run without a mask. The
 * renderer decides what to make of it.
 */
import type { Expr, Stmt } from '../ops.ts';
import type { Uniformity } from './uniformity.ts';

export interface Narrowed {
  /** Assignments before the guard, without effects: run them at the start of each item that runs `body`. */
  readonly decls: readonly Stmt[];
  /** Test per row (threadIdx.x is not in it): when false, no item of the row runs. Evaluate before the decls. */
  readonly row: Expr | undefined;
  /** i32, free of threadIdx.x: outside `lo <= threadIdx.x < hi` the guard is false; 0 <= lo, hi <= blockDim.x. */
  readonly lo: Expr;
  readonly hi: Expr;
  /** Whether `bounded` holds for all threadIdx.x in [lo, hi). False when base + lane wraps there; lo..hi is then the whole row. */
  readonly exact: Expr;
  /** The part of the guard that the bounds stand for: what to test where `exact` is false. */
  readonly bounded: Expr | undefined;
  /** The part that stays a test (or mask) for each item, even where `exact` holds. */
  readonly rest: Expr | undefined;
  readonly body: readonly Stmt[];
}

/** Undefined when the region has no guard of that form, or nothing in it can be narrowed. */
export function narrowGuard(body: readonly Stmt[], uniformity: Uniformity, blockDimX: number): Narrowed | undefined {
  throw new Error(`not there yet ${body.length} ${uniformity} ${blockDimX}`);
}
