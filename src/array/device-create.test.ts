import { describe, expect, it } from 'vitest';
import { freshBlockDevice } from '../../test/support/with-device.ts';
import { stream as createStream, deviceArray, deviceArrayLike, toDevice } from '../cuda/host.ts';
import { bool, c64, c128, f16, f32, f64, i32, i64, struct, u8, u8c } from '../dtype/index.ts';
import { DeviceNDArray } from './device-array.ts';
import { NDArray as HostArray, type NDArray } from './ndarray.ts';
import { ndarray } from './ndarray-create.ts';
import { SmartArray } from './smart-array.ts';

/** Shape, strides, offset of the first element in its memory, and size of that memory. */
function geometry(array: DeviceNDArray<never> | DeviceNDArray): unknown[] {
  return [array.shape, array.strides, array.pointer - array.owner.address, array.allocSize];
}

/** A host array with the layout given, over a buffer that holds it. */
function host(shape: number[], strides: number[], offset = 0): NDArray<f64> {
  return new HostArray(
    Float64Array.from({ length: 64 }, (_, i) => i),
    f64,
    { shape, strides, offset },
  );
}

describe('deviceArray', () => {
  const device = freshBlockDevice();

  it('is f64 in C order by default', () => {
    const array = deviceArray([2, 3]);
    expect(array.dtype).toBe(f64);
    expect(geometry(array)).toEqual([[2, 3], [24, 8], 0, 48]);
    expect(array).toMatchObject({ ndim: 2, size: 6, nbytes: 48, itemSize: 8, layout: 'C', stream: undefined });
    expect(array.flags).toEqual({ C_CONTIGUOUS: true, F_CONTIGUOUS: false });
  });

  it('has the layouts of the worked examples', () => {
    expect(geometry(deviceArray([2, 3], f32, { order: 'F' }))).toEqual([[2, 3], [4, 8], 0, 24]);
    const padded = deviceArray([2, 3], f32, { strides: [16, 4] });
    expect(geometry(padded)).toEqual([[2, 3], [16, 4], 0, 28]);
    expect(padded.isCContiguous()).toBe(false);
    expect(geometry(deviceArray([], f64))).toEqual([[], [], 0, 8]);
    const empty = deviceArray([0, 3], f64);
    expect(geometry(empty)).toEqual([[0, 3], [24, 8], 0, 0]);
    expect([empty.isCContiguous(), empty.isFContiguous(), empty.pointer]).toEqual([true, true, 0]);
    expect(device.context.counters.allocations).toBe(3);
  });

  it('points at the first logical element, also when strides are negative', () => {
    const array = deviceArray(4, f32, { strides: [-4] });
    expect(geometry(array)).toEqual([[4], [-4], 12, 16]);
    array.copyToDevice(Float32Array.of(1, 2, 3, 4));
    expect(array.get(0)).toBe(1);
    expect(array.slice('::-1').strides).toEqual([4]);
  });

  it('takes integers, strings for dtypes, a stream, and no strides for those of the order', () => {
    const stream = createStream();
    expect(deviceArray(3n, 'int16', { stream })).toMatchObject({ shape: [3], strides: [2], stream });
    expect(deviceArray([2, 2], '<f4', { strides: [], order: 'F' }).strides).toEqual([4, 8]);
    expect(deviceArray(new Int32Array([2, 2]), u8).shape).toEqual([2, 2]);
  });

  it.each([
    [() => deviceArray(2.5), TypeError, 'shape must be integers, got 2.5'],
    [() => deviceArray([2, '3'] as never), TypeError, "got '3'"],
    [() => deviceArray(undefined as never), TypeError, 'shape must be an integer'],
    [() => deviceArray([2, -1]), RangeError, 'shape [2, -1] has a negative length, -1'],
    [() => deviceArray([2, 3], f32, { strides: [4] }), RangeError, 'strides [4] do not match the number of axes'],
    [() => deviceArray([2], f32, { order: 'X' as 'C' }), RangeError, "order must be 'C' or 'F', got 'X'"],
    [() => deviceArray([], f32, { order: 'X' as 'C' }), RangeError, "got 'X'"],
    [() => deviceArray(3, 'i8' as never), TypeError, 'i8'],
    [() => deviceArray(3, f32, { stream: 7 as never }), TypeError, 'stream must be a Stream or 0, got the number 7'],
    [() => deviceArray([2 ** 30, 2 ** 30], f64), RangeError, 'beyond 2^53'],
  ])('refuses bad input %#', (make, kind, message) => {
    expect(make).toThrow(kind);
    expect(make).toThrow(message);
  });
});

describe('DeviceNDArray over memory that exists', () => {
  freshBlockDevice();

  it('shares it, and checks that it fits', () => {
    const base = toDevice(Float64Array.of(0, 1, 2, 3, 4, 5));
    const over = new DeviceNDArray([2, 3], [24, 8], f64, { gpuData: base.gpuData });
    expect(over.get(1, 0)).toBe(3);
    base.dispose();
    expect(over.get(1, 2)).toBe(5);
    const inner = over.slice(1, [1]);
    expect(() => new DeviceNDArray(4, 8, f64, { gpuData: inner.gpuData })).toThrow(
      'shape [4], strides [8] span bytes 32 to 64 of gpuData that has 48 bytes',
    );
    expect(new DeviceNDArray(5, -8, f64, { gpuData: inner.gpuData }).copyToHost()).toEqual(
      Float64Array.of(4, 3, 2, 1, 0),
    );
    expect(() => new DeviceNDArray(6, -8, f64, { gpuData: inner.gpuData })).toThrow(RangeError);
  });
});

describe('deviceArrayLike', () => {
  freshBlockDevice();
  const strides = (like: NDArray<f64> | DeviceNDArray<f32>): readonly number[] =>
    deviceArrayLike(like as NDArray<f64>).strides;

  it('keeps C and F order, and compacts the rest in the order of its axes', () => {
    expect(strides(host([2, 3], [24, 8]))).toEqual([24, 8]);
    expect(strides(host([2, 3], [8, 16]))).toEqual([8, 16]);
    expect(strides(host([2, 3], [96, 16]))).toEqual([24, 8]);
    expect(strides(host([2, 3], [16, 96]))).toEqual([8, 16]);
    expect(strides(host([2, 3], [-48, 8], 64))).toEqual([24, 8]);
    expect(strides(host([4, 3], [0, 8]))).toEqual([8, 32]);
    expect(strides(deviceArray([2, 3], f32, { order: 'F' }))).toEqual([4, 8]);
  });

  it('keeps dtype and shape, also of no axes', () => {
    expect(deviceArrayLike(new Uint8ClampedArray(3))).toMatchObject({ dtype: u8c, shape: [3] });
    expect(deviceArrayLike(ndarray(5))).toMatchObject({ dtype: f64, shape: [] });
    expect(() => deviceArrayLike([1, 2] as never)).toThrow(/got a JavaScript array; for a shape use deviceArray/);
  });
});

describe('toDevice', () => {
  const device = freshBlockDevice();

  it('takes TypedArrays, numbers, nested arrays and other packages’ arrays', () => {
    expect(toDevice(Int16Array.of(1, -2)).copyToHost()).toEqual(Int16Array.of(1, -2));
    expect(toDevice(2)).toMatchObject({ dtype: f64, shape: [] });
    expect(toDevice(2).get()).toBe(2);
    expect(toDevice([1, 2])).toMatchObject({ dtype: f64, shape: [2] });
    expect(toDevice([1n, 2n])).toMatchObject({ dtype: i64 });
    expect(toDevice([true, false])).toMatchObject({ dtype: bool });
    expect(
      (
        toDevice([
          [1, 2],
          [3, 4],
        ]).copyToHost() as NDArray
      ).toArray(),
    ).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const foreign = { data: Float32Array.of(0, 1, 2, 3, 4, 5), shape: [2, 2], stride: [-3, 2], offset: 3 };
    expect((toDevice(foreign).copyToHost() as NDArray).toArray()).toEqual([
      [3, 5],
      [0, 2],
    ]);
    expect(() => toDevice('text' as never)).toThrow(TypeError);
    expect(() => toDevice(null as never)).toThrow(TypeError);
  });

  it('keeps shape and strides of one block of memory, broadcast axes apart', () => {
    expect(geometry(toDevice(host([2, 3], [8, 16])))).toEqual([[2, 3], [8, 16], 0, 48]);
    const broadcast = toDevice(host([4, 3], [0, 8]));
    expect(geometry(broadcast)).toEqual([[4, 3], [0, 8], 0, 24]);
    expect(broadcast).toMatchObject({ nbytes: 96, layout: 'A', flags: { C_CONTIGUOUS: false, F_CONTIGUOUS: false } });
    expect((broadcast.copyToHost() as NDArray).toArray()).toEqual(Array(4).fill([0, 1, 2]));
  });

  it('compacts strided and reversed host arrays', () => {
    const stepped = toDevice(host([2, 3], [96, 16], 8));
    expect(geometry(stepped)).toEqual([[2, 3], [24, 8], 0, 48]);
    expect(stepped.get(1, 2)).toBe(1 + 12 + 4);
    const reversed = toDevice(host([4], [-8], 24));
    expect(reversed.strides).toEqual([8]);
    expect(reversed.copyToHost()).toEqual(Float64Array.of(3, 2, 1, 0));
  });

  it('gives a device array back as it is', () => {
    const array = toDevice([1, 2]);
    expect(toDevice(array)).toBe(array);
    expect(toDevice(array, { copy: false })).toBe(array);
    array.dispose();
    expect(() => toDevice(array)).toThrow(/was disposed/);
  });

  it('allocates only with copy: false', () => {
    toDevice([1, 2], { copy: false });
    expect(device.context.counters.copies.hostToDevice.count).toBe(0);
    expect(device.context.counters.allocations).toBe(1);
  });

  it('copies into another array with `to`, and gives that', () => {
    const to = deviceArray(2);
    expect(toDevice([5, 6], { to })).toBe(to);
    expect(to.copyToHost()).toEqual(Float64Array.of(5, 6));
    expect(toDevice([7, 8], { to, copy: false })).toBe(to);
    expect(to.get(0)).toBe(5);
    expect(() => toDevice([7, 8, 9], { to })).toThrow(/incompatible shape/);
    expect(() => toDevice([7], { to: {} as never })).toThrow(TypeError);
  });

  it('takes a complex number', () => {
    expect(toDevice({ re: 1, im: -2 } as never)).toMatchObject({ dtype: c128, shape: [] });
    expect(toDevice({ re: 1, im: -2 } as never).get()).toEqual({ re: 1, im: -2 });
    expect(toDevice({ re: 1, im: -2 } as never, { dtype: c64 })).toMatchObject({ dtype: c64 });
    expect(() => toDevice({ re: 1, im: -2, x: 0 } as never)).toThrow(/becomes a record/);
  });

  it('converts nested arrays, and asks no array to be of another type than it is', () => {
    expect(toDevice([1, 2.7], { dtype: i32 }).copyToHost()).toEqual(Int32Array.of(1, 2));
    const floats = Float32Array.of(1.5);
    expect(toDevice(floats, { dtype: 'float32' }).get(0)).toBe(1.5);
    for (const given of [floats, ndarray(floats), toDevice(floats), { data: floats, shape: [1] }]) {
      expect(() => toDevice(given as never, { dtype: i32 })).toThrow(
        /toDevice: the array has dtype f32 .* ndarray\(x, \{ dtype: i32 \}\)/,
      );
    }
    expect(() => toDevice([1], { dtype: f32, to: deviceArray(1) })).toThrow(/the array has dtype f64/);
  });

  it('says what to give in place of a smart array', () => {
    const smart = new SmartArray([1, 2]);
    expect(() => toDevice(smart as never)).toThrow(/got a SmartArray: its get\('gpu'\) is a device array/);
    expect(() => deviceArray(2).copyToDevice(smart)).toThrow(/got a SmartArray/);
    expect(() => deviceArrayLike(smart as never)).toThrow(/got a SmartArray/);
  });

  it('carries every dtype', () => {
    const point = struct({ x: f32, n: 'int32' });
    const structs = ndarray(
      [
        { x: 1.5, n: 2 },
        { x: -1, n: 3 },
      ],
      { dtype: point },
    );
    expect(toDevice(structs).copyToHost().toArray()).toEqual([
      { x: 1.5, n: 2 },
      { x: -1, n: 3 },
    ]);
    const halves = ndarray([1, 0.5], { dtype: f16 });
    expect(toDevice(halves).copyToHost()).toBeInstanceOf(HostArray);
    expect(toDevice(halves).get(1)).toBe(0.5);
    const complex = ndarray([{ re: 1, im: 2 }], { dtype: c64 });
    expect(toDevice(complex).get(0)).toEqual({ re: 1, im: 2 });
    expect((toDevice([true, false]).copyToHost() as NDArray).toArray()).toEqual([true, false]);
    expect(toDevice(BigInt64Array.of(-1n)).copyToHost()).toEqual(BigInt64Array.of(-1n));
  });
});
