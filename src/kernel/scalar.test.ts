import { describe, expect, it } from 'vitest';
import type { ElemType, ValueType } from '../compiler/ir/ops.ts';
import { f32, i8, u8 } from '../dtype/index.ts';
import { checkScalar, fits, scalar, scalarType } from './scalar.ts';

const say = (wrong: string): string => `k: ${wrong}`;

describe('scalar arguments are never wrapped or truncated', () => {
  it.each<[unknown, ElemType, string]>([
    [2.5, 'i32', 'k: 2.5 is not an integer'],
    [Number.NaN, 'u8', 'k: NaN is not an integer'],
    [2 ** 31, 'i32', 'k: 2147483648 is out of range, which is -2147483648 to 2147483647'],
    [-1, 'u32', 'k: -1 is out of range, which is 0 to 4294967295'],
    [256, 'u8', 'k: 256 is out of range, which is 0 to 255'],
    [-129, 'i8', 'k: -129 is out of range, which is -128 to 127'],
    [40000, 'i16', 'k: 40000 is out of range'],
    [1n, 'i32', 'k: 1n is not a number: write Number(1)'],
    [1n, 'f64', 'k: 1n is not a number: write Number(1)'],
    [true, 'f32', 'k: true is not a number'],
    [true, 'i64', 'k: true is not a bigint or a whole number'],
    [1, 'bool', 'k: 1 is not true or false'],
    [2n ** 63n, 'i64', 'k: 9223372036854775808n is out of range, which is -2^63 to 2^63 - 1'],
    [-1n, 'u64', 'k: -1n is out of range, which is 0 to 2^64 - 1'],
    [-1, 'u64', 'k: -1 is out of range, which is 0 to 2^64 - 1'],
    [2 ** 53, 'i64', 'k: 9007199254740992 is beyond 2^53, where numbers are not exact: pass a bigint'],
    [0.5, 'i64', 'k: 0.5 is not an integer'],
    ['1', 'f32', "k: '1' is not a number"],
  ])('%o as %s', (value, elem, message) => {
    expect(() => checkScalar(value, elem, say)).toThrow(message);
  });

  it('takes what fits, rounding floats', () => {
    expect(checkScalar(0.1, 'f32', say)).toBe(Math.fround(0.1));
    expect(checkScalar(0.1, 'f64', say)).toBe(0.1);
    expect(checkScalar(2049, 'f16', say)).toBe(2048);
    expect(checkScalar(4294967295, 'u32', say)).toBe(4294967295);
    expect(checkScalar(-5n, 'i64', say)).toBe(-5n);
    expect(checkScalar(7, 'u64', say)).toBe(7);
    expect(checkScalar(false, 'bool', say)).toBe(false);
    expect(Object.is(checkScalar(-0, 'i32', say), 0)).toBe(true);
  });
});

describe('fits', () => {
  it.each<[unknown, ValueType, boolean]>([
    [1, 'i32', true],
    [1.5, 'i32', false],
    [2 ** 31, 'i32', false],
    [-1, 'u32', false],
    [2 ** 32 - 1, 'u32', true],
    [0.1, 'f32', true],
    [Number.NaN, 'f64', true],
    ['1', 'f64', false],
    [1n, 'f32', false],
    [true, 'bool', true],
    [1, 'bool', false],
    [1n, 'i64', true],
    [2n ** 63n, 'i64', false],
    [2 ** 53, 'i64', false],
    [5, 'u64', true],
    [-5, 'u64', false],
    [-5n, 'u64', false],
  ])('%o as %s: %s', (value, type, expected) => {
    expect(fits(value, type)).toBe(expected);
    let accepted = true;
    try {
      checkScalar(value, type, say);
    } catch {
      accepted = false;
    }
    expect(accepted).toBe(expected);
  });
});

describe('cuda.scalar', () => {
  it('carries its type', () => {
    const two = scalar(f32, 2);
    expect([two.value, two.dtype, scalarType(two)]).toEqual([2, f32, 'f32']);
    expect(scalarType(scalar('int16', 3))).toBe('i16');
    expect(scalarType({})).toBeUndefined();
  });

  it.each([
    [() => scalar(i8, 128), 'cuda.scalar(i8, 128): 128 is out of range, which is -128 to 127'],
    [() => scalar(u8, 0.5), 'cuda.scalar(u8, 0.5): 0.5 is not an integer'],
    [() => scalar('i8' as never, 1), 'ambiguous'],
    [() => scalar('complex64', 'x' as never), 'c64'],
  ])('refuses what is no value of the type', (make, message) => {
    expect(make).toThrow(message);
  });
});
