/** `ndarray.arange`, against lengths and elements that NumPy 2 gives. */
import { describe, expect, it } from 'vitest';
import { f32, i32, i64, ndarray } from '../index.ts';

const list = (a: { toArray(): unknown }): unknown => a.toArray();

describe('arange', () => {
  it.each([
    [[5], [0, 1, 2, 3, 4]],
    [[0], []],
    [[-3], []],
    [[2.5], [0, 1, 2]],
    [
      [2, 5],
      [2, 3, 4],
    ],
    [[5, 2], []],
    [
      [10, 0, -3],
      [10, 7, 4, 1],
    ],
    [
      [0, 1, 0.25],
      [0, 0.25, 0.5, 0.75],
    ],
    [
      [1, 1.3, 0.1],
      [1, 1.1, 1.2000000000000002, 1.3000000000000003],
    ],
    [
      [0, -1, -0.5],
      [0, -0.5],
    ],
  ])('of %j is %j', (bounds, expected) => {
    expect(list((ndarray.arange as (...args: number[]) => ReturnType<typeof ndarray.arange>)(...bounds))).toEqual(
      expected,
    );
  });

  it('takes a dtype or options behind its numbers', () => {
    expect(ndarray.arange(1, 3, f32).dtype).toBe(f32);
    expect(list(ndarray.arange(6, 0, -2, { dtype: i32 }))).toEqual([6, 4, 2]);
    expect(list(ndarray.arange(3, i32))).toEqual([0, 1, 2]);
  });

  it('of bigints is i64', () => {
    const a = ndarray.arange(2n ** 60n, 2n ** 60n + 5n, 2n);
    expect(a.dtype).toBe(i64);
    expect(list(a)).toEqual([2n ** 60n, 2n ** 60n + 2n, 2n ** 60n + 4n]);
  });

  it.each([
    [[0, 5, 0], 'a step of 0'],
    [[Number.NaN], 'has no length'],
    [[0, Infinity], 'has no length'],
    [[1n, 2], 'not both'],
    [[1, 2, 3, 4], 'got 4 numbers'],
    [[], 'got 0 numbers'],
    [['3'], 'got 0 numbers'],
  ])('of %s is refused', (bounds, message) => {
    expect(() => (ndarray.arange as (...args: unknown[]) => unknown)(...bounds)).toThrow(message);
  });
});

it('options of another kind than they have are refused', () => {
  expect(() => ndarray.zeros(2, null as never)).toThrow('takes its options as an object');
  expect(() => ndarray.zeros(2, 8 as never)).toThrow('takes its options as an object');
});
