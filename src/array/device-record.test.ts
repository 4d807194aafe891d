/**
 * Records in device memory: reading and writing members, views, copies, streams, lifetime.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stream as createStream, deviceArray, memoryStats, selectDevice, toDevice } from '../cuda/host.ts';
import { c64, f32, f64, i32, i64, struct, u8 } from '../dtype/index.ts';
import { scope } from '../memory/scope.ts';
import { DeviceNDArray } from './device-array.ts';
import { DeviceRecord } from './device-record.ts';
import { ndarray } from './ndarray-create.ts';

const inner = struct({ a: f64, flag: u8 });
const dtype = struct({ x: f32, n: i64, pos: inner, f: f32.array(3, 2), z: c64, list: inner.array(2) });
const value = {
  x: 1.5,
  n: 7n,
  pos: { a: 3, flag: 1 },
  f: [
    [1, 2],
    [3, 4],
    [5, 6],
  ],
  z: { re: 1, im: -1 },
  list: [
    { a: 1, flag: 2 },
    { a: 3, flag: 4 },
  ],
};

beforeEach(() => {
  selectDevice('cpu');
});

describe('members', () => {
  it('are numbers, complex numbers, records and arrays', () => {
    using rec = toDevice(value, { dtype });
    expect(rec).toBeInstanceOf(DeviceRecord);
    expect([rec.get('x'), rec.get('n'), rec.get('z')]).toEqual([1.5, 7n, { re: 1, im: -1 }]);
    using pos = rec.get('pos');
    expect(pos).toBeInstanceOf(DeviceRecord);
    expect([pos.get('a'), pos.get('flag'), pos.nbytes]).toEqual([3, 1, 9]);
    using f = rec.get('f');
    expect(f).toBeInstanceOf(DeviceNDArray);
    expect([f.shape, f.get(2, 1)]).toEqual([[3, 2], 6]);
    using list = rec.get('list');
    expect(list.get(1)).toEqual({ a: 3, flag: 4 });
  });

  it('are views: what is written through them is in the record', () => {
    using rec = toDevice(value, { dtype });
    rec.get('pos').set('a', -1);
    rec.get('f').set(0, 1);
    rec.get('list').field('flag').set(9);
    expect(rec.copyToHost()).toEqual({
      ...value,
      pos: { a: -1, flag: 1 },
      f: [
        [1, 2],
        [0, 0],
        [5, 6],
      ],
      list: [
        { a: 1, flag: 9 },
        { a: 3, flag: 9 },
      ],
    });
  });

  it('are assigned with conversion, whole records and arrays too', () => {
    using rec = toDevice(value, { dtype });
    rec.set('x', 0.1);
    rec.set('n', 2n ** 63n);
    rec.set('pos', { a: 8, flag: 257 });
    rec.set('f', [
      [9, 9],
      [8, 8],
      [7, 7],
    ]);
    expect(rec.copyToHost()).toEqual({
      ...value,
      x: Math.fround(0.1),
      n: -(2n ** 63n),
      pos: { a: 8, flag: 255 },
      f: [
        [9, 9],
        [8, 8],
        [7, 7],
      ],
    });
  });

  it('that there are not are errors', () => {
    using rec = toDevice(value, { dtype });
    expect(() => rec.get('ps' as 'pos')).toThrow(/no field 'ps': it has x, n, pos.*did you mean 'pos'/);
    expect(() => rec.set(3 as never, 1 as never)).toThrow(/no field of type number/);
    expect(() => rec.set('pos', { a: 1 } as never)).toThrow(/'flag' .* is missing/);
    expect(rec.get('pos').copyToHost()).toEqual(value.pos);
  });
});

describe('copies', () => {
  it('go to plain objects and to arrays without axes', () => {
    using rec = toDevice(value, { dtype });
    const into = ndarray.zeros([], dtype);
    expect(rec.copyToHost(into)).toBe(into);
    expect(into.get()).toEqual(value);
    expect(() => rec.copyToHost(ndarray.zeros([], inner) as never)).toThrow(TypeError);
  });

  it('come from plain objects, arrays and records', () => {
    using rec = new DeviceRecord(inner);
    rec.copyToDevice({ a: 1, flag: 2 });
    expect(rec.copyToHost()).toEqual({ a: 1, flag: 2 });
    using other = toDevice({ a: 5, flag: 6 }, { dtype: inner });
    rec.copyToDevice(other);
    expect(rec.copyToHost()).toEqual({ a: 5, flag: 6 });
    expect(() => rec.copyToDevice({ a: 1 })).toThrow(/flag/);
    expect(toDevice({ a: 7, flag: 8 }, { dtype: inner, to: rec as never })).toBe(rec);
    expect(rec.copyToHost()).toEqual({ a: 7, flag: 8 });
  });

  it('are ordered by a stream', () => {
    const stream = createStream();
    using rec = toDevice(value, { dtype, stream });
    expect(rec.stream).toBe(stream);
    expect(rec.copyToHost()).toEqual(value);
    rec.set('x', 4, { stream });
    expect(rec.get('x', { stream })).toBe(4);
    const into = ndarray.zeros([], dtype);
    rec.bind().copyToHost(into, { stream });
    stream.synchronize();
    expect(into.get().x).toBe(4);
  });
});

describe('toDevice', () => {
  it('says that an object needs a dtype', () => {
    expect(() => toDevice({ x: 1 } as never)).toThrow(/dtype: struct/);
    expect(() => new DeviceRecord(f32)).toThrow(/needs a struct dtype, got f32/);
  });

  it('gives a record back, and converts nested arrays to a dtype', () => {
    using rec = toDevice(value, { dtype });
    expect(toDevice(rec)).toBe(rec);
    expect(toDevice([1, 2] as number[], { dtype: i32 } as object).dtype).toBe(i32);
    expect(toDevice(value, { dtype, copy: false }).nbytes).toBe(dtype.itemSize);
  });
});

describe('memory', () => {
  const before = { live: 0 };
  beforeEach(() => {
    before.live = memoryStats().live;
  });
  afterEach(() => {
    expect(memoryStats().live).toBe(before.live);
  });

  it('outlives a scope that returns the record', () => {
    const { kept } = scope(() => ({ kept: toDevice(value, { dtype }), dropped: toDevice(value, { dtype }).get('x') }));
    expect(kept.get('x')).toBe(1.5);
    kept.dispose();
  });

  it('is given back with the last view', () => {
    const rec = toDevice(value, { dtype });
    const f = rec.get('f');
    rec.dispose();
    rec.dispose();
    expect(f.get(0, 0)).toBe(1);
    expect(() => rec.get('x')).toThrow(/disposed/);
    expect(String(rec)).toMatch(/disposed/);
    f.dispose();
  });

  it('is given back with views on other streams, too', () => {
    const stream = createStream();
    const rec = toDevice(value, { dtype });
    const [f, pos] = [rec.get('f', { stream }), rec.get('pos', { stream })];
    expect([f.stream, pos.stream]).toEqual([stream, stream]);
    rec.set(
      'f',
      [
        [7, 8],
        [9, 10],
        [11, 12],
      ],
      { stream },
    );
    rec.dispose();
    expect(f.get(2, 1)).toBe(12);
    f.dispose();
    pos.dispose();
    stream.dispose();
  });
});

it('field() of arrays is NumPy’s a[name]', () => {
  const host = ndarray.zeros([2, 5], dtype);
  host.set(value, 1, 4);
  using device = toDevice(host);
  for (const a of [host, device]) {
    expect([a.field('x').shape, a.field('x').strides]).toEqual([
      [2, 5],
      [5 * dtype.itemSize, dtype.itemSize],
    ]);
    expect(a.field('f').shape).toEqual([2, 5, 3, 2]);
    expect((a.field('f') as DeviceNDArray).get(1, 4, 2, 1)).toBe(6);
    expect((a.field('pos') as DeviceNDArray).get(1, 4)).toEqual(value.pos);
    expect(() => a.field('y' as 'x')).toThrow(TypeError);
  }
  host.field('x').set(3);
  expect(host.get(0, 0).x).toBe(3);
  const z = ndarray([{ re: 1, im: 2 }], { dtype: c64 });
  expect(z.field('im').get(0)).toBe(2);
  expect(() => deviceArray(3, f32).field('x' as never)).toThrow(/it has none/);
});
