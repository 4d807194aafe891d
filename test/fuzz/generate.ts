/**
 * Random programs: statements, control flow, barriers with exchanges through shared memory, and the arrays that they use.
 *
 * Between two barriers a shared array is either written, each thread its own elements, or read by all. Barriers stand only where
 * all threads of a block come: at the top, and in loops and branches on uniform values.
 */
import { type Env, Expressions, type Variable } from './expressions.ts';
import {
  type ArrayDecl,
  type AtomicOp,
  type BinOp,
  type Case,
  count,
  ELEMS,
  type Elem,
  type Expr,
  type FuncDecl,
  isBig,
  isFloat,
  type Layout,
  type Place,
  type Program,
  type Stmt,
  TYPES,
  type Ty,
  type Val,
  widened,
} from './program.ts';
import { Random, randomValue } from './random.ts';

const LAYOUTS: readonly Layout[] = ['C', 'C', 'C', 'F', 'reversed', 'stepped', 'transposed', 'bytes'];
function kindOf(t: Ty): 'int' | 'float' | 'bool' {
  return t === 'bool' ? 'bool' : isFloat(t) ? 'float' : 'int';
}

const COMPOUND: Readonly<Record<'int' | 'float' | 'bool', readonly BinOp[]>> = {
  int: ['add', 'sub', 'mul', 'rem', 'and', 'or', 'xor', 'shl', 'shr'],
  float: ['add', 'sub', 'mul', 'div'],
  bool: ['and', 'or'],
};

/** Where the generator is: what can be named, and what can be jumped out of. */
interface Where {
  readonly scope: Variable[];
  /** The variables declared in this very block, which may change their type here. */
  readonly declared: Set<Variable>;
  readonly loops: readonly { readonly label: string | undefined }[];
  /** Whether an unlabelled break leaves a switch. */
  readonly inSwitch: boolean;
  readonly depth: number;
  readonly fn: FuncDecl['result'] | undefined;
  /** In a part of an `if`, where a jump leaves code that can be reached behind it. */
  readonly branch: boolean;
}

/** Programs smaller than this many times the usual size. */
export interface Size {
  readonly scale: number;
}

function isShared(a: ArrayDecl): boolean {
  return a.space === 'shared' || a.space === 'dynamic';
}

function isWordElem(e: Elem): boolean {
  return e === 'i32' || e === 'u32' || e === 'i64' || e === 'u64';
}

/** Atomic operations that come to the same in any order, if there is one of them alone. */
function orderless(t: Elem): AtomicOp[] {
  if (isFloat(t)) return ['min', 'max', 'nanMin', 'nanMax', 'add', 'sub'];
  const ops: AtomicOp[] = ['add', 'sub', 'and', 'or', 'xor', 'min', 'max', 'nanMin', 'nanMax'];
  return t === 'u32' || t === 'u64' ? [...ops, 'inc', 'dec'] : ops;
}

class Generator {
  readonly r: Random;
  readonly e: Expressions;
  readonly seed: number;
  private names = 0;
  private arrays: ArrayDecl[] = [];
  private scalars: Program['scalars'] = [];
  private functions: FuncDecl[] = [];
  private readonly block: readonly [number, number];
  private readonly grid: number;
  /** Shared arrays that are read by all in this phase; the others are written by their owners. */
  private shared = new Set<ArrayDecl>();
  private budget: number;

  constructor(seed: number, size: Size) {
    this.seed = seed;
    this.r = new Random(seed);
    this.e = new Expressions(this.r);
    const { r } = this;
    this.budget = Math.ceil((4 + r.below(22)) * size.scale);
    this.block = r.weighted<readonly [number, number]>([
      [3, [r.pick([1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32]), 1]],
      [1, [r.pick([33, 64]), 1]],
      [
        2,
        r.pick([
          [4, 2],
          [8, 2],
          [3, 3],
          [5, 2],
          [16, 2],
          [1, 4],
          [2, 4],
        ] as const),
      ],
    ]);
    this.grid = r.pick([1, 2, 3, 4]);
  }

  private get blockThreads(): number {
    return this.block[0] * this.block[1];
  }

  private get threads(): number {
    return this.blockThreads * this.grid;
  }

  private name(prefix: string): string {
    return `${prefix}${this.names++}`;
  }

  private power(atLeast: number): number {
    return 2 ** Math.ceil(Math.log2(Math.max(atLeast, 1)));
  }

  // -------------------------------------------------------------- arrays

  private declare(space: ArrayDecl['space'], elem: Elem, n: number, data: boolean): ArrayDecl {
    const { r } = this;
    const rank2 = n >= 4 && r.chance(0.3) && space !== 'dynamic';
    const inner = 2 ** (1 + r.below(Math.max(Math.log2(n) - 1, 1)));
    const global = space === 'in' || space === 'out' || space === 'atomic';
    const layout = !global ? 'C' : space === 'in' && r.chance(0.1) ? 'broadcast' : r.pick(LAYOUTS);
    const shape = rank2 ? [n / inner, inner] : [n];
    const values = data ? this.e.values(elem, n) : [];
    const columns = shape[shape.length - 1] ?? 1;
    const own =
      layout === 'broadcast' ? values.map((_, i) => values[shape.length === 2 ? i % columns : 0] as Val) : values;
    const array: ArrayDecl = {
      name: this.name({ in: 'a', out: 'y', shared: 'sh', dynamic: 'dyn', local: 'l', const: 'c', atomic: 'z' }[space]),
      elem,
      shape,
      space,
      layout,
      data: own,
    };
    this.arrays.push(array);
    return array;
  }

  private declareArguments(): void {
    const { r } = this;
    for (let i = 1 + r.below(4); i > 0; i--)
      this.declare(
        'in',
        r.pick(ELEMS),
        this.power(r.chance(0.6) ? this.threads * r.pick([1, 1, 2]) : r.pick([4, 8, 16, 64])),
        true,
      );
    for (let i = 1 + r.below(3); i > 0; i--)
      this.declare('out', r.pick(ELEMS), this.power(this.threads * r.pick([1, 1, 1, 2])), true);
    if (r.chance(0.3)) this.declare('const', r.pick(ELEMS), r.pick([4, 8, 32]), true);
    this.scalars = Array.from({ length: r.below(4) }, () => {
      const t = r.pick(ELEMS);
      return { name: this.name('n'), t, v: randomValue(r, t) };
    });
  }

  // -------------------------------------------------------------- scopes

  private env(w: Where, uniform = false): Env {
    const arrays = this.arrays;
    return {
      vars: w.scope,
      readable: arrays.filter(
        (a) =>
          a.space === 'in' ||
          a.space === 'const' ||
          (w.fn === undefined && !uniform && (this.shared.has(a) || a.space === 'local')),
      ),
      own:
        w.fn !== undefined
          ? []
          : arrays.filter((a) => a.space === 'out' || (isShared(a) && !this.shared.has(a) && !this.atomics.has(a))),
      scalars: this.scalars,
      functions: this.functions,
      uniform,
      asserted: w.fn === undefined ? [...this.shared] : [],
      inKernel: w.fn === undefined,
      threads: this.threads,
      blockThreads: this.blockThreads,
    };
  }

  /** Shared arrays that are updated atomically in this phase, and how. */
  private readonly atomics = new Map<ArrayDecl, AtomicOp>();

  private inner(w: Where, change: Partial<Where> = {}): Where {
    return { ...w, scope: [...w.scope], declared: new Set(), depth: w.depth + 1, branch: false, ...change };
  }

  private expr(t: Ty, w: Where, depth = this.r.below(4)): Expr {
    return this.e.expr(t, this.env(w), depth);
  }

  // -------------------------------------------------------------- statements

  /** `n` statements without barriers. */
  private list(n: number, w: Where): Stmt[] {
    const list: Stmt[] = [];
    for (let i = 0; i < n && this.budget > 0; i++) {
      this.budget--;
      list.push(...this.statement(w));
      const last = list.at(-1);
      if (last?.k === 'break' || last?.k === 'continue' || last?.k === 'return') break;
    }
    return list;
  }

  private statement(w: Where): Stmt[] {
    const { r } = this;
    const deep = w.depth > 3;
    const inKernel = w.fn === undefined;
    const options: [number, () => Stmt[]][] = [
      [5, () => [this.let(w)]],
      [5, () => this.set(w)],
      [inKernel ? 6 : 0, () => this.store(w)],
      [inKernel ? 1 : 0, () => this.bump(w)],
      [deep ? 0 : 3, () => [this.if(w)]],
      [deep ? 0 : 2, () => [this.loop(w)]],
      [deep ? 0 : 1, () => [this.while(w)]],
      [deep ? 0 : 1, () => [this.switch(w)]],
      [inKernel ? 1.5 : 0, () => this.atomic(w)],
      [w.loops.length > 0 ? 1.5 : 0, () => this.jump(w)],
      [w.depth > 0 && w.depth <= 2 && (inKernel ? r.chance(0.3) : true) ? 0.5 : 0, () => [this.return(w)]],
    ];
    return r.weighted(options)();
  }

  private return(w: Where): Stmt {
    const leave: Stmt = w.fn === undefined ? { k: 'return' } : { k: 'return', value: this.expr(w.fn, w) };
    return w.branch ? leave : { k: 'if', c: this.e.bool(this.env(w), 1), then: [leave], else: [] };
  }

  private let(w: Where): Stmt {
    const t = this.r.pick(TYPES);
    const value = this.expr(t, w);
    const variable: Variable = { name: this.name('v'), t, uniform: false, fixed: false };
    w.scope.push(variable);
    w.declared.add(variable);
    return { k: 'let', name: variable.name, value };
  }

  private set(w: Where): Stmt[] {
    const { r } = this;
    const vars = w.scope.filter((v) => !v.fixed);
    if (vars.length === 0) return [this.let(w)];
    const v = r.pick(vars);
    // In its own block a name may be used again with another type.
    if (w.declared.has(v) && r.chance(0.1)) {
      const t = r.pick(TYPES);
      const value = this.expr(t, w);
      v.t = t;
      return [{ k: 'set', name: v.name, t, value }];
    }
    const op = r.chance(0.4) ? r.pick(COMPOUND[kindOf(v.t)]) : undefined;
    return [{ k: 'set', name: v.name, t: v.t, ...(op && { op }), value: this.compoundOperand(v.t, op, w) }];
  }

  private compoundOperand(t: Ty, op: BinOp | undefined, w: Where): Expr {
    if (op === 'shl' || op === 'shr')
      return { t, k: 'lit', v: isBig(t) ? BigInt(this.r.below(64)) : this.r.below(32), weak: true };
    const value = op === undefined || t === 'bool' ? this.expr(t, w) : this.e.operand(t, this.env(w), 2);
    // `x |= 0` is a conversion.
    return op === 'or' && value.k === 'lit' && value.weak && Number(value.v) === 0 ? this.expr(t, w, 0) : value;
  }

  private store(w: Where): Stmt[] {
    const { r } = this;
    const env = this.env(w);
    const locals = this.arrays.filter((a) => a.space === 'local');
    const targets = [...env.own, ...locals];
    const array = r.pick(targets);
    if (array === undefined) return [];
    const at: Place = array.space === 'local' ? this.e.anywhere(array, env, 0) : this.e.own(array, env);
    const t = widened(array.elem);
    if (t !== 'bool' && !isFloat(t) && r.chance(0.15)) {
      const from = r.pick(['f32', 'f64'] as const);
      const round = r.pick(['floor', 'ceil', 'trunc', 'round', 'rint'] as const);
      return [{ k: 'store', array, at, value: { t: from, k: 'un', op: round, a: this.expr(from, w, 2) } }];
    }
    const op = r.chance(0.3) ? r.pick(COMPOUND[kindOf(t)]) : undefined;
    return [{ k: 'store', array, at, ...(op && { op }), value: this.compoundOperand(t, op, w) }];
  }

  private bump(w: Where): Stmt[] {
    const { r } = this;
    const env = this.env(w);
    const array = r.pick(env.own.filter((a) => a.elem !== 'bool'));
    if (array === undefined) return this.store(w);
    const variable: Variable = { name: this.name('b'), t: widened(array.elem), uniform: false, fixed: true };
    const at = this.e.own(array, env);
    w.scope.push(variable);
    return [{ k: 'bump', name: variable.name, array, at, up: r.chance(0.5), prefix: r.chance(0.5) }];
  }

  private if(w: Where): Stmt {
    const c = this.e.bool(this.env(w, this.r.chance(0.15)), 2);
    return {
      k: 'if',
      c,
      then: this.list(1 + this.r.below(3), this.inner(w, { branch: true })),
      else: this.r.chance(0.4) ? this.list(1 + this.r.below(2), this.inner(w, { branch: true })) : [],
    };
  }

  private counter(uniform: boolean): {
    readonly variable: Variable;
    readonly from: number;
    readonly to: number;
    readonly step: number;
  } {
    const { r } = this;
    const [from, to, step] = r.weighted<readonly [number, number, number]>([
      [4, [0, 1 + r.below(5), 1]],
      [1, [r.below(5), -1, -1]],
      [1, [-2, 6, 2 + r.below(2)]],
      [1, [5, -6, -4]],
    ]);
    const variable: Variable = {
      name: this.name('it'),
      t: 'i32',
      uniform,
      fixed: true,
      ...(from === 0 && step === 1 && { below: to }),
    };
    return { variable, from, to, step };
  }

  private loop(w: Where): Stmt {
    const { variable, ...bounds } = this.counter(false);
    const label = this.r.chance(0.4) ? this.name('loop') : undefined;
    const body = this.inner(w, { loops: [...w.loops, { label }], inSwitch: false });
    body.scope.push(variable);
    return {
      k: 'for',
      name: variable.name,
      ...bounds,
      ...(label && { label }),
      body: this.list(1 + this.r.below(3), body),
    };
  }

  private while(w: Where): Stmt {
    const { r } = this;
    const label = r.chance(0.3) ? this.name('loop') : undefined;
    const c = this.e.bool(this.env(w), 2);
    const body = this.list(1 + r.below(3), this.inner(w, { loops: [...w.loops, { label }], inSwitch: false }));
    return {
      k: 'while',
      fuelName: this.name('fuel'),
      fuel: 1 + r.below(5),
      post: r.chance(0.5),
      c,
      ...(label && { label }),
      body,
    };
  }

  private switch(w: Where): Stmt {
    const { r } = this;
    const tests: (number | undefined)[] = [0, 1, 2, 3, 5, undefined]
      .filter(() => r.chance(0.6))
      .sort(() => r.unit() - 0.5);
    const t = r.pick<Ty>(['i32', 'i32', 'u32']);
    const on: Expr = { t, k: 'bin', op: 'and', a: this.expr(t, w, 1), b: { t, k: 'lit', v: 7, weak: true } };
    const cases = (tests.length > 0 ? tests : [1]).map((test): Case => {
      const body = this.list(r.below(3), this.inner(w, { inSwitch: true }));
      return { test, body, falls: r.chance(0.3) };
    });
    return { k: 'switch', on, cases };
  }

  private jump(w: Where): Stmt[] {
    const { r } = this;
    const k = r.pick(['break', 'continue'] as const);
    const labels = w.loops.flatMap((l) => l.label ?? []);
    const label = labels.length > 0 && r.chance(0.6) ? r.pick(labels) : undefined;
    const jump: Stmt = { k, ...(label && { label }) };
    if (r.chance(0.1)) return [jump];
    const env = this.env(w, r.chance(0.2));
    return [
      { k: 'if', c: this.e.bool(env, 2), then: [...(r.chance(0.4) ? this.set(this.inner(w)) : []), jump], else: [] },
    ];
  }

  /** An atomic update of an element that is the thread's alone, whose old value is used. */
  private atomic(w: Where): Stmt[] {
    const { r } = this;
    const env = this.env(w);
    const able = env.own.filter((a) => ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'].includes(a.elem));
    const shared = able.filter(isShared);
    const array = r.pick(shared.length > 0 && r.chance(0.7) ? shared : able);
    if (array === undefined) return this.store(w);
    const t = widened(array.elem);
    const ops: AtomicOp[] = ['add', 'sub', 'min', 'max', 'nanMin', 'nanMax'];
    if (!isFloat(t)) ops.push('and', 'or', 'xor', 'exch', 'cas');
    if (t === 'u32' || t === 'u64') ops.push('inc', 'dec');
    const op = r.pick(ops);
    const at = this.e.own(array, env);
    const args = [this.expr(t, w, 2), ...(op === 'cas' ? [this.expr(t, w, 1)] : [])];
    // So that some comparisons come out equal.
    if (op === 'cas' && r.chance(0.6)) args[0] = { t, k: 'load', array, at };
    if (!r.chance(0.6)) return [{ k: 'atomic', op, array, at, args }];
    const variable: Variable = { name: this.name('old'), t, uniform: false, fixed: true };
    w.scope.push(variable);
    return [{ k: 'atomic', op, array, at, args, name: variable.name }];
  }

  // -------------------------------------------------------------- memory of the kernel

  private initialise(array: ArrayDecl, w: Where): Stmt[] {
    const t = widened(array.elem);
    const env = this.env(w);
    if (array.space === 'local') {
      if (array.shape.length === 1) {
        const variable: Variable = { name: this.name('it'), t: 'i32', uniform: true, fixed: true, below: count(array) };
        const value = this.e.expr(
          t,
          { ...env, readable: env.readable.filter((a) => a !== array), vars: [...env.vars, variable] },
          2,
        );
        return [
          {
            k: 'for',
            name: variable.name,
            from: 0,
            to: count(array),
            step: 1,
            body: [{ k: 'store', array, at: { form: 'counter', name: variable.name }, value }],
          },
        ];
      }
      return Array.from(
        { length: count(array) },
        (_, i): Stmt => ({ k: 'store', array, at: this.element(array, i), value: this.e.literal(t) }),
      );
    }
    // Powers of two are less than twice the threads: each thread has one element, or two.
    const n = count(array);
    const ids = this.blockThreads;
    const value = (): Expr =>
      this.e.expr(
        t,
        { ...env, own: env.own.filter((a) => a !== array), readable: env.readable.filter((a) => a !== array) },
        2,
      );
    const list: Stmt[] = [
      { k: 'store', array, at: { form: 'own', scale: 1, offset: 0, reverse: false }, value: value() },
    ];
    if (n > ids) {
      const id: Expr = { t: 'i32', k: 'thread', what: 't' };
      const limit: Expr = { t: 'i32', k: 'lit', v: n - ids };
      list.push({
        k: 'if',
        c: { t: 'bool', k: 'cmp', op: 'lt', a: id, b: limit },
        then: [{ k: 'store', array, at: this.shifted(array, ids), value: value() }],
        else: [],
      });
    }
    return list;
  }

  /** Element t + by of a shared array. */
  private shifted(array: ArrayDecl, by: number): Place {
    const at: Expr = {
      t: 'i32',
      k: 'bin',
      op: 'add',
      a: { t: 'i32', k: 'thread', what: 't' },
      b: { t: 'i32', k: 'lit', v: by, weak: true },
    };
    if (array.shape.length === 1) return { form: 'any', index: [at] };
    const inner = Math.log2(array.shape[1] ?? 1);
    return {
      form: 'any',
      index: [{ t: 'i32', k: 'bin', op: 'shr', a: at, b: { t: 'i32', k: 'lit', v: inner, weak: true } }, at],
    };
  }

  private element(array: ArrayDecl, i: number): Place {
    const lit = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
    if (array.shape.length === 1) return { form: 'any', index: [lit(i)] };
    const inner = array.shape[1] ?? 1;
    return { form: 'any', index: [lit(Math.floor(i / inner)), lit(i % inner)] };
  }

  // -------------------------------------------------------------- phases

  private sharedArrays(): ArrayDecl[] {
    return this.arrays.filter(isShared);
  }

  /** A barrier, after which each shared array is read by all, written by its owners, or updated by all. */
  private barrier(w: Where): Stmt[] {
    const { r } = this;
    let list: Stmt[] = [{ k: 'barrier' }];
    if (r.chance(0.3)) {
      const variable: Variable = { name: this.name('vote'), t: 'i32', uniform: true, fixed: true };
      list = [
        {
          k: 'vote',
          kind: r.pick(['Count', 'And', 'Or'] as const),
          name: variable.name,
          pred: this.e.bool(this.env(w), 2),
        },
      ];
      w.scope.push(variable);
      list.push(...this.tell(variable, w));
    }
    this.shared.clear();
    this.atomics.clear();
    for (const a of this.sharedArrays()) {
      if (r.chance(0.6)) this.shared.add(a);
      else if (r.chance(0.4) && isWordElem(a.elem)) this.atomics.set(a, r.pick(orderless(a.elem)));
    }
    return list;
  }

  /** Lets the outcome of a vote be seen. */
  private tell(vote: Variable, w: Where): Stmt[] {
    const array = this.r.pick(this.arrays.filter((a) => a.space === 'out'));
    const value: Expr = {
      t: widened(array.elem),
      k: 'cast',
      to: array.elem,
      a: { t: 'i32', k: 'var', name: vote.name },
    };
    const op = this.r.pick(COMPOUND[kindOf(value.t)]);
    const at = this.e.own(array, this.env(w));
    return [{ k: 'store', array, at, ...(op !== 'rem' && op !== 'shl' && op !== 'shr' && { op }), value }];
  }

  /** Statements that all threads of a block reach, with barriers among them. */
  private phases(n: number, w: Where, nesting: number): Stmt[] {
    const { r } = this;
    const list: Stmt[] = [];
    for (let i = 0; i < n; i++) {
      list.push(...this.list(1 + r.below(4), w));
      if (list.at(-1)?.k === 'return') list.pop();
      if (r.chance(0.5)) {
        list.push(this.share(w), ...this.list(1 + r.below(2), w));
        if (list.at(-1)?.k === 'return') list.pop();
      }
      list.push(...this.updates(w));
      if (nesting === 0 && r.chance(0.12))
        list.push({ k: 'if', c: this.e.bool(this.env(w), 2), then: [{ k: 'return' }], else: [] });
      list.push(...this.barrier(w));
      if (nesting < 2 && r.chance(0.3)) list.push(...this.nested(w, nesting));
    }
    return list;
  }

  /** Gives a variable of the whole block a value, where the whole block comes. */
  private share(w: Where): Stmt {
    const { r } = this;
    const known = w.scope.filter((v) => v.shared);
    if (known.length > 0 && r.chance(0.7)) {
      const v = r.pick(known);
      const op = v.t !== 'bool' && r.chance(0.5) ? r.pick(['add', 'sub', 'mul'] as const) : undefined;
      return { k: 'set', name: v.name, t: v.t, ...(op && { op }), value: this.e.expr(v.t, this.env(w, true), 2) };
    }
    const t = r.pick(TYPES);
    const value = this.e.expr(t, this.env(w, true), 2);
    const variable: Variable = { name: this.name('same'), t, uniform: true, fixed: true, shared: true };
    w.scope.push(variable);
    return { k: 'let', name: variable.name, value };
  }

  /** A uniform branch or loop around barriers. It begins and ends with one, as it may be skipped. */
  private nested(w: Where, nesting: number): Stmt[] {
    const { r } = this;
    if (r.chance(0.5)) {
      const c = this.e.bool(this.env(w, true), 2);
      const branch = (): Stmt[] => {
        const inner = this.inner(w);
        return [...this.barrier(inner), ...this.phases(1, inner, nesting + 1)];
      };
      const s: Stmt = { k: 'if', c, then: branch(), else: r.chance(0.3) ? branch() : [] };
      return [s, ...this.barrier(w)];
    }
    const { variable, ...bounds } = this.counter(true);
    const inner = this.inner(w);
    inner.scope.push(variable);
    const body = [...this.barrier(inner), ...this.phases(1, inner, nesting + 1)];
    return [{ k: 'for', name: variable.name, ...bounds, body }, ...this.barrier(w)];
  }

  /** Atomic updates by all threads, in an order that does not matter: one operation an array, results unused. */
  private updates(w: Where): Stmt[] {
    const { r } = this;
    if (!r.chance(0.35)) return [];
    const global = this.arrays.filter((a) => a.space === 'atomic');
    if (global.length === 0 && r.chance(0.7)) global.push(this.declareCounter());
    const array = r.pick([...global, ...this.atomics.keys()]);
    if (array === undefined) return [];
    const t = widened(array.elem);
    if (array.space === 'atomic' && !this.commutative.has(array)) this.commutative.set(array, r.pick(orderless(t)));
    const op = this.commutative.get(array) ?? this.atomics.get(array) ?? 'add';
    const env = this.env(w);
    const at: Place = { form: 'any', index: array.shape.map(() => this.e.expr('i32', env, 1)) };
    return [this.guarded({ k: 'atomic', op, array, at, args: [this.addend(t, op, w)] }, w)];
  }

  /** A global array for all threads to update. Floats are small and whole, so that their sums are exact in any order. */
  private declareCounter(): ArrayDecl {
    const { r } = this;
    const elem = r.pick(['i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const);
    const array = this.declare('atomic', elem, r.pick([1, 2, 8]), true);
    if (!isFloat(elem)) return array;
    const small: ArrayDecl = { ...array, data: array.data.map(() => r.below(100) - 50) };
    this.arrays[this.arrays.indexOf(array)] = small;
    return small;
  }

  private guarded(s: Stmt, w: Where): Stmt {
    return this.r.chance(0.4) ? { k: 'if', c: this.e.bool(this.env(w), 1), then: [s], else: [] } : s;
  }

  private readonly commutative = new Map<ArrayDecl, AtomicOp>();

  /** What does not depend on order: small whole floats, sums of which are exact, without -0; one limit for inc and dec. */
  private addend(t: Ty, op: AtomicOp, w: Where): Expr {
    if (op === 'inc' || op === 'dec') return { t, k: 'lit', v: t === 'u64' ? 5n : 5 };
    if (!isFloat(t)) return this.expr(t, w, 2);
    return { t, k: 'cast', to: t, a: { t: 'i32', k: 'cast', to: 'i8', a: this.expr('i32', w, 2) } };
  }

  // -------------------------------------------------------------- the program

  private function(): void {
    const { r } = this;
    const params = Array.from({ length: 1 + r.below(3) }, () => ({ name: this.name('p'), t: r.pick(TYPES) }));
    const result = r.pick(TYPES);
    const scope = params.map((p): Variable => ({ ...p, uniform: false, fixed: false }));
    const w: Where = { scope, declared: new Set(), loops: [], inSwitch: false, depth: 0, fn: result, branch: false };
    const body = this.list(r.below(4), w);
    if (body.at(-1)?.k !== 'return') body.push({ k: 'return', value: this.expr(result, w, 2) });
    this.functions.push({ name: this.name('fn'), params, body, result });
  }

  program(): Program {
    const { r } = this;
    this.declareArguments();
    for (let i = r.below(3); i > 0; i--) this.function();
    const w: Where = {
      scope: [],
      declared: new Set(),
      loops: [],
      inSwitch: false,
      depth: 0,
      fn: undefined,
      branch: false,
    };
    const body: Stmt[] = [];
    const barriers = r.chance(0.45);
    body.push(...this.list(1 + r.below(3), w));
    if (body.at(-1)?.k === 'return') body.pop();
    if (r.chance(0.5)) body.push(...this.initialise(this.declare('local', r.pick(ELEMS), r.pick([2, 4, 8]), false), w));
    if (barriers) {
      const made: ArrayDecl[] = [];
      for (let i = 1 + r.below(2); i > 0; i--)
        made.push(
          this.declare(
            made.length === 0 && r.chance(0.2) ? 'dynamic' : 'shared',
            r.pick(ELEMS),
            this.power(this.blockThreads),
            false,
          ),
        );
      for (const a of made) this.shared.add(a);
      // While they are filled nobody reads them.
      const hidden = this.arrays;
      for (const a of made) {
        this.arrays = hidden.filter((x) => !made.includes(x));
        body.push(...this.initialise(a, w));
      }
      this.arrays = hidden;
      body.push(...this.barrier(w));
      this.budget += 6;
      body.push(...this.phases(1 + r.below(3), w, 0));
    }
    this.budget = Math.max(this.budget, 3);
    body.push(...this.list(1 + r.below(5), w));
    if (!barriers) body.push(...this.updates(w));
    body.push(...this.results(w));
    // One thread reaches beyond an array. Every fourth program is compiled without checks.
    if (this.seed % 4 !== 0 && r.chance(0.12)) body.splice(r.below(body.length), 0, this.mistake());
    return {
      seed: this.seed,
      grid: this.grid,
      block: this.block,
      indexBits: r.chance(0.15) ? 64 : 32,
      arrays: this.arrays,
      scalars: this.scalars,
      functions: this.functions,
      body,
    };
  }

  /** An access that is out of range in one thread. */
  private mistake(): Stmt {
    const { r } = this;
    const word = (v: number): Expr => ({ t: 'i32', k: 'lit', v });
    const id: Expr = { t: 'i32', k: 'thread', what: 'k' };
    const beyond = (n: number): Expr => ({ t: 'i32', k: 'bin', op: 'add', a: id, b: word(n) });
    // All threads read along an array, and the last ones beyond it: a whole vector may have to be told from its last lane.
    const rows = this.arrays.filter((a) => a.space === 'in' && a.shape.length === 1);
    if (rows.length > 0 && r.chance(0.4)) {
      const array = r.pick(rows);
      const first = count(array) - r.below(this.threads);
      const sum: Expr = { t: 'i32', k: 'bin', op: 'add', a: id, b: { t: 'i32', k: 'lit', v: first, weak: true } };
      const value: Expr = { t: widened(array.elem), k: 'load', array, at: { form: 'raw', index: [sum] } };
      return { k: 'let', name: this.name('v'), value };
    }
    const array = r.pick(this.arrays.filter((a) => a.space === 'out' || a.space === 'local'));
    const bad = r.below(array.shape.length);
    const index = array.shape.map(
      (n, d): Expr =>
        d !== bad
          ? word(0)
          : r.pick([
              word(n),
              word(-1),
              word(n + r.below(1000)),
              { t: 'i32', k: 'bin', op: 'and', a: beyond(n), b: { t: 'i32', k: 'lit', v: -1, weak: true } },
              beyond(n),
              // The extent itself, in a way that bounds it by the extent.
              {
                t: 'i32',
                k: 'bin',
                op: 'and',
                a: { t: 'i32', k: 'bin', op: 'sub', a: beyond(n), b: id },
                b: { t: 'i32', k: 'lit', v: n, weak: true },
              },
            ]),
    );
    const c: Expr = {
      t: 'bool',
      k: 'cmp',
      op: 'eq',
      a: { t: 'i32', k: 'thread', what: 'k' },
      b: word(r.below(this.threads)),
    };
    const at: Place = { form: 'raw', index };
    const t = widened(array.elem);
    const store: Stmt = { k: 'store', array, at, value: this.e.literal(t) };
    const load: Stmt = { k: 'let', name: this.name('v'), value: { t, k: 'load', array, at } };
    return { k: 'if', c, then: [r.chance(0.5) ? store : load], else: [] };
  }

  /** Stores that make what has been computed visible. */
  private results(w: Where): Stmt[] {
    const env = this.env(w);
    return this.arrays
      .filter((a) => a.space === 'out')
      .map(
        (array): Stmt => ({
          k: 'store',
          array,
          at: this.e.own(array, env),
          value: this.expr(widened(array.elem), w, 2),
        }),
      );
  }
}

export function generate(seed: number, size: Size = { scale: 1 }): Program {
  return new Generator(seed, size).program();
}
