/**
 * Random transforms in shared memory: stages between barriers whose strides double or halve, as those of an FFT, of a sorting
 * network or of a sum by halves. The CPU device writes each stage out for itself.
 */
import type { ArrayDecl, Expr, Program, Stmt } from './program.ts';
import { Random } from './random.ts';
import { join, named, raw, special, word } from './terms.ts';

type Value = 'i32' | 'u32' | 'f32' | 'f64' | 'i64';
const VALUES: readonly Value[] = ['f32', 'f32', 'i32', 'u32', 'f64', 'i64'];

const TOTAL = 'total';

class StageGenerator {
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
    this.#width = this.#r.pick([8, 16, 32, 64, 64, 128]);
    this.#height = this.#r.chance(0.15) ? 2 : 1;
    this.#grid = this.#r.pick([1, 1, 2]);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: 'in' | 'out' | 'shared', elem: ArrayDecl['elem'], n: number): ArrayDecl {
    const r = this.#r;
    const value = (): number | bigint =>
      elem === 'i64' ? BigInt(r.below(200) - 100) : elem === 'u32' || elem === 'u8' ? r.below(200) : r.below(200) - 100;
    const data = Array.from({ length: space === 'shared' ? 0 : n }, value);
    const array: ArrayDecl = { name: this.#name(space.slice(0, 2)), elem, shape: [n], space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  /** Two elements of each thread of a row, and one of a table, `half` apart in some way. */
  #places(half: Expr, begin: Expr): { readonly lets: Stmt[]; readonly a: Expr; readonly b: Expr; readonly w: Expr } {
    const r = this.#r;
    const x = special('threadIdx.x');
    const [k, a, w] = [this.#name('k'), this.#name('a'), this.#name('w')];
    const below = r.chance(0.8) ? join('and', x, join('sub', half, word(1))) : join('rem', x, half);
    const lets: Stmt[] = [{ k: 'let', name: k, value: below }];
    const within = r.pick([
      join('add', join('mul', word(2), join('sub', x, named(k))), named(k)),
      join('sub', join('shl', x, word(1)), named(k)),
      join('or', join('shl', join('sub', x, named(k)), word(1)), named(k)),
    ]);
    const offset = this.#height > 1 || r.chance(0.2);
    lets.push({ k: 'let', name: a, value: offset ? join('add', begin, within) : within });
    const beside = join('and', join('add', x, word(r.below(8))), word(r.pick([1, 3, 7])));
    const table = r.pick([
      join('and', join('mul', beside, word(r.pick([1, 3, 16]))), word(127)),
      join('and', join('mul', named(k), word(r.pick([1, 2, 3, 4, 8]))), word(127)),
      join('and', join('shl', named(k), word(r.below(5))), word(127)),
      join('and', named(k), word(r.pick([1, 3, 5, 7, 127]))),
    ]);
    lets.push({ k: 'let', name: w, value: table });
    return { lets, a: named(a), b: join('add', named(a), half), w: named(w) };
  }

  #stages(shared: readonly ArrayDecl[], table: ArrayDecl, begin: Expr): Stmt {
    const r = this.#r;
    const name = this.#name('half');
    const up = r.chance(0.6);
    const { lets, a, b, w } = this.#places(named(name), begin);
    const body: Stmt[] = [...lets];
    for (const array of shared) {
      const t = array.elem as Value;
      const load = (at: Expr): Expr => ({ t, k: 'load', array, at: raw(at) });
      const factor: Expr = { t, k: 'cast', to: t, a: { t: 'i32', k: 'load', array: table, at: raw(w) } };
      const v = this.#name('v');
      const op = r.pick(['add', 'sub', 'add'] as const);
      body.push({ k: 'let', name: v, value: r.chance(0.7) ? join(op, load(b), factor) : load(b) });
      const stores: Stmt[] = [
        { k: 'store', array, at: raw(b), value: join(r.pick(['sub', 'add']), load(a), named(v, t)) },
        { k: 'store', array, at: raw(a), value: join(r.pick(['add', 'sub']), load(a), named(v, t)) },
      ];
      const c: Expr = { t: 'bool', k: 'cmp', op: r.pick(['lt', 'ge']), a: special('threadIdx.x'), b: named(name) };
      if (r.chance(0.2)) body.push({ k: 'if', c, then: stores, else: [] });
      else body.push(...stores);
    }
    // What goes from stage to stage is a value of the thread.
    const own: Expr = { t: 'i32', k: 'load', array: table, at: raw(w) };
    if (r.chance(0.5)) body.push({ k: 'set', name: TOTAL, t: 'i32', op: r.pick(['add', 'xor']), value: own });
    body.push({ k: 'barrier' });
    const limits = up
      ? { from: 1, to: 2 * this.#width, shift: 'left' as const }
      : { from: this.#width, to: 0, shift: 'right' as const };
    return { k: 'for', name, ...limits, step: r.chance(0.85) ? 1 : 2, body };
  }

  program(): Program {
    const r = this.#r;
    const threads = this.#width * this.#height;
    const n = 2 * threads;
    const x: Expr = special('t');
    const begin = join('mul', special('threadIdx.y'), word(2 * this.#width));
    const shared = Array.from({ length: 1 + r.below(2) }, () => this.#declare('shared', r.pick(VALUES), n));
    const table = this.#declare('in', r.pick(['i32', 'u8']), 128);
    const body: Stmt[] = [];
    const both = [x, join('add', x, word(threads))];
    body.push({ k: 'let', name: TOTAL, value: { t: 'i32', k: 'cast', to: 'i32', a: x } });
    const totals = this.#declare('out', 'i32', threads * this.#grid);
    const all = shared.map((array) => {
      const t = array.elem as Value;
      const [source, target] = [this.#declare('in', t, n * this.#grid), this.#declare('out', t, n * this.#grid)];
      const own = (at: Expr): Expr => join('add', join('mul', special('blockIdx.x'), word(n)), at);
      for (const at of both) {
        const value: Expr = { t, k: 'load', array: source, at: raw(own(at)) };
        body.push({ k: 'store', array, at: raw(at), value });
      }
      return (): Stmt[] =>
        both.map((at) => {
          const value: Expr = { t, k: 'load', array, at: raw(at) };
          return { k: 'store', array: target, at: raw(own(at)), value };
        });
    });
    body.push({ k: 'barrier' });
    for (let i = 1 + r.below(2); i > 0; i--) body.push(this.#stages(shared, table, begin));
    for (const stores of all) body.push(...stores());
    const place = join('add', join('mul', special('blockIdx.x'), word(threads)), x);
    body.push({ k: 'store', array: totals, at: raw(place), value: named(TOTAL) });
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
export function generateStages(seed: number): Program {
  return new StageGenerator(seed).program();
}
