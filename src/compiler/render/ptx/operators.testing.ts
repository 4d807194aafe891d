/**
 * For tests of renderers: kernels that together hold every operation on every type, with operands at the corners of it.
 *
 * Each is a `Sample`: kernel, launch, arguments and memory, so that it can be assembled, or run and compared with what the
 * interpreter leaves. NaN is stored with the same bits everywhere; nothing else may differ.
 */
import * as ir from '../../ir/builder.ts';
import type { Value } from '../../ir/evaluate.ts';
import { writeElement } from '../../ir/evaluate.ts';
import type {
  ArraySym,
  AtomicOp,
  BinaryOp,
  CompareOp,
  ElemType,
  Expr,
  MemoryOrder,
  MemoryScope,
  Stmt,
  UnaryOp,
  ValueType,
  WarpOp,
} from '../../ir/ops.ts';
import { ELEM_SIZE, isFloat, isInt, warpResult, widen } from '../../ir/ops.ts';
import { OPERATIONS, type Random, random, type Sample } from '../../ir/testing.ts';

export const INTEGERS: readonly ValueType[] = ['i32', 'u32', 'i64', 'u64'];
export const FLOATS: readonly ValueType[] = ['f32', 'f64'];
/** Elements that atomic operations only move. */
const SMALL: readonly ElemType[] = ['i8', 'u8', 'i16', 'u16'];
export const VALUES: readonly ValueType[] = ['bool', ...INTEGERS, ...FLOATS];
export const ELEMENTS: readonly ElemType[] = [...VALUES, 'i8', 'u8', 'i16', 'u16', 'f16', 'bf16', 'f8e4m3', 'f8e5m2'];

const UNARY: Readonly<Record<'bool' | 'int' | 'float', readonly UnaryOp[]>> = {
  bool: ['not'],
  int: ['neg', 'abs', 'not', 'sign', 'uniform'],
  float: ['neg', 'abs', 'sqrt', 'floor', 'ceil', 'trunc', 'rint', 'round', 'sign', 'isNaN', 'isFinite'],
};
const BINARY: Readonly<Record<'bool' | 'int' | 'float', readonly BinaryOp[]>> = {
  bool: ['and', 'or', 'xor'],
  int: [
    ...(['add', 'sub', 'mul', 'mulhi', 'div', 'rem', 'floordiv', 'and', 'or', 'xor', 'shl', 'shr'] as const),
    ...(['min', 'max', 'ipow'] as const),
  ],
  float: ['add', 'sub', 'mul', 'div', 'rem', 'min', 'max', 'fmin', 'fmax', 'copysign'],
};
const COMPARES: readonly CompareOp[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];

/** The intrinsics of a type. */
function rowsOf(type: ValueType): typeof OPERATIONS {
  return OPERATIONS.filter(({ types }) => types.some((t) => t === type));
}

export function kindOf(type: ElemType): 'bool' | 'int' | 'float' {
  return type === 'bool' ? 'bool' : isFloat(type) ? 'float' : 'int';
}

// ---------------------------------------------------------------- operands

const FLOAT_CORNERS = [
  ...[0, -0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999997, 0.49999999999999994, 3, 7.75, -7.75, 1e10, -1e10],
  ...[1e-40, -1e-40, 1e-45, 5e-324, 1.1754943508222875e-38, 2.2250738585072014e-308, 3.4e38, -3.4e38, 1e300, -1e300],
  ...[8388607.5, 8388608.5, 16777215, 16777217, -8388607.5, 4503599627370495.5, 4503599627370497, 127.5, 128, -128.5],
  ...[
    255.5, 256, 32767.5, 32768, -32769, 65535.5, 65504, 65519.99, 65520, 6e-8, 2.9e-8, 2147483647, 2147483648,
    -2147483648,
  ],
  ...[
    -2147483649, 4294967295, 4294967296, 9.223372036854775e18, 9.223372036854776e18, -9.223372036854776e18,
    1.8446744073709552e19,
  ],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
];
const INTEGER_CORNERS: readonly bigint[] = [
  ...[
    0n,
    1n,
    -1n,
    2n,
    -2n,
    3n,
    -3n,
    5n,
    7n,
    -7n,
    8n,
    10n,
    31n,
    32n,
    33n,
    63n,
    64n,
    65n,
    100n,
    -100n,
    127n,
    128n,
    -128n,
    -129n,
  ],
  ...[255n, 256n, 32767n, 32768n, -32768n, -32769n, 65535n, 65536n, 16777217n, 0x7fffffffn, -0x7fffffffn, 0x80000000n],
  ...[
    0xffffffffn,
    0x100000000n,
    (1n << 53n) + 1n,
    (1n << 62n) + 12345n,
    (1n << 63n) - 1n,
    -(1n << 63n),
    0x123456789abcdefn,
  ],
];

/** Values of a type: its corners, and some at random. */
export function corners(type: ValueType, rng: Random): Value[] {
  const constant = (v: number | bigint | boolean): Value => (ir.constant(type, v) as Expr & { op: 'const' }).value;
  switch (kindOf(type)) {
    case 'bool':
      return [false, true];
    case 'int':
      return [
        ...INTEGER_CORNERS,
        ...Array.from({ length: 5 }, () => BigInt(rng.below(2 ** 32)) * BigInt(rng.below(2 ** 31))),
      ].map(constant);
    case 'float': {
      const any = (): number => (rng.below(2 ** 32) / 2 ** 31 - 1) * 2 ** (rng.below(60) - 30);
      return [...FLOAT_CORNERS, ...Array.from({ length: 8 }, any)].map(constant);
    }
  }
}

// ---------------------------------------------------------------- kernels

/** A kernel that computes many expressions of the same operands: thread i of operand pair i. */
class Table {
  readonly b: ir.KernelBuilder;
  readonly name: string;
  readonly out: ArraySym;
  readonly i: Expr;
  readonly body: Stmt[] = [];
  /** Initial contents, one array after another. */
  readonly #bytes: Uint8Array[] = [];
  readonly #args: Value[] = [];
  readonly #count: number;
  #end = 0;
  #results = 0;

  readonly #bits: 32 | 64;

  constructor(name: string, count: number, bits: 32 | 64 = 32) {
    this.name = name;
    this.#bits = bits;
    this.#count = count;
    this.b = new ir.KernelBuilder(name);
    this.out = this.b.global('u64', 'out');
    this.#args.push(0);
    const i = this.b.variable('i32', 'i');
    const { add, mul, special } = ir;
    this.body.push(ir.assign(i, add(mul(special('blockIdx.x'), special('blockDim.x')), special('threadIdx.x'))));
    this.body.push(ir.ifElse(ir.ge(ir.read(i), ir.i32(count)), [ir.ret()]));
    this.i = ir.read(i);
  }

  /** An array of operands; the element of each thread. */
  operand(elem: ElemType, values: readonly Value[]): Expr {
    return ir.load(ir.at(this.array(elem, values), this.index(this.i)));
  }

  /** An i32 as an index of the kernel's width. */
  index(e: Expr): Expr {
    return this.#bits === 64 ? ir.cast('i64', e) : e;
  }

  array(elem: ElemType, values: readonly Value[]): ArraySym {
    const array = this.b.global(elem, `in${this.#args.length}`);
    const bytes = new Uint8Array(Math.ceil((values.length * ELEM_SIZE[elem]) / 8) * 8);
    const view = new DataView(bytes.buffer);
    for (const [k, v] of values.entries()) writeElement(view, k * ELEM_SIZE[elem], elem, v);
    this.#args.push(this.#end);
    this.#bytes.push(bytes);
    this.#end += bytes.length;
    return array;
  }

  /** Stores what an expression gives. */
  result(e: Expr): void {
    const v = this.b.variable(e.type, `r${this.#results}`);
    this.body.push(ir.assign(v, e), this.store(ir.read(v)));
  }

  store(e: Expr): Stmt {
    const plain = isFloat(e.type) ? ir.select(ir.unary('isNaN', e), ir.constant(e.type, Number.NaN), e) : e;
    const slot = this.index(ir.add(ir.mul(this.i, ir.i32(MOST)), ir.i32(this.#results++)));
    return ir.store({ ...ir.at(this.out, slot), elem: e.type }, plain);
  }

  sample(): Sample {
    if (this.#results > MOST) throw new RangeError(`${this.#results} results in ${this.name}`);
    const memory = new Uint8Array(this.#end + this.#count * MOST * 8);
    let at = 0;
    for (const bytes of this.#bytes) {
      memory.set(bytes, at);
      at += bytes.length;
    }
    this.#args[0] = at;
    const block = [64, 1, 1] as const;
    const launch = { grid: [Math.ceil(this.#count / 64), 1, 1] as const, block };
    return {
      name: this.name,
      kernel: this.b.build(this.body, { indexBits: this.#bits }),
      launch,
      args: this.#args,
      memory,
    };
  }
}

/** Results a thread at most. */
const MOST = 256;

/** All pairs of operands. */
function pairs(values: readonly Value[]): readonly [Value[], Value[]] {
  return [values.flatMap((v) => values.map(() => v)), values.flatMap(() => values)];
}

function operations(type: ValueType): Sample {
  const [as, bs] = pairs(corners(type, random(1)));
  const t = new Table(`operations of ${type}`, as.length);
  const [a, b] = [t.b.variable(type, 'a'), t.b.variable(type, 'b')];
  t.body.push(ir.assign(a, t.operand(type, as)), ir.assign(b, t.operand(type, bs)));
  const [x, y] = [ir.read(a), ir.read(b)];
  // `uniform` asserts nothing outside of checked mode.
  for (const fn of UNARY[kindOf(type)]) t.result(ir.unary(fn, x));
  for (const row of rowsOf(type)) t.result(ir.intrinsic(row, ...[x, y, ir.binary('xor', x, y)].slice(0, row.arity)));
  for (const fn of BINARY[kindOf(type)]) {
    // Nobody knows the sign of a NaN.
    const right = fn === 'copysign' ? ir.select(ir.unary('isNaN', y), ir.constant(type, 1), y) : y;
    t.result(ir.binary(fn, x, right));
  }
  for (const fn of type === 'bool' ? COMPARES.slice(0, 2) : COMPARES) {
    t.result(ir.compare(fn, x, y));
    t.result(ir.select(ir.compare(fn, x, y), x, y));
  }
  if (type === 'f32' || type === 'f64') {
    t.result(ir.fma(x, y, ir.constant(type, 0.3)));
    t.result(ir.fma(x, x, y));
    t.result(ir.fma(ir.constant(type, 3), x, ir.unary('neg', y)));
  }
  return t.sample();
}

/** Operations with one constant operand, as they stand in most programs: renderers have shorter ways for some. */
function constants(type: ValueType, left: boolean): Sample[] {
  const values = corners(type, random(2));
  const chosen: readonly (number | bigint | boolean)[] =
    type === 'bool'
      ? [false, true]
      : isFloat(type)
        ? [0, -1.5, Number.NaN, 1e30]
        : [0n, 1n, -1n, 7n, -8n, 33n, 1n << 63n, 0x80000000n];
  return chosen.map((c, k) => {
    const t = new Table(`${type} ${left ? 'after' : 'before'} constant ${k}`, values.length);
    const v = t.b.variable(type, 'a');
    t.body.push(ir.assign(v, t.operand(type, values)));
    const [x, y] = left ? [ir.constant(type, c), ir.read(v)] : [ir.read(v), ir.constant(type, c)];
    for (const fn of BINARY[kindOf(type)]) if (fn !== 'copysign') t.result(ir.binary(fn, x, y));
    for (const fn of type === 'bool' ? COMPARES.slice(0, 2) : COMPARES) t.result(ir.select(ir.compare(fn, x, y), x, y));
    for (const fn of UNARY[kindOf(type)]) t.result(ir.unary(fn, ir.constant(type, c)));
    for (const row of rowsOf(type)) t.result(ir.intrinsic(row, ...[x, y, x].slice(0, row.arity)));
    if (type === 'f32' || type === 'f64') t.result(ir.fma(x, y, x));
    return t.sample();
  });
}

function conversions(type: ValueType): Sample {
  const values = corners(type, random(3));
  const t = new Table(`conversions of ${type}`, values.length);
  const v = t.b.variable(type, 'a');
  t.body.push(ir.assign(v, t.operand(type, values)));
  for (const to of ELEMENTS) t.result(ir.cast(to, ir.read(v)));
  for (const to of VALUES) {
    if (to === 'bool' || type === 'bool' || ELEM_SIZE[to] !== ELEM_SIZE[type] || isFloat(type)) continue;
    t.result(ir.bitcast(to, ir.read(v)));
  }
  for (const to of ELEMENTS) t.result(ir.cast(to, ir.constant(type, type === 'bool' ? true : 65)));
  return t.sample();
}

/** Reading and writing each type of element, in each space. */
function memory(elem: ElemType): Sample {
  const values = corners(widen(elem), random(4)).map((v) => (Number.isNaN(v) ? 1 : v));
  const bits = new Uint8Array(16 * ELEM_SIZE[elem]);
  const view = new DataView(bits.buffer);
  for (let k = 0; k < 16; k++) writeElement(view, k * ELEM_SIZE[elem], elem, values[k % values.length] ?? 0);
  const t = new Table(`memory of ${elem}`, values.length);
  const inputs = t.array(elem, values);
  const [x, j] = [t.b.variable(widen(elem), 'x'), ir.special('threadIdx.x')];
  const copy = t.b.global(elem, 'copy');
  const low = ir.and(t.i, ir.i32(15));
  const shared = t.b.shared(elem, 'shared', 66);
  const local = t.b.local(elem, 'local', 18);
  const constant = t.b.constants(elem, 'constant', bits);
  // `copy` is where `out` is; the results come behind what is written there last.
  t.body.push(ir.assign(x, ir.load(ir.at(inputs, t.i))));
  t.body.push(
    ir.store(ir.at(shared, ir.add(j, ir.i32(1))), ir.read(x)),
    ir.store(ir.at(shared, j, { disp: ELEM_SIZE[elem] }), ir.read(x)),
  );
  t.body.push(ir.store(ir.at(local, ir.add(low, ir.i32(2))), ir.read(x)));
  const row = ir.mul(t.i, ir.i32((MOST * 8) / ELEM_SIZE[elem]));
  t.body.push(ir.store(ir.at(copy, ir.add(row, ir.i32((80 * 8) / ELEM_SIZE[elem]))), ir.read(x)));
  t.result(ir.load(ir.at(shared, ir.add(j, ir.i32(1)))));
  t.result(ir.load(ir.at(local, ir.add(ir.i32(2), low))));
  t.result(ir.load(ir.at(constant, low)));
  t.result(ir.load(ir.at(constant, ir.i32(3))));
  t.result(ir.load(ir.at(copy, ir.add(row, ir.i32((80 * 8) / ELEM_SIZE[elem])))));
  t.result(ir.load(ir.at(inputs, ir.sub(t.i, ir.i32(1)), { disp: ELEM_SIZE[elem] })));
  t.result(ir.load(ir.at(inputs, ir.sub(ir.add(t.i, ir.i32(5)), ir.i32(5)))));
  const next = t.b.variable('i32', 'next');
  t.body.push(ir.assign(next, ir.add(t.i, ir.i32(3))));
  t.result(ir.load(ir.at(inputs, ir.sub(ir.read(next), ir.i32(3)))));
  const s = t.sample();
  return { ...s, args: [...s.args, s.args[0] ?? 0] };
}

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
  'load',
  'store',
];

/** What has an order and a scope, in turn: every order that its operation can have. */
const HOW: readonly { readonly order?: MemoryOrder; readonly scope?: MemoryScope }[] = [
  {},
  { order: 'acquire', scope: 'block' },
  { order: 'release' },
  { order: 'acq_rel', scope: 'system' },
  { order: 'seq_cst', scope: 'block' },
  { scope: 'system' },
];

function howOf(fn: AtomicOp, system: boolean): typeof HOW {
  const not = { load: ['release', 'acq_rel'], store: ['acquire', 'acq_rel'] }[fn as string];
  return HOW.filter(
    ({ order, scope }) => (system || scope !== 'system') && (order === undefined || not?.includes(order) !== true),
  );
}

/** The atomic operations of a type. */
export function atomicsOf(type: ElemType): readonly AtomicOp[] {
  if (ELEM_SIZE[type] < 4) return ['exch', 'cas', 'load', 'store'];
  const not = isFloat(type) ? ['and', 'or', 'xor', 'inc', 'dec'] : ['nanMax', 'nanMin'];
  return ATOMICS.filter((fn) => !not.includes(fn));
}

function fits(elem: ElemType, v: number): boolean {
  const range = 2 ** (8 * ELEM_SIZE[elem]);
  return elem.startsWith('u') ? v >= 0 && v < range : v >= -range / 2 && v < range / 2;
}

/** Each thread on an element of its own, with and without a result; in each space. */
function atomics(elem: ElemType, system: boolean): Sample[] {
  const type = widen(elem);
  // Denormals are flushed by float additions in some memories, and infinities make NaNs of many signs.
  const tame = (v: Value): boolean =>
    !isFloat(type) ||
    Number.isNaN(v) ||
    Math.abs(Number(v)) === 0 ||
    (Math.abs(Number(v)) > 1e-30 && Number.isFinite(v));
  const [as, bs] = pairs(
    corners(type, random(5))
      .filter(tame)
      .filter((_, k) => k % 2 === 0 || k > 40)
      // Operands of small elements are as small.
      .filter((v) => !isInt(elem) || ELEM_SIZE[elem] > 2 || fits(elem, Number(v))),
  );
  return (['global', 'shared'] as const).map((space) => {
    const t = new Table(`atomics of ${elem} in ${space} memory`, as.length);
    const [a, b, old] = [t.b.variable(type, 'a'), t.b.variable(type, 'b'), t.b.variable(type, 'old')];
    t.body.push(ir.assign(a, t.operand(type, as)), ir.assign(b, t.operand(type, bs)));
    const global = t.array(elem, as);
    const array = space === 'global' ? global : t.b.shared(elem, 's', 64);
    const mem = ir.at(array, space === 'global' ? t.i : ir.special('threadIdx.x'));
    for (const fn of atomicsOf(elem)) {
      const third = ir.constant(type, 9);
      for (const args of fn === 'cas'
        ? [
            [ir.read(b), third],
            [ir.read(a), third],
          ]
        : fn === 'load'
          ? [[]]
          : [[ir.read(b)], [third]]) {
        if (fn === 'store') continue;
        t.body.push(
          ir.store(mem, ir.read(a)),
          ir.atomic(fn, mem, args, old),
          t.store(ir.read(old)),
          t.store(ir.load(mem)),
        );
      }
      const args = fn === 'cas' ? [ir.read(b), third] : fn === 'load' ? [] : [ir.read(b)];
      for (const how of howOf(fn, system))
        t.body.push(
          ir.store(mem, ir.read(a)),
          ir.atomic(fn, mem, args, undefined, ir.NOWHERE, how),
          t.store(ir.load(mem)),
        );
      for (const how of fn === 'store' ? [] : howOf(fn, system).slice(1))
        t.body.push(ir.atomic(fn, mem, args, old, ir.NOWHERE, how), t.store(ir.read(old)));
    }
    return t.sample();
  });
}

/** Indices of 64 bits, computed and with offsets, in each space. */
function wideIndices(): Sample {
  const values = corners('f64', random(6)).map((v) => (Number.isNaN(v) ? 1 : v));
  const t = new Table('indices of 64 bits', values.length, 64);
  const inputs = t.array('f64', values);
  const bytes = new Uint8Array(Float64Array.from(values, Number).buffer);
  const wide = (e: Expr): Expr => ir.cast('i64', e);
  const i = t.b.variable('i64', 'wide');
  const constant = t.b.constants('f64', 'constant', bytes);
  const [shared, local] = [t.b.shared('f64', 'shared', 64), t.b.local('f64', 'local', 4)];
  const thread = wide(ir.special('threadIdx.x'));
  t.body.push(ir.assign(i, wide(t.i)));
  t.body.push(ir.store(ir.at(shared, thread), ir.load(ir.at(inputs, ir.read(i)))));
  t.body.push(ir.store(ir.at(local, ir.and(ir.read(i), ir.i64(3))), ir.load(ir.at(shared, thread))));
  t.result(ir.load(ir.at(constant, ir.read(i))));
  t.result(ir.load(ir.at(shared, ir.sub(ir.add(thread, ir.i64(7)), ir.i64(7)))));
  t.result(ir.load(ir.at(local, ir.and(ir.read(i), ir.i64(3)))));
  t.result(ir.load({ ...ir.at(inputs, ir.sub(ir.mul(ir.read(i), ir.i64(8)), ir.i64(8))), scale: 1, disp: 8 }));
  return t.sample();
}

/** Static shared memory beyond what a module may declare, and dynamic shared memory behind it. */
function largeShared(): Sample {
  const t = new Table('large shared memory', 64);
  const [first, second] = [t.b.shared('f32', 'first', 13_000), t.b.shared('i32', 'second', 64)];
  const [dynamic, same] = [t.b.shared('i32', 'dynamic'), t.b.shared('u8', 'same')];
  const j = ir.special('threadIdx.x');
  const far = ir.sub(ir.i32(12_999), j);
  t.body.push(ir.store(ir.at(first, far), ir.cast('f32', j)), ir.store(ir.at(second, j), ir.mul(j, ir.i32(3))));
  t.body.push(ir.store(ir.at(dynamic, j), ir.mul(j, ir.i32(1000))));
  t.result(ir.load(ir.at(first, far)));
  t.result(ir.load(ir.at(second, j)));
  t.result(ir.load(ir.at(dynamic, j)));
  t.result(ir.load(ir.at(same, ir.add(ir.mul(j, ir.i32(4)), ir.i32(1)))));
  t.result(ir.special('sharedBytes'));
  const sample = t.sample();
  return { ...sample, launch: { ...sample.launch, sharedBytes: 256 } };
}

/** What two warps give each other: values of a type, and votes. */
function exchanges(type: ValueType): Sample {
  const rng = random(7);
  const values = corners(type, rng).filter((v) => !Number.isNaN(v));
  const operands = Array.from({ length: 64 }, (_, k) => values[k < 32 ? rng.below(3) : rng.below(values.length)] ?? 0);
  const t = new Table(`exchanges of ${type}`, operands.length);
  const [v, lane] = [t.b.variable(type, 'v'), ir.special('laneId')];
  t.body.push(ir.assign(v, t.operand(type, operands)));
  const exchange = (fn: WarpOp, args: readonly Expr[], mask?: Expr): void => {
    const result = t.b.variable(warpResult(fn, args[0]?.type), fn);
    t.body.push({
      op: 'warp',
      fn,
      mask: fn === 'activeMask' ? undefined : (mask ?? ir.u32(0xffffffff)),
      args,
      result,
      pos: ir.NOWHERE,
    });
    t.body.push(t.store(ir.read(result)));
  };
  for (const fn of ['shfl', 'shflUp', 'shflDown', 'shflXor'] as const) {
    for (const by of [ir.i32(0), ir.i32(1), ir.i32(5), ir.i32(31), ir.i32(34), ir.mul(lane, ir.i32(7))])
      exchange(fn, [ir.read(v), by]);
  }
  for (const fn of ['matchAny', 'matchAll'] as const) exchange(fn, [ir.read(v)]);
  exchange('matchAll', [ir.cast(type, ir.i32(4))]);
  for (const fn of ['all', 'any', 'eq', 'ballot'] as const) {
    for (const bound of [0, 9, 32]) exchange(fn, [ir.lt(lane, ir.i32(bound))]);
  }
  const count = t.b.variable('i32', 'count');
  for (const kind of ['count', 'and', 'or'] as const) {
    for (const bound of [0, 40, 64])
      t.body.push(ir.vote(kind, ir.lt(t.i, ir.i32(bound)), count), t.store(ir.read(count)));
  }
  return t.sample();
}

/** All samples; the interpreter runs each in well under a second. `system`: with atomics of that scope, which OpenCL 1.2 has not. */
export function operatorSamples(system = true): Sample[] {
  return [
    ...VALUES.map(operations),
    ...VALUES.flatMap((type) => [...constants(type, false), ...constants(type, true)]),
    ...VALUES.map(conversions),
    ...ELEMENTS.map(memory),
    ...[...INTEGERS, ...FLOATS, ...SMALL].flatMap((elem) => atomics(elem, system)),
    ...[...INTEGERS, ...FLOATS].map(exchanges),
    wideIndices(),
    largeShared(),
  ];
}
