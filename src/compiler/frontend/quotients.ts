/**
 * Rounded quotients of integers: `Math.floor(a / b)`, `ceil`, `round`, `rint`, `trunc`, and the same of variables that hold quotients.
 *
 * They are computed by integer division, so that no digit is lost and a zero divisor gives 0. A variable whose quotient is rounded
 * somewhere keeps its numerator and denominator beside the fraction; which variables these are is `types/typing.ts`'s to say.
 */
import { binary, compare, constant, select } from '../ir/builder.ts';
import { type Expr, isUnsigned, type Var } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { expressionsOf, walkExpression, walkStatements } from '../types/parts.ts';
import type { Range, RoundFn, TExpr, TStmt } from '../types/tree.ts';
import { isIntegerQuotient } from '../types/typing.ts';

/** What is divided and by what, both of one integer type. */
export interface Quotient {
  readonly over: Expr;
  readonly under: Expr;
}

type Hold = (value: Expr, pos: Pos) => Expr;

/** The quotient, rounded. The least integer by -1 wraps; a zero divisor gives 0. */
export function roundQuotient(fn: RoundFn, { over, under }: Quotient, hold: Hold, pos: Pos): Expr {
  if (fn === 'trunc') return binary('div', over, under, pos);
  if (fn === 'floor') return binary('floordiv', over, under, pos);
  const { type } = over;
  const a = hold(over, pos);
  const b = hold(under, pos);
  const zero = constant(type, 0);
  const down = hold(binary('floordiv', a, b, pos), pos);
  // Has the sign of the divisor and is less than it; by a zero divisor it is the dividend.
  const rest = hold(binary('sub', a, binary('mul', down, b)), pos);
  const up = (): Expr => {
    if (fn === 'ceil') return compare('ne', rest, zero);
    const missing = hold(binary('sub', b, rest), pos);
    const farther = (below: 'lt' | 'le'): Expr =>
      isUnsigned(type)
        ? compare(below, missing, rest)
        : select(compare('lt', b, zero), compare(below, rest, missing), compare(below, missing, rest));
    if (fn === 'round') return farther('le');
    const odd = compare('ne', binary('and', down, constant(type, 1)), zero);
    return binary('or', farther('lt'), binary('and', compare('eq', missing, rest), odd));
  };
  const stays = binary('and', compare('ne', b, zero), up());
  return binary('add', down, select(stays, constant(type, 1), zero));
}

/** The variables whose quotients are rounded, and where their numerators and denominators are kept. */
export class HeldQuotients {
  readonly #held = new Map<Range, { readonly over: Var; readonly under: Var } | undefined>();

  constructor(body: readonly TStmt[]) {
    const keep = (e: TExpr): void => {
      if (e.k === 'plus') keep(e.a);
      else if (e.k === 'select') {
        keep(e.a);
        keep(e.b);
      } else if (e.k === 'local' && e.range !== undefined && !this.#held.has(e.range) && isIntegerQuotient(e)) {
        this.#held.set(e.range, undefined);
        for (const def of e.range.defs) if ('expr' in def) keep(def.expr);
      }
    };
    const visit = (e: TExpr): void => {
      switch (e.k) {
        case 'round':
        case 'toInt':
        case 'bitnot':
        case 'clz32':
          return keep(e.a);
        case 'intrinsic':
          return e.args.forEach(keep);
        case 'bits':
        case 'shift':
        case 'imul':
          keep(e.a);
          return keep(e.b);
      }
    };
    walkStatements(body, (s) => {
      for (const e of expressionsOf(s)) walkExpression(e, visit);
    });
  }

  has(range: Range): boolean {
    return this.#held.has(range);
  }

  /** Where a variable keeps them; `make` declares variables of the quotient's type. */
  of(range: Range, make: (name: string) => Var): { readonly over: Var; readonly under: Var } {
    let held = this.#held.get(range);
    if (held === undefined) {
      const { name } = range.local;
      held = { over: make(`%${name}.over`), under: make(`%${name}.under`) };
      this.#held.set(range, held);
    }
    return held;
  }
}
