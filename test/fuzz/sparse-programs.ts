/**
 * Random sums over rows of sparse matrices, strings and neighbours: loops from `starts[k]` to `starts[k + 1]`, places out of arrays
 * of indices, and places that wrap around the length of an array or are clamped to it.
 *
 * In some programs one thread finds an index that is out of range.
 */
import type { ArrayDecl, BinOp, Expr, Program, Stmt, Ty } from './program.ts';
import { Random } from './random.ts';
import { join, special, word } from './terms.ts';

type Sum = Extract<Ty, 'i32' | 'u32' | 'f32' | 'f64'>;

const SUMS: readonly Sum[] = ['i32', 'u32', 'f32', 'f64'];
/** Elements of all rows together, at most. */
const MANY = 1024;
const LENGTHS = [8, 32, 128];

const named = (t: Ty, name: string): Expr => ({ t, k: 'var', name });
const load = (t: Ty, array: ArrayDecl, at: Expr): Expr => ({ t, k: 'load', array, at: { form: 'raw', index: [at] } });

class SparseGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #threads: number;
  readonly #mistake: 'column' | 'neighbour' | undefined;
  readonly #arrays: ArrayDecl[] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = [r.pick([64, 32, 8, 20, 72]), r.chance(0.2) ? 2 : 1];
    this.#grid = r.pick([1, 2, 3]);
    this.#threads = this.#grid * this.#block[0] * this.#block[1];
    this.#mistake = seed % 4 === 0 ? undefined : r.pick(['column', 'neighbour', undefined, undefined]);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: 'in' | 'out', elem: Sum, data: readonly number[]): ArrayDecl {
    const array: ArrayDecl = { name: this.#name(space), elem, shape: [data.length], space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  #numbers(elem: Sum, n: number): readonly number[] {
    const r = this.#r;
    return Array.from({ length: n }, () => {
      const v = r.below(2000) - (elem === 'u32' ? 0 : 1000);
      return elem === 'f32' || elem === 'f64' ? Math.fround(v / 7) : v;
    });
  }

  /** Where the rows begin: `k + 1` is where row k ends. Some have nothing, some are all alike. */
  #starts(): ArrayDecl {
    const r = this.#r;
    const size = 2 ** Math.ceil(Math.log2(this.#threads + 1));
    const most = Math.max(1, Math.floor(MANY / this.#threads));
    const even = r.chance(0.2) ? r.below(most) : undefined;
    const data = [0];
    while (data.length < size) data.push(Math.min((data.at(-1) ?? 0) + (even ?? r.below(most + 1)), MANY));
    return this.#declare('in', 'i32', data);
  }

  /** Indices of `x`, one for each element of the rows; perhaps one is out of range, of those that some row has. */
  #columns(x: ArrayDecl, starts: ArrayDecl): ArrayDecl {
    const r = this.#r;
    const n = x.data.length;
    const data = Array.from({ length: MANY }, () => r.below(n));
    const used = Number(starts.data[this.#threads]);
    if (this.#mistake === 'column' && used > 0) data[r.below(used)] = r.pick([n, -1, 2 ** 31 - 1, -(2 ** 31)]);
    return this.#declare('in', 'i32', data);
  }

  /** A place in `x` that is near another: around its ends, or up to them. */
  #near(x: ArrayDecl, at: Expr): Expr {
    const r = this.#r;
    const length: Expr = r.chance(0.8) ? { t: 'i32', k: 'length', array: x } : word(x.data.length);
    const by = word(r.below(4));
    return r.pick([
      () => join('rem', join('add', at, by), length),
      () => join('rem', join('add', join('sub', at, by), length), length),
      () => join('min', join('add', at, by), join('sub', length, word(1))),
      () => join('max', join('sub', at, by), word(0)),
      () => join('min', join('max', join('add', at, join('sub', by, word(2))), word(0)), join('sub', length, word(1))),
    ])();
  }

  /** A place that is out of range for the thread at one of the ends. */
  #beyond(x: ArrayDecl, at: Expr): Expr {
    const length: Expr = { t: 'i32', k: 'length', array: x };
    const [before, after] = [join('sub', at, word(1)), join('add', at, word(1))];
    return this.#r.pick([
      () => join('min', after, length),
      () => join('max', after, word(0)),
      () => join('rem', before, length),
      () => join('min', before, join('sub', length, word(1))),
      () => join('add', join('min', at, join('sub', length, word(1))), word(1)),
    ])();
  }

  #round(t: Sum, sum: string, k: string, x: ArrayDecl, columns: ArrayDecl, values: ArrayDecl): Stmt[] {
    const r = this.#r;
    const body: Stmt[] = [];
    let column = load('i32', columns, named('i32', k));
    if (r.chance(0.5)) {
      const name = this.#name('c');
      body.push({ k: 'let', name, value: column });
      column = named('i32', name);
    }
    const other = load(t, x, column);
    const value = load(t, values, named('i32', k));
    const set = (op: BinOp | undefined, e: Expr): Stmt => ({ k: 'set', name: sum, t, ...(op && { op }), value: e });
    const add = r.pick([
      () => set('add', join('mul', value, other)),
      () => set('sub', other),
      () => set(undefined, join('add', join('mul', named(t, sum), { t, k: 'cast', to: t, a: word(3) }), other)),
      () => set('add', join('mul', join('sub', value, other), join('sub', value, other))),
    ])();
    if (r.chance(0.3))
      body.push({ k: 'if', c: { t: 'bool', k: 'cmp', op: 'lt', a: value, b: other }, then: [add], else: [] });
    else body.push(add);
    return body;
  }

  program(): Program {
    const r = this.#r;
    const t = r.pick(SUMS);
    const starts = this.#starts();
    const x = this.#declare('in', t, this.#numbers(t, r.pick(LENGTHS)));
    const columns = this.#columns(x, starts);
    const values = this.#declare('in', t, this.#numbers(t, MANY));
    const [sum, counter] = [this.#name('sum'), this.#name('k')];
    const row = special('k');
    const first: Stmt[] = [{ k: 'let', name: sum, value: { t, k: 'cast', to: t, a: special('threadIdx.x') } }];
    if (this.#mistake === 'neighbour' || r.chance(0.5)) {
      // Threads beyond the length keep what they have.
      const at = this.#name('at');
      const length: Expr = { t: 'i32', k: 'length', array: x };
      const inside: Expr = { t: 'bool', k: 'cmp', op: 'lt', a: row, b: length };
      const neighbours = Array.from({ length: 1 + r.below(3) }, (_, n): Stmt => {
        const place =
          this.#mistake === 'neighbour' && n === 0
            ? this.#beyond(x, named('i32', at))
            : this.#near(x, named('i32', at));
        return { k: 'set', name: sum, t, op: 'add', value: load(t, x, place) };
      });
      first.push({ k: 'let', name: at, value: row }, { k: 'if', c: inside, then: neighbours, else: [] });
    }
    const loop: Stmt = {
      k: 'for',
      name: counter,
      from: load('i32', starts, row),
      to: load('i32', starts, join('add', row, word(1))),
      step: 1,
      body: this.#round(t, sum, counter, x, columns, values),
    };
    const out = this.#declare('out', t, this.#numbers(t, 2 ** Math.ceil(Math.log2(this.#threads))));
    const own = { form: 'own', scale: 1, offset: 0, reverse: false } as const;
    // Of neighbouring threads some come to the loop, and some do not.
    const guard: Expr = { t: 'bool', k: 'cmp', op: 'lt', a: row, b: word(r.below(this.#threads + 1)) };
    const guarded: Stmt = r.chance(0.4) ? { k: 'if', c: guard, then: [loop], else: [] } : loop;
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: this.#block,
      indexBits: r.chance(0.1) ? 64 : 32,
      arrays: this.#arrays,
      scalars: [],
      functions: [],
      body: [...first, guarded, { k: 'store', array: out, at: own, value: named(t, sum) }],
    };
  }
}

/** A program for a seed. */
export function generateSparse(seed: number): Program {
  return new SparseGenerator(seed).program();
}
