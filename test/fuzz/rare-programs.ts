/**
 * Random loops and threads that seldom do anything: records of a row that are kept in order, searches that end where something is found, and threads that
 * go through neighbours only if a guard holds. The CPU device asks several of them at once, and passes over those that do nothing.
 *
 * Some rows and guards reach beyond their arrays: what comes first decides whether that is a fault.
 */
import type { ArrayDecl, CmpOp, Elem, Expr, Program, Stmt } from './program.ts';
import { widened } from './program.ts';
import { Random } from './random.ts';
import { wrap } from './semantics.ts';
import { compare, join, named, raw, special, word } from './terms.ts';

const ELEMS = ['i32', 'f32', 'u32', 'u8', 'i16', 'f64'] as const;
const KEPT = 4;
const own = { form: 'own', scale: 1, offset: 0, reverse: false } as const;

class RareGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #size: number;
  readonly #arrays: ArrayDecl[] = [];
  readonly #scalars: Program['scalars'][number][] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = r.pick([
      [16, 1],
      [63, 1],
      [41, 2],
      [24, 1],
      [17, 1],
    ] as const);
    this.#grid = r.pick([1, 2, 3]);
    this.#size = 2 ** Math.ceil(Math.log2(this.#grid * this.#block[0] * this.#block[1] + 1));
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: ArrayDecl['space'], elem: Elem, shape: readonly number[], value: () => number): ArrayDecl {
    const data = Array.from({ length: space === 'local' ? 0 : shape.reduce((a, b) => a * b, 1) }, value);
    const array: ArrayDecl = { name: this.#name(space), elem, shape, space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  /** Few different numbers, so that guards hold now and then, and NaN. */
  #number(elem: Elem, most: number): () => number {
    const r = this.#r;
    return () => {
      if (elem === 'f32' || elem === 'f64') return r.chance(0.03) ? Number.NaN : Math.fround((r.below(most) - 3) / 4);
      return Number(wrap(elem, BigInt(r.below(most) - (r.chance(0.2) ? 5 : 0))));
    };
  }

  #known(n: number): Expr {
    const name = this.#name('n');
    this.#scalars.push({ name, t: 'i32', v: n });
    return named(name);
  }

  /** A row of a matrix for each thread. */
  #rounds(): Stmt[] {
    const r = this.#r;
    const elem = r.pick(ELEMS);
    const t = widened(elem);
    const columns = r.pick([16, 32, 64]);
    const x = this.#declare('in', elem, [this.#size, columns], this.#number(elem, r.pick([6, 40, 3000])));
    const y = this.#declare('in', 'i32', [columns], this.#number('i32', 6));
    const best = this.#declare('local', t, [KEPT], () => 0);
    const [c, v, found, j] = [this.#name('c'), this.#name('v'), this.#name('found'), this.#name('j')];
    const beyond = this.#seed % 4 !== 0 && r.chance(0.15) ? 2 : 0;
    const shift = r.pick([0, 0, 1]);
    const place = shift === 0 ? named(c) : join('add', named(c), word(shift));
    const value: Expr = { t, k: 'load', array: x, at: { form: 'raw', index: [special('k'), place] } };
    const lets: Stmt[] = [];
    let asked: Expr = value;
    if (r.chance(0.6)) {
      lets.push({
        k: 'let',
        name: v,
        value: r.chance(0.5) ? value : join('sub', value, { t, k: 'cast', to: t, a: word(1) }),
      });
      asked = named(v, t);
    }
    const last: Expr = { t, k: 'load', array: best, at: raw(word(KEPT - 1)) };
    const op: CmpOp = r.pick(['gt', 'lt', 'ge', 'ne']);
    const records = r.chance(0.6);
    const least = r.chance(0.4);
    let cond = compare(op, asked, records && !least ? last : named(found, t));
    if (r.chance(0.3)) {
      const other: Expr = { t: 'i32', k: 'load', array: y, at: raw(named(c)) };
      cond = { t: 'bool', k: 'logic', op: r.pick(['and', 'or']), a: cond, b: compare('eq', other, word(r.below(6))) };
    }
    const at = (index: Expr): Expr => ({ t, k: 'load', array: best, at: raw(index) });
    const keep: Stmt[] = [
      {
        k: 'for',
        name: j,
        from: 0,
        to: this.#known(KEPT - 1),
        step: 1,
        body: [{ k: 'store', array: best, at: raw(named(j)), value: at(join('add', named(j), word(1))) }],
      },
      { k: 'store', array: best, at: raw(word(KEPT - 1)), value: asked },
    ];
    const set: Stmt = { k: 'set', name: found, t, value: asked };
    const then: Stmt[] = records
      ? least
        ? [set, ...keep]
        : keep
      : [set, ...(r.chance(0.3) ? keep : []), { k: 'break' }];
    const to = columns - shift - r.pick([0, 0, 1, 5]) + beyond;
    const loop: Stmt = {
      k: 'for',
      name: c,
      from: r.pick([0, 0, 3]),
      to: r.chance(0.5) ? to : this.#known(to),
      step: 1,
      body: [...lets, { k: 'if', c: cond, then, else: [] }],
    };
    const start: Stmt[] = Array.from({ length: KEPT }, (_, k) => ({
      k: 'store',
      array: best,
      at: raw(word(k)),
      value: { t, k: 'cast', to: t, a: word(k === KEPT - 1 ? r.below(4) : 0) },
    }));
    const out = this.#declare('out', t, [this.#size], () => 0);
    const kept = join('add', named(found, t), join('add', at(word(0)), at(word(KEPT - 1))));
    return [
      { k: 'let', name: found, value: { t, k: 'cast', to: t, a: word(1) } },
      ...start,
      loop,
      { k: 'store', array: out, at: own, value: kept },
    ];
  }

  /** A list of neighbours for each thread, of which few go through theirs. */
  #items(): Stmt[] {
    const r = this.#r;
    const size = this.#size;
    const short = r.chance(0.4);
    const level = this.#declare('in', 'i32', [short ? size / 4 : size], this.#number('i32', r.pick([2, 6, 40])));
    let end = 0;
    const starts = this.#declare('in', 'i32', [size], () => {
      const start = end;
      end = Math.min(size, end + r.below(3));
      return start;
    });
    const columns = this.#declare('in', 'i32', [size], () => r.below(size));
    const x = this.#declare('in', 'i32', [size], this.#number('i32', 40));
    const out = this.#declare('out', 'i32', [size], this.#number('i32', 6));
    const [e, sum, v] = [this.#name('e'), this.#name('sum'), this.#name('v')];
    const load = (array: ArrayDecl, index: Expr): Expr => ({ t: 'i32', k: 'load', array, at: raw(index) });
    const place = r.chance(0.5) ? special('k') : named(v);
    const loop: Stmt = {
      k: 'for',
      name: e,
      from: load(starts, special('k')),
      to: load(starts, join('add', special('k'), word(1))),
      step: 1,
      body: [{ k: 'set', name: sum, t: 'i32', op: 'add', value: load(x, load(columns, named(e))) }],
    };
    const c = compare(r.pick(['eq', 'eq', 'lt', 'ne']), load(level, place), word(r.below(4)));
    const work: Stmt = {
      k: 'if',
      c,
      then: [
        { k: 'let', name: sum, value: word(0) as Expr },
        loop,
        { k: 'store', array: out, at: own, value: named(sum) },
      ],
      else: [],
    };
    const inside = compare('lt', special('k'), { t: 'i32', k: 'length', array: level });
    // Without this guard, threads behind the array fail where it is short.
    const guarded: Stmt =
      !short || r.chance(0.8) || this.#seed % 4 === 0 ? { k: 'if', c: inside, then: [work], else: [] } : work;
    return [{ k: 'let', name: v, value: special('k') }, guarded];
  }

  program(): Program {
    const body = this.#r.chance(0.6) ? this.#rounds() : this.#items();
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: this.#block,
      indexBits: 32,
      arrays: this.#arrays,
      scalars: this.#scalars,
      functions: [],
      body,
    };
  }
}

/** A program for a seed. */
export function generateRare(seed: number): Program {
  return new RareGenerator(seed).program();
}
