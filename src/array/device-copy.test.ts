import { describe, expect, it } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { freshBlockDevice, freshQueueingDevice } from '../../test/support/with-device.ts';
import { stream as createStream, defaultStream, deviceArray, toDevice } from '../cuda/host.ts';
import { f32, f64, i32, i64, struct, u8 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { DeviceNDArray } from './device-array.ts';
import { NDArray as HostArray, type NDArray } from './ndarray.ts';
import { ndarray } from './ndarray-create.ts';

const square = (): NDArray<f64, 2> =>
  ndarray([
    [0, 1, 2],
    [3, 4, 5],
  ]) as NDArray<f64, 2>;

describe('copyToHost', () => {
  freshBlockDevice();

  it('gives a compact TypedArray of one axis of numbers, over a buffer of its own', () => {
    const result = toDevice(Float32Array.of(0, 1, 2, 3, 4))
      .slice('::2')
      .copyToHost() as Float32Array;
    expect(result).toEqual(Float32Array.of(0, 2, 4));
    expect(result.buffer).toBeInstanceOf(ArrayBuffer);
    expect(result.buffer.byteLength).toBe(12);
  });

  it('gives an NDArray of other ranks, compact, with axes in the order of the device', () => {
    const fortran = toDevice(square().copy({ order: 'F' })).copyToHost();
    expect(fortran).toBeInstanceOf(HostArray);
    expect(fortran.strides).toEqual([8, 16]);
    expect(fortran.toArray()).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    const reversed = toDevice(square()).slice('::-1').copyToHost() as NDArray;
    expect([reversed.strides, reversed.bytes.length]).toEqual([[24, 8], 48]);
    expect(reversed.toArray()).toEqual([
      [3, 4, 5],
      [0, 1, 2],
    ]);
    expect(toDevice(3).copyToHost().get()).toBe(3);
    expect(deviceArray([0, 3]).copyToHost().shape).toEqual([0, 3]);
    expect(deviceArray(0, i64).copyToHost()).toEqual(new BigInt64Array(0));
  });

  it('writes into a host array, elements only, and gives it back', () => {
    const d = toDevice(Float64Array.of(0, 1, 2, 3));
    const h = Float64Array.of(9, 9, 9, 9);
    const gaps = ndarray(h).slice('::2');
    expect(d.slice('::2').copyToHost(gaps)).toBe(gaps);
    expect(h).toEqual(Float64Array.of(0, 9, 2, 9));
    d.slice('::2').copyToHost(ndarray(h).slice('::-2'));
    expect(h).toEqual(Float64Array.of(0, 2, 2, 0));
    const foreign = { data: new Float64Array(8), shape: [4], stride: [2], offset: 1 };
    expect(d.copyToHost(foreign)).toBe(foreign);
    expect(foreign.data).toEqual(Float64Array.of(0, 0, 0, 1, 0, 2, 0, 3));
    expect(d.copyToHost(h.subarray(0), { stream: 0 })).toEqual(Float64Array.of(0, 1, 2, 3));
  });

  it('lets C and F order and axes of length 1 differ', () => {
    const target = square();
    toDevice(
      ndarray([
        [10, 13],
        [11, 14],
        [12, 15],
      ]),
    ).T.copyToHost(target);
    expect(target.toArray()).toEqual([
      [10, 11, 12],
      [13, 14, 15],
    ]);
    const row = new Float64Array(3);
    toDevice(ndarray([[1], [2], [3]])).copyToHost(row);
    expect(row).toEqual(Float64Array.of(1, 2, 3));
  });

  it('checks the dtype, then the shape, then what it was given', () => {
    const d = toDevice(Float32Array.of(1, 2, 3));
    const refused = (into: unknown) => () => d.copyToHost(into as Float32Array);
    expect(refused(new Float64Array(4))).toThrow(TypeError);
    expect(refused(new Float64Array(4))).toThrow(/incompatible dtype: the device array has f32, the other f64/);
    expect(refused(new Float32Array(4))).toThrow(RangeError);
    expect(refused(new Float32Array(4))).toThrow('incompatible shape: the device array has [3], the other [4]');
    expect(refused([0, 0, 0])).toThrow(/got a JavaScript array; without an argument/);
    expect(refused(5)).toThrow(TypeError);
    expect(refused(deviceArray(3, f32))).toThrow('{ data, shape, stride }, got a DeviceNDArray; without');
    expect(() => d.copyToHost({ stream: 5 as never })).toThrow('stream must be a Stream or 0');
    expect(() => deviceArray(0, f32).copyToHost(new Float64Array(0) as never)).toThrow(/incompatible dtype/);
  });
});

describe('copyToDevice', () => {
  freshBlockDevice();

  it('takes host arrays of every layout', () => {
    const d = deviceArray([2, 3]);
    for (const source of [
      square(),
      square().copy({ order: 'F' }),
      ndarray([
        [0, 3],
        [1, 4],
        [2, 5],
      ]).T,
    ]) {
      d.set(-1);
      d.copyToDevice(source);
      expect(d.copyToHost().toArray()).toEqual([
        [0, 1, 2],
        [3, 4, 5],
      ]);
    }
    d.copyToDevice(square().slice('::-1', '::-1'));
    expect(d.copyToHost().toArray()).toEqual([
      [5, 4, 3],
      [2, 1, 0],
    ]);
    d.copyToDevice([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(d.get(1, 2)).toBe(6);
  });

  it('writes to strided, reversed and transposed arrays, elements only', () => {
    const base = toDevice(new Int32Array(6));
    base.slice('::2').copyToDevice(Int32Array.of(1, 2, 3));
    base.slice('::-2').copyToDevice(Int32Array.of(4, 5, 6));
    expect(base.copyToHost()).toEqual(Int32Array.of(1, 6, 2, 5, 3, 4));
    const matrix = toDevice(square());
    matrix.T.copyToDevice(
      ndarray([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    );
    expect(matrix.copyToHost().toArray()).toEqual([
      [1, 3, 5],
      [2, 4, 6],
    ]);
  });

  it('copies between device arrays of any layout, as if the source had been copied out first', () => {
    const c = toDevice(square());
    const f = deviceArray([2, 3], f64, { order: 'F' });
    f.copyToDevice(c);
    expect(f.copyToHost().toArray()).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    const line = toDevice([0, 1, 2, 3, 4]);
    line.slice('1:').copyToDevice(line.slice(':-1'));
    expect(line.copyToHost()).toEqual(Float64Array.of(0, 0, 1, 2, 3));
    line.copyToDevice(line.slice('::-1'));
    expect(line.copyToHost()).toEqual(Float64Array.of(3, 2, 1, 0, 0));
  });

  it('copies between devices by way of the host', () => {
    const here = toDevice([1, 2, 3]);
    const context = new Context(new BlockDriver());
    const leave = cudaDevices.enter(context);
    const there = deviceArray(3);
    leave();
    there.copyToDevice(here);
    expect(there.copyToHost()).toEqual(Float64Array.of(1, 2, 3));
    there.set(here.slice('::-1'));
    expect(there.copyToHost()).toEqual(Float64Array.of(3, 2, 1));
    context.close();
  });

  it('copies each element of memory once, however often it is broadcast', () => {
    const rows = (...row: number[]) =>
      new HostArray(Float64Array.from(row), f64, { shape: [4, 3], strides: [0, 8], offset: 0 });
    const [d, other] = [toDevice(rows(1, 2, 3)), toDevice(rows(4, 5, 6))];
    const { copies } = d.context.counters;
    expect(copies.hostToDevice.bytes).toBe(48);
    d.copyToDevice(rows(7, 8, 9));
    expect(copies.hostToDevice.bytes).toBe(72);
    d.copyToDevice(other);
    expect(copies.deviceToDevice.bytes).toBe(24);
    expect(d.get(3, 2)).toBe(6);
  });

  it('copies what is broadcast to what is broadcast alike, and refuses the rest', () => {
    const broadcast = (data: Float64Array) => new HostArray(data, f64, { shape: [4, 3], strides: [0, 8], offset: 0 });
    const d = toDevice(broadcast(Float64Array.of(1, 2, 3)));
    d.copyToDevice(broadcast(Float64Array.of(4, 5, 6)));
    expect(d.get(3, 1)).toBe(5);
    const other = toDevice(broadcast(Float64Array.of(7, 8, 9)));
    d.copyToDevice(other);
    expect(d.get(0, 2)).toBe(9);
    expect(() => d.copyToDevice(ndarray.zeros([4, 3]))).toThrow(/the one element that a broadcast axis has/);
    const full = deviceArray([4, 3]);
    full.copyToDevice(d);
    expect(full.get(3, 0)).toBe(7);
  });

  it('takes objects as the structs of the array', () => {
    const point = struct({ x: f32, id: i32 });
    const d = deviceArray(2, point);
    d.copyToDevice([
      { x: 1.5, id: 1 },
      { x: 2.5, id: 2 },
    ]);
    expect(d.get(1)).toEqual({ x: 2.5, id: 2 });
    expect(() => d.copyToDevice([{ x: 1 }, { x: 2 }])).toThrow("field 'id'");
    expect(() => d.copyToDevice([1, 2])).toThrow('must be a plain object, got a value of type number');
    const one = deviceArray([], point);
    one.copyToDevice({ x: 3, id: 3 });
    expect(one.get()).toEqual({ x: 3, id: 3 });
  });

  it('tells structs apart that differ in nothing but the places of their fields', () => {
    const fields = { a: u8, b: f32 };
    const [packed, aligned] = [struct(fields), struct(fields, { align: true })];
    const d = deviceArray(2, packed);
    const host = ndarray.zeros([2], aligned);
    const both =
      'the device array has struct({ a: u8, b: f32 }), the other struct({ a: u8, b: f32 }, { align: true });';
    expect(() => d.copyToHost(host as never)).toThrow(`${both} copy into an array of the same struct`);
    expect(() => d.copyToDevice(host)).toThrow(`${both} structs do not convert`);
    expect(() => d.set(host)).toThrow(
      / struct\(\{ a: u8, b: f32 \}, \{ align: true \}\) cannot be converted to struct\(.*\}\)$/,
    );
    expect(() => toDevice(host, { dtype: packed })).toThrow(/not as struct\(.*\}\); structs do not convert/);
  });

  it('checks dtype and shape, also of sources without elements', () => {
    const d = deviceArray(3, i32);
    expect(() => d.copyToDevice(new Float32Array(3))).toThrow(
      /incompatible dtype.*convert with ndarray\(x, \{ dtype: i32 \}\)/,
    );
    expect(() => d.copyToDevice(new Float32Array(0))).toThrow(TypeError);
    expect(() => d.copyToDevice(new Int32Array(0))).toThrow(RangeError);
    expect(() => d.copyToDevice(deviceArray(3, f32))).toThrow(TypeError);
    expect(() => d.copyToDevice(deviceArray(4, i32))).toThrow(RangeError);
    deviceArray([1, 3], i32).copyToDevice(new Int32Array(3));
    deviceArray(0, i32).copyToDevice(new Int32Array(0));
    expect(() => d.copyToDevice(null)).toThrow(TypeError);
  });
});

describe('copies on streams', () => {
  const device = freshQueueingDevice();

  it('named in the call are enqueued, and valid after the stream was synchronised', () => {
    const stream = createStream();
    const d = deviceArray(2, i32);
    d.copyToDevice(Int32Array.of(1, 2), { stream });
    const host = d.copyToHost({ stream });
    expect(host).toEqual(Int32Array.of(0, 0));
    stream.synchronize();
    expect(host).toEqual(Int32Array.of(1, 2));
  });

  it('of the array itself are waited for by copyToHost and get', () => {
    const stream = createStream();
    const d = toDevice(Int32Array.of(1, 2), { stream });
    expect(d.copyToHost()).toEqual(Int32Array.of(1, 2));
    d.set(5, 1);
    expect(d.get(1)).toBe(5);
    d.copyToDevice(Int32Array.of(7, 8));
    expect(d.copyToHost(new Int32Array(2))).toEqual(Int32Array.of(7, 8));
  });

  it('are asynchronous with copyToHostAsync, named, bound or without any', async () => {
    const stream = createStream();
    const d = toDevice(Int32Array.of(1, 2, 3), { stream });
    const [named, bound] = [d.copyToHostAsync({ stream }), d.copyToHostAsync(new Int32Array(3))];
    expect(device.driver.queryStream(stream.use() ?? { stream: undefined })).toBe(false);
    expect(await Promise.all([named, bound])).toEqual([Int32Array.of(1, 2, 3), Int32Array.of(1, 2, 3)]);
    const free = d.bind();
    expect(await free.slice('::-1').copyToHostAsync()).toEqual(Int32Array.of(3, 2, 1));
    expect(await free.copyToHostAsync({ stream: defaultStream() })).toEqual(Int32Array.of(1, 2, 3));
    await expect(free.copyToHostAsync(new Float32Array(3) as never)).rejects.toThrow(/incompatible dtype/);
    expect(await free.copyToHostAsync(undefined)).toEqual(Int32Array.of(1, 2, 3));
  });

  it('without a stream stand between earlier and later work without one, also when asynchronous', async () => {
    const d = toDevice(Int32Array.of(0));
    // So much that a copy on a stream that does not wait would be first.
    for (let k = 0; k < 20; k++) device.driver.enqueue(undefined, () => undefined);
    device.driver.enqueue(undefined, () => device.driver.device.copyToDevice(d.pointer, Uint8Array.of(1, 0, 0, 0)));
    const copy = d.copyToHostAsync();
    device.driver.enqueue(undefined, () => device.driver.device.copyToDevice(d.pointer, Uint8Array.of(2, 0, 0, 0)));
    expect(await copy).toEqual(Int32Array.of(1));
    device.context.synchronize();
    expect(d.get(0)).toBe(2);
  });

  it('go on when the array is disposed right after the call', async () => {
    const d = new DeviceNDArray(3, null, i32);
    d.copyToDevice(Int32Array.of(4, 5, 6));
    const copy = d.copyToHostAsync();
    d.dispose();
    device.context.deallocations.clear();
    expect(await copy).toEqual(Int32Array.of(4, 5, 6));
    device.context.synchronize();
    expect(device.driver.device.freed).toHaveLength(1);
  });
});
