import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { freshBlockDevice } from '../../test/support/with-device.ts';
import { type CapturedArray, DEVICE_ARRAY } from '../compiler/contract.ts';
import { stream as createStream, deviceArray, deviceArrayLike, toDevice } from '../cuda/host.ts';
import { c64, f32, f64, i16, i32, i64, u8, u16 } from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
import { DeviceNDArray } from './device-array.ts';
import type { NDArray } from './ndarray.ts';
import { ndarray } from './ndarray-create.ts';

/** Shape, strides and byte offset of the first element in its memory. */
function view(array: DeviceNDArray<never> | DeviceNDArray): unknown[] {
  return [array.shape, array.strides, array.pointer - array.owner.address];
}

function nested(array: DeviceNDArray<never> | DeviceNDArray): unknown {
  return ndarray(array.copyToHost() as NDArray).toArray();
}

describe('slices of device arrays', () => {
  freshBlockDevice();

  it('have the layouts of the worked examples', () => {
    const d = toDevice(Float64Array.from({ length: 10 }, (_, i) => i));
    const third = d.slice('::3');
    expect(view(third)).toEqual([[4], [24], 0]);
    expect([third.allocSize, third.nbytes]).toEqual([80, 32]);
    const reversed = d.slice('::-1');
    expect(view(reversed)).toEqual([[10], [-8], 72]);
    expect(reversed.allocSize).toBe(80);
    expect(reversed.copyToHost()).toEqual(Float64Array.of(9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    expect(view(d.slice([8, 2, -2]))).toEqual([[3], [-16], 64]);
    expect(d.slice('7:3').shape).toEqual([0]);
    expect(d.slice(':0').slice('-1:').shape).toEqual([0]);
    const e = deviceArray([6, 7]).slice('1::2', '::3');
    expect(view(e)).toEqual([[3, 3], [112, 24], 56]);
    expect(e.allocSize).toBe(280);
    const f = deviceArray([3, 4, 5], i32, { order: 'F' });
    expect(view(f.slice([], [], 0))).toEqual([[3, 4], [4, 12], 0]);
    expect(view(f.slice([], [], -1))).toEqual([[3, 4], [4, 12], 192]);
    expect(view(f.slice(1))).toEqual([[4, 5], [12, 48], 4]);
    expect(view(f.slice([], 2, 1))).toEqual([[3], [4], 72]);
  });

  it('of reversed and broadcast views work like any other', () => {
    const reversed = toDevice([0, 1, 2, 3, 4]).slice('::-1');
    expect(reversed.get(0)).toBe(4);
    expect(reversed.slice('2:5').copyToHost()).toEqual(Float64Array.of(2, 1, 0));
    const broadcast = deviceArray([4, 3], f64, { strides: [0, 8] });
    expect(broadcast.slice([]).shape).toEqual([4, 3]);
    expect(() => broadcast.get(4, 0)).toThrow('index 4 is out of range for axis 0 of length 4');
  });

  it('carry the stream of their array', () => {
    const stream = createStream();
    const array = deviceArray([2, 3], f64, { stream });
    for (const made of [array.slice(0), array.T, array.view(i64), array.squeeze(), array.reshape(6), array.ravel()]) {
      expect(made.stream).toBe(stream);
    }
    expect(array.bind().stream).toBeUndefined();
    expect(array.bind(0).stream).toBeUndefined();
    const other = createStream();
    expect(array.bind(other).stream).toBe(other);
    expect(array.ravel({ stream: other }).stream).toBe(other);
    expect(array.squeeze(null, { stream: other }).stream).toBe(other);
    expect(
      array
        .ravel()
        .split(4, { stream: other })
        .map((part) => part.stream),
    ).toEqual([other, other]);
  });

  it.each([
    [(d: DeviceNDArray) => d.slice(0, 1), TypeError, /use get\(0, 1\)/],
    [(d: DeviceNDArray) => d.slice(2), RangeError, /index 2 is out of range for axis 0 of length 2/],
    [(d: DeviceNDArray) => d.slice('::0'), RangeError, /step on axis 0 must not be 0/],
    [(d: DeviceNDArray) => d.slice([], [], []), RangeError, /3 indices given for an array with 2 axes/],
    [(d: DeviceNDArray) => d.slice(true as never), TypeError, /a boolean is not an index/],
    [(d: DeviceNDArray) => d.slice('...'), TypeError, /an ellipsis is not supported/],
    [(d: DeviceNDArray) => d.get(0), RangeError, /1 index given.*use slice\(\)/],
  ])('refuse bad indices %#', (act, kind, message) => {
    const d = deviceArray([2, 3]) as unknown as DeviceNDArray;
    expect(() => act(d)).toThrow(kind);
    expect(() => act(d)).toThrow(message);
  });
});

describe('reshape and ravel', () => {
  freshBlockDevice();
  const cOrder = () =>
    toDevice(
      ndarray([
        [0, 1, 2],
        [3, 4, 5],
      ]),
    );
  const fOrder = () =>
    toDevice(
      ndarray([
        [0, 2, 4],
        [1, 3, 5],
      ]).copy({ order: 'F' }),
    );

  it('take and place elements in the order given, as NumPy does', () => {
    expect(nested(fOrder().reshape(3, 2))).toEqual([
      [0, 2],
      [4, 1],
      [3, 5],
    ]);
    expect(nested(cOrder().reshape(3, 2, { order: 'F' } as never))).toEqual([
      [0, 4],
      [3, 2],
      [1, 5],
    ]);
    expect(nested(cOrder().reshape([3, 2], { order: 'F' }))).toEqual([
      [0, 4],
      [3, 2],
      [1, 5],
    ]);
    expect(nested(fOrder().reshape([3, 2], { order: 'A' }))).toEqual([
      [0, 3],
      [1, 4],
      [2, 5],
    ]);
    const line = toDevice(Float64Array.from({ length: 10 }, (_, i) => i));
    expect(nested(line.reshape([2, 5], { order: 'F' }))).toEqual([
      [0, 2, 4, 6, 8],
      [1, 3, 5, 7, 9],
    ]);
  });

  it('are views where the strides allow it, also of strided arrays', () => {
    const array = cOrder();
    const flat = array.reshape(-1);
    flat.set(9, 5);
    expect(array.get(1, 2)).toBe(9);
    const strided = deviceArray([4, 6]).slice([], '::2');
    expect(view(strided.reshape(4, 3, 1))).toEqual([[4, 3, 1], [48, 16, 16], 0]);
    expect(array.reshape([2, 3]).pointer).toBe(array.pointer);
    expect(deviceArray(1).reshape().shape).toEqual([]);
    expect(deviceArray([0, 3]).reshape(3, 0).shape).toEqual([3, 0]);
  });

  it('copy a contiguous array of the other order, and nothing else', () => {
    const copy = fOrder().reshape(6);
    expect(copy.copyToHost()).toEqual(Float64Array.of(0, 2, 4, 1, 3, 5));
    const strided = deviceArray([4, 7]).slice([], [0, 6, 2]);
    expect(() => strided.reshape(12)).toThrow(NotSupportedError);
    expect(() => strided.reshape(12)).toThrow(/reshape to \[12\].*would have to be copied.*deviceArrayLike/);
    expect(() => fOrder().ravel()).toThrow(/ravel\(\{ order: 'F' \}\) is a view, reshape\(-1\) copies/);
    expect(() => strided.ravel()).toThrow(NotSupportedError);
    expect(fOrder().ravel({ order: 'F' }).copyToHost()).toEqual(Float64Array.of(0, 1, 2, 3, 4, 5));
    expect(fOrder().ravel({ order: 'A' }).copyToHost()).toEqual(Float64Array.of(0, 1, 2, 3, 4, 5));
  });

  it('put the copy on the device of the array and leave it alone', () => {
    const array = fOrder();
    const copy = array.reshape(6);
    copy.set(0);
    expect(array.get(1, 2)).toBe(5);
    expect(copy.owner.arrays).toBe(1);
    array.dispose();
    expect(copy.get(0)).toBe(0);
  });

  it.each([
    [(d: DeviceNDArray) => d.reshape(-1, -1), 'only one length can be -1'],
    [(d: DeviceNDArray) => d.reshape(4, -1), 'cannot infer -1 for 6 elements'],
    [(d: DeviceNDArray) => d.reshape(7), 'changes the number of elements: 6 before, 7 after'],
    [(d: DeviceNDArray) => d.reshape([6], { order: 'CF' as 'C' }), "order must be 'C', 'F' or 'A', got 'CF'"],
    [(d: DeviceNDArray) => d.ravel({ order: 'K' as 'C' }), "got 'K'"],
  ])('refuse %#', (act, message) => {
    const d = deviceArray([2, 3]) as unknown as DeviceNDArray;
    expect(() => act(d)).toThrow(RangeError);
    expect(() => act(d)).toThrow(message);
  });
});

describe('view, transpose, squeeze and split', () => {
  // An array is no gpuData, however much it looks like one.
  const array = { owner: deviceArray(1, f32).owner, pointer: 0 };
  it.each([null, 'x', {}, 5n, Symbol('s'), array])('refuse what are no axes: %o', (bad) => {
    const d = deviceArray([2, 1], f32);
    expect(() => d.transpose(bad as never)).toThrow(
      /^transpose takes the axes in their new order, such as \[1, 0\], got /,
    );
    if (bad !== null) expect(() => d.squeeze(bad as never)).toThrow(/^squeeze takes an axis or an array of axes, got /);
    if (bad === null) return;
    expect(() => new DeviceNDArray([2], null, f32, { gpuData: bad as never })).toThrow(
      /^gpuData must be that of another device array/,
    );
  });

  freshBlockDevice();

  it('view bytes as another type', () => {
    const shorts = deviceArray([3, 4], i16);
    const layout = (d: DeviceNDArray<never> | DeviceNDArray) => [d.shape, d.strides];
    expect(layout(shorts.view(i32))).toEqual([
      [3, 2],
      [8, 4],
    ]);
    expect(layout(shorts.view(i64))).toEqual([
      [3, 1],
      [8, 8],
    ]);
    expect(layout(shorts.view(u8))).toEqual([
      [3, 8],
      [8, 1],
    ]);
    expect(() => deviceArray([4, 3], i16).view(i32)).toThrow(RangeError);
    expect(() => shorts.slice([], '::2').view(i32)).toThrow(/needs a C-contiguous array/);
    expect(shorts.slice([], '::2').view(u16).dtype).toBe(u16);
    expect(() => deviceArray([], i16).view(u8)).toThrow(/0-d array has no axis/);
    expect(toDevice(Float32Array.of(1, 2)).view(c64).get(0)).toEqual({ re: 1, im: 2 });
  });

  it('transpose into views of every rank', () => {
    const matrix = toDevice(
      ndarray([
        [0, 1, 2],
        [3, 4, 5],
      ]),
    );
    expect(view(matrix.T)).toEqual([[3, 2], [8, 24], 0]);
    matrix.T.set(9, 2, 0);
    expect(matrix.get(0, 2)).toBe(9);
    expect(matrix.transpose([0, 1])).not.toBe(matrix);
    const cube = deviceArray([2, 3, 4], u8);
    expect(view(cube.transpose(2, 0, 1))).toEqual([[4, 2, 3], [1, 12, 4], 0]);
    expect(view(cube.transpose([-1, 0, 1]))).toEqual([[4, 2, 3], [1, 12, 4], 0]);
    expect(deviceArray(3).T.shape).toEqual([3]);
    expect(() => cube.transpose(0, 0, 1)).toThrow(/not a permutation/);
    expect(view(deviceArray([10, 12], i64).slice('::2', '::2').T)).toEqual([[6, 5], [16, 192], 0]);
  });

  it('squeeze axes of length 1', () => {
    const array = deviceArray([1, 2, 1, 3], f32);
    expect(array.squeeze().shape).toEqual([2, 3]);
    expect(array.squeeze(0).shape).toEqual([2, 1, 3]);
    expect(array.squeeze(-2).shape).toEqual([1, 2, 3]);
    expect(array.squeeze([0, 2]).shape).toEqual([2, 3]);
    expect(() => array.squeeze(1)).toThrow(/axis 1 of shape \[1, 2, 1, 3\] has length 2/);
    expect(() => array.squeeze(4)).toThrow(/axis 4 is out of range/);
  });

  it('split into sections of a length', () => {
    const array = toDevice(BigInt64Array.from({ length: 10 }, (_, i) => BigInt(i)));
    const parts = array.split(4);
    expect(parts.map((part) => view(part))).toEqual([
      [[4], [8], 0],
      [[4], [8], 32],
      [[2], [8], 64],
    ]);
    expect(parts[2]?.copyToHost()).toEqual(BigInt64Array.of(8n, 9n));
    expect(deviceArray(0).split(4)).toEqual([]);
    expect(() => array.split(0)).toThrow(RangeError);
    expect(() => array.slice('::2').split(2)).toThrow(/needs a contiguous array/);
    expect(() => deviceArray([2, 2]).split(2)).toThrow(/works on one axis/);
  });

  it('tell contiguity by NumPy’s relaxed rules', () => {
    const flags = (shape: number[], strides: number[]) => {
      const array = deviceArray(shape, f64, { strides });
      return [array.isCContiguous(), array.isFContiguous(), array.layout];
    };
    expect(flags([1, 10], [800, 8])).toEqual([true, true, 'C']);
    expect(flags([3, 1], [8, 0])).toEqual([true, true, 'A']);
    expect(flags([2, 3], [8, 16])).toEqual([false, true, 'F']);
    expect(flags([2, 3], [48, 16])).toEqual([false, false, 'A']);
    expect([deviceArray([]).isCContiguous(), deviceArray([]).isFContiguous()]).toEqual([true, true]);
  });
});

describe('the life of a device array', () => {
  const device = freshBlockDevice();

  it('ends with dispose, which is named by what comes after', () => {
    const array = toDevice([1, 2, 3]);
    array.dispose();
    array[Symbol.dispose]();
    expect(array.disposed).toBe(true);
    const uses: (() => unknown)[] = [
      () => array.copyToHost(),
      () => array.get(0),
      () => array.set(1),
      () => array.slice([]),
      () => array.reshape(3),
      () => array.ravel(),
      () => array.T,
      () => array.view(i64),
      () => array.squeeze(),
      () => array.split(1),
      () => array.bind(),
      () => array.copyToDevice([1, 2, 3]),
      () => toDevice([1, 2, 3]).copyToDevice(array),
      () => toDevice([1, 2, 3]).set(array),
    ];
    for (const use of uses)
      expect(use).toThrow(/^this array was disposed at .*device-array\.test\.ts:\d+:\d+.*; dispose/);
    expect(array.shape).toEqual([3]);
  });

  it('rejects asynchronous use after it', async () => {
    const array = toDevice([1, 2, 3]);
    array.dispose();
    await expect(array.copyToHostAsync()).rejects.toThrow(/was disposed/);
  });

  it('does not cross threads silently', () => {
    const array = toDevice([1]);
    expect(() => structuredClone(array)).toThrow(
      /belongs to the thread that made it: send the result of copyToHost\(\)/,
    );
    expect(() => structuredClone({ nested: [array] })).toThrow(/could not be cloned/);
  });

  it('prints itself shortly', () => {
    const array = deviceArray([2, 3], f32);
    expect(inspect(array)).toBe('DeviceNDArray(f32, shape [2, 3], test device)');
    expect(`${deviceArrayLike(array)}`).toBe(inspect(array));
    array.dispose();
    expect(inspect(array)).toBe('DeviceNDArray(f32, shape [2, 3], disposed)');
  });

  it('shows the compiler what it captures', () => {
    const array = deviceArray([2, 3], f32).T;
    const captured = (array as unknown as Record<symbol, CapturedArray>)[DEVICE_ARRAY];
    expect(captured).toEqual({ owner: array, dtype: f32, pointer: array.pointer, shape: [3, 2], strides: [4, 12] });
  });

  it('holds one reference a view, all given back', () => {
    const base = deviceArray(8);
    const views = [base.slice('1:'), base.T, base.reshape(2, 4), base.bind(), ...base.split(3)];
    expect(base.owner.arrays).toBe(8);
    for (const made of [base, ...views]) made.dispose();
    expect(device.context.deallocations.length).toBe(1);
  });
});
