/**
 * Ranges of 32-bit integers: between which numbers each value of a kernel lies, from the types of the arrays that it is made of.
 *
 * For values that fit into fewer bits than their type has. Statements are gone through in order, loops until nothing changes, and
 * an expression has one range for all the times that it is evaluated. Bounds of indices, which depend on the block shape and on guards, are another matter (render/wasm/ranges.ts).
 */
import type { ElemType, Expr, Kernel, Stmt, Var } from '../ops.ts';
import { isInt } from '../ops.ts';
import { exprParts, stmtExprs, stmtLists } from './walk.ts';

export type Range = readonly [least: number, most: number];

const STORED: Readonly<Partial<Record<ElemType, Range>>> = {
  bool: [0, 1],
  i8: [-0x80, 0x7f],
  u8: [0, 0xff],
  i16: [-0x8000, 0x7fff],
  u16: [0, 0xffff],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
};

export const ANY: Range = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
const ZERO: Range = [0, 0];

const isWithin = ([low, high]: Range, [least, most]: Range): boolean => low >= least && high <= most;
const join = (a: Range, b: Range): Range => [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
const wholeOf = (type: ElemType): Range => STORED[type] ?? ANY;

/** Ranges of variables at a place, by `Var.id`. */
type Environment = Map<number, Range>;

/** Rounds of a loop, after which what still grows may be anything. Inner loops are gone through in each round of the outer. */
const ROUNDS = 3;

export class IntegerRanges {
  /** Of variables, wherever they are read. */
  readonly #variables: Environment = new Map();
  /** Of expressions, in all places where they stand. */
  readonly #known = new Map<Expr, Range>();
  /** While a loop is gone through for the sake of its variables, what is found does not count yet. */
  #trial = 0;

  constructor(kernel: Kernel) {
    this.#list(kernel.body, new Map(), new Map());
  }

  /** The range of an integer or bool; that of its type where nothing better is known. */
  of(e: Expr): Range {
    const range = this.#known.get(e) ?? this.#evaluate(e, this.#variables, new Map());
    if (e.op !== 'var') return range;
    // In a loop less may be known of a place than of all that is ever assigned.
    const whole = this.ofVar(e.var);
    return isWithin(range, whole) ? range : whole;
  }

  ofVar(v: Var): Range {
    return this.#variables.get(v.id) ?? wholeOf(v.type);
  }

  // -------------------------------------------------------------- statements

  /** Goes through a list; what it assigns is brought up to date in `env`, and all of it joined in `assigned`. */
  #list(list: readonly Stmt[], env: Environment, assigned: Environment): void {
    for (const s of list) this.#statement(s, env, assigned);
  }

  #statement(s: Stmt, env: Environment, assigned: Environment): void {
    const found = new Map<Expr, Range>();
    for (const e of stmtExprs(s)) this.#evaluate(e, env, found);
    if (this.#trial === 0) for (const [e, range] of found) this.#known.set(e, join(this.#known.get(e) ?? range, range));
    const inner = stmtLists(s);
    if (inner.length > 0) {
      this.#construct(s.op === 'loop', inner, env, assigned);
      return;
    }
    const v = s.op === 'assign' ? s.var : 'result' in s ? s.result : undefined;
    if (v === undefined) return;
    const range = (s.op === 'assign' ? found.get(s.value) : undefined) ?? wholeOf(v.type);
    env.set(v.id, range);
    assigned.set(v.id, join(assigned.get(v.id) ?? range, range));
    if (this.#trial === 0) this.#variables.set(v.id, join(this.#variables.get(v.id) ?? ZERO, range));
  }

  /** Whatever is assigned within may have been or not when control comes out, or round again: jumps are not followed. */
  #construct(loops: boolean, inner: readonly (readonly Stmt[])[], env: Environment, assigned: Environment): void {
    const once = (): { readonly within: Environment; readonly grown: readonly number[] } => {
      const within: Environment = new Map();
      const own = new Map(env);
      for (const list of inner) this.#list(list, loops ? own : new Map(env), within);
      const grown = [...within].flatMap(([id, range]) => (isWithin(range, env.get(id) ?? ZERO) ? [] : [id]));
      return { within, grown };
    };
    if (loops) {
      const rounds = this.#trial === 0 ? ROUNDS : 1;
      this.#trial++;
      for (let round = 0; ; round++) {
        const { within, grown } = once();
        if (grown.length === 0) break;
        for (const id of grown) env.set(id, round < rounds ? join(env.get(id) ?? ZERO, within.get(id) ?? ANY) : ANY);
      }
      this.#trial--;
    }
    const { within } = once();
    for (const [id, range] of within) {
      env.set(id, join(env.get(id) ?? ZERO, range));
      assigned.set(id, join(assigned.get(id) ?? range, range));
    }
  }

  // -------------------------------------------------------------- expressions

  #evaluate(e: Expr, env: Environment, found: Map<Expr, Range>): Range {
    const known = found.get(e);
    if (known !== undefined) return known;
    const whole = wholeOf(e.type);
    const of = (x: Expr): Range => this.#evaluate(x, env, found);
    for (const part of exprParts(e)) of(part);
    const value = e.type === 'bool' || isInt(e.type) ? own(e, env, whole, of) : ANY;
    // What does not fit its type wraps.
    const range = isWithin(value, whole) ? value : whole;
    found.set(e, range);
    return range;
  }
}

function own(e: Expr, env: Environment, whole: Range, of: (x: Expr) => Range): Range {
  switch (e.op) {
    case 'const':
      return [Number(e.value), Number(e.value)];
    case 'var':
      return env.get(e.var.id) ?? ZERO;
    case 'load':
      return STORED[e.mem.elem] ?? whole;
    case 'select':
      return join(of(e.a), of(e.b));
    case 'cast': {
      const target = STORED[e.to] ?? whole;
      const range = of(e.a);
      return (isInt(e.a.type) || e.a.type === 'bool') && isWithin(range, target) ? range : target;
    }
    case 'bitcast':
      return isInt(e.a.type) ? of(e.a) : whole;
    case 'unary':
      return unary(e.fn, of(e.a)) ?? whole;
    case 'binary':
      return blend(e, of) ?? binaryRange(e.fn, of(e.a), of(e.b)) ?? whole;
    default:
      return whole;
  }
}

/** `x * t + y * (c - t)` with 0 <= t <= c lies between the products of c with x and with y. */
function blend(e: Expr & { op: 'binary' }, of: (x: Expr) => Range): Range | undefined {
  if (e.fn !== 'add') return undefined;
  for (const [first, second] of [
    [e.a, e.b],
    [e.b, e.a],
  ] as const) {
    for (const [t, x] of factors(first)) {
      for (const [rest, y] of factors(second)) {
        if (rest.op !== 'binary' || rest.fn !== 'sub' || rest.a.op !== 'const' || !isSame(rest.b, t)) continue;
        const c = Number(rest.a.value);
        const [low, high] = of(t);
        if (low < 0 || high > c) continue;
        const [least, most] = join(of(x), of(y));
        return [least * c, most * c];
      }
    }
  }
  return undefined;
}

function isSame(a: Expr, b: Expr): boolean {
  return a === b || (a.op === 'var' && b.op === 'var' && a.var.id === b.var.id);
}

function factors(e: Expr): readonly (readonly [Expr, Expr])[] {
  return e.op === 'binary' && e.fn === 'mul'
    ? [
        [e.a, e.b],
        [e.b, e.a],
      ]
    : [];
}

function unary(fn: (Expr & { op: 'unary' })['fn'], [low, high]: Range): Range | undefined {
  switch (fn) {
    case 'neg':
      return [-high, -low];
    case 'abs':
      return low >= 0 ? [low, high] : [0, Math.max(-low, high)];
    case 'not':
      return [-1 - high, -1 - low];
    case 'sign':
      return [-1, 1];
    case 'uniform':
      return [low, high];
    default:
      return undefined;
  }
}

/** What an operator makes of two ranges, as long as nothing wraps; undefined for what nothing is known of. */
export function binaryRange(fn: (Expr & { op: 'binary' })['fn'], a: Range, b: Range): Range | undefined {
  const [low, high] = b;
  const count = low === high && low >= 0 && low < 32 ? 2 ** low : undefined;
  switch (fn) {
    case 'add':
      return [a[0] + low, a[1] + high];
    case 'sub':
      return [a[0] - high, a[1] - low];
    case 'mul': {
      const corners = [a[0] * low, a[0] * high, a[1] * low, a[1] * high];
      return [Math.min(...corners), Math.max(...corners)];
    }
    case 'and':
      // All but some low bits.
      if (low === high && a[0] >= 0 && Number.isInteger(Math.log2(-low)))
        return [floorTo(a[0], -low), floorTo(a[1], -low)];
      if (a[0] >= 0 || low >= 0) return [0, Math.min(a[0] >= 0 ? a[1] : high, low >= 0 ? high : a[1])];
      return bitsOf(a, b);
    case 'or':
    case 'xor':
      return bitsOf(a, b);
    case 'shl':
      return count === undefined ? undefined : [a[0] * count, a[1] * count];
    case 'shr':
      return count === undefined ? undefined : [Math.floor(a[0] / count), Math.floor(a[1] / count)];
    case 'div':
    case 'floordiv':
      return a[0] >= 0 && low > 0 ? [0, Math.floor(a[1] / low)] : undefined;
    case 'rem':
      return a[0] >= 0 && low > 0 ? [0, Math.min(a[1], high - 1)] : undefined;
    case 'min':
      return [Math.min(a[0], low), Math.min(a[1], high)];
    case 'max':
      return [Math.max(a[0], low), Math.max(a[1], high)];
    default:
      return undefined;
  }
}

const floorTo = (x: number, power: number): number => Math.floor(x / power) * power;

/** What any bitwise operation makes of two ranges: all numbers of as many bits. */
function bitsOf(a: Range, b: Range): Range {
  const [low, high] = join(a, b);
  const power = 2 ** Math.ceil(Math.log2(Math.max(high + 1, -low, 1)));
  return [low < 0 ? -power : 0, power - 1];
}
