/**
 * Random programs over objects and JavaScript arrays of the kernel: literals that are indexed by variables, names for one object, identity, functions that
 * call themselves and return objects. The text is plain JavaScript of small integers, so that running it says what it means.
 */
import { Random } from './random.ts';

/** What a program is made of so far. */
interface Names {
  readonly numbers: string[];
  readonly objects: string[];
  /** Arrays of objects and of numbers, of four elements each. */
  readonly lists: string[];
  readonly tables: string[];
}

class ObjectGenerator {
  readonly #r: Random;
  #count = 0;

  constructor(seed: number) {
    this.#r = new Random(seed);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#count++}`;
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#r.below(list.length)] as T;
  }

  number(n: Names, depth = 2): string {
    const r = this.#r.below(depth === 0 ? 3 : 9);
    const deeper = (): string => this.number(n, depth - 1);
    switch (r) {
      case 0:
        return String(this.#r.below(17));
      case 1:
        return this.#pick(n.numbers);
      case 2:
        return n.objects.length > 0 ? `${this.#pick(n.objects)}.${this.#pick(['x', 'y'])}` : this.#pick(n.numbers);
      case 3:
        return `((${deeper()} ${this.#pick(['+', '-', '*', '^', '&', '|'])} ${deeper()}) & 1023)`;
      case 4:
        return n.lists.length > 0 ? `${this.#element(n, depth - 1)}.${this.#pick(['x', 'y'])}` : deeper();
      case 5:
        return n.tables.length > 0 ? `${this.#pick(n.tables)}[${deeper()} & 3]` : deeper();
      case 6:
        return `(${this.condition(n, depth - 1)} ? ${deeper()} : ${deeper()})`;
      case 7:
        return n.tables.length > 0 ? this.#method(n, depth) : deeper();
      default:
        return `Math.abs(${deeper()} - ${deeper()})`;
    }
  }

  #method(n: Names, depth: number): string {
    const table = this.#pick(n.tables);
    const from = this.number(n, depth - 1);
    const part = `${table}.slice(${this.#r.below(2)}, 4)`;
    return this.#pick([
      `${table}.reduce((a, b) => (a * 3 + b) & 1023, 0)`,
      `${table}.indexOf(${from})`,
      `${table}.findIndex((v) => v > ${from})`,
      `(${part}.some((v) => v === ${from}) ? 1 : 0)`,
      `${part}.map((v, j) => v * 2 + j)[${this.number(n, depth - 1)} & 1]`,
    ]);
  }

  #element(n: Names, depth: number): string {
    return `${this.#pick(n.lists)}[${this.number(n, depth)} & 3]`;
  }

  condition(n: Names, depth = 2): string {
    if (n.objects.length > 1 && this.#r.below(3) === 0)
      return `${this.#pick(n.objects)} ${this.#pick(['===', '!=='])} ${this.#pick(n.objects)}`;
    return this.#pick([
      `${this.number(n, depth)} < ${this.number(n, depth)}`,
      `Object.is(${this.number(n, depth)}, ${this.number(n, depth)})`,
      `(${this.number(n, depth)} & 1) === 0`,
    ]);
  }

  #literal(n: Names): string {
    return `{ x: ${this.number(n, 1)}, y: ${this.number(n, 1)} }`;
  }

  /** A statement; what it declares is known to those behind it. */
  statement(n: Names, depth: number): string {
    switch (this.#r.below(depth === 0 ? 8 : 10)) {
      case 0: {
        const [name, text] = [this.#name('n'), this.number(n)];
        n.numbers.push(name);
        return `let ${name} = ${text};`;
      }
      case 1: {
        const [name, text] = [this.#name('o'), this.#object(n)];
        n.objects.push(name);
        return `const ${name} = ${text};`;
      }
      case 2: {
        const name = this.#name('p');
        const items = [0, 1, 2, 3].map(() => this.#literal(n));
        n.lists.push(name);
        return `const ${name} = [${items.join(', ')}];`;
      }
      case 3: {
        const name = this.#name('t');
        const items = [0, 1, 2, 3].map(() => this.number(n, 1));
        n.tables.push(name);
        return `const ${name} = [${items.join(', ')}];`;
      }
      case 4:
        return n.objects.length > 0 ? `${this.#pick(n.objects)}.${this.#pick(['x', 'y'])} = ${this.number(n)};` : ';';
      case 5:
        return n.lists.length > 0 ? `${this.#element(n, 1)}.${this.#pick(['x', 'y'])} = ${this.number(n)};` : ';';
      case 6:
        return n.tables.length > 0 ? `${this.#pick(n.tables)}[${this.number(n, 1)} & 3] = ${this.number(n)};` : ';';
      case 7: {
        if (this.#r.below(3) === 0) return `one = ${this.#object(n)};`;
        if (this.#r.below(3) === 0) return `one.${this.#pick(['x', 'y'])} = ${this.number(n)};`;
        const own = n.numbers.filter((name) => name.startsWith('n'));
        return own.length > 0 ? `${this.#pick(own)} = ${this.number(n)};` : ';';
      }
      case 8:
        return `if (${this.condition(n)}) {\n${this.#block(n, depth)}\n} else {\n${this.#block(n, depth)}\n}`;
      default: {
        const j = this.#name('j');
        const inner: Names = { ...copied(n), numbers: [...n.numbers, j] };
        return `for (let ${j} = 0; ${j} < 3; ${j}++) {\n${this.#list(inner, depth - 1)}\n}`;
      }
    }
  }

  #object(n: Names): string {
    const r = this.#r.below(5);
    if (r === 0 && n.lists.length > 0) return this.#element(n, 1);
    if (r === 1 && n.objects.length > 0) return this.#pick(n.objects);
    if (r === 2) return `f(${this.number(n, 1)} & 3, ${this.number(n, 1)})`;
    if (r === 3 && n.objects.length > 1)
      return `${this.condition(n, 1)} ? ${this.#pick(n.objects)} : ${this.#pick(n.objects)}`;
    return this.#literal(n);
  }

  #block(n: Names, depth: number): string {
    return this.#list(copied(n), depth - 1);
  }

  #list(n: Names, depth: number): string {
    return Array.from({ length: 1 + this.#r.below(3) }, () => this.statement(n, depth)).join('\n');
  }

  /** A function that calls itself and returns an object. */
  recursion(): string {
    const n: Names = { numbers: ['n', 'a'], objects: [], lists: [], tables: [] };
    const base = this.#literal(n);
    // Now and then a second call, behind which what was there before the first is used.
    const again = this.#r.below(3) === 0;
    const more = again ? `const q = f(n - 2, ${this.number({ ...copied(n), objects: ['r'] }, 1)});\n` : '';
    const r: Names = { ...copied(n), objects: again ? ['r', 'q'] : ['r'] };
    const changes = Array.from({ length: this.#r.below(3) }, () => `r.${this.#pick(['x', 'y'])} = ${this.number(r)};`);
    const result = this.#r.below(2) === 0 ? 'r' : this.#literal(r);
    return `function f(n, a) {\nif (n <= 0) return ${base};\nconst r = f(n - 1, ${this.number(n, 1)});\n${more}${changes.join('\n')}\nreturn ${result};\n}`;
  }

  program(): string {
    const n: Names = { numbers: ['i', 'v'], objects: [], lists: [], tables: [] };
    // Something to work on from the start.
    n.objects.push('first', 'second');
    n.lists.push('list');
    n.tables.push('table');
    const start = [
      `const first = ${this.#literal({ ...n, objects: [], lists: [], tables: [] })};`,
      'const second = f(v & 3, i);',
      'const list = [{ x: v, y: 1 }, { x: 2, y: i }, first, { x: 3, y: v & 7 }];',
      'const table = [v, 3, i, 7];',
      'let one = { x: i, y: v };',
    ];
    const body = Array.from({ length: 6 + this.#r.below(8) }, () => this.statement(n, 2));
    const all = [...n.numbers, ...n.objects.flatMap((o) => [`${o}.x`, `${o}.y`]), ...n.tables.map((t) => `${t}[2]`)];
    const lists = n.lists.map((p) => `for (const q of ${p}) s = (s * 7 + q.x + q.y * 3) & 65535;`);
    const sums = all.map((x) => `s = (s * 5 + ${x}) & 65535;`);
    return `${start.join('\n')}\n${body.join('\n')}\nlet s = one.x + one.y;\n${sums.join('\n')}\n${lists.join('\n')}`;
  }
}

function copied(n: Names): Names {
  return { numbers: [...n.numbers], objects: [...n.objects], lists: [...n.lists], tables: [...n.tables] };
}

/** The text of a program: `f`, which calls itself, and a body that leaves its result in `s`, of the thread `i` and a number `v`. */
export function generateObjects(seed: number): { readonly helper: string; readonly body: string } {
  const g = new ObjectGenerator(seed);
  return { helper: g.recursion(), body: g.program() };
}
