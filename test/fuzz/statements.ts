/**
 * Random statements of one thread: variables, stores, control flow and jumps, atomic updates of elements that are its own.
 *
 * What threads have to do with each other, and whole programs, are `generate.ts`.
 */
import { type Env, Expressions, type MaybeVariable, type Variable } from './expressions.ts';
import { QUOTIENT_OPS } from './operators.ts';
import {
  type ArrayDecl,
  type AtomicOp,
  type BinOp,
  type Case,
  ELEMS,
  type Elem,
  type Expr,
  type FuncDecl,
  isBig,
  isFloat,
  type Layout,
  type LValue,
  NUMBERS,
  type Program,
  type Special,
  STORED,
  type Stmt,
  TYPES,
  type Ty,
  type Val,
  widened,
} from './program.ts';
import { Random, randomValue } from './random.ts';

const LAYOUTS: readonly Layout[] = ['C', 'C', 'C', 'F', 'reversed', 'stepped', 'transposed', 'bytes'];
export function kindOf(t: Ty): 'int' | 'float' | 'bool' {
  return t === 'bool' ? 'bool' : isFloat(t) ? 'float' : 'int';
}

export const COMPOUND: Readonly<Record<'int' | 'float' | 'bool', readonly BinOp[]>> = {
  int: ['add', 'sub', 'mul', 'rem', 'and', 'or', 'xor', 'shl', 'shr'],
  float: ['add', 'sub', 'mul', 'div'],
  bool: ['and', 'or'],
};

/** Where the generator is: what can be named, and what can be jumped out of. */
export interface Where {
  readonly scope: Variable[];
  /** Variables that may have no value here. */
  readonly maybes: MaybeVariable[];
  /** The variables declared in this very block, which may change their type here. */
  readonly declared: Set<Variable>;
  readonly loops: readonly { readonly label: string | undefined }[];
  readonly depth: number;
  readonly fn: FuncDecl['result'] | undefined;
  /** In a function that may return nothing. */
  readonly maybe?: boolean;
  /** In a part of an `if`, where a jump leaves code that can be reached behind it. */
  readonly branch: boolean;
}

/** Programs smaller than this many times the usual size. */
export interface Size {
  readonly scale: number;
}

export function isShared(a: ArrayDecl): boolean {
  return a.space === 'shared' || a.space === 'dynamic';
}

export class Statements {
  readonly r: Random;
  readonly e: Expressions;
  readonly seed: number;
  protected names = 0;
  protected arrays: ArrayDecl[] = [];
  protected scalars: Program['scalars'] = [];
  protected functions: FuncDecl[] = [];
  protected readonly block: readonly [number, number];
  protected readonly grid: number;
  /** Shared arrays that are read by all in this phase; the others are written by their owners. */
  protected shared = new Set<ArrayDecl>();
  protected budget: number;

  constructor(seed: number, size: Size) {
    this.seed = seed;
    this.r = new Random(seed);
    this.e = new Expressions(this.r);
    const { r } = this;
    this.budget = Math.ceil((4 + r.below(22)) * size.scale);
    this.block = r.weighted<readonly [number, number]>([
      [3, [r.pick([1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32]), 1]],
      [1, [r.pick([33, 64, 128]), 1]],
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

  protected get blockThreads(): number {
    return this.block[0] * this.block[1];
  }

  protected get threads(): number {
    return this.blockThreads * this.grid;
  }

  protected name(prefix: string): string {
    return `${prefix}${this.names++}`;
  }

  protected power(atLeast: number): number {
    return 2 ** Math.ceil(Math.log2(Math.max(atLeast, 1)));
  }

  // -------------------------------------------------------------- arrays

  protected declare(space: Exclude<ArrayDecl['space'], 'name'>, elem: Elem, n: number, data: boolean): ArrayDecl {
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

  protected declareArguments(): void {
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
      const t = r.pick(STORED);
      return { name: this.name('n'), t, v: randomValue(r, t) };
    });
  }

  // -------------------------------------------------------------- scopes

  protected env(w: Where, uniform = false): Env {
    const arrays = this.arrays;
    return {
      vars: w.scope,
      maybes: uniform ? [] : w.maybes,
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
      asserted: w.fn === undefined ? arrays.filter((a) => this.shared.has(a)) : [],
      inKernel: w.fn === undefined,
      threads: this.threads,
      blockThreads: this.blockThreads,
    };
  }

  /** Shared arrays that are updated atomically in this phase, and how. */
  protected readonly atomics = new Map<ArrayDecl, AtomicOp>();

  protected inner(w: Where, change: Partial<Where> = {}): Where {
    return {
      ...w,
      scope: [...w.scope],
      maybes: [...w.maybes],
      declared: new Set(),
      depth: w.depth + 1,
      branch: false,
      ...change,
    };
  }

  protected expr(t: Ty, w: Where, depth = this.r.below(4)): Expr {
    return this.e.expr(t, this.env(w), depth);
  }

  // -------------------------------------------------------------- statements

  /** `n` statements without barriers. */
  protected list(n: number, w: Where): Stmt[] {
    const list: Stmt[] = [];
    for (let i = 0; i < n && this.budget > 0; i++) {
      this.budget--;
      list.push(...this.statement(w));
      const last = list.at(-1);
      if (last?.k === 'break' || last?.k === 'continue' || last?.k === 'return') break;
    }
    return list;
  }

  protected statement(w: Where): Stmt[] {
    const { r } = this;
    const deep = w.depth > 3;
    const inKernel = w.fn === undefined;
    const options: [number, () => Stmt[]][] = [
      [5, () => [this.let(w)]],
      [0.7, () => [this.ratio(w)]],
      [5, () => this.set(w)],
      [inKernel ? 6 : 0, () => this.store(w)],
      [inKernel ? 1 : 0, () => this.bump(w)],
      [deep ? 0 : 3, () => [this.if(w)]],
      [deep ? 0 : 2, () => [this.loop(w)]],
      [deep || !inKernel ? 0 : 1, () => [this.strided(w)]],
      [deep ? 0 : 1, () => [this.while(w)]],
      [deep ? 0 : 1, () => [this.switch(w)]],
      [inKernel ? 1.5 : 0, () => this.atomic(w)],
      [w.loops.length > 0 ? 1.5 : 0, () => this.jump(w)],
      [w.depth > 0 && w.depth <= 2 && (inKernel ? r.chance(0.3) : true) ? 0.5 : 0, () => [this.return(w)]],
    ];
    return r.weighted(options)();
  }

  protected return(w: Where): Stmt {
    const leave: Stmt = w.fn === undefined ? { k: 'return' } : { k: 'return', value: this.expr(w.fn, w) };
    return w.branch ? leave : { k: 'if', c: this.e.bool(this.env(w), 1), then: [leave], else: [] };
  }

  protected let(w: Where): Stmt {
    const t = this.r.pick(TYPES);
    const value = this.expr(t, w);
    const variable: Variable = { name: this.name('v'), t, uniform: false, fixed: false };
    w.scope.push(variable);
    w.declared.add(variable);
    return { k: 'let', name: variable.name, value };
  }

  /** A quotient that has a name before it is rounded. */
  protected ratio(w: Where): Stmt {
    const { r } = this;
    const t = r.pick(['i32', 'u32'] as const);
    const env = this.env(w);
    const [{ a, b }, name] = [this.e.fraction(t, env, 2), this.name('q')];
    const whole = (): { readonly a: Expr } => ({ a: this.expr(t, w, 1) });
    const other = r.chance(0.4) && {
      c: this.e.bool(env, 2),
      ...(r.chance(0.5) ? this.e.fraction(t, env, 1) : whole()),
    };
    const uses = Array.from({ length: 1 + r.below(3) }, () => ({ name: this.name('v'), op: r.pick(QUOTIENT_OPS) }));
    for (const use of uses) {
      const variable: Variable = { name: use.name, t, uniform: false, fixed: false };
      w.scope.push(variable);
    }
    return { k: 'ratio', name, t, a, b, ...(other && { other }), uses };
  }

  protected set(w: Where): Stmt[] {
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

  protected compoundOperand(t: Ty, op: BinOp | undefined, w: Where): Expr {
    if (op === 'shl' || op === 'shr')
      return { t, k: 'lit', v: isBig(t) ? BigInt(this.r.below(64)) : this.r.below(32), polymorphic: true };
    if (t === 'i32' && (op === 'and' || op === 'or' || op === 'xor') && this.r.chance(0.15))
      return this.expr(this.r.pick(['f32', 'f64']), w, 2);
    const value = op === undefined || t === 'bool' ? this.expr(t, w) : this.e.operand(t, this.env(w), 2);
    // `x |= 0` is a conversion.
    return op === 'or' && value.k === 'lit' && value.polymorphic && Number(value.v) === 0 ? this.expr(t, w, 0) : value;
  }

  protected store(w: Where): Stmt[] {
    const { r } = this;
    const env = this.env(w);
    const locals = this.arrays.filter((a) => a.space === 'local');
    const targets = [...env.own, ...locals];
    const array = r.pick(targets);
    if (array === undefined) return [];
    const at: LValue = array.space === 'local' ? this.e.anywhere(array, env, 0) : this.e.own(array, env);
    if (array.elem === 'u8c' && r.chance(0.7)) return [this.clampedStore(array, at, w)];
    const t = widened(array.elem);
    if (t !== 'bool' && !isFloat(t) && r.chance(0.15)) {
      const from = r.pick(['f32', 'f64'] as const);
      const round = r.pick(['floor', 'ceil', 'trunc', 'round', 'rint'] as const);
      return [{ k: 'store', array, at, value: { t: from, k: 'un', op: round, a: this.expr(from, w, 2) } }];
    }
    const op = r.chance(0.3) ? r.pick(COMPOUND[kindOf(t)]) : undefined;
    return [{ k: 'store', array, at, ...(op && { op }), value: this.compoundOperand(t, op, w) }];
  }

  /** A store of any number, or of one near those that clamped bytes hold and round to. */
  private clampedStore(array: ArrayDecl, at: LValue, w: Where): Stmt {
    const { r } = this;
    const t = r.pick(NUMBERS);
    const op = isFloat(t) && r.chance(0.3) ? r.pick(['add', 'sub', 'mul'] as const) : undefined;
    if (!isFloat(t) || r.chance(0.3)) return { k: 'store', array, at, ...(op && { op }), value: this.expr(t, w) };
    const small: Expr = { t, k: 'cast', to: t, a: { t: 'i32', k: 'cast', to: 'i16', a: this.expr('i32', w, 2) } };
    const factor: Expr = { t, k: 'lit', v: r.pick([0.5, 1.5, 0.25, 0.125, -0.5, 2 ** -7]) };
    return { k: 'store', array, at, ...(op && { op }), value: { t, k: 'bin', op: 'mul', a: small, b: factor } };
  }

  protected bump(w: Where): Stmt[] {
    const { r } = this;
    const env = this.env(w);
    const array = r.pick(env.own.filter((a) => a.elem !== 'bool'));
    if (array === undefined) return this.store(w);
    const variable: Variable = { name: this.name('b'), t: widened(array.elem), uniform: false, fixed: true };
    const at = this.e.own(array, env);
    w.scope.push(variable);
    return [{ k: 'bump', name: variable.name, array, at, up: r.chance(0.5), prefix: r.chance(0.5) }];
  }

  protected if(w: Where): Stmt {
    const c = this.e.bool(this.env(w, this.r.chance(0.15)), 2);
    return {
      k: 'if',
      c,
      then: this.list(1 + this.r.below(3), this.inner(w, { branch: true })),
      else: this.r.chance(0.4) ? this.list(1 + this.r.below(2), this.inner(w, { branch: true })) : [],
    };
  }

  protected counter(uniform: boolean): {
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

  protected loop(w: Where): Stmt {
    const { variable, ...bounds } = this.counter(false);
    const label = this.r.chance(0.4) ? this.name('loop') : undefined;
    const body = this.inner(w, { loops: [...w.loops, { label }] });
    body.scope.push(variable);
    return {
      k: 'for',
      name: variable.name,
      ...bounds,
      ...(label && { label }),
      body: this.list(1 + this.r.below(3), body),
    };
  }

  /** `for (it = threadIdx.x; it < n; it += blockDim.x)`, or with strides of the grid: some threads make a round more. */
  private strided(w: Where): Stmt {
    const { r } = this;
    const join = (op: 'add' | 'mul', a: Expr, b: Expr): Expr => ({ t: 'i32', k: 'bin', op, a, b });
    const special = (what: Special): Expr => ({ t: 'i32', k: 'thread', what });
    const [thread, width] = [special('threadIdx.x'), special('blockDim.x')];
    const grid = r.chance(0.5);
    const from = grid ? join('add', join('mul', special('blockIdx.x'), width), thread) : thread;
    const step = grid ? join('mul', width, special('gridDim.x')) : width;
    const to = Math.min(r.below(4 * this.block[0] * (grid ? this.grid : 1)) + r.below(3), 400);
    const variable: Variable = { name: this.name('it'), t: 'i32', uniform: false, fixed: true, below: to };
    const inner = this.inner(w, { loops: [...w.loops, { label: undefined }] });
    inner.scope.push(variable);
    const body: Stmt[] = [];
    // Sums that go from round to round.
    for (const v of w.scope.filter((v) => !v.fixed && v.t !== 'bool' && r.chance(0.4)).slice(0, 2)) {
      const value = this.e.expr(v.t, this.env(inner), 2);
      body.push({ k: 'set', name: v.name, t: v.t, op: 'add', value });
    }
    if (body.length === 0 || r.chance(0.5)) body.push(...this.list(1 + r.below(2), inner));
    return { k: 'for', name: variable.name, from, to, step, body };
  }

  protected while(w: Where): Stmt {
    const { r } = this;
    const label = r.chance(0.3) ? this.name('loop') : undefined;
    const c = this.e.bool(this.env(w), 2);
    const body = this.list(1 + r.below(3), this.inner(w, { loops: [...w.loops, { label }] }));
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

  protected switch(w: Where): Stmt {
    const { r } = this;
    const tests: (number | undefined)[] = [0, 1, 2, 3, 5, undefined]
      .filter(() => r.chance(0.6))
      .sort(() => r.unit() - 0.5);
    const t = r.pick<Ty>(['i32', 'i32', 'u32']);
    const on: Expr = { t, k: 'bin', op: 'and', a: this.expr(t, w, 1), b: { t, k: 'lit', v: 7, polymorphic: true } };
    const cases = (tests.length > 0 ? tests : [1]).map((test): Case => {
      const body = this.list(r.below(3), this.inner(w, {}));
      return { test, body, falls: r.chance(0.3) };
    });
    return { k: 'switch', on, cases };
  }

  protected jump(w: Where): Stmt[] {
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
  protected atomic(w: Where): Stmt[] {
    const { r } = this;
    const env = this.env(w);
    const able = env.own.filter((a) => ['i32', 'u32', 'i64', 'u64', 'f16', 'bf16', 'f32', 'f64'].includes(a.elem));
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
}
