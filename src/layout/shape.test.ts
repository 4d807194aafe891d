/**
 * What shapes, strides, orders, axes and broadcasts are accepted, and what the messages say of others.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelOfLayout, placed, repeated } from '../../test/support/strided-model.ts';
import {
  broadcastForAssignment,
  broadcastShapes,
  broadcastTo,
  checkBounds,
  collapseAxes,
  compactLayout,
  coreOf,
  forEachRun,
  inferShape,
  likeStrides,
  mayOverlapItself,
  normalizeAxis,
  normalizeOrder,
  normalizeShape,
  normalizeStrides,
} from './index.ts';

describe('shapes', () => {
  test('integers, arrays, tuples, integer TypedArrays and bigints are accepted', () => {
    expect(normalizeShape(3)).toEqual([3]);
    expect(normalizeShape(3n)).toEqual([3]);
    expect(normalizeShape([])).toEqual([]);
    expect(normalizeShape([2, 0, 3])).toEqual([2, 0, 3]);
    expect(normalizeShape([2n, 3])).toEqual([2, 3]);
    expect(normalizeShape(new Int32Array([4, 5]))).toEqual([4, 5]);
    expect(normalizeShape(new BigInt64Array([4n]))).toEqual([4]);
    expect(normalizeShape(new Set([4, 5]))).toEqual([4, 5]);
    expect(normalizeShape([-0]).map((n) => Object.is(n, 0))).toEqual([true]);
  });

  test.each<[unknown, string]>([
    [2.5, 'shape must be integers, got 2.5'],
    [[2, 2.5], 'shape must be integers, got 2.5'],
    [['2'], "shape must be integers, got '2'"],
    ['23', "shape must be an integer or an array of integers, got '23'"],
    [undefined, 'got undefined'],
    [null, 'got null'],
    [{ x: 1 }, 'got an object with the keys x'],
    [new Float64Array([2, 3]), 'shape must be integers, got a Float64Array'],
    [[true], 'shape must be integers, got true'],
    [[[2, 3]], 'shape must be integers, got [2, 3]'],
  ])('%j is a TypeError', (shape, message) => {
    expect(() => normalizeShape(shape as number)).toThrow(message);
    expect(() => normalizeShape(shape as number)).toThrow(TypeError);
  });

  test.each<[number[], number, string]>([
    [[2, -1], 1, 'shape [2, -1] has a negative length, -1'],
    [[2 ** 53], 1, 'is beyond 2^53'],
    [[2 ** 27, 2 ** 27], 1, 'is too big'],
    [[2 ** 26, 2 ** 26], 8, 'an array of shape [67108864, 67108864] with 8-byte elements is too big'],
    [[0, 2 ** 30, 2 ** 30], 1, 'is too big'],
  ])('%j of %i-byte items is a RangeError', (shape, itemSize, message) => {
    expect(() => normalizeShape(shape, itemSize)).toThrow(message);
    expect(() => normalizeShape(shape, itemSize)).toThrow(RangeError);
  });

  test('just below 2^53 bytes is accepted', () => {
    expect(normalizeShape([2 ** 26, 2 ** 24], 4)).toEqual([2 ** 26, 2 ** 24]);
    expect(normalizeShape([2 ** 53 - 1])).toEqual([2 ** 53 - 1]);
  });

  test('strides, orders and axes', () => {
    expect(normalizeStrides([-8, 0], 2)).toEqual([-8, 0]);
    expect(normalizeStrides(8, 1)).toEqual([8]);
    expect(() => normalizeStrides([8], 2)).toThrow(
      'strides [8] do not match the number of axes: 1 given, the shape has 2',
    );
    expect(() => normalizeStrides([8], 2)).toThrow(RangeError);
    expect(() => normalizeStrides([1.5], 1)).toThrow('strides must be integers, got 1.5');
    expect([normalizeOrder('C'), normalizeOrder('F'), normalizeOrder(undefined)]).toEqual(['C', 'F', 'C']);
    expect(() => normalizeOrder('CF')).toThrow("order must be 'C' or 'F', got 'CF'");
    expect(() => normalizeOrder(null)).toThrow(RangeError);
    expect([0, 2, -1, -3].map((axis) => normalizeAxis(axis, 3))).toEqual([0, 2, 2, 0]);
    expect(() => normalizeAxis(3, 3)).toThrow('axis 3 is out of range for an array with 3 axes');
    expect(() => normalizeAxis(-4, 3)).toThrow(RangeError);
    expect(() => normalizeAxis(0, 0)).toThrow(RangeError);
  });

  test('a length of -1 is worked out', () => {
    expect(inferShape([2, -1], 6)).toEqual([2, 3]);
    expect(inferShape(-1, 6)).toEqual([6]);
    expect(inferShape([-1], 0)).toEqual([0]);
    expect(inferShape([], 1)).toEqual([]);
    expect(inferShape([1, 1], 1)).toEqual([1, 1]);
    expect(inferShape(new Int32Array([3, 2]), 6)).toEqual([3, 2]);
    expect(() => inferShape([-1, -1], 6)).toThrow('only one length can be -1');
    expect(() => inferShape([4, -1], 6)).toThrow('cannot infer -1 for 6 elements');
    expect(() => inferShape([0, -1], 0)).toThrow('cannot infer -1 for 0 elements');
    expect(() => inferShape([2, 2], 6)).toThrow('changes the number of elements: 6 before, 4 after');
    expect(() => inferShape([-2, -3], 6)).toThrow('length -2 is negative');
    expect(() => inferShape([1.5], 6)).toThrow(TypeError);
  });
});

describe('broadcasting', () => {
  test('shapes meet from the last axis backwards', () => {
    expect(broadcastShapes([3], [4, 1], [])).toEqual([4, 3]);
    expect(broadcastShapes([0], [1])).toEqual([0]);
    expect(broadcastShapes([1, 1], [5, 1])).toEqual([5, 1]);
    expect(broadcastShapes()).toEqual([]);
    expect(() => broadcastShapes([3], [2, 4])).toThrow(
      'shapes [3], [2, 4] cannot be broadcast together: lengths 3 and 4',
    );
    expect(() => broadcastShapes([0], [2])).toThrow(RangeError);
  });

  test('one shape to another, against the model', () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 });
    fc.assert(
      fc.property(lengths, lengths, (from, to) => {
        const fits = from.length <= to.length && from.every((n, i) => n === 1 || n === to[i + to.length - from.length]);
        const layout = compactLayout(from, 4);
        if (!fits) {
          expect(() => broadcastTo(layout, to)).toThrow(RangeError);
          return;
        }
        expect(modelOfLayout(broadcastTo(layout, to)).at).toEqual(repeated(placed(from, 4, 'C'), to).at);
      }),
      { numRuns: 500 },
    );
    expect(broadcastTo(compactLayout([3], 4), [1, 3]).strides).toEqual([0, 4]);
    expect(() => broadcastTo(compactLayout([2, 3], 4), [3])).toThrow('shape [2, 3] cannot be broadcast to shape [3]');
  });

  test('an assignment drops superfluous axes of length 1 in front, and no others', () => {
    const strides = (from: number[], to: number[]): unknown =>
      broadcastForAssignment(compactLayout(from, 4), to).strides;
    expect(strides([1, 1, 3], [3])).toEqual([4]);
    expect(strides([1, 3], [2, 3])).toEqual([0, 4]);
    expect(strides([1, 1], [])).toEqual([]);
    expect(strides([], [2, 2])).toEqual([0, 0]);
    expect(() => strides([2, 3], [3])).toThrow(RangeError);
    expect(() => strides([2, 1, 3], [1, 3])).toThrow(RangeError);
    expect(() => strides([3], [1])).toThrow('an array of shape [3] cannot be broadcast to shape [1]');
  });
});

describe('bounds', () => {
  test('elements must lie in the buffer; arrays without elements lie anywhere', () => {
    const at = (offset: number, stride: number) => ({ shape: [3], strides: [stride], offset, itemSize: 4 });
    expect(() => checkBounds(at(0, 4), 12, 'the buffer')).not.toThrow();
    expect(() => checkBounds(at(8, -4), 12, 'the buffer')).not.toThrow();
    expect(() => checkBounds(at(1, 4), 12, 'the buffer')).toThrow(
      'spans bytes 1 to 13, outside the buffer of 12 bytes',
    );
    expect(() => checkBounds(at(7, -4), 12, 'the buffer')).toThrow('spans bytes -1 to 11');
    expect(() => checkBounds({ ...at(99, 4), shape: [0] }, 12, 'the buffer')).not.toThrow();
  });

  test('the core of a broadcast array is the memory that there is', () => {
    expect(coreOf({ shape: [4, 3, 0, 1], strides: [0, 8, 0, 0], offset: 8, itemSize: 8 }).shape).toEqual([1, 3, 0, 1]);
  });

  test('arrays that name a byte twice', () => {
    expect(mayOverlapItself([4, 3], [0, 8], 8)).toBe(true);
    expect(mayOverlapItself([1, 3], [0, 8], 8)).toBe(false);
    expect(mayOverlapItself([2, 3], [16, 8], 8)).toBe(true);
    expect(mayOverlapItself([2, 3], [-24, 8], 8)).toBe(false);
    expect(mayOverlapItself([3, 2], [8, -24], 8)).toBe(false);
    expect(mayOverlapItself([3], [7], 8)).toBe(true);
    expect(mayOverlapItself([0, 3], [0, 0], 8)).toBe(false);
    expect(mayOverlapItself([], [], 8)).toBe(false);
  });
});

describe('new arrays like others', () => {
  test('are compact, in the order of the other’s axes', () => {
    const axes = fc.array(fc.tuple(fc.integer({ min: 2, max: 4 }), fc.boolean()), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(axes, fc.array(fc.nat(99), { minLength: 4, maxLength: 4 }), (list, ranks) => {
        // A compact array with axes fastest in an order of our own, then gaps (doubled strides) and reversals.
        const order = list.map((_, i) => i).sort((a, b) => Number(ranks[a]) - Number(ranks[b]) || a - b);
        const compact: number[] = [];
        let stride = 8;
        for (const axis of order) {
          compact[axis] = stride;
          stride *= Number(list[axis]?.[0]);
        }
        const shape = list.map(([length]) => length);
        const gaps = compact.map((s, axis) => (list[axis]?.[1] ? -2 * s : 2 * s));
        expect(likeStrides(shape, gaps, 8)).toEqual(compact.length === 1 ? [8] : compact);
      }),
    );
  });
});

describe('collapsing axes', () => {
  const visited = (shape: number[], a: number[], b: number[]): string[] => {
    const pairs: string[] = [];
    const axes = collapseAxes(shape, [a, b]);
    forEachRun(axes, [1000, 5000], ([x = 0, y = 0], length) => {
      for (let i = 0; i < length; i++) {
        pairs.push(`${x + i * Number(axes.strides[0]?.at(-1) ?? 0)},${y + i * Number(axes.strides[1]?.at(-1) ?? 0)}`);
      }
    });
    return pairs.sort();
  };

  test('visits the same pairs of addresses, each once', () => {
    const axis = fc.tuple(
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: -9, max: 9 }),
      fc.integer({ min: -9, max: 9 }),
    );
    fc.assert(
      fc.property(fc.array(axis, { maxLength: 4 }), (list) => {
        const [shape, a, b] = [0, 1, 2].map((k) => list.map((entry) => Number(entry[k]))) as [
          number[],
          number[],
          number[],
        ];
        const expected: string[] = [];
        const walk = (depth: number, x: number, y: number): void => {
          if (depth === shape.length) expected.push(`${x},${y}`);
          else
            for (let i = 0; i < Number(shape[depth]); i++)
              walk(depth + 1, x + i * Number(a[depth]), y + i * Number(b[depth]));
        };
        walk(0, 1000, 5000);
        expect(visited(shape, a, b)).toEqual(expected.sort());
      }),
      { numRuns: 500 },
    );
  });

  test('two compact arrays become one run, whatever their axes', () => {
    expect(
      collapseAxes(
        [2, 3, 4],
        [
          [96, 32, 8],
          [48, 16, 4],
        ],
      ),
    ).toEqual({ shape: [24], strides: [[8], [4]] });
    expect(
      collapseAxes(
        [2, 3, 4],
        [
          [8, 16, 48],
          [4, 8, 24],
        ],
      ),
    ).toEqual({ shape: [24], strides: [[8], [4]] });
    expect(
      collapseAxes(
        [2, 3],
        [
          [24, 8],
          [8, 16],
        ],
      ),
    ).toEqual({
      shape: [2, 3],
      strides: [
        [24, 8],
        [8, 16],
      ],
    });
    expect(
      collapseAxes(
        [5, 1, 3],
        [
          [24, 99, 8],
          [0, 99, 8],
        ],
      ),
    ).toEqual({
      shape: [5, 3],
      strides: [
        [24, 8],
        [0, 8],
      ],
    });
    expect(collapseAxes([], [[], []])).toEqual({ shape: [], strides: [[], []] });
    expect(
      collapseAxes(
        [4, 0],
        [
          [8, 8],
          [8, 8],
        ],
      ),
    ).toEqual({ shape: [0], strides: [[0], [0]] });
  });
});
