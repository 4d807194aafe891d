import { describe, expect, it } from 'vitest';
import { freshBlockDevice } from '../../test/support/with-device.ts';
import { deviceArray, toDevice } from '../cuda/host.ts';
import { bool, c64, f16, f32, i16, i32, i64, struct, u8, u64 } from '../dtype/index.ts';
import type { NDArray } from './ndarray.ts';
import { ndarray } from './ndarray-create.ts';

describe('get', () => {
  freshBlockDevice();

  it('reads one element, counting from the end too', () => {
    const d = toDevice(
      ndarray([
        [0, 1, 2],
        [3, 4, 5],
      ]),
    );
    expect(d.get(1, 0)).toBe(3);
    expect(d.get(-1, -1)).toBe(5);
    expect(d.T.get(2, 0)).toBe(2);
    expect(d.slice('::-1').get(0, 1)).toBe(4);
    expect(toDevice(7).get()).toBe(7);
    expect(toDevice(BigInt64Array.of(-5n)).get(0)).toBe(-5n);
  });

  it.each([
    [[2, 0], RangeError, 'index 2 is out of range for axis 0 of length 2'],
    [[0, -4], RangeError, 'index -4 is out of range for axis 1 of length 3'],
    [[0.5, 0], TypeError, 'index on axis 0 must be an integer, got 0.5'],
    [[0], RangeError, '1 index given for an array with 2 axes'],
  ])('refuses %j', (index, kind, message) => {
    const d = deviceArray([2, 3]);
    expect(() => d.get(...index)).toThrow(kind);
    expect(() => d.get(...index)).toThrow(message);
  });
});

describe('set', () => {
  const device = freshBlockDevice();

  it('assigns a scalar to what the index picks', () => {
    const d = toDevice(new Float32Array(6)).reshape(2, 3);
    d.set(1);
    d.set(2, 0);
    d.set(3, [], '::2');
    d.set(4, -1, -1);
    expect((d.copyToHost() as NDArray).toArray()).toEqual([
      [3, 2, 3],
      [3, 1, 4],
    ]);
  });

  it('checks the shape before it converts, wherever the array is', () => {
    const d = toDevice(Int32Array.of(1, 2));
    const complex = ndarray([
      { re: 1, im: 2 },
      { re: 1, im: 2 },
      { re: 1, im: 2 },
    ]);
    for (const wrong of [complex, toDevice(complex)]) {
      expect(() => d.set(wrong)).toThrow(/shape \[3\] cannot be broadcast to shape \[2\]/);
      expect(() => d.set(wrong.slice(':2'))).toThrow(/c128 cannot be converted/);
    }
    expect(d.copyToHost()).toEqual(Int32Array.of(1, 2));
  });

  it('broadcasts arrays, from the host and from the device', () => {
    const d = toDevice(new Float64Array(6)).reshape(2, 3);
    const rows = () => (d.copyToHost() as NDArray).toArray();
    d.set([1, 2, 3]);
    expect(rows()).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    d.set([[7], [8]]);
    expect(rows()).toEqual([
      [7, 7, 7],
      [8, 8, 8],
    ]);
    d.set(toDevice([4, 5]), [], '1:');
    expect(rows()).toEqual([
      [7, 4, 5],
      [8, 4, 5],
    ]);
    d.set(Float64Array.of(9), 0);
    expect(rows()).toEqual([
      [9, 9, 9],
      [8, 4, 5],
    ]);
    d.set(d.slice(1, '::-1'), 0);
    expect(rows()).toEqual([
      [5, 4, 8],
      [8, 4, 5],
    ]);
    d.set([[1, 2, 3]], 1);
    expect(rows()).toEqual([
      [5, 4, 8],
      [1, 2, 3],
    ]);
    d.set(5, '0:0');
    expect(rows()).toEqual([
      [5, 4, 8],
      [1, 2, 3],
    ]);
  });

  it('reads an overlapping source before it writes', () => {
    const d = toDevice([0, 1, 2, 3, 4]);
    d.set(d.slice(':-1'), '1:');
    expect(d.copyToHost()).toEqual(Float64Array.of(0, 0, 1, 2, 3));
    const square = toDevice(
      ndarray([
        [1, 2],
        [3, 4],
      ]),
    );
    square.set(square.T);
    expect((square.copyToHost() as NDArray).toArray()).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  it('converts as casts do', () => {
    const ints = toDevice(new Int32Array(4));
    ints.set([1.9, -1.9, 3e9, Number.NaN]);
    expect(ints.copyToHost()).toEqual(Int32Array.of(1, -1, 2147483647, 0));
    ints.set(2.7, 0);
    expect(ints.get(0)).toBe(2);
    const bytes = toDevice(new Uint8Array(2));
    bytes.set(Int32Array.of(257, -1));
    expect(bytes.copyToHost()).toEqual(Uint8Array.of(1, 255));
    const floats = toDevice(new Float32Array(2));
    floats.set(BigInt64Array.of(2n ** 53n + 1n, -1n));
    expect(floats.copyToHost()).toEqual(Float32Array.of(2 ** 53, -1));
    floats.set(toDevice(Int16Array.of(5, 6)));
    expect(floats.copyToHost()).toEqual(Float32Array.of(5, 6));
    const big = deviceArray(2, i64);
    big.set([3.5, -3.5]);
    expect(big.copyToHost()).toEqual(BigInt64Array.of(3n, -3n));
    big.set(7n);
    expect(big.get(1)).toBe(7n);
  });

  it('fills elements of every size', () => {
    const read = (array: ReturnType<typeof deviceArray<3, never>>, value: unknown) => {
      array.set(value);
      array.set(value, '::2');
      return (ndarray(array.copyToHost() as NDArray) as NDArray).toArray();
    };
    const of = (dtype: Parameters<typeof deviceArray>[1]) => deviceArray(3, dtype) as never;
    expect(read(of(u8), 200)).toEqual([200, 200, 200]);
    expect(read(of(bool), true)).toEqual([true, true, true]);
    expect(read(of(i16), -3)).toEqual([-3, -3, -3]);
    expect(read(of(f16), 1.5)).toEqual([1.5, 1.5, 1.5]);
    expect(read(of(f32), 0.5)).toEqual([0.5, 0.5, 0.5]);
    expect(read(of(u64), 2n ** 63n)).toEqual(Array(3).fill(2n ** 63n));
    expect(read(of(c64), { re: 1, im: -1 })).toEqual(Array(3).fill({ re: 1, im: -1 }));
    expect(read(of('complex128'), { re: 1, im: -1 })).toEqual(Array(3).fill({ re: 1, im: -1 }));
    const triple = struct({ x: f32, y: f32, z: i32 });
    expect(read(of(triple), { x: 1, y: 2, z: 3 })).toEqual(Array(3).fill({ x: 1, y: 2, z: 3 }));
  });

  it('moves no data through the host within a device', () => {
    const [a, b] = [toDevice([1, 2]), deviceArray([3, 2])];
    const { hostToDevice, deviceToHost } = device.context.memoryStats().copies;
    b.set(a);
    expect(device.context.memoryStats().copies).toMatchObject({ hostToDevice, deviceToHost });
  });

  it.each([
    [[1, 2], [], RangeError, 'cannot be broadcast'],
    [ndarray.zeros([2, 2, 3]), [], RangeError, 'cannot be broadcast'],
    [1, [2], RangeError, 'index 2 is out of range'],
    [1, ['1:2:0'], RangeError, 'step'],
    ['text', [], TypeError, 'cannot convert a value of type string to f64'],
    [{ re: 1, im: 2 }, [], TypeError, 'cannot convert'],
    [1, [0, 0, 0], RangeError, '3 indices given'],
  ])('refuses %#', (value, index, kind, message) => {
    const d = deviceArray([2, 3]);
    expect(() => d.set(value, ...(index as number[]))).toThrow(kind);
    expect(() => d.set(value, ...(index as number[]))).toThrow(message);
  });
});
