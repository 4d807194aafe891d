/**
 * Lowering of what looks at the bits of integers: bit operations, shifts, conversions modulo 2³², and the intrinsics of integers.
 */
import { spelled } from '../intrinsics.ts';
import { intrinsic } from '../ir/builder.ts';
import { type Expr, isFloat, type ValueType } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { isBlend, isFloatType, isWide } from '../types/lattice.ts';
import type { TExpr } from '../types/tree.ts';
import { computedIn, integersOf, isSmallLong, typeOf } from '../types/typing.ts';
import { castTo, constant, convert, described, textOf } from './convert.ts';
import { fail } from './diagnostics.ts';
import { isFraction } from './lower-quotients.ts';
import type { Lowering } from './lowering.ts';

export class BitLowering {
  readonly #x: Lowering;
  /** Whether floats may saturate where bit operations cut them to integers. */
  readonly #saturates: boolean;

  constructor(x: Lowering, saturates: boolean) {
    this.#x = x;
    this.#saturates = saturates;
  }

  /**
   * An operand of a bit operation: floats become integers as JavaScript says, literals may be bit patterns of either sign. `blends`: an index that
   * has met data is checked when it is cut, as an index is.
   */
  operand(e: TExpr, m: ValueType, blends = false): Expr {
    if (e.k === 'lit') {
      if (typeof e.value === 'number' && !Number.isInteger(e.value))
        return this.#bitsOf({ op: 'const', type: 'f64', value: e.value }, m, e.pos);
      return constant(e.value, m, e.pos, true);
    }
    const quotient = this.#x.quotients.truncated(e);
    if (quotient !== undefined) return castTo(quotient, m, e.pos);
    const a = this.#x.lower(e, m);
    const t = typeOf(e);
    if (isSmallLong(e)) return castTo(a, m, e.pos);
    if (isWide(t) !== (m === 'i64' || m === 'u64') && !(t === 'idx' || t === 'int' || t === 'L') && isWide(t))
      return convert(a, t, m, e, this.#x.indexBits);
    return this.#bitsOf(a, m, e.pos, this.#checked(e, blends) && (m === 'i32' || (blends && m === 'u32')));
  }

  /** An operand of type `m`: JavaScript takes floats modulo 2³². */
  #bitsOf(a: Expr, m: ValueType, pos: Pos, checked = false): Expr {
    const wraps = isFloat(a.type) && (m === 'i32' || m === 'u32') && !this.#saturates;
    return castTo(wraps ? { op: 'unary', type: 'i32', fn: 'toInt32', a } : a, m, pos, checked);
  }

  /** Whether an index of 64 bits is checked when it is cut: what has met numbers beyond i32 is meant to wrap, and so is what `>>> 0` makes unsigned. */
  #checked(e: TExpr, blends = false): boolean {
    const t = typeOf(e);
    return (t === 'idx' || (blends && isBlend(t))) && this.#x.indexBits === 64 && this.#x.signs.beyond(e) === undefined;
  }

  /** An integer of which the bits count, in type `m`. */
  bits(e: TExpr, m: ValueType, what: string): Expr {
    return this.operand(this.integer(e, what), m);
  }

  word(e: Extract<TExpr, { k: 'word' }>): Expr {
    const a = this.integer(e.a, e.what);
    return a.k === 'lit' ? this.operand(a, e.to) : castTo(this.#x.lower(a, e.to), e.to, e.pos);
  }

  /** Refuses floats where bits are what counts. */
  integer(e: TExpr, what: string): TExpr {
    const t = typeOf(e);
    const whole = e.k === 'lit' ? Number.isInteger(Number(e.value)) : !isFloatType(t);
    if (whole) return e;
    return fail('K215', e.pos, `${what} needs an integer, but ${textOf(e.pos)} is ${described(t)}`, {
      help: `write Math.trunc(${textOf(e.pos)}) | 0, or i32(${textOf(e.pos)})`,
    });
  }

  toInt(e: Extract<TExpr, { k: 'toInt' }>): Expr {
    const t = typeOf(e.a);
    const to: ValueType = this.#x.machine(typeOf(e));
    if (isWide(t)) return this.#x.lower(e.a, to);
    const q = this.#x.quotients.truncated(e.a);
    if (q !== undefined) return castTo(q, to, e.pos);
    if (e.a.k === 'lit') return this.operand(e.a, to);
    const a = isFraction(e.a) ? this.#x.to(e.a, 'f64') : this.#x.lower(e.a, undefined);
    const cut = this.#bitsOf(a, to, e.pos, this.#checked(e.a) && to === 'i32');
    // A cast that changes nothing says that what is inside may wrap, which the simulator would report otherwise.
    return cut === a && a.op !== 'const' ? { op: 'cast', type: to, to, a, pos: e.pos } : cut;
  }

  intrinsic(e: Extract<TExpr, { k: 'intrinsic' }>): Expr {
    const { fn, args } = e;
    const name = spelled(fn.name);
    for (const [k, a] of args.entries()) {
      this.integer(a, name);
      for (const b of args.slice(0, k)) this.#x.operands(name, e, b, a, true);
    }
    const type = computedIn(fn, integersOf(args));
    if (type === undefined) {
      const { pos } = args.find((a) => isWide(typeOf(a))) ?? e;
      return fail('K215', pos, `${name} needs integers of 32 bits, but ${textOf(pos)} has 64`, {
        help: `write i32(${textOf(pos)}) or u32(${textOf(pos)})`,
      });
    }
    // Where there is one, its bits are what counts.
    if (args.length > 1) for (const a of args) if (a.k !== 'lit') this.#x.settled(a, name, type);
    const operands = args.map((a) => this.operand(a, type, true));
    const value =
      fn.evaluate === undefined && fn.expand !== undefined
        ? fn.expand(...operands.map((a) => this.#x.hold(a, e.pos)))
        : intrinsic(fn, ...operands);
    return castTo(value, this.#x.machine(typeOf(e)), e.pos);
  }
}
