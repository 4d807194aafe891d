/**
 * Random coordinates made of a running number, and counts of how far threads have come: rows, columns and planes of the number of a thread by divisors that the
 * launch gives, which may be anything, and by constants; loops that threads leave one by one, each with its count.
 */
import type { ArrayDecl, Expr, Program, Stmt } from './program.ts';
import { Random } from './random.ts';
import { compare, join, named, special, word } from './terms.ts';

const SIZE = 256;

class CoordinateGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #arrays: ArrayDecl[] = [];
  #scalars: Program['scalars'] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = [r.pick([64, 128, 40, 37, 8]), 1];
    this.#grid = r.pick([1, 2, 3]);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #scalar(values: readonly number[]): Expr {
    const name = this.#name('n');
    this.#scalars = [...this.#scalars, { name, t: 'i32', v: this.#r.pick(values) }];
    return named(name);
  }

  #array(space: 'in' | 'out', n: number): ArrayDecl {
    const r = this.#r;
    const data = Array.from({ length: n }, () => r.below(space === 'in' ? 3 : 100));
    const array: ArrayDecl = { name: this.#name(space), elem: 'i32', shape: [n], space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  /** Quotients and remainders of a number, and of these again. */
  #coordinates(of: Expr): { readonly body: readonly Stmt[]; readonly known: readonly Expr[] } {
    const r = this.#r;
    const widths = Array.from({ length: 1 + r.below(2) }, (_, k) =>
      k > 0 && r.chance(0.5)
        ? word(r.pick([3, 7, 10, 60, 365, 641, 36524, 2 ** 30 + 1, 2 ** 31 - 1, -1, -7]))
        : this.#scalar([0, 1, 3, 7, 8, 9, 16, 17, 56, 64, 100, 1000, 2 ** 31 - 1, -1, -56, -(2 ** 31)]),
    );
    const body: Stmt[] = [];
    const known: Expr[] = [];
    const keep = (value: Expr): void => {
      const name = this.#name('c');
      body.push({ k: 'let', name, value });
      known.push(named(name));
    };
    for (const w of widths) {
      keep({ t: 'i32', k: 'quotient', op: r.pick(['floor', 'or0', 'trunc']), a: of, b: w });
      if (r.chance(0.7)) keep(join('rem', of, w));
      if (r.chance(0.4)) keep(join('sub', of, join('mul', r.pick(known), w)));
      if (r.chance(0.3)) keep(join('rem', r.pick(known), w));
    }
    return { body, known };
  }

  /** A loop that ends where two stretches of an array differ. */
  #count(x: ArrayDecl, from: Expr, count: string): Stmt {
    const r = this.#r;
    const element = (at: Expr): Expr => ({ t: 'i32', k: 'load', array: x, at: { form: 'any', index: [at] } });
    const here = element(join('add', from, named(count)));
    const step: Stmt = { k: 'set', name: count, t: 'i32', op: 'add', value: word(r.pick([1, 1, 2, -1])) };
    const other: Stmt = {
      k: 'if',
      c: compare('eq', here, word(2)),
      then: r.chance(0.5) ? [{ k: 'continue' }] : [{ k: 'break' }],
      else: [],
    };
    const body = r.pick([[step], [step, other], [other, step]]);
    const c = compare(r.pick(['ne', 'eq', 'le']), here, element(named(count)));
    return { k: 'while', fuelName: this.#name('fuel'), fuel: 1 + r.below(20), post: r.chance(0.2), c, body };
  }

  program(): Program {
    const r = this.#r;
    const i = this.#name('i');
    const start = this.#scalar([0, 5, 1000, -5, -1000, 2 ** 31 - 64, 2 ** 31 - 300, -(2 ** 31)]);
    const { body, known } = this.#coordinates(named(i));
    const x = this.#array('in', SIZE);
    const count = this.#name('count');
    const sum = [...known, named(i)].reduce((a, b, k) => join('add', a, join('mul', b, word(2 * k + 3))), named(count));
    const loaded: Expr = { t: 'i32', k: 'load', array: x, at: { form: 'any', index: [sum] } };
    const loop = this.#count(x, r.pick([...known, named(i)]), count);
    const guarded: Stmt = r.chance(0.3)
      ? { k: 'if', c: compare('lt', r.pick(known), word(r.below(60))), then: [loop], else: [] }
      : loop;
    const out = this.#array('out', 2 ** Math.ceil(Math.log2(this.#grid * this.#block[0])));
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: this.#block,
      indexBits: 32,
      arrays: this.#arrays,
      scalars: this.#scalars,
      functions: [],
      body: [
        { k: 'let', name: i, value: join('add', start, special('k')) },
        ...body,
        { k: 'let', name: count, value: word(r.below(3)) },
        guarded,
        {
          k: 'store',
          array: out,
          at: { form: 'own', scale: 1, offset: 0, reverse: false },
          value: join('add', sum, loaded),
        },
      ],
    };
  }
}

/** A program for a seed. */
export function generateCoordinates(seed: number): Program {
  return new CoordinateGenerator(seed).program();
}
