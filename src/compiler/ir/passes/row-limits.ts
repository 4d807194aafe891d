/**
 * What a whole row of items would ask of an index: whether it is inside for each of them, in terms of the block and of parameters.
 */
import { add, and, binary, cast, compare, i64, or } from '../builder.ts';
import { conjuncts, MIRRORED, mayFail } from '../measures.ts';
import type { Expr, Var } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { isRead } from './round-copies.ts';
import { type Assignments, isConstant } from './row-bases.ts';
import { mapExpr, someExpr } from './walk.ts';

/** A place as a sum: what is the same for all items, in 64 bits, and whether threadIdx.x is added to it. */
export interface Place {
  readonly base: Expr;
  readonly ofItem: boolean;
}

/** A round of a loop: what its counter is, in 64 bits. */
export interface Round {
  readonly counter: Var;
  readonly at: Expr;
}

export class RowLimits {
  readonly #assignments: Assignments;
  readonly #width: number;
  /** The last item that the guard lets through, where it is `c < n` with a c that is threadIdx.x and something else. */
  readonly #last: Expr | undefined;
  /** What must hold besides: that such a c does not wrap. */
  readonly assumed: readonly Expr[];

  constructor(assignments: Assignments, width: number, guard: Expr | undefined) {
    this.#assignments = assignments;
    this.#width = width;
    const bounds = guard === undefined ? [] : conjuncts(guard).flatMap((e) => this.#bound(e) ?? []);
    const [bound] = bounds;
    this.#last = bound && binary('sub', wide(bound.limit), add(bound.base, i64(1)));
    const highest = i64(2 ** 31 - width);
    this.assumed = bound ? [compare('ge', bound.base, i64(0)), compare('le', bound.base, highest)] : [];
  }

  #bound(e: Expr): { readonly base: Expr; readonly limit: Expr } | undefined {
    if (e.op !== 'compare' || e.a.type !== 'i32') return undefined;
    const [fn, a, b] = e.fn === 'gt' ? [MIRRORED[e.fn], e.b, e.a] : [e.fn, e.a, e.b];
    const [place, limit] = [this.place(a), this.settled(b)];
    return fn === 'lt' && place?.ofItem === true && limit !== undefined ? { base: place.base, limit } : undefined;
  }

  /** Whether a place is below an extent for all items of the row, or for all that the guard lets through. */
  fits({ base, ofItem }: Place, extent: Expr): Expr {
    const within = (last: Expr): Expr => compare('lt', foldExpr(add(base, last)), extent);
    const first = and(compare('ge', base, i64(0)), compare('lt', base, extent));
    if (!ofItem) return first;
    const last = this.#last;
    const inRow = within(i64(this.#width - 1));
    return and(first, last === undefined ? inRow : or(inRow, within(last)));
  }

  /** An index as a place; of a round, where it has its counter. In 64 bits nothing is lost of what 32 bits keep. */
  place(e: Expr, round?: Round): Place | undefined {
    const of = (x: Expr): Place | undefined => this.place(x, round);
    if (e.op === 'special' && e.name === 'threadIdx.x') return { base: i64(0), ofItem: true };
    if (round !== undefined && isRead(e, round.counter)) return { base: round.at, ofItem: false };
    if (e.op === 'var' && isConstant(e, this.#assignments)) {
      const [value] = this.#assignments.get(e.var.id) ?? [];
      return value && of(value);
    }
    if (e.op === 'binary' && (e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul') && e.type === 'i32') {
      const [a, b] = [of(e.a), of(e.b)];
      if (a === undefined || b === undefined || (a.ofItem && b.ofItem)) return undefined;
      if ((e.fn === 'mul' && (a.ofItem || b.ofItem)) || (e.fn === 'sub' && b.ofItem)) return undefined;
      return { base: foldExpr(binary(e.fn, a.base, b.base)), ofItem: a.ofItem || b.ofItem };
    }
    const settled = e.type === 'i32' ? this.settled(e) : undefined;
    return settled && { base: wide(settled), ofItem: false };
  }

  /** A value in terms of parameters and of the block alone; undefined where that cannot be said. */
  settled(e: Expr): Expr | undefined {
    if (mayFail(e) || !isConstant(e, this.#assignments)) return undefined;
    const inTerms = (x: Expr): Expr =>
      mapExpr(x, (part) => {
        const [value] = part.op === 'var' ? (this.#assignments.get(part.var.id) ?? []) : [];
        return value === undefined ? part : inTerms(value);
      });
    const value = inTerms(e);
    const ofItem = someExpr(
      value,
      (x) => x.op === 'special' && (x.name.startsWith('threadIdx') || x.name === 'laneId'),
    );
    return ofItem ? undefined : value;
  }
}

export function wide(e: Expr): Expr {
  return foldExpr(cast('i64', e));
}
