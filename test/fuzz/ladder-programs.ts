/**
 * Random blocks that share what their threads find, between barriers: prefix sums, maxima and the like by Hillis and Steele or by trees, written in several ways
 * and now and then a little wrong, and counters that all threads change atomically. The CPU device makes one pass of the former, and keeps the
 * latter in registers.
 */
import type { ArrayDecl, AtomicOp, BinOp, Expr, Program, Stmt } from './program.ts';
import { Random } from './random.ts';
import { compare, join, named, raw, special, word } from './terms.ts';

type Value = 'i32' | 'u32' | 'f32';

const X = special('threadIdx.x');
const BARRIER: Stmt = { k: 'barrier' };
const COUNTERS = 4;

class LadderGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #width: number;
  readonly #height: number;
  readonly #grid: number;
  readonly #arrays: ArrayDecl[] = [];
  #names = 0;

  constructor(seed: number) {
    this.#r = new Random(seed);
    this.#seed = seed;
    this.#width = this.#r.pick([8, 16, 32, 64, 64, 128, 9, 22, 39, 100]);
    this.#height = this.#r.chance(0.1) ? 2 : 1;
    this.#grid = this.#r.pick([1, 1, 3]);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: 'in' | 'out' | 'shared', elem: Value, n: number): ArrayDecl {
    const r = this.#r;
    const value = (): number =>
      elem === 'f32'
        ? r.pick([-0, 0, r.below(99) / 4, -r.below(99) / 8])
        : r.below(400) * r.pick([1, 1, 9_999_991]) * (elem === 'i32' && r.chance(0.3) ? -1 : 1);
    const size = 2 ** Math.ceil(Math.log2(n));
    const data = Array.from({ length: space === 'shared' ? 0 : size }, value).map((v) =>
      elem === 'f32' ? v : elem === 'i32' ? v | 0 : v >>> 0,
    );
    const array: ArrayDecl = { name: this.#name(space.slice(0, 2)), elem, shape: [size], space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  /** What changes nothing, or nearly. */
  #nothing(fn: BinOp, t: Value): Expr {
    const [least, most] =
      t === 'i32' ? [-(2 ** 31), 2 ** 31 - 1] : t === 'u32' ? [0, 2 ** 32 - 1] : [-Infinity, Infinity];
    const all = t === 'u32' ? 2 ** 32 - 1 : -1;
    const v = fn === 'mul' ? 1 : fn === 'and' ? all : fn === 'max' ? least : fn === 'min' ? most : 0;
    return { t, k: 'lit', v: this.#r.chance(0.04) && Number.isFinite(v) ? 3 : v };
  }

  /** The rounds of one ladder over an array whose elements all threads have stored, and what keeps a thread's own. */
  #ladder(s: ArrayDecl, first: number): readonly Stmt[] {
    const r = this.#r;
    const t = s.elem as Value;
    const fn = r.pick<BinOp>(
      t === 'f32' ? ['max', 'min', 'max', 'min', 'add'] : ['add', 'add', 'max', 'min', 'and', 'or', 'xor', 'mul'],
    );
    const [down, slip] = [r.chance(0.4), r.chance(0.12) ? 1 : 0];
    const step = this.#name('step');
    const n = this.#width;
    const own = first > 0 ? join('add', X, word(first)) : X;
    const partner = down ? join('add', own, named(step)) : join('sub', own, named(step));
    const load = (at: Expr): Expr => ({ t, k: 'load', array: s, at: raw(at) });
    const limit = down ? word(n - slip) : join('add', named(step), word(slip));
    const has = down
      ? r.pick([compare('lt', join('add', X, named(step)), limit), compare('gt', limit, join('add', X, named(step)))])
      : r.pick([compare('ge', X, limit), compare('le', limit, X), compare('gt', X, join('sub', limit, word(1)))]);
    const both = (a: Expr, b: Expr): Expr => (r.chance(0.5) ? join(fn, a, b) : join(fn, b, a));
    const put = (value: Expr): Stmt => ({ k: 'store', array: s, at: raw(own), value });
    const choose = (c: Expr, then: readonly Stmt[], otherwise: readonly Stmt[] = []): Stmt => ({
      k: 'if',
      c,
      then,
      else: otherwise,
    });
    const other = this.#name('other');
    const take: Stmt = { k: 'set', name: other, t, value: load(partner) };
    const sum: Stmt = { k: 'set', name: other, t, value: both(named(other, t), load(partner)) };
    const begin = (value: Expr): Stmt => ({ k: 'let', name: other, value });
    const ways: (() => readonly Stmt[])[] = [
      () => [begin(this.#nothing(fn, t)), choose(has, [take]), BARRIER, put(both(load(own), named(other, t))), BARRIER],
      () => [
        begin(this.#nothing(fn, t)),
        choose(has, [take]),
        BARRIER,
        choose(has, [put(both(named(other, t), load(own)))]),
        BARRIER,
      ],
      () => [begin(load(own)), choose(has, [sum]), BARRIER, put(named(other, t)), BARRIER],
      () => [
        begin(load(own)),
        choose({ t: 'bool', k: 'un', op: 'not', a: has }, [], [sum]),
        BARRIER,
        choose(has, [put(named(other, t))]),
        BARRIER,
      ],
    ];
    const to = r.chance(0.8) ? n : r.pick([n >> 1, n + 1, 2 * n]);
    return [{ k: 'for', name: step, from: r.chance(0.95) ? 1 : 2, to, step: 1, shift: 'left', body: r.pick(ways)() }];
  }

  /** Sums of all before each element, or up to it, by trees over twice as many elements as there are threads. */
  #trees(body: Stmt[]): void {
    const r = this.#r;
    const t = r.pick<Value>(['i32', 'i32', 'u32', 'f32']);
    const fn = r.pick<BinOp>(
      t === 'f32' ? ['max', 'min', 'add', 'add', 'mul'] : ['add', 'add', 'max', 'min', 'and', 'or', 'xor', 'mul'],
    );
    const n = 2 * 2 ** Math.floor(Math.log2(this.#width));
    const all = 2 * this.#width;
    const [pad, first, slip] = [r.pick([0, 0, 1, 2, 3, 5]), r.pick([0, 0, 1, 5]), r.chance(0.12) ? 1 : 0];
    const [x, out] = [this.#declare('in', t, all * this.#grid), this.#declare('out', t, all * this.#grid)];
    const totals = this.#declare('out', t, this.#grid);
    const s = this.#declare('shared', t, first + 2 * all + 8);
    const place = (e: Expr): Expr => {
      const from = first > 0 ? join('add', e, word(first)) : e;
      return pad > 0 ? join('add', from, join('shr', e, word(pad))) : from;
    };
    const load = (e: Expr): Expr => ({ t, k: 'load', array: s, at: raw(place(e)) });
    const put = (e: Expr, value: Expr): Stmt => ({ k: 'store', array: s, at: raw(place(e)), value });
    const both = (a: Expr, b: Expr): Expr => (r.chance(0.5) ? join(fn, a, b) : join(fn, b, a));
    const [d, i, offset, own] = [this.#name('d'), this.#name('i'), this.#name('offset'), this.#name('own')];
    const choose = (c: Expr, then: readonly Stmt[]): Stmt => ({ k: 'if', c, then, else: [] });
    const twice = join('mul', named(d), word(2));
    const last = join('sub', join('mul', join('add', X, word(1)), twice), word(1));
    const up = (from: number, to: number, rounds: readonly Stmt[]): Stmt => {
      return { k: 'for', name: d, from, to, step: 1, shift: 'left', body: [BARRIER, ...rounds] };
    };
    const down = (from: number, rounds: readonly Stmt[]): Stmt => {
      return { k: 'for', name: d, from, to: 0, step: 1, shift: 'right', body: [BARRIER, ...rounds] };
    };
    const total = choose(compare('eq', X, word(0)), [
      { k: 'store', array: totals, at: raw(special('blockIdx.x')), value: load(word(n - 1)) },
    ]);
    const few = compare('lt', X, slip > 0 ? join('sub', named(d), word(slip)) : named(d));
    const of = (k: number): Expr =>
      join('sub', join('mul', named(offset), join('add', join('mul', X, word(2)), word(k))), word(1));
    const ways: (() => readonly Stmt[])[] = [
      () => [
        up(1, n, [
          { k: 'let', name: i, value: last },
          choose(compare('lt', named(i), word(n)), [
            put(named(i), both(load(named(i)), load(join('sub', named(i), named(d))))),
          ]),
        ]),
        down(n / 4, [
          { k: 'let', name: i, value: join('add', last, named(d)) },
          choose(compare('lt', named(i), word(n - slip)), [
            put(named(i), both(load(join('sub', named(i), named(d))), load(named(i)))),
          ]),
        ]),
        BARRIER,
        total,
      ],
      () => [
        { k: 'let', name: offset, value: word(1) },
        down(n / 2, [
          choose(few, [put(of(2), both(load(of(2)), load(of(1))))]),
          { k: 'set', name: offset, t: 'i32', value: join('mul', named(offset), word(2)) },
        ]),
        total,
        choose(compare('eq', X, word(0)), [put(word(n - 1), this.#nothing(fn, t))]),
        up(1, n, [
          { k: 'set', name: offset, t: 'i32', value: join('shr', named(offset), word(1)) },
          choose(few, [
            { k: 'let', name: own, value: load(of(1)) },
            put(of(1), load(of(2))),
            put(of(2), both(load(of(2)), named(own, t))),
          ]),
        ]),
      ],
    ];
    const base = join('mul', special('blockIdx.x'), word(all));
    const mine = [join('mul', X, word(2)), join('add', join('mul', X, word(2)), word(1))];
    body.push(...mine.map((e) => put(e, { t, k: 'load', array: x, at: raw(join('add', base, e)) })));
    body.push(...r.pick(ways)(), BARRIER);
    body.push(...mine.map((e): Stmt => ({ k: 'store', array: out, at: raw(join('add', base, e)), value: load(e) })));
  }

  /** A condition on what a thread has. */
  #condition(mine: Expr): Expr {
    const r = this.#r;
    return r.pick([
      compare('lt', X, word(r.below(this.#width))),
      compare('ne', join('and', X, word(3)), word(r.below(4))),
      compare('lt', mine, { ...mine, k: 'lit', v: r.below(99) } as Expr),
      compare('eq', X, word(r.below(this.#width))),
    ]);
  }

  /** Atomic changes of counters, at constant places for the most part. */
  #counts(s: ArrayDecl, mine: Expr): readonly Stmt[] {
    const r = this.#r;
    const t = s.elem as Value;
    const fns = Array.from({ length: COUNTERS }, () =>
      r.pick<AtomicOp>(['add', 'add', 'add', 'sub', 'and', 'or', 'xor', 'min', 'max']),
    );
    const elsewhere = r.chance(0.15);
    const change = (): Stmt => {
      const k = r.below(COUNTERS);
      const one: Expr = { t, k: 'lit', v: 1 };
      const value = r.pick([one, one, mine]);
      const at = elsewhere && r.chance(0.5) ? join('and', X, word(COUNTERS - 1)) : word(k);
      // Operations of two kinds on one element would leave something else in another order.
      const op = elsewhere ? 'add' : (fns[k] as AtomicOp);
      return { k: 'atomic', op, array: s, at: raw(at), args: [value] };
    };
    const some = (): readonly Stmt[] => Array.from({ length: 1 + r.below(2) }, change);
    return Array.from({ length: 1 + r.below(3) }, (): Stmt => {
      if (r.chance(0.7)) return { k: 'if', c: this.#condition(mine), then: some(), else: r.chance(0.3) ? some() : [] };
      if (r.chance(0.5)) return change();
      const to = r.chance(0.5) ? r.below(4) : join('and', X, word(3));
      return { k: 'for', name: this.#name('i'), from: 0, to, step: 1, body: some() };
    });
  }

  #ladders(id: Expr, body: Stmt[]): void {
    const r = this.#r;
    const t = r.pick<Value>(['i32', 'i32', 'u32', 'f32']);
    const threads = this.#width * this.#height;
    const first = r.pick([0, 0, 0, 1, 5]);
    const [x, out] = [this.#declare('in', t, threads * this.#grid), this.#declare('out', t, threads * this.#grid)];
    const s = this.#declare('shared', t, threads + first + 8);
    const own = first > 0 ? join('add', X, word(first)) : X;
    const ladder = this.#height === 1;
    const at = ladder ? own : special('t');
    body.push({ k: 'store', array: s, at: raw(at), value: { t, k: 'load', array: x, at: raw(id) } }, BARRIER);
    if (ladder) for (let k = r.pick([1, 1, 2]); k > 0; k--) body.push(...this.#ladder(s, first));
    body.push(BARRIER, { k: 'store', array: out, at: raw(id), value: { t, k: 'load', array: s, at: raw(at) } });
  }

  #counters(id: Expr, body: Stmt[]): void {
    const r = this.#r;
    const t = r.pick<Value>(['i32', 'i32', 'u32']);
    const threads = this.#width * this.#height;
    const [x, out] = [this.#declare('in', t, threads * this.#grid), this.#declare('out', t, COUNTERS * this.#grid)];
    const s = this.#declare('shared', t, COUNTERS);
    const few = compare('lt', special('t'), word(COUNTERS));
    const mine: Expr = { t, k: 'load', array: x, at: raw(id) };
    const place = join('add', join('mul', special('blockIdx.x'), word(COUNTERS)), special('t'));
    const element: Expr = { t, k: 'load', array: s, at: raw(special('t')) };
    body.push(
      { k: 'if', c: few, then: [{ k: 'store', array: s, at: raw(special('t')), value: mine }], else: [] },
      BARRIER,
      ...this.#counts(s, mine),
      BARRIER,
      { k: 'if', c: few, then: [{ k: 'store', array: out, at: raw(place), value: element }], else: [] },
    );
    if (r.chance(0.2)) body.push(BARRIER, ...this.#counts(s, mine), BARRIER);
  }

  program(): Program {
    const r = this.#r;
    const id = join('add', join('mul', special('blockIdx.x'), word(this.#width * this.#height)), special('t'));
    const body: Stmt[] = [];
    const which = r.below(4);
    if (which !== 1) {
      if (this.#height === 1 && r.chance(0.5)) this.#trees(body);
      else this.#ladders(id, body);
    }
    if (which === 1 || which === 2) {
      if (body.length > 0) body.push(BARRIER);
      this.#counters(id, body);
    }
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: [this.#width, this.#height],
      indexBits: r.chance(0.1) ? 64 : 32,
      arrays: this.#arrays,
      scalars: [],
      functions: [],
      body,
    };
  }
}

/** A program for a seed. */
export function generateLadders(seed: number): Program {
  return new LadderGenerator(seed).program();
}
