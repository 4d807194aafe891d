/**
 * Lowering of expressions: the typed tree becomes IR, with every conversion written out.
 *
 * `lower(e, want)` gives a value of machine type `want`; values without a type of their own (literals, quotients of integers)
 * are computed in it. Without `want` the expression's own type decides, else the defaults.
 */
import { CLZ } from '../intrinsics/operations.ts';
import { spelled } from '../intrinsics.ts';
import { binary, bitcast, fma, intrinsic } from '../ir/builder.ts';
import {
  type ArraySym,
  ELEM_SIZE,
  type Expr,
  isFloat,
  isInt,
  type MathFn,
  type Stmt,
  type ValueType,
  type Var,
} from '../ir/ops.ts';
import { exact } from '../math/exact.ts';
import { lowerGraphs } from '../math/lower.ts';
import { specialBody } from '../math/special/bodies.ts';
import { isSpecial, type SpecialFn } from '../math/special/names.ts';
import type { Pos } from '../source.ts';
import {
  isBlend,
  isHalf,
  isIntegerType,
  isPolymorphic,
  isWide,
  machine,
  mixesSigns,
  nameOf,
  type Type,
} from '../types/lattice.ts';
import { holdsPower } from '../types/powers.ts';
import { Signs } from '../types/signs.ts';
import type { Range, ScalarArg, TExpr, TStmt } from '../types/tree.ts';
import { floatOf, isSmallLong, meeting, numeric, typeOf } from '../types/typing.ts';
import { ComplexLowering } from './complex-lowering.ts';
import { castTo, constant, convert, is32, textOf, type Use, WRAPS } from './convert.ts';
import { fail } from './diagnostics.ts';
import { halfBits, halfValue, tested } from './float-parts.ts';
import { ArithmeticLowering } from './lower-arithmetic.ts';
import { BitLowering } from './lower-bits.ts';
import { clamped, lowerCast } from './lower-casts.ts';
import { refuseTooLarge, rounded } from './lower-halves.ts';
import { MemoryLowering, type Writer } from './lower-memory.ts';
import { lowerNative } from './lower-native.ts';
import { QuotientLowering } from './lower-quotients.ts';
import type { Lowering } from './lowering.ts';
import { refuseMix, refuseOpenSign } from './mixing.ts';
import type { Symbols } from './symbols.ts';

export interface LoweringOptions {
  readonly defaultFloat: 'f32' | 'f64';
  readonly fastMath: boolean;
}

export class ExpressionLowering implements Lowering {
  readonly symbols: Symbols;
  readonly indexBits: 32 | 64;
  readonly defaultFloat: 'f32' | 'f64';
  /** Statements needed before the one being lowered: only temporaries. */
  readonly hold: (value: Expr, pos: Pos) => Expr;

  readonly memory: MemoryLowering;
  readonly quotients: QuotientLowering;
  readonly signs: Signs;
  readonly #emit: (s: Stmt) => void;
  readonly #complex: ComplexLowering;
  readonly #bits: BitLowering;
  readonly #arithmetic = new ArithmeticLowering(this);

  constructor(
    symbols: Symbols,
    body: readonly TStmt[],
    ranges: readonly Range[],
    { defaultFloat, fastMath }: LoweringOptions,
    { hold, emit, collect }: Writer,
  ) {
    this.symbols = symbols;
    this.memory = new MemoryLowering(symbols, (e) => this.index(e), { hold, emit, collect });
    this.quotients = new QuotientLowering(this, body);
    this.signs = new Signs(ranges);
    this.indexBits = symbols.indexBits;
    this.defaultFloat = defaultFloat;
    this.#bits = new BitLowering(this, fastMath);
    this.hold = hold;
    this.#emit = emit;
    this.#complex = new ComplexLowering(symbols, hold, emit);
  }

  get indexType(): 'i32' | 'i64' {
    return this.indexBits === 64 ? 'i64' : 'i32';
  }

  machine(t: Type): ValueType {
    return machine(t, this.indexBits, this.defaultFloat);
  }

  /** The machine type to compute in, when the types of the operands say `t` and the context wants `want`. */
  settle(t: Type, want: ValueType | undefined): ValueType {
    if (!isPolymorphic(t)) return this.machine(t);
    if (want === undefined || want === 'bool') return this.machine(t);
    if (t === 'L') return want;
    if (t === 'B') return want === 'u64' ? want : 'i64';
    return isFloat(want) ? want : this.machine(t);
  }

  /** The same of an expression, of operands of type `t`: powers of integers are computed in the float that is wanted. */
  computed(e: TExpr, t: Type, want: ValueType | undefined): ValueType {
    return want !== undefined && isFloat(want) && isIntegerType(t) && holdsPower(e) ? want : this.settle(t, want);
  }

  /** A value of machine type `want`, of what is computed in type `t`: where that is a half, numbers without a type become halves, too. */
  to(e: TExpr, want: ValueType, use: Use = {}, t: Type = want): Expr {
    if (isHalf(t) && typeOf(e) !== t) {
      refuseTooLarge(e, t);
      return rounded(this.to(e, want, { ...use, store: t }), t, e.pos);
    }
    const elem = use.store ?? want;
    const wraps =
      use.wraps === true ? is32(want) || isBlend(t) : use.store !== undefined && isInt(want) && ELEM_SIZE[elem] <= 4;
    if (e.k === 'lit') {
      const cut = use.cuts && typeof e.value === 'number' && isInt(want) && !Number.isInteger(e.value);
      return constant(cut ? Math.trunc(Number(e.value) || 0) : e.value, elem, e.pos, wraps && is32(elem));
    }
    if (use.halves && isInt(want)) {
      const quotient = this.quotients.truncated(e);
      if (quotient !== undefined) return castTo(quotient, want, e.pos);
    }
    if (!wraps) this.settled(e, use.what, want);
    const a = this.lower(e, want);
    if (isSmallLong(e) && want === 'u64') return castTo(a, want, e.pos);
    // 32 bits of an index are JavaScript's modulo 2³², too, once they have met what is beyond i32.
    if (wraps && typeOf(e) === 'idx' && this.signs.beyond(e) !== undefined) return castTo(a, elem, e.pos);
    return a.type === want ? a : convert(a, typeOf(e), want, e, this.indexBits, { ...use, wraps });
  }

  /** Refuses an integer whose 32 bits may stand for two numbers, where it is computed in `want`. */
  settled(e: TExpr, what = 'this', want: ValueType = 'i32'): TExpr {
    const t = typeOf(e);
    const beyond = t === 'idx' && this.indexBits === 64 ? undefined : this.signs.beyond(e);
    if (beyond === undefined || (t === 'L' && want !== 'i32')) return e;
    return refuseOpenSign(what, e, beyond);
  }

  /** As an index. */
  index(e: TExpr): Expr {
    if (e.k === 'index') return this.index(e.a);
    if (e.k === 'cast' && e.by === 'Number' && isWide(typeOf(e.a)) && typeOf(e.a) !== 'B') return this.#cutIndex(e.a);
    if (e.k === 'lit') return constant(e.value, this.indexType, e.pos);
    this.settled(e, 'an index', this.indexType);
    const t = typeOf(e);
    if (isWide(t)) {
      return fail('K234', e.pos, `an index is a number, but ${textOf(e.pos)} is ${nameOf(t)}`, {
        help: `write Number(${textOf(e.pos)})`,
      });
    }
    const a = this.lower(e, this.indexType);
    if (isInt(a.type)) return castTo(a, this.indexType, e.pos);
    return convert(a, t, this.indexType, e, this.indexBits, { what: 'an index' });
  }

  /** A bigint as an index, without a float between: checked where it is cut. */
  #cutIndex(e: TExpr): Expr {
    return castTo(this.lower(e, undefined), this.indexType, e.pos, this.indexBits === 32);
  }

  /** As a condition. */
  bool(e: TExpr): Expr {
    if (e.k === 'truth') return this.bool(e.a);
    const a = this.lower(e, undefined);
    return a.type === 'bool' ? a : castTo(a, 'bool', e.pos);
  }

  /** The value, in its own type or, where it has none, in `want`. The result need not be of type `want`. */
  lower(e: TExpr, want: ValueType | undefined): Expr {
    switch (e.k) {
      case 'lit':
        return constant(e.value, this.settle(typeOf(e), want), e.pos);
      case 'local': {
        const v = this.symbols.variable(e);
        return { op: 'var', type: v.type, var: v };
      }
      case 'arg':
        return this.#argument(e.arg);
      case 'special':
        return this.#special(e);
      case 'extent':
        return this.symbols.extent(e.root, e.axis);
      case 'stride':
        return this.symbols.stride(e.root, e.axis, e.unit);
      case 'index':
        return this.index(e);
      case 'arith':
        // A remainder has no more digits than its operands.
        return e.fn === 'rem'
          ? this.#arithmetic.arith(e, want)
          : rounded(this.#arithmetic.arith(e, want), typeOf(e), e.pos);
      case 'neg':
      case 'abs':
      case 'sign': {
        const m = this.computed(e, numeric(typeOf(e.a)), want);
        const a = this.to(e.a, m, e.k === 'neg' ? WRAPS : { what: `Math.${e.k}` }, numeric(typeOf(e.a)));
        if (a.op === 'const' && e.k === 'neg' && typeof a.value === 'number')
          return { ...a, value: isFloat(m) ? -a.value : -a.value | 0 };
        return { op: 'unary', type: m, fn: e.k, a, pos: e.pos };
      }
      case 'widen':
        return this.to(e.a, this.settle(numeric(typeOf(e.a)), want));
      case 'plus': {
        const t = typeOf(e.a);
        if (isWide(t))
          return fail('K204', e.pos, 'unary + is not defined for bigints', {
            help: `write Number(${textOf(e.a.pos)})`,
          });
        return this.to(e.a, this.computed(e, numeric(t), want), WRAPS, numeric(t));
      }
      case 'bitnot': {
        const m = this.settle(typeOf(e), want);
        return { op: 'unary', type: m, fn: 'not', a: this.#bits.operand(e.a, m) };
      }
      case 'not': {
        const a = this.bool(e.a);
        return { op: 'unary', type: 'bool', fn: 'not', a };
      }
      case 'truth':
        return this.bool(e.a);
      case 'absent':
        if (e.known !== undefined) return constant(e.known, 'bool', e.pos);
        return { op: 'unary', type: 'bool', fn: 'not', a: this.bool(e.a) };
      case 'logic': {
        const a = this.bool(e.a);
        // What is known of optional values may leave one side.
        if (a.op === 'const') return Boolean(a.value) === (e.fn === 'and') ? this.bool(e.b) : a;
        return { op: 'binary', type: 'bool', fn: e.fn, a, b: this.bool(e.b) };
      }
      case 'bits': {
        const [ta, tb] = [typeOf(e.a), typeOf(e.b)];
        if (isWide(ta) || isWide(tb)) this.operands(e.fn === 'and' ? '&' : e.fn === 'or' ? '|' : '^', e, e.a, e.b);
        const m = this.settle(typeOf(e), want !== undefined && isInt(want) ? want : undefined);
        return { op: 'binary', type: m, fn: e.fn, a: this.#bits.operand(e.a, m), b: this.#bits.operand(e.b, m) };
      }
      case 'shift': {
        const m = this.settle(typeOf(e), want !== undefined && isInt(want) ? want : undefined);
        const a = this.#bits.operand(e.a, m);
        const b = this.#bits.operand(e.b, m);
        return { op: 'binary', type: m, fn: e.fn === 'shl' ? 'shl' : 'shr', a, b };
      }
      case 'compare':
        return this.#arithmetic.compare(e.fn, e.a, e.b, e);
      case 'select': {
        this.operands('?:', e, e.a, e.b);
        const t = typeOf(e);
        const m = t === 'bool' ? 'bool' : this.computed(e, t, want);
        const part = (x: TExpr): Expr => this.to(x, m, WRAPS, t);
        return { op: 'select', type: m, cond: this.bool(e.cond), a: part(e.a), b: part(e.b) };
      }
      case 'minmax': {
        this.operands(e.fn, e, e.a, e.b, true);
        const t = numeric(typeOf(e));
        let m = this.computed(e, t, want);
        if (e.fn === 'copysign' && !isFloat(m)) m = this.defaultFloat;
        const fn = isFloat(m) || e.fn === 'copysign' ? e.fn : e.fn === 'fmin' ? 'min' : e.fn === 'fmax' ? 'max' : e.fn;
        const what = { what: `Math.${e.fn}` };
        return { op: 'binary', type: m, fn, a: this.to(e.a, m, what, t), b: this.to(e.b, m, what, t) };
      }
      case 'cast':
        return lowerCast(this, e, want);
      case 'word':
        return this.#bits.word(e);
      case 'round':
        return this.quotients.round(e, want);
      case 'toInt':
        return this.#bits.toInt(e);
      case 'imul':
        return binary('mul', this.#bits.operand(e.a, 'i32'), this.#bits.operand(e.b, 'i32'));
      case 'clz32':
        return castTo(intrinsic(CLZ, this.#bits.operand(e.a, 'u32')), 'i32', e.pos);
      case 'intrinsic':
        return this.#bits.intrinsic(e);
      case 'test': {
        const a = this.lower(e.a, undefined);
        return tested(e.fn, a, (value) => this.hold(value, e.pos));
      }
      case 'math': {
        const t = typeOf(e);
        const m = this.#floatOf(t, want);
        const args = e.args.map((a) => this.to(a, m, { what: e.fn }, t));
        const { fn } = e;
        if (isSpecial(fn)) return rounded(this.#approximated(fn, args, e.pos), t, e.pos);
        const fast = e.fast === true ? { fast: true } : {};
        const [a, b] = args;
        if (fn === 'sqrt' && a !== undefined) return rounded({ op: 'unary', type: m, fn, a, ...fast }, t, e.pos);
        if ((fn === 'fmod' || fn === 'div') && a !== undefined && b !== undefined)
          return rounded({ op: 'binary', type: m, fn: fn === 'fmod' ? 'rem' : fn, a, b, ...fast }, t, e.pos);
        return rounded({ op: 'call', type: m, fn: fn as MathFn, args, ...fast }, t, e.pos);
      }
      case 'exact':
        return rounded(this.#exact(e, want), typeOf(e), e.pos);
      case 'bitcast':
        return bitcast(
          e.to,
          isFloat(e.from) ? this.to(e.a, e.from, { what: e.what }) : this.#bits.bits(e.a, e.from, e.what),
        );
      case 'half': {
        const hold = (value: Expr): Expr => this.hold(value, e.pos);
        if (e.fn === 'bits') return halfBits(this.to(e.a, 'f32', { what: e.what }), hold);
        return halfValue(this.#bits.bits(e.a, 'i32', e.what), hold);
      }
      case 'fma': {
        const t = typeOf(e);
        const m = this.#floatOf(t, want);
        const part = (x: TExpr): Expr => this.to(x, m, {}, t);
        return fma(part(e.args[0]), part(e.args[1]), part(e.args[2]), isHalf(t) ? t : undefined);
      }
      case 'like': {
        const t = numeric(typeOf(e));
        return this.to(e.a, this.settle(t, want), {}, t);
      }
      case 'complex': {
        const m = this.#floatOf(typeOf(e), want);
        return this.#complex.part(e, m, (a) => this.to(a, m, { what: e.fn }));
      }
      case 'uniform': {
        const a = this.lower(e.a, want);
        return { op: 'unary', type: a.type, fn: 'uniform', a, pos: e.pos };
      }
      case 'load':
        // A JavaScript array of halves is one of f32, and may have been given what is none.
        return rounded(this.memory.load(e.mem), e.mem.root.open?.type, e.pos);
      case 'native':
        return rounded(
          lowerNative(e, this.settle(typeOf(e), want), (x, m, use) => this.to(x, m, use, typeOf(e))),
          typeOf(e),
          e.pos,
        );
      case 'address':
        return { op: 'address', type: 'u64', mem: this.memory.ref(e.mem) };
      case 'available':
        return { op: 'available', type: 'bool', fn: e.fn };
    }
  }

  #special(e: Extract<TExpr, { k: 'special' }>): Expr {
    const { name, pos } = e;
    const value: Expr = { op: 'special', type: name === 'sharedBytes' ? 'u32' : 'i32', name };
    return typeOf(e) === 'idx' ? castTo(value, this.indexType, pos) : value;
  }

  #floatOf(t: Type, want: ValueType | undefined): 'f32' | 'f64' {
    const m = this.settle(t, want);
    if (m === 'f32' || m === 'f64') return m;
    return want === 'f32' || want === 'f64' ? want : this.defaultFloat;
  }

  #argument(arg: ScalarArg): Expr {
    const value = this.symbols.scalar(arg, this.machine(arg.type ?? 'A'));
    return arg.type === arg.given ? value : rounded(value, arg.type, arg.pos);
  }

  /** Refuses operands that do not mix; `signed`: where the sign counts. */
  operands(operator: string, e: TExpr, a: TExpr, b: TExpr, signed = false): void {
    const ta = numeric(typeOf(a));
    const tb = numeric(typeOf(b));
    if (meeting(a, b) !== undefined && !(signed && mixesSigns(ta, tb))) return;
    refuseMix(operator, e, a, b);
  }

  #exact(e: Extract<TExpr, { k: 'exact' }>, want: ValueType | undefined): Expr {
    const t = e.fn === 'exponent' ? floatOf(e.args) : typeOf(e);
    const m = this.#floatOf(t, e.fn === 'exponent' ? undefined : want);
    const args = e.args.map((a) => this.to(a, m, { what: e.fn }, t));
    const by = e.by && this.to(this.#bits.integer(e.by, spelled(e.fn)), 'i32', { what: 'the power' });
    return exact(e.fn, args, by, (value) => this.hold(value, e.pos));
  }

  #approximated(fn: SpecialFn, args: readonly Expr[], pos: Pos): Expr {
    const [x] = args.map((a) => this.hold(a, pos));
    if (x === undefined) throw new Error(`${fn} without an operand`);
    const out: Stmt[] = [];
    const variable = (type: ValueType): Var => this.symbols.fresh(`%${fn}`, type);
    const to = { variable, table: (array: ArraySym) => this.symbols.table(array), pos };
    const [value = x] = lowerGraphs([specialBody(fn)(x)], out, to);
    out.forEach(this.#emit);
    return this.hold(value, pos);
  }

  /** A value of any type as stores to u8c take it, an i32. */
  clamped(e: TExpr): Expr {
    return clamped(this, e);
  }
}
