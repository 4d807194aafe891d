/**
 * Random programs on elements of 8 and 16 bits, which the CPU device computes in lanes as narrow as the values allow.
 *
 * Images and samples: every thread takes its own elements, most of them at the ends of their ranges, through arithmetic that stays
 * within a few bits, just leaves them, or wraps, and stores what comes of it. Rows are wide enough for whole vectors.
 */
import type { ArrayDecl, BinOp, Elem, Expr, Program, Stmt } from './program.ts';
import { count, widened } from './program.ts';
import { Random } from './random.ts';
import { wrap } from './semantics.ts';

const NARROW = ['i8', 'u8', 'i16', 'u16'] as const;
const STORES: readonly Elem[] = [...NARROW, ...NARROW, 'bool', 'u8c', 'i32', 'f32'];
/** Ends of ranges, and what divides or masks. */
const WORDS = [
  0, 1, 2, 3, 7, 8, 15, 127, 128, 254, 255, 256, 257, 1000, 32767, 32768, 65535, 65536, -1, -2, -128, -129, -32768,
];
const DIVISORS = [2, 3, 4, 7, 9, 10, 16, 100, 255, 256, 257, 1000, 65535];
const LIMITS = [
  [0, 255],
  [-128, 127],
  [-32768, 32767],
  [0, 65535],
  [0, 254],
] as const;

const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
const bin = (op: BinOp, a: Expr, b: Expr): Expr => ({ t: 'i32', k: 'bin', op, a, b });

/** Of the largest records. */
const MEMBERS = 4;

class NarrowGenerator {
  readonly #r: Random;
  /** Of what has come later, so that the programs of a seed stay what they were but for that. */
  readonly #more: Random;
  readonly #seed: number;
  readonly #arrays: ArrayDecl[] = [];
  readonly #scalars: Program['scalars'];
  readonly #block: readonly [number, number];
  readonly #grid: number;
  #names = 0;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#more = new Random(~seed);
    this.#seed = seed;
    this.#block = r.pick([
      [16, 1],
      [32, 1],
      [48, 1],
      [64, 1],
      [70, 1],
      [24, 1],
      [8, 2],
      [16, 2],
      [5, 1],
    ] as const);
    this.#grid = r.pick([1, 2, 3]);
    for (let i = 2 + r.below(3); i > 0; i--) this.#declare('in', r.chance(0.1) ? 'bool' : r.pick(NARROW));
    for (let i = 1 + r.below(2); i > 0; i--) this.#declare('out', r.pick(STORES));
    const t = r.pick(['i32', 'u8', 'i16'] as const);
    this.#scalars = r.chance(0.5) ? [{ name: this.#name('n'), t, v: wrap(t, BigInt(r.pick(WORDS))) }] : [];
  }

  #name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  #declare(space: 'in' | 'out', elem: Elem): void {
    const r = this.#r;
    const n = 2 ** Math.ceil(Math.log2(this.#threads));
    const value = () => (r.chance(0.5) ? r.pick(WORDS) : r.bits() | 0);
    const data: ArrayDecl['data'][number][] = Array.from({ length: n }, () => {
      if (elem === 'bool') return r.chance(0.5);
      return elem === 'f32' ? r.below(1000) / 4 : wrap(elem, BigInt(value()));
    });
    // Records of up to four members.
    const more = this.#more;
    if (space === 'in' && elem !== 'bool' && more.chance(0.5))
      while (data.length < MEMBERS * n)
        data.push(wrap(elem, BigInt(more.chance(0.3) ? more.pick(WORDS) : more.bits())));
    const name = this.#name(space === 'in' ? 'a' : 'y');
    this.#arrays.push({ name, elem, shape: [data.length], space, layout: 'C', data });
  }

  // -------------------------------------------------------------- expressions

  #load(t: 'i32' | 'bool', vars: readonly Expr[]): Expr {
    const r = this.#r;
    const arrays = this.#arrays.filter((a) => a.space === 'in' && widened(a.elem) === t);
    const known = vars.filter((v) => v.t === t);
    if (arrays.length === 0 || (known.length > 0 && r.chance(0.5)))
      return known.length > 0 ? r.pick(known) : this.#leaf(t);
    const array = r.pick(arrays);
    if (count(array) >= MEMBERS * this.#threads && this.#more.chance(0.6)) return this.#member(array);
    // Now and then elements in another order: gathers.
    const at = r.chance(0.1)
      ? ({ form: 'any', index: [bin('mul', { t: 'i32', k: 'thread', what: 'k' }, word(r.pick([2, 3, 5])))] } as const)
      : ({ form: 'own', scale: 1, offset: 0, reverse: false } as const);
    return { t, k: 'load', array, at };
  }

  /** A member of the thread's record, or several of them together. */
  #member(array: ArrayDecl): Expr {
    const more = this.#more;
    const scale = more.pick([2, 3, 4, 4, 4]);
    const others = this.#arrays.filter((a) => a.space === 'in' && a.elem === array.elem && count(a) === count(array));
    const load = (): Expr => {
      const at = { form: 'own', scale, offset: more.below(scale), reverse: false } as const;
      return { t: 'i32', k: 'load', array: more.chance(0.3) ? more.pick(others) : array, at };
    };
    const weighted = (): Expr =>
      more.chance(0.5) ? bin('mul', load(), word(more.pick([2, 29, 77, 150, -3]))) : load();
    let sum = weighted();
    for (let i = more.below(4); i > 0; i--) sum = bin(more.pick(['add', 'add', 'sub', 'max', 'xor']), sum, weighted());
    return sum;
  }

  get #threads(): number {
    return this.#grid * this.#block[0] * this.#block[1];
  }

  #leaf(t: 'i32' | 'bool'): Expr {
    return t === 'bool' ? { t, k: 'lit', v: this.#r.chance(0.5) } : word(this.#r.pick(WORDS));
  }

  #integer(depth: number, vars: readonly Expr[]): Expr {
    const r = this.#r;
    if (depth <= 0) return r.chance(0.8) ? this.#load('i32', vars) : this.#leaf('i32');
    const a = (): Expr => this.#integer(depth - 1, vars);
    const scalar = this.#scalars.find(({ t }) => widened(t) === 'i32');
    return r.weighted<() => Expr>([
      [4, () => bin(r.pick(['add', 'sub']), a(), a())],
      [2, () => bin('mul', a(), r.chance(0.5) ? word(r.pick([2, 3, 5, 29, 77, 150, -1, -3])) : a())],
      [2, () => bin(r.pick(['and', 'or', 'xor']), a(), r.chance(0.5) ? word(r.pick(WORDS)) : a())],
      [2, () => bin(r.pick(['min', 'max']), a(), r.chance(0.5) ? word(r.pick(WORDS)) : a())],
      [2, () => this.#shifted(a())],
      [1, () => ({ t: 'i32', k: 'quotient', op: r.pick(['or0', 'floor']), a: a(), b: word(r.pick(DIVISORS)) })],
      [1, () => bin('rem', a(), word(r.pick(DIVISORS)))],
      [1, () => ({ t: 'i32', k: 'un', op: r.pick(['neg', 'not', 'abs']), a: a() })],
      [1.5, () => this.#choice(depth, vars)],
      [1, () => ({ t: 'i32', k: 'cast', to: r.pick(NARROW), a: r.chance(0.3) ? this.#float(depth - 1, vars) : a() })],
      [1, () => this.#clamped(a())],
      [
        1,
        () =>
          r.chance(0.5) ? this.#blend(a(), a(), vars) : this.#blend(this.#load('i32', []), this.#load('i32', []), vars),
      ],
      [
        scalar === undefined ? 0 : 1,
        () => bin(r.pick(['add', 'min', 'mul']), a(), { t: 'i32', k: 'var', name: scalar?.name ?? '' }),
      ],
      [2, () => this.#load('i32', vars)],
    ])();
  }

  #choice(depth: number, vars: readonly Expr[]): Expr {
    const [a, b] = [this.#integer(depth - 1, vars), this.#integer(depth - 1, vars)];
    return { t: 'i32', k: 'sel', selp: this.#r.chance(0.5), c: this.#bool(depth - 1, vars), a, b };
  }

  #clamped(x: Expr): Expr {
    const [least, most] = this.#r.pick(LIMITS);
    if (this.#r.chance(0.3)) return bin('min', x, word(most));
    return this.#r.chance(0.5)
      ? bin('min', bin('max', x, word(least)), word(most))
      : bin('max', bin('min', x, word(most)), word(least));
  }

  #shifted(a: Expr): Expr {
    const r = this.#r;
    const b = word(r.pick([0, 1, 2, 3, 4, 7, 8, 9, 15, 16]));
    if (r.chance(0.75)) return bin(r.pick(['shr', 'shr', 'shl']), a, b);
    return { t: 'i32', k: 'cast', to: 'i32', a: { t: 'u32', k: 'bin', op: 'ushr', a, b } };
  }

  /** x * t + y * (c - t), scaled back. */
  #blend(x: Expr, y: Expr, vars: readonly Expr[]): Expr {
    const r = this.#r;
    const t = this.#load('i32', vars);
    const rest = bin('sub', word(r.pick([127, 255, 256])), t);
    return bin('shr', bin('add', bin('mul', x, t), bin('mul', y, rest)), word(r.pick([0, 7, 8])));
  }

  #float(depth: number, vars: readonly Expr[]): Expr {
    const a: Expr = { t: 'f32', k: 'cast', to: 'f32', a: this.#integer(depth, vars) };
    return { t: 'f32', k: 'bin', op: 'mul', a, b: { t: 'f32', k: 'lit', v: this.#r.pick([0.5, 1.5, -1, 3, 0.0625]) } };
  }

  #bool(depth: number, vars: readonly Expr[]): Expr {
    const r = this.#r;
    const compared = (): Expr => {
      const scalar = this.#scalars.find(({ t }) => widened(t) === 'i32');
      const b: Expr = r.weighted<() => Expr>([
        [2, () => this.#integer(depth - 1, vars)],
        [1, () => word(r.pick(WORDS))],
        [scalar === undefined ? 0 : 1, () => ({ t: 'i32', k: 'var', name: scalar?.name ?? '' })],
      ])();
      const op = r.pick(['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const);
      const a = this.#integer(depth - 1, vars);
      return r.chance(0.5) ? { t: 'bool', k: 'cmp', op, a, b } : { t: 'bool', k: 'cmp', op, a: b, b: a };
    };
    if (depth <= 0) return r.chance(0.3) ? this.#load('bool', vars) : compared();
    return r.weighted<() => Expr>([
      [4, compared],
      [
        1,
        () => ({
          t: 'bool',
          k: 'logic',
          op: r.pick(['and', 'or']),
          a: this.#bool(depth - 1, vars),
          b: this.#bool(depth - 1, vars),
        }),
      ],
      [0.5, () => ({ t: 'bool', k: 'un', op: 'not', a: this.#bool(depth - 1, vars) })],
    ])();
  }

  // -------------------------------------------------------------- statements

  #value(t: string, vars: readonly Expr[]): Expr {
    if (t === 'f32') return this.#float(2, vars);
    if (t === 'bool') return this.#bool(2, vars);
    const value = this.#integer(this.#r.below(4), vars);
    return this.#r.chance(0.2) ? this.#clamped(value) : value;
  }

  #store(vars: readonly Expr[], array: ArrayDecl = this.#r.pick(this.#arrays.filter((a) => a.space === 'out'))): Stmt {
    const value = this.#value(widened(array.elem), vars);
    return { k: 'store', array, at: { form: 'own', scale: 1, offset: 0, reverse: false }, value };
  }

  #list(n: number, vars: Expr[], depth: number, loop: boolean): Stmt[] {
    const r = this.#r;
    const list: Stmt[] = [];
    const set = (): Stmt => {
      const v = r.pick(vars.filter((x) => x.t === 'i32' && x.k === 'var' && x.name.startsWith('v')));
      if (v?.k !== 'var') return this.#store(vars);
      const op = r.chance(0.6) ? r.pick(['add', 'sub', 'xor'] as const) : undefined;
      return { k: 'set', name: v.name, t: 'i32', ...(op && { op }), value: this.#integer(1 + r.below(2), vars) };
    };
    for (let i = 0; i < n; i++) {
      r.weighted<() => void>([
        [
          3,
          () => {
            const t = r.chance(0.75) ? 'i32' : 'bool';
            const name = this.#name(t === 'i32' ? 'v' : 'b');
            list.push({ k: 'let', name, value: this.#value(t, vars) });
            vars.push({ t, k: 'var', name });
          },
        ],
        [3, () => void list.push(set())],
        [1, () => void list.push(this.#store(vars))],
        [depth < 2 ? 1 : 0, () => void list.push(...this.#accumulate(vars))],
        [
          depth < 2 ? 1.5 : 0,
          () => {
            const body = (): Stmt[] => this.#list(1 + r.below(2), [...vars], depth + 1, loop);
            list.push({ k: 'if', c: this.#bool(1, vars), then: body(), else: r.chance(0.4) ? body() : [] });
          },
        ],
        [
          depth < 2 ? 1 : 0,
          () => {
            const name = this.#name('it');
            const inner = [...vars, { t: 'i32', k: 'var', name } as const];
            const body = this.#list(1 + r.below(3), inner, depth + 1, true);
            list.push({ k: 'for', name, from: 0, to: r.pick([2, 3, 9, 20]), step: 1, body });
          },
        ],
        [loop ? 0.5 : 0, () => void list.push({ k: 'if', c: this.#bool(1, vars), then: [{ k: 'break' }], else: [] })],
        [depth === 0 ? 0.3 : 0, () => void list.push({ k: 'barrier' })],
      ])();
    }
    return list;
  }

  /** A sum that leaves narrow lanes, or does not, by the number of rounds. */
  #accumulate(vars: Expr[]): Stmt[] {
    const r = this.#r;
    const [name, counter] = [this.#name('v'), this.#name('it')];
    const set: Stmt = { k: 'set', name, t: 'i32', op: r.pick(['add', 'add', 'sub']), value: this.#load('i32', []) };
    vars.push({ t: 'i32', k: 'var', name });
    return [
      { k: 'let', name, value: r.chance(0.5) ? word(r.pick([0, 1, 100])) : this.#load('i32', []) },
      { k: 'for', name: counter, from: 0, to: r.pick([2, 20, 70, 300]), step: 1, body: [set] },
    ];
  }

  /** `out[k] = table[ids[k]]`, by numbers that are in range as they are. */
  #lookUp(): Stmt {
    const more = this.#more;
    const n = 2 ** Math.ceil(Math.log2(this.#threads));
    const ids = more.pick(['u8', 'u16', 'u16', 'i16'] as const);
    const [elem, size] = [more.pick(NARROW), more.pick([16, 256, 512])];
    const most = ids === 'u8' ? Math.min(size, 256) : size;
    const array = (space: 'in' | 'out', e: Elem, data: ArrayDecl['data']): ArrayDecl => {
      const made: ArrayDecl = { name: this.#name('l'), elem: e, shape: [data.length], space, layout: 'C', data };
      this.#arrays.push(made);
      return made;
    };
    const places = Array.from({ length: n }, () => more.pick([0, most - 1, more.below(most), more.below(most)]));
    // Every fourth program is compiled without checks.
    if (size < 256 && this.#seed % 4 !== 0 && more.chance(0.3))
      places[more.below(this.#threads)] = size + more.below(9);
    const by = array('in', ids, places);
    const table = array(
      'in',
      elem,
      Array.from({ length: size }, () => wrap(elem, BigInt(more.bits()))),
    );
    const out = array('out', elem, new Array(n).fill(0));
    const own = { form: 'own', scale: 1, offset: 0, reverse: false } as const;
    const index: Expr = { t: 'i32', k: 'load', array: by, at: own };
    const value: Expr = { t: 'i32', k: 'load', array: table, at: { form: 'raw', index: [index] } };
    const store: Stmt = { k: 'store', array: out, at: own, value };
    const c: Expr = {
      t: 'bool',
      k: 'cmp',
      op: 'ne',
      a: bin('and', { t: 'i32', k: 'thread', what: 'k' }, word(3)),
      b: word(1),
    };
    return more.chance(0.3) ? { k: 'if', c, then: [store], else: [] } : store;
  }

  program(): Program {
    const vars: Expr[] = [];
    const body = this.#list(2 + this.#r.below(5), vars, 0, false);
    body.push(...this.#arrays.filter((a) => a.space === 'out').map((a) => this.#store(vars, a)));
    if (this.#more.chance(0.4)) body.push(this.#lookUp());
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

export function generateNarrow(seed: number): Program {
  return new NarrowGenerator(seed).program();
}
