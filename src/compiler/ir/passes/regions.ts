/**
 * Barrier regions: cuts a kernel at its barriers, so that one worker can run a whole block without switching threads.
 *
 * Maximal barrier-free runs become `items` nodes, to be run for all work items of the block before the next node; control
 * that contains barriers is uniform and is run once for the block, around them. Variables that live across a barrier are
 * kept once (uniform), recomputed, or saved per work item. Takes a kernel after return lowering.
 */
import type { ArraySym, Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import type { UniformityOptions } from './uniformity.ts';

export type RegionNode =
  /** Run `body` for every work item of the block. */
  | {
      readonly kind: 'items';
      readonly body: readonly Stmt[];
      /** Context variables to load from their slots at the start of each item, and to save at its end. */
      readonly loads: readonly Var[];
      readonly saves: readonly Var[];
      /**
       * Block-uniform variables that this node assigns. Every item starts from the value that the variable had before the
       * node, and all items that assign it agree; that value is the variable's after the node.
       */
      readonly uniformWrites: readonly Var[];
      /** The reduction of a `syncThreadsCount/And/Or` after the body of each item: over items for which `live` holds. */
      readonly reduce?: Reduction | undefined;
    }
  /** Straight-line code over uniform values (assignments only), to be run once for the block. */
  | { readonly kind: 'once'; readonly body: readonly Stmt[] }
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
  /** Leave the block when no work item is live any more: `live` is a context variable. */
  | { readonly kind: 'exitIfNoneLive'; readonly live: Var };

export interface Reduction {
  readonly fn: 'count' | 'and' | 'or';
  readonly pred: Expr;
  readonly live?: Var | undefined;
  /** i32, uniform: the number of items with a true `pred`; for and / or 1 or 0. */
  readonly result: Var;
}

/** Where a variable's value is between regions. */
export type VarPlace =
  /** Nowhere: used within single nodes only (a plain local). */
  | { readonly kind: 'region' }
  /** One value for the block. */
  | { readonly kind: 'uniform' }
  /** One value per work item, in slot `slot` of the context: `[slot][item]`. */
  | { readonly kind: 'context'; readonly slot: number };

export interface Regions {
  /** The kernel with the variables that the cutting added; its body is the one that was cut. */
  readonly kernel: Kernel;
  readonly nodes: readonly RegionNode[];
  /** Whether there is a barrier at all; otherwise there is a single `items` node. */
  readonly barriers: boolean;
  /** By `Var.id`, for every variable of `kernel`. */
  readonly places: ReadonlyMap<number, VarPlace>;
  /** The context slots, in order. */
  readonly slots: readonly Var[];
  /** Local arrays whose contents live across barriers: one copy per work item. Others need one per lane. */
  readonly perItemArrays: ReadonlySet<ArraySym>;
}

export function formRegions(kernel: Kernel, live: Var | undefined, options: UniformityOptions): Regions {
  throw new Error(`not there yet ${kernel.name} ${live?.id} ${options.lanes}`);
}
