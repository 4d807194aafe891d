/**
 * Random programs over vectors: operators and functions lane by lane, makers, lanes by name, choices, elements that are stored, and `vload` and `vstore`.
 * With each program comes what it means, as a function of the host: each lane of each result is rounded or wrapped to the type of the lanes.
 */
import { Random } from './random.ts';
import { roundTo } from './semantics.ts';

/** Numbers, or bigints where lanes are of 64-bit integers. */
export type Lane = number | bigint;
export type Lanes = readonly Lane[];

/** A type of vectors: its name, how many lanes, and what a lane makes of a number. */
export interface VectorType {
  readonly name: string;
  readonly lanes: number;
  readonly round: (x: never) => Lane;
  /** Lanes are bigints. */
  readonly wide?: boolean;
}

export const VECTOR_TYPES: readonly VectorType[] = [
  { name: 'f32x4', lanes: 4, round: Math.fround },
  { name: 'i32x2', lanes: 2, round: (x: number) => x | 0 },
  { name: 'u8x4', lanes: 4, round: (x: number) => x & 255 },
  { name: 'f32x2', lanes: 2, round: Math.fround },
  { name: 'i16x2', lanes: 2, round: (x: number) => (x << 16) >> 16 },
  { name: 'f64x2', lanes: 2, round: (x: number) => x },
  { name: 'i32x4', lanes: 4, round: (x: number) => x | 0 },
  { name: 'f16x2', lanes: 2, round: (x: number) => roundTo('f16', x) },
  { name: 'bf16x4', lanes: 4, round: (x: number) => roundTo('bf16', x) },
  { name: 'f16x4', lanes: 4, round: (x: number) => roundTo('f16', x) },
  { name: 'bf16x2', lanes: 2, round: (x: number) => roundTo('bf16', x) },
  { name: 'i8x4', lanes: 4, round: (x: number) => (x << 24) >> 24 },
  { name: 'u16x2', lanes: 2, round: (x: number) => x & 65535 },
  { name: 'f32x3', lanes: 3, round: Math.fround },
  { name: 'i64x2', lanes: 2, wide: true, round: (x: bigint) => BigInt.asIntN(64, x) },
  { name: 'u64x2', lanes: 2, wide: true, round: (x: bigint) => BigInt.asUintN(64, x) },
  { name: 'f64x3', lanes: 3, round: (x: number) => x },
  { name: 'u64x4', lanes: 4, wide: true, round: (x: bigint) => BigInt.asUintN(64, x) },
  { name: 'i8x2', lanes: 2, round: (x: number) => (x << 24) >> 24 },
];

interface State {
  /** Two elements of the thread, and as many of plain numbers that `vload` reads. */
  readonly p: Lanes[];
  readonly q: Lanes[];
  readonly vars: Map<string, Lanes>;
  /** An array of the thread's own, of four. */
  readonly t: Lanes[];
  readonly i: number;
}

interface Term {
  readonly text: string;
  readonly value: (s: State) => Lanes;
}

interface Step {
  readonly text: string;
  readonly run: (s: State) => void;
}

export interface VectorProgram {
  /** The body of a kernel over vectors `p` and plain numbers `q`, two vectors a thread from `2 * i` on. */
  readonly text: string;
  readonly run: (p: Lanes[], q: Lanes[], i: number) => void;
}

const NAMES = ['x', 'y', 'z', 'w'];

class VectorGenerator {
  readonly #r: Random;
  readonly #t: VectorType;
  readonly #vars: string[] = [];
  /** Whether the array `t` is there. */
  #hasOwn = false;

  constructor(seed: number, type: VectorType) {
    this.#r = new Random(seed);
    this.#t = type;
  }

  /** A number that all types have; of 64-bit integers a bigint. */
  #number(n = this.#r.below(7)): Term {
    const wide = this.#t.wide === true;
    return { text: `${n}${wide ? 'n' : ''}`, value: () => Array(this.#t.lanes).fill(wide ? BigInt(n) : n) };
  }

  /** An element of the thread's own array, by an index that only it knows. */
  #own(): { readonly text: string; readonly at: (s: State) => number } {
    const k = this.#r.below(4);
    return { text: `t[(i + ${k}) & 3]`, at: ({ i }) => (i + k) & 3 };
  }

  #element(): Term {
    const [r, { name, lanes }] = [this.#r, this.#t];
    if (this.#hasOwn && r.chance(0.25)) {
      const { text, at } = this.#own();
      return { text, value: (s) => s.t[at(s)] ?? [] };
    }
    const k = r.below(2);
    if (r.chance(0.4)) return { text: `cuda.vload(q, ${lanes} * (2 * i + ${k}), ${name})`, value: (s) => s.q[k] ?? [] };
    return { text: `p[2 * i + ${k}]`, value: (s) => s.p[k] ?? [] };
  }

  #each(text: string, f: (a: number, b: number) => number, ...terms: readonly Term[]): Term {
    const { lanes, round } = this.#t;
    const value = (s: State): Lanes => {
      const values = terms.map((t) => t.value(s));
      // The operators are those of bigints, too.
      return Array.from({ length: lanes }, (_, k) => {
        const [a = 0, b = 0] = values.map((v) => v[k] ?? 0) as number[];
        return round(f(a, b) as never);
      });
    };
    return { text, value };
  }

  #vector(depth: number): Term {
    const [r, { name, lanes }] = [this.#r, this.#t];
    if (depth === 0) {
      if (this.#vars.length > 0 && r.chance(0.5)) {
        const own = r.pick(this.#vars);
        return { text: own, value: (s) => s.vars.get(own) ?? [] };
      }
      return this.#element();
    }
    const a = this.#vector(depth - 1);
    const b = r.chance(0.3) ? this.#number() : this.#vector(r.below(depth));
    switch (r.below(7)) {
      case 0:
        return this.#each(`(${a.text} - ${b.text})`, (x, y) => x - y, a, b);
      case 1: {
        const op = r.pick(['min', 'max'] as const);
        const least = (x: number, y: number): number => (x < y === (op === 'min') ? x : y);
        return this.#each(`Math.${op}(${a.text}, ${b.text})`, this.#t.wide === true ? least : Math[op], a, b);
      }
      case 2: {
        const order = Array.from({ length: lanes }, () => r.below(lanes));
        const text = `${name}(${order.map((k) => `(${a.text}).${NAMES[k]}`).join(', ')})`;
        return { text, value: (s) => order.map((k) => a.value(s)[k] ?? 0) };
      }
      case 3: {
        const [c, test] = [this.#vector(0), this.#test()];
        return {
          text: `(${test.text} ? ${a.text} : ${c.text})`,
          value: (s) => (test.value(s) ? a.value(s) : c.value(s)),
        };
      }
      case 4: {
        // Products of products would leave what a float holds exactly, and a bit operation's 53 bits.
        const by = /^\dn?$/.test(b.text) ? b : this.#number(3);
        return this.#each(`(${a.text} * ${by.text})`, (x, y) => x * y, a, by);
      }
      case 5:
        return this.#each(`(-${a.text})`, (x) => (typeof x === 'bigint' ? -x : 0 - x), a);
      default:
        return this.#each(`(${a.text} + ${b.text})`, (x, y) => x + y, a, b);
    }
  }

  #test(): { readonly text: string; readonly value: (s: State) => boolean } {
    const [a, b, k] = [this.#vector(0), this.#vector(0), this.#r.below(this.#t.lanes)];
    if (this.#r.chance(0.3)) {
      const same = (x: Lanes, y: Lanes): boolean => x.every((v, at) => v === y[at]);
      return { text: `${a.text} === ${b.text}`, value: (s) => same(a.value(s), b.value(s)) };
    }
    const lane = `.${NAMES[k]}`;
    return {
      text: `(${a.text})${lane} < (${b.text})${lane}`,
      value: (s) => (a.value(s)[k] ?? 0) < (b.value(s)[k] ?? 0),
    };
  }

  #store(): Step {
    const [r, { lanes, round }] = [this.#r, this.#t];
    const [k, lane, v] = [r.below(2), r.below(lanes), this.#vector(2)];
    const keep = (list: Lanes[], s: State): void => {
      list[k] = v.value(s);
    };
    switch (r.below(6)) {
      case 5: {
        const { text, at } = this.#own();
        if (r.chance(0.4)) {
          const run = (s: State): void => {
            const x = v.value(s)[0] ?? 0;
            s.t[at(s)] = (s.t[at(s)] ?? []).map((old, n) => (n === lane ? x : old));
          };
          return { text: `${text}.${NAMES[lane]} = (${v.text}).x;`, run };
        }
        return { text: `${text} = ${v.text};`, run: (s) => void (s.t[at(s)] = v.value(s)) };
      }
      case 0:
        return { text: `cuda.vstore(q, ${lanes} * (2 * i + ${k}), ${v.text});`, run: (s) => keep(s.q, s) };
      case 1:
        return {
          text: `p[2 * i + ${k}].${NAMES[lane]} = (${v.text}).${NAMES[lanes - 1]};`,
          run: (s) => {
            const x = v.value(s)[lanes - 1] ?? 0;
            s.p[k] = (s.p[k] ?? []).map((old, at) => (at === lane ? x : old));
          },
        };
      case 2: {
        const run = (s: State): void => {
          const x = v.value(s);
          s.p[k] = (s.p[k] ?? []).map((old, at) => round(((old as number) + ((x[at] ?? 0) as number)) as never));
        };
        return { text: `p[2 * i + ${k}] += ${v.text};`, run };
      }
      case 3: {
        const run = ({ p }: State): void => void ([p[0], p[1]] = [p[1] ?? [], p[0] ?? []]);
        return { text: '[p[2 * i], p[2 * i + 1]] = [p[2 * i + 1], p[2 * i]];', run };
      }
      default:
        return { text: `p[2 * i + ${k}] = ${v.text};`, run: (s) => keep(s.p, s) };
    }
  }

  #step(depth: number): Step {
    const r = this.#r;
    const list = (): Step[] => Array.from({ length: 1 + r.below(2) }, () => this.#step(depth - 1));
    const textOf = (steps: readonly Step[]): string => steps.map(({ text }) => text).join('\n');
    if (depth > 0 && r.chance(0.3)) {
      const [test, then, other] = [this.#test(), list(), list()];
      return {
        text: `if (${test.text}) {\n${textOf(then)}\n} else {\n${textOf(other)}\n}`,
        run: (s) => {
          for (const step of test.value(s) ? then : other) step.run(s);
        },
      };
    }
    if (depth > 0 && r.chance(0.2)) {
      const body = list();
      return {
        text: `for (let j = 0; j < 3; j++) {\n${textOf(body)}\n}`,
        run: (s) => {
          for (let j = 0; j < 3; j++) for (const step of body) step.run(s);
        },
      };
    }
    if (!r.chance(0.4)) return this.#store();
    const [name, v] = [r.pick(this.#vars), this.#vector(2)];
    return { text: `${name} = ${v.text};`, run: (s) => void s.vars.set(name, v.value(s)) };
  }

  program(): VectorProgram {
    const steps: Step[] = [0, 1].map((n) => {
      const [name, v] = [`v${n}`, this.#vector(1)];
      this.#vars.push(name);
      return { text: `let ${name} = ${v.text};`, run: (s) => void s.vars.set(name, v.value(s)) };
    });
    const items = [0, 1, 2, 3].map(() => this.#vector(0));
    steps.push({
      text: `const t = [${items.map(({ text }) => text).join(', ')}];`,
      run: (s) => void s.t.push(...items.map((item) => item.value(s))),
    });
    this.#hasOwn = true;
    for (let k = 0; k < 6; k++) steps.push(this.#step(2));
    return {
      text: `${steps.map(({ text }) => text).join('\n')}\np[2 * i] = v0;\ncuda.vstore(q, ${this.#t.lanes} * (2 * i + 1), v1);`,
      run: (p, q, i) => {
        const s: State = { p, q, vars: new Map(), t: [], i };
        for (const step of steps) step.run(s);
        p[0] = s.vars.get('v0') ?? [];
        q[1] = s.vars.get('v1') ?? [];
      },
    };
  }
}

/** The program of a seed, over vectors of a type. */
export function generateVectors(seed: number, type: VectorType): VectorProgram {
  return new VectorGenerator(seed, type).program();
}
