/**
 * Random moves of records that lie anywhere: pixels of a palette, points that an array of indices names, pairs put where a permutation says.
 *
 * In some programs one thread finds an index that is out of range.
 */
import type { ArrayDecl, Elem, Expr, Program, Stmt } from './program.ts';
import { isFloat, widened } from './program.ts';
import { Random } from './random.ts';
import { wrap } from './semantics.ts';
import { join, special, word } from './terms.ts';

const ELEMS: readonly Elem[] = ['f32', 'i32', 'u32', 'u8', 'u8', 'i8', 'u16', 'i16'];

class AnywhereGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #threads: number;
  /** Records of each array. */
  readonly #count: number;
  readonly #elem: Elem;
  readonly #width: number;
  readonly #arrays: ArrayDecl[] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = [r.pick([64, 32, 16, 20, 8]), r.chance(0.2) ? 2 : 1];
    this.#grid = r.pick([1, 2]);
    this.#threads = this.#grid * this.#block[0] * this.#block[1];
    this.#count = 2 ** Math.ceil(Math.log2(this.#threads));
    this.#elem = r.pick(ELEMS);
    this.#width = r.pick([2, 3, 4, 4, 4, 12]);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: 'in' | 'out', elem: Elem, data: readonly number[]): ArrayDecl {
    const array: ArrayDecl = { name: this.#name(space), elem, shape: [data.length], space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  #records(space: 'in' | 'out'): ArrayDecl {
    const r = this.#r;
    const value = (): number =>
      isFloat(this.#elem) ? r.below(4000) / 8 - 250 : Number(wrap(this.#elem, BigInt(r.bits())));
    return this.#declare(space, this.#elem, Array.from({ length: this.#count * this.#width }, value));
  }

  /** Each record once, in any order; perhaps one that is not there. */
  #order(): ArrayDecl {
    const r = this.#r;
    const data = Array.from({ length: this.#count }, (_, k) => k);
    for (let k = data.length - 1; k > 0; k--) {
      const j = r.below(k + 1);
      [data[k], data[j]] = [data[j] as number, data[k] as number];
    }
    // Kernels of every fourth seed have no checks.
    if (this.#seed % 4 !== 0 && r.chance(0.25)) data[r.below(this.#threads)] = r.pick([this.#count, -1, 2 ** 28]);
    return this.#declare('in', 'i32', data);
  }

  #member(record: Expr, c: number): Expr {
    return join('add', join('mul', record, word(this.#width)), word(c));
  }

  /** Members in any order, all of them most often. */
  #members(): readonly number[] {
    const r = this.#r;
    const all = Array.from({ length: this.#width }, (_, c) => c).sort(() => r.below(3) - 1);
    return r.chance(0.7) ? all : all.slice(0, 1 + r.below(all.length));
  }

  program(): Program {
    const r = this.#r;
    const t = widened(this.#elem);
    const order = this.#order();
    const [from, to] = [this.#records('in'), this.#records('out')];
    const load = (array: ArrayDecl, at: Expr): Expr => ({ t, k: 'load', array, at: { form: 'raw', index: [at] } });
    const own = special('k');
    const name = this.#name('j');
    const named: Expr = { t: 'i32', k: 'var', name };
    const there: Expr = { t: 'i32', k: 'load', array: order, at: { form: 'raw', index: [own] } };
    const body: Stmt[] = [{ k: 'let', name, value: there }];
    // Records are loaded from where the order says, or stored there, or both.
    const [source, target] = r.pick([
      [named, own],
      [own, named],
      [named, named],
    ] as const);
    /** Of members next to each other, as of a row of a matrix. */
    const lets: Stmt[] = [];
    const known = this.#members()
      .slice(0, r.below(3))
      .map((c): Expr => {
        const v = this.#name('m');
        const row = Array.from({ length: 1 + r.below(4) }, (_, k) =>
          load(from, this.#member(source, (c + k) % this.#width)),
        );
        lets.push({ k: 'let', name: v, value: row.reduce((a, x) => join('add', a, x)) });
        return { t, k: 'var', name: v };
      });
    const value = (c: number): Expr => {
      const other = r.chance(0.8) ? c : r.below(this.#width);
      const x = r.chance(0.75) ? load(from, this.#member(source, other)) : load(to, this.#member(target, other));
      return known.length > 0 && r.chance(0.4) ? join(r.pick(['add', 'sub']), r.pick(known), x) : x;
    };
    const stores = this.#members().map((c): Stmt => {
      const at = { form: 'raw', index: [this.#member(target, c)] } as const;
      return { k: 'store', array: to, at, value: value(c) };
    });
    const some: Expr = { t: 'bool', k: 'cmp', op: 'lt', a: own, b: word(r.below(this.#threads + 1)) };
    if (r.chance(0.3)) body.push({ k: 'if', c: some, then: [...lets, ...stores], else: [] });
    else body.push(...lets, ...stores);
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: this.#block,
      indexBits: r.chance(0.1) ? 64 : 32,
      arrays: this.#arrays,
      scalars: [],
      functions: [],
      body,
    };
  }
}

/** A program for a seed. */
export function generateAnywhere(seed: number): Program {
  return new AnywhereGenerator(seed).program();
}
