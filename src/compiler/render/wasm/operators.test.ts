/**
 * Every operator of the IR on every type, scalar and vector, on edge values and random ones, against the interpreter.
 */
import { describe, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { writeElement } from '../../ir/evaluate.ts';
import {
  type BinaryOp,
  type CompareOp,
  ELEM_SIZE,
  type ElemType,
  type Expr,
  isFloat,
  isInt,
  type MathFn,
  type UnaryOp,
  type ValueType,
  widen,
} from '../../ir/ops.ts';
import { OPERATIONS } from '../../ir/testing.ts';
import { check } from './launch.testing.ts';

const INTS = ['i32', 'u32', 'i64', 'u64'] as const;
const FLOATS = ['f32', 'f64'] as const;
const ELEMS = ['bool', 'i8', 'u8', 'i16', 'u16', 'f16', 'i32', 'u32', 'f32', 'i64', 'u64', 'f64'] as const;

/** A small generator of reproducible numbers (mulberry32). */
function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Edge values of an element type, and some at random. */
function samples(elem: ElemType, extra: number): (number | bigint | boolean)[] {
  const next = random(7);
  if (elem === 'bool') return [false, true, true, false];
  if (isFloat(elem)) {
    const edges = [
      0,
      -0,
      1,
      -1,
      0.5,
      -0.5,
      0.49999997,
      -0.49999997,
      1.5,
      2.5,
      -1.5,
      -2.5,
      3,
      -7,
      127.5,
      255,
      256,
      2 ** 23 + 1,
      2 ** 24,
      8388607.5,
      -8388607.5,
      2 ** 31,
      -(2 ** 31),
      2 ** 32,
      2 ** 63,
      -(2 ** 63),
      2 ** 64,
      65504,
      65519,
      65520,
      65536,
      2 ** -14,
      2 ** -24,
      2 ** -25,
      3 * 2 ** -26,
      1e-40,
      -1e-45,
      3.4e38,
      -3.4e38,
      1e300,
      -1e-310,
      5e-324,
      Math.PI,
      0.1,
      2049,
      2051,
      1.00048828125,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
    ];
    const drawn = Array.from({ length: extra }, () => (next() - 0.5) * 10 ** (next() * 20 - 8));
    return [...edges, ...drawn];
  }
  const bits = BigInt(ELEM_SIZE[elem] * 8);
  const edges = [
    0n,
    1n,
    -1n,
    2n,
    -2n,
    3n,
    -7n,
    10n,
    31n,
    32n,
    33n,
    63n,
    64n,
    100n,
    1n << (bits - 1n),
    (1n << (bits - 1n)) - 1n,
    -(1n << (bits - 1n)),
    (1n << bits) - 1n,
  ];
  const drawn = Array.from(
    { length: extra },
    () => BigInt(Math.floor(next() * 2 ** 53)) * BigInt(Math.floor(next() * 2 ** 12)),
  );
  return [...edges, ...drawn].map((x) => {
    const unsigned = elem.startsWith('u');
    const wrapped = unsigned ? BigInt.asUintN(Number(bits), x) : BigInt.asIntN(Number(bits), x);
    return bits === 64n ? wrapped : Number(wrapped);
  });
}

/** All combinations of the operands, one a thread; `make` says what each computes from them. */
function combine(
  name: string,
  from: readonly ElemType[],
  to: ElemType,
  lists: readonly (readonly (number | bigint | boolean)[])[],
  make: (xs: readonly Expr[]) => Expr,
): void {
  const b = new ir.KernelBuilder(name);
  const inputs = from.map((elem, i) => b.global(elem, `in${i}`));
  const out = b.global(to, 'out');
  const rows = lists.reduce<(number | bigint | boolean)[][]>(
    (all, list) => all.flatMap((row) => list.map((x) => [...row, x])),
    [[]],
  );
  const i = ir.add(ir.mul(ir.special('blockIdx.x'), ir.special('blockDim.x')), ir.special('threadIdx.x'));
  const kernel = b.build([ir.store(ir.at(out, i), make(inputs.map((array) => ir.load(ir.at(array, i)))))]);
  const block = 64;
  const count = Math.ceil(rows.length / block) * block;
  const offsets: number[] = [];
  let at = 0;
  for (const elem of [...from, to]) {
    offsets.push(at);
    at += Math.ceil((count * ELEM_SIZE[elem]) / 16) * 16;
  }
  const image = new Uint8Array(at);
  const view = new DataView(image.buffer);
  for (const [r, row] of rows.entries()) {
    for (const [c, elem] of from.entries())
      writeElement(view, (offsets[c] ?? 0) + r * ELEM_SIZE[elem], elem, row[c] ?? 0);
  }
  check(kernel, { grid: [count / block, 1, 1], block: [block, 1, 1] }, offsets, image, [
    { at: offsets.at(-1) ?? 0, elem: to, length: rows.length },
  ]);
}

function unary(fn: UnaryOp, type: ValueType): void {
  it(`${fn} ${type}`, () => {
    const result = fn === 'isNaN' || fn === 'isFinite' ? 'bool' : fn === 'toInt32' ? 'i32' : type;
    combine(fn, [type], result, [samples(type, 200)], ([a]) => ir.unary(fn, a as Expr));
  });
}

function binary(fn: BinaryOp, type: ValueType): void {
  it(`${fn} ${type}`, () => {
    combine(fn, [type, type], type, [samples(type, 12), samples(type, 12)], ([a, b]) =>
      ir.binary(fn, a as Expr, b as Expr),
    );
  });
}

describe('unary', () => {
  for (const type of INTS) for (const fn of ['neg', 'abs', 'not', 'sign'] as const) unary(fn, type);
  for (const type of FLOATS) {
    for (const fn of [
      'neg',
      'abs',
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
    ] as const)
      unary(fn, type);
  }
  unary('not', 'bool');
});

describe('the table of intrinsics', () => {
  for (const row of OPERATIONS) {
    it.each(row.types)(`${row.name} %s`, (type) => {
      const values = samples(type, row.arity === 1 ? 200 : 12);
      const each = <T>(x: T): T[] => Array.from({ length: row.arity }, () => x);
      combine(row.name, each(type), type, each(values), (args) => ir.intrinsic(row, ...args));
    });
  }
});

describe('binary', () => {
  for (const type of INTS) {
    for (const fn of [
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
    ] as const)
      binary(fn, type);
  }
  for (const type of FLOATS) {
    for (const fn of ['add', 'sub', 'mul', 'div', 'rem', 'min', 'max', 'fmin', 'fmax', 'copysign'] as const)
      binary(fn, type);
  }
  for (const fn of ['and', 'or', 'xor'] as const) binary(fn, 'bool');
});

describe('by a constant', () => {
  for (const type of INTS) {
    for (const fn of ['div', 'rem', 'floordiv', 'shl', 'shr'] as const) {
      it(`${fn} ${type}`, () => {
        for (const c of [0, 1, -1, 2, 3, 7, 16, 64, -4, 1024]) {
          combine(fn, [type], type, [samples(type, 20)], ([a]) => ir.binary(fn, a as Expr, ir.constant(type, c)));
        }
      });
    }
  }
});

/** In either order: a limit is one instruction where it is neither NaN nor a zero with the wrong sign. */
describe('limits', () => {
  for (const type of FLOATS) {
    for (const fn of ['min', 'max'] as const) {
      it(`${fn} ${type}`, () => {
        for (const c of [0, -0, 1, -1, 255, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]) {
          const limit = ir.constant(type, c);
          combine(fn, [type], type, [samples(type, 20)], ([a]) => ir.binary(fn, a as Expr, limit));
          combine(fn, [type], type, [samples(type, 20)], ([a]) => ir.binary(fn, limit, a as Expr));
        }
      });
    }
  }
});

/** Remainders of sums are most often less than the divisor away. */
describe('remainders that wrap', () => {
  for (const type of ['i32', 'u32'] as const) {
    it(type, () => {
      for (const c of [0, 1, -1, 3, 7, -7, 100, 2 ** 30, 2 ** 30 + 1, 2 ** 31 - 1, -(2 ** 31)]) {
        const divisor = type === 'u32' ? c >>> 0 : c;
        const near = [-2, -1, 0, 1, 2].flatMap((k) => [k, divisor + k, 2 * divisor + k]);
        const wrapped = near.map((x) => (type === 'u32' ? x >>> 0 : x | 0));
        const once = wrapped.filter((x) => x >= 2 && x < 2 * divisor);
        for (const list of [wrapped, once, samples(type, 20)].filter(({ length }) => length > 0)) {
          for (const by of [0, 1]) {
            combine(`rem ${c}`, [type], type, [list], ([a]) =>
              ir.binary('rem', ir.binary('sub', a as Expr, ir.constant(type, by)), ir.constant(type, divisor)),
            );
          }
        }
      }
    });
  }
});

describe('compare and select', () => {
  for (const type of [...INTS, ...FLOATS, 'bool'] as const) {
    const fns: CompareOp[] = type === 'bool' ? ['eq', 'ne'] : ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];
    for (const fn of fns) {
      it(`${fn} ${type}`, () => {
        const lists = [samples(type, 8), samples(type, 8)];
        combine(fn, [type, type], 'bool', lists, ([a, b]) => ir.compare(fn, a as Expr, b as Expr));
        combine(`select ${fn}`, [type, type], type, lists, ([a, b]) =>
          ir.select(ir.compare(fn, a as Expr, b as Expr), b as Expr, a as Expr),
        );
      });
    }
    it(`select by a bool, ${type}`, () => {
      combine(
        'select',
        ['bool', type, type],
        type,
        [samples('bool', 0), samples(type, 0), samples(type, 0)],
        ([c, a, b]) => ir.select(c as Expr, a as Expr, b as Expr),
      );
    });
  }
});

describe('cast', () => {
  for (const from of ['bool', ...INTS, ...FLOATS] as const) {
    for (const to of ELEMS) {
      it(`${from} to ${to}`, () => {
        combine('cast', [from], widen(to), [samples(from, 300)], ([a]) => ir.cast(to, a as Expr));
      });
    }
  }
  for (const [a, b] of [
    ['i32', 'f32'],
    ['u32', 'f32'],
    ['i32', 'u32'],
    ['i64', 'f64'],
    ['u64', 'f64'],
    ['i64', 'u64'],
  ] as const) {
    it(`bits of ${a} and ${b}`, () => {
      combine('bitcast', [a], b, [samples(a, 20)], ([x]) => ir.bitcast(b, x as Expr));
      // A NaN may come back with other bits.
      combine('bitcast', [b], a, [samples(b, 20).filter((x) => !Number.isNaN(x))], ([x]) => ir.bitcast(a, x as Expr));
    });
  }
});

describe('load and store', () => {
  for (const elem of ELEMS) {
    it(elem, () => {
      const type = widen(elem);
      combine('copy', [elem], elem, [samples(elem, 40)], ([a]) => a as Expr);
      // Storing narrows what does not fit.
      combine('narrow', [type], elem, [samples(type, 100)], ([a]) => a as Expr);
      if (isInt(type))
        combine('sum', [elem, elem], elem, [samples(elem, 0), samples(elem, 0)], ([a, b]) =>
          ir.add(a as Expr, b as Expr),
        );
    });
  }
});

describe('fma', () => {
  for (const type of FLOATS) {
    it(type, () => {
      const few = [
        0,
        -0,
        1,
        -1,
        3,
        1 + 2 ** -23,
        1 - 2 ** -24,
        1 + 2 ** -52,
        2 ** -126,
        2 ** -149,
        2 ** 127,
        1e-200,
        1e-160,
        -1e200,
        1e308,
        5e-324,
        2 ** -1022,
        Number.POSITIVE_INFINITY,
        Number.NaN,
        Math.PI,
        0.1,
      ];
      combine('fma', [type, type, type], type, [few, few, few], ([a, b, c]) => ir.fma(a as Expr, b as Expr, c as Expr));
      const next = random(3);
      const near = Array.from({ length: 14 }, () => (1 + next()) * 2 ** Math.floor(next() * 6 - 3));
      combine(
        'fma',
        [type, type, type],
        type,
        [near, near, [...near.map((x) => -x * 1.7), ...near.map((x) => x * 2 ** -60)]],
        ([a, b, c]) => ir.fma(a as Expr, b as Expr, c as Expr),
      );
    });
  }
});

describe('imported functions', () => {
  for (const fn of ['exp', 'sin', 'log2', 'erf', 'rsqrt'] satisfies MathFn[]) {
    for (const type of FLOATS) {
      it(`${fn} ${type}`, () => combine(fn, [type], type, [samples(type, 30)], ([a]) => ir.call(fn, a as Expr)));
    }
  }
  for (const fn of ['pow', 'atan2', 'hypot'] satisfies MathFn[]) {
    it(`${fn} f64`, () =>
      combine(fn, ['f64', 'f64'], 'f64', [samples('f64', 2), samples('f64', 2)], ([a, b]) =>
        ir.call(fn, a as Expr, b as Expr),
      ));
  }
});
