/**
 * Random sums over rows of matrices, a row or a window of rows for each thread: the CPU device takes sixteen elements of a row at a time.
 *
 * Integers of all widths at the ends of their ranges, sums of products, of differences and under conditions, least and most, bits; rows whose
 * lengths are no multiple of any vector's, that begin in their midst, and now and then one that ends behind its matrix.
 */
import type { ArrayDecl, BinOp, Elem, Expr, Program, Stmt } from './program.ts';
import { Random } from './random.ts';
import { wrap } from './semantics.ts';
import { named } from './terms.ts';

const ELEMS = ['i8', 'u8', 'i8', 'u8', 'i16', 'u16', 'i32', 'bool'] as const;
const ENDS = [0, 1, 127, 128, 255, 32767, 32768, 65535, -1, -128, -32768];
const SUMS = ['add', 'add', 'add', 'add', 'sub', 'and', 'or', 'xor'] as const;

const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
const bin = (op: BinOp, a: Expr, b: Expr): Expr => ({ t: 'i32', k: 'bin', op, a, b });
const thread: Expr = { t: 'i32', k: 'thread', what: 'k' };

class SumGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #columns: number;
  readonly #arrays: ArrayDecl[] = [];
  readonly #matrices: ArrayDecl[] = [];
  readonly #vectors: ArrayDecl[] = [];
  readonly #scalars: Program['scalars'][number][] = [];
  readonly #common: Expr[] = [];
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = r.pick([
      [16, 1],
      [32, 1],
      [8, 2],
      [20, 1],
    ] as const);
    this.#grid = r.pick([1, 2]);
    this.#columns = r.pick([8, 16, 64, 128]);
    for (let i = 1 + r.below(2); i > 0; i--) this.#declare(true);
    for (let i = r.below(2); i > 0; i--) this.#declare(false);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  get #rows(): number {
    return 2 ** Math.ceil(Math.log2(this.#grid * this.#block[0] * this.#block[1]));
  }

  #declare(isMatrix: boolean): void {
    const r = this.#r;
    const elem: Elem = r.pick(ELEMS);
    const shape = isMatrix ? [this.#rows, this.#columns] : [this.#columns];
    const size = shape.reduce((a, b) => a * b, 1);
    const isFlat = isMatrix && r.chance(0.3);
    const data = Array.from({ length: size }, () =>
      elem === 'bool' ? r.chance(0.5) : wrap(elem, BigInt(r.chance(0.4) ? r.pick(ENDS) : r.bits() | 0)),
    );
    const array: ArrayDecl = {
      name: this.#name('a'),
      elem,
      shape: isFlat ? [size] : shape,
      space: 'in',
      layout: 'C',
      data,
    };
    this.#arrays.push(array);
    (isMatrix ? this.#matrices : this.#vectors).push(array);
  }

  /** An element of this round: of the thread's own row, or of a vector that all threads go through. */
  #element(row: Expr, column: Expr): Expr {
    const r = this.#r;
    const isMatrix = r.chance(0.75);
    const array = r.pick(isMatrix || this.#vectors.length === 0 ? this.#matrices : this.#vectors);
    const at = r.chance(0.1) ? word(r.below(4)) : column;
    const flat = (): Expr => bin('add', bin('mul', row, word(this.#columns)), at);
    const index = array.shape.length === 2 ? [row, at] : [this.#matrices.includes(array) ? flat() : at];
    const load: Expr = { t: array.elem === 'bool' ? 'bool' : 'i32', k: 'load', array, at: { form: 'raw', index } };
    return array.elem === 'bool' ? { t: 'i32', k: 'cast', to: 'i32', a: load } : load;
  }

  #value(element: () => Expr, known: readonly Expr[], depth: number): Expr {
    const r = this.#r;
    const of = (): Expr => this.#value(element, known, depth - 1);
    if (depth <= 0)
      return r.weighted<() => Expr>([
        [6, element],
        [known.length > 0 ? 3 : 0, () => r.pick(known)],
        [1, () => word(r.pick(ENDS))],
      ])();
    return r.weighted<() => Expr>([
      [4, () => bin('mul', of(), of())],
      [2, () => bin(r.pick(['add', 'sub']), of(), of())],
      [2, () => ({ t: 'i32', k: 'un', op: 'abs', a: bin('sub', element(), element()) })],
      [1, () => bin(r.pick(['min', 'max', 'and', 'xor']), of(), of())],
      [1, () => bin('shr', of(), word(r.pick([1, 7, 8])))],
      [1, () => ({ t: 'i32', k: 'sel', selp: false, c: this.#condition(of, element), a: of(), b: of() })],
      [3, element],
    ])();
  }

  #condition(of: () => Expr, element: () => Expr): Expr {
    const op = this.#r.pick(['lt', 'ge', 'eq', 'ne'] as const);
    return { t: 'bool', k: 'cmp', op, a: element(), b: of() };
  }

  /** What a round does with sums that have these names. */
  #round(sums: readonly string[], row: Expr, column: Expr): Stmt[] {
    const r = this.#r;
    const element = (): Expr => this.#element(row, column);
    const known: Expr[] = [...this.#common, ...(r.chance(0.3) ? [column, thread] : [])];
    const body: Stmt[] = [];
    for (const name of sums) {
      if (r.chance(0.3)) {
        const v = this.#name('v');
        body.push({ k: 'let', name: v, value: this.#value(element, known, 1) });
        known.push(named(v));
      }
      const value = this.#value(element, known, r.below(3));
      const least = r.chance(0.2) ? r.pick(['min', 'max'] as const) : undefined;
      const set: Stmt =
        least === undefined
          ? { k: 'set', name, t: 'i32', op: r.pick(SUMS), value }
          : { k: 'set', name, t: 'i32', value: bin(least, named(name), value) };
      const c = this.#condition(() => this.#value(element, known, 0), element);
      body.push(r.chance(0.2) ? { k: 'if', c, then: [set], else: [] } : set);
    }
    return body;
  }

  /** A bound that is written down, or that only the launch knows. */
  #bound(n: number): number | Expr {
    if (this.#r.chance(0.5)) return n;
    const name = this.#name('n');
    this.#scalars.push({ name, t: 'i32', v: n });
    return named(name);
  }

  #loop(sums: readonly string[]): Stmt {
    const r = this.#r;
    const [i, j] = [this.#name('i'), this.#name('j')];
    const checked = this.#seed % 4 !== 0;
    if (r.chance(0.4)) {
      // A window of rows below the thread's own.
      const height = r.pick([1, 2, 3, 9]);
      const width = r.pick([4, 8, 8, 16, 12].filter((n) => n <= this.#columns));
      const from = r.below(this.#columns - width + 1);
      const past = checked && r.chance(0.05) ? this.#rows : 0;
      const rows = this.#rows - 1;
      // Rows go round at the last one, so that windows of all threads are inside; within a window they do not.
      const top = bin('and', thread, word(rows & ~15));
      const row = bin('add', top, bin('add', named(j), word(past)));
      const column = bin('add', named(i), word(from));
      const start: Stmt = { k: 'let', name: this.#name('r'), value: row };
      const isNamed = r.chance(0.4);
      const body = this.#round(sums, isNamed ? named(start.name) : row, column);
      const inner: Stmt = { k: 'for', name: i, from: 0, to: width, step: 1, body };
      return { k: 'for', name: j, from: 0, to: this.#bound(height), step: 1, body: isNamed ? [start, inner] : [inner] };
    }
    const from = r.chance(0.3) ? r.below(5) : 0;
    const offset = r.chance(0.3) ? r.below(3) : 0;
    const past = checked && r.chance(0.05) ? 1 : 0;
    const to = this.#columns - offset - r.pick([0, 0, 1, 3, 5]) + past;
    const column = offset === 0 ? named(i) : bin('add', named(i), word(offset));
    return { k: 'for', name: i, from, to: this.#bound(to), step: 1, body: this.#round(sums, thread, column) };
  }

  /** Values that a row of threads has in common, and perhaps one that it has not. */
  #letCommon(): Stmt[] {
    const r = this.#r;
    const special = (what: 'blockIdx.x' | 'threadIdx.y' | 'threadIdx.x'): Expr => ({ t: 'i32', k: 'thread', what });
    return Array.from({ length: r.below(3) }, () => {
      const row = r.pick([
        special('blockIdx.x'),
        special('threadIdx.y'),
        word(1),
        special('threadIdx.x'),
        ...this.#common,
      ]);
      const name = this.#name('c');
      const value = this.#element(bin('and', row, word(this.#rows - 1)), word(r.below(4)));
      this.#common.push(named(name));
      return { k: 'let', name, value };
    });
  }

  /** An array that every so many threads update in place. */
  #everyFew(): Stmt {
    const r = this.#r;
    const data = Array.from({ length: this.#rows }, () => r.bits() | 0);
    const array: ArrayDecl = {
      name: this.#name('z'),
      elem: 'i32',
      shape: [this.#rows],
      space: 'out',
      layout: 'C',
      data,
    };
    this.#arrays.push(array);
    const at = { form: 'own', scale: 1, offset: 0, reverse: false } as const;
    const place = r.pick([thread, { t: 'i32', k: 'thread', what: 'threadIdx.x' } as const]);
    const shifted = bin(r.pick(['add', 'add', 'sub']), place, word(r.pick([0, 1, 5, 100, 2 ** 31 - 20])));
    const m = r.pick([2, 2, 3, 4, 8, 16, 12]);
    const masks = r.chance(0.4) && Number.isInteger(Math.log2(m));
    const rest = masks ? bin('and', shifted, word(m - 1)) : bin('rem', shifted, word(m));
    const c: Expr = { t: 'bool', k: 'cmp', op: r.pick(['eq', 'eq', 'eq', 'ne']), a: rest, b: word(r.below(m + 1)) };
    const value = this.#value(() => this.#element(thread, word(r.below(4))), [thread], 1);
    return { k: 'if', c, then: [{ k: 'store', array, at, op: r.pick(['add', 'xor']), value }], else: [] };
  }

  /** Sums or extremes of what lies so far below, or above, in shared memory: by rounds between barriers. */
  #scan(): Stmt[] {
    const r = this.#r;
    const n = 2 ** Math.ceil(Math.log2(this.#block[0] * this.#block[1]));
    const shared: ArrayDecl = {
      name: this.#name('s'),
      elem: 'i32',
      shape: [n],
      space: 'shared',
      layout: 'C',
      data: [],
    };
    const data = Array.from({ length: this.#rows }, () => 0);
    const out: ArrayDecl = { name: this.#name('y'), elem: 'i32', shape: [this.#rows], space: 'out', layout: 'C', data };
    this.#arrays.push(shared, out);
    const own = { form: 'own', scale: 1, offset: 0, reverse: false } as const;
    const [step, v] = [this.#name('i'), this.#name('v')];
    const t: Expr = { t: 'i32', k: 'thread', what: 't' };
    const down = r.chance(0.6);
    const at = bin(down ? 'sub' : 'add', t, named(step));
    const threads = this.#block[0] * this.#block[1];
    const c: Expr = { t: 'bool', k: 'cmp', op: down ? 'ge' : 'lt', a: at, b: word(down ? 0 : threads) };
    const load: Expr = { t: 'i32', k: 'load', array: shared, at: { form: 'raw', index: [at] } };
    const set: Stmt = { k: 'set', name: v, t: 'i32', value: load };
    const doubled = r.chance(0.7);
    const body: Stmt[] = [
      { k: 'let', name: v, value: word(r.pick(ENDS)) },
      { k: 'if', c, then: [set], else: [] },
      { k: 'barrier' },
      { k: 'store', array: shared, at: own, op: r.pick(['add', 'sub', 'xor']), value: named(v) },
      { k: 'barrier' },
    ];
    const value: Expr = { t: 'i32', k: 'load', array: shared, at: own };
    return [
      { k: 'store', array: shared, at: own, value: thread },
      { k: 'barrier' },
      { k: 'for', name: step, from: 1, to: threads, step: doubled ? 1 : 5, ...(doubled && { shift: 'left' }), body },
      { k: 'store', array: out, at: own, value },
    ];
  }

  program(): Program {
    const r = this.#r;
    const few = r.chance(0.2);
    const scans = few && r.chance(0.5);
    const body: Stmt[] = scans ? this.#scan() : few ? [this.#everyFew()] : this.#letCommon();
    for (let loops = few ? 0 : 1 + r.below(2); loops > 0; loops--) {
      const sums = Array.from({ length: 1 + r.below(2) }, () => this.#name('sum'));
      for (const name of sums) body.push({ k: 'let', name, value: r.chance(0.5) ? word(0) : thread });
      body.push(this.#loop(sums));
      for (const name of sums) {
        const array: ArrayDecl = {
          name: this.#name('y'),
          elem: 'i32',
          shape: [this.#rows],
          space: 'out',
          layout: 'C',
          data: Array.from({ length: this.#rows }, () => 0),
        };
        this.#arrays.push(array);
        const at = { form: 'own', scale: 1, offset: 0, reverse: false } as const;
        body.push({ k: 'store', array, at, value: named(name) });
      }
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
export function generateSums(seed: number): Program {
  return new SumGenerator(seed).program();
}
