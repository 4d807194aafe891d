/**
 * A kernel as JavaScript text: one function a thread, each statement on the line of the file that it came from.
 *
 * Threads that may have to wait for each other are generators; a barrier is a `yield`. The kernel's function, and each
 * device function that has a place in a file, is a script of its own.
 */
import type { ElemType, Expr, Kernel, MemRef, Stmt, Var } from '../../compiler/ir/ops.ts';
import { fencesAround } from '../../compiler/ir/orders.ts';
import { eachStmt, exprParts, hasBarrier, someStmt, stmtExprs, stmtLists } from '../../compiler/ir/passes/walk.ts';
import type { PrintForm } from '../../compiler/ir/print-forms.ts';
import type { Pos, SourceText } from '../../compiler/source.ts';
import { access, expression, literal, type Naming } from './expressions.ts';
import { asFunction, type Inlined, mentioned, type Occurrences, occurrences } from './inlining.ts';
import { LineWriter } from './lines.ts';
import type { Site } from './runtime.ts';
import { exactOperations } from './wrapping.ts';

/** One function's text; the script evaluates to the function. */
export interface Script {
  readonly text: string;
  /** URL of the author's script, or a made-up one. */
  readonly url: string;
  /** 0-based line of that script on which the text begins. */
  readonly line: number;
}

/** An array under a type of its elements, as a name that all scripts see. */
export interface Binding {
  readonly name: string;
  readonly array: MemRef['array'];
  readonly elem: ElemType;
}

/** A kernel as text, and what the text refers to by number and name. */
export interface Emitted {
  /** The kernel's function first; the others are reached through `$f`. */
  readonly scripts: readonly Script[];
  readonly sites: readonly Site[];
  readonly arrays: readonly Binding[];
  /** Names of the parameters that are plain values, by index; undefined for pointers. */
  readonly parameters: readonly (string | undefined)[];
  /** Whether threads are generators. */
  readonly generator: boolean;
}

/** Names that scripts see besides arrays and parameters. */
export const ENVIRONMENT: readonly string[] = ['$', '$f', 'blockDim', 'gridDim'];
const RESERVED = [...ENVIRONMENT, 'threadIdx', 'blockIdx', 'Math', 'BigInt', 'Number', 'console', 'NaN', 'Infinity'];
/** What may not be a name in JavaScript, as far as a parameter or temporary could be called so. */
const KEYWORDS = new Set(
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield'.split(
    ' ',
  ),
);

class Names {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** A name like the wished one that nobody else has. */
  fresh(wished: string): string {
    const base = wished.replace(/[^\p{ID_Continue}$]/gu, '_').replace(/^(?=\d)|^$/, '_');
    let name = base;
    for (let n = 1; this.#taken.has(name) || KEYWORDS.has(name); n++) name = `${base}$${n}`;
    this.#taken.add(name);
    return name;
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#taken[Symbol.iterator]();
  }
}

/** Node ends the process where `vm.compileFunction` is given a parameter whose name has characters beyond U+FFFF. */
function parameterName(name: string): string {
  return name.replace(/[\u{10000}-\u{10ffff}]/gu, '_');
}

/** Prints a kernel. Pure. `overflow`: whether integers say when they wrap, in checked mode. */
export function emitKernel(kernel: Kernel, overflow = true): Emitted {
  return new KernelEmitter(kernel, overflow && kernel.checked).emit();
}

class KernelEmitter {
  readonly kernel: Kernel;
  readonly sites: Site[] = [];
  readonly arrays: Binding[] = [];
  readonly scripts: Script[] = [];
  readonly parameters: readonly (string | undefined)[];
  readonly globals = new Names(RESERVED);
  readonly exact: ReadonlySet<Expr>;
  readonly #byArray = new Map<string, string>();
  readonly #labels: ReadonlySet<number>;

  constructor(kernel: Kernel, overflow: boolean) {
    this.kernel = kernel;
    this.exact = overflow ? exactOperations(kernel.body) : new Set();
    // All environment names must be known before any function chooses its own.
    const seen = new Set<string>();
    eachMemory(kernel.body, (mem) => {
      const key = `${mem.array.id} ${mem.elem}`;
      if (seen.has(key)) return;
      seen.add(key);
      const { name } = mem.array;
      const binding = this.globals.fresh(parameterName(mem.elem === mem.array.elem ? name : `${name}_${mem.elem}`));
      this.#byArray.set(key, binding);
      this.arrays.push({ name: binding, array: mem.array, elem: mem.elem });
    });
    this.parameters = kernel.params.map(({ type, name }) =>
      type === 'ptr' ? undefined : this.globals.fresh(parameterName(name)),
    );
    this.#labels = waitingLoops(kernel.body);
  }

  emit(): Emitted {
    const { kernel } = this;
    const generator = this.waits(kernel.body);
    this.scripts.length = 1;
    this.scripts[0] = new FunctionEmitter(this, kernel.pos.source, kernel.pos).kernel(kernel, generator);
    return { scripts: this.scripts, sites: this.sites, arrays: this.arrays, parameters: this.parameters, generator };
  }

  /** Whether a thread may stop somewhere in these statements. */
  waits(list: readonly Stmt[]): boolean {
    return hasBarrier(list) || someStmt(list, (s) => s.op === 'warp' || (s.op === 'loop' && this.#labels.has(s.label)));
  }

  mayWait(label: number): boolean {
    return this.#labels.has(label);
  }

  site(site: Site): number {
    return this.sites.push(site) - 1;
  }

  arrayName(mem: MemRef): string {
    return this.#byArray.get(`${mem.array.id} ${mem.elem}`) ?? mem.array.name;
  }
}

class FunctionEmitter implements Naming {
  readonly checked: boolean;
  readonly exact: ReadonlySet<Expr>;
  pos: Pos;
  readonly #kernel: KernelEmitter;
  readonly #names: Names;
  readonly #variables = new Map<Var, string>();
  readonly #out: LineWriter;
  readonly #source: SourceText;
  readonly #apart = new Map<Stmt, Inlined | undefined>();
  #all: Occurrences = new Map();
  /** Loops whose update stands at the end of the body: `continue` leaves an inner block. */
  readonly #trailing = new Set<number>();

  constructor(kernel: KernelEmitter, source: SourceText, start: Pos) {
    this.#kernel = kernel;
    this.checked = kernel.kernel.checked;
    this.exact = kernel.exact;
    this.pos = start;
    this.#source = source;
    this.#names = new Names(kernel.globals);
    this.#out = new LineWriter(source, start.source === source ? start.start : 0);
  }

  kernel(kernel: Kernel, generator: boolean): Script {
    this.#all = occurrences(kernel.body);
    const name = this.#names.fresh(kernel.name);
    this.#out.write(`return function${generator ? '*' : ''} ${name}(threadIdx, blockIdx) {`);
    this.#declare([...this.#own(kernel.body)]);
    this.#list(kernel.body);
    this.#out.write('}');
    return this.#finish();
  }

  inlined(fn: Inlined): Script {
    const { body, takes, gives } = fn;
    const all = occurrences(body.body);
    // What is handed back is read by the function around this one.
    for (const v of takes) all.set(v, (all.get(v) ?? 0) + 1);
    this.#all = all;
    const star = this.#kernel.waits(body.body) ? '*' : '';
    const name = this.#names.fresh(body.inlined ?? 'inlined');
    const taken = takes.map((v) => this.variable(v));
    this.#out.write(`return function${star} ${name}(${['threadIdx', 'blockIdx', ...taken].join(', ')}) {`);
    this.#declare([...this.#own(body.body)].filter((v) => !takes.includes(v)));
    this.#out.write(`L${body.label}: {`);
    this.#list(body.body);
    this.#out.write(`} return [${gives.map((v) => this.variable(v)).join(', ')}]; }`);
    return this.#finish();
  }

  variable(v: Var): string {
    let name = this.#variables.get(v);
    if (name === undefined) {
      name = this.#names.fresh(v.name.replace(/^%/, '$'));
      this.#variables.set(v, name);
    }
    return name;
  }

  parameter(index: number): string {
    return this.#kernel.parameters[index] ?? '0';
  }

  array(mem: MemRef): string {
    return this.#kernel.arrayName(mem);
  }

  site(site: Site): number {
    return this.#kernel.site(site);
  }

  #finish(): Script {
    return { text: this.#out.finish(), url: this.#out.url, line: this.#out.firstLine };
  }

  /** The variables that this function mentions itself or shares with a function that is emitted apart. */
  #own(list: readonly Stmt[], into: Set<Var> = new Set()): Set<Var> {
    for (const s of list) {
      const fn = this.#asFunction(s);
      if (fn !== undefined) {
        for (const v of fn.takes) into.add(v);
        continue;
      }
      for (const v of mentioned(s)) into.add(v);
      for (const inner of stmtLists(s)) this.#own(inner, into);
    }
    return into;
  }

  #asFunction(s: Stmt): Inlined | undefined {
    if (s.op !== 'block' || s.inlined === undefined) return undefined;
    if (!this.#apart.has(s)) this.#apart.set(s, asFunction(s, this.#source, this.#all));
    return this.#apart.get(s);
  }

  #declare(vars: readonly Var[]): void {
    if (vars.length === 0) return;
    const zero = (v: Var): string =>
      v.type === 'bool' ? 'false' : literal(v.type === 'i64' || v.type === 'u64' ? 0n : 0);
    this.#out.write(`let ${vars.map((v) => `${this.variable(v)} = ${zero(v)}`).join(', ')};`);
  }

  #list(list: readonly Stmt[]): void {
    for (const s of list) this.#statement(s);
  }

  #statement(s: Stmt): void {
    this.pos = s.pos;
    const out = this.#out;
    switch (s.op) {
      case 'assign':
      case 'store':
      case 'atomic':
      case 'trap':
        out.write(`${this.#simple(s)};`, s.pos);
        return;
      case 'if':
        out.write(`if (${expression(s.cond, this)}) {`, s.pos);
        this.#list(s.then);
        if (s.else.length > 0) {
          out.write('} else {');
          this.#list(s.else);
        }
        out.write('}');
        return;
      case 'loop':
        this.#loop(s);
        return;
      case 'block':
        this.#block(s);
        return;
      case 'break':
        out.write(`break L${s.label};`, s.pos);
        return;
      case 'continue':
        out.write(this.#trailing.has(s.label) ? `break C${s.label};` : `continue L${s.label};`, s.pos);
        return;
      case 'return':
        out.write('return true;', s.pos);
        return;
      case 'barrier': {
        const site = this.site({ pos: s.pos });
        const result = s.result === undefined ? '' : `${this.variable(s.result)} = `;
        const stop = s.pred === undefined ? `${site}` : `$.vote(${site}, '${s.kind}', ${expression(s.pred, this)})`;
        out.write(`${result}yield ${stop};`, s.pos);
        return;
      }
      case 'warp': {
        const site = this.site({ pos: s.pos });
        const result = s.result === undefined ? '' : `${this.variable(s.result)} = `;
        const mask = s.mask === undefined ? '4294967295' : expression(s.mask, this);
        const args = s.args.map((a) => expression(a, this)).join(', ');
        out.write(`${result}yield $.exchange(${site}, '${s.fn}', ${mask}, [${args}]);`, s.pos);
        return;
      }
      case 'rest':
        out.write(`/* rest ${expression(s.nanoseconds, this)} ns */`, s.pos);
        return;
      case 'fence':
        out.write('$.fence();', s.pos);
        return;
      case 'print': {
        const parts = s.parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : expression(part, this)));
        const args = s.forms?.map((form) => printed(form, parts)) ?? parts;
        out.write(`console.log(${args.join(', ')});`, s.pos);
        return;
      }
      case 'extern':
        throw new Error(`internal error: ${s.fn.name} is of another language`);
      default:
        s satisfies never;
    }
  }

  /** A statement that can be said as an expression. */
  #simple(s: Stmt & { op: 'assign' | 'store' | 'atomic' | 'trap' }): string {
    switch (s.op) {
      case 'assign':
        return `${this.variable(s.var)} = ${expression(s.value, this)}`;
      case 'store': {
        const { site, checks, offset } = access(s.mem, this);
        return [...checks, `${this.array(s.mem)}.set(${site}, ${offset}, ${expression(s.value, this)})`].join(', ');
      }
      case 'atomic': {
        const { site, checks, offset } = access(s.mem, this);
        const args = s.args.map((a) => expression(a, this));
        const call = `${this.array(s.mem)}.update(${[site, offset, `'${s.fn}'`, ...args].join(', ')})`;
        const result = s.result === undefined ? call : `${this.variable(s.result)} = ${call}`;
        const { before, after } = fencesAround(s);
        return [...(before ? ['$.fence()'] : []), ...checks, result, ...(after ? ['$.fence()'] : [])].join(', ');
      }
      case 'trap':
        return `$.trap(${this.site({ pos: s.pos, message: s.message })})`;
    }
  }

  #loop(s: Stmt & { op: 'loop' }): void {
    const out = this.#out;
    // Updates that are expressions go where the author wrote them, into the head of the loop.
    const head = s.update.filter(isSimple);
    const trailing = head.length !== s.update.length;
    const update = trailing ? '' : head.map((inner) => this.#simple(inner)).join(', ');
    out.write(`L${s.label}: for (;;${update && ` ${update}`}) {`, s.pos);
    if (trailing) {
      this.#trailing.add(s.label);
      out.write(`C${s.label}: {`);
    }
    if (this.#kernel.mayWait(s.label)) {
      const state = [...this.#all.keys()].filter((v) => this.#variables.has(v)).map((v) => this.variable(v));
      out.write(`if (--$.fuel < 0) yield $.pause(${this.site({ pos: s.pos })}, [${state.join(', ')}]);`);
    }
    this.#list(s.body);
    if (trailing) {
      out.write('}');
      this.#list(s.update);
    }
    out.write('}');
  }

  #block(s: Stmt & { op: 'block' }): void {
    const out = this.#out;
    const fn = this.#asFunction(s);
    if (fn === undefined) {
      out.write(`L${s.label}: {`, s.pos);
      this.#list(s.body);
      out.write('}');
      return;
    }
    const index = this.#kernel.scripts.push({ text: '', url: '', line: 0 }) - 1;
    const start = fn.body.body.find((inner) => inner.pos.source === fn.source)?.pos ?? s.pos;
    const whole = { source: fn.source, start: 0, end: start.end };
    this.#kernel.scripts[index] = new FunctionEmitter(this.#kernel, fn.source, whole).inlined(fn);
    const star = this.#kernel.waits(s.body) ? '(yield* ' : '';
    const args = ['threadIdx', 'blockIdx', ...fn.takes.map((v) => this.variable(v))];
    const call = `${star}$f[${index}](${args.join(', ')})${star && ')'}`;
    const given = fn.gives.map((v) => this.variable(v));
    out.write(given.length === 0 ? `${call};` : `[${given.join(', ')}] = ${call};`, s.pos);
  }
}

/** The text of an argument of `console.log`; takes from `parts` what it is made of. */
function printed(form: PrintForm, parts: string[]): string {
  if (form === 'value') return parts.shift() ?? 'undefined';
  if (form === 'undefined' || form === 'null') return form;
  if ('number' in form) return form.number;
  if ('text' in form) return `[${form.text.map((x) => printed(x, parts)).join(', ')}].map(String).join('')`;
  if ('characters' in form)
    return `String.fromCodePoint(${parts.splice(0, form.characters).join(', ')}).replace(/\\0+$/, '')`;
  if ('name' in form) return `$.${form.isClass ? 'classNamed' : 'functionNamed'}(${JSON.stringify(form.name)})`;
  const type = form.type === undefined ? undefined : JSON.stringify(form.type);
  if ('items' in form) {
    const items = `[${form.items.map((x) => printed(x, parts)).join(', ')}]`;
    return type === undefined ? items : `$.arrayOf(${type}, ${items})`;
  }
  const fields = `{ ${form.fields.map(([name, x]) => `[${JSON.stringify(name)}]: ${printed(x, parts)}`).join(', ')} }`;
  return type === undefined ? fields : `$.objectOf(${type}, ${fields})`;
}

function isSimple(s: Stmt): s is Stmt & { op: 'assign' | 'store' | 'atomic' | 'trap' } {
  return s.op === 'assign' || s.op === 'store' || s.op === 'atomic' || s.op === 'trap';
}

function eachMemory(list: readonly Stmt[], visit: (mem: MemRef) => void): void {
  const inside = (e: Expr): void => {
    if (e.op === 'load') visit(e.mem);
    for (const part of exprParts(e)) inside(part);
  };
  eachStmt(list, (s) => {
    if (s.op === 'store' || s.op === 'atomic') visit(s.mem);
    for (const e of stmtExprs(s)) inside(e);
  });
}

/**
 * Loops in which a thread may wait for another: they update memory atomically, or read what the kernel also writes.
 */
function waitingLoops(body: readonly Stmt[]): Set<number> {
  const written = new Set<number>();
  eachStmt(body, (s) => {
    if (s.op === 'store' || s.op === 'atomic') written.add(s.mem.array.id);
  });
  const reads = (e: Expr): boolean =>
    (e.op === 'load' && written.has(e.mem.array.id) && e.mem.array.space !== 'local') || exprParts(e).some(reads);
  const labels = new Set<number>();
  eachStmt(body, (s) => {
    if (s.op !== 'loop') return;
    const inside = [...s.body, ...s.update];
    if (someStmt(inside, (inner) => inner.op === 'atomic' || stmtExprs(inner).some(reads))) labels.add(s.label);
  });
  return labels;
}
