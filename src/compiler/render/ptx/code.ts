/**
 * The body of a PTX entry under construction: lines of text, virtual registers, labels, and which values are known already.
 *
 * Values are numbered as they are made: the same instruction on the same operands gives the register of the first one,
 * wherever that one certainly ran before. Mutable registers (the kernel's variables) and memory have a version that goes up
 * with each change, so that what was computed from an older one is not mistaken for it. What instructions there are is
 * said elsewhere.
 */

/** Register classes: predicate, 16, 32 and 64 bits, single and double precision. */
export type RegClass = 'p' | 'h' | 'r' | 'rd' | 'f' | 'fd';

/** A register, an immediate, a symbol or a bracketed address. */
export type Operand = string;

const DECLARED: Readonly<Record<RegClass, string>> = { p: 'pred', h: 'b16', r: 'b32', rd: 'b64', f: 'f32', fd: 'f64' };

export class Code {
  #lines: string[] = [];
  /** Runs once at the start, and so before everything. */
  readonly #prologue: string[] = [];
  /** Code that hardly ever runs, after everything else. */
  readonly #cold: string[] = [];
  readonly #known = new Map<string, Operand>();
  #scope = new Map<string, Operand>();
  readonly #outer: Map<string, Operand>[] = [];
  readonly #counts: Record<RegClass, number> = { p: 0, h: 0, r: 0, rd: 0, f: 0, fd: 0 };
  readonly #named: string[] = [];
  #versions = new Map<string, number>();
  #clock = 0;
  #inCold = false;
  #labels = 0;

  /** A register that is written once. */
  reg(c: RegClass): Operand {
    return `%${c}${++this.#counts[c]}`;
  }

  /** How many registers have been handed out. */
  get registers(): number {
    return Object.values(this.#counts).reduce((sum, n) => sum + n, 0);
  }

  /** A register that is written again and again; `changed` says when. */
  mutable(c: RegClass, name: string): Operand {
    this.#named.push(`.reg .${DECLARED[c]} %${name};`);
    this.#versions.set(`%${name}`, 0);
    return `%${name}`;
  }

  label(): string {
    return `$L${++this.#labels}`;
  }

  /** Appends an instruction. */
  emit(line: string): void {
    this.#lines.push(`\t${line};`);
  }

  /** Appends a directive of the assembler. */
  directive(line: string): void {
    this.#lines.push(line);
  }

  /** Appends lines that are not instructions: a label, a brace. */
  place(label: string): void {
    this.#lines.push(`${label}:`);
  }

  /** The result of a pure instruction: `op dest, operands`. `state` names what else it depends on, as a memory does. */
  value(c: RegClass, op: string, operands: readonly Operand[], state?: string): Operand {
    const key = this.#key(op, operands, state);
    const known = this.#find(key);
    if (known !== undefined) return known;
    const d = this.reg(c);
    this.emit(`${op} ${d}, ${operands.join(', ')}`);
    this.#scope.set(key, d);
    return d;
  }

  /** As `value`, of an instruction with several results; `write` appends it when there is need. Result `k` is known by its own name afterwards. */
  values(
    c: RegClass,
    op: string,
    count: number,
    operands: readonly Operand[],
    state: string | undefined,
    write: (results: readonly Operand[]) => void,
  ): readonly Operand[] {
    const keys = Array.from({ length: count }, (_, k) => this.#key(`${op}#${k}`, operands, state));
    const known = keys.flatMap((key) => this.#find(key) ?? []);
    if (known.length === count) return known;
    const results = keys.map(() => this.reg(c));
    write(results);
    keys.forEach((key, k) => {
      this.#scope.set(key, results[k] ?? '');
    });
    return results;
  }

  /** As `value`, of what does not change while the kernel runs: computed once, at the start. */
  once(c: RegClass, op: string, ...operands: Operand[]): Operand {
    const key = `${op} ${operands.join(', ')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // Nobody waits for what only a report needs.
    if (this.#inCold) return this.value(c, op, operands);
    const d = this.reg(c);
    this.#prologue.push(`\t${op} ${d}, ${operands.join(', ')};`);
    this.#known.set(key, d);
    return d;
  }

  /** Appends an instruction that runs once, at the start. */
  atStart(line: string): void {
    this.#prologue.push(`\t${line};`);
  }

  /** Whether something was done with these operands already; it counts as done from now on. */
  done(what: string, operands: readonly Operand[]): boolean {
    const key = this.#key(what, operands, undefined);
    if (this.#find(key) !== undefined) return true;
    this.#scope.set(key, '');
    return false;
  }

  #find(key: string): Operand | undefined {
    let known = this.#scope.get(key);
    for (let i = this.#outer.length - 1; known === undefined && i >= 0; i--) known = this.#outer[i]?.get(key);
    return known;
  }

  #key(op: string, operands: readonly Operand[], state: string | undefined): string {
    let key = op;
    for (const o of operands) {
      const version = this.#versions.get(o);
      key += version === undefined ? ` ${o}` : ` ${o}@${version}`;
    }
    return state === undefined ? key : `${key} ${state}@${this.#versions.get(state) ?? 0}`;
  }

  /** A mutable register or a memory has another value from now on. */
  changed(name: string): void {
    this.#versions.set(name, ++this.#clock);
  }

  /** Code that may not run, or not run once: what it computes is not known afterwards. */
  scoped(body: () => void): void {
    this.#outer.push(this.#scope);
    this.#scope = new Map();
    body();
    this.#scope = this.#outer.pop() ?? new Map();
  }

  /** Runs `body`, then takes back what it said of changes: for another path that starts where it did. */
  apart(body: () => void): void {
    const versions = new Map(this.#versions);
    this.scoped(body);
    this.#versions = versions;
  }

  /** Code for the end of the entry. */
  cold(body: () => void): void {
    const lines = this.#lines;
    this.#lines = [];
    this.#inCold = true;
    this.apart(body);
    this.#inCold = false;
    this.#cold.push(...this.#lines);
    this.#lines = lines;
  }

  /** The finished body, declarations first. */
  text(): string {
    const counted = (Object.keys(this.#counts) as RegClass[])
      .filter((c) => this.#counts[c] > 0)
      .map((c) => `.reg .${DECLARED[c]} %${c}<${this.#counts[c] + 1}>;`);
    const registers = [...counted, ...this.#named].map((line) => `\t${line}`);
    return [...registers, ...this.#prologue, ...this.#lines, '\tret;', ...this.#cold].join('\n');
  }
}
