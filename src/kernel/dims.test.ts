import { describe, expect, it } from 'vitest';
import type { DeviceLimits, Dim3 } from '../driver/driver.ts';
import { checkShape, defaultBlock, gridFor, showDim, toCount, toDim3 } from './dims.ts';

const LIMITS: DeviceLimits = {
  maxThreadsPerBlock: 1024,
  maxBlockDim: [1024, 1024, 64],
  maxGridDim: [2 ** 31 - 1, 65535, 65535],
  maxSharedBytesPerBlock: 49152,
  warpSize: 32,
  multiprocessors: 2,
  totalMemory: 2 ** 32,
};

describe('toDim3', () => {
  it('pads with ones', () => {
    expect(toDim3('grid', 5)).toEqual([5, 1, 1]);
    expect(toDim3('grid', [5])).toEqual([5, 1, 1]);
    expect(toDim3('grid', [5, 6])).toEqual([5, 6, 1]);
    expect(toDim3('grid', [5, 6, 7])).toEqual([5, 6, 7]);
  });

  it.each([
    [2.5, 'grid must be a whole number, got 2.5: Math.ceil gives 3'],
    [Number.NaN, 'grid must be a whole number, got NaN'],
    [Number.POSITIVE_INFINITY, 'grid must be a whole number, got Infinity'],
    [-1, 'grid must be at least 1, got -1'],
    [0, 'grid must be at least 1, got 0'],
    [[4, 0], 'grid.y must be at least 1, got 0'],
    [[4, 4, -4], 'grid.z must be at least 1, got -4'],
    [[1, '2'], "grid.y must be a whole number, got '2'"],
    [4n, 'grid must be a whole number or an array of one to three, got 4n'],
    [[4n], 'grid.x must be a whole number, got 4n: write Number(4)'],
    [[1, 2, 3, 4], 'grid has one to three dimensions (x, y, z), got 4: [1, 2, 3, 4]'],
    [[], 'grid has one to three dimensions (x, y, z), got 0'],
    [null, 'grid must be a whole number or an array of one to three, got null'],
    ['16', "grid must be a whole number or an array of one to three, got '16'"],
    [{ x: 1 }, 'grid must be a whole number or an array of one to three, got an object with the keys x'],
    [[undefined], 'grid.x must be a whole number, got undefined'],
  ])('refuses %o', (value, message) => {
    expect(() => toDim3('grid', value)).toThrow(message);
  });

  it('tells wrong kinds from wrong values', () => {
    expect(() => toDim3('grid', 2.5)).toThrow(TypeError);
    expect(() => toDim3('grid', 0)).toThrow(RangeError);
    expect(() => toDim3('grid', [1, 1, 1, 1])).toThrow(RangeError);
  });
});

describe('toCount', () => {
  it('takes whole numbers from the least on', () => {
    expect(toCount('sharedBytes', 0, 0)).toBe(0);
    expect(() => toCount('sharedBytes', -4, 0)).toThrow('sharedBytes must be at least 0, got -4');
    expect(() => toCount('sharedBytes', 1.5, 0)).toThrow('sharedBytes must be a whole number, got 1.5');
  });
});

describe('checkShape', () => {
  const check = (grid: Dim3, block: Dim3, sharedBytes = 0) =>
    checkShape({ grid, block, sharedBytes }, { limits: LIMITS, name: 'the device' });

  it('accepts what is at the limits', () => {
    expect(() => check([2 ** 31 - 1, 65535, 65535], [1024, 1, 1], 49152)).not.toThrow();
    expect(() => check([1, 1, 1], [4, 4, 64])).not.toThrow();
  });

  it.each<[Dim3, Dim3, number, string]>([
    [[2 ** 31, 1, 1], [1, 1, 1], 0, 'grid.x is 2147483648, the device allows at most 2147483647 blocks there'],
    [[1, 65536, 1], [1, 1, 1], 0, 'grid.y is 65536, the device allows at most 65535 blocks there'],
    [[1, 1, 1], [1, 1, 65], 0, 'block.z is 65, the device allows at most 64 threads there'],
    [[1, 1, 1], [64, 32, 1], 0, 'block (64, 32) has 2048 threads, the device allows 1024 in a block'],
    [[1, 1, 1], [32, 1, 1], 49153, 'sharedBytes is 49153, the device has 49152 bytes of shared memory for a block'],
  ])('refuses grid %o, block %o, %d bytes', (grid, block, bytes, message) => {
    expect(() => check(grid, block, bytes)).toThrow(message);
  });
});

describe('blocks chosen by Tsamba', () => {
  it('are whole warps, and the same whatever the number of threads', () => {
    expect(defaultBlock(1, 1024, 32)).toEqual([256, 1, 1]);
    expect(defaultBlock(2, 1024, 32)).toEqual([32, 8, 1]);
    expect(defaultBlock(3, 1024, 32)).toEqual([32, 4, 2]);
  });

  it('stay within what the kernel allows', () => {
    expect(defaultBlock(1, 100, 32)).toEqual([96, 1, 1]);
    expect(defaultBlock(1, 8, 32)).toEqual([8, 1, 1]);
    expect(defaultBlock(3, 64, 32)).toEqual([32, 2, 1]);
    expect(defaultBlock(2, 1, 32)).toEqual([1, 1, 1]);
  });

  it('cover all threads', () => {
    expect(gridFor([1000, 9, 1], [256, 4, 1])).toEqual([4, 3, 1]);
  });
});

it('shows dimensions without trailing ones', () => {
  expect([showDim([4, 1, 1]), showDim([4, 2, 1]), showDim([4, 1, 3])]).toEqual(['(4)', '(4, 2)', '(4, 1, 3)']);
});
