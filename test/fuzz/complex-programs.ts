/**
 * Random programs over complex numbers: operators with complex and real operands, variables, loops, branches, elements that are
 * assigned to. With each program comes what it means, as a function of the host that shares nothing with the compiler: every
 * operation is rounded by itself, in the precision of the arrays.
 */
import type { Complex } from '../../src/index.ts';
import { COMPLEX_FUNCTIONS, type ComplexFunction } from './complex-reference.ts';
import { Random } from './random.ts';

type Round = (x: number) => number;
type Value = number | Complex;

/** What a thread has: its elements and its variables. */
interface State {
  readonly z: Complex[];
  readonly r: readonly number[];
  readonly vars: Map<string, Complex>;
  /** An array of the thread's own, of four. */
  readonly t: Complex[];
  readonly i: number;
  /** By place: the last call of a function that was stored there. */
  readonly calls: Map<number, ComplexCall>;
}

/** A call of a function, whose result is only close to what it should be. */
export interface ComplexCall {
  readonly name: string;
  /** Undefined where the argument is at a branch cut or far away. */
  readonly expected: Complex | undefined;
}

interface Term {
  readonly text: string;
  readonly value: (s: State) => Value;
}

interface Step {
  readonly text: string;
  readonly run: (s: State) => void;
}

export interface ComplexProgram {
  /** The body of a kernel over `z`, `o` and `f` (complex) and `r` (real), four elements a thread from `4 * i` on. */
  readonly text: string;
  /** What the thread `i` leaves in `o`, and of which functions the results in `f` are. */
  readonly run: (
    z: readonly Complex[],
    r: readonly number[],
    i: number,
  ) => { readonly o: readonly Complex[]; readonly calls: ReadonlyMap<number, ComplexCall> };
}

const isComplex = (v: Value): v is Complex => typeof v !== 'number';
const complexOf = (v: Value): Complex => (isComplex(v) ? v : { re: v, im: 0 });

function arithmetic(round: Round): Readonly<Record<string, (a: Value, b: Value) => Value>> {
  const each = (f: (x: number, y: number) => number) => (x: number, y: number) => round(f(x, y));
  const [add, sub, mul, div] = [
    each((x, y) => x + y),
    each((x, y) => x - y),
    each((x, y) => x * y),
    each((x, y) => x / y),
  ] as const;
  const sum =
    (f: typeof add) =>
    (a: Value, b: Value): Value => {
      if (!isComplex(a) && !isComplex(b)) return f(a, b);
      const [x, y] = [complexOf(a), complexOf(b)];
      return { re: f(x.re, y.re), im: f(x.im, y.im) };
    };
  return {
    '+': sum(add),
    '-': sum(sub),
    '*': (a, b) => {
      if (!isComplex(a)) return isComplex(b) ? { re: mul(a, b.re), im: mul(a, b.im) } : mul(a, b);
      if (!isComplex(b)) return { re: mul(a.re, b), im: mul(a.im, b) };
      return {
        re: sub(mul(a.re, b.re), mul(a.im, b.im)),
        im: add(mul(a.re, b.im), mul(a.im, b.re)),
      };
    },
    '/': (a, b) => {
      if (!isComplex(b)) return isComplex(a) ? { re: div(a.re, b), im: div(a.im, b) } : div(a, b);
      const x = complexOf(a);
      const size = add(mul(b.re, b.re), mul(b.im, b.im));
      return {
        re: div(add(mul(x.re, b.re), mul(x.im, b.im)), size),
        im: div(sub(mul(x.im, b.re), mul(x.re, b.im)), size),
      };
    },
  };
}

/** In a program: functions are much code. */
const MOST_CALLS = 2;

class ComplexGenerator {
  readonly #r: Random;
  readonly #ops: ReturnType<typeof arithmetic>;
  readonly #token: string;
  readonly #vars: string[] = [];
  #names = 0;
  /** Whether the array `t` is there. */
  #hasOwn = false;
  #calls = 0;

  constructor(seed: number, token: 'c64' | 'c128') {
    this.#r = new Random(seed);
    this.#token = token;
    this.#ops = arithmetic(token === 'c64' ? Math.fround : (x) => x);
  }

  /** A number that both precisions have. */
  #number(): number {
    return (this.#r.below(31) - 15) / 8;
  }

  #element(): Term {
    const k = this.#r.below(4);
    return { text: `z[4 * i + ${k}]`, value: (s) => s.z[k] ?? 0 };
  }

  /** An element of the thread's own array, by an index that only it knows. */
  #own(): { readonly text: string; readonly at: (s: State) => number } {
    const k = this.#r.below(4);
    return { text: `t[(i + ${k}) & 3]`, at: ({ i }) => (i + k) & 3 };
  }

  #literal(): Term {
    const [re, im] = [this.#number(), this.#number()];
    return { text: `${this.#token}(${re}, ${im})`, value: () => ({ re, im }) };
  }

  #real(): Term {
    if (this.#r.chance(0.5)) {
      const n = this.#number();
      return { text: `(${n})`, value: () => n };
    }
    const k = this.#r.below(4);
    return { text: `r[4 * i + ${k}]`, value: (s) => s.r[k] ?? 0 };
  }

  #complex(depth: number): Term {
    const r = this.#r;
    if (depth === 0) {
      if (this.#vars.length > 0 && r.chance(0.5)) {
        const name = r.pick(this.#vars);
        return { text: name, value: (s) => s.vars.get(name) ?? 0 };
      }
      if (this.#hasOwn && r.chance(0.25)) {
        const { text, at } = this.#own();
        return { text, value: (s) => s.t[at(s)] ?? 0 };
      }
      return r.chance(0.7) ? this.#element() : this.#literal();
    }
    const a = this.#complex(depth - 1);
    switch (r.below(9)) {
      case 0:
        return { text: `(-${a.text})`, value: (s) => negated(complexOf(a.value(s))) };
      case 1:
        return { text: `cuda.conj(${a.text})`, value: (s) => conjugate(complexOf(a.value(s))) };
      case 2:
        return {
          text: `${this.#token}((${a.text}).im, (${a.text}).re)`,
          value: (s) => exchanged(complexOf(a.value(s))),
        };
      case 3: {
        const [b, c] = [this.#complex(0), this.#test()];
        return {
          text: r.chance(0.3) ? `cuda.selp(${c.text}, ${a.text}, ${b.text})` : `(${c.text} ? ${a.text} : ${b.text})`,
          value: (s) => (c.value(s) ? a.value(s) : b.value(s)),
        };
      }
      case 4:
        return this.#binary(r.pick(['+', '-', '*', '/']), a, this.#real());
      case 5:
        return this.#binary(r.pick(['+', '-', '*']), this.#real(), a);
      case 6:
        return this.#binary('/', a, r.chance(0.5) ? this.#element() : this.#literal());
      default:
        return this.#binary(r.pick(['+', '-', '*']), a, this.#complex(r.below(depth)));
    }
  }

  #binary(op: string, a: Term, b: Term): Term {
    const apply = this.#ops[op];
    if (apply === undefined) throw new Error(`no operator ${op}`);
    return { text: `(${a.text} ${op} ${b.text})`, value: (s) => apply(a.value(s), b.value(s)) };
  }

  #test(): { readonly text: string; readonly value: (s: State) => boolean } {
    const r = this.#r;
    const a = this.#complex(0);
    if (r.chance(0.5)) {
      const x = this.#real();
      return { text: `(${a.text}).im < ${x.text}`, value: (s) => complexOf(a.value(s)).im < Number(x.value(s)) };
    }
    const b = this.#complex(0);
    return {
      text: `${a.text} === ${b.text}`,
      value: (s) => {
        const [x, y] = [complexOf(a.value(s)), complexOf(b.value(s))];
        return x.re === y.re && x.im === y.im;
      },
    };
  }

  #steps(depth: number): Step[] {
    return Array.from({ length: 1 + this.#r.below(3) }, () => this.#step(depth));
  }

  #assignment(): Step {
    const r = this.#r;
    const value = this.#complex(2);
    const op = r.pick(['', '', '+', '-', '*']);
    const combine = op === '' ? (_: Value, v: Value): Value => v : (this.#ops[op] ?? ((_, v) => v));
    if (this.#vars.length > 0 && r.chance(0.6)) {
      const name = r.pick(this.#vars);
      return {
        text: `${name} ${op}= ${value.text};`,
        run: (s) => s.vars.set(name, complexOf(combine(s.vars.get(name) ?? 0, value.value(s)))),
      };
    }
    if (r.chance(0.3)) {
      const { text, at } = this.#own();
      return {
        text: `${text} ${op}= ${value.text};`,
        run: (s) => {
          s.t[at(s)] = complexOf(combine(s.t[at(s)] ?? 0, value.value(s)));
        },
      };
    }
    const k = r.below(4);
    return {
      text: `z[4 * i + ${k}] ${op}= ${value.text};`,
      run: (s) => {
        s.z[k] = complexOf(combine(s.z[k] ?? 0, value.value(s)));
      },
    };
  }

  /** The result of a function, which goes nowhere else. */
  #call(): Step {
    const r = this.#r;
    this.#calls++;
    const fn: ComplexFunction = r.pick(COMPLEX_FUNCTIONS);
    const args = fn.of.map((kind) => (kind === 'complex' ? this.#complex(r.below(2)) : this.#real()));
    const text = fn.text
      .replace(/\$(\d)/g, (_, n: string) => args[Number(n) - 1]?.text ?? '')
      .replaceAll('c64', this.#token);
    const place = r.below(4);
    return {
      text: `f[4 * i + ${place}] = ${text};`,
      run: (s) => {
        const expected = fn.value(...args.map((a) => complexOf(a.value(s))));
        s.calls.set(place, { name: fn.text, expected });
      },
    };
  }

  #step(depth: number): Step {
    const r = this.#r;
    if (this.#calls < MOST_CALLS && r.chance(0.25)) return this.#call();
    if (depth > 0 && r.chance(0.3)) {
      const test = this.#test();
      const [then, otherwise] = [this.#steps(depth - 1), this.#steps(depth - 1)];
      return {
        text: `if (${test.text}) { ${textOf(then)} } else { ${textOf(otherwise)} }`,
        run: (s) => {
          for (const step of test.value(s) ? then : otherwise) step.run(s);
        },
      };
    }
    if (depth > 0 && r.chance(0.3)) {
      const [body, rounds, name] = [this.#steps(depth - 1), 1 + r.below(3), `k${this.#names++}`];
      return {
        text: `for (let ${name} = 0; ${name} < ${rounds}; ${name}++) { ${textOf(body)} }`,
        run: (s) => {
          for (let k = 0; k < rounds; k++) for (const step of body) step.run(s);
        },
      };
    }
    if (r.chance(0.15)) {
      const [a, b] = [r.below(4), r.below(4)];
      return {
        text: `[z[4 * i + ${a}], z[4 * i + ${b}]] = [z[4 * i + ${b}], z[4 * i + ${a}]];`,
        run: ({ z }) => {
          [z[a], z[b]] = [z[b] ?? { re: 0, im: 0 }, z[a] ?? { re: 0, im: 0 }];
        },
      };
    }
    return this.#assignment();
  }

  program(): ComplexProgram {
    const steps: Step[] = [];
    for (let k = 0; k < 3; k++) {
      const name = `v${k}`;
      // A variable that is complex from its first value on, or real at first.
      const real = this.#r.chance(0.4);
      const n = this.#number();
      const first: Term = real ? { text: String(n), value: () => n } : this.#complex(1);
      steps.push({
        text: `let ${name} = ${first.text};`,
        run: (s) => s.vars.set(name, complexOf(first.value(s))),
      });
      if (real) {
        const more = this.#complex(1);
        const times = this.#ops['+'];
        steps.push({
          text: `for (let j = 0; j < 2; j++) ${name} += ${more.text};`,
          run: (s) => {
            for (let j = 0; j < 2; j++) s.vars.set(name, complexOf(times?.(s.vars.get(name) ?? 0, more.value(s)) ?? 0));
          },
        });
      }
      this.#vars.push(name);
    }
    const first = [0, 1, 2, 3].map(() => this.#complex(0));
    const items = first.map(({ text }) => text);
    const local = `const t = cuda.local.array(4, ${this.#token});\n${items.map((text, k) => `t[${k}] = ${text};`).join(' ')}`;
    steps.push({
      text: this.#r.chance(0.5) ? `const t = [${items.join(', ')}];` : local,
      run: (s) => void s.t.push(...first.map((term) => complexOf(term.value(s)))),
    });
    this.#hasOwn = true;
    for (let k = 0; k < 5; k++) steps.push(this.#step(2));
    const names = [...this.#vars];
    const stores = [...names.map((name, k) => `o[4 * i + ${k}] = ${name};`), 'o[4 * i + 3] = z[4 * i] + t[2];'];
    return {
      text: `${steps.map(({ text }) => text).join('\n')}\n${stores.join('\n')}`,
      run: (z, r, i) => {
        const s: State = { z: [...z], r, vars: new Map(), t: [], i, calls: new Map() };
        for (const step of steps) step.run(s);
        const last = this.#ops['+']?.(s.z[0] ?? 0, s.t[2] ?? 0) ?? 0;
        return { o: [...names.map((name) => s.vars.get(name) ?? { re: 0, im: 0 }), complexOf(last)], calls: s.calls };
      },
    };
  }
}

function negated({ re, im }: Complex): Complex {
  return { re: -re, im: -im };
}

function conjugate({ re, im }: Complex): Complex {
  return { re, im: -im };
}

function exchanged({ re, im }: Complex): Complex {
  return { re: im, im: re };
}

function textOf(steps: readonly Step[]): string {
  return steps.map(({ text }) => text).join(' ');
}

export function generateComplex(seed: number, token: 'c64' | 'c128'): ComplexProgram {
  return new ComplexGenerator(seed, token).program();
}
