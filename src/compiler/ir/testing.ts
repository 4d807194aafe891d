/**
 * Kernels for tests: random ones, and a way to run a kernel and compare what it left.
 *
 * A random kernel is legal and free of races: each thread writes elements of its own, and reads others' shared elements
 * only between two barriers. So any correct execution leaves the same bytes.
 */
import type { Row } from '../intrinsics/define.ts';
import { INTRINSICS } from '../intrinsics/table.ts';
import {
  add,
  assign,
  at,
  atomic,
  barrier,
  binary,
  block,
  breakTo,
  cast,
  compare,
  constant,
  continueTo,
  i32,
  ifElse,
  intrinsic,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  not,
  read,
  ret,
  select,
  special,
  store,
  unary,
  vote,
} from './builder.ts';
import type { Value } from './evaluate.ts';
import type { InterpretLaunch, InterpretOptions } from './interpret.ts';
import { interpret } from './interpret.ts';
import type { ArraySym, BinaryOp, CompareOp, Expr, Kernel, Label, Stmt, UnaryOp, ValueType, Var } from './ops.ts';
import { isFloat } from './ops.ts';

/** A kernel with a launch: what it takes to run it. */
export interface Sample {
  readonly name: string;
  readonly kernel: Kernel;
  readonly launch: InterpretLaunch;
  readonly args: readonly Value[];
  /** Initial contents of memory. */
  readonly memory: Uint8Array;
}

/** Runs a sample (or another kernel in its place); what it left, as text that can be compared. */
export function outcome(sample: Sample, kernel: Kernel = sample.kernel, options: InterpretOptions = {}): string {
  const memory = sample.memory.slice();
  const { fault, prints } = interpret(kernel, sample.launch, sample.args, memory, options);
  return outcomeText(fault, prints, memory);
}

export function outcomeText(
  fault: { readonly kind: string; readonly message: string } | undefined,
  prints: readonly (readonly unknown[])[],
  memory: Uint8Array,
): string {
  const left = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength).toString('hex');
  const said = JSON.stringify(prints, (_, v) => (typeof v === 'bigint' ? `${v}n` : v));
  return `${fault ? `${fault.kind}: ${fault.message}; ` : ''}${said} ${left}`;
}

// ---------------------------------------------------------------- randomness

export interface Random {
  /** An integer 0 … n-1. */
  below(n: number): number;
  pick<T>(list: readonly T[]): T;
  /** True once in n times. */
  once(n: number): boolean;
}

/** A small repeatable generator (mulberry32). */
export function random(seed: number): Random {
  let state = seed * 2654435761;
  const below = (n: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
  return {
    below,
    once: (n) => below(n) === 0,
    pick: (list) => {
      const item = list[below(list.length)];
      if (item === undefined) throw new RangeError('pick from an empty list');
      return item;
    },
  };
}

const CORNERS: Readonly<Record<ValueType, readonly (number | bigint | boolean)[]>> = {
  bool: [false, true],
  i32: [0, 1, -1, 2, 3, 7, 31, 32, 100, -128, 65535, 0x7fffffff, -0x80000000],
  u32: [0, 1, 2, 5, 31, 32, 255, 0x7fffffff, 0x80000000, 0xffffffff],
  i64: [0n, 1n, -1n, 2n, 3n, 63n, 64n, 1n << 40n, (1n << 63n) - 1n, -(1n << 63n)],
  u64: [0n, 1n, 2n, 63n, 64n, 1n << 40n, 1n << 63n, (1n << 64n) - 1n],
  f32: [
    0,
    -0,
    1,
    -1,
    0.5,
    1.5,
    2.5,
    -2.5,
    1e-45,
    1e10,
    3.4028234663852886e38,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    16777217,
  ],
  f64: [
    0,
    -0,
    1,
    -1,
    0.1,
    0.5,
    2.5,
    -3.5,
    5e-324,
    1e300,
    2 ** 53 + 2,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ],
};

export const VALUE_TYPES: readonly ValueType[] = ['bool', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'];
/** What the table of intrinsics has of operations; the rest of it are expansions. */
export const OPERATIONS: readonly Row[] = [...INTRINSICS.values()].filter((row) => row.evaluate !== undefined);
const INT_UNARY: readonly UnaryOp[] = ['neg', 'abs', 'not', 'sign'];
const FLOAT_UNARY: readonly UnaryOp[] = ['neg', 'abs', 'sqrt', 'floor', 'ceil', 'trunc', 'rint', 'round', 'sign'];
const INT_BINARY: readonly BinaryOp[] = [
  'add',
  'sub',
  'mul',
  'div',
  'rem',
  'floordiv',
  'and',
  'or',
  'xor',
  'shl',
  'shr',
  'min',
  'max',
  'ipow',
];
const FLOAT_BINARY: readonly BinaryOp[] = ['add', 'sub', 'mul', 'div', 'rem', 'min', 'max', 'fmin', 'fmax', 'copysign'];
const COMPARES: readonly CompareOp[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];

/** A random constant, often a corner of its type. */
export function randomConstant(rng: Random, type: ValueType): Expr {
  return constant(type, rng.once(3) && type !== 'bool' ? rng.below(9) : rng.pick(CORNERS[type]));
}

/** A random expression over any operation but loads and calls; `leaf` gives its leaves, or nothing for a constant. */
export function randomExpr(
  rng: Random,
  type: ValueType,
  depth: number,
  leaf: (type: ValueType) => Expr | undefined,
): Expr {
  const sub = (t: ValueType): Expr => randomExpr(rng, t, depth - 1, leaf);
  if (depth === 0 || rng.once(6)) return leaf(type) ?? randomConstant(rng, type);
  if (rng.once(8)) return select(sub('bool'), sub(type), sub(type));
  if (type === 'bool') return randomBool(rng, sub);
  if (rng.once(6)) return randomConversion(rng, type, sub);
  if (isFloat(type)) {
    if (rng.once(8))
      return { op: 'fma', type: type === 'f32' ? 'f32' : 'f64', a: sub(type), b: sub(type), c: sub(type) };
    if (rng.once(4)) return unary(rng.pick(FLOAT_UNARY), sub(type));
    const [fn, a, b] = [rng.pick(FLOAT_BINARY), sub(type), sub(type)];
    // Nobody knows the sign of a NaN.
    return binary(fn, a, fn === 'copysign' ? select(unary('isNaN', b), constant(type, 1), b) : b);
  }
  if (type === 'i32' && rng.once(12)) return unary('toInt32', sub(rng.pick(['f32', 'f64'])));
  const rows = OPERATIONS.filter(({ types }) => types.some((t) => t === type));
  if (rng.once(8)) {
    const row = rng.pick(rows);
    return intrinsic(row, ...Array.from({ length: row.arity }, () => sub(type)));
  }
  return rng.once(4) ? unary(rng.pick(INT_UNARY), sub(type)) : binary(rng.pick(INT_BINARY), sub(type), sub(type));
}

function randomBool(rng: Random, sub: (type: ValueType) => Expr): Expr {
  switch (rng.below(5)) {
    case 0:
      return not(sub('bool'));
    case 1:
      return binary(rng.pick(['and', 'or', 'xor']), sub('bool'), sub('bool'));
    case 2:
      return unary(rng.pick(['isNaN', 'isFinite']), sub(rng.pick(['f32', 'f64'])));
    default: {
      const type = rng.pick(VALUE_TYPES);
      return compare(type === 'bool' ? rng.pick(['eq', 'ne']) : rng.pick(COMPARES), sub(type), sub(type));
    }
  }
}

function randomConversion(rng: Random, type: ValueType, sub: (type: ValueType) => Expr): Expr {
  if (type === 'i32') return cast(rng.pick(['i32', 'i8', 'u8', 'i16', 'u16']), sub(rng.pick(VALUE_TYPES)));
  if (type === 'f32') return cast(rng.pick(['f32', 'f16']), sub(rng.pick(VALUE_TYPES)));
  if (type === 'i64' || type === 'u64') {
    if (rng.once(3)) return { op: 'bitcast', type, a: sub(type === 'i64' ? 'u64' : 'i64') };
  }
  return cast(type, sub(rng.pick(VALUE_TYPES)));
}

// ---------------------------------------------------------------- random kernels

const BLOCKS: readonly (readonly [number, number, number])[] = [
  [8, 1, 1],
  [4, 2, 1],
  [6, 2, 1],
  [3, 1, 1],
  [4, 2, 2],
  [1, 5, 1],
  [12, 1, 1],
];

export interface RandomOptions {
  /** Without, no kernel has one. */
  readonly barriers?: boolean | undefined;
  readonly returns?: boolean | undefined;
}

/** A random legal kernel with a launch of two blocks. Same seed, same kernel. */
export function randomSample(seed: number, options: RandomOptions = { barriers: true, returns: true }): Sample {
  return new Generator(random(seed), options).sample(seed);
}

/** Where statements are being made. */
interface Place {
  /** Whether all running threads come here together: then barriers are allowed. */
  readonly uniform: boolean;
  readonly depth: number;
  /** Constructs that may be left from here. */
  readonly targets: readonly { readonly label: Label; readonly loop: boolean }[];
}

class Generator {
  readonly #rng: Random;
  readonly #options: RandomOptions;
  readonly #b = new KernelBuilder('random');
  readonly #shape: readonly [number, number, number];
  readonly #size: number;
  readonly #varying: readonly Var[];
  /** Assigned only where all threads are together, from values that are the same. */
  readonly #steady: readonly Var[];
  readonly #counters: Var[] = [];
  readonly #params: readonly Expr[];
  readonly #data: ArraySym;
  readonly #out: ArraySym;
  readonly #total: ArraySym;
  readonly #shared: ArraySym;
  readonly #local: ArraySym;
  readonly #tid: Var;
  /** Whether to be thick with barriers, returns and jumps past them, and plain otherwise. */
  readonly #dense: boolean;
  #budget = 40;

  constructor(rng: Random, options: RandomOptions) {
    this.#rng = rng;
    this.#options = options;
    this.#shape = rng.pick(BLOCKS);
    this.#dense = options.barriers === true && rng.once(2);
    this.#size = this.#shape[0] * this.#shape[1] * this.#shape[2];
    const b = this.#b;
    this.#data = b.global('i32', 'data');
    this.#out = b.global('i32', 'out');
    this.#total = b.global('i32', 'total');
    this.#params = [b.value('i32', 'n'), b.value('f32', 'f'), b.value('i64', 'q')];
    this.#shared = b.shared('i32', 's', this.#size);
    this.#local = b.local('i32', 'own', 4);
    this.#tid = b.variable('i32', 'tid');
    const types: readonly ValueType[] = ['i32', 'i32', 'f32', 'i64', 'bool', 'u32'];
    this.#varying = types.map((t, i) => b.variable(t, `v${i}`));
    this.#steady = (['i32', 'i32', 'f32', 'bool'] as const).map((t, i) => b.variable(t, `g${i}`));
  }

  sample(seed: number): Sample {
    const [x, y] = this.#shape;
    const linear = add(
      special('threadIdx.x'),
      mul(i32(x), add(special('threadIdx.y'), mul(i32(y), special('threadIdx.z')))),
    );
    const body = [
      assign(this.#tid, linear),
      // Local and shared memory hold anything at first.
      ...[0, 1, 2, 3].map((k) => store(at(this.#local, i32(k)), add(read(this.#tid), i32(k)))),
      ...(this.#options.barriers ? [store(at(this.#shared, read(this.#tid)), read(this.#tid)), barrier()] : []),
      ...(this.#rng.once(2) ? this.#varying.map((v) => assign(v, this.#expr(v.type, 1, false))) : []),
      ...(this.#options.returns && this.#rng.once(this.#dense ? 4 : 2) ? [this.#earlyReturn()] : []),
      ...this.#list({ uniform: true, depth: 3, targets: [] }, 5),
      ...[...this.#varying, ...this.#steady].map((v, i) => store(this.#own(i), bitsOf(read(v)))),
    ];
    const threads = 2 * this.#size;
    const slots = this.#varying.length + this.#steady.length;
    const memory = new Uint8Array(256 + 16 + threads * slots * 4);
    const words = new Int32Array(memory.buffer);
    for (let i = 0; i < 64; i++)
      words[i] = this.#rng.once(3) ? this.#rng.below(0x7fffffff) - 0x3fffffff : this.#rng.below(8);
    return {
      name: `random ${seed}`,
      kernel: this.#b.build(body),
      launch: { grid: [2, 1, 1], block: this.#shape },
      args: [0, 272, 256, this.#rng.below(8), Math.fround(this.#rng.below(100) / 8), BigInt(this.#rng.below(100))],
      memory,
    };
  }

  /** The thread's own element `slot` of `out`. */
  #own(slot: number): ReturnType<typeof at> {
    const slots = this.#varying.length + this.#steady.length;
    const thread = add(read(this.#tid), mul(special('blockIdx.x'), i32(this.#size)));
    return at(this.#out, add(mul(thread, i32(slots)), i32(slot)));
  }

  #list(place: Place, length: number): Stmt[] {
    const out: Stmt[] = [];
    for (let k = 1 + this.#rng.below(length); k > 0 && this.#budget > 0; k--) {
      this.#budget--;
      out.push(...this.#statement(place));
    }
    return out;
  }

  /** As at the top of most kernels: for some of the threads. */
  #earlyReturn(): Stmt {
    return ifElse(compare(this.#rng.pick(COMPARES), read(this.#tid), i32(this.#rng.below(this.#size + 1))), [ret()]);
  }

  #statement(place: Place): readonly Stmt[] {
    const rng = this.#rng;
    if (this.#dense && place.uniform && !rng.once(4)) return this.#denseStatement(place);
    switch (rng.below(place.depth > 0 ? 16 : 9)) {
      case 0:
        return [store(this.#own(rng.below(6)), this.#expr('i32', 2, false))];
      case 1:
        return [atomic('add', at(this.#total, i32(0)), [this.#expr('i32', 1, false)])];
      case 2:
        return place.uniform && this.#options.barriers ? this.#exchange() : [this.#assign()];
      case 6:
        return place.uniform && this.#options.barriers && rng.once(2) ? this.#exchange() : [this.#assign()];
      case 3:
        return place.uniform ? [this.#steadyAssign()] : [this.#assign()];
      case 4:
        return [
          store(at(this.#local, binary('and', this.#expr('i32', 1, false), i32(3))), this.#expr('i32', 1, false)),
        ];
      case 5:
        return this.#jump(place);
      case 9:
      case 10:
        return [this.#branch({ ...place, uniform: false, depth: place.depth - 1 }, false)];
      case 11:
        return [this.#branch({ ...place, depth: place.depth - 1 }, true)];
      case 12:
        return this.#loop(place, place.uniform);
      case 13:
        return this.#loop(place, false);
      case 14:
      case 15: {
        const label = this.#b.label();
        const uniform = place.uniform && rng.once(2);
        const targets = uniform === place.uniform ? place.targets : [];
        return [
          block(
            label,
            this.#list({ uniform, depth: place.depth - 1, targets: [...targets, { label, loop: false }] }, 4),
          ),
        ];
      }
      default:
        return [this.#assign()];
    }
  }

  /** Where all threads are together. */
  #denseStatement(place: Place): readonly Stmt[] {
    const rng = this.#rng;
    const inner = { ...place, depth: place.depth - 1 };
    switch (rng.below(place.depth > 0 ? 12 : 8)) {
      case 0:
      case 1:
      case 2:
        return this.#exchange();
      case 3:
        if (!this.#options.returns) return this.#exchange();
        return [rng.once(4) ? ifElse(this.#condition(true), [ret()]) : this.#earlyReturn()];
      case 4:
        return [atomic('add', at(this.#total, i32(0)), [add(read(this.#tid), this.#expr('i32', 1, false))])];
      case 5:
        return [this.#steadyAssign()];
      case 6:
        return place.targets.length > 0 ? this.#jump(place) : [this.#assign()];
      case 7:
        return this.#uniformBreak(place);
      case 8:
        return [this.#branch(inner, true)];
      case 9: {
        const label = this.#b.label();
        const body = this.#list({ ...inner, targets: [...place.targets, { label, loop: false }] }, 4);
        return [block(label, [...body, ...this.#tail(breakTo(label))])];
      }
      default:
        return this.#loop(place, true);
    }
  }

  /** One that comes out both ways. */
  #condition(steady: boolean): Expr {
    if (!this.#dense || this.#rng.once(4)) return this.#expr('bool', 2, steady);
    const vars = [...this.#steady, ...this.#counters, ...(steady ? [] : [...this.#varying, this.#tid])];
    const v = this.#rng.pick(vars.filter((x) => x.type === 'i32'));
    return compare(this.#rng.pick(COMPARES), binary('and', read(v), i32(3)), i32(this.#rng.below(4)));
  }

  /** The end of a construct with barriers, which only some threads come to. */
  #tail(jump: Stmt): readonly Stmt[] {
    if (this.#rng.once(3)) return [];
    const instead = this.#rng.once(2) ? [this.#assign(), jump] : [jump];
    return [ifElse(this.#condition(false), instead), this.#assign(), this.#assign()];
  }

  /** All threads jump out of constructs with barriers, from within a loop that has none. */
  #uniformBreak(place: Place): readonly Stmt[] {
    if (place.targets.length === 0) return [this.#steadyAssign()];
    const target = this.#rng.pick(place.targets);
    const [label, k] = [this.#b.label(), this.#b.variable('i32', 'm')];
    const jump = target.loop && this.#rng.once(2) ? continueTo(target.label) : breakTo(target.label);
    return [
      assign(k, i32(0)),
      loop(
        label,
        [
          ifElse(lt(read(k), i32(2)), [], [breakTo(label)]),
          this.#assign(),
          ifElse(compare('eq', add(read(k), this.#expr('i32', 0, true)), i32(2)), [jump]),
        ],
        [assign(k, add(read(k), i32(1)))],
      ),
    ];
  }

  /** `uniform`: on a condition that all threads agree on. */
  #branch(place: Place, uniform: boolean): Stmt {
    // Where threads part, constructs around that hold barriers must not be left.
    const inner = uniform ? place : { ...place, targets: this.#inner(place) };
    const then = this.#list(inner, 3);
    return ifElse(this.#condition(uniform), then, this.#rng.once(2) ? this.#list(inner, 3) : []);
  }

  #inner(place: Place): Place['targets'] {
    return place.targets.filter((t) => this.#free.has(t.label));
  }

  /** Labels of constructs that hold no barriers: they may be left by some threads only. */
  readonly #free = new Set<Label>();

  #loop(place: Place, uniform: boolean): readonly Stmt[] {
    const label = this.#b.label();
    const k = this.#b.variable('i32', `k${this.#counters.length}`);
    if (!uniform) this.#free.add(label);
    const bound =
      uniform || this.#rng.once(2) ? i32(this.#rng.below(4)) : binary('and', this.#expr('i32', 1, false), i32(3));
    if (uniform) this.#counters.push(k);
    const targets = uniform || !place.uniform ? place.targets : [];
    const body = this.#list({ uniform, depth: place.depth - 1, targets: [...targets, { label, loop: true }] }, 5);
    if (uniform) this.#counters.pop();
    if (uniform && this.#dense) body.push(...this.#tail(continueTo(label)));
    return [
      assign(k, i32(0)),
      loop(label, [ifElse(lt(read(k), bound), [], [breakTo(label)]), ...body], [assign(k, add(read(k), i32(1)))]),
    ];
  }

  #jump(place: Place): readonly Stmt[] {
    const rng = this.#rng;
    if (this.#options.returns && rng.once(4))
      return [rng.once(2) ? this.#earlyReturn() : ifElse(this.#expr('bool', 1, false), [ret()])];
    if (place.targets.length === 0) return [this.#assign()];
    const target = rng.pick(place.targets);
    const jump = target.loop && rng.once(2) ? continueTo(target.label) : breakTo(target.label);
    const steady = place.uniform || !this.#free.has(target.label);
    return [ifElse(this.#condition(steady), rng.once(2) ? [this.#assign(), jump] : [jump])];
  }

  /** Hands values around in shared memory, or votes. */
  #exchange(): readonly Stmt[] {
    const rng = this.#rng;
    if (rng.once(3)) {
      const v = rng.pick(this.#steady.filter((g) => g.type === 'i32'));
      return [vote(rng.pick(['count', 'and', 'or']), this.#expr('bool', 1, false), v)];
    }
    const v = rng.pick(this.#varying.filter((x) => x.type === 'i32'));
    const from = binary('rem', add(read(this.#tid), i32(1 + rng.below(3))), i32(this.#size));
    const values = rng.once(2) ? [store(at(this.#shared, read(this.#tid)), this.#expr('i32', 2, false))] : [];
    return [...values, barrier(), assign(v, load(at(this.#shared, from))), barrier()];
  }

  #assign(): Stmt {
    const v = this.#rng.pick(this.#varying);
    return assign(v, this.#expr(v.type, 2, false));
  }

  #steadyAssign(): Stmt {
    const v = this.#rng.pick(this.#steady);
    const loads = this.#dense && v.type === 'i32' && this.#rng.once(2);
    if (loads) return assign(v, add(load(at(this.#data, i32(this.#rng.below(64)))), this.#expr('i32', 0, true)));
    return assign(v, this.#expr(v.type, 2, true));
  }

  #expr(type: ValueType, depth: number, steady: boolean): Expr {
    return randomExpr(this.#rng, type, this.#dense ? Math.min(depth, 1) : depth, (t) => this.#leaf(t, steady));
  }

  #leaf(type: ValueType, steady: boolean): Expr | undefined {
    const rng = this.#rng;
    const vars = [...this.#steady, ...this.#counters, ...(steady ? [] : [...this.#varying, this.#tid, this.#tid])];
    const choices: Expr[] = [...vars.map(read), ...this.#params].filter((e) => e.type === type);
    if (type === 'i32') {
      choices.push(special('blockIdx.x'));
      if (!steady)
        choices.push(
          special('threadIdx.x'),
          special('threadIdx.y'),
          load(at(this.#local, binary('and', read(this.#tid), i32(3)))),
        );
      if (rng.once(3)) return load(at(this.#data, binary('and', this.#expr('i32', 1, steady), i32(63))));
    }
    return choices.length > 0 && !rng.once(4) ? rng.pick(choices) : undefined;
  }
}

/** A value of any type as an i32 that tells most values apart. */
function bitsOf(e: Expr): Expr {
  // The sign of a NaN is nobody's business.
  if (e.type === 'f32') return select(unary('isNaN', e), i32(-1), { op: 'bitcast', type: 'i32', a: e });
  if (e.type === 'i64') return cast('i32', binary('xor', e, binary('shr', e, constant('i64', 32))));
  return cast('i32', e);
}
