/**
 * Ranges as Python resolves them, every small case; and what is refused, with the words that help.
 */
import { describe, expect, test } from 'vitest';
import { walkRange } from '../../test/support/strided-model.ts';
import { compactLayout, elementOffset, indexLayout, normalizeIndex, resolveRange, sliceLayout } from './index.ts';

const bounds = [null, -100, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 100];

describe('ranges', () => {
  test('every range of short axes picks what walking picks', () => {
    for (const length of [0, 1, 2, 5]) {
      for (const start of bounds) {
        for (const stop of bounds) {
          for (const step of [null, 1, 2, 3, 100, -1, -2, -3, -100]) {
            const range = resolveRange([start, stop, step], length);
            const picked = Array.from({ length: range.count }, (_, i) => range.start + i * range.step);
            expect(picked, `${start}:${stop}:${step} of ${length}`).toEqual(walkRange(length, start, stop, step));
          }
        }
      }
    }
  });

  test('an empty range starts at 0 with step 1, so that its address stays inside', () => {
    expect(resolveRange([7, 3, -1], 5)).toEqual({ start: 4, count: 1, step: -1 });
    expect(resolveRange([3, 7, -1], 5)).toEqual({ start: 0, count: 0, step: 1 });
    expect(resolveRange([9], 5)).toEqual({ start: 0, count: 0, step: 1 });
  });

  test.each([
    [':', [0, 1, 2, 3, 4]],
    ['::', [0, 1, 2, 3, 4]],
    ['1:', [1, 2, 3, 4]],
    [':-1', [0, 1, 2, 3]],
    ['::-2', [4, 2, 0]],
    [' 1 : 4 : 2 ', [1, 3]],
    ['+1:+3', [1, 2]],
    ['-0:2', [0, 1]],
    ['-0::-1', [0]],
  ])('the string %j', (text, expected) => {
    const { start, count, step } = resolveRange(text, 5);
    expect(Array.from({ length: count }, (_, i) => start + i * step)).toEqual(expected);
    expect(Object.is(start, -0)).toBe(false);
  });

  test.each([
    [
      '1',
      "slice '1' on axis 0 is not of the form 'start:stop:step', such as '1:5', '::2' or ':'; for one element of the axis give the number 1",
    ],
    ['', 'is not of the form'],
    ['1:2:3:4', 'is not of the form'],
    ['a:b', 'is not of the form'],
    ['1.5:', 'is not of the form'],
    ['...', 'an ellipsis is not supported'],
  ])('the string %j is refused', (text, message) => {
    expect(() => resolveRange(text, 5)).toThrow(message);
    expect(() => resolveRange(text, 5)).toThrow(TypeError);
  });

  test('step 0 and bounds that are no integers are refused', () => {
    expect(() => resolveRange([null, null, 0], 5)).toThrow('slice step on axis 0 must not be 0');
    expect(() => resolveRange('::0', 5, 2)).toThrow('slice step on axis 2 must not be 0');
    expect(() => resolveRange([1.5], 5, 3)).toThrow('slice start on axis 3 must be an integer or null, got 1.5');
    expect(() => resolveRange([0, '2' as never], 5)).toThrow(
      "slice stop on axis 0 must be an integer or null, got '2'",
    );
    expect(() => resolveRange([0, 1, Number.NaN], 5)).toThrow(
      'slice step on axis 0 must be an integer or null, got NaN',
    );
  });
});

describe('indices', () => {
  const a = { ...compactLayout([3, 4], 2), offset: 100 };

  test('negative ones count from the end', () => {
    expect([0, 1, 2, -1, -2, -3].map((i) => normalizeIndex(i, 0, 3))).toEqual([0, 1, 2, 2, 1, 0]);
    expect(Object.is(normalizeIndex(-0, 0, 3), 0)).toBe(true);
    expect(elementOffset(a, [1, 2])).toBe(112);
    expect(elementOffset(a, [-1, -1])).toBe(122);
  });

  test('the message names index, axis and length', () => {
    expect(() => elementOffset(a, [3, 0])).toThrow('index 3 is out of range for axis 0 of length 3');
    expect(() => elementOffset(a, [0, -5])).toThrow('index -5 is out of range for axis 1 of length 4');
    expect(() => elementOffset(a, [0, -5])).toThrow(RangeError);
    expect(() => normalizeIndex(0, 0, 0)).toThrow('index 0 is out of range for axis 0 of length 0');
    expect(() => normalizeIndex(1.5, 1, 4)).toThrow('index on axis 1 must be an integer, got 1.5');
    expect(() => elementOffset(a, [0])).toThrow('1 index given for an array with 2 axes, shape [3, 4]; use slice()');
    expect(() => elementOffset(a, [0, 0, 0])).toThrow('3 indices given for an array with 2 axes, shape [3, 4]');
  });

  test('integers and ranges mix; axes not named are taken whole', () => {
    expect(indexLayout(a, [1])).toEqual({ shape: [4], strides: [2], offset: 108, itemSize: 2 });
    expect(indexLayout(a, [])).toEqual(a);
    expect(indexLayout(a, [[], 3])).toEqual({ shape: [3], strides: [8], offset: 106, itemSize: 2 });
    expect(indexLayout(a, [1, 2])).toEqual({ shape: [], strides: [], offset: 112, itemSize: 2 });
    expect(indexLayout(a, [[null, undefined, -1], ':0'])).toEqual({
      shape: [3, 0],
      strides: [-8, 2],
      offset: 116,
      itemSize: 2,
    });
    expect(() => indexLayout(a, [':', ':', ':'])).toThrow('3 indices given for an array with 2 axes');
    expect(() => indexLayout(a, [':', 4])).toThrow('index 4 is out of range for axis 1 of length 4');
  });

  test('a slice without a range is an error that names get', () => {
    expect(() => sliceLayout(a, [1, 2])).toThrow('slice(1, 2) has no range and names a single element; use get(1, 2)');
    expect(() => sliceLayout(compactLayout([], 8), [])).toThrow('use get()');
    expect(sliceLayout(a, [1]).shape).toEqual([4]);
  });

  test.each<[unknown, string]>([
    [null, 'new axes are made by reshape'],
    [undefined, 'undefined is not an axis'],
    [true, 'masks are not supported'],
    [1n, 'write Number(1n)'],
    [[0, 1, 2, 3], 'arrays of indices are not supported'],
    [{ start: 1 }, 'got an object with the keys start'],
    [Number.NaN, 'must be an integer, got NaN'],
  ])('%s is refused', (spec, message) => {
    expect(() => indexLayout(a, [spec])).toThrow(message);
    expect(() => indexLayout(a, [spec])).toThrow(TypeError);
  });
});
