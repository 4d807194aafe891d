/**
 * Worked numbers: shapes, byte strides, offsets and extents known beforehand, among them those where Numba itself is wrong.
 */
import { describe, expect, test } from 'vitest';
import {
  broadcastTo,
  classifyLayout,
  compactLayout,
  cStrides,
  extentOf,
  fStrides,
  indexLayout,
  isCContiguous,
  isFContiguous,
  isSingleRegion,
  likeStrides,
  ravelLayout,
  reshapeLayout,
  type SliceSpec,
  type StridedLayout,
  sliceLayout,
  splitLayout,
  squeezeLayout,
  strideUnit,
  transposeLayout,
  viewLayout,
} from './index.ts';

const allocSize = (l: StridedLayout): number => extentOf(l.shape, l.strides, l.itemSize).bytes;
const flags = (l: StridedLayout): [c: boolean, f: boolean] => [
  isCContiguous(l.shape, l.strides, l.itemSize),
  isFContiguous(l.shape, l.strides, l.itemSize),
];
const where = (l: StridedLayout | undefined): unknown => l && [l.shape, l.strides, l.offset];

/** The element numbers (address / item size) in index order, nested. */
function elements(l: StridedLayout | undefined): unknown {
  if (l === undefined) return undefined;
  const nest = (axis: number, offset: number): unknown => {
    const length = l.shape[axis];
    if (length === undefined) return offset / l.itemSize;
    return Array.from({ length }, (_, i) => nest(axis + 1, offset + i * Number(l.strides[axis])));
  };
  return nest(0, l.offset);
}

describe('new arrays', () => {
  test('F order, padded strides, 0-d, empty', () => {
    const f = compactLayout([2, 3], 4, 'F');
    expect(where(f)).toEqual([[2, 3], [4, 8], 0]);
    expect(allocSize(f)).toBe(24);
    const padded = { shape: [2, 3], strides: [16, 4], offset: 0, itemSize: 4 };
    expect(allocSize(padded)).toBe(28);
    expect(flags(padded)).toEqual([false, false]);
    const scalar = compactLayout([], 8);
    expect(where(scalar)).toEqual([[], [], 0]);
    expect(allocSize(scalar)).toBe(8);
    expect(flags(scalar)).toEqual([true, true]);
    const none = compactLayout([0, 3], 8);
    expect(where(none)).toEqual([[0, 3], [24, 8], 0]);
    expect(allocSize(none)).toBe(0);
    expect(flags(none)).toEqual([true, true]);
  });

  test('an axis of length 0 counts as 1 in the strides of the others', () => {
    expect(cStrides([3, 0, 2], 8)).toEqual([16, 16, 8]);
    expect(fStrides([3, 0, 2], 8)).toEqual([8, 24, 24]);
  });
});

describe('slices', () => {
  const D = compactLayout([10], 8);
  const E = compactLayout([6, 7], 8);
  const F = compactLayout([3, 4, 5], 4, 'F');
  test.each<[string, StridedLayout, SliceSpec[], unknown, number]>([
    ['D[::3]', D, ['::3'], [[4], [24], 0], 80],
    ['D[::-1]', D, ['::-1'], [[10], [-8], 72], 80],
    ['D[8:2:-2]', D, ['8:2:-2'], [[3], [-16], 64], 40],
    ['D[7:3]', D, ['7:3'], [[0], [8], 0], 0],
    ['E[1::2, ::3]', E, ['1::2', '::3'], [[3, 3], [112, 24], 56], 280],
    ['F[:,:,0], where Numba has (16,4)', F, [':', ':', 0], [[3, 4], [4, 12], 0], 48],
    ['F[:,:,-1], where Numba has (16,4)', F, [':', ':', -1], [[3, 4], [4, 12], 192], 48],
    ['F[1]', F, [1], [[4, 5], [12, 48], 4], 232],
    ['F[:,2,1]', F, [':', 2, 1], [[3], [4], 72], 12],
  ])('%s', (_, base, specs, expected, bytes) => {
    const view = sliceLayout(base, specs);
    expect(where(view)).toEqual(expected);
    expect(allocSize(view)).toBe(bytes);
  });

  test('D[:0][-1:] is empty', () => {
    expect(sliceLayout(sliceLayout(D, [':0']), ['-1:']).shape).toEqual([0]);
  });

  test('a reversed view can be indexed again (Numba cannot)', () => {
    const reversed = sliceLayout(D, ['::-1']);
    expect(where(indexLayout(reversed, [0]))).toEqual([[], [], 72]);
    expect(where(sliceLayout(reversed, ['2:5']))).toEqual([[3], [-8], 56]);
    expect(extentOf(reversed.shape, reversed.strides, 8)).toEqual({ low: -72, high: 8, bytes: 80 });
  });

  test('a broadcast axis keeps its length and is bounds-checked (not so in Numba)', () => {
    const b = broadcastTo(compactLayout([3], 8), [4, 3]);
    expect(where(b)).toEqual([[4, 3], [0, 8], 0]);
    expect(where(sliceLayout(b, [':']))).toEqual([[4, 3], [0, 8], 0]);
    expect(where(sliceLayout(b, ['::2', 1]))).toEqual([[2], [0], 8]);
    expect(() => sliceLayout(b, [4])).toThrow('index 4 is out of range for axis 0 of length 4');
    expect(where(sliceLayout({ ...compactLayout([0, 3], 8), strides: [0, 0] }, [':']))).toEqual([[0, 3], [0, 0], 0]);
  });
});

describe('layout classes', () => {
  test('a broadcast array is contiguous in no order and of class A', () => {
    const b = broadcastTo(compactLayout([3], 8), [4, 3]);
    expect(flags(b)).toEqual([false, false]);
    expect(classifyLayout(b.shape, b.strides, 8)).toBe('A');
    expect([allocSize(b), isSingleRegion(b)]).toEqual([24, true]);
  });

  test('axes of length 1 do not count, even with stride 0', () => {
    expect(flags({ shape: [1, 10], strides: [800, 8], offset: 0, itemSize: 8 })).toEqual([true, true]);
    expect(flags({ shape: [1, 10], strides: [0, 8], offset: 0, itemSize: 8 })).toEqual([true, true]);
    expect(flags({ shape: [10, 1], strides: [8, 0], offset: 0, itemSize: 8 })).toEqual([true, true]);
    expect(classifyLayout([1, 10], [800, 8], 8)).toBe('C');
    expect(classifyLayout([1, 10], [0, 8], 8)).toBe('A');
  });

  test('C is preferred where an array is both; rank 1 is C', () => {
    expect(classifyLayout([5], [4], 4)).toBe('C');
    expect(classifyLayout([5], [8], 4)).toBe('A');
    expect(classifyLayout([5], [-4], 4)).toBe('A');
    expect(classifyLayout([1, 5], [20, 4], 4)).toBe('C');
    expect(classifyLayout([2, 5], [4, 8], 4)).toBe('F');
    expect(classifyLayout([], [], 4)).toBe('C');
    expect(classifyLayout([0, 3], [0, 0], 4)).toBe('C');
  });

  test('a single region: the core is C- or F-contiguous', () => {
    const region = (shape: number[], strides: number[]): boolean =>
      isSingleRegion({ shape, strides, offset: 0, itemSize: 8 });
    expect(region([2, 3], [24, 8])).toBe(true);
    expect(region([2, 3], [8, 16])).toBe(true);
    expect(region([2, 4, 3], [24, 0, 8])).toBe(true);
    expect(region([5], [16])).toBe(false);
    expect(region([5], [-8])).toBe(false);
    expect(region([2, 3], [32, 8])).toBe(false);
    expect(region([4], [0])).toBe(true);
  });

  test('strides are counted in items where they are whole items', () => {
    expect(strideUnit([16, -8, 0], 8)).toBe(8);
    expect(strideUnit([12, 4], 8)).toBe(1);
    expect(strideUnit([], 8)).toBe(8);
  });
});

describe('the layout of new arrays like others', () => {
  test.each<[string, number[], number[], number[]]>([
    ['C', [2, 3], [24, 8], [24, 8]],
    ['F', [2, 3], [8, 16], [8, 16]],
    ['a[::2, ::2] of C', [3, 3], [112, 16], [24, 8]],
    ['its transpose', [3, 3], [16, 112], [8, 24]],
    ['a[::-1], where Numba has F order', [4, 6], [-48, 8], [48, 8]],
    ['a[:, ::-1]', [4, 6], [48, -8], [48, 8]],
    ['a.T[::-1, ::-1]', [6, 4], [-8, -48], [8, 48]],
    ['axes 1, 0, 2 of (2, 3, 4)', [3, 2, 4], [32, 96, 8], [32, 96, 8]],
    ['a broadcast axis becomes the fastest', [4, 3], [0, 8], [8, 32]],
    ['equal strides keep C order', [2, 3], [0, 0], [24, 8]],
    ['rank 1', [5], [-16], [8]],
    ['0-d', [], [], []],
    ['no elements', [0, 3], [8, 8], [24, 8]],
  ])('%s', (_, shape, strides, expected) => {
    expect(likeStrides(shape, strides, 8)).toEqual(expected);
  });
});

describe('views as other item sizes', () => {
  test('the last axis is resized', () => {
    const a = compactLayout([3, 4], 2);
    expect(where(viewLayout(a, 4))).toEqual([[3, 2], [8, 4], 0]);
    expect(where(viewLayout(a, 8))).toEqual([[3, 1], [8, 8], 0]);
    expect(where(viewLayout(a, 1))).toEqual([[3, 8], [8, 1], 0]);
    expect(where(viewLayout(sliceLayout(a, ['1:']), 8))).toEqual([[2, 1], [8, 8], 8]);
  });

  test('what does not come out whole is refused', () => {
    expect(() => viewLayout(compactLayout([4, 3], 2), 4)).toThrow('3 elements, 6 bytes, which is not a multiple of 4');
    const strided = sliceLayout(compactLayout([3, 4], 2), [':', '::2']);
    expect(() => viewLayout(strided, 4)).toThrow('needs a C-contiguous array');
    expect(where(viewLayout(strided, 2))).toEqual([[3, 2], [8, 4], 0]);
    expect(() => viewLayout(compactLayout([3, 4], 2, 'F'), 1)).toThrow('needs a C-contiguous array');
    expect(() => viewLayout(compactLayout([], 8), 4)).toThrow('0-d');
    expect(where(viewLayout(compactLayout([0, 0], 2), 8))).toEqual([[0, 0], [2, 8], 0]);
  });
});

describe('axes', () => {
  test('transposing (10,12) i8 [::2, ::2] gives NumPy’s view', () => {
    const a = sliceLayout(compactLayout([10, 12], 8), ['::2', '::2']);
    expect(where(transposeLayout(a))).toEqual([[6, 5], [16, 192], 0]);
    expect(where(transposeLayout(compactLayout([2, 3, 4], 1), [-1, 0, 1]))).toEqual([[4, 2, 3], [1, 12, 4], 0]);
    expect(() => transposeLayout(a, [0, 0])).toThrow('[0, 0] is not a permutation of the 2 axes');
    expect(() => transposeLayout(a, [0])).toThrow('not a permutation');
    expect(() => transposeLayout(a, [0, 2])).toThrow('axis 2 is out of range for an array with 2 axes');
  });

  test('arange(10).split(4): the section is a length, the last is shorter', () => {
    expect(splitLayout(compactLayout([10], 8), 4).map(where)).toEqual([
      [[4], [8], 0],
      [[4], [8], 32],
      [[2], [8], 64],
    ]);
    expect(splitLayout(compactLayout([8], 8), 4)).toHaveLength(2);
    expect(splitLayout(compactLayout([0], 8), 4)).toEqual([]);
    expect(() => splitLayout(compactLayout([4], 8), 0)).toThrow('at least 1, got 0');
    expect(() => splitLayout(compactLayout([4], 8), 1.5)).toThrow(TypeError);
    expect(() => splitLayout(compactLayout([4, 1], 8), 1)).toThrow('shape [4, 1]');
    expect(() => splitLayout(sliceLayout(compactLayout([4], 8), ['::2']), 1)).toThrow('the stride is 16 bytes, not 8');
  });

  test('squeeze: all, or those named; negative axes count from the end (Numba ignores them)', () => {
    const a = compactLayout([1, 2, 1, 3], 4);
    expect(squeezeLayout(a).shape).toEqual([2, 3]);
    expect(where(squeezeLayout(a, 0))).toEqual([[2, 1, 3], [12, 12, 4], 0]);
    expect(squeezeLayout(a, -2).shape).toEqual([1, 2, 3]);
    expect(squeezeLayout(a, [0, 2]).shape).toEqual([2, 3]);
    expect(squeezeLayout(a, []).shape).toEqual([1, 2, 1, 3]);
    expect(() => squeezeLayout(a, 1)).toThrow('axis 1 of shape [1, 2, 1, 3] has length 2');
    expect(() => squeezeLayout(a, 4)).toThrow('axis 4 is out of range');
    expect(() => squeezeLayout(a, -5)).toThrow('axis -5 is out of range');
    expect(() => squeezeLayout(a, [0, -4])).toThrow('names an axis twice');
    expect(() => squeezeLayout(a, 0.5)).toThrow(TypeError);
  });
});

describe('reshape goes by logical order (Numba relabels memory)', () => {
  const C = compactLayout([2, 3], 4);
  const F = compactLayout([2, 3], 4, 'F');

  test('across orders a copy is needed', () => {
    expect(reshapeLayout(F, [3, 2], 'C')).toBeUndefined();
    expect(reshapeLayout(C, [3, 2], 'F')).toBeUndefined();
    expect(elements(F)).toEqual([
      [0, 2, 4],
      [1, 3, 5],
    ]);
  });

  test('within an order none is', () => {
    expect(elements(reshapeLayout(C, [3, 2], 'C'))).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
    expect(elements(reshapeLayout(F, [3, 2], 'F'))).toEqual([
      [0, 3],
      [1, 4],
      [2, 5],
    ]);
    expect(elements(reshapeLayout(compactLayout([10], 8), [2, 5], 'F'))).toEqual([
      [0, 2, 4, 6, 8],
      [1, 3, 5, 7, 9],
    ]);
    expect(where(reshapeLayout(F, [3, 2], 'A'))).toEqual([[3, 2], [4, 12], 0]);
    expect(where(reshapeLayout(C, [3, 2], 'A'))).toEqual([[3, 2], [8, 4], 0]);
  });

  test('strided arrays reshape without a copy where strides allow it (Numba refuses)', () => {
    const stepped = sliceLayout(compactLayout([4, 6], 8), [':', '::2']);
    expect(where(reshapeLayout(stepped, [4, 3, 1]))).toEqual([[4, 3, 1], [48, 16, 16], 0]);
    expect(where(reshapeLayout(stepped, [2, 2, 3]))).toEqual([[2, 2, 3], [96, 48, 16], 0]);
    expect(where(reshapeLayout(stepped, [12]))).toEqual([[12], [16], 0]);
    expect(reshapeLayout(sliceLayout(compactLayout([4, 7], 8), [':', '::2']), [16])).toBeUndefined();
    expect(where(ravelLayout(sliceLayout(compactLayout([5], 8), ['::-1'])))).toEqual([[5], [-8], 32]);
    expect(where(ravelLayout(F, 'F'))).toEqual([[6], [4], 0]);
    expect(ravelLayout(F, 'C')).toBeUndefined();
    // A is F only for what is F-contiguous and not C-contiguous.
    expect(where(reshapeLayout(stepped, [2, 2, 3], 'A'))).toEqual([[2, 2, 3], [96, 48, 16], 0]);
    expect(where(reshapeLayout(compactLayout([6], 4), [2, 3], 'A'))).toEqual([[2, 3], [12, 4], 0]);
    expect(() => ravelLayout(F, 'K' as 'C')).toThrow("order must be 'C', 'F' or 'A', got 'K'");
  });
});
