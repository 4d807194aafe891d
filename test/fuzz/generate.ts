/**
 * Random programs: barriers with exchanges through shared memory, device functions, and the arrays that they use.
 *
 * Between two barriers a shared array is either written, each thread its own elements, or read by all, or updated atomically.
 * Barriers stand only where all threads of a block come: at the top, and in loops and branches on uniform values.
 */
import type { Variable } from './expressions.ts';
import { generateNarrow } from './narrow-programs.ts';
import {
  type ArrayDecl,
  type AtomicOp,
  count,
  ELEMS,
  type Elem,
  type Expr,
  isFloat,
  type LValue,
  type Program,
  type Stmt,
  TYPES,
  type Ty,
  widened,
} from './program.ts';
import { Runs } from './runs.ts';
import { COMPOUND, isShared, kindOf, type Size, type Where } from './statements.ts';
import { generateWarps } from './warp-programs.ts';

function isWordElem(e: Elem): boolean {
  return e === 'i32' || e === 'u32' || e === 'i64' || e === 'u64';
}

/** Atomic operations that come to the same in any order, if there is one of them alone. */
function orderless(t: Elem): AtomicOp[] {
  if (isFloat(t)) return ['min', 'max', 'nanMin', 'nanMax', 'add', 'sub'];
  const ops: AtomicOp[] = ['add', 'sub', 'and', 'or', 'xor', 'min', 'max', 'nanMin', 'nanMax'];
  return t === 'u32' || t === 'u64' ? [...ops, 'inc', 'dec'] : ops;
}

class Generator extends Runs {
  // -------------------------------------------------------------- memory of the kernel

  private initialise(array: ArrayDecl, w: Where): Stmt[] {
    const t = widened(array.elem);
    const env = this.env(w);
    if (array.space === 'local') {
      if (array.shape.length === 1) {
        const variable: Variable = { name: this.name('it'), t: 'i32', uniform: true, fixed: true, below: count(array) };
        const value = this.e.expr(
          t,
          { ...env, readable: env.readable.filter((a) => a !== array), vars: [...env.vars, variable] },
          2,
        );
        return [
          {
            k: 'for',
            name: variable.name,
            from: 0,
            to: count(array),
            step: 1,
            body: [{ k: 'store', array, at: { form: 'counter', name: variable.name }, value }],
          },
        ];
      }
      return Array.from(
        { length: count(array) },
        (_, i): Stmt => ({ k: 'store', array, at: this.element(array, i), value: this.e.literal(t) }),
      );
    }
    // Powers of two are less than twice the threads: each thread has one element, or two.
    const n = count(array);
    const ids = this.blockThreads;
    const value = (): Expr =>
      this.e.expr(
        t,
        { ...env, own: env.own.filter((a) => a !== array), readable: env.readable.filter((a) => a !== array) },
        2,
      );
    const list: Stmt[] = [
      { k: 'store', array, at: { form: 'own', scale: 1, offset: 0, reverse: false }, value: value() },
    ];
    if (n > ids) {
      const id: Expr = { t: 'i32', k: 'thread', what: 't' };
      const limit: Expr = { t: 'i32', k: 'lit', v: n - ids };
      list.push({
        k: 'if',
        c: { t: 'bool', k: 'cmp', op: 'lt', a: id, b: limit },
        then: [{ k: 'store', array, at: this.shifted(array, ids), value: value() }],
        else: [],
      });
    }
    return list;
  }

  /** Element t + by of a shared array. */
  private shifted(array: ArrayDecl, by: number): LValue {
    const at: Expr = {
      t: 'i32',
      k: 'bin',
      op: 'add',
      a: { t: 'i32', k: 'thread', what: 't' },
      b: { t: 'i32', k: 'lit', v: by, polymorphic: true },
    };
    if (array.shape.length === 1) return { form: 'any', index: [at] };
    const inner = Math.log2(array.shape[1] ?? 1);
    return {
      form: 'any',
      index: [{ t: 'i32', k: 'bin', op: 'shr', a: at, b: { t: 'i32', k: 'lit', v: inner, polymorphic: true } }, at],
    };
  }

  private element(array: ArrayDecl, i: number): LValue {
    const lit = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
    if (array.shape.length === 1) return { form: 'any', index: [lit(i)] };
    const inner = array.shape[1] ?? 1;
    return { form: 'any', index: [lit(Math.floor(i / inner)), lit(i % inner)] };
  }

  // -------------------------------------------------------------- phases

  private sharedArrays(): ArrayDecl[] {
    return this.arrays.filter(isShared);
  }

  /** A barrier, after which each shared array is read by all, written by its owners, or updated by all. */
  private barrier(w: Where, mayVote = true): Stmt[] {
    const { r } = this;
    let list: Stmt[] = [{ k: 'barrier' }];
    if (mayVote && r.chance(0.3)) {
      const variable: Variable = { name: this.name('vote'), t: 'i32', uniform: true, fixed: true };
      list = [
        {
          k: 'vote',
          kind: r.pick(['Count', 'And', 'Or'] as const),
          name: variable.name,
          pred: this.e.bool(this.env(w), 2),
        },
      ];
      w.scope.push(variable);
      list.push(...this.tell(variable, w));
    }
    this.shared.clear();
    this.atomics.clear();
    for (const a of this.sharedArrays()) {
      if (r.chance(0.6)) this.shared.add(a);
      else if (r.chance(0.4) && isWordElem(a.elem)) this.atomics.set(a, r.pick(orderless(a.elem)));
    }
    return list;
  }

  /** Lets the outcome of a vote be seen. */
  private tell(vote: Variable, w: Where): Stmt[] {
    const array = this.r.pick(this.outputs());
    const value: Expr = {
      t: widened(array.elem),
      k: 'cast',
      to: array.elem,
      a: { t: 'i32', k: 'var', name: vote.name },
    };
    const op = this.r.pick(COMPOUND[kindOf(value.t)]);
    const at = this.e.own(array, this.env(w));
    return [{ k: 'store', array, at, ...(op !== 'rem' && op !== 'shl' && op !== 'shr' && { op }), value }];
  }

  /** Statements that all threads of a block reach, with barriers among them. */
  private phases(n: number, w: Where, nesting: number): Stmt[] {
    const { r } = this;
    const list: Stmt[] = [];
    for (let i = 0; i < n; i++) {
      list.push(...this.list(1 + r.below(4), w));
      if (list.at(-1)?.k === 'return') list.pop();
      if (r.chance(0.5)) {
        list.push(this.share(w), ...this.list(1 + r.below(2), w));
        if (list.at(-1)?.k === 'return') list.pop();
      }
      list.push(...this.updates(w));
      if (nesting === 0 && r.chance(0.12))
        list.push({ k: 'if', c: this.e.bool(this.env(w), 2), then: [{ k: 'return' }], else: [] });
      list.push(...this.barrier(w));
      if (this.shared.size > 0 && r.chance(0.25)) list.push(this.gather(w));
      if (nesting < 2 && r.chance(0.3)) list.push(...this.nested(w, nesting));
    }
    return list;
  }

  /** Gives a variable of the whole block a value, where the whole block comes. */
  private share(w: Where): Stmt {
    const { r } = this;
    const known = w.scope.filter((v) => v.shared);
    if (known.length > 0 && r.chance(0.7)) {
      const v = r.pick(known);
      const op = v.t !== 'bool' && r.chance(0.5) ? r.pick(['add', 'sub', 'mul'] as const) : undefined;
      return { k: 'set', name: v.name, t: v.t, ...(op && { op }), value: this.e.expr(v.t, this.env(w, true), 2) };
    }
    const t = r.pick(TYPES);
    const value = this.e.expr(t, this.env(w, true), 2);
    const variable: Variable = { name: this.name('same'), t, uniform: true, fixed: true, shared: true };
    w.scope.push(variable);
    return { k: 'let', name: variable.name, value };
  }

  /** A uniform branch or loop around barriers. It begins and ends with one, as it may be skipped. */
  private nested(w: Where, nesting: number): Stmt[] {
    const { r } = this;
    if (r.chance(0.5)) {
      const c = this.e.bool(this.env(w, true), 2);
      const branch = (): Stmt[] => {
        const inner = this.inner(w);
        return [...this.barrier(inner), ...this.phases(1, inner, nesting + 1)];
      };
      const s: Stmt = { k: 'if', c, then: branch(), else: r.chance(0.3) ? branch() : [] };
      return [s, ...this.barrier(w)];
    }
    const { variable, ...bounds } = this.counter(true);
    const inner = this.inner(w);
    inner.scope.push(variable);
    const body = [...this.barrier(inner), ...this.phases(1, inner, nesting + 1)];
    return [{ k: 'for', name: variable.name, ...bounds, body }, ...this.barrier(w)];
  }

  /** Atomic updates by all threads, in an order that does not matter: one operation an array, results unused. */
  private updates(w: Where): Stmt[] {
    const { r } = this;
    if (!r.chance(0.35)) return [];
    const global = this.arrays.filter((a) => a.space === 'atomic');
    if (global.length === 0 && r.chance(0.7)) global.push(this.declareCounter());
    const array = r.pick([...global, ...this.atomics.keys()]);
    if (array === undefined) return [];
    const t = widened(array.elem);
    if (array.space === 'atomic' && !this.commutative.has(array)) this.commutative.set(array, r.pick(orderless(t)));
    const op = this.commutative.get(array) ?? this.atomics.get(array) ?? 'add';
    const env = this.env(w);
    const at: LValue = { form: 'any', index: array.shape.map(() => this.e.expr('i32', env, 1)) };
    return [this.guarded({ k: 'atomic', op, array, at, args: [this.addend(t, op, w)] }, w)];
  }

  /** A global array for all threads to update. Floats are small and whole, so that their sums are exact in any order. */
  private declareCounter(): ArrayDecl {
    const { r } = this;
    const elem = r.pick(['i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const);
    const array = this.declare('atomic', elem, r.pick([1, 2, 8]), true);
    if (!isFloat(elem)) return array;
    const small: ArrayDecl = { ...array, data: array.data.map(() => r.below(100) - 50) };
    this.arrays[this.arrays.indexOf(array)] = small;
    return small;
  }

  private guarded(s: Stmt, w: Where): Stmt {
    return this.r.chance(0.4) ? { k: 'if', c: this.e.bool(this.env(w), 1), then: [s], else: [] } : s;
  }

  private readonly commutative = new Map<ArrayDecl, AtomicOp>();

  /** What does not depend on order: small whole floats, sums of which are exact, without -0; one limit for inc and dec. */
  private addend(t: Ty, op: AtomicOp, w: Where): Expr {
    if (op === 'inc' || op === 'dec') return { t, k: 'lit', v: t === 'u64' ? 5n : 5 };
    if (!isFloat(t)) return this.expr(t, w, 2);
    return { t, k: 'cast', to: t, a: { t: 'i32', k: 'cast', to: 'i8', a: this.expr('i32', w, 2) } };
  }

  // -------------------------------------------------------------- the program

  private function(): void {
    const { r } = this;
    const params = Array.from({ length: 1 + r.below(3) }, () => ({ name: this.name('p'), t: r.pick(TYPES) }));
    const result = r.pick(TYPES);
    const scope = params.map((p): Variable => ({ ...p, uniform: false, fixed: false }));
    const w: Where = { scope, maybes: [], declared: new Set(), loops: [], depth: 0, fn: result, branch: false };
    const body = this.list(r.below(4), w);
    if (body.at(-1)?.k !== 'return') body.push({ k: 'return', value: this.expr(result, w, 2) });
    this.functions.push({ name: this.name('fn'), params, body, result });
  }

  program(): Program {
    const { r } = this;
    this.declareArguments();
    this.declareRows();
    for (let i = r.below(3); i > 0; i--) this.function();
    for (let i = r.below(3); i > 0; i--) this.maybeFunction();
    const w: Where = {
      scope: [],
      maybes: [],
      declared: new Set(),
      loops: [],
      depth: 0,
      fn: undefined,
      branch: false,
    };
    const body: Stmt[] = [];
    const barriers = r.chance(0.45);
    body.push(...this.list(1 + r.below(3), w));
    if (body.at(-1)?.k === 'return') body.pop();
    if (r.chance(0.5)) {
      const rows = this.arrays.find((a) => a.row !== undefined);
      const elem = rows !== undefined && r.chance(0.5) ? rows.elem : r.pick(ELEMS);
      body.push(...this.initialise(this.declare('local', elem, r.pick([2, 4, 8, 16, 16]), false), w));
    }
    if (barriers) {
      const made: ArrayDecl[] = [];
      for (let i = 1 + r.below(2); i > 0; i--)
        made.push(
          this.declare(
            made.length === 0 && r.chance(0.2) ? 'dynamic' : 'shared',
            r.pick(ELEMS),
            this.power(this.blockThreads),
            false,
          ),
        );
      for (const a of made) this.shared.add(a);
      // While they are filled nobody reads them.
      const hidden = this.arrays;
      for (const a of made) {
        this.arrays = hidden.filter((x) => !made.includes(x));
        body.push(...this.initialise(a, w));
      }
      this.arrays = hidden;
      // A vote would read what is being filled.
      body.push(...this.barrier(w, false));
      this.budget += 6;
      body.push(...this.phases(1 + r.below(3), w, 0));
    }
    this.budget = Math.max(this.budget, 3);
    body.push(...this.list(1 + r.below(5), w));
    if (!barriers) body.push(...this.updates(w));
    if (r.chance(0.3)) body.push(...this.tile(w, () => (barriers ? this.barrier(w, false) : [])));
    body.push(...this.results(w), ...this.members(w));
    // One thread reaches beyond an array. Every fourth program is compiled without checks.
    if (this.seed % 4 !== 0 && r.chance(0.2)) body.splice(r.below(body.length), 0, this.mistake());
    return {
      seed: this.seed,
      grid: this.grid,
      block: this.block,
      indexBits: r.chance(0.15) ? 64 : 32,
      arrays: this.arrays,
      scalars: this.scalars,
      functions: this.functions,
      body,
      ...(this.risky && { risky: true }),
    };
  }

  /** An access that is out of range in one thread. */
  private mistake(): Stmt {
    const { r } = this;
    const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
    const id: Expr = { t: 'i32', k: 'thread', what: 'k' };
    const beyond = (n: number): Expr => ({ t: 'i32', k: 'bin', op: 'add', a: id, b: word(n) });
    // All threads read along an array, and the last ones beyond it: a whole vector may have to be told from its last lane.
    const rows = this.arrays.filter((a) => (a.space === 'in' || a.space === 'const') && a.shape.length === 1);
    if (rows.length > 0 && r.chance(0.4)) {
      const constants = rows.filter((a) => a.space === 'const');
      const array = r.pick(constants.length > 0 && r.chance(0.5) ? constants : rows);
      const first = Math.max(count(array) - r.below(this.threads), 0);
      const sum: Expr = {
        t: 'i32',
        k: 'bin',
        op: 'add',
        a: id,
        b: { t: 'i32', k: 'lit', v: first, polymorphic: true },
      };
      const value: Expr = { t: widened(array.elem), k: 'load', array, at: { form: 'raw', index: [sum] } };
      return { k: 'let', name: this.name('v'), value };
    }
    // Of arrays that the kernel makes the compiler knows the extents, and may think that it can do without a check.
    const made = this.arrays.filter((a) => a.space === 'local' || a.space === 'const' || a.space === 'shared');
    const array = r.pick(made.length > 0 && r.chance(0.7) ? made : this.outputs());
    const bad = r.below(array.shape.length);
    const index = array.shape.map(
      (n, d): Expr =>
        d !== bad
          ? word(0)
          : r.pick([
              word(n),
              word(-1),
              word(n + r.below(1000)),
              { t: 'i32', k: 'bin', op: 'and', a: beyond(n), b: { t: 'i32', k: 'lit', v: -4, polymorphic: true } },
              beyond(n),
              // The extent itself, in a way that bounds it by the extent.
              {
                t: 'i32',
                k: 'bin',
                op: 'and',
                a: { t: 'i32', k: 'bin', op: 'sub', a: beyond(n), b: id },
                b: { t: 'i32', k: 'lit', v: n, polymorphic: true },
              },
            ]),
    );
    const c: Expr = {
      t: 'bool',
      k: 'cmp',
      op: 'eq',
      a: { t: 'i32', k: 'thread', what: 'k' },
      b: word(r.below(this.threads)),
    };
    const at: LValue = { form: 'raw', index };
    const t = widened(array.elem);
    const store: Stmt = { k: 'store', array, at, value: this.e.literal(t) };
    const load: Stmt = { k: 'let', name: this.name('v'), value: { t, k: 'load', array, at } };
    return { k: 'if', c, then: [array.space !== 'const' && r.chance(0.5) ? store : load], else: [] };
  }

  /** Stores that make what has been computed visible. */
  private results(w: Where): Stmt[] {
    const env = this.env(w);
    return this.outputs().map(
      (array): Stmt => ({
        k: 'store',
        array,
        at: this.e.own(array, env),
        value: this.expr(widened(array.elem), w, 2),
      }),
    );
  }
}

export function generate(seed: number, size: Size = { scale: 1 }): Program {
  if (seed % 16 === 3) return generateWarps(seed);
  return seed % 8 === 6 ? generateNarrow(seed) : new Generator(seed, size).program();
}
