/**
 * Lowering of arithmetic and comparisons of two numbers: the machine type to compute in, and what each operand becomes in it.
 */
import { binary, compare } from '../ir/builder.ts';
import { type CompareOp, type Expr, isFloat, isInt, type ValueType } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { isWide, mixesSigns, plain, type Type } from '../types/lattice.ts';
import type { TExpr } from '../types/tree.ts';
import { comparing, cutTo32, numeric, typeOf } from '../types/typing.ts';
import { constant, textOf, WRAPS } from './convert.ts';
import { fail } from './diagnostics.ts';
import type { Lowering } from './lowering.ts';

export class ArithmeticLowering {
  readonly #x: Lowering;

  constructor(x: Lowering) {
    this.#x = x;
  }

  /** `+ - * / % **`. */
  arith(e: Extract<TExpr, { k: 'arith' }>, want: ValueType | undefined): Expr {
    if (cutTo32(e)) return { op: 'cast', type: 'u32', to: 'u32', a: this.#x.to(e.a, 'u32', WRAPS), pos: e.pos };
    const wraps = e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul';
    this.#x.operands(e.fn, e, e.a, e.b, !wraps);
    const t = typeOf(e);
    const m = this.#x.settle(t, want);
    const use = wraps ? WRAPS : { what: e.fn === 'div' ? '/' : e.fn === 'rem' ? '%' : '**' };
    if (e.fn === 'div') {
      // A quotient of integers is a fraction, unless they are 64-bit ones, which divide as bigints do.
      const type = isWide(t) ? m : isFloat(m) ? m : this.#x.defaultFloat;
      return {
        op: 'binary',
        type,
        fn: 'div',
        a: this.#x.to(e.a, type, use, t),
        b: this.#x.to(e.b, type, use, t),
        pos: e.pos,
      };
    }
    if (e.fn === 'pow') return this.#power(e, m, t);
    return {
      op: 'binary',
      type: m,
      fn: e.fn,
      a: this.#x.to(e.a, m, use, t),
      b: this.#x.to(e.b, m, use, t),
      pos: e.pos,
    };
  }

  #power(e: Extract<TExpr, { k: 'arith' }>, m: ValueType, t: Type): Expr {
    if (!isFloat(m)) {
      if (e.b.k === 'lit' && Number(e.b.value) < 0) {
        return fail('K217', e.b.pos, `an integer to the power of ${String(e.b.value)} is no integer`, {
          help: `write 1 / ${textOf(e.a.pos)} ** ${-Number(e.b.value)}`,
        });
      }
      return { op: 'binary', type: m, fn: 'ipow', a: this.#x.to(e.a, m), b: this.#x.to(e.b, m), pos: e.pos };
    }
    const type = m === 'f32' ? 'f32' : 'f64';
    if (e.b.k === 'lit' && e.b.value === 2) {
      const a = this.#x.hold(this.#x.to(e.a, type), e.pos);
      return { op: 'binary', type, fn: 'mul', a, b: a, pos: e.pos };
    }
    return { op: 'call', type, fn: 'pow', args: [this.#x.to(e.a, type, {}, t), this.#x.to(e.b, type, {}, t)] };
  }

  /** `=== !== < <= > >=`. */
  compare(fn: CompareOp, ea: TExpr, eb: TExpr, e: TExpr): Expr {
    const spelling = { eq: '===', ne: '!==', lt: '<', le: '<=', gt: '>', ge: '>=' }[fn];
    const equality = fn === 'eq' || fn === 'ne';
    this.#x.operands(spelling, e, ea, eb, !equality);
    const [ta, tb] = [typeOf(ea), typeOf(eb)];
    if (ta === 'bool' && tb === 'bool' && equality) return compare(fn, this.#x.bool(ea), this.#x.bool(eb));
    const t = comparing(ea, eb) ?? numeric(ta);
    const m = this.#x.settle(t, undefined);
    const open = (x: TExpr): boolean => this.#x.signs.beyond(x) !== undefined && x.k !== 'lit';
    const bits = equality && isInt(m) && (open(ea) || open(eb));
    if (equality && !bits && mixesSigns(ta, tb) && m !== 'i64') {
      const [signed, unsigned] = plain(tb) === 'u32' ? [ea, eb] : [eb, ea];
      return this.#equalsUnsigned(fn === 'eq', signed, unsigned, e.pos);
    }
    // A literal beyond an integer's range decides the comparison: compare in double precision.
    const beyond = (x: TExpr): boolean =>
      x.k === 'lit' &&
      typeof x.value === 'number' &&
      (m === 'i32' || m === 'u32') &&
      (x.value < (m === 'i32' ? -(2 ** 31) : 0) || x.value > (m === 'i32' ? 2 ** 31 - 1 : 2 ** 32 - 1));
    const type = bits ? this.#x.settle(plain(t), undefined) : beyond(ea) || beyond(eb) ? 'f64' : m;
    const use = bits ? WRAPS : { what: spelling };
    return { op: 'compare', type: 'bool', fn, a: this.#x.to(ea, type, use, t), b: this.#x.to(eb, type, use, t) };
  }

  /** Whether an i32 is a u32, or is none: the same bits, of which the first is clear. */
  #equalsUnsigned(is: boolean, signed: TExpr, unsigned: TExpr, pos: Pos): Expr {
    const a = this.#x.hold(this.#x.to(signed, 'i32'), pos);
    const same = compare(is ? 'eq' : 'ne', a, this.#x.to(unsigned, 'i32', WRAPS));
    const positive = compare(is ? 'ge' : 'lt', a, constant(0, 'i32', pos));
    return binary(is ? 'and' : 'or', same, positive);
  }
}
