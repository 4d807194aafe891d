/** Nothing that a program does to a host array leads a copy or a kernel out of the array's memory. */
import { deepStrictEqual } from 'node:assert';
import { describe, expect, it } from 'vitest';
import { freshCpuDevice } from '../../test/support/with-device.ts';
import { NDARRAY } from '../compiler/contract.ts';
import { cuda, f32, type Mat, type NDArray, ndarray, type Vec } from '../index.ts';
import { NDArray as NDArrayClass } from './ndarray.ts';

freshCpuDevice();

const fill = cuda.jit((x: Vec<f32>) => {
  for (let i = 0; i < x.length; i++) x[i] = 7;
});
const property = expect.objectContaining({ code: 'E_PROPERTY' });
const sloppy = (text: string, array: unknown) => () => new Function('a', text)(array);

const makers: [string, () => NDArray<f32, 1>][] = [
  ['ndarray', () => ndarray(new Float32Array(6))],
  ['pinnedArray', () => cuda.pinnedArray(6, f32)],
  ['mappedArray', () => cuda.mappedArray(6, f32)],
  ['managedArray', () => cuda.managedArray(6, f32)],
];

describe.each(makers)('%s', (_name, make) => {
  it('takes a shape of as many elements, where nothing need be moved', () => {
    const a = make();
    a.set([0, 1, 2, 3, 4, 5]);
    a.shape = [2, -1];
    expect([a.shape, a.strides, a.ndim, a.get(1, 0), a.T.shape]).toEqual([[2, 3], [12, 4], 2, 3, [3, 2]]);
    expect(() => Reflect.set(a, 'shape', [4])).toThrow(RangeError);
    const columns = a.T;
    expect(() => Reflect.set(columns, 'shape', 6)).toThrow(expect.objectContaining({ code: 'E_RESHAPE_COPY' }));
    expect(columns.shape).toEqual([3, 2]);
    a.shape = 6;
    fill.launch({ threads: 1 }, a);
    cuda.synchronize();
    expect(a.toArray()).toEqual([7, 7, 7, 7, 7, 7]);
  });

  it.each(['data', 'dtype', 'strides', 'byteOffset', 'ndim', 'size', 'nbytes', 'itemSize', 'layout', 'bytes', 'T'])(
    'throws when %s is assigned, in sloppy code too',
    (key) => {
      const a = make();
      expect(sloppy(`a.${key} = 1`, a)).toThrow(property);
      expect(() => Object.assign(a, { [key]: 1 })).toThrow(property);
      expect(() => Object.defineProperty(a, key, { value: 1 })).toThrow(TypeError);
    },
  );

  it('has no elements as properties, and no new ones', () => {
    const a = make();
    expect(sloppy('a[0] = 5', a)).toThrow('write .set(value, 0)');
    expect(sloppy('return a[0]', a)).toThrow('write .get(0)');
    expect(sloppy('a.shpae = [2, 3]', a)).toThrow('has no property shpae');
    expect(Reflect.set(a.shape, 0, 9)).toBe(false);
    expect(() => Object.assign(a.shape, [9])).toThrow(TypeError);
    expect(() => Object.setPrototypeOf(a, { shape: [64] })).toThrow(TypeError);
    expect(a.toArray()).toEqual([0, 0, 0, 0, 0, 0]);
    expect(a.shape).toEqual([6]);
  });

  it('is compared by what it is over', () => {
    const [a, b] = [make(), make()];
    expect(a).toEqual(b);
    deepStrictEqual(a, b);
    b.shape = [2, 3];
    expect(a).not.toEqual(b);
    b.shape = 6;
    b.set(1, 5);
    expect(a).not.toEqual(b);
    expect(() => deepStrictEqual(a, b)).toThrow();
  });
});

it('an array that lies about itself is read as what it is', () => {
  class Lying extends NDArrayClass<f32, 1> {
    override get shape(): readonly number[] {
      return [64];
    }
    override get size(): number {
      return 64;
    }
    override get bytes(): Uint8Array {
      return new Uint8Array(256);
    }
  }
  const around = new Float32Array(64);
  const lying = new Lying(around.subarray(16, 20), f32, { shape: [4], strides: [4], offset: 0 });
  fill.launch({ threads: 1 }, lying);
  cuda.synchronize();
  expect([...around]).toEqual([...new Array(16).fill(0), 7, 7, 7, 7, ...new Array(44).fill(0)]);
  expect(cuda.toDevice(lying).shape).toEqual([4]);
});

describe('an array of another copy of the library', () => {
  const foreign = (changes: object) => {
    const like = { data: Float32Array.of(1, 2, 3, 4), dtype: f32, shape: [4], strides: [4], byteOffset: 0, ...changes };
    return Object.defineProperty(like, NDARRAY, { value: like });
  };

  it('is taken by what it has', () => {
    expect(cuda.toDevice(foreign({}) as never).copyToHost()).toEqual(Float32Array.of(1, 2, 3, 4));
  });

  it.each<[string, object]>([
    ['a shape beyond its data', { shape: [5] }],
    ['a negative shape', { shape: [-4] }],
    ['a shape that is not of integers', { shape: [1.5] }],
    ['strides of another rank', { strides: [4, 4] }],
    ['an offset that is no number', { byteOffset: Number.NaN }],
    ['an offset before its data', { byteOffset: -4 }],
    ['bytes that are more than its data', { shape: [64], bytes: new Uint8Array(256) }],
    ['data that are none', { data: { length: 4, buffer: new ArrayBuffer(16) } }],
  ])('is refused with %s', (_what, changes) => {
    expect(() => cuda.toDevice(foreign(changes) as never)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^E_/) }),
    );
  });
});

it('is copied back as it was launched when its shape is assigned meanwhile', async () => {
  const a = ndarray(new Float32Array(6), { shape: [2, 3] });
  const rows = cuda.jit((x: Mat<f32>) => {
    (x[1] as Vec<f32>)[2] = 7;
  });
  const done = rows.launchAsync({ threads: 1 }, a as never);
  a.shape = [3, 2];
  await done;
  expect(a.toArray()).toEqual([
    [0, 0],
    [0, 0],
    [0, 7],
  ]);
});
