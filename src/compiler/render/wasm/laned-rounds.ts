/**
 * Which values of a loop's rounds may be had for several rounds at once, as vectors: loads of what lies in a row, and arithmetic.
 *
 * Neighbouring rounds are lanes, so that the counter is what is consecutive. The same goes for neighbouring work items of scalar code, which
 * threadIdx.x counts. Used by `row-sums.ts` and `rare-rounds.ts`.
 */
import { canFail } from '../../ir/measures.ts';
import type { Check, Expr, Stmt, Var } from '../../ir/ops.ts';
import type { Shape } from '../../ir/passes/uniformity.ts';
import { exprParts, mapExpr, someExpr } from '../../ir/passes/walk.ts';

export type Load = Expr & { readonly op: 'load' };
export type Assign = Stmt & { readonly op: 'assign' };

/** A check of a round, and its index in terms of what is known before the first one. */
export interface Asked {
  readonly check: Check;
  readonly index: Expr;
}

/** What several rounds have at once. */
export interface LanedRounds {
  /** Values of a round that several others are made of, in order; nobody reads them when the loop is over. */
  readonly parts: readonly Assign[];
  readonly loads: readonly Load[];
  /** The indices of loads in a row, in terms of what is known before the first round. */
  readonly indices: ReadonlyMap<Load, Expr>;
  readonly checks: readonly Asked[];
  /** In terms of rounds: U is the same in all of them, C goes up by ones. */
  shape(e: Expr): Shape;
  varShape(v: Var): Shape;
}

/**
 * Gathers such values; `counter` counts the rounds, threadIdx.x where there is none. `assigned`: variables of the round. What some rounds change, and all
 * that are lanes together find the same, is `steady`.
 */
export class RoundValues {
  readonly #counter: Var | undefined;
  readonly #assigned: ReadonlySet<number>;
  readonly #steady: ReadonlySet<number>;
  readonly #shapes = new Map<number, Shape>();
  readonly #values = new Map<number, Expr>();
  readonly #parts: Assign[] = [];
  readonly #loads = new Map<Load, Expr>();
  readonly #checks = new Map<Check, Expr>();

  constructor(counter: Var | undefined, assigned: ReadonlySet<number>, steady: ReadonlySet<number> = new Set()) {
    this.#counter = counter;
    this.#assigned = assigned;
    this.#steady = steady;
  }

  readonly varShape = (v: Var): Shape => (v.id === this.#counter?.id ? 'C' : (this.#shapes.get(v.id) ?? 'U'));
  readonly shape = (e: Expr): Shape => roundShape(e, this.varShape, this.#counter === undefined);

  /** Whether a variable is one of the parts. */
  isPart(v: Var): boolean {
    return this.#shapes.has(v.id);
  }

  /** Makes an assignment a part. */
  add(s: Assign): void {
    this.#shapes.set(s.var.id, this.shape(s.value));
    this.#parts.push(s);
    this.#values.set(s.var.id, this.#inTerms(s.value));
  }

  /** Whether a value can be had for several rounds at once. `mayLoad` says which other loads may be made ahead of them. */
  isLaned(e: Expr, mayLoad: (e: Load) => boolean = () => false): boolean {
    if (e.op === 'load') return mayLoad(e) || this.#isInRow(e);
    if (canFail(e) || e.op === 'call' || e.op === 'fma') return false;
    // What is read of this round has been assigned in it.
    if (e.op === 'var' && this.#isOther(e.var) && !this.#steady.has(e.var.id)) return false;
    return exprParts(e).every((part) => this.isLaned(part, mayLoad));
  }

  get found(): LanedRounds {
    return {
      parts: this.#parts,
      loads: [...this.#loads.keys()],
      indices: this.#loads,
      checks: [...this.#checks].map(([check, index]) => ({ check, index })),
      shape: this.shape,
      varShape: this.varShape,
    };
  }

  /** Whether a variable is assigned in the round, and no part. */
  #isOther(v: Var): boolean {
    return this.#assigned.has(v.id) && !this.isPart(v);
  }

  #inTerms(e: Expr): Expr {
    return mapExpr(e, (x) => (x.op === 'var' ? (this.#values.get(x.var.id) ?? x) : x));
  }

  #isInRow(e: Load): boolean {
    const { index, array } = e.mem;
    const own = e.mem.checks.filter(({ extent }) => extent.op === 'param' || extent.op === 'const');
    if (array.space === 'local' || own.length < e.mem.checks.length || this.shape(index) === 'V') return false;
    const indices = [index, ...own.map((check) => check.index)];
    // Places are asked about ahead of all rounds.
    if (indices.some((i) => someExpr(i, (x) => x.op === 'var' && this.#isOther(x.var)))) return false;
    if (indices.some((i) => i.type !== 'i32' || someExpr(i, canFail) || this.shape(i) === 'V')) return false;
    if (own.some(({ extent }) => extent.type !== 'i32')) return false;
    this.#loads.set(e, this.#inTerms(index));
    for (const check of own) this.#checks.set(check, this.#inTerms(check.index));
    return ![...this.#checks.values()].some((x) => someExpr(x, canFail));
  }
}

/** The shape of a value over neighbouring rounds, or over neighbouring `items`. */
export function roundShape(e: Expr, varShape: (v: Var) => Shape, items = false): Shape {
  const of = (x: Expr): Shape => roundShape(x, varShape, items);
  const isWord = (x: Expr): boolean => x.type === 'i32' || x.type === 'u32';
  switch (e.op) {
    case 'var':
      return varShape(e.var);
    case 'special':
      return items && e.name === 'threadIdx.x' ? 'C' : 'U';
    case 'load':
      return of(e.mem.index) === 'U' ? 'U' : 'V';
    case 'binary': {
      const [a, b] = [of(e.a), of(e.b)];
      if (a === 'U' && b === 'U') return 'U';
      const counts =
        (e.fn === 'add' && ((a === 'C' && b === 'U') || (a === 'U' && b === 'C'))) ||
        (e.fn === 'sub' && a === 'C' && b === 'U');
      return counts && isWord(e) ? 'C' : 'V';
    }
    case 'bitcast':
      return of(e.a) === 'C' && isWord(e) && isWord(e.a) ? 'C' : of(e.a) === 'U' ? 'U' : 'V';
    default:
      return exprParts(e).every((x) => of(x) === 'U') ? 'U' : 'V';
  }
}
