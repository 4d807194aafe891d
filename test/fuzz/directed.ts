/**
 * One small kernel for each operation on each type, made by hand in the IR: the list of what a renderer must be able to do.
 *
 * Fuzzing says which of these ordinary kernels come to; these say that each was executed and right on every renderer, with
 * values that differ from lane to lane.
 */
import { INTRINSICS } from '../../src/compiler/intrinsics/table.ts';
import {
  add,
  and,
  assign,
  at,
  atomic as atomicStmt,
  barrier,
  binary,
  bitcast,
  call,
  cast as castExpr,
  compare as compareExpr,
  fma as fmaExpr,
  i32,
  intrinsic,
  KernelBuilder,
  load,
  mul,
  read,
  select,
  special,
  store,
  unary as unaryExpr,
  vote,
} from '../../src/compiler/ir/builder.ts';
import type {
  ApproxOp,
  ArraySym,
  AtomicOp,
  BinaryOp,
  CompareOp,
  ElemType,
  Expr,
  Kernel,
  MathFn,
  Space,
  Stmt,
  UnaryOp,
  ValueType,
} from '../../src/compiler/ir/ops.ts';
import { exprFault } from '../../src/compiler/ir/verify-expr.ts';
import { MATH_F64 } from '../../src/compiler/math/f64/table.ts';
import { keyOf } from './coverage.ts';
import { packed } from './memory.ts';
import { type ArrayDecl, isBig, isFloat, MACHINE_TYPES, machineOf, STORED, type Ty, type Val } from './program.ts';
import { Random, randomValue } from './random.ts';
import * as own from './semantics.ts';

export const THREADS = 128;
export const BLOCK = 32;

export interface Directed {
  /** The combination that it is about, as coverage names it. */
  readonly key: string;
  readonly kernel: Kernel;
  /** In the order of the parameters. */
  readonly arrays: readonly ArrayDecl[];
  readonly expected: ReadonlyMap<string, readonly Val[]>;
  /** Functions that are not exact: the error allowed, in units of the last place of the result. */
  readonly ulps?: number;
}

/** A kernel being made together with its data. */
class Making {
  readonly b: KernelBuilder;
  readonly arrays: ArrayDecl[] = [];
  readonly expected = new Map<string, readonly Val[]>();
  readonly k: Expr;
  readonly t: Expr = special('threadIdx.x');
  private readonly r: Random;

  constructor(key: string) {
    this.b = new KernelBuilder(key.replaceAll(' ', '_'));
    this.k = add(mul(special('blockIdx.x'), special('blockDim.x')), this.t);
    this.r = new Random([...key].reduce((h, c) => Math.imul(h, 31) + c.charCodeAt(0), 7));
  }

  input(elem: ElemType, same = false): { readonly array: ArraySym; readonly values: readonly Val[] } {
    const one = randomValue(this.r, elem);
    return this.array(
      elem,
      Array.from({ length: THREADS }, () => (same ? one : randomValue(this.r, elem))),
    );
  }

  array(elem: ElemType, data: readonly Val[]): { readonly array: ArraySym; readonly values: readonly Val[] } {
    const name = `a${this.arrays.length}`;
    this.arrays.push({ name, elem, shape: [THREADS], space: 'in', layout: 'C', data });
    return { array: this.b.global(elem, name), values: data };
  }

  output(elem: ElemType, expected: readonly Val[]): ArraySym {
    const { array } = this.array(
      elem,
      expected.map(() => (isBig(elem) ? 0n : elem === 'bool' ? false : 0)),
    );
    this.expected.set(array.name, expected);
    return array;
  }

  finish(key: string, body: readonly Stmt[], ulps?: number): Directed {
    return { key, kernel: this.b.build(body), arrays: this.arrays, expected: this.expected, ...(ulps && { ulps }) };
  }
}

// ---------------------------------------------------------------- expressions

/** An expression over operands of these types, with its meaning; undefined where there is no such operation. */
function expression(
  types: readonly ValueType[],
  build: (args: readonly Expr[]) => Expr,
  meaning: (args: readonly Val[]) => Val,
  ulps?: number,
  same = false,
): Directed | undefined {
  const probe = build(types.map((type) => ({ op: 'special', type, name: 'laneId' }) as never));
  const key = keyOf(probe);
  if (key === undefined || exprFault(probe, new KernelBuilder('probe').build([])) !== undefined) return undefined;
  const m = new Making(key);
  const inputs = types.map((t) => m.input(t, same));
  const expected = Array.from({ length: THREADS }, (_, i) => meaning(inputs.map((x) => x.values[i] as Val)));
  const out = m.output(probe.type, expected);
  return m.finish(key, [store(at(out, m.k), build(inputs.map((x) => load(at(x.array, m.k)))))], ulps);
}

const UNARY: readonly Exclude<UnaryOp, ApproxOp>[] = [
  'neg',
  'abs',
  'not',
  'sqrt',
  'floor',
  'ceil',
  'trunc',
  'rint',
  'round',
  'sign',
  'isNaN',
  'isFinite',
  'toInt32',
  'uniform',
];
const BINARY: readonly Exclude<BinaryOp, 'mulhi' | 'divApprox'>[] = [
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
  'fmin',
  'fmax',
  'ipow',
  'copysign',
];
const COMPARE: readonly CompareOp[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];

function unaryMeaning(fn: (typeof UNARY)[number], t: Ty): (a: Val) => Val {
  const result: Ty = fn === 'isNaN' || fn === 'isFinite' ? 'bool' : t;
  if (fn === 'toInt32') return (a) => own.bitOperand('i32', a);
  return (a) => own.unary(fn, t, result, a);
}

/** Of integers without a limit; what it gives is wrapped. */
function big(fn: (a: bigint, b: bigint, c: bigint, bits: bigint) => bigint): (t: Ty, args: readonly Val[]) => Val {
  return (t, args) => {
    const [a = 0n, b = 0n, c = 0n] = args.map(BigInt);
    return own.wrap(t, fn(a, b, c, isBig(t) ? 64n : 32n));
  };
}

/** What the table of intrinsics has of operations. */
const INTRINSIC: Readonly<Record<string, (t: Ty, args: readonly Val[]) => Val>> = {
  clz: (t, [a]) => own.unary('clz', t, t, a as Val),
  popc: (t, [a]) => own.unary('popc', t, t, a as Val),
  brev: (t, [a]) => own.unary('brev', t, t, a as Val),
  dp4a: (t, args) => {
    const [a = 0, b = 0, c = 0] = args.map(Number);
    return own.dp4a(t, a, b, c);
  },
  mulhi: big((a, b, _c, bits) => (a * b) / 2n ** bits - ((a * b) % 2n ** bits < 0n ? 1n : 0n)),
  mul24: (t, args) => {
    const [a = 0, b = 0] = args.map((x) => (t === 'i32' ? (Number(x) << 8) >> 8 : (Number(x) << 8) >>> 8));
    return own.wrap(t, BigInt(a) * BigInt(b));
  },
  sad: big((a, b, c) => (a > b ? a - b : b - a) + c),
  hadd: big((a, b) => (a + b - ((((a + b) % 2n) + 2n) % 2n)) / 2n),
  rhadd: big((a, b) => (a + b + ((((a + b) % 2n) + 2n) % 2n)) / 2n),
  prmt: (_t, args) => {
    const [a = 0, b = 0, selector = 0] = args.map(Number);
    const bytes = [a, b].flatMap((x) => [0, 8, 16, 24].map((by) => (x >>> by) & 0xff));
    return [3, 2, 1, 0].reduce((word, k) => word * 256 + (bytes[(selector >>> (4 * k)) & 7] ?? 0), 0);
  },
  ctz: (t, [a]) => {
    const first = Number(own.unary('ffs', t, 'i32', a as Val));
    const n = first === 0 ? (isBig(t) ? 64 : 32) : first - 1;
    return isBig(t) ? BigInt(n) : n;
  },
};

function binaryMeaning(fn: (typeof BINARY)[number], t: Ty): (a: Val, b: Val) => Val {
  switch (fn) {
    case 'floordiv':
      return (a, b) => own.quotient('floor', t, a, b);
    case 'ipow':
      return (a, b) => (Number(b) < 0 ? own.wrap(t, 0n) : own.binary('pow', t, a, b));
    case 'and':
    case 'or':
    case 'xor':
      if (t === 'bool') return (a, b) => (fn === 'and' ? a && b : fn === 'or' ? a || b : a !== b);
      return (a, b) => own.binary(fn, t, a, b);
    default:
      return (a, b) => own.binary(fn, t, a, b);
  }
}

/** Functions and the error that docs/math.md grants them, roomily: their accuracy has tests of its own. */
const MATH: Readonly<Record<MathFn, (...x: number[]) => number>> = {
  exp: Math.exp,
  exp2: (x) => 2 ** x,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  atan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  pow: Math.pow,
  hypot: (x, y = 0) => Math.hypot(x, y),
  cbrt: Math.cbrt,
  rsqrt: (x) => 1 / Math.sqrt(x),
  erf: Number,
  erfc: Number,
  tgamma: Number,
  lgamma: Number,
};

function missing(name: string): never {
  throw new Error(`${name} is not in the table of intrinsics`);
}

function* expressions(): Iterable<Directed | undefined> {
  for (const t of MACHINE_TYPES) {
    for (const fn of UNARY)
      yield expression(
        [t],
        ([a]) => unaryExpr(fn, a as Expr),
        ([a]) => unaryMeaning(fn, t)(a as Val),
        undefined,
        fn === 'uniform',
      );
    for (const [name, meaning] of Object.entries(INTRINSIC)) {
      const row = INTRINSICS.get(name) ?? missing(name);
      yield expression(
        Array.from({ length: row.arity }, () => t),
        (args) => intrinsic(row, ...args),
        (args) => meaning(t, args),
      );
    }
    for (const fn of BINARY)
      yield expression(
        [t, t],
        ([a, b]) => binary(fn, a as Expr, b as Expr),
        ([a, b]) => binaryMeaning(fn, t)(a as Val, b as Val),
      );
    for (const fn of COMPARE)
      yield expression(
        [t, t],
        ([a, b]) => compareExpr(fn, a as Expr, b as Expr),
        ([a, b]) => own.compare(fn, a as Val, b as Val),
      );
    yield expression(
      ['bool', t, t],
      ([c, a, b]) => select(c as Expr, a as Expr, b as Expr),
      ([c, a, b]) => (c ? a : b) as Val,
    );
    for (const to of STORED)
      if (to !== t)
        yield expression(
          [t],
          ([a]) => castExpr(to, a as Expr),
          ([a]) => own.cast(t, to, a as Val),
        );
    for (const to of MACHINE_TYPES)
      if (to !== t)
        yield expression(
          [t],
          ([a]) => bitcast(to, a as Expr),
          ([a]) => bits(t, to, a as Val),
        );
  }
  for (const t of ['f32', 'f64'] as const) {
    yield expression(
      [t, t, t],
      ([a, b, c]) => fmaExpr(a as Expr, b as Expr, c as Expr),
      ([a, b, c]) => own.fma(t, Number(a), Number(b), Number(c)),
    );
    for (const fn of Object.keys(MATH) as MathFn[]) {
      const special = MATH[fn] === Number;
      const types = fn === 'pow' || fn === 'atan2' || fn === 'hypot' ? [t, t] : [t];
      // Of functions that JavaScript lacks only the execution is asked for here.
      yield expression(
        types,
        (args) => call(fn, ...args),
        (args) => own.roundTo(t, MATH[fn](...args.map(Number))),
        special ? Number.POSITIVE_INFINITY : 8,
      );
    }
  }
}

/** The same bits as another type of the same width. */
function bits(from: Ty, to: Ty, a: Val): Val {
  const view = new DataView(new ArrayBuffer(8));
  switch (from) {
    case 'f32':
      view.setFloat32(0, Number(a), true);
      break;
    case 'f64':
      view.setFloat64(0, Number(a), true);
      break;
    default:
      view.setBigUint64(0, BigInt.asUintN(64, BigInt(a)), true);
  }
  switch (to) {
    case 'i32':
      return view.getInt32(0, true);
    case 'u32':
      return view.getUint32(0, true);
    case 'f32':
      return view.getFloat32(0, true);
    case 'i64':
      return view.getBigInt64(0, true);
    case 'u64':
      return view.getBigUint64(0, true);
    default:
      return view.getFloat64(0, true);
  }
}

// ---------------------------------------------------------------- memory

function* memory(): Iterable<Directed> {
  for (const elem of STORED) {
    const type = machineOf(elem);
    for (const space of ['global', 'constant', 'shared', 'local'] as const satisfies readonly Space[]) {
      const key = `load ${space} ${elem}`;
      const m = new Making(key);
      const { values, array } = m.input(elem);
      const { values: where, array: places } = m.input('i32');
      const pick = (i: number, n: number): number => Number(where[i]) & (n - 1);
      const chosen = (n: number): Expr => and(load(at(places, m.k)), i32(n - 1));
      const body: Stmt[] = [];
      if (space === 'global') {
        const out = m.output(
          type,
          values.map((_, i) => values[pick(i, THREADS)] as Val),
        );
        body.push(store(at(out, m.k), load(at(array, chosen(THREADS)))));
      } else if (space === 'constant') {
        const constants = m.b.constants(elem, 'c', packed({ ...m.arrays[0], data: values } as ArrayDecl));
        const out = m.output(
          type,
          values.map((_, i) => values[pick(i, THREADS)] as Val),
        );
        body.push(store(at(out, m.k), load(at(constants, chosen(THREADS)))));
      } else if (space === 'shared') {
        const shared = m.b.shared(elem, 's', BLOCK);
        const out = m.output(
          type,
          values.map((_, i) => values[i - (i % BLOCK) + pick(i, BLOCK)] as Val),
        );
        body.push(
          store(at(shared, m.t), load(at(array, m.k))),
          barrier(),
          store(at(out, m.k), load(at(shared, chosen(BLOCK)))),
        );
      } else {
        const local = m.b.local(elem, 'l', 4);
        const out = m.output(
          type,
          values.map((_, i) => values[(i + pick(i, 4)) % THREADS] as Val),
        );
        for (let j = 0; j < 4; j++)
          body.push(store(at(local, i32(j)), load(at(array, and(add(m.k, i32(j)), i32(THREADS - 1))))));
        body.push(store(at(out, m.k), load(at(local, chosen(4)))));
      }
      yield m.finish(key, body);
    }
    yield* stores(elem, type);
  }
}

/** Stores of values that may not fit, at places of the thread's own. */
function* stores(elem: ElemType, type: ValueType): Iterable<Directed> {
  for (const space of ['global', 'shared', 'local'] as const) {
    const key = `store ${space} ${elem}`;
    const m = new Making(key);
    const { values, array } = m.input(type);
    const kept = values.map((v) => own.stored(elem, v));
    const back = binary('xor', m.k, i32(3));
    const value = load(at(array, m.k));
    if (space === 'global') {
      const out = m.output(
        elem,
        kept.map((_, i) => kept[i ^ 3] as Val),
      );
      yield m.finish(key, [store(at(out, back), value)]);
      continue;
    }
    const out = m.output(type, kept);
    if (space === 'shared') {
      const shared = m.b.shared(elem, 's', BLOCK);
      const place = binary('xor', m.t, i32(5));
      yield m.finish(key, [store(at(shared, place), value), store(at(out, m.k), load(at(shared, place)))]);
    } else {
      const local = m.b.local(elem, 'l', 4);
      const place = and(m.k, i32(3));
      yield m.finish(key, [store(at(local, place), value), store(at(out, m.k), load(at(local, place)))]);
    }
  }
}

// ---------------------------------------------------------------- atomics and barriers

const ATOMICS: readonly AtomicOp[] = [
  'add',
  'sub',
  'and',
  'or',
  'xor',
  'exch',
  'inc',
  'dec',
  'max',
  'min',
  'nanMax',
  'nanMin',
  'cas',
];

function atomicExists(fn: AtomicOp, t: Ty): boolean {
  if (t === 'bool') return false;
  if (isFloat(t)) return !['and', 'or', 'xor', 'inc', 'dec', 'exch', 'cas'].includes(fn);
  return (fn !== 'inc' && fn !== 'dec') || t === 'u32' || t === 'u64' ? !fn.startsWith('nan') : false;
}

function* atomics(): Iterable<Directed> {
  for (const fn of ATOMICS) {
    for (const elem of MACHINE_TYPES) {
      if (!atomicExists(fn, elem)) continue;
      for (const space of ['global', 'shared'] as const) {
        for (const withResult of [false, true]) yield atomic(fn, elem, space, withResult);
      }
    }
  }
}

function atomic(fn: AtomicOp, elem: ValueType, space: 'global' | 'shared', withResult: boolean): Directed {
  const key = `atomic ${fn} ${space} ${elem}${withResult ? ' with result' : ''}`;
  const m = new Making(key);
  const { values: a, array: first } = m.input(elem);
  const { values: b, array: second } = m.input(elem);
  const start = m.input(elem).values.map((v, i) => (fn === 'cas' && i % 3 !== 0 ? (a[i] as Val) : v));
  const after = start.map((v, i) => own.atomic(fn, elem, v, [a[i] as Val, b[i] as Val]));
  const args = [load(at(first, m.k)), ...(fn === 'cas' ? [load(at(second, m.k))] : [])];
  const { array: target } = m.array(elem, start);
  m.expected.set(target.name, after);
  const result = withResult ? m.b.variable(elem, 'old') : undefined;
  const body: Stmt[] = [];
  if (space === 'global') body.push(atomicStmt(fn, at(target, m.k), args, result));
  else {
    const shared = m.b.shared(elem, 's', BLOCK);
    const other = binary('xor', m.t, i32(1));
    body.push(store(at(shared, m.t), load(at(target, m.k))), barrier());
    // Each thread updates its neighbour's element with that one's operands.
    const theirs = binary('xor', m.k, i32(1));
    const operands = [load(at(first, theirs)), ...(fn === 'cas' ? [load(at(second, theirs))] : [])];
    body.push(
      atomicStmt(fn, at(shared, other), operands, result),
      barrier(),
      store(at(target, m.k), load(at(shared, m.t))),
    );
  }
  if (result !== undefined) {
    const out = m.output(
      elem,
      start.map((_, i) => start[space === 'global' ? i : i ^ 1] as Val),
    );
    body.push(store(at(out, m.k), read(result)));
  }
  return m.finish(key, body);
}

function* barriers(): Iterable<Directed> {
  for (const kind of ['count', 'and', 'or'] as const) {
    const key = `barrier ${kind}`;
    const m = new Making(key);
    const preds = Array.from({ length: THREADS }, (_, i) => (i < BLOCK ? true : i < 2 * BLOCK ? false : i % 5 === 0));
    const { array } = m.array('bool', preds);
    const counts = preds.map(
      (_, i) => preds.filter((p, j) => p && Math.floor(j / BLOCK) === Math.floor(i / BLOCK)).length,
    );
    const out = m.output(
      'i32',
      counts.map((n) => (kind === 'count' ? n : kind === 'and' ? Number(n === BLOCK) : Number(n > 0))),
    );
    const result = m.b.variable('i32', 'votes');
    const copy = m.b.variable('i32', 'copy');
    yield m.finish(key, [
      vote(kind, load(at(array, m.k)), result),
      assign(copy, read(result)),
      store(at(out, m.k), read(copy)),
    ]);
  }
}

export function directed(): Directed[] {
  return [...expressions(), ...memory(), ...atomics(), ...barriers()].filter((d) => d !== undefined);
}

/** What a renderer can be asked for: not what the passes before it have replaced. */
export function legalFor(renderer: string, all: readonly Directed[]): string[] {
  const keys = all.map((d) => d.key);
  if (renderer === 'simulator') return keys;
  // Calls of f32, those of f64 that have bodies and intrinsics without an instruction have become other operations; of an unsigned integer there is nothing to
  // be taken.
  const bodies = new Set(Object.keys(MATH_F64).map((fn) => `${fn} f64`));
  const isExpanded = (d: Directed): boolean => d.ulps !== undefined && (d.key.endsWith(' f32') || bodies.has(d.key));
  const expanded = new Set(all.filter(isExpanded).map((d) => d.key));
  for (const { name, types, native } of INTRINSICS.values())
    if (native?.wasm === undefined) for (const type of types) expanded.add(`${name} ${type}`);
  // Of these the operations on their bits are left.
  return keys.filter(
    (key) => !expanded.has(key) && key !== 'abs u32' && key !== 'abs u64' && !/ (bf16|f8e4m3|f8e5m2)$/.test(key),
  );
}
