/**
 * Random updates in place of a matrix of which every so many elements are changed at a time: `if ((x + y) % 2 === colour) u[y][x] = …` of the elements
 * around; or of all of it, each element by itself. The CPU device makes lanes of every second thread, has neighbouring blocks take turns, and loads once
 * what a row has in common.
 *
 * What is read is never what another thread writes. In some programs the matrix that is only read is too short for the threads at an end.
 */
import type { ArrayDecl, Expr, Program, Stmt, Ty } from './program.ts';
import { Random } from './random.ts';
import { compare, join, special, word } from './terms.ts';

type Element = Extract<Ty, 'i32' | 'u32' | 'f32' | 'f64'>;

const both = (a: Expr, b: Expr): Expr => ({ t: 'bool', k: 'logic', op: 'and', a, b });
const named = (t: Ty, name: string): Expr => ({ t, k: 'var', name });
const guard = (c: Expr, then: readonly Stmt[]): Stmt => ({ k: 'if', c, then, else: [] });

class ChequerGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #step: number;
  readonly #t: Element;
  readonly #arrays: ArrayDecl[] = [];
  #scalars: Program['scalars'] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = [r.pick([32, 32, 16, 64, 40, 24, 8, 20]), r.pick([2, 4, 4, 1, 3])];
    this.#grid = r.pick([1, 2, 3, 5, 8]);
    this.#step = r.pick([2, 2, 2, 2, 4, 8, 1, 1]);
    this.#t = r.pick(['f32', 'f32', 'i32', 'u32', 'f64']);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #matrix(space: 'in' | 'out', columns: number): ArrayDecl {
    const r = this.#r;
    const data = Array.from({ length: 8 * columns }, () => {
      const v = r.below(2000) - (this.#t === 'u32' ? 0 : 1000);
      return this.#t === 'f32' || this.#t === 'f64' ? Math.fround(v / 7) : v;
    });
    const array: ArrayDecl = { name: this.#name(space), elem: this.#t, shape: [8, columns], space, layout: 'C', data };
    this.#arrays.push(array);
    return array;
  }

  /** A number, or an argument. */
  #number(v: number): Expr {
    if (this.#r.chance(0.5)) return word(v);
    const name = this.#name('n');
    this.#scalars = [...this.#scalars, { name, t: 'i32', v }];
    return named('i32', name);
  }

  /** What guards an update: some of every so many threads, perhaps of a part of the matrix. */
  #when(x: Expr, y: Expr, width: number): Expr {
    const r = this.#r;
    if (this.#step === 1)
      return r.pick([
        () => compare('lt', x, this.#number(width - r.below(5))),
        () => both(compare('gt', x, word(0)), compare('gt', y, word(0))),
        () => both(compare('lt', x, word(width)), compare('lt', y, this.#number(1 + r.below(this.#block[1])))),
      ])();
    const place = join('add', r.chance(0.2) ? join('add', x, this.#number(this.#step * r.below(3))) : x, y);
    const rest = this.#number(r.below(this.#step + (r.chance(0.1) ? 1 : 0)));
    const part = r.chance(0.6) ? join('rem', place, word(this.#step)) : join('and', place, word(this.#step - 1));
    const parity =
      this.#step === 2 && r.chance(0.2) ? compare('ne', part, word(r.below(2))) : compare('eq', part, rest);
    return r.pick([
      () => parity,
      () => both(compare('lt', x, this.#number(width - r.below(5))), parity),
      () => both(both(compare('gt', x, word(0)), compare('gt', y, word(0))), parity),
      () => both(parity, compare('lt', y, this.#number(1 + r.below(this.#block[1])))),
      () => both(parity, compare('ne', special('blockIdx.x'), this.#number(r.below(3)))),
    ])();
  }

  program(): Program {
    const r = this.#r;
    const width = this.#grid * this.#block[0];
    // With a place beside each thread on either side.
    const columns = 2 ** Math.ceil(Math.log2(width + 2));
    const u = this.#matrix('out', columns);
    // Every fourth program is compiled without checks.
    const short = this.#seed % 4 !== 0 && r.chance(0.15);
    const f = this.#matrix('in', short ? columns / 2 : columns);
    const [x, y] = [this.#name('x'), this.#name('y')];
    const [px, py] = [named('i32', x), named('i32', y)];
    const at = (array: ArrayDecl, dx: number, dy: number): Expr => ({
      t: this.#t,
      k: 'load',
      array,
      at: { form: 'raw', index: [join('add', py, word(1 + dy)), join('add', px, word(1 + dx))] },
    });
    const common = (column: Expr): Expr => ({
      t: this.#t,
      k: 'load',
      array: f,
      at: { form: 'raw', index: [join('add', py, word(r.below(2))), column] },
    });
    // Vectors tell of the first place where a thread fails, which is to be that of the first thread: all are as far along the row.
    const along = r.below(3) - 1;
    const here = (): Expr =>
      r.pick([
        () => at(u, 0, 0),
        () => at(f, along, r.below(3) - 1),
        () => common(word(r.below(columns / 2))),
        () => common(special('blockIdx.x')),
      ])();
    const around = (): Expr => (this.#step === 1 ? here() : beside());
    const beside = (): Expr =>
      r.pick([
        () => at(u, 0, 0),
        () => at(u, 1, 0),
        () => at(u, -1, 0),
        () => at(u, 0, -1),
        () => at(u, 0, 1),
        () => at(f, 0, 0),
        () => at(f, r.below(3) - 1, r.below(3) - 1),
        () =>
          ({
            t: this.#t,
            k: 'cast',
            to: this.#t,
            a: r.pick([px, py, px, special('threadIdx.x'), special('blockIdx.x'), special('laneId')]),
          }) satisfies Expr,
      ])();
    const value = (depth: number): Expr =>
      depth === 0 || r.chance(0.2)
        ? around()
        : join(r.pick(['add', 'add', 'sub', 'mul', 'min']), value(depth - 1), value(depth - 1));
    const update: Stmt[] = [];
    let sum: Expr = value(2 + r.below(2));
    if (r.chance(0.4)) {
      const v = this.#name('v');
      update.push({ k: 'let', name: v, value: sum });
      if (r.chance(0.5)) {
        const c = compare(r.pick(['lt', 'ge']), r.pick([px, around()]), r.pick([px, around()]));
        const set: Stmt = { k: 'set', name: v, t: this.#t, op: 'add', value: value(1) };
        if (c.k === 'cmp' && c.a.t === c.b.t) update.push(guard(c, [set]));
      }
      sum = named(this.#t, v);
    }
    const index = [join('add', py, word(1)), join('add', px, word(1))];
    update.push({ k: 'store', array: u, at: { form: 'raw', index }, value: sum });
    const body: Stmt[] = [
      {
        k: 'let',
        name: x,
        value: join('add', join('mul', special('blockIdx.x'), special('blockDim.x')), special('threadIdx.x')),
      },
      { k: 'let', name: y, value: special('threadIdx.y') },
      guard(this.#when(px, py, width), update),
    ];
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
export function generateChequer(seed: number): Program {
  return new ChequerGenerator(seed).program();
}
