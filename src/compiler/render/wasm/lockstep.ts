/**
 * All threads of a block together on symbols, barrier by barrier, while the code is written: indices and conditions are numbers, elements of one shared
 * array are what they were in the beginning, joined by one operation.
 *
 * Nothing is assumed of how a block algorithm is written. Whatever is not understood, may fail, or depends on the order of threads between two barriers
 * is thrown as `Unknown`.
 */
import {
  type ArraySym,
  type BinaryOp,
  ELEM_SIZE,
  type Expr,
  isFloat,
  type MemRef,
  type Stmt,
  type Var,
} from '../../ir/ops.ts';
import {
  COMPARE,
  each,
  isWhole,
  isWord,
  Line,
  lineOf,
  numberOf,
  operation,
  type Scalar,
  split,
  Unknown,
  wrap,
} from './lockstep-numbers.ts';

/** Elements that threads hold, by thread, as nodes; `NONE` where a thread has none. */
export type Nodes = Int32Array;
/** A number is that of all threads. */
export type Value = Scalar | Nodes;

/** What a thread stores elsewhere. */
export interface Effect {
  readonly thread: number;
  readonly store: Stmt & { readonly op: 'store' };
  readonly node: number;
}

export const NONE: number = -(2 ** 31);
/** Readers of an element, if they are several. */
const SEVERAL = -2;
const NOBODY = -1;

/** What does not matter to the result of an operation whose order cannot be told from it; undefined for others. */
export function neutralOf(fn: BinaryOp, type: Expr['type']): number | undefined {
  const [unsigned, float] = [type === 'u32', isFloat(type)];
  switch (fn) {
    case 'add':
    case 'or':
    case 'xor':
      return float ? undefined : 0;
    case 'mul':
      return float ? undefined : 1;
    case 'and':
      return float ? undefined : unsigned ? 2 ** 32 - 1 : -1;
    case 'max':
      return float ? Number.NEGATIVE_INFINITY : unsigned ? 0 : -(2 ** 31);
    case 'min':
      return float ? Number.POSITIVE_INFINITY : unsigned ? 2 ** 32 - 1 : 2 ** 31 - 1;
    default:
      return undefined;
  }
}

/** The same of sums and products of floats, whose order can be told. */
function orderedNeutralOf(fn: BinaryOp, type: Expr['type']): number | undefined {
  if (type !== 'f32') return undefined;
  return fn === 'add' ? -0 : fn === 'mul' ? 1 : undefined;
}

/** Whether elements may be joined by an operation. */
export function isJoin(fn: BinaryOp, type: Expr['type']): boolean {
  return (neutralOf(fn, type) ?? orderedNeutralOf(fn, type)) !== undefined;
}

/** A variable. */
interface Assigned {
  readonly value: Value;
  /** The threads that were given it, and what others hold; undefined where there are no others. */
  readonly threads: Int32Array;
  readonly below: Assigned | undefined;
}

const MISSING: Assigned = { value: Number.NaN, threads: new Int32Array(), below: undefined };

interface Jump {
  readonly op: 'break' | 'continue';
  readonly label: number;
}

export class Lockstep {
  readonly #vars = new Map<number, Assigned>();
  readonly effects: Effect[] = [];
  /** By element: a node. Those below the array's length are elements as they were. */
  readonly memory: Int32Array;
  /** Of further nodes, from the array's length on: the two that are joined. */
  readonly left: number[] = [];
  readonly right: number[] = [];
  /** Elements that were loaded or stored to. */
  readonly touched: Uint8Array;
  fn: BinaryOp | undefined;
  /** By the two that are joined in it, whichever is the first: a node, where the order of operations can be told from the result. */
  readonly #joined = new Map<number, number>();
  readonly #array: ArraySym;
  readonly #width: number;
  readonly #params: ReadonlyMap<number, number>;
  readonly #length: number;
  readonly #constants: number[] = [];
  readonly #writer: Int32Array;
  readonly #reader: Int32Array;
  readonly #all: Int32Array;
  #budget: number;

  /** `params`: values of parameters; `budget`: how much threads may do, all together. */
  constructor(array: ArraySym, width: number, params: ReadonlyMap<number, number>, budget: number) {
    this.#params = params;
    this.#array = array;
    this.#width = width;
    this.#length = array.length ?? 0;
    this.#budget = budget;
    this.#all = new Int32Array(width);
    for (let t = 0; t < width; t++) this.#all[t] = t;
    this.memory = new Int32Array(this.#length);
    for (let k = 0; k < this.#length; k++) this.memory[k] = k;
    this.touched = new Uint8Array(this.#length);
    this.#writer = new Int32Array(this.#length).fill(NOBODY);
    this.#reader = new Int32Array(this.#length).fill(NOBODY);
  }

  /** Where the order of operations can be told, what does not matter to them. */
  get neutral(): number | undefined {
    return this.fn === undefined ? undefined : orderedNeutralOf(this.fn, this.#array.elem as Expr['type']);
  }

  /** The node in which two are joined, where order can be told; `NONE` if there is none. */
  joined(p: number, q: number): number {
    return Object.is(this.constantOf(p), this.neutral) ? q : (this.#joined.get(keyOf(p, q)) ?? NONE);
  }

  /** Runs a list with all threads. */
  run(list: readonly Stmt[]): void {
    if (this.#list(list, this.#all) !== undefined) throw new Unknown();
  }

  /** The elements that threads load somewhere else, with what variables hold now; undefined where that is not known. */
  placesOf(mem: MemRef): readonly number[] | undefined {
    try {
      const places = this.#places(mem, this.#all);
      return Array.from(this.#all, (t) => numberOf(places, t));
    } catch (error) {
      if (error instanceof Unknown) return undefined;
      throw error;
    }
  }

  forget(id: number): void {
    this.#vars.delete(id);
  }

  /** What a variable holds behind a statement, if that is a number. */
  note(s: Stmt & { op: 'assign' }): void {
    try {
      const value = this.#value(s.value, this.#all);
      if (!(value instanceof Int32Array)) this.#assign(s.var, value, this.#all);
      else this.forget(s.var.id);
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
      this.forget(s.var.id);
    }
  }

  /** The value of a node that is a constant. */
  constantOf(node: number): number | undefined {
    return node < 0 && node !== NONE ? this.#constants[-1 - node] : undefined;
  }

  #list(list: readonly Stmt[], threads: Int32Array): Jump | undefined {
    for (const s of list) {
      const jump = this.#statement(s, threads);
      if (jump !== undefined) return jump;
    }
    return undefined;
  }

  #statement(s: Stmt, threads: Int32Array): Jump | undefined {
    this.#spend(1);
    switch (s.op) {
      case 'assign':
        this.#assign(s.var, this.#value(s.value, threads), threads);
        return undefined;
      case 'store':
        if (s.mem.array === this.#array) this.#store(s.mem, this.#value(s.value, threads), threads);
        else this.#effect(s, threads);
        return undefined;
      case 'if':
        return this.#branch(s, threads);
      case 'loop':
        for (;;) {
          this.#spend(1);
          const jump = this.#list(s.body, threads);
          if (jump !== undefined && (jump.op === 'break' || jump.label !== s.label))
            return jump.label === s.label ? undefined : jump;
          if (this.#list(s.update, threads) !== undefined) throw new Unknown();
        }
      case 'block': {
        const jump = this.#list(s.body, threads);
        return jump?.label === s.label ? undefined : jump;
      }
      case 'break':
      case 'continue':
        return { op: s.op, label: s.label };
      case 'barrier':
        if (s.kind !== 'sync' || s.result !== undefined || threads.length !== this.#width) throw new Unknown();
        this.#writer.fill(NOBODY);
        this.#reader.fill(NOBODY);
        return undefined;
      default:
        throw new Unknown();
    }
  }

  #spend(steps: number): void {
    this.#budget -= steps;
    if (this.#budget < 0) throw new Unknown();
  }

  #branch(s: Stmt & { op: 'if' }, threads: Int32Array): Jump | undefined {
    const cond = this.#value(s.cond, threads);
    if (typeof cond === 'number') return this.#list(cond !== 0 ? s.then : s.else, threads);
    if (cond instanceof Int32Array) throw new Unknown();
    this.#spend(threads.length);
    const [yes, no] = split(threads, cond);
    if (no.length === 0) return this.#list(s.then, threads);
    if (yes.length === 0) return this.#list(s.else, threads);
    // Threads that go different ways from here on would have to be followed one by one.
    if (this.#list(s.then, yes) !== undefined || this.#list(s.else, no) !== undefined) throw new Unknown();
    return undefined;
  }

  #assign(v: Var, value: Value, threads: Int32Array): void {
    const below = threads.length === this.#width ? undefined : (this.#vars.get(v.id) ?? MISSING);
    this.#vars.set(v.id, { value, threads, below });
  }

  /** What a variable holds in all threads; undefined where it has not been assigned. */
  valueOf(id: number): Value | undefined {
    const assigned = this.#vars.get(id);
    return assigned && this.#merged(assigned);
  }

  /** What was assigned to some threads, on top of what others hold. */
  #merged({ value, threads, below }: Assigned): Value {
    if (below === undefined) return value;
    const old = this.#merged(below);
    if (value instanceof Int32Array || old instanceof Int32Array) {
      const [merged, from] = [new Int32Array(this.#nodes(old)), this.#nodes(value)];
      for (let k = 0; k < threads.length; k++) merged[threads[k] as number] = from[threads[k] as number] as number;
      return merged;
    }
    const merged = new Float64Array(this.#width);
    for (let t = 0; t < this.#width; t++) merged[t] = numberOf(old, t);
    for (let k = 0; k < threads.length; k++) merged[threads[k] as number] = numberOf(value, threads[k] as number);
    return merged;
  }

  /** Numbers as nodes. */
  #nodes(value: Value): Nodes {
    if (value instanceof Int32Array) return value;
    const nodes = new Int32Array(this.#width);
    for (let t = 0; t < this.#width; t++) {
      const v = numberOf(value, t);
      nodes[t] = Number.isNaN(v) ? NONE : this.constant(v);
    }
    return nodes;
  }

  /** The node of a constant. */
  constant(value: number): number {
    const known = this.#constants.findIndex((c) => Object.is(c, value));
    if (known >= 0) return -1 - known;
    // Numbers of threads are no elements.
    if (this.#constants.length > 8) throw new Unknown();
    return -this.#constants.push(value);
  }

  // -------------------------------------------------------------- memory

  /** The elements of threads, which are there for certain. */
  #places({ array, elem, index, scale, disp, checks }: MemRef, threads: Int32Array): Scalar {
    if (array !== this.#array || elem !== array.elem || scale !== ELEM_SIZE[elem] || disp !== 0) throw new Unknown();
    const inside = (e: Expr, extent: number): Scalar => {
      const value = this.#value(e, threads);
      if (value instanceof Int32Array) throw new Unknown();
      const isInside = (v: number): boolean => v >= 0 && v < extent;
      if (value instanceof Float64Array) {
        for (let k = 0; k < threads.length; k++)
          if (!isInside(value[threads[k] as number] as number)) throw new Unknown();
      } else if (![threads.at(0), threads.at(-1)].every((t = 0) => isInside(numberOf(value, t)))) throw new Unknown();
      return value;
    };
    for (const { index: checked, extent } of checks) {
      if (extent.op !== 'const') throw new Unknown();
      if (checked !== index || Number(extent.value) !== this.#length) inside(checked, Number(extent.value));
    }
    return inside(index, this.#length);
  }

  #load(mem: MemRef, threads: Int32Array): Nodes {
    this.#spend(threads.length);
    const places = this.#places(mem, threads);
    const nodes = new Int32Array(this.#width).fill(NONE);
    for (let k = 0; k < threads.length; k++) {
      const t = threads[k] as number;
      const place = numberOf(places, t);
      const writer = this.#writer[place];
      if (writer !== NOBODY && writer !== t) throw new Unknown();
      const reader = this.#reader[place];
      this.#reader[place] = reader === NOBODY || reader === t ? t : SEVERAL;
      this.touched[place] = 1;
      nodes[t] = this.memory[place] as number;
    }
    return nodes;
  }

  #store(mem: MemRef, value: Value, threads: Int32Array): void {
    this.#spend(threads.length);
    const places = this.#places(mem, threads);
    const nodes = this.#nodes(value);
    for (let k = 0; k < threads.length; k++) {
      const t = threads[k] as number;
      const place = numberOf(places, t);
      const [writer, reader] = [this.#writer[place], this.#reader[place]];
      if ((writer !== NOBODY && writer !== t) || (reader !== NOBODY && reader !== t)) throw new Unknown();
      if (nodes[t] === NONE) throw new Unknown();
      this.#writer[place] = t;
      this.touched[place] = 1;
      this.memory[place] = nodes[t] as number;
    }
  }

  #effect(store: Stmt & { op: 'store' }, threads: Int32Array): void {
    const value = this.#value(store.value, threads);
    const [thread] = threads;
    if (threads.length !== 1 || thread === undefined || !(value instanceof Int32Array)) throw new Unknown();
    this.effects.push({ thread, store, node: value[thread] as number });
  }

  // -------------------------------------------------------------- expressions

  #value(e: Expr, threads: Int32Array): Value {
    switch (e.op) {
      case 'const':
        return Number(e.value);
      case 'param': {
        const value = this.#params.get(e.param);
        if (value === undefined) throw new Unknown();
        return value;
      }
      case 'special':
        if (e.name === 'blockDim.x') return this.#width;
        if (e.name !== 'threadIdx.x') throw new Unknown();
        return new Line(0, 1);
      case 'var': {
        const assigned = this.#vars.get(e.var.id);
        if (assigned === undefined) throw new Unknown();
        if (assigned.threads === threads) return assigned.value;
        const value = this.#merged(assigned);
        // Whoever reads it next asks again whether it has been assigned.
        this.#vars.set(e.var.id, { value, threads: MISSING.threads, below: undefined });
        if (value instanceof Float64Array || value instanceof Int32Array)
          for (let k = 0; k < threads.length; k++) {
            const v = value[threads[k] as number] as number;
            if (Number.isNaN(v) || v === NONE) throw new Unknown();
          }
        return value;
      }
      case 'load':
        return this.#load(e.mem, threads);
      case 'select':
        return this.#select(
          this.#value(e.cond, threads),
          this.#value(e.a, threads),
          this.#value(e.b, threads),
          threads,
        );
      case 'unary': {
        const a = this.#value(e.a, threads);
        if (a instanceof Int32Array) throw new Unknown();
        if (e.fn === 'not' && e.type === 'bool') return each(threads, this.#width, a, 0, (x) => (x === 0 ? 1 : 0));
        if (e.fn === 'not' && isWord(e.type)) return each(threads, this.#width, a, 0, (x) => wrap(e.type, ~x));
        if (e.fn === 'neg' && isWord(e.type)) return each(threads, this.#width, a, 0, (x) => wrap(e.type, -x));
        if (e.fn === 'uniform' && typeof a === 'number') return a;
        throw new Unknown();
      }
      case 'cast': {
        const a = this.#value(e.a, threads);
        if (a instanceof Int32Array || e.to !== e.type || !isWhole(e.type)) throw new Unknown();
        if (!isWhole(e.a.type) && e.a.type !== 'bool') throw new Unknown();
        if (a instanceof Line && this.#fits(a, e.type)) return a;
        return each(threads, this.#width, a, 0, (x) => wrap(e.type, x));
      }
      case 'compare': {
        const [a, b] = [this.#value(e.a, threads), this.#value(e.b, threads)];
        if (a instanceof Int32Array || b instanceof Int32Array) throw new Unknown();
        return each(threads, this.#width, a, b, COMPARE[e.fn]);
      }
      case 'binary': {
        const [a, b] = [this.#value(e.a, threads), this.#value(e.b, threads)];
        if (a instanceof Int32Array || b instanceof Int32Array) return this.#join(e, a, b, threads);
        const { type } = e;
        if (type === 'bool') {
          if (e.fn !== 'and' && e.fn !== 'or' && e.fn !== 'xor') throw new Unknown();
        } else if (!isWhole(type)) throw new Unknown();
        const fn = operation(e.fn, type);
        return this.#line(e.fn, type, a, b) ?? each(threads, this.#width, a, b, (x, y) => wrap(type, fn(x, y)));
      }
      default:
        throw new Unknown();
    }
  }

  #select(cond: Value, a: Value, b: Value, threads: Int32Array): Value {
    if (typeof cond === 'number') return cond !== 0 ? a : b;
    if (cond instanceof Int32Array) throw new Unknown();
    if (!(a instanceof Int32Array) && !(b instanceof Int32Array)) {
      const out = new Float64Array(this.#width).fill(Number.NaN);
      for (let k = 0; k < threads.length; k++) {
        const t = threads[k] as number;
        out[t] = numberOf(numberOf(cond, t) !== 0 ? a : b, t);
      }
      return out;
    }
    const [out, x, y] = [new Int32Array(this.#width).fill(NONE), this.#nodes(a), this.#nodes(b)];
    for (let k = 0; k < threads.length; k++) {
      const t = threads[k] as number;
      out[t] = (numberOf(cond, t) !== 0 ? x : y)[t] as number;
    }
    return out;
  }

  /** Sums and multiples of lines, where nothing wraps on the way. */
  #line(fn: BinaryOp, type: Expr['type'], a: Scalar, b: Scalar): Line | undefined {
    const [p, q] = [lineOf(a), lineOf(b)];
    if (p === undefined || q === undefined || (p.step === 0 && q.step === 0)) return undefined;
    let line: Line;
    if (fn === 'add') line = new Line(p.first + q.first, p.step + q.step);
    else if (fn === 'sub') line = new Line(p.first - q.first, p.step - q.step);
    else if (fn === 'mul' && q.step === 0) line = new Line(p.first * q.first, p.step * q.first);
    else if (fn === 'mul' && p.step === 0) line = new Line(q.first * p.first, q.step * p.first);
    else return undefined;
    return this.#fits(line, type) ? line : undefined;
  }

  #fits(line: Line, type: Expr['type']): boolean {
    const [least, most] = type === 'u32' || type === 'u64' ? [0, 2 ** 32 - 1] : [-(2 ** 31), 2 ** 31 - 1];
    return [0, this.#width - 1].every((t) => numberOf(line, t) >= least && numberOf(line, t) <= most);
  }

  #join({ fn, type }: Expr & { op: 'binary' }, a: Value, b: Value, threads: Int32Array): Nodes {
    const ordered = orderedNeutralOf(fn, type);
    const neutral = type === this.#array.elem ? (ordered ?? neutralOf(fn, type)) : undefined;
    if (neutral === undefined) throw new Unknown();
    const [x, y] = [this.#nodes(a), this.#nodes(b)];
    const out = new Int32Array(this.#width).fill(NONE);
    for (let k = 0; k < threads.length; k++) {
      const t = threads[k] as number;
      const [p, q] = [x[t] as number, y[t] as number];
      if (Object.is(this.constantOf(p), neutral)) out[t] = q;
      else if (Object.is(this.constantOf(q), neutral)) out[t] = p;
      else {
        const [low, high] = [Math.min(p, q), Math.max(p, q)];
        // Where order can be told, the root of a tree is joined with others.
        const isElement = (ordered === undefined ? low : high) >= 0 && low !== NONE;
        if (!isElement || (this.fn !== undefined && this.fn !== fn)) throw new Unknown();
        this.fn = fn;
        const known = ordered === undefined ? undefined : this.#joined.get(keyOf(p, q));
        out[t] = known ?? this.#length + this.left.push(p) - 1;
        if (known !== undefined) continue;
        this.right.push(q);
        if (ordered !== undefined) this.#joined.set(keyOf(p, q), out[t] as number);
      }
    }
    return out;
  }
}

/** Of two nodes, whichever comes first. */
function keyOf(p: number, q: number): number {
  return Math.min(p, q) * 2 ** 21 + Math.max(p, q);
}
