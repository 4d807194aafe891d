/**
 * A kernel cut at its barriers: a tree whose leaves are run for all work items of a block, one after the other, and whose inner nodes
 * are run once for the block. `regions.ts` makes the tree and `storage.ts` says where its variables live; renderers of workers that run whole blocks walk it.
 */
import type { Expr, Label, Stmt, Var } from '../ops.ts';

/** A work-item loop: a stretch of code without barriers, to be run for every work item of the block. */
export interface WorkItemLoop {
  readonly kind: 'workItems';
  readonly body: readonly Stmt[];
  /** Variables to load from their slots at the start of each item, and to save at its end. */
  readonly loads: readonly Var[];
  readonly saves: readonly Var[];
  /** The reduction of a `syncThreadsCount/And/Or`, over all items, after the body of each. */
  readonly reduce?: Reduction | undefined;
}

export type RegionNode =
  | WorkItemLoop
  /** Straight-line code over uniform values (assignments only), to be run once for the block. */
  | { readonly kind: 'once'; readonly body: readonly Stmt[] }
  /** The condition is over uniform variables, parameters and constants. */
  | {
      readonly kind: 'if';
      readonly cond: Expr;
      readonly then: readonly RegionNode[];
      readonly else: readonly RegionNode[];
    }
  | {
      readonly kind: 'loop';
      readonly label: Label;
      readonly body: readonly RegionNode[];
      readonly update: readonly RegionNode[];
    }
  | { readonly kind: 'block'; readonly label: Label; readonly body: readonly RegionNode[] }
  | { readonly kind: 'break'; readonly label: Label }
  | { readonly kind: 'continue'; readonly label: Label }
  /** Be done with the block when no work item is live any more: `live` is a variable with a slot. */
  | { readonly kind: 'exitIfNoneLive'; readonly live: Var };

/** Threads that have returned need no care: their `pred` is one that changes nothing. */
export interface Reduction {
  readonly fn: 'count' | 'and' | 'or';
  readonly pred: Expr;
  /** i32, uniform: the number of items with a true `pred`; for and / or 1 or 0. */
  readonly result: Var;
}

/** Where a variable's value is between nodes. */
export type StorageClass =
  /** Nowhere: it is used within single items (a plain local). */
  | { readonly kind: 'region' }
  /** One local for the whole block. Items that assign it agree, and none reads it in the node that assigns it. */
  | { readonly kind: 'uniform' }
  /** One value per work item, in slot `slot` of scratch memory: `[slot][item]`. Undefined until it is saved first. */
  | { readonly kind: 'slot'; readonly slot: number };
