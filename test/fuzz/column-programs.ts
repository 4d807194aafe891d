/**
 * Random loops down the columns of matrices, a column for each thread: the CPU device goes through them row by row, four rounds at a time.
 *
 * Sums, extremes and choices of integers and floats of all widths that go from row to row, running ones that are stored, rows before and behind, vectors
 * that all threads go through; matrices of one axis too, from the last row up, guards, steps that only the launch knows, second loops that want what the first one found; now
 * and then a matrix that has a row or a column too few.
 */
import type { ArrayDecl, Elem, Expr, LValue, Program, Stmt } from './program.ts';
import { Random } from './random.ts';
import { wrap } from './semantics.ts';
import { compare, join, named, special, word } from './terms.ts';

type Sum = 'i32' | 'f32' | 'f64';

const ELEMS: Readonly<Record<Sum, readonly Elem[]>> = { i32: ['i32', 'i16', 'u8'], f32: ['f32'], f64: ['f64'] };

class ColumnGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: number;
  readonly #grid: number;
  readonly #rows: number;
  readonly #flat: boolean;
  /** Rows that are above and below those that a loop goes through, and columns that no guard lets through. */
  readonly #margin: number;
  readonly #type: Sum;
  /** Whether a matrix is too small, which all threads that reach beyond it then find out in the same round. */
  readonly #fails: boolean;
  readonly #arrays: ArrayDecl[] = [];
  readonly #scalars: Program['scalars'][number][] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = r.pick([64, 64, 128, 72, 100]);
    this.#grid = r.pick([1, 2, 3]);
    this.#rows = r.pick([1, 3, 4, 9, 17]);
    this.#flat = r.chance(0.3);
    this.#margin = r.below(3);
    this.#type = r.pick(['i32', 'f32', 'f32', 'f64']);
    this.#fails = seed % 4 !== 0 && r.chance(0.2);
  }

  get #threads(): number {
    return this.#grid * this.#block;
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: 'in' | 'out', elem: Elem, shape: readonly number[]): ArrayDecl {
    const r = this.#r;
    const data = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () =>
      elem === 'f32' || elem === 'f64'
        ? r.chance(0.02)
          ? r.pick([Number.NaN, -0, 0])
          : Math.fround((r.below(2000) - 1000) / 7)
        : wrap(elem, BigInt(r.bits() | 0)),
    );
    const array: ArrayDecl = { name: this.#name(space), elem, shape, space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  /** A matrix; where it `fails`, with a row or a column too few. */
  #matrix(space: 'in' | 'out', elem: Elem, columns: number, fails = false): ArrayDecl {
    const rows = this.#rows + 2 * this.#margin;
    const lacksRow = fails && this.#r.chance(0.5);
    const shape = [rows - (lacksRow ? 1 : 0), columns - (fails && !lacksRow ? 1 : 0)] as const;
    return this.#declare(space, elem, this.#flat ? [rows * columns - (fails ? 1 : 0)] : shape);
  }

  #at(row: Expr, columns: number): LValue {
    const column = named('c');
    return {
      form: 'raw',
      index: this.#flat ? [join('add', join('mul', row, word(columns)), column)] : [row, column],
    };
  }

  program(): Program {
    const r = this.#r;
    const guarded = r.chance(0.7);
    const columns = this.#threads - (guarded ? r.pick([0, 1, 5, 40]) : 0);
    const t = this.#type;
    const matrices = Array.from({ length: 1 + r.below(2) }, (_, k) =>
      this.#matrix('in', r.pick(ELEMS[t]), columns, this.#fails && k === 0),
    );
    const vector = this.#declare('in', t, [this.#rows + 2 * this.#margin]);
    const inner: Stmt[] = [];
    const found: Expr[] = [];
    for (let loops = 1 + r.below(2); loops > 0; loops--) {
      const sums = Array.from({ length: 1 + r.below(2) }, () => this.#name('sum'));
      for (const name of sums) {
        const value: Expr = { t, k: 'cast', to: t, a: r.chance(0.5) ? word(0) : special('threadIdx.x') };
        inner.push({ k: 'let', name, value });
      }
      inner.push(this.#loop(sums, matrices, vector, found, columns));
      found.push(...sums.map((name) => named(name, t)));
    }
    for (const value of found) {
      const array = this.#declare('out', t, [columns]);
      inner.push({ k: 'store', array, at: { form: 'raw', index: [named('c')] }, value });
    }
    const first = join('add', join('mul', special('blockIdx.x'), special('blockDim.x')), special('threadIdx.x'));
    const n = this.#name('n');
    this.#scalars.push({ name: n, t: 'i32', v: columns });
    const body: Stmt[] = [{ k: 'let', name: 'c', value: first }];
    if (guarded) body.push({ k: 'if', c: compare('lt', named('c'), named(n)), then: inner, else: [] });
    else body.push(...inner);
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: [this.#block, 1],
      indexBits: r.chance(0.1) ? 64 : 32,
      arrays: this.#arrays,
      scalars: this.#scalars,
      functions: [],
      body,
    };
  }

  #loop(
    sums: readonly string[],
    matrices: readonly ArrayDecl[],
    vector: ArrayDecl,
    known: readonly Expr[],
    columns: number,
  ): Stmt {
    const r = this.#r;
    const t = this.#type;
    const row = this.#name('r');
    const shifted = (): Expr => {
      const by = r.below(2 * this.#margin + 1) - this.#margin;
      return by === 0 ? named(row) : join(by < 0 ? 'sub' : 'add', named(row), word(Math.abs(by)));
    };
    const element = (): Expr => {
      if (r.chance(0.2)) return { t, k: 'load', array: vector, at: { form: 'raw', index: [named(row)] } };
      const array = r.pick(matrices);
      return { t, k: 'load', array, at: this.#at(shifted(), columns) };
    };
    const value = (depth: number): Expr => {
      if (depth > 0) return join(r.pick(['add', 'sub', 'mul', 'min', 'max']), value(depth - 1), value(depth - 1), t);
      return r.chance(0.8) || known.length === 0 ? element() : r.pick(known);
    };
    const body: Stmt[] = [];
    for (const name of sums) {
      const set: Stmt = r.chance(0.3)
        ? { k: 'set', name, t, value: join(r.pick(['min', 'max']), named(name, t), value(0), t) }
        : { k: 'set', name, t, op: r.pick(['add', 'add', 'sub']), value: value(r.below(2)) };
      const c = compare(r.pick(['lt', 'ge', 'ne']), element(), named(name, t));
      body.push(!this.#fails && r.chance(0.3) ? { k: 'if', c, then: [set], else: [] } : set);
    }
    if (r.chance(0.3)) {
      const array = this.#matrix('out', t, columns);
      body.push({ k: 'store', array, at: this.#at(named(row), columns), value: named(sums[0] as string, t) });
    }
    const step = this.#name('n');
    if (r.chance(0.3)) this.#scalars.push({ name: step, t: 'i32', v: r.pick([1, 2, 3]) });
    const known32 = this.#scalars.some((s) => s.name === step);
    const [first, end] = [this.#margin, this.#rows + this.#margin];
    if (!known32 && r.chance(0.3))
      return { k: 'for', name: row, from: end - 1, to: first - 1, step: r.pick([-1, -1, -2]), body };
    return {
      k: 'for',
      name: row,
      from: first,
      to: end,
      step: known32 ? named(step) : r.pick([1, 1, 1, 2]),
      body,
    };
  }
}

/** A program for a seed. */
export function generateColumns(seed: number): Program {
  return new ColumnGenerator(seed).program();
}
