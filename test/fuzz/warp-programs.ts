/**
 * Random programs whose lanes exchange values: shuffles, votes and matches, reductions and prefix sums, of whole warps and of some lanes.
 *
 * Who takes part is always known: all threads that still run, or those of a branch, who have told each other by a ballot. Each result
 * ends up in an array of its own.
 */
import type { Variable } from './expressions.ts';
import type { BinOp, CmpOp, ExchangeOp, Expr, Program, Stmt, Ty } from './program.ts';
import { Statements, type Where } from './statements.ts';

const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
const FULL: Expr = { t: 'u32', k: 'lit', v: 0xffffffff };
const T: Expr = { t: 'i32', k: 'thread', what: 't' };
const LANE: Expr = { t: 'i32', k: 'bin', op: 'and', a: T, b: word(31) };
const SHUFFLES = ['shflSync', 'shflUpSync', 'shflDownSync', 'shflXorSync'] as const;
const VOTES = ['ballotSync', 'allSync', 'anySync', 'eqSync'] as const;
const VALUES = ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const;

const named = (t: Ty, name: string): Expr => ({ t, k: 'var', name });

class WarpGenerator extends Statements {
  protected override readonly block = this.r.weighted<readonly [number, number]>([
    [4, [this.r.pick([32, 64, 96]), 1]],
    [2, [this.r.pick([4, 8, 12, 20, 31, 40, 80]), 1]],
    [
      1,
      this.r.pick([
        [32, 2],
        [64, 2],
        [16, 4],
        [8, 3],
      ] as const),
    ],
  ]);

  #where(): Where {
    return { scope: [], maybes: [], declared: new Set(), loops: [], depth: 0, fn: undefined, branch: false };
  }

  program(): Program {
    const { r } = this;
    this.declareArguments();
    const w = this.#where();
    const body: Stmt[] = this.#plain(2, w);
    for (let i = 2 + r.below(4); i > 0; i--) body.push(...this.#step(w, FULL, 0), ...this.#plain(r.below(2), w));
    return {
      seed: this.seed,
      grid: this.grid,
      block: this.block,
      indexBits: r.chance(0.15) ? 64 : 32,
      arrays: this.arrays,
      scalars: this.scalars,
      functions: this.functions,
      body,
    };
  }

  /** Statements of each thread by itself. */
  #plain(n: number, w: Where): Stmt[] {
    const list = this.list(n, w);
    while (list.at(-1)?.k === 'return') list.pop();
    return list;
  }

  #step(w: Where, mask: Expr, depth: number): Stmt[] {
    const { r } = this;
    return r.weighted<() => Stmt[]>([
      [4, () => this.#shown(w, (inner) => this.#exchange(inner, mask))],
      [3, () => this.#shown(w, (inner) => this.#ladder(inner, mask))],
      [2, () => this.#lanes(w)],
      [depth < 2 ? 3 : 0, () => this.#branch(w, mask, depth)],
      [1, () => this.#group(w, mask)],
    ])();
  }

  /** What makes a variable, whose value is stored in an array of its own at the end. */
  #shown(w: Where, make: (w: Where) => readonly [list: Stmt[], made: Variable]): Stmt[] {
    const [list, { name, t }] = make(w);
    const array = this.declare('out', t, this.power(this.threads), true);
    return [...list, { k: 'store', array, at: this.e.own(array, this.env(w)), value: named(t, name) }];
  }

  #exchange(w: Where, mask: Expr): readonly [Stmt[], Variable] {
    const { r } = this;
    const fn: ExchangeOp = r.pick([...SHUFFLES, ...SHUFFLES, ...VOTES, 'matchAnySync', 'matchAllSync'] as const);
    const shuffle = SHUFFLES.some((s) => s === fn);
    const vote = VOTES.some((v) => v === fn);
    const t = vote ? 'bool' : r.pick(shuffle ? VALUES : (['i32', 'u32', 'i64'] as const));
    const value = vote || r.chance(0.2) ? this.expr(t, w, 2) : this.#own(t, w);
    const result: Ty = shuffle ? t : fn === 'ballotSync' || fn.startsWith('match') ? 'u32' : 'bool';
    const name = this.name('got');
    const made: Variable = { name, t: result, uniform: false, fixed: true };
    const by = shuffle ? this.#by(w) : word(0);
    // Not before: no part of it may name the result.
    w.scope.push(made);
    return [[{ k: 'exchange', fn, name, mask, value, by }], made];
  }

  /** A value that most lanes have for themselves. */
  #own(t: Ty, w: Where): Expr {
    const place: Expr = { t, k: 'cast', to: t, a: { t: 'i32', k: 'thread', what: 'k' } };
    return { t, k: 'bin', op: this.r.pick(['add', 'mul', 'sub'] as const), a: place, b: this.expr(t, w, 1) };
  }

  /** By how much, or from which lane. */
  #by(w: Where): Expr {
    const { r } = this;
    const n = word(r.below(36) - 2);
    return r.weighted<() => Expr>([
      [5, () => n],
      [2, () => ({ t: 'i32', k: 'bin', op: r.pick(['xor', 'add', 'and'] as const), a: LANE, b: n })],
      [1, () => this.expr('i32', w, 1)],
      [1, () => this.e.expr('i32', this.env(w, true), 1)],
    ])();
  }

  /** A reduction or a prefix sum over 2, 4 … 32 lanes, as a loop or step by step. */
  #ladder(w: Where, mask: Expr): readonly [Stmt[], Variable] {
    const { r } = this;
    const t = r.pick(VALUES);
    const [fn, v] = [r.pick(['shflUpSync', 'shflDownSync', 'shflXorSync'] as const), this.name('v')];
    const isFloat = t === 'f32' || t === 'f64';
    const op = r.pick<BinOp>(isFloat ? ['add', 'min', 'max', 'mul'] : ['add', 'min', 'max', 'and', 'or', 'xor', 'mul']);
    const [steps, down] = [1 + r.below(5), r.chance(0.5)];
    const guarded = fn === 'shflUpSync' && r.chance(0.8);
    const round = (by: Expr): Stmt[] => {
      const other = this.name('n');
      const operands = [named(t, v), named(t, other)];
      const [a, b] = (r.chance(0.5) ? operands : operands.reverse()) as [Expr, Expr];
      const set: Stmt = { k: 'set', name: v, t, value: { t, k: 'bin', op, a, b } };
      const c: Expr = { t: 'bool', k: 'cmp', op: 'ge', a: LANE, b: by };
      const use: Stmt = guarded ? { k: 'if', c, then: [set], else: [] } : set;
      return [{ k: 'exchange', fn, name: other, mask, value: named(t, v), by }, use];
    };
    const list: Stmt[] = [{ k: 'let', name: v, value: this.#own(t, w) }];
    const first = word(down ? 2 ** (steps - 1) : 1);
    if (r.chance(0.6)) {
      const name = this.name('e');
      const by: Expr = { t: 'i32', k: 'bin', op: down ? 'shr' : 'shl', a: first, b: named('i32', name) };
      list.push({ k: 'for', name, from: 0, to: steps, step: 1, body: round(by) });
    } else {
      for (let e = 0; e < steps; e++) list.push(...round(word(down ? 2 ** (steps - 1 - e) : 2 ** e)));
    }
    const made: Variable = { name: v, t, uniform: false, fixed: true };
    w.scope.push(made);
    return [list, made];
  }

  #laneTest(): Expr {
    const op = this.r.pick<CmpOp>(['eq', 'eq', 'lt', 'ge', 'ne']);
    return { t: 'bool', k: 'cmp', op, a: LANE, b: word(this.r.below(33)) };
  }

  /** What some lanes do alone. */
  #lanes(w: Where): Stmt[] {
    const inner = this.inner(w, { branch: true });
    const then = this.#plain(1 + this.r.below(3), inner);
    const other = this.r.chance(0.3) ? this.#plain(1, this.inner(w, { branch: true })) : [];
    return [{ k: 'if', c: this.#laneTest(), then, else: other }];
  }

  /** Lanes that part, and tell each other who goes which way. */
  #branch(w: Where, mask: Expr, depth: number): Stmt[] {
    const { r } = this;
    const [taken, yes, no] = [this.name('taken'), this.name('yes'), this.name('no')];
    const c = named('bool', taken);
    const test = r.chance(0.4) ? this.#laneTest() : this.e.bool(this.env(w), 2);
    const ballot = (name: string, value: Expr): Stmt => ({
      k: 'exchange',
      fn: 'ballotSync',
      name,
      mask,
      value,
      by: word(0),
    });
    const side = (name: string): Stmt[] => {
      const inner = this.inner(w, { branch: true });
      return [...this.#plain(r.below(2), this.inner(inner)), ...this.#step(inner, named('u32', name), depth + 1)];
    };
    return [
      { k: 'let', name: taken, value: test },
      ballot(yes, c),
      ballot(no, { t: 'bool', k: 'un', op: 'not', a: c }),
      { k: 'if', c, then: side(yes), else: r.chance(0.5) ? side(no) : [] },
    ];
  }

  /** Lanes with the same value, by themselves. */
  #group(w: Where, mask: Expr): Stmt[] {
    const same = this.name('same');
    const value: Expr = { t: 'i32', k: 'bin', op: 'and', a: this.expr('i32', w, 1), b: word(3) };
    const group: Stmt = { k: 'exchange', fn: 'matchAnySync', name: same, mask, value, by: word(0) };
    return [group, ...this.#shown(w, (inner) => this.#exchange(inner, named('u32', same)))];
  }
}

export function generateWarps(seed: number): Program {
  return new WarpGenerator(seed, { scale: 0.5 }).program();
}
