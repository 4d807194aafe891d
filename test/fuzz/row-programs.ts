/**
 * Random sums over grid-stride loops of many rounds, in blocks of long rows: the CPU device takes these several rounds at a time.
 *
 * Each thread adds up, multiplies or compares what it reads from round to round; what comes of it goes through shared memory to other
 * threads, or is stored as it is. Steps are those of the grid, or numbers that only the launch knows.
 */
import type { ArrayDecl, BinOp, Expr, Program, Stmt, Ty } from './program.ts';
import { Random } from './random.ts';
import { special } from './terms.ts';

type Sum = Extract<Ty, 'i32' | 'u32' | 'i64' | 'f32' | 'f64'>;

const SUMS: readonly Sum[] = ['i32', 'u32', 'i64', 'f32', 'f64'];
const COUNTS = [512, 1024, 2048, 4096];

const join = (op: BinOp, t: Ty, a: Expr, b: Expr): Expr => ({ t, k: 'bin', op, a, b });
const named = (t: Ty, name: string): Expr => ({ t, k: 'var', name });

class RowGenerator {
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
    this.#block = [r.pick([64, 64, 128, 72, 100, 32]), r.chance(0.1) ? 2 : 1];
    // Groups of neighbouring blocks begin with one, then two, then four.
    this.#grid = r.pick([1, 2, 3, 5, 7, 11]);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: 'in' | 'out' | 'shared', elem: Sum, n: number): ArrayDecl {
    const r = this.#r;
    const small = (): number | bigint =>
      elem === 'i64' ? BigInt(r.below(2000) - 1000) : r.below(2000) - (elem === 'u32' ? 0 : 1000);
    const data = Array.from({ length: space === 'shared' ? 0 : n }, () => {
      const v = small();
      return elem === 'f32' || elem === 'f64' ? Math.fround(Number(v) / 7) : v;
    });
    const array: ArrayDecl = { name: this.#name(space.slice(0, 2)), elem, shape: [n], space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  #step(): Expr {
    const r = this.#r;
    if (r.chance(0.7)) return join('mul', 'i32', special('blockDim.x'), special('gridDim.x'));
    const name = this.#name('n');
    this.#scalars = [...this.#scalars, { name, t: 'i32', v: r.pick([1, 7, 64, 100, 128]) }];
    return named('i32', name);
  }

  /** A value of type t of what is read in this round, and of what was before. */
  #value(t: Sum, at: string, known: readonly Expr[], depth: number): Expr {
    const r = this.#r;
    if (depth > 0 && r.chance(0.6)) {
      const [a, b] = [this.#value(t, at, known, depth - 1), this.#value(t, at, known, depth - 1)];
      return join(r.pick(['add', 'sub', 'mul']), t, a, b);
    }
    const arrays = this.#arrays.filter((a) => a.space === 'in' && a.elem === t);
    if (r.chance(0.6)) return { t, k: 'load', array: r.pick(arrays), at: { form: 'raw', index: [named('i32', at)] } };
    const own = known.filter((e) => e.t === t);
    if (own.length > 0 && r.chance(0.6)) return r.pick(own);
    return { t, k: 'cast', to: t, a: r.chance(0.5) ? named('i32', at) : special('threadIdx.x') };
  }

  #loop(sums: readonly (readonly [Sum, string])[], n: number): Stmt {
    const r = this.#r;
    const at = this.#name('i');
    const from = join(
      'add',
      'i32',
      join('mul', 'i32', special('blockIdx.x'), special('blockDim.x')),
      special('threadIdx.x'),
    );
    const known: Expr[] = sums.map(([t, name]) => named(t, name));
    const body: Stmt[] = [];
    for (const [t, name] of sums) {
      if (r.chance(0.3)) {
        const v = this.#name('v');
        body.push({ k: 'let', name: v, value: this.#value(t, at, known, 1) });
        known.push(named(t, v));
      }
      const set: Stmt = {
        k: 'set',
        name,
        t,
        op: r.pick(['add', 'add', 'add', 'sub']),
        value: this.#value(t, at, known, 2),
      };
      const [a, b] = [this.#value(t, at, known, 0), this.#value(t, at, known, 1)];
      const c: Expr = { t: 'bool', k: 'cmp', op: r.pick(['lt', 'ge', 'ne']), a, b };
      body.push(r.chance(0.3) ? { k: 'if', c, then: [set], else: [] } : set);
    }
    return { k: 'for', name: at, from, to: n - r.below(n >> 2), step: this.#step(), body };
  }

  program(): Program {
    const r = this.#r;
    const threads = this.#grid * this.#block[0] * this.#block[1];
    const sums = Array.from({ length: 1 + r.below(3) }, () => [r.pick(SUMS), this.#name('sum')] as const);
    const n = r.pick(COUNTS);
    for (const [t] of sums) this.#declare('in', t, n * r.pick([1, 1, 2]));
    const own = { form: 'own', scale: 1, offset: 0, reverse: false } as const;
    const body: Stmt[] = sums.map(([t, name]) => ({
      k: 'let',
      name,
      value: { t, k: 'cast', to: t, a: special('threadIdx.x') },
    }));
    body.push(this.#loop(sums, n));
    for (const [t, name] of sums) {
      const size = 2 ** Math.ceil(Math.log2(threads));
      const out = this.#declare('out', t, size);
      let value = named(t, name);
      if (r.chance(0.4)) {
        const shared = this.#declare('shared', t, 2 ** Math.ceil(Math.log2(this.#block[0] * this.#block[1])));
        body.push({ k: 'store', array: shared, at: own, value: named(t, name) }, { k: 'barrier' });
        const other = join('add', 'i32', special('t'), { t: 'i32', k: 'lit', v: r.below(9) });
        const rows = this.#block[1] === 1 && Number.isInteger(Math.log2(this.#block[0]));
        if (rows) value = { t, k: 'load', array: shared, at: { form: 'any', index: [other] } };
      }
      body.push({ k: 'store', array: out, at: own, value });
    }
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: this.#block,
      indexBits: r.chance(0.1) ? 64 : 32,
      arrays: this.#arrays,
      scalars: this.#scalars,
      functions: [],
      body,
    };
  }
}

/** A program for a seed. */
export function generateRows(seed: number): Program {
  return new RowGenerator(seed).program();
}
