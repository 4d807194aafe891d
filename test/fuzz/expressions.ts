/**
 * Random well-typed expressions over what is in scope.
 */

import { wandering } from './masked.ts';
import { CMPS, FLOAT_BIN, FLOAT_UN, INT_BIN, INT_UN, NARROWER, QUOTIENT_OPS } from './operators.ts';
import {
  type ArrayDecl,
  count,
  ELEMS,
  type Elem,
  type Expr,
  type FuncDecl,
  isBig,
  isFloat,
  type LValue,
  type Maybe,
  type Nothing,
  NUMBERS,
  type Program,
  TYPES,
  type Ty,
  type UnOp,
  type Val,
  widened,
} from './program.ts';
import { type Random, randomValue } from './random.ts';

export interface Variable {
  readonly name: string;
  t: Ty;
  /** The same in all threads of a block. */
  readonly uniform: boolean;
  /** Kept the same by the generator, which assigns to it where the whole block comes. */
  readonly shared?: boolean;
  /** Counters of loops are not assigned to. */
  readonly fixed: boolean;
  /** A counter's exclusive bound, if it starts at 0 and steps up. */
  readonly below?: number;
}

/** A variable that may have no value. */
export interface MaybeVariable {
  readonly name: string;
  readonly t: Ty;
  readonly nothing: Nothing;
}

/** What may be named at a place. */
export interface Env {
  readonly vars: readonly Variable[];
  readonly maybes: readonly MaybeVariable[];
  /** Arrays that any element may be read of. */
  readonly readable: readonly ArrayDecl[];
  /** Arrays of which a thread may read its own elements. */
  readonly own: readonly ArrayDecl[];
  readonly scalars: Program['scalars'];
  readonly functions: readonly FuncDecl[];
  /** Only values that are the same in the whole block. */
  readonly uniform: boolean;
  /** Arrays whose elements are the same for the block, though the compiler has to be told so. */
  readonly asserted: readonly ArrayDecl[];
  /** Whether thread numbers can be named: not in device functions. */
  readonly inKernel: boolean;
  readonly threads: number;
  readonly blockThreads: number;
}

export class Expressions {
  readonly r: Random;
  constructor(r: Random) {
    this.r = r;
  }

  /** An expression of type `t`; smaller with less `depth`. */
  expr(t: Ty, env: Env, depth: number): Expr {
    if (depth <= 0 || this.r.chance(0.12)) return this.leaf(t, env, Math.min(depth, 0));
    if (t === 'bool') return this.bool(env, depth);
    const inner = depth - 1;
    return this.r.weighted<() => Expr>([
      [10, () => this.binary(t, env, inner)],
      [3, () => this.unary(t, env, inner)],
      [3, () => this.cast(t, env, inner)],
      [2, () => this.select(t, env, inner)],
      [
        isFloat(t) ? 1.5 : 0,
        () => ({
          t,
          k: 'fma',
          a: this.expr(t, env, inner),
          b: this.expr(t, env, inner),
          c: this.operand(t, env, inner),
        }),
      ],
      [
        t === 'i32' || t === 'u32' ? 0.7 : 0,
        () => ({
          t,
          k: 'dp4a',
          a: this.expr(t, env, inner),
          b: this.expr(t, env, inner),
          c: this.operand(t, env, inner),
        }),
      ],
      [isFloat(t) ? 0 : 1.5, () => this.quotient(t, env, inner)],
      [t === 'u32' ? 1 : 0, () => this.toUnsigned(env, inner)],
      [
        t === 'u64' ? 1 : 0,
        () => ({
          t,
          k: 'bin',
          op: 'ushr',
          a: this.expr(this.r.pick(['i64', 'u64']), env, inner),
          b: this.amount(t, env, inner),
        }),
      ],
      [t === 'i32' ? 1 : 0, () => this.toSigned(env, inner)],
      [2, () => this.call(t, env, inner)],
      [2, () => this.leaf(t, env, 0)],
      [this.mayAsk(t, env) ? 2 : 0, () => this.coalesce(t, env, inner)],
    ])();
  }

  // -------------------------------------------------------------- what may have no value

  private mayAsk(t: Ty, env: Env): boolean {
    return !env.uniform && [...env.maybes, ...askable(env)].some((m) => ('result' in m ? m.result : m.t) === t);
  }

  private coalesce(t: Ty, env: Env, depth: number): Expr {
    const of = this.question(t, env, depth);
    // Where there is something, it may be named.
    const known = of.k === 'name' && this.r.chance(0.5) ? of : undefined;
    if (known === undefined) return { t, k: 'coalesce', of, otherwise: this.expr(t, env, depth) };
    const narrowed = { ...env, vars: [...env.vars, { name: known.name, t, uniform: false, fixed: true }] };
    const [there, none] = [this.expr(t, narrowed, depth), this.expr(t, env, depth)];
    const c: Expr = { t: 'bool', k: 'absent', of, how: this.how(of) };
    if (this.r.chance(0.5)) return { t, k: 'sel', selp: false, c, a: none, b: there };
    return { t, k: 'sel', selp: false, c: { t: 'bool', k: 'un', op: 'not', a: c }, a: there, b: none };
  }

  how(of: Maybe): 'strict' | 'loose' | 'typeof' | 'falsy' {
    return this.r.pick(
      of.k === 'name' ? (['strict', 'loose', 'typeof', 'falsy'] as const) : (['strict', 'loose'] as const),
    );
  }

  /** Something to be asked whether it is there: a variable, a call, a choice. */
  question(t: Ty, env: Env, depth: number): Maybe {
    const { r } = this;
    const names = env.maybes.filter((m) => m.t === t);
    const fns = askable(env).filter((f) => f.result === t);
    const nothing = 'undefined';
    return r.weighted<() => Maybe>([
      [names.length > 0 ? 6 : 0, () => ({ ...r.pick(names), k: 'name' })],
      [fns.length > 0 ? 3 : 0, () => this.ask(r.pick(fns), env, depth)],
      [
        names.length + fns.length > 0 ? 1 : 4,
        () => ({
          t,
          nothing,
          k: 'choice',
          c: this.bool(env, Math.min(depth, 1)),
          a: this.maybe(t, env, depth - 1, nothing),
          b: { t, nothing, k: 'none' },
        }),
      ],
    ])();
  }

  private ask(fn: FuncDecl, env: Env, depth: number): Maybe {
    const inner = Math.min(depth - 1, 1);
    const given = this.r.chance(0.3) ? this.r.below(fn.params.length + 1) : fn.params.length;
    const args = fn.params.slice(0, given).map((p) => this.maybe(p.t, env, inner, 'undefined'));
    return { t: fn.result, nothing: 'undefined', k: 'ask', fn, args };
  }

  /** What may be given to a variable that may have no value. */
  maybe(t: Ty, env: Env, depth: number, nothing: Nothing): Maybe {
    const { r } = this;
    const names = env.maybes.filter((m) => m.t === t && m.nothing === nothing);
    return r.weighted<() => Maybe>([
      [5, () => ({ t, nothing, k: 'of', value: this.made(t, env, depth) })],
      [2, () => ({ t, nothing, k: 'none' })],
      [names.length > 0 ? 2 : 0, () => ({ ...r.pick(names), k: 'name' })],
      [nothing === 'undefined' && depth > 0 ? 2 : 0, () => this.question(t, { ...env, maybes: names }, depth - 1)],
    ])();
  }

  /** A value that is no element of an array: those are never asked whether they are there. */
  private made(t: Ty, env: Env, depth: number): Expr {
    const value = this.expr(t, env, depth);
    return value.k === 'load' ? { t, k: 'cast', to: t, a: value } : value;
  }

  /** An operand beside one that has a type: perhaps a literal without one. */
  operand(t: Ty, env: Env, depth: number): Expr {
    if (this.r.chance(0.2)) return this.polymorphic(t);
    const narrower = NARROWER[t];
    return this.expr(narrower !== undefined && this.r.chance(0.12) ? this.r.pick(narrower) : t, env, depth);
  }

  private polymorphic(t: Ty): Expr {
    // Neutral elements, and powers of two, are what passes have shorter ways for.
    if (t !== 'bool' && this.r.chance(0.3)) {
      // 2 ** 16 is no f16, and refused beside one.
      const power = 2 ** this.r.below(t === 'f16' ? 16 : t === 'i32' ? 31 : 32);
      if (isBig(t)) return { t, k: 'lit', v: BigInt(power), polymorphic: true };
      return { t, k: 'lit', v: isFloat(t) && this.r.chance(0.5) ? -1 / power : power, polymorphic: true };
    }
    if (t !== 'bool' && this.r.chance(0.2)) {
      const n = this.r.below(t === 'u32' || t === 'u64' ? 2 : 3);
      const v = n === 2 ? -1 : n === 0 && isFloat(t) && this.r.chance(0.4) ? -0 : n;
      return { t, k: 'lit', v: isBig(t) ? BigInt(v) : v, polymorphic: true };
    }
    const v = randomValue(this.r, t);
    if (typeof v === 'bigint' || typeof v === 'boolean') return { t, k: 'lit', v, polymorphic: true };
    // A literal in the text has no limits but those of its type: an f32 is rounded from the decimal.
    const plain = t === 'f32' && Number.isFinite(v) && this.r.chance(0.5) ? Math.round(v * 1000) / 1000 : v;
    return { t, k: 'lit', v: Number.isFinite(plain) && Math.abs(plain) < 3e38 ? plain : 2, polymorphic: true };
  }

  literal(t: Ty): Expr {
    return { t, k: 'lit', v: randomValue(this.r, t) };
  }

  /** `depth` counts down below 0, for the indices of loads that are leaves. */
  leaf(t: Ty, env: Env, depth: number): Expr {
    const { r } = this;
    const options: [number, () => Expr][] = [[1, () => this.literal(t)]];
    const vars = env.vars.filter((v) => v.t === t && (!env.uniform || v.uniform));
    if (vars.length > 0) options.push([5, () => ({ t, k: 'var', name: r.pick(vars).name })]);
    const scalars = env.scalars.filter((s) => widened(s.t) === t);
    if (scalars.length > 0) options.push([1, () => ({ t, k: 'var', name: r.pick(scalars).name })]);
    if (t === 'i32' && env.inKernel) options.push([1.5, () => this.special(env)]);
    const asserted = env.uniform ? env.asserted.filter((a) => widened(a.elem) === t) : [];
    if (depth >= -1 && asserted.length > 0) {
      options.push([4, () => ({ t, k: 'un', op: 'uniform', a: this.load(r.pick(asserted), env, -1) })]);
    }
    const arrays = depth < -1 ? [] : env.readable.filter((a) => widened(a.elem) === t);
    if (arrays.length > 0) options.push([4, () => this.load(r.pick(arrays), env, depth)]);
    const own = env.uniform ? [] : env.own.filter((a) => widened(a.elem) === t);
    if (own.length > 0)
      options.push([
        2,
        () => {
          const array = r.pick(own);
          return { t, k: 'load', array, at: this.own(array, env) };
        },
      ]);
    return r.weighted(options)();
  }

  private special(env: Env): Expr {
    const uniform = ['blockIdx.x', 'blockDim.x', 'blockDim.y', 'gridDim.x'] as const;
    const all = [...uniform, 'threadIdx.x', 'threadIdx.x', 'threadIdx.y', 'k', 'k', 't', 'laneId'] as const;
    return { t: 'i32', k: 'thread', what: this.r.pick<(typeof all)[number]>(env.uniform ? uniform : all) };
  }

  load(array: ArrayDecl, env: Env, depth: number): Expr {
    return { t: widened(array.elem), k: 'load', array, at: this.anywhere(array, env, depth) };
  }

  /** Any element of an array. */
  anywhere(array: ArrayDecl, env: Env, depth: number): LValue {
    const { r } = this;
    const counters = env.vars.filter(
      (v) => v.below !== undefined && v.below <= count(array) && (!env.uniform || v.uniform),
    );
    if (array.shape.length === 1 && counters.length > 0 && r.chance(0.25))
      return { form: 'counter', name: r.pick(counters).name };
    if (array.space === 'local' && r.chance(0.4)) {
      return { form: 'any', index: array.shape.map((n) => ({ t: 'i32', k: 'lit', v: r.below(n) })) };
    }
    if (!env.uniform && env.inKernel && this.ownFits(array, env) && r.chance(0.5)) return this.own(array, env);
    const counted = counters.length > 0 && r.chance(0.3);
    if (counted || (!env.uniform && env.inKernel && r.chance(0.08))) {
      const x: Expr = counted
        ? { t: 'i32', k: 'var', name: r.pick(counters).name }
        : { t: 'i32', k: 'thread', what: r.pick(['k', 't'] as const) };
      return { form: 'any', index: array.shape.map(() => wandering(r, x)) };
    }
    return {
      form: 'any',
      index: array.shape.map(() =>
        this.expr(r.chance(0.8) ? 'i32' : 'u32', env, depth < 0 ? depth - 1 : r.chance(0.2) ? 1 : -1),
      ),
    };
  }

  private ids(array: ArrayDecl, env: Env): number {
    return array.space === 'shared' || array.space === 'dynamic' ? env.blockThreads : env.threads;
  }

  private ownFits(array: ArrayDecl, env: Env): boolean {
    return array.space !== 'local' && count(array) >= this.ids(array, env);
  }

  /**
   * An element that belongs to the thread. Arrays that are written have one way to be numbered, which their name decides, so that
   * no thread comes to another's; in those that are only read every way is right.
   */
  own(array: ArrayDecl, env: Env): LValue {
    const { r } = this;
    if (array.row !== undefined) return { form: 'own', scale: array.row, offset: r.below(array.row), reverse: false };
    const [n, ids] = [count(array), this.ids(array, env)];
    if (array.space === 'in' || array.space === 'const') {
      const scale = r.pick([1, 1, 1, 2, 3].filter((s) => s * ids <= n));
      return { form: 'own', scale, offset: r.chance(0.5) ? 0 : r.below(n - scale * (ids - 1)), reverse: r.chance(0.2) };
    }
    const scale = Math.min(Math.floor(n / ids), 3);
    return { form: 'own', scale, offset: r.below(scale), reverse: Number(array.name.replace(/\D/g, '')) % 2 === 0 };
  }

  private binary(t: Ty, env: Env, depth: number): Expr {
    const { r } = this;
    const float = isFloat(t);
    const op = r.pick(
      float
        ? FLOAT_BIN
        : isBig(t)
          ? [...INT_BIN, 'div' as const]
          : t === 'i32'
            ? [...INT_BIN, 'imul' as const]
            : INT_BIN,
    );
    if (op === 'pow') return { t, k: 'bin', op, a: this.expr(t, env, depth), b: this.exponent(t, env, depth) };
    if (op === 'shl' || op === 'shr') {
      const from = t === 'i32' && r.chance(0.15) ? r.pick(['f32', 'f64'] as const) : t;
      return { t, k: 'bin', op, a: this.expr(from, env, depth), b: this.amount(t, env, depth) };
    }
    if (op === 'imul') {
      return { t, k: 'bin', op, a: this.bits(env, depth), b: this.bits(env, depth) };
    }
    if (t === 'i32' && (op === 'and' || op === 'or' || op === 'xor') && r.chance(0.15)) {
      const [a, b] = [this.expr(r.pick(['f32', 'f64']), env, depth), this.bits(env, depth)];
      return r.chance(0.5) ? { t, k: 'bin', op, a, b } : { t, k: 'bin', op, a: b, b: a };
    }
    // Bit operations of i32 and u32 are i32.
    const mixed = t === 'i32' && (op === 'and' || op === 'or' || op === 'xor') && r.chance(0.3);
    const a = op === 'rem' && !float && r.chance(0.3) ? this.narrowed(t, env, depth) : this.expr(t, env, depth);
    if (op === 'copysign') return { t, k: 'bin', op, a, b: this.signed(t, env, depth) };
    if (r.chance(0.06)) return { t, k: 'bin', op, a, b: a };
    if (mixed) {
      const b = this.expr('u32', env, depth);
      return r.chance(0.5) ? { t, k: 'bin', op, a, b } : { t, k: 'bin', op, a: b, b: a };
    }
    const b = this.operand(t, env, depth);
    if (
      r.chance(0.2) &&
      b.k === 'lit' &&
      b.polymorphic &&
      (op === 'add' || op === 'sub' || op === 'mul' || op === 'min' || op === 'max')
    )
      return { t, k: 'bin', op, a: b, b: a };
    // `x | 0` is a conversion, which has a node of its own.
    if (op === 'or' && b.k === 'lit' && b.polymorphic && Number(b.v) === 0) return a;
    return { t, k: 'bin', op, a, b };
  }

  /** A float that is not NaN, whose sign is nobody's business. */
  private signed(t: Ty, env: Env, depth: number): Expr {
    const whole: Expr = { t, k: 'cast', to: t, a: this.expr('i32', env, depth) };
    return this.r.chance(0.5) ? whole : { t, k: 'un', op: 'neg', a: whole };
  }

  /** A shift count: of the same type, or for 32 bits of the other. */
  private amount(t: Ty, env: Env, depth: number): Expr {
    const { r } = this;
    if (r.chance(0.5))
      return { t, k: 'lit', v: isBig(t) ? BigInt(r.below(64)) : r.below(32), polymorphic: r.chance(0.7) };
    return isBig(t) ? this.expr(t, env, depth) : this.bits(env, depth);
  }

  /** What a bit operation of 32 bits takes: integers of either sign, and floats modulo 2³². */
  bits(env: Env, depth: number): Expr {
    const { r } = this;
    // Sums, differences and products of either sign have bits, and nothing else.
    if (r.chance(0.15)) {
      const [a, b] = [this.expr('i32', env, depth - 1), this.expr('u32', env, depth - 1)];
      const op = r.pick(['add', 'sub', 'mul'] as const);
      return r.chance(0.5) ? { t: 'i32', k: 'bin', op, a, b } : { t: 'i32', k: 'bin', op, a: b, b: a };
    }
    return this.expr(this.r.pick(['i32', 'i32', 'u32', 'u32', 'f32', 'f64']), env, depth);
  }

  private exponent(t: Ty, env: Env, depth: number): Expr {
    const { r } = this;
    const big = isBig(t);
    if (r.chance(0.3)) return { t, k: 'lit', v: big ? BigInt(r.below(9)) : r.below(9), polymorphic: true };
    const b = this.expr(t, env, depth);
    if ((t === 'u32' || t === 'u64') && r.chance(0.3)) return b;
    return { t, k: 'bin', op: 'and', a: b, b: { t, k: 'lit', v: big ? 15n : 15, polymorphic: true } };
  }

  private unary(t: Ty, env: Env, depth: number): Expr {
    const { r } = this;
    if (env.inKernel && r.chance(0.05))
      return { t, k: 'un', op: 'uniform', a: this.expr(t, { ...env, uniform: true }, depth) };
    const same = (op: UnOp): Expr => ({ t, k: 'un', op, a: this.expr(t, env, depth) });
    if (isFloat(t)) return same(r.pick(FLOAT_UN));
    if (t === 'i32' && r.chance(0.25)) {
      const op = r.pick<UnOp>(['ffs', 'clz32']);
      return {
        t,
        k: 'un',
        op,
        a: op === 'ffs' ? this.expr(r.pick(['i32', 'u32', 'i64', 'u64']), env, depth) : this.bits(env, depth),
      };
    }
    if (t === 'i32' && r.chance(0.05))
      return { t, k: 'un', op: 'not', a: this.expr(r.pick(['f32', 'f64']), env, depth) };
    if (t !== 'i32' && r.chance(0.15))
      return { t, k: 'un', op: 'brev', a: this.expr(t === 'u32' ? r.pick(['i32', 'u32']) : t, env, depth) };
    const op = r.pick(INT_UN);
    // `x ** 2` of a bigint would be a number's; a rounded quotient is a division of its own.
    const e = same(op === 'square' && isBig(t) ? 'neg' : op);
    return e.k === 'un' && isQuotient(e.a) ? e.a : e;
  }

  /** An integer that has come through another type. */
  private narrowed(t: Ty, env: Env, depth: number): Expr {
    const to = this.r.pick(ELEMS.filter((e) => e !== 'bool' && !isFloat(e) && e !== t));
    const a: Expr = {
      t: widened(to),
      k: 'cast',
      to,
      a: this.expr(this.r.pick(['i32', 'u32', 'i64', 'u64']), env, depth),
    };
    return { t, k: 'cast', to: t, a };
  }

  private cast(t: Ty, env: Env, depth: number): Expr {
    if (!isFloat(t) && this.r.chance(0.25)) return this.narrowed(t, env, depth);
    const to = this.r.pick(ELEMS.filter((e) => widened(e) === t));
    return { t, k: 'cast', to, a: this.expr(this.r.pick(TYPES), env, depth) };
  }

  private select(t: Ty, env: Env, depth: number): Expr {
    const { r } = this;
    const c = this.expr('bool', env, depth);
    // Where the condition is known, a literal without a type would be all that is left.
    const open = c.k === 'cmp' && c.a.t !== 'bool';
    const [a, b] = [this.expr(t, env, depth), open ? this.operand(t, env, depth) : this.expr(t, env, depth)];
    const [x, y] = r.chance(0.5) ? [a, b] : [b, a];
    return { t, k: 'sel', selp: r.chance(0.3), c, a: x, b: y };
  }

  private quotient(t: Ty, env: Env, depth: number): Expr {
    const op = this.r.pick(isBig(t) ? QUOTIENT_OPS.filter((x) => x !== 'or0') : QUOTIENT_OPS);
    return { t, k: 'quotient', op, ...this.fraction(t, env, depth) };
  }

  /** Numerator and denominator. */
  fraction(t: Ty, env: Env, depth: number): { readonly a: Expr; readonly b: Expr } {
    const a = this.r.chance(0.3) ? this.narrowed(t, env, depth) : this.expr(t, env, depth);
    return { a, b: this.r.chance(0.05) ? a : this.r.chance(0.3) ? this.polymorphic(t) : this.operand(t, env, depth) };
  }

  private toUnsigned(env: Env, depth: number): Expr {
    const { r } = this;
    if (r.chance(0.5))
      return { t: 'u32', k: 'un', op: 'ushr0', a: this.expr(r.pick(['i32', 'u32', 'f32', 'f64']), env, depth) };
    return {
      t: 'u32',
      k: 'bin',
      op: 'ushr',
      a: this.bits(env, depth),
      b: this.amount('i32', env, depth),
    };
  }

  private toSigned(env: Env, depth: number): Expr {
    return { t: 'i32', k: 'un', op: 'or0', a: this.expr(this.r.pick(['i32', 'f32', 'f64']), env, depth) };
  }

  private call(t: Ty, env: Env, depth: number): Expr {
    const fns = env.functions.filter((f) => f.result === t && !f.maybe);
    if (fns.length === 0) return t === 'bool' ? this.comparison('f32', env, depth) : this.binary(t, env, depth);
    const fn = this.r.pick(fns);
    return { t, k: 'call', fn, args: fn.params.map((p) => this.expr(p.t, env, Math.min(depth, 1))) };
  }

  bool(env: Env, depth: number): Expr {
    const { r } = this;
    const t = 'bool';
    const inner = depth - 1;
    const any = (list: readonly Ty[]): Ty => r.pick(list);
    return r.weighted<() => Expr>([
      [8, () => this.comparison(any(NUMBERS), env, inner)],
      [
        1,
        () => ({
          t,
          k: 'cmp',
          op: r.pick(['eq', 'ne'] as const),
          a: this.expr('bool', env, inner),
          b: this.expr('bool', env, inner),
        }),
      ],
      [
        4,
        () => ({
          t,
          k: 'logic',
          op: r.pick(['and', 'or'] as const),
          a: this.expr('bool', env, inner),
          b: this.expr('bool', env, inner),
        }),
      ],
      [2, () => ({ t, k: 'un', op: 'not', a: this.expr('bool', env, inner) })],
      [
        1.5,
        () => ({
          t,
          k: 'un',
          op: r.pick(['isNaN', 'isFinite', 'isInteger'] as const),
          a: this.expr(any(['f32', 'f64']), env, inner),
        }),
      ],
      [1, () => ({ t, k: 'cast', to: 'bool', a: this.expr(any(NUMBERS), env, inner) })],
      [0.5, () => this.select('bool', env, inner)],
      [1, () => this.call('bool', env, inner)],
      [1, () => this.leaf('bool', env, 0)],
      [env.maybes.length > 0 && !env.uniform ? 1.5 : 0, () => this.absence(env, inner)],
    ])();
  }

  private absence(env: Env, depth: number): Expr {
    const of = this.question(this.r.pick(env.maybes).t, env, depth);
    return { t: 'bool', k: 'absent', of, how: this.how(of) };
  }

  private comparison(t: Ty, env: Env, depth: number): Expr {
    if ((t === 'i32' || t === 'u32') && this.r.chance(0.06)) {
      const v = this.r.pick([2 ** 31, 2 ** 31 - 1, 2 ** 32 - 1, 2 ** 32, -(2 ** 31) - 1, -1, 1e10]);
      return {
        t: 'bool',
        k: 'cmp',
        op: this.r.pick(CMPS),
        a: this.expr(t, env, depth),
        b: { t, k: 'lit', v, polymorphic: true },
      };
    }
    const a = this.expr(t, env, depth);
    const b = this.r.chance(0.08) ? a : this.operand(t, env, depth);
    return { t: 'bool', k: 'cmp', op: this.r.pick(CMPS), a, b };
  }

  values(elem: Elem, n: number): Val[] {
    return Array.from({ length: n }, () => randomValue(this.r, elem));
  }
}

function askable(env: Env): readonly FuncDecl[] {
  return env.functions.filter((f) => f.maybe === true);
}

/** Whether an expression is a quotient of integers, or a call that gives one back. */
function isQuotient(e: Expr): boolean {
  if (e.k !== 'call') return e.k === 'bin' && e.op === 'div';
  const last = e.fn.body.at(-1);
  return last?.k === 'return' && last.value !== undefined && isQuotient(last.value);
}
