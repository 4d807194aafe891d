/**
 * Lowering of complex functions: their bodies (`compiler/math/complex.ts`) become statements before the one that uses a part. Both
 * parts of a result are computed where the first of them is used.
 */
import type { Expr, Stmt } from '../ir/ops.ts';
import { complexBodies } from '../math/complex-bodies.ts';
import { lowerGraphs } from '../math/lower.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import type { Symbols } from './symbols.ts';

type ComplexExpr = Extract<TExpr, { k: 'complex' }>;

export class ComplexLowering {
  readonly #symbols: Symbols;
  readonly #hold: (value: Expr, pos: Pos) => Expr;
  readonly #emit: (s: Stmt) => void;
  /** Parts that have been computed, by call: statements that use both stand one after the other (`complex.ts`). */
  readonly #known = new WeakMap<object, { readonly re: Expr; readonly im: Expr }>();

  constructor(symbols: Symbols, hold: (value: Expr, pos: Pos) => Expr, emit: (s: Stmt) => void) {
    this.#symbols = symbols;
    this.#hold = hold;
    this.#emit = emit;
  }

  /** One part, computed in `type`; `operand` lowers an argument. */
  part(e: ComplexExpr, type: 'f32' | 'f64', operand: (a: TExpr) => Expr): Expr {
    const known = this.#known.get(e.call);
    if (known !== undefined) return known[e.part];
    const { pos } = e;
    const args = e.args.map((a) => this.#hold(operand(a), pos));
    const { re, im } = complexBodies()[e.fn](...args);
    const out: Stmt[] = [];
    const variable = (of: Expr['type']): ReturnType<Symbols['fresh']> => this.#symbols.fresh(`%${e.fn}`, of);
    const lowered = lowerGraphs([re, im], out, { variable, table: (array) => array, pos });
    out.forEach(this.#emit);
    const [first = re, second = im] = lowered.map((x) => this.#hold(x, pos));
    const parts = { re: first, im: second };
    if (parts[e.part].type !== type) throw new Error(`${e.fn} of ${type} was computed in ${parts[e.part].type}`);
    this.#known.set(e.call, parts);
    return parts[e.part];
  }
}
