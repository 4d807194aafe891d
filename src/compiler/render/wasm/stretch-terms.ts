/**
 * What the values of a row are made of that is run in stretches of one quotient (`stretches.ts`): what the row has in common, what a stretch of it has,
 * threadIdx.x and the quotient.
 */
import { canFail } from '../../ir/measures.ts';
import type { Expr, Stmt, Var } from '../../ir/ops.ts';
import { exprParts, hasLoad, mapExpr, someExpr } from '../../ir/passes/walk.ts';
import { type Gen, varShape } from './gen.ts';

export type Assign = Stmt & { readonly op: 'assign' };
/** Statements that are the same for all vectors, and others. */
type Parts = readonly [steady: readonly Stmt[], moving: readonly Stmt[]];

/** A quotient, and the first running number that has it. */
interface OfStretch {
  readonly quotient: Var;
  readonly start: Var;
}

export class StretchTerms {
  readonly #g: Gen;
  readonly #times: ReadonlyMap<number, number>;
  /** Variables that are the same in all vectors so far: of a row, and then of a stretch. */
  readonly #steady: Set<number>;
  #inRow: ReadonlySet<number> = new Set();
  /** Of variables that differ from vector to vector: what they are before the choice, and what behind it. */
  readonly #moving = new Map<number, Expr>();
  readonly #own = new Map<number, Expr>();
  /** Of those that are the same for a stretch. */
  readonly #common = new Map<number, Expr>();

  constructor(g: Gen, times: ReadonlyMap<number, number>) {
    this.#g = g;
    this.#times = times;
    this.#steady = new Set(g.kernel.vars.flatMap((v) => (!times.has(v.id) && isOneValue(g, v) ? [v.id] : [])));
  }

  isSteady(e: Expr): boolean {
    if (e.op === 'special') return e.name !== 'threadIdx.x' && e.name !== 'laneId';
    if (e.op === 'var') return this.#steady.has(e.var.id);
    return e.op !== 'load' && !canFail(e) && exprParts(e).every((part) => this.isSteady(part));
  }

  /** What all vectors of a row have in common of what is done before the choice, and the rest. */
  ofRow(list: readonly Assign[]): Parts {
    const parts = this.#split(list);
    for (const s of parts[1]) if (isPlain(s)) this.#moving.set(s.var.id, s.value);
    return parts;
  }

  /** The same of a stretch, which has its quotients in common, and of what is done behind the choice. */
  ofStretch(list: readonly Stmt[], quotients: readonly OfStretch[]): Parts {
    this.#inRow = new Set(this.#steady);
    for (const { quotient, start } of quotients) for (const v of [quotient, start]) this.#steady.add(v.id);
    const parts = this.#split(list);
    for (const s of parts[0]) if (isPlain(s)) this.#common.set(s.var.id, s.value);
    for (const s of parts[1])
      if (s.op === 'assign' && this.#times.get(s.var.id) === 1 && isPlain(s)) this.#own.set(s.var.id, s.value);
    return parts;
  }

  #split(list: readonly Stmt[]): Parts {
    const [steady, moving]: [Stmt[], Stmt[]] = [[], []];
    for (const s of list) {
      const once = s.op === 'assign' && this.#times.get(s.var.id) === 1;
      const stays = once && isOneValue(this.#g, s.var) && this.isSteady(s.value);
      if (stays) this.#steady.add(s.var.id);
      (stays ? steady : moving).push(s);
    }
    return [steady, moving];
  }

  /** How much a value grows from item to item; undefined where it is something else. */
  growth(e: Expr): number | undefined {
    if (this.isSteady(e)) return 0;
    if (e.op === 'special') return e.name === 'threadIdx.x' ? 1 : undefined;
    if (e.type !== 'i32') return undefined;
    if (e.op === 'var') {
      const value = this.#valueOf(e.var);
      return value && this.growth(value);
    }
    if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
    const [a, b] = [this.growth(e.a), this.growth(e.b)];
    return a === undefined || b === undefined ? undefined : e.fn === 'add' ? a + b : a - b;
  }

  #valueOf(v: Var): Expr | undefined {
    return this.#own.get(v.id) ?? this.#moving.get(v.id);
  }

  /** An expression in terms of what there is before a stretch. */
  early(e: Expr): Expr {
    return mapExpr(e, (x) => {
      const value = x.op === 'var' ? this.#own.get(x.var.id) : undefined;
      return value ? this.early(value) : x;
    });
  }

  /** Whether a value is a sum of multiples of the quotient and of what the row has in common. */
  isEven(e: Expr, of: OfStretch): boolean {
    if (e.op === 'special' || (e.op === 'var' && (e.var === of.quotient || e.var === of.start))) return true;
    if (this.#isFixed(e)) return true;
    if (e.op === 'var') {
      const value = this.#common.get(e.var.id) ?? this.#moving.get(e.var.id);
      return value !== undefined && this.isEven(value, of);
    }
    if (e.op !== 'binary' || e.type !== 'i32') return false;
    if (e.fn === 'mul')
      return (this.#isFixed(e.a) && this.isEven(e.b, of)) || (this.#isFixed(e.b) && this.isEven(e.a, of));
    return (e.fn === 'add' || e.fn === 'sub') && this.isEven(e.a, of) && this.isEven(e.b, of);
  }

  /** Whether a value is not the same for all quotients. */
  turns(e: Expr): boolean {
    return someExpr(e, (x) => {
      if (x.op !== 'var' || this.#inRow.has(x.var.id)) return false;
      const value = this.#valueOf(x.var);
      return value === undefined || this.turns(value);
    });
  }

  /** Whether a value is the same for a row. */
  #isFixed(e: Expr): boolean {
    return !someExpr(e, (x) => (x.op === 'var' ? !this.#inRow.has(x.var.id) : x.op === 'special' && !this.isSteady(x)));
  }
}

const isOneValue = (g: Gen, v: Var): boolean => varShape(g, v) === 'U' || varShape(g, v) === 'G';

export function isPlain(s: Stmt): s is Assign {
  return s.op === 'assign' && !hasLoad(s.value) && !canFail(s.value);
}
