import { describe, expect, test } from 'vitest';
import type { Value } from './evaluate.ts';
import {
  evalBinary,
  evalBitcast,
  evalCall,
  evalCast,
  evalCompare,
  evalUnary,
  readElement,
  writeElement,
  zero,
} from './evaluate.ts';
import type { BinaryOp, ElemType, UnaryOp, ValueType } from './ops.ts';
import { ELEM_SIZE, widen } from './ops.ts';

const INT: Readonly<Record<string, readonly [bits: number, signed: boolean]>> = {
  i32: [32, true],
  u32: [32, false],
  i64: [64, true],
  u64: [64, false],
};
const corners = (bits: number): bigint[] => {
  const some = [
    0n,
    1n,
    2n,
    3n,
    5n,
    7n,
    31n,
    32n,
    33n,
    63n,
    64n,
    0x1234567n,
    0x9e3779b9n,
    1n << 31n,
    (1n << 32n) - 1n,
    1n << 63n,
    (1n << 64n) - 1n,
    (1n << 63n) - 1n,
    0xdeadbeefcafef00dn,
  ];
  return [...some, ...some.map((x) => -x)].map((x) => BigInt.asUintN(bits, x));
};

/** The definitions of ops.ts, said in unbounded integers. */
function integerRule(fn: BinaryOp, a: bigint, b: bigint, bits: number): bigint {
  const negative = a < 0n !== b < 0n;
  switch (fn) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'div':
      return b === 0n ? 0n : a / b;
    case 'rem':
      return b === 0n ? 0n : a - (a / b) * b;
    case 'floordiv':
      return b === 0n ? 0n : negative && a % b !== 0n ? a / b - 1n : a / b;
    case 'and':
      return a & b;
    case 'or':
      return a | b;
    case 'xor':
      return a ^ b;
    case 'shl':
      return a * 2n ** BigInt.asUintN(bits === 32 ? 5 : 6, b);
    case 'shr':
      return a >> BigInt.asUintN(bits === 32 ? 5 : 6, b);
    case 'min':
      return a < b ? a : b;
    case 'max':
      return a > b ? a : b;
    default:
      throw new Error(fn);
  }
}

describe('integers', () => {
  test.each(['i32', 'u32', 'i64', 'u64'] as const)('%s arithmetic wraps', (type) => {
    const [bits, signed] = INT[type] ?? [0, false];
    const fit = (x: bigint): bigint => (signed ? BigInt.asIntN(bits, x) : BigInt.asUintN(bits, x));
    const shown = (x: bigint): Value => (bits === 32 ? Number(x) : x);
    const values = corners(bits).map(fit);
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
    ] as const) {
      for (const a of values) {
        for (const b of values) {
          const got = evalBinary(fn, type, shown(a), shown(b));
          const want = shown(fit(integerRule(fn, a, b, bits)));
          if (!Object.is(got, want)) expect.fail(`${a} ${fn} ${b}: ${got}, not ${want}`);
        }
      }
    }
  });

  test('powers, counts, signs', () => {
    expect(evalBinary('ipow', 'i32', 3, 5)).toBe(243);
    expect(evalBinary('ipow', 'i32', 3, 40)).toBe(Number(BigInt.asIntN(32, 3n ** 40n)));
    expect(evalBinary('ipow', 'u64', 3n, 77n)).toBe(BigInt.asUintN(64, 3n ** 77n));
    expect(evalBinary('ipow', 'i64', 2n, -1n)).toBe(0n);
    expect(evalBinary('ipow', 'i32', 0, 0)).toBe(1);
    const unary = (fn: UnaryOp, type: ValueType, ...values: Value[]): Value[] =>
      values.map((v) => evalUnary(fn, type, v));
    expect(unary('neg', 'i32', -0x80000000, 0, 5)).toEqual([-0x80000000, 0, -5]);
    expect(unary('neg', 'u32', 1)).toEqual([0xffffffff]);
    expect(unary('abs', 'i32', -0x80000000, -3)).toEqual([-0x80000000, 3]);
    expect(unary('not', 'u32', 0)).toEqual([0xffffffff]);
    expect(unary('not', 'i64', 0n)).toEqual([-1n]);
    expect(unary('sign', 'i64', -5n, 0n, 7n)).toEqual([-1n, 0n, 1n]);
    expect(unary('sign', 'u32', 0, 9)).toEqual([0, 1]);
  });
});

describe('floats', () => {
  const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

  test('f32 arithmetic is that of a Float32Array', () => {
    const cell = new Float32Array(1);
    const values = [
      0,
      -0,
      1,
      -1,
      0.1,
      1e-45,
      1.17549435e-38,
      3.4028234663852886e38,
      16777217,
      1 / 3,
      1e10,
      -2.5,
      inf,
      -inf,
      nan,
    ].map(Math.fround);
    for (const a of values) {
      for (const b of values) {
        for (const [fn, exact] of [
          ['add', a + b],
          ['sub', a - b],
          ['mul', a * b],
          ['div', a / b],
          ['rem', a % b],
        ] as const) {
          cell[0] = exact;
          expect(evalBinary(fn, 'f32', a, b)).toBe(cell[0]);
        }
      }
    }
  });

  test("min and max are JavaScript's, fmin and fmax are C's", () => {
    expect(evalBinary('min', 'f32', nan, 1)).toBeNaN();
    expect(Object.is(evalBinary('min', 'f64', 0, -0), -0)).toBe(true);
    expect(evalBinary('fmin', 'f32', nan, 1)).toBe(1);
    expect(evalBinary('fmax', 'f64', 2, nan)).toBe(2);
    expect(evalBinary('fmax', 'f64', nan, nan)).toBeNaN();
    expect(Object.is(evalBinary('copysign', 'f32', 3, -0), -3)).toBe(true);
  });

  test('rounding functions', () => {
    const each = (fn: UnaryOp): Value[] => [2.5, -2.5, 0.49999999999999994, -0.2].map((x) => evalUnary(fn, 'f64', x));
    expect(each('rint')).toEqual([2, -2, 0, -0]);
    expect(each('round')).toEqual([3, -2, 0, -0]);
    expect(each('floor')).toEqual([2, -3, 0, -1]);
    expect(each('ceil')).toEqual([3, -2, 1, -0]);
    expect(each('trunc')).toEqual([2, -2, 0, -0]);
    expect(evalUnary('sqrt', 'f32', 2)).toBe(Math.fround(Math.SQRT2));
    expect(Object.is(evalUnary('neg', 'f32', 0), -0)).toBe(true);
    expect([nan, inf, 1].map((x) => [evalUnary('isNaN', 'f64', x), evalUnary('isFinite', 'f64', x)])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
  });

  test('comparisons with NaN are false, but ne', () => {
    expect((['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const).map((fn) => evalCompare(fn, nan, nan))).toEqual([
      false,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(evalCompare('eq', 0, -0)).toBe(true);
    expect(evalCompare('lt', -1n, 0n)).toBe(true);
  });
});

describe('conversions', () => {
  const cast = (from: ValueType, to: ElemType, ...values: Value[]): Value[] => values.map((v) => evalCast(from, to, v));
  const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

  test('integers wrap into integers, narrow ones are widened again', () => {
    expect(cast('i32', 'i8', 127, 128, -129, 256)).toEqual([127, -128, 127, 0]);
    expect(cast('i32', 'u16', -1, 65536)).toEqual([65535, 0]);
    expect(cast('i32', 'u64', -1)).toEqual([(1n << 64n) - 1n]);
    expect(cast('u64', 'i32', (1n << 64n) - 1n)).toEqual([-1]);
    expect(cast('u32', 'i64', 0xffffffff)).toEqual([0xffffffffn]);
  });

  test('floats truncate and saturate, NaN gives 0', () => {
    expect(cast('f64', 'i32', 2.9, -2.9, 3e9, -inf, nan, -0)).toEqual([2, -2, 0x7fffffff, -0x80000000, 0, 0]);
    expect(cast('f64', 'u8', 300, -1, 255.9, -0.9)).toEqual([255, 0, 255, 0]);
    expect(cast('f32', 'i16', 40000, -40000)).toEqual([32767, -32768]);
    expect(cast('f64', 'u32', 4294967295.9, -1)).toEqual([0xffffffff, 0]);
    expect(cast('f64', 'i64', 2 ** 63, -(2 ** 63), 1e300, nan)).toEqual([
      (1n << 63n) - 1n,
      -(1n << 63n),
      (1n << 63n) - 1n,
      0n,
    ]);
    expect(cast('f64', 'u64', 2 ** 64, 2 ** 63, -5)).toEqual([(1n << 64n) - 1n, 1n << 63n, 0n]);
  });

  test('to floats: one rounding', () => {
    expect(cast('i64', 'f64', (1n << 53n) + 1n)).toEqual([2 ** 53]);
    expect(cast('i32', 'f32', 16777217)).toEqual([16777216]);
    expect(cast('i64', 'f32', (1n << 62n) + (1n << 38n) + 1n)).toEqual([2 ** 62 + 2 ** 39]);
    expect(cast('f64', 'f16', 1 + 2 ** -11 + 2 ** -40, 1e9)).toEqual([1 + 2 ** -10, inf]);
    expect(cast('u64', 'f16', 65519n, 65520n)).toEqual([65504, inf]);
  });

  test('bool', () => {
    expect(cast('f64', 'bool', 0, -0, nan, 0.1)).toEqual([false, false, false, true]);
    expect(cast('i64', 'bool', 0n, 2n)).toEqual([false, true]);
    expect(cast('bool', 'i64', true)).toEqual([1n]);
    expect(cast('bool', 'f16', true)).toEqual([1]);
  });

  test('bits', () => {
    expect(evalBitcast('f32', 'i32', -0)).toBe(-0x80000000);
    expect(evalBitcast('u64', 'f64', 0x3ff0000000000000n)).toBe(1);
    expect(evalBitcast('i32', 'u32', -1)).toBe(0xffffffff);
  });
});

test('elements of every type are written narrowed and read widened, also unaligned', () => {
  const view = new DataView(new ArrayBuffer(16));
  const cases: readonly (readonly [ElemType, Value, Value])[] = [
    ['bool', true, true],
    ['i8', 200, -56],
    ['u8', 511, 255],
    ['i16', -32769, 32767],
    ['u16', -1, 65535],
    ['f16', 0.1, 0.0999755859375],
    ['i32', -5, -5],
    ['u32', 0xfffffffe, 0xfffffffe],
    ['f32', 0.1, Math.fround(0.1)],
    ['i64', -5n, -5n],
    ['u64', (1n << 64n) - 2n, (1n << 64n) - 2n],
    ['f64', 0.1, 0.1],
  ];
  for (const [elem, written, read] of cases) {
    writeElement(view, 3, elem, written);
    expect(readElement(view, 3, elem)).toBe(read);
    expect(typeof zero(widen(elem))).toBe(typeof read);
    expect(view.getUint8(3 + ELEM_SIZE[elem])).toBe(0);
    new Uint8Array(view.buffer).fill(0);
  }
});

test("functions: JavaScript's, rounded to the type", () => {
  expect(evalCall('rsqrt', 'f32', [4])).toBe(0.5);
  expect(evalCall('exp2', 'f64', [10])).toBe(1024);
  expect(evalCall('exp', 'f32', [1])).toBe(Math.fround(Math.E));
  expect(evalCall('atan2', 'f64', [1, -1])).toBe((3 * Math.PI) / 4);
  expect(evalCall('tgamma', 'f64', [5])).toBe(24);
});

describe('what only GPUs have', () => {
  test('mulhi is the upper half of the whole product', () => {
    expect(evalBinary('mulhi', 'u32', 0xffffffff, 0xffffffff)).toBe(0xfffffffe);
    expect(evalBinary('mulhi', 'i32', -1, 5)).toBe(-1);
    expect(evalBinary('mulhi', 'u64', 2n ** 63n, 6n)).toBe(3n);
    expect(evalBinary('mulhi', 'i64', -(2n ** 63n), 2n)).toBe(-1n);
  });
  test('approximations round the true value and flush denormals, of either sign', () => {
    expect(evalUnary('exp2Approx', 'f32', 3)).toBe(8);
    expect(evalUnary('rsqrtApprox', 'f32', 0.25)).toBe(2);
    expect(evalUnary('rcpApprox', 'f64', 3)).toBe(1 / 3);
    expect(evalUnary('rcpApprox', 'f32', -(2 ** -130))).toBe(Number.NEGATIVE_INFINITY);
    expect(evalUnary('exp2Approx', 'f32', -130)).toBe(0);
    expect(evalBinary('divApprox', 'f32', -(2 ** -120), 2 ** 20)).toBe(-0);
    expect(evalUnary('tanhApprox', 'f32', 2 ** -140)).toBe(2 ** -140);
  });
});
