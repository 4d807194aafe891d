/**
 * Lowering of arithmetic and comparisons of two numbers: the machine type to compute in, and what each operand becomes in it.
 */
import { binary, compare } from '../ir/builder.ts';
import { type CompareOp, type Expr, isFloat, isInt, type ValueType } from '../ir/ops.ts';
import { powerOfIntegers } from '../math/powers.ts';
import type { Pos } from '../source.ts';
import { isIntegerType, isWide, mixesSigns, plain, type Type } from '../types/lattice.ts';
import type { TExpr } from '../types/tree.ts';
import { comparing, cutTo32, numeric, typeOf } from '../types/typing.ts';
import { castTo, constant, textOf, WRAPS } from './convert.ts';
import { fail } from './diagnostics.ts';
import type { Lowering } from './lowering.ts';

/** A literal that is not an i32 makes a float of the other operand. */
function isSmall(e: TExpr): boolean {
  return e.k !== 'lit' || Math.abs(Number(e.value)) < 2 ** 31;
}

export class ArithmeticLowering {
  readonly #x: Lowering;

  constructor(x: Lowering) {
    this.#x = x;
  }

  /** `+ - * / % **`. */
  arith(e: Extract<TExpr, { k: 'arith' }>, want: ValueType | undefined): Expr {
    if (cutTo32(e)) return { op: 'cast', type: 'u32', to: 'u32', a: this.#x.to(e.a, 'u32', WRAPS), pos: e.pos };
    const wraps = e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul';
    const t = typeOf(e);
    if (e.fn !== 'pow' || !isIntegerType(t) || isWide(typeOf(e.a)) !== isWide(typeOf(e.b)))
      this.#x.operands(e.fn, e, e.a, e.b, !wraps);
    const m = this.#x.computed(e, t, want);
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
    if (!isFloat(m)) return this.#integerPower(e, m);
    const type = m === 'f32' ? 'f32' : 'f64';
    const [ta, tb] = [numeric(typeOf(e.a)), numeric(typeOf(e.b))];
    if (isIntegerType(ta) && isIntegerType(tb) && isSmall(e.a) && isSmall(e.b))
      return powerOfIntegers(type, this.#own(e.a), this.#own(e.b), (x) => this.#x.hold(x, e.pos));
    if (e.b.k === 'lit' && e.b.value === 2) {
      const a = this.#x.hold(this.#x.to(e.a, type), e.pos);
      return { op: 'binary', type, fn: 'mul', a, b: a, pos: e.pos };
    }
    return { op: 'call', type, fn: 'pow', args: [this.#x.to(e.a, type, {}, t), this.#x.to(e.b, type, {}, t)] };
  }

  /** An integer in its own type. */
  #own(e: TExpr): Expr {
    return this.#x.to(e, this.#x.machine(numeric(typeOf(e))));
  }

  #integerPower(e: Extract<TExpr, { k: 'arith' }>, m: ValueType): Expr {
    const { a, b, pos } = e;
    if (b.k === 'lit' && Number(b.value) < 0)
      return fail('K217', b.pos, `a bigint to the power of ${String(b.value)} is not a bigint`, {
        help: `write Number(${textOf(a.pos)}) ** ${String(b.value)}`,
      });
    // The sign of the exponent counts, that of the base does not: the lower bits of the power are the same.
    const tb = plain(numeric(typeOf(b)));
    const isWide = m === 'i64' || m === 'u64';
    const unsigned = tb === 'u32' || tb === 'u64' || (b.k === 'lit' && m.startsWith('u'));
    const type = unsigned ? (isWide ? 'u64' : 'u32') : isWide ? 'i64' : 'i32';
    const base = castTo(this.#x.to(a, m), type, pos);
    return castTo({ op: 'binary', type, fn: 'ipow', a: base, b: this.#x.to(b, type), pos }, m, pos);
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
