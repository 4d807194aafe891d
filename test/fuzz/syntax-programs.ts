/**
 * Random programs in the forms that TypeScript has beside operators, `if` and `for`: patterns, spreads, `switch`, labels, `?.` and `??`, closures, classes,
 * accessors, methods of arrays, strings that are compared, `in` and `typeof`. The text is plain JavaScript of small integers, so that running it says what it means.
 */
import { Random } from './random.ts';

interface Names {
  readonly numbers: readonly string[];
  /** Numbers that can be assigned to. */
  readonly own: readonly string[];
  /** Arrays of four numbers. */
  readonly tables: readonly string[];
  /** Objects of two numbers `x` and `y`. */
  readonly objects: readonly string[];
  /** Functions of two numbers. */
  readonly functions: readonly string[];
  /** Numbers or undefined. */
  readonly maybes: readonly string[];
  /** Labels of loops around. */
  readonly labels: readonly string[];
}

export interface SyntaxProgram {
  /** Of a thread `i` with a number `v`, an object `options` and `mode`, a string; it leaves `s`. */
  readonly text: string;
  readonly options: {
    readonly n: number;
    readonly on: boolean;
    readonly at: readonly [number, number];
    readonly more?: number;
  };
  readonly mode: string;
}

const MODES = ['sum', 'first', 'last'];

const CLASS = `class Pair {
static of(x) { return new Pair(x, x + 1); }
constructor(x, y) {
this.x = x;
this.y = y;
}
get sum() { return (this.x + this.y) & 1023; }
set both(v) {
this.x = v;
this.y = v ^ 5;
}
add(other) { return new Pair((this.x + other.x) & 1023, (this.y + other.y) & 1023); }
move(by = 1) {
this.x = (this.x + by) & 1023;
return this;
}
}`;

class SyntaxGenerator {
  readonly #r: Random;
  #count = 0;

  constructor(seed: number) {
    this.#r = new Random(seed);
  }

  #name(prefix: string): string {
    return `${prefix}${this.#count++}`;
  }

  #number(n: Names, depth = 2): string {
    const r = this.#r;
    if (depth === 0) return r.chance(0.25) ? String(r.below(17)) : r.pick(n.numbers);
    const deeper = (): string => this.#number(n, depth - 1);
    const object = (): string => r.pick(n.objects);
    const table = (): string => r.pick(n.tables);
    const forms: (() => string)[] = [
      () => `((${deeper()} ${r.pick(['+', '-', '*', '^', '&', '|', '<<', '>>'])} ${this.#number(n, 0)}) & 1023)`,
      () => `(${this.#test(n, depth - 1)} ? ${deeper()} : ${deeper()})`,
      () => `${object()}${r.pick(['.x', '.y', "['x']", '?.y'])}`,
      () => `${table()}[${deeper()} & 3]`,
      () => `${table()}.at(${r.pick(['0', '-1', '-2', '3'])})`,
      () => `(${table()}.${r.pick(['indexOf', 'lastIndexOf'])}(${deeper()}) + 1)`,
      () =>
        `${table()}.${r.pick(['reduce', 'reduceRight'])}((a, b${r.chance(0.3) ? ', k' : ''}) => (a * 3 + b) & 1023, ${deeper()})`,
      () => `(${table()}.${r.pick(['findIndex', 'findLastIndex'])}((a) => a > ${deeper()}) + 1)`,
      () => `(${table()}.${r.pick(['find', 'findLast'])}((a) => a > ${deeper()}) ?? ${r.below(9)})`,
      () => `Math.${r.pick(['max', 'min'])}(...${table()}, ${deeper()})`,
      () => `${table()}.map((a, k) => (a + k) & 1023)[${r.below(4)}]`,
      () => `(${r.pick(n.maybes)} ?? ${deeper()})`,
      () => `(typeof ${r.pick([...n.maybes, ...n.numbers])} === 'number' ? 3 : 4)`,
      () => `(${r.pick(["'x'", "'q'"])} in ${object()} ? 1 : 2)`,
      () => `${r.pick(n.functions)}(${deeper()}, ${deeper()})`,
      () => `${r.pick(n.functions)}(...[${deeper()}, ${deeper()}])`,
      () => `(({ x, y: z = 3 }) => (x + z) & 1023)(${this.#object(n)})`,
      () => `((a, ...rest) => (a + rest[1] * rest.length) & 1023)(${deeper()}, ${deeper()}, ${this.#number(n, 0)})`,
      () => `[${deeper()}, ${deeper()}, ...${table()}][${r.below(6)}]`,
      () => `(${deeper()}, ${deeper()})`,
      () => `(options.at[${r.pick(['0', '1', 'i & 1'])}] + options.n + (options.more ?? 5))`,
      () => `(mode === '${r.pick(MODES)}' ? ${deeper()} : ${deeper()})`,
      () => `Object.${r.pick(['keys', 'values', 'entries'])}(${object()}).length`,
      () => `(void 0 ?? ${deeper()})`,
      () => `(Array.from({ length: 4 }, (_, k) => (k * ${this.#number(n, 0)}) & 255)[${deeper()} & 3])`,
    ];
    return r.pick(forms)();
  }

  #test(n: Names, depth = 1): string {
    const r = this.#r;
    const value = (): string => this.#number(n, depth);
    return r.pick([
      `${value()} ${r.pick(['<', '<=', '===', '!==', '>'])} ${value()}`,
      `(${value()} & 1) === 0 ${r.pick(['&&', '||'])} ${value()} > ${r.below(99)}`,
      `${r.pick(n.maybes)} ${r.pick(['===', '!==', '==', '!='])} undefined`,
      `${r.pick(n.tables)}.${r.pick(['some', 'every'])}((a) => a > ${this.#number(n, 0)})`,
      `${r.pick(n.tables)}.includes(${value()})`,
      `!(${value()} > ${r.below(200)})`,
      'options.on',
      `Number.isInteger(${value()})`,
    ]);
  }

  #object(n: Names): string {
    const r = this.#r;
    const value = (): string => this.#number(n, 1);
    return r.pick([
      `{ x: ${value()}, y: ${value()} }`,
      `{ ...${r.pick(n.objects)}, x: ${value()} }`,
      `{ y: 7, ...${r.pick(n.objects)} }`,
      `{ ['x']: ${value()}, get y() { return (this.x + 2) & 1023; } }`,
    ]);
  }

  #table(n: Names): string {
    const r = this.#r;
    const value = (): string => this.#number(n, 1);
    return r.pick([
      `[${value()}, ${value()}, ${value()}, ${value()}]`,
      `new Array(4).fill(${value()})`,
      `${r.pick(n.tables)}.map((a) => (a ^ ${this.#number(n, 0)}) & 1023)`,
      `[...${r.pick(n.tables)}.slice(1), ${value()}]`,
      `[...[${value()}, 2], ...[3, ${value()}]]`,
      `${r.pick(n.tables)}.slice()`,
      `Array.from({ length: 4 }, (_, k) => (${value()} + k) & 1023)`,
      `Array.from(${r.pick(n.tables)})`,
    ]);
  }

  /** The text of a statement, and the names behind it. */
  #statement(n: Names, depth: number): readonly [string, Names] {
    const r = this.#r;
    const value = (): string => this.#number(n, 2);
    const plain = (text: string): readonly [string, Names] => [text, n];
    const inner = (): string => this.#block(n, depth - 1);
    const own = r.pick(n.own);
    const forms: (() => readonly [string, Names])[] = [
      () => {
        const name = this.#name('n');
        return [`let ${name} = ${value()};`, { ...n, numbers: [...n.numbers, name], own: [...n.own, name] }];
      },
      () => {
        const [a, b] = [this.#name('a'), this.#name('b')];
        const pattern = r.pick([
          `const { x: ${a}, y: ${b} = 4 } = ${this.#object(n)};`,
          `const [${a}, , ${b}] = ${this.#table(n)};`,
          `const [${a}, [${b}]] = [${value()}, ${this.#table(n)}];`,
          `const { p: { x: ${a} }, q: ${b} = ${r.below(9)} } = { p: ${this.#object(n)}${r.chance(0.5) ? `, q: ${value()}` : ''} };`,
          `const [${a}, ...${b}s] = ${this.#table(n)};\nconst ${b} = ${b}s[1];`,
          `const { x: ${a}, ...${b}s } = ${this.#object(n)};\nconst ${b} = ${b}s.y;`,
        ]);
        return [pattern, { ...n, numbers: [...n.numbers, a, b] }];
      },
      () => {
        const name = this.#name('o');
        const made = r.chance(0.3)
          ? r.pick([
              `new Pair(${value()}, ${value()})`,
              `Pair.of(${value()} & 511)`,
              `new Pair(1, 2).add(${r.pick(n.objects)})`,
            ])
          : `{ x: ${value()}, y: ${value()} }`;
        return [`const ${name} = ${made};`, { ...n, objects: [...n.objects, name] }];
      },
      () => {
        const name = this.#name('t');
        return [`const ${name} = ${this.#table(n)};`, { ...n, tables: [...n.tables, name] }];
      },
      () => {
        const name = this.#name('f');
        const w: Names = { ...n, numbers: [...n.numbers, 'a', 'b'], labels: [] };
        const body = r.pick([
          `(a, b = 2) => ${this.#number(w, 1)}`,
          `(a, b) => { if (a > b) return ${this.#number(w, 1)}; return ${this.#number(w, 1)}; }`,
          `(a, b) => { ${own} = (${own} + a) & 1023; return b; }`,
        ]);
        return [`const ${name} = ${body};`, { ...n, functions: [...n.functions, name] }];
      },
      () => {
        const name = this.#name('m');
        const text = `let ${name};\nif (${this.#test(n)}) ${name} = ${value()};`;
        return [text, { ...n, maybes: [...n.maybes, name] }];
      },
      () => plain(`${own} = ${value()};`),
      () =>
        plain(
          `${own} ${r.pick(['+=', '-=', '*=', '^=', '|=', '<<=', '>>=', '%='])} (${value()} & 7) + 1;\n${own} &= 1023;`,
        ),
      () => plain(`${r.pick(n.maybes)} ??= ${value()};`),
      () => plain(`${r.pick(n.tables)}[${value()} & 3] = ${value()};`),
      () =>
        plain(
          `${r.pick(n.objects.filter((o) => o !== 'whole'))}.${r.pick(['x', 'y'])} ${r.pick(['=', '^='])} ${value()};`,
        ),
      () =>
        plain(
          `whole.${r.pick(['both = ', 'x += '])}${r.below(9)};\n${own} = (whole.sum + whole.move(${r.below(2) ? '' : value()}).y) & 1023;`,
        ),
      () => {
        const t = r.pick(n.tables);
        return plain(`[${t}[0], ${t}[${r.below(4)}], ${own}] = [${own}, ${t}[1], ${t}[${r.below(4)}]];`);
      },
      () => plain(`({ x: ${own} } = ${this.#object(n)});`),
      () =>
        plain(
          `${r.pick(n.tables)}.${r.pick([`fill(${value()}, 1, 3)`, `forEach((a, k) => { ${own} = (${own} + a * k) & 1023; })`])};`,
        ),
      () => plain(`${own} = (${own}++ + ++${own}) & 1023;`),
      () => plain(this.#jump(n)),
      () => plain(`if (${this.#test(n)}) {\n${inner()}\n} else if (${this.#test(n)}) {\n${inner()}\n}`),
      () => plain(this.#switch(n, depth)),
      () => plain(this.#switch(n, depth)),
      () => plain(this.#loop(n, depth)),
      () => plain(this.#loop(n, depth)),
      () => plain(this.#loop(n, depth)),
    ];
    return r.pick(depth === 0 ? forms.slice(0, -5) : forms)();
  }

  #jump(n: Names): string {
    if (n.labels.length === 0) return ';';
    const r = this.#r;
    const where = r.chance(0.5) ? ` ${r.pick(n.labels)}` : '';
    return `if (${this.#test(n)}) ${r.pick(['break', 'continue'])}${where};`;
  }

  #switch(n: Names, depth: number): string {
    const r = this.#r;
    const text = r.chance(0.3);
    const on = text ? `(${this.#test(n)} ? 'sum' : mode)` : `${this.#number(n, 1)} & 3`;
    const tests = text ? MODES.map((m) => `case '${m}':`) : ['case 0:', 'case 1:', 'case 2: case 3:'];
    const all = [...tests, 'default:'].slice(r.below(2));
    // Where `default` stands does not matter to which case is taken, but to where control falls.
    if (r.chance(0.3)) all.unshift(all.pop() ?? '');
    const w: Names = { ...n, labels: [] };
    const cases = all.map((test) => `${test}\n{\n${this.#block(w, depth - 1)}\n}\n${r.chance(0.6) ? 'break;' : ''}`);
    return `switch (${on}) {\n${cases.join('\n')}\n}`;
  }

  #loop(n: Names, depth: number): string {
    const r = this.#r;
    const [label, j, x] = [this.#name('l'), this.#name('j'), this.#name('e')];
    const w = (...more: readonly string[]): Names => ({
      ...n,
      numbers: [...n.numbers, ...more],
      labels: [...n.labels, label],
    });
    const body = (...more: readonly string[]): string => this.#block(w(...more), depth - 1);
    return r.pick([
      () => `${label}: for (const ${x} of ${r.pick(n.tables)}) {\n${body(x)}\n}`,
      () => `${label}: for (const [${j}, ${x}] of ${r.pick(n.tables)}.entries()) {\n${body(j, x)}\n}`,
      () => `${label}: for (const ${x} of [${this.#number(n, 1)}, ${r.below(9)}]) {\n${body(x)}\n}`,
      () =>
        `${label}: for (let ${j} = ${r.below(3)}, ${x} = ${this.#number(n, 0)}; ${j} < 4; ${j}++, ${x} += 2) {\n${body(j, x)}\n}`,
      () => `let ${j} = 3;\n${label}: while (${j}-- > 0) {\n${body(j)}\n}`,
      () => `let ${j} = 0;\n${label}: do {\n${j}++;\n${body(j)}\n} while (${j} < 3 && ${this.#test(n)});`,
      () =>
        `${label}: for (const { x: ${j}, y: ${x} } of [${this.#object(n)}, ${this.#object(n)}]) {\n${body(j, x)}\n}`,
    ])();
  }

  #block(n: Names, depth: number): string {
    const lines: string[] = [];
    let names = n;
    for (let k = 1 + this.#r.below(2); k > 0; k--) {
      const [text, next] = this.#statement(names, depth);
      lines.push(text);
      names = next;
    }
    return lines.join('\n');
  }

  program(): SyntaxProgram {
    const r = this.#r;
    let names: Names = {
      numbers: ['i', 'v', 's'],
      own: ['s', 'w'],
      tables: ['t', 'u'],
      objects: ['o', 'whole'],
      functions: ['f'],
      maybes: ['m'],
      labels: [],
    };
    const lines = [
      CLASS,
      'let [s, w] = [v, 3];',
      'const t = [v, 3, i, 7];',
      'const u = [1, v, 2, i];',
      'const o = { x: i, y: 6 };',
      'const whole = new Pair(v, 2);',
      'const f = (a, b) => (a * 2 + b) & 1023;',
      'let m;',
      'if (v > 20) m = v;',
    ];
    for (let k = 4 + r.below(4); k > 0; k--) {
      const [text, next] = this.#statement(names, 2);
      lines.push(text);
      names = next;
    }
    const sums = [...names.numbers, 'w', ...names.objects.flatMap((o) => [`${o}.x`, `${o}.y`])];
    lines.push(...sums.map((x) => `s = (s * 5 + ${x}) & 65535;`));
    lines.push(...names.tables.map((a) => `for (const q of ${a}) s = (s * 7 + q) & 65535;`));
    lines.push(...names.maybes.map((a) => `s = (s * 3 + (${a} ?? 1)) & 65535;`));
    const at = [r.below(9), r.below(9)] as const;
    const options = { n: r.below(9), on: r.chance(0.5), at, ...(r.chance(0.5) && { more: r.below(9) }) };
    return { text: lines.join('\n'), options, mode: r.pick(MODES) };
  }
}

export function generateSyntax(seed: number): SyntaxProgram {
  return new SyntaxGenerator(seed).program();
}
