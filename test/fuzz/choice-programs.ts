/**
 * Random programs whose variables stand for one array or another: chosen by conditions, by indices and by functions, swapped and turned in loops that
 * may end early, of all memories and layouts. Every thread reads and writes elements that are its own.
 */
import type { ArrayDecl, BinOp, Choice, Expr, Layout, LValue, Program, Stmt, Ty } from './program.ts';
import { Random, randomValue } from './random.ts';
import { special } from './terms.ts';

type Elem = Extract<Ty, 'i32' | 'u32' | 'i64' | 'f32' | 'f64'>;

const ELEMS: readonly Elem[] = ['i32', 'i32', 'u32', 'i64', 'f32', 'f32', 'f64'];
const LAYOUTS: readonly Layout[] = ['C', 'C', 'C', 'F', 'reversed', 'stepped', 'transposed', 'bytes'];
const OWN: LValue = { form: 'own', scale: 1, offset: 0, reverse: false };

const number = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
const join = (op: BinOp, t: Ty, a: Expr, b: Expr): Expr => ({ t, k: 'bin', op, a, b });

class ChoiceGenerator {
  readonly #r: Random;
  readonly #seed: number;
  readonly #block: readonly [number, number];
  readonly #grid: number;
  readonly #elem: Elem;
  readonly #arrays: ArrayDecl[] = [];
  readonly #shape: readonly number[];
  #names = 0;
  #left: number;

  constructor(seed: number) {
    const r = new Random(seed);
    this.#r = r;
    this.#seed = seed;
    this.#block = [r.pick([1, 3, 5, 8, 16, 32, 33, 64]), 1];
    this.#grid = r.pick([1, 1, 2, 3]);
    this.#elem = r.pick(ELEMS);
    this.#left = 6 + r.below(16);
    const n = 2 ** Math.ceil(Math.log2(Math.max(this.#grid * this.#block[0], 4)));
    this.#shape = r.chance(0.3) ? [n / 4, 4] : [n];
  }

  #declare(space: ArrayDecl['space'], prefix: string): ArrayDecl {
    const r = this.#r;
    const global = space === 'in' || space === 'out';
    const n = this.#shape.reduce((a, b) => a * b, 1);
    const data = Array.from({ length: global || space === 'const' ? n : 0 }, () => randomValue(r, this.#elem));
    const array: ArrayDecl = {
      name: `${prefix}${this.#names++}`,
      elem: this.#elem,
      shape: this.#shape,
      space,
      layout: global ? r.pick(LAYOUTS) : 'C',
      data,
    };
    this.#arrays.push(array);
    return array;
  }

  #value(names: readonly ArrayDecl[], depth: number): Expr {
    const r = this.#r;
    const t = this.#elem;
    if (depth > 0 && r.chance(0.5))
      return join(r.pick(['add', 'sub', 'mul']), t, this.#value(names, depth - 1), this.#value(names, depth - 1));
    if (r.chance(0.75)) return { t, k: 'load', array: r.pick(names), at: OWN };
    return { t, k: 'cast', to: t, a: r.chance(0.5) ? special('k') : number(r.below(20)) };
  }

  #test(names: readonly ArrayDecl[], counters: readonly string[]): Expr {
    const r = this.#r;
    if (r.chance(0.3))
      return { t: 'bool', k: 'cmp', op: r.pick(['lt', 'ge']), a: this.#value(names, 0), b: this.#value(names, 1) };
    const of: Expr =
      counters.length > 0 && r.chance(0.6) ? { t: 'i32', k: 'var', name: r.pick(counters) } : special('k');
    return {
      t: 'bool',
      k: 'cmp',
      op: r.pick(['eq', 'ne']),
      a: join('and', 'i32', of, number(r.pick([1, 2, 3]))),
      b: number(r.below(3)),
    };
  }

  #choice(
    among: readonly ArrayDecl[],
    names: readonly ArrayDecl[],
    counters: readonly string[],
    depth: number,
  ): Choice {
    const r = this.#r;
    const inner = (): Choice => this.#choice(among, names, counters, depth - 1);
    if (depth === 0 || r.chance(0.35)) return { k: 'array', array: r.pick(among) };
    if (r.chance(0.7))
      return { k: 'either', call: r.chance(0.3), c: this.#test(names, counters), a: inner(), b: inner() };
    const index: Expr =
      counters.length > 0 && r.chance(0.5) ? { t: 'i32', k: 'var', name: r.pick(counters) } : special('k');
    return { k: 'nth', of: Array.from({ length: r.pick([2, 2, 4]) }, inner), index };
  }

  /** `written`: names of memory that can be written; `read`: others. `own`: those that can be assigned to here. */
  #list(
    written: ArrayDecl[],
    read: ArrayDecl[],
    own: readonly ArrayDecl[],
    counters: readonly string[],
    loops: number,
  ): Stmt[] {
    const r = this.#r;
    const [mine, others] = [[...written], [...read]];
    const variables = [...own];
    const all = (): ArrayDecl[] => [...mine, ...others];
    const out: Stmt[] = [];
    for (let k = 1 + r.below(5); k > 0 && this.#left-- > 0; k--) {
      const what = r.below(10);
      if (what < 2) {
        const writable = r.chance(0.7);
        const of = this.#choice(writable ? mine : all(), all(), counters, 2);
        const name = this.#declare('name', writable ? 'w' : 'r');
        out.push({ k: 'arrays', how: 'let', to: [{ name, of }] });
        (writable ? mine : others).push(name);
        variables.push(name);
      } else if (what < 5 && variables.length > 0) {
        const first = r.pick(variables);
        const isWritten = mine.includes(first);
        const alike = variables.filter((v) => mine.includes(v) === isWritten);
        if (alike.length > 1 && r.chance(0.7)) {
          const from = r.below(alike.length);
          const turned = [...alike.slice(from), ...alike.slice(0, from)].slice(0, r.pick([2, 2, 3]));
          const next = [...turned.slice(1), turned[0] as ArrayDecl];
          out.push({
            k: 'arrays',
            how: 'set',
            to: turned.map((name, i) => ({ name, of: { k: 'array', array: next[i] as ArrayDecl } })),
          });
        } else {
          const of = this.#choice(isWritten ? mine : all(), all(), counters, 2);
          out.push({ k: 'arrays', how: 'set', to: [{ name: first, of }] });
        }
      } else if (what < 7 || this.#left < 3) {
        const op = r.chance(0.3) ? r.pick(['add', 'sub', 'mul'] as const) : undefined;
        out.push({ k: 'store', array: r.pick(mine), at: OWN, ...(op && { op }), value: this.#value(all(), 2) });
      } else if (what < 8) {
        const branch = (): Stmt[] => this.#list(mine, others, variables, counters, loops);
        const jump: Stmt[] = loops > 0 && r.chance(0.3) ? [{ k: r.pick(['break', 'continue']) }] : [];
        out.push({
          k: 'if',
          c: this.#test(all(), counters),
          then: [...branch(), ...jump],
          else: r.chance(0.5) ? branch() : [],
        });
      } else if (loops < 2) {
        const name = `i${this.#names++}`;
        const from = r.chance(0.5) ? ({ t: 'i32', k: 'var', name: 'start' } as const) : 0;
        const body = this.#list(mine, others, variables, [...counters, name], loops + 1);
        out.push({ k: 'for', name, from, to: 1 + r.below(5), step: 1, body });
      }
    }
    return out;
  }

  program(): Program {
    const r = this.#r;
    const outs = Array.from({ length: 2 + r.below(2) }, () => this.#declare('out', 'y'));
    const ins = Array.from({ length: 1 + r.below(2) }, () => this.#declare('in', 'a'));
    if (r.chance(0.4)) ins.push(this.#declare('const', 'c'));
    const made = [
      ...(r.chance(0.5) ? [this.#declare('local', 'l')] : []),
      ...(this.#grid === 1 && r.chance(0.5) ? [this.#declare('shared', 's')] : []),
    ];
    const written = [...outs, ...made];
    const body: Stmt[] = made.map((array) => ({
      k: 'store',
      array,
      at: OWN,
      value: this.#value([...outs, ...ins], 1),
    }));
    const names = [this.#declare('name', 'w'), this.#declare('name', 'w')];
    for (const name of names)
      body.push({ k: 'arrays', how: 'let', to: [{ name, of: this.#choice(written, [...written, ...ins], [], 1) }] });
    const all = [...written, ...names];
    while (this.#left > 0) body.push(...this.#list(all, ins, names, [], 0));
    for (const name of names) body.push({ k: 'store', array: name, at: OWN, value: this.#value([...all, ...ins], 1) });
    for (const array of made)
      body.push({
        k: 'store',
        array: r.pick(outs),
        at: OWN,
        op: 'add',
        value: { t: this.#elem, k: 'load', array, at: OWN },
      });
    return {
      seed: this.#seed,
      grid: this.#grid,
      block: this.#block,
      indexBits: r.chance(0.15) ? 64 : 32,
      arrays: this.#arrays,
      scalars: [{ name: 'start', t: 'i32', v: r.below(3) }],
      functions: [],
      body,
    };
  }
}

export function generateChoices(seed: number): Program {
  return new ChoiceGenerator(seed).program();
}
