/**
 * Random regions that few items of a block run, and loops in each round of which one item is chosen: `if (threadIdx.x === n) …`, `if ((threadIdx.x & 7) === 3) …`,
 * `for (k …) if (digit(x[k]) === threadIdx.x) out[at++] = …`. The CPU device makes scalar code of the former, and has one item make the rounds of the latter for all.
 * What items do uses all that they have of their own: their lane, local memory, variables.
 */
import type { ArrayDecl, Expr, Program, Stmt } from './program.ts';
import { Random } from './random.ts';
import { compare, join, named, raw, special, word } from './terms.ts';

const X = special('threadIdx.x');
const BARRIER: Stmt = { k: 'barrier' };
const ROUNDS = 20;
const DIGITS = 64;
const LOCALS = 8;

const both = (a: Expr, b: Expr): Expr => ({ t: 'bool', k: 'logic', op: 'and', a, b });
const when = (c: Expr, then: readonly Stmt[]): Stmt => ({ k: 'if', c, then, else: [] });
const masked = (a: Expr, size: number): Expr => join('and', a, word(size - 1));

class ItemGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #width: number;
  readonly #height: number;
  readonly #grid: number;
  readonly #arrays: ArrayDecl[] = [];
  readonly #local: ArrayDecl;
  readonly #shared: ArrayDecl;
  readonly #own = named('own');
  #scalars: Program['scalars'] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#width = r.pick([8, 16, 32, 32, 64, 64, 13, 33, 40, 4]);
    this.#height = r.chance(0.15) ? 2 : 1;
    this.#grid = r.pick([1, 1, 3]);
    this.#local = this.#array('local', LOCALS);
    this.#shared = this.#array('shared', 2 * DIGITS);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #array(space: 'in' | 'out' | 'shared' | 'local', size: number): ArrayDecl {
    const r = this.#r;
    const filled = space === 'in' || space === 'out';
    const data = Array.from({ length: filled ? size : 0 }, () => r.below(r.pick([8, DIGITS, DIGITS, 80])) - r.below(2));
    const array: ArrayDecl = {
      name: this.#name(space.slice(0, 2)),
      elem: 'i32',
      shape: [size],
      space,
      layout: 'C',
      data,
    };
    this.#arrays.push(array);
    return array;
  }

  #number(v: number): Expr {
    if (this.#r.chance(0.5)) return word(v);
    const name = this.#name('n');
    this.#scalars = [...this.#scalars, { name, t: 'i32', v }];
    return named(name);
  }

  #load(array: ArrayDecl, index: Expr): Expr {
    return { t: 'i32', k: 'load', array, at: raw(index) };
  }

  /** Whether an item is among the few. */
  #few(): Expr {
    const r = this.#r;
    const item = this.#number(r.below(this.#width + 2));
    const moved: Expr = {
      t: 'i32',
      k: 'sel',
      selp: false,
      c: compare('lt', this.#number(2), word(r.below(4))),
      a: X,
      b: join('add', X, word(5)),
    };
    return r.pick([
      () => compare('eq', X, item),
      () => compare('eq', item, join('add', X, word(2))),
      () => compare('eq', masked(X, r.pick([2, 4, 8, 16])), word(r.below(4))),
      () => compare('eq', join('rem', X, word(r.pick([4, 8, 16, 3]))), this.#number(r.below(4))),
      () => compare('eq', moved, item),
      () => compare('eq', special('laneId'), item),
    ])();
  }

  /** What an item has of its own; `plain`: in variables. */
  #value(known: readonly Expr[], plain = false): Expr {
    const r = this.#r;
    if (plain) return join(r.pick(['add', 'sub', 'mul']), this.#own, r.pick([X, ...known]));
    const one = (): Expr =>
      r.pick([
        () => special('laneId'),
        () => this.#load(this.#local, masked(r.pick([...known, this.#own]), LOCALS)),
        () => this.#own,
        () => X,
        () => r.pick([...known, X]),
      ])();
    return r.chance(0.6) ? join(r.pick(['add', 'sub', 'mul']), one(), one()) : one();
  }

  /** Some items add up what all have put into shared memory. */
  #single(): readonly Stmt[] {
    const r = this.#r;
    const out = this.#array('out', 2 ** Math.ceil(Math.log2(this.#grid * this.#width * this.#height)));
    const own = { form: 'own', scale: 1, offset: 0, reverse: false } as const;
    const [k, sum] = [this.#name('k'), this.#name('sum')];
    const round: Stmt = {
      k: 'set',
      name: sum,
      t: 'i32',
      op: 'add',
      value: join('add', this.#load(this.#shared, named(k)), this.#value([named(k)])),
    };
    const then: Stmt[] = [{ k: 'let', name: sum, value: this.#value([]) }];
    if (r.chance(0.7)) then.push({ k: 'for', name: k, from: 0, to: r.pick([3, this.#width]), step: 1, body: [round] });
    then.push({ k: 'store', array: out, at: own, value: named(sum) });
    const conds = [this.#few(), ...(r.chance(0.5) ? [compare('lt', X, this.#number(r.below(this.#width + 2)))] : [])];
    if (r.chance(0.2)) conds.push(this.#few());
    if (r.chance(0.5)) conds.reverse();
    return [when(conds.reduce(both), then)];
  }

  /** A loop whose rounds choose an item. */
  #chosen(): readonly Stmt[] {
    const r = this.#r;
    const plain = r.chance(0.6);
    const threads = this.#grid * this.#width * this.#height;
    const [x, out] = [this.#array('in', ROUNDS), this.#array('out', 2 ** Math.ceil(Math.log2(threads * ROUNDS)))];
    const [k, v, digit, at] = [this.#name('k'), this.#name('v'), this.#name('digit'), this.#name('at')];
    const item = r.pick([
      named(v),
      masked(named(v), 16),
      masked(named(v), DIGITS),
      join('rem', named(v), word(7)),
      join('shr', named(k), word(1)),
    ]);
    const then: Stmt[] = [
      {
        k: 'store',
        array: out,
        at: raw(named(at)),
        value: join('add', named(v), this.#value([named(k), named(v)], plain)),
      },
    ];
    if (r.chance(0.4)) then.push({ k: 'set', name: 'own', t: 'i32', op: 'add', value: this.#value([named(v)], plain) });
    if (!plain && r.chance(0.3))
      then.push({ k: 'store', array: this.#local, at: raw(masked(named(k), LOCALS)), value: named(v) });
    if (r.chance(0.3))
      then.push(
        when(compare('lt', named(v), word(20)), [{ k: 'set', name: 'own', t: 'i32', op: 'sub', value: word(3) }]),
      );
    then.push({ k: 'set', name: at, t: 'i32', op: 'add', value: word(1) });
    const chosen = compare('eq', named(digit), X);
    const more = r.pick([
      compare('ne', masked(named(at), 4), word(2)),
      compare('gt', this.#own, named(v)),
      plain ? compare('lt', X, word(9)) : compare('lt', special('laneId'), word(9)),
    ]);
    return [
      { k: 'let', name: at, value: join('mul', special('k'), word(ROUNDS)) },
      {
        k: 'for',
        name: k,
        from: 0,
        to: r.chance(0.5) ? ROUNDS : this.#number(r.below(ROUNDS + 1)),
        step: r.pick([1, 1, 1, 3]),
        body: [
          { k: 'let', name: v, value: this.#load(x, named(k)) },
          { k: 'let', name: digit, value: item },
          when(r.chance(0.3) ? both(chosen, more) : chosen, then),
        ],
      },
    ];
  }

  program(): Program {
    const r = this.#r;
    const fill: Stmt = {
      k: 'for',
      name: 'fill',
      from: 0,
      to: LOCALS,
      step: 1,
      body: [
        {
          k: 'store',
          array: this.#local,
          at: raw(named('fill')),
          value: join('add', join('mul', X, word(3)), named('fill')),
        },
      ],
    };
    const body: Stmt[] = [
      { k: 'let', name: 'own', value: join('add', join('mul', special('t'), word(5)), word(1)) },
      fill,
      { k: 'store', array: this.#shared, at: raw(special('t')), value: this.#value([]) },
      BARRIER,
    ];
    for (let parts = 1 + r.below(2); parts > 0; parts--) {
      body.push(...(r.chance(0.5) ? this.#single() : this.#chosen()));
      if (r.chance(0.5)) body.push(BARRIER);
    }
    const out = this.#array('out', 2 ** Math.ceil(Math.log2(this.#grid * this.#width * this.#height)));
    body.push({
      k: 'store',
      array: out,
      at: { form: 'own', scale: 1, offset: 0, reverse: false },
      value: this.#value([]),
    });
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: [this.#width, this.#height],
      indexBits: 32,
      arrays: this.#arrays,
      scalars: this.#scalars,
      functions: [],
      body,
    };
  }
}

/** A program for a seed. */
export function generateItems(seed: number): Program {
  return new ItemGenerator(seed).program();
}
