/**
 * What `ndarray()` and its siblings make of TypedArrays, nested arrays, scalars, and arrays of other packages.
 */
import { describe, expect, test } from 'vitest';
import { DEVICE_ARRAY, NDARRAY } from '../compiler/contract.ts';
import { bool, c64, c128, f16, f32, f64, i32, i64, struct, u8, u8c, u64 } from '../dtype/index.ts';
import { NDArray } from './ndarray.ts';
import { asHostArray, ndarray } from './ndarray-create.ts';

describe('TypedArrays are wrapped', () => {
  test('sharing memory', () => {
    const data = new Float32Array([1, 2, 3, 4, 5, 6]);
    const a = ndarray(data, { shape: [2, 3] });
    expect(a.data).toBe(data);
    a.set(9, 1, 0);
    expect(data[3]).toBe(9);
    expect(ndarray(data).shape).toEqual([6]);
    expect(ndarray(data, { shape: [2, 3], order: 'F' }).toArray()).toEqual([
      [1, 3, 5],
      [2, 9, 6],
    ]);
    expect(ndarray(data, { shape: [2, 2], strides: [8, 4], byteOffset: 4 }).toArray()).toEqual([
      [2, 3],
      [9, 5],
    ]);
    expect(ndarray(data, { shape: 2, strides: -8, byteOffset: 20 }).toArray()).toEqual([6, 9]);
    expect(ndarray(data, { byteOffset: 8 }).toArray()).toEqual([3, 9, 5, 6]);
    expect(ndarray(data, { shape: [2], byteOffset: 8 }).toArray()).toEqual([3, 9]);
    expect(ndarray(data, { dtype: f32 }).data).toBe(data);
  });

  test('subarrays of a buffer keep their place', () => {
    const buffer = new ArrayBuffer(32);
    const data = new Int16Array(buffer, 6, 4);
    const a = ndarray(data);
    a.set([1, 2, 3, 4]);
    expect([...new Int16Array(buffer)]).toEqual([0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(a.byteOffset).toBe(0);
    const shared = ndarray(new Float64Array(new SharedArrayBuffer(16)));
    shared.set(1, 1);
    expect(shared.toArray()).toEqual([0, 1]);
  });

  test('Uint8ClampedArray is u8c, Buffer u8', () => {
    const clamped = new Uint8ClampedArray([1, 2]);
    const a = ndarray(clamped);
    expect([a.dtype, a.data.constructor]).toEqual([u8c, Uint8ClampedArray]);
    a.set(700, 0);
    expect(clamped[0]).toBe(255);
    expect(ndarray(Buffer.from([1, 2])).data.constructor).toBe(Uint8Array);
  });

  test('what does not fit is refused', () => {
    const data = new Float32Array(6);
    expect(() => ndarray(data, { shape: [2, 2] })).toThrow('shape [2, 2] has 4 elements, the data has 6');
    expect(() => ndarray(data, { shape: [4, 2] })).toThrow(RangeError);
    expect(() => ndarray(data, { shape: [2, 3], strides: [16, 4] })).toThrow(
      'spans bytes 0 to 28, outside the Float32Array of 24 bytes',
    );
    expect(() => ndarray(data, { shape: [2], strides: [-4] })).toThrow('spans bytes -4 to 4');
    expect(() => ndarray(data, { shape: [2, 3], strides: [4] })).toThrow('do not match the number of axes');
    expect(() => ndarray(data, { shape: [5], byteOffset: 8 })).toThrow('spans bytes 8 to 28');
    expect(() => ndarray(data, { byteOffset: 3 })).toThrow('21 bytes are not a whole number of f32 elements');
    expect(() => ndarray(data, { byteOffset: -4 })).toThrow('byteOffset -4 is outside the data of 24 bytes');
    expect(() => ndarray(data, { byteOffset: 1.5 })).toThrow(TypeError);
    expect(() => ndarray(data, { strides: [4] })).toThrow('strides need a shape');
    expect(() => ndarray(data, { order: 'A' as 'C' })).toThrow("order must be 'C' or 'F', got 'A'");
    expect(() => ndarray(data, { shape: [2, -3] })).toThrow('negative length');
  });

  test('with another dtype, elements convert into new memory', () => {
    const data = new Float32Array([1.5, 300, -1]);
    const a = ndarray(data, { dtype: u8 });
    expect([a.toArray(), a.data.constructor]).toEqual([[1, 255, 0], Uint8Array]);
    expect(ndarray(new Int32Array([1, 2, 3, 4]), { dtype: f64, shape: [2, 2], order: 'F' }).toArray()).toEqual([
      [1, 3],
      [2, 4],
    ]);
    expect(ndarray(new Int32Array([1, 0]), { dtype: bool }).toArray()).toEqual([true, false]);
    expect(ndarray(new Float64Array([1, 2]), { dtype: c64 }).toArray()).toEqual([
      { re: 1, im: 0 },
      { re: 2, im: 0 },
    ]);
  });

  test('the data that arrays of a dtype are kept in is taken as such and shared', () => {
    const bits = new Uint16Array([0x3c00, 0xc000]);
    const half = ndarray(bits, { dtype: f16 });
    expect([half.toArray(), half.data]).toEqual([[1, -2], bits]);
    const pairs = new Float32Array([1, 2, 3, 4]);
    const complex = ndarray(pairs, { dtype: c64 });
    complex.set({ re: 9, im: 8 }, 1);
    expect([...pairs]).toEqual([1, 2, 9, 8]);
    expect(ndarray(new Float64Array(4), { dtype: c128, shape: [2, 1] }).shape).toEqual([2, 1]);
    const flags = new Uint8Array([1, 0]);
    ndarray(flags, { dtype: bool }).set(true, 1);
    expect([...flags]).toEqual([1, 1]);
    const point = struct({ x: f32, y: f32 });
    expect(ndarray(new Uint8Array(16), { dtype: point }).shape).toEqual([2]);
    expect(() => ndarray(new Uint8Array(15), { dtype: point })).toThrow(
      '15 bytes are not a whole number of struct elements (8 bytes each)',
    );
    for (const a of [half, complex, ndarray([true]), ndarray.zeros(2, point)]) {
      expect(ndarray(a.data, { dtype: a.dtype }).toArray()).toEqual(a.toArray());
    }
  });
});

describe('nested arrays and scalars are copied', () => {
  test('numbers are f64 whether whole or not, bigints i64, booleans bool, { re, im } c128', () => {
    expect([ndarray([1, 2]).dtype, ndarray([1.5]).dtype, ndarray(3).dtype]).toEqual([f64, f64, f64]);
    expect([ndarray([1n]).dtype, ndarray(1n).dtype, ndarray([[true]]).dtype]).toEqual([i64, i64, bool]);
    expect(ndarray([{ re: 1, im: 2 }]).dtype).toBe(c128);
    expect([ndarray([]).dtype, ndarray([]).shape, ndarray([[], []]).shape]).toEqual([f64, [0], [2, 0]]);
    expect(
      ndarray([
        [[1], [2]],
        [[3], [4]],
        [[5], [6]],
      ]).shape,
    ).toEqual([3, 2, 1]);
  });

  test('mixtures are a TypeError, unless a dtype is given', () => {
    expect(() => ndarray([1, 2n] as never)).toThrow(
      'got a mixture of numbers (f64) and bigints (i64); convert them, or give the dtype',
    );
    expect(() => ndarray([true, 1] as never)).toThrow('booleans and numbers (f64)');
    expect(() => ndarray([1, { re: 1, im: 0 }] as never)).toThrow(TypeError);
    expect(ndarray([1, 2n, true], { dtype: i32 }).toArray()).toEqual([1, 2, 1]);
    expect(() => ndarray([1, '2'] as never)).toThrow('a mixture of numbers (f64) and strings');
    expect(() => ndarray([1, null] as never)).toThrow('got null');
    // biome-ignore lint/suspicious/noSparseArray: holes are the point
    expect(() => ndarray([1, , 2] as never)).toThrow('got undefined (a hole in the array?)');
    expect(() => ndarray([{ x: 1 }] as never)).toThrow('need a dtype, such as');
    expect(() => ndarray('1' as never)).toThrow(TypeError);
    expect(() => ndarray([2n ** 63n])).toThrow(
      '9223372036854775808n does not fit i64, the dtype of bigints; give dtype: u64 or f64',
    );
    expect(ndarray([2n ** 63n], { dtype: u64 }).get(0)).toBe(2n ** 63n);
  });

  test('ragged ones are refused', () => {
    expect(() => ndarray([[1, 2], [3]])).toThrow(
      'after the first row the shape is [2, 2], but on axis 1 there is 1 item in place of 2 items',
    );
    expect(() => ndarray([[1], 2] as never)).toThrow('on axis 1 there is a single value in place of 1 item');
    expect(() => ndarray([1, [2]] as never)).toThrow('on axis 1 there is an array in place of a single value');
    expect(() => ndarray([[1, 2], new Float64Array(3)])).toThrow(RangeError);
    expect(() => ndarray([[[1]], new Float64Array(1)] as never)).toThrow(RangeError);
  });

  test('rows may be TypedArrays', () => {
    const a = ndarray([new Float32Array([1, 2]), new Float32Array([3, 4])]);
    expect([a.dtype, a.toArray()]).toEqual([
      f32,
      [
        [1, 2],
        [3, 4],
      ],
    ]);
    expect(() => ndarray([new Float32Array(1), new Int32Array(1)])).toThrow('a mixture of f32 and i32');
    expect(ndarray([new Int32Array([300]), [300]], { dtype: u8 }).toArray()).toEqual([[44], [255]]);
  });

  test('shape and order', () => {
    const a = ndarray([1, 2, 3, 4, 5, 6], { shape: [2, 3], order: 'F' });
    expect([a.toArray(), a.strides]).toEqual([
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      [8, 16],
    ]);
    expect(ndarray(7, { shape: [1, 1] }).toArray()).toEqual([[7]]);
    expect(() => ndarray([1], { strides: [8] })).toThrow("strides says how a TypedArray's memory is read");
    expect(() => ndarray([1], { byteOffset: 0 })).toThrow(TypeError);
  });
});

describe('other arrays', () => {
  test('an NDArray is itself, or converted', () => {
    const a = ndarray([
      [1, 2],
      [3, 4],
    ]);
    expect(ndarray(a)).toBe(a);
    expect(ndarray(a, { dtype: f64 })).toBe(a);
    expect(ndarray(a, { dtype: f32 }).toArray()).toEqual(a.toArray());
    expect(ndarray(a, { dtype: a.dtype, shape: [4] }).data).toBe(a.data);
    expect(ndarray(a, { dtype: f64, order: 'F' }).strides).toEqual([8, 16]);
  });

  test('{ data, shape, stride, offset }: strides and offset count elements', () => {
    const data = new Float32Array([0, 1, 2, 3, 4, 5]);
    const foreign = { data, shape: [2, 2], stride: [-3, 1], offset: 4 };
    const a = ndarray(foreign);
    expect([a.toArray(), a.strides, a.byteOffset, a.data === data]).toEqual([
      [
        [4, 5],
        [1, 2],
      ],
      [-12, 4],
      16,
      true,
    ]);
    expect(ndarray({ data, shape: [2], strides: [2], offset: 1 }).toArray()).toEqual([1, 3]);
    expect(ndarray({ data, shape: [3, 2] }).toArray()).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
    expect(ndarray({ data, shape: new Int32Array([6]) }, { dtype: i32 }).toArray()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(asHostArray(foreign)?.get(0, 0)).toBe(4);
  });

  test('unsound ones are refused', () => {
    const data = new Float32Array(6);
    expect(() => ndarray({ data, shape: [2, 4] })).toThrow('outside the Float32Array of 24 bytes');
    expect(() => ndarray({ data, shape: [2], stride: [-1] })).toThrow('spans bytes -4 to 4');
    expect(() => ndarray({ data, shape: [2], offset: 5 })).toThrow('spans bytes 20 to 28');
    expect(() => ndarray({ data, shape: [2, 2], stride: [1] })).toThrow('do not match the number of axes');
    expect(() => ndarray({ data, shape: [2], offset: 0.5 })).toThrow('offset must be an integer, got 0.5');
    expect(() => ndarray({ data: [1, 2], shape: [2] } as never)).toThrow(
      'must be a TypedArray; convert it, for example with Float64Array.from(data)',
    );
  });

  test('asHostArray takes host arrays and nothing else', () => {
    const data = new Int32Array(2);
    expect(asHostArray(data)?.data).toBe(data);
    const a = ndarray([1]);
    expect(asHostArray(a)).toBe(a);
    for (const other of [[1], 1, null, { x: 1 }]) expect(asHostArray(other)).toBeUndefined();
    expect(() => asHostArray({ data, shape: [7] })).toThrow('outside the Int32Array of 8 bytes');
    const device = { [DEVICE_ARRAY]: {}, data, shape: [2] };
    expect(asHostArray(device)).toBeUndefined();
    expect(() => ndarray(device)).toThrow('copyToHost()');
    expect(() => ndarray.zeros(2).set(device)).toThrow('copyToHost()');
  });

  test('an NDArray of another copy of the library is known by its brand', () => {
    const inner = { data: new Float32Array([1, 2, 3]), dtype: f32, shape: [2], strides: [-4], byteOffset: 8 };
    const other = { ...inner, [NDARRAY]: inner };
    const a = asHostArray(other);
    expect(a).toBeInstanceOf(NDArray);
    expect(a?.toArray()).toEqual([3, 2]);
    const b = ndarray.zeros(2);
    b.set(other);
    expect(b.toArray()).toEqual([3, 2]);
  });
});

describe('new arrays', () => {
  test('zeros, empty, full, arange', () => {
    expect([ndarray.zeros(2).toArray(), ndarray.zeros([2, 1], i64).toArray()]).toEqual([
      [0, 0],
      [[0n], [0n]],
    ]);
    expect(ndarray.zeros([2, 3], { dtype: 'float32', order: 'F' }).strides).toEqual([4, 8]);
    expect(ndarray.empty([0, 3]).shape).toEqual([0, 3]);
    expect(ndarray.zeros([]).get()).toBe(0);
    expect(ndarray.full([2, 2], 1.5).toArray()).toEqual([
      [1.5, 1.5],
      [1.5, 1.5],
    ]);
    expect([ndarray.full(1, 1).dtype, ndarray.full(1, 1n).dtype, ndarray.full(1, true).dtype]).toEqual([
      f64,
      i64,
      bool,
    ]);
    expect(ndarray.full(2, 300, u8).toArray()).toEqual([255, 255]);
    expect(ndarray.full(2, { re: 1, im: 2 }, c64).toArray()).toEqual([
      { re: 1, im: 2 },
      { re: 1, im: 2 },
    ]);
    expect(ndarray.arange(3).toArray()).toEqual([0, 1, 2]);
    expect(ndarray.arange(3, { dtype: i64 }).toArray()).toEqual([0n, 1n, 2n]);
    expect(ndarray.arange(3, f16).toArray()).toEqual([0, 1, 2]);
    expect(() => ndarray.zeros(-1)).toThrow('negative length');
    expect(() => ndarray.zeros(2, 'i8' as never)).toThrow('ambiguous');
    expect(() => ndarray.zeros(2.5)).toThrow(TypeError);
  });
});
