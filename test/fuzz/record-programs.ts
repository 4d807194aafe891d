/**
 * Random programs over records: names for elements, whole elements assigned, swapped and rotated, parts of them named.
 *
 * JavaScript itself is the evaluator. Elements are objects there; an array of the evaluator copies what is assigned to an
 * element or to a part of one, as kernels do, and then a name keeps the object that it named without anybody's doing.
 */
import { Random } from './random.ts';

export const COUNT = 8;

export interface Row {
  x: number;
  y: number;
  in: { a: number; b: number };
  f: number[];
}

export interface RecordProgram {
  readonly seed: number;
  /** The body of a function of `p`, an array of records, and `out`, one of numbers. */
  readonly text: string;
}

interface Scope {
  /** Names of records. */
  readonly rows: readonly string[];
  /** Those of them that may be assigned again. */
  readonly variables: readonly string[];
  /** Names of records inside of records, and of arrays. */
  readonly parts: readonly string[];
  readonly lists: readonly string[];
  /** Numbers. */
  readonly numbers: readonly string[];
}

class Generator {
  readonly r: Random;
  #names = 0;
  #outs = 0;

  constructor(seed: number) {
    this.r = new Random(seed);
  }

  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  index(s: Scope): string {
    const { r } = this;
    const constant = String(r.below(COUNT));
    if (s.numbers.length === 0 || r.chance(0.5)) return constant;
    return r.chance(0.4) ? `(${r.pick(s.numbers)} + ${constant}) & 7` : `${r.pick(s.numbers)} & 7`;
  }

  /** An element, by its place or by a name. */
  row(s: Scope): string {
    return s.rows.length > 0 && this.r.chance(0.7) ? this.r.pick(s.rows) : `p[${this.index(s)}]`;
  }

  number(s: Scope): string {
    const { r } = this;
    const parts = [...s.parts.map((n) => `${n}.${r.pick(['a', 'b'])}`), ...s.lists.map((n) => `${n}[${r.below(2)}]`)];
    const row = this.row(s);
    return r.weighted<() => string>([
      [4, () => `${row}.${r.pick(['x', 'y'])}`],
      [2, () => `${row}.in.${r.pick(['a', 'b'])}`],
      [1, () => `${row}.f[${r.below(2)}]`],
      [parts.length, () => r.pick(parts)],
      [1, () => String(r.below(100))],
      [s.numbers.length > 0 ? 1 : 0, () => r.pick(s.numbers)],
    ])();
  }

  expression(s: Scope): string {
    const { r } = this;
    const sum = `${this.number(s)} ${r.pick(['+', '-', '^'])} ${this.number(s)}`;
    return r.chance(0.5) ? this.number(s) : `(${sum}) | 0`;
  }

  literal(s: Scope): string {
    const e = (): string => this.expression(s);
    if (this.r.chance(0.4)) return `{ ...${this.row(s)}, x: ${e()} }`;
    return `{ x: ${e()}, y: ${e()}, in: { a: ${e()}, b: ${e()} }, f: [${e()}, ${e()}] }`;
  }

  whole(s: Scope): string {
    const { r } = this;
    const place = `p[${this.index(s)}]`;
    const other = `p[${this.index(s)}]`;
    return r.weighted<() => string>([
      [5, () => `${place} = ${this.row(s)};`],
      [1, () => `${place} = ${this.literal(s)};`],
      [1, () => `[${place}, ${other}] = [${other}, ${place}];`],
      [1, () => `swap(${this.index(s)}, ${this.index(s)});`],
      [1, () => `${place}.in = ${s.parts.length > 0 ? r.pick(s.parts) : `${this.row(s)}.in`};`],
      [1, () => `${place}.f = ${s.lists.length > 0 ? r.pick(s.lists) : `${this.row(s)}.f`};`],
    ])();
  }

  statements(n: number, outer: Scope, depth: number): string {
    let s = outer;
    const lines: string[] = [];
    for (let k = 0; k < n; k++) {
      const [line, scope] = this.statement(s, depth);
      lines.push(line);
      s = scope;
    }
    return lines.join('\n');
  }

  statement(s: Scope, depth: number): readonly [string, Scope] {
    const { r } = this;
    const kind = r.weighted<string>([
      [4, 'name'],
      [5, 'whole'],
      [3, 'out'],
      [1, 'part'],
      [1, 'member'],
      [s.variables.length > 0 ? 2 : 0, 'rename'],
      [depth < 2 ? 1 : 0, 'if'],
      [depth < 2 ? 1.5 : 0, 'loop'],
      [1, 'take'],
    ]);
    switch (kind) {
      case 'name': {
        const name = this.name('t');
        const fixed = r.chance(0.7);
        const value = r.chance(0.2) ? `${this.number(s)} > 20 ? ${this.row(s)} : ${this.row(s)}` : this.row(s);
        const scope = { ...s, rows: [...s.rows, name], variables: fixed ? s.variables : [...s.variables, name] };
        return [`${fixed ? 'const' : 'let'} ${name} = ${value};`, scope];
      }
      case 'take': {
        const name = this.name('t');
        return [`const ${name} = take(${this.index(s)}, ${this.row(s)});`, { ...s, rows: [...s.rows, name] }];
      }
      case 'rename':
        return [`${r.pick(s.variables)} = ${this.row(s)};`, s];
      case 'part': {
        const name = this.name('q');
        if (r.chance(0.5)) return [`const ${name} = ${this.row(s)}.in;`, { ...s, parts: [...s.parts, name] }];
        return [`const { f: ${name} } = ${this.row(s)};`, { ...s, lists: [...s.lists, name] }];
      }
      case 'member':
        return [`p[${this.index(s)}].${r.pick(['x', 'y', 'in.a', 'f[1]'])} = ${this.expression(s)};`, s];
      case 'whole':
        return [this.whole(s), s];
      case 'out':
        return [`out[${this.#outs++ & 31}] = ${this.expression(s)};`, s];
      case 'if': {
        const otherwise = r.chance(0.5) ? ` else {\n${this.statements(1 + r.below(2), s, depth + 1)}\n}` : '';
        return [`if (${this.number(s)} > 30) {\n${this.statements(1 + r.below(3), s, depth + 1)}\n}${otherwise}`, s];
      }
      default: {
        const k = this.name('k');
        const inner = { ...s, numbers: [...s.numbers, k] };
        const leave = r.chance(0.3) ? `if (${this.number(inner)} > 60) ${r.pick(['break', 'continue'])};\n` : '';
        const body = `${this.statements(1 + r.below(3), inner, depth + 1)}\n${leave}${this.statements(r.below(3), inner, depth + 1)}`;
        return [`for (let ${k} = 0; ${k} < ${1 + r.below(4)}; ${k}++) {\n${body}\n}`, s];
      }
    }
  }
}

const HELPERS = `const swap = (i, j) => { const t = p[i]; p[i] = p[j]; p[j] = t; };
const take = (i, r) => { const old = p[i]; p[i] = r; return old; };
`;

export function generateRecords(seed: number): RecordProgram {
  const g = new Generator(seed);
  const scope: Scope = { rows: [], variables: [], parts: [], lists: [], numbers: [] };
  const body = g.statements(4 + g.r.below(10), scope, 0);
  return { seed, text: `${HELPERS}${body}` };
}

export function rows(): Row[] {
  return Array.from({ length: COUNT }, (_, i) => ({
    x: (i * 37) % 64,
    y: 50 - 9 * i,
    in: { a: 11 * i, b: 77 - i },
    f: [i * i, 40 - i],
  }));
}

/** What the program leaves, by JavaScript's meaning of names. */
export function evaluateRecords({ text }: RecordProgram): { readonly p: readonly Row[]; readonly out: Int32Array } {
  const list = rows().map((row) => copying(row));
  const out = new Int32Array(32);
  new Function('p', 'out', text)(copying(list), out);
  return { p: JSON.parse(JSON.stringify(list)) as Row[], out };
}

/** An object that copies the objects that are assigned to what it has. */
function copying<T extends object>(target: T): T {
  return new Proxy(target, {
    set(to, key, value) {
      return Reflect.set(to, key, typeof value === 'object' ? copied(value as object) : value);
    },
  });
}

function copied(value: object): object {
  const own = Array.isArray(value)
    ? value.map((v: unknown) => (typeof v === 'object' && v !== null ? copied(v) : v))
    : Object.fromEntries(
        Object.entries(value).map(([k, v]: [string, unknown]) => [
          k,
          typeof v === 'object' && v !== null ? copied(v) : v,
        ]),
      );
  return copying(own);
}
