/**
 * Lowering of rounded quotients of integers (`quotients.ts`): never through a float, whatever variable or choice they come by.
 */
import { read, select } from '../ir/builder.ts';
import { type Expr, isFloat, isInt, type UnaryOp, type ValueType, type Var } from '../ir/ops.ts';
import { isFloatType } from '../types/lattice.ts';
import type { Range, TExpr, TStmt } from '../types/tree.ts';
import { integerQuotient, numeric, typeOf } from '../types/typing.ts';
import { castTo, constant } from './convert.ts';
import type { Lowering } from './lowering.ts';
import { HeldQuotients, type Quotient, roundQuotient } from './quotients.ts';

export class QuotientLowering {
  readonly #x: Lowering;
  readonly #held: HeldQuotients;

  constructor(x: Lowering, body: readonly TStmt[]) {
    this.#x = x;
    this.#held = new HeldQuotients(body);
  }

  /** `Math.floor(e)` and its like. */
  round(e: Extract<TExpr, { k: 'round' }>, want: ValueType | undefined): Expr {
    const q = integerQuotient(e.a);
    if (q !== undefined) {
      const parts = this.#of(e.a, this.#x.settle(q, want !== undefined && isInt(want) ? want : undefined));
      return roundQuotient(e.fn, parts, this.#x.hold, e.pos);
    }
    if (e.exact) return this.#x.lower(e.a, want);
    const m = isFraction(e.a) ? 'f64' : this.#x.settle(numeric(typeOf(e.a)), want);
    const a = this.#x.to(e.a, m);
    return isFloat(m) ? { op: 'unary', type: m, fn: e.fn as UnaryOp, a } : a;
  }

  /** A quotient of integers of up to 32 bits or an index, cut to an integer; undefined for all else. */
  truncated(e: TExpr): Expr | undefined {
    const t = isFloatType(typeOf(e)) ? integerQuotient(e) : undefined;
    return t === undefined ? undefined : roundQuotient('trunc', this.#of(e, this.#x.machine(t)), this.#x.hold, e.pos);
  }

  /** Numerator and denominator, of type `m`, of what is an integer quotient on some path. */
  #of(e: TExpr, m: ValueType): Quotient {
    if (e.k === 'arith' && e.fn === 'div')
      return { over: this.#x.to(e.a, m, { what: '/' }), under: this.#x.to(e.b, m, { what: '/' }) };
    if (e.k === 'plus') return this.#of(e.a, m);
    if (e.k === 'select') {
      const cond = this.#x.hold(this.#x.bool(e.cond), e.pos);
      const [a, b] = [this.#of(e.a, m), this.#of(e.b, m)];
      return { over: select(cond, a.over, b.over), under: select(cond, a.under, b.under) };
    }
    if (e.k === 'local' && e.range !== undefined && this.#held.has(e.range)) {
      const { over, under } = this.#held.of(e.range, (name) => this.#x.symbols.fresh(name, this.#type(e)));
      return { over: castTo(read(over), m, e.pos), under: castTo(read(under), m, e.pos) };
    }
    return { over: this.#x.to(e, m), under: constant(1, m, e.pos) };
  }

  #type(e: TExpr): ValueType {
    return this.#x.machine(integerQuotient(e) ?? typeOf(e));
  }

  /** What has to be assigned beside a variable whose quotient is rounded somewhere. */
  parts(range: Range, e: TExpr): readonly (readonly [v: Var, value: Expr])[] {
    if (!this.#held.has(range)) return [];
    const type = this.#type({ k: 'local', local: range.local, range, pos: e.pos });
    const held = this.#held.of(range, (name) => this.#x.symbols.fresh(name, type));
    const { over, under } = this.#of(e, type);
    return [
      [held.over, over],
      [held.under, under],
    ];
  }
}

/** A quotient of integers with its sign changed, `-(a / b)`: in double precision it rounds as the exact one does. */
export function isFraction(e: TExpr): boolean {
  if (e.k === 'neg' || e.k === 'abs')
    return typeOf(e) === 'F' && (integerQuotient(e.a) !== undefined || isFraction(e.a));
  return e.k === 'plus' && isFraction(e.a);
}
