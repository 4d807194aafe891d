/**
 * Random programs over what kernels have beside numbers and plain arrays: reductions, strings, dates and durations, ordered atomics, special functions.
 * The text is JavaScript; `library-reference.ts` has what it calls, so that running it says what it means. Each thread has two elements of each array.
 */
import { Random } from './random.ts';

/** The functions, and where their arguments lie. */
const SPECIAL: Readonly<Record<string, readonly [from: number, to: number]>> = {
  j0: [-30, 30],
  j1: [-30, 30],
  y0: [0.25, 30],
  y1: [0.25, 30],
  cylBesselI0: [-20, 20],
  cylBesselI1: [-20, 20],
  erf: [-4, 4],
  erfc: [-3, 8],
  erfcx: [-3, 20],
  erfinv: [-0.9375, 0.9375],
  erfcinv: [0.0625, 1.9375],
  normcdf: [-8, 4],
  normcdfinv: [0.0625, 0.9375],
  tgamma: [0.25, 20],
  lgamma: [3, 60],
  rcbrt: [0.25, 90],
  exp10: [-8, 8],
  'sincos.0': [-20, 20],
  'sincos.1': [-20, 20],
  'fast.sin': [-3, 3],
  'fast.cos': [-3, 3],
  'fast.sincos.1': [-3, 3],
  'fast.tan': [-1, 1],
  'fast.exp': [-10, 10],
  'fast.exp2': [-10, 10],
  'fast.exp10': [-4, 4],
  'fast.log': [0.25, 60],
  'fast.log2': [0.25, 60],
  'fast.log10': [0.25, 60],
  'fast.tanh': [-4, 4],
  'fast.sqrt': [0.25, 60],
  'fast.rsqrt': [0.25, 60],
  'fast.rcp': [0.25, 60],
};
export const SPECIALS: readonly string[] = Object.keys(SPECIAL);
export const THEMES = ['reductions', 'strings', 'dates', 'atomics', 'special', 'memory'] as const;
/** Results of special functions that a thread has room for. */
export const RESULTS = 8;
/** Threads of a program, of two elements each. */
export const THREADS = 5;

const TEXTS = ["'ab'", "'a'", "''", "'b'", "'bc'", "'\u00e9'"];
const INTEGERS = ['ci', 'cu', 'ch', 'cb'];

export interface LibraryProgram {
  readonly theme: (typeof THEMES)[number];
  readonly text: string;
  /** Of each place for a result of a special function: the function, and whether it is computed in f32. */
  readonly calls: readonly { readonly name: string; readonly single: boolean }[];
}

class LibraryGenerator {
  readonly #r: Random;
  readonly #theme: (typeof THEMES)[number];
  readonly #calls: { readonly name: string; readonly single: boolean }[] = [];
  #names = 0;

  constructor(seed: number) {
    this.#r = new Random(seed);
    this.#theme = THEMES[seed % THEMES.length] ?? 'strings';
  }

  #own(array: string): string {
    return `${array}[2 * i + ${this.#r.below(2)}]`;
  }

  #number(names: readonly string[], depth: number): string {
    const r = this.#r;
    const deeper = (): string => this.#number(names, depth - 1);
    if (depth === 0) return r.chance(0.3) ? String(r.below(17)) : r.pick(names);
    switch (r.below(6)) {
      case 0:
        return `((${deeper()} ${r.pick(['+', '-', '*', '^', '&'])} ${deeper()}) & 1023)`;
      case 1:
        return `(${this.#test(names, depth - 1)} ? ${deeper()} : ${deeper()})`;
      default:
        return this.#leaf(names, depth);
    }
  }

  #test(names: readonly string[], depth: number): string {
    const r = this.#r;
    if (this.#theme === 'strings' && r.chance(0.6)) return this.#textTest();
    if (this.#theme === 'dates' && r.chance(0.6)) return this.#dateTest(names);
    if (this.#theme === 'reductions' && r.chance(0.4)) return `${this.#array(names, true)}.${r.pick(['any', 'all'])}()`;
    return `${this.#number(names, depth)} ${r.pick(['<', '===', '>='])} ${this.#number(names, depth)}`;
  }

  /** An expression that gives a small whole number. */
  #leaf(names: readonly string[], depth: number): string {
    const r = this.#r;
    switch (this.#theme) {
      case 'reductions': {
        const name = r.pick(['sum', 'prod', 'min', 'max', 'mean', 'argmin', 'argmax']);
        const array = this.#array(names, !/^(?:min|max|arg)/.test(name));
        return `(Math.floor(${array}.${name}() * 4) & 1023)`;
      }
      case 'strings':
        return this.#textNumber(depth);
      case 'dates':
        return `(${this.#dateTest(names)} ? ${this.#number(names, depth - 1)} : ${r.below(9)})`;
      case 'atomics':
        return `(i32(${this.#atomic(names, depth)}) & 1023)`;
      case 'memory':
        return `(i32(${this.#element(names)}) & 1023)`;
      default:
        return r.pick(names);
    }
  }

  // ------------------------------------------------------------ reductions

  #array(names: readonly string[], finite: boolean): string {
    const r = this.#r;
    const matrix = finite || r.chance(0.6) ? 'a' : 'n';
    const k = r.chance(0.5) ? String(r.below(3)) : `(${this.#number(names, 0)} % 3)`;
    return r.pick(['own', 'small', matrix, `${matrix}[${k}]`, `${matrix}.T`, `${matrix}.T[${k}]`]);
  }

  // ------------------------------------------------------------ strings

  #text(): string {
    return this.#r.pick([this.#own('p'), this.#own('q'), `w[${this.#r.below(4)}]`, 'key']);
  }

  #textTest(): string {
    const r = this.#r;
    const [a, b] = [this.#text(), r.chance(0.3) ? r.pick(TEXTS) : this.#text()];
    if (r.chance(0.3)) return `${a}.${r.pick(['startsWith', 'endsWith', 'includes'])}(${b})`;
    return `${a} ${r.pick(['===', '!==', '<', '<=', '>', '>='])} ${b}`;
  }

  #textNumber(depth: number): string {
    const r = this.#r;
    const a = this.#text();
    const k = r.below(4);
    return r.pick([
      `${a}.length`,
      `(${a}.length > ${k} ? ${a}.charCodeAt(${k}) : ${depth})`,
      `(${a}.indexOf(${r.chance(0.5) ? r.pick(TEXTS) : this.#text()}) + 1)`,
      `(${a} ? 1 : 2)`,
    ]);
  }

  #textStore(): string {
    const r = this.#r;
    const w = `w[${r.below(4)}]`;
    return r.pick([
      () => `${this.#own('p')} = ${r.chance(0.5) ? this.#own('p') : w};`,
      () => `${this.#own('p')} = ${r.pick(TEXTS)};`,
      () => `${this.#own('q')} = ${this.#textTest()} ? ${this.#own('q')} : ${r.pick(TEXTS)};`,
      () => `${this.#own('q')} = ${r.pick([this.#own('p'), this.#own('q'), w])};`,
      () => '[p[2 * i], p[2 * i + 1]] = [p[2 * i + 1], p[2 * i]];',
    ])();
  }

  // ------------------------------------------------------------ dates

  #date(names: readonly string[], depth: number): string {
    const r = this.#r;
    if (depth === 0 || r.chance(0.2)) {
      const text = r.pick(['2026-11-23', '1968-02-29', '2000-03-01']);
      return r.pick([this.#own('d'), this.#own('e'), `datetime64('${r.pick(['D', 'h', 's'])}')('${text}')`]);
    }
    if (r.chance(0.3)) return `datetime64('${r.pick(['D', 'h', 'm', 's', 'ms'])}')(${this.#date(names, depth - 1)})`;
    return `(${this.#date(names, depth - 1)} ${r.pick(['+', '-'])} ${this.#duration(names, depth - 1)})`;
  }

  #duration(names: readonly string[], depth: number): string {
    const r = this.#r;
    if (depth === 0 || r.chance(0.2))
      return r.pick([this.#own('t'), `timedelta64('${r.pick(['D', 'h', 'm', 's', 'ms'])}')(${r.below(90)}n)`]);
    return r.pick([
      () => `(${this.#date(names, depth - 1)} - ${this.#date(names, depth - 1)})`,
      () => `(${this.#duration(names, depth - 1)} ${r.pick(['+', '-'])} ${this.#duration(names, depth - 1)})`,
      () => `(${this.#duration(names, depth - 1)} * ${r.below(7) - 3}n)`,
      () => `(-${this.#duration(names, depth - 1)})`,
    ])();
  }

  #dateTest(names: readonly string[]): string {
    const op = this.#r.pick(['===', '!==', '<', '<=', '>', '>=']);
    const value = this.#r.chance(0.5) ? this.#date.bind(this) : this.#duration.bind(this);
    return `${value(names, 1)} ${op} ${value(names, 1)}`;
  }

  #dateStore(names: readonly string[]): string {
    return this.#r.pick([
      () => `${this.#own('d')} = datetime64('D')(${this.#date(names, 2)});`,
      () => `${this.#own('e')} = datetime64('s')(${this.#date(names, 2)});`,
      () => `${this.#own('t')} = timedelta64('m')(${this.#duration(names, 2)});`,
      () => '[d[2 * i], d[2 * i + 1]] = [d[2 * i + 1], d[2 * i]];',
      () => `${this.#own('t')} += ${this.#own('t')};`,
    ])();
  }

  // ------------------------------------------------------------ atomics

  #options(orders: readonly string[]): string {
    const r = this.#r;
    const order = r.chance(0.8) ? [`order: '${r.pick(orders)}'`] : [];
    const scope = r.chance(0.5) ? [`scope: '${r.pick(['block', 'device'])}'`] : [];
    return order.length + scope.length === 0 ? '' : `, { ${[...order, ...scope].join(', ')} }`;
  }

  #atomic(names: readonly string[], depth: number): string {
    const r = this.#r;
    const place = (array: string): string => `${array}, 2 * i + ${r.below(2)}`;
    const all = ['relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'];
    const value = this.#number(names, Math.max(0, depth - 1));
    const array = r.pick([...INTEGERS, 'cf']);
    switch (r.below(6)) {
      case 0:
        return `cuda.atomic.load(${place(array)}${this.#options(['relaxed', 'acquire', 'seq_cst'])})`;
      case 1: {
        const expected = r.chance(0.7) ? `${array}[2 * i]` : this.#number(names, 0);
        return `cuda.atomic.cas(${place(array)}, ${expected}, ${value}${this.#options(all)})`;
      }
      case 2:
        return `cuda.atomic.exch(${place(array)}, ${value}${this.#options(all)})`;
      case 3:
        return `cuda.atomic.${r.pick(['add', 'sub', 'min', 'max'])}(${place(r.pick(['ci', 'cu', 'cf']))}, ${value}${this.#options(all)})`;
      case 4:
        return `cuda.atomic.${r.pick(['inc', 'dec'])}(${place('cu')}, ${value}${this.#options(all)})`;
      default:
        return `cuda.atomic.${r.pick(['and', 'or', 'xor'])}(${place(r.pick(['ci', 'cu']))}, ${value}${this.#options(all)})`;
    }
  }

  #atomicStore(names: readonly string[]): string {
    const r = this.#r;
    const value = this.#number(names, 1);
    const orders = ['relaxed', 'release', 'seq_cst'];
    if (r.chance(0.5)) {
      const array = r.pick([...INTEGERS, 'cf']);
      return `cuda.atomic.store(${array}, 2 * i + ${r.below(2)}, ${value}${this.#options(orders)});`;
    }
    return `cuda.atomic.add(total, ${r.below(2)}, ${value}${this.#options([...orders, 'acq_rel', 'acquire'])});`;
  }

  // ------------------------------------------------------------ memory

  /** An element of the thread, in an array of another shape or of elements of another type: the array, and its indices. */
  #place(names: readonly string[]): readonly [array: string, index: readonly string[]] {
    const r = this.#r;
    const array = r.pick(INTEGERS);
    const at = `2 * i + ${r.below(2)}`;
    const small = (): string => `(${this.#number(names, 0)} & 1)`;
    const other: Readonly<Record<string, string>> = { ci: 'u32', cu: 'i32', ch: 'u16', cb: 'int8' };
    const type =
      other[array]?.startsWith('i') && r.chance(0.3)
        ? `'${other[array] === 'i32' ? 'int32' : 'int8'}'`
        : other[array] === 'int8'
          ? 'i8'
          : other[array];
    return r.pick<() => readonly [string, readonly string[]]>([
      () => [`${array}.reshape(-1, 2)`, ['i', small()]],
      () => [`${array}.reshape(${THREADS}, 2)`, ['i', small()]],
      () => [`${array}.reshape([2, ${THREADS}])`, [`Math.floor((${at}) / ${THREADS})`, `(${at}) % ${THREADS}`]],
      () => [`${array}.reshape(${THREADS}, 2).reshape(${2 * THREADS})`, [at]],
      () => [`${array}.view(${type})`, [at]],
      () => [`${array}.view(${type}).reshape(-1, 2)`, ['i', small()]],
      () => [
        `${r.pick(['ci', 'cu'])}.view(${r.pick(['u8', 'i8', "'uint8'"])})`,
        [`8 * i + (${this.#number(names, 1)} & 7)`],
      ],
      () => [`${r.pick(['ci', 'cu'])}.view(i16).reshape(-1, 4)`, ['i', `${this.#number(names, 0)} & 3`]],
      () => ['ch.view(i32)', ['i']],
      () => ['cb.view(u16)', ['i']],
      () => [array, [at]],
      () => ['own.reshape(2, 2)', [small(), small()]],
      () => ['own.view(u8)', [`${this.#number(names, 1)} & 15`]],
      () => ["own.view('uint16').reshape(4, 2)", [`${this.#number(names, 1)} & 3`, small()]],
    ])();
  }

  #element(names: readonly string[]): string {
    const r = this.#r;
    const [array, index] = this.#place(names);
    if (r.chance(0.5) || array.startsWith('own')) return `${array}[${index.join('][')}]`;
    const at = index.length === 1 && r.chance(0.7) ? index[0] : `[${index.join(', ')}]`;
    // `ldcv` is an atomic load, which wants to know that wider elements are aligned.
    const hints = ['ldca', 'ldcg', 'ldcs', 'ldlu', ...(/^(?:ch\.view\(i32|cb\.view\(u16)/.test(array) ? [] : ['ldcv'])];
    return `cuda.${r.pick(hints)}(${array}, ${at})`;
  }

  #memoryStore(names: readonly string[]): string {
    const r = this.#r;
    const [array, index] = this.#place(names);
    const value = this.#number(names, 2);
    if (r.chance(0.5) || array.startsWith('own')) return `${array}[${index.join('][')}] = ${value};`;
    const at = index.length === 1 && r.chance(0.7) ? index[0] : `[${index.join(', ')}]`;
    return `cuda.${r.pick(['stcg', 'stcs', 'stwb', 'stwt'])}(${array}, ${at}, ${value});`;
  }

  // ------------------------------------------------------------ special functions

  #special(names: readonly string[]): string {
    const r = this.#r;
    const place = this.#calls.length;
    if (place === RESULTS) return ';';
    const name = r.pick(SPECIALS);
    const [from, to] = SPECIAL[name] ?? [0, 1];
    const single = r.chance(0.4);
    const steps = Math.floor((to - from) * 64);
    // A multiple of 1/64 between the ends, which both types have.
    const argument = `${from} + ((${this.#number(names, 1)} * ${1 + 2 * r.below(50)} + ${r.below(999)}) % ${steps}) / 64`;
    this.#calls.push({ name, single });
    const [, fn = name, part] = /^(.*)\.(\d)$/.exec(name) ?? [];
    const call = `cuda.${fn}(${single ? `f32(${argument})` : argument})`;
    return `z[${RESULTS} * i + ${place}] = ${call}${part === undefined ? '' : `[${part}]`};`;
  }

  // ------------------------------------------------------------ statements

  #effect(names: readonly string[]): string {
    switch (this.#theme) {
      case 'reductions':
        return `${this.#r.pick(['own', 'small'])}[${this.#number(names, 1)} & 3] = ${this.#number(names, 1)} % 5;`;
      case 'strings':
        return this.#textStore();
      case 'dates':
        return this.#dateStore(names);
      case 'atomics':
        return this.#atomicStore(names);
      case 'memory':
        return this.#memoryStore(names);
      default:
        return this.#special(names);
    }
  }

  #statement(names: readonly string[], depth: number): string {
    const r = this.#r;
    const list = (more: readonly string[]): string =>
      Array.from({ length: 1 + r.below(3) }, () => this.#statement(more, depth - 1)).join('\n');
    if (depth > 0 && r.chance(0.25))
      return `if (${this.#test(names, 1)}) {\n${list(names)}\n} else {\n${list(names)}\n}`;
    if (depth > 0 && r.chance(0.2)) {
      const j = `j${this.#names++}`;
      return `for (let ${j} = 0; ${j} < ${r.pick(['3', '(v & 3)', '2'])}; ${j}++) {\n${list([...names, j])}\n}`;
    }
    return r.chance(0.6) ? this.#effect(names) : `s = (s * 5 + ${this.#number(names, 2)}) & 65535;`;
  }

  program(): LibraryProgram {
    const start = ['let s = v;'];
    if (this.#theme === 'strings') start.push(`const key = ${this.#own('p')};`);
    if (this.#theme === 'memory')
      start.push('const own = cuda.local.array(4, u32);', 'for (let k = 0; k < 4; k++) own[k] = v * 77777 * (k + 1);');
    if (this.#theme === 'reductions') {
      start.push('const own = cuda.local.array(4, f64);', 'const small = cuda.local.array(4, i32);');
      start.push('for (let k = 0; k < 4; k++) {\nown[k] = ((v * (k + 3)) & 7) / 4 - 1;\nsmall[k] = (v + k) % 3;\n}');
    }
    const body = Array.from({ length: 6 + this.#r.below(6) }, () => this.#statement(['i', 'v', 's'], 2));
    return { theme: this.#theme, text: [...start, ...body, 'o[i] = s;'].join('\n'), calls: this.#calls };
  }
}

/** The program of a seed: statements of the thread `i` and a number `v`. */
export function generateLibrary(seed: number): LibraryProgram {
  return new LibraryGenerator(seed).program();
}
