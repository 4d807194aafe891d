/**
 * Random counters in global memory that all threads change atomically, and ask nothing of: the CPU device changes copies of them where several
 * threads run a launch. Histograms of what threads read, once or in grid-stride loops, and counters of each thread; least and most, bits; and now
 * and then what no copy may have: another operation, a load, an array that is not contiguous, an index behind the end.
 */
import type { ArrayDecl, AtomicOp, Elem, Expr, Program, Stmt } from './program.ts';
import { Random } from './random.ts';
import { join, named, raw, special } from './terms.ts';

type Word = 'i32' | 'u32';

const OPS: readonly AtomicOp[] = ['add', 'add', 'add', 'and', 'or', 'xor', 'min', 'max'];

const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v });

class CountGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #arrays: ArrayDecl[] = [];
  readonly #counters: { readonly array: ArrayDecl; readonly op: AtomicOp }[] = [];
  #names = 0;
  /** What all threads in all rounds number. */
  #places = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = r.pick([
      [64, 1],
      [128, 1],
      [40, 1],
      [16, 4],
    ] as const);
    this.#grid = r.pick([1, 2, 5, 11]);
  }

  get #threads(): number {
    return this.#grid * this.#block[0] * this.#block[1];
  }

  #declare(space: 'in' | 'out' | 'atomic', elem: Elem, least: number): ArrayDecl {
    const r = this.#r;
    const size = 2 ** Math.ceil(Math.log2(least));
    const value = (): number => {
      const bits = r.chance(0.5) ? r.below(100) : r.bits();
      return elem === 'u8' ? bits & 255 : elem === 'i32' ? bits | 0 : bits >>> 0;
    };
    const layout = space === 'atomic' && r.chance(0.08) ? 'stepped' : 'C';
    const data = Array.from({ length: size }, value);
    const array: ArrayDecl = { name: `${space}${this.#names++}`, elem, shape: [size], space, layout, data };
    this.#arrays.push(array);
    return array;
  }

  /** One change of a counter, by what is at `i` of some array. */
  #change(i: Expr, inputs: readonly ArrayDecl[]): Stmt {
    const r = this.#r;
    const { array, op } = r.pick(this.#counters);
    const t = array.elem as Word;
    const size = array.shape[0] ?? 1;
    const hasAll = size >= this.#places;
    const read = (): Expr => {
      const x = r.pick(inputs);
      return { t: x.elem === 'u32' ? 'u32' : 'i32', k: 'load', array: x, at: raw(i) };
    };
    const cast = (a: Expr, to: Word): Expr => (a.t === to ? a : { t: to, k: 'cast', to, a });
    // Behind the end now and then, where that is checked.
    const within = this.#seed % 4 !== 0 && r.chance(0.02) ? 2 * size : size;
    const place = r.chance(0.2)
      ? hasAll
        ? i
        : word(r.below(size))
      : join('and', r.chance(0.8) ? cast(read(), 'i32') : i, word(within - 1));
    const one: Expr = { t, k: 'lit', v: 1 };
    const value = r.pick([one, one, cast(read(), t)]);
    const fn = op === 'add' && r.chance(0.2) ? 'sub' : op;
    const change: Stmt = { k: 'atomic', op: fn, array, at: raw(place), args: [value] };
    if (r.chance(0.7)) return change;
    const c: Expr = { t: 'bool', k: 'cmp', op: 'lt', a: join('and', i, word(7)), b: word(r.below(8)) };
    return { k: 'if', c, then: [change], else: r.chance(0.3) ? [this.#change(i, inputs)] : [] };
  }

  program(): Program {
    const r = this.#r;
    const rounds = r.pick([1, 1, 2, 3]);
    this.#places = rounds * this.#threads;
    const inputs = Array.from({ length: 1 + r.below(2) }, () =>
      this.#declare('in', r.pick(['u8', 'i32', 'u32']), rounds * this.#threads),
    );
    for (let k = 1 + r.below(3); k > 0; k--) {
      const array = this.#declare(
        'atomic',
        r.pick(['i32', 'i32', 'u32']),
        r.pick([1, 2, 8, 16, 64, 256, Math.min(this.#places, 1024)]),
      );
      this.#counters.push({ array, op: r.pick(OPS) });
    }
    const inBlock = join('add', join('mul', special('threadIdx.y'), special('blockDim.x')), special('threadIdx.x'));
    const threads = join('mul', special('blockDim.x'), special('blockDim.y'));
    const id = join('add', join('mul', special('blockIdx.x'), threads), inBlock);
    const changes = (i: Expr): Stmt[] => Array.from({ length: 1 + r.below(3) }, () => this.#change(i, inputs));
    const body: Stmt[] = [];
    if (rounds === 1) body.push({ k: 'let', name: 'i', value: id }, ...changes(named('i')));
    else {
      const step = join('mul', threads, special('gridDim.x'));
      const to = rounds * this.#threads - r.below(this.#threads);
      body.push({ k: 'for', name: 'i', from: id, to, step, body: changes(named('i')) });
    }
    const [x] = inputs;
    if (x !== undefined && r.chance(0.4)) {
      const t = x.elem === 'u32' ? 'u32' : 'i32';
      const out = this.#declare('out', t, this.#threads);
      body.push({ k: 'store', array: out, at: raw(id), value: { t, k: 'load', array: x, at: raw(id) } });
    }
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
export function generateCounts(seed: number): Program {
  return new CountGenerator(seed).program();
}
