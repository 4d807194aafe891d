/**
 * Host arrays: indexing, views that share memory, assignment with broadcasting and conversion, and what TypeScript sees.
 */
import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { NDARRAY } from '../compiler/contract.ts';
import { c64, f16, f32, f64, i16, i32, i64, struct, u8, u16, u32 } from '../dtype/index.ts';
import { NDArray } from './ndarray.ts';
import { ndarray } from './ndarray-create.ts';

const grid = (): NDArray<f64, 2> => ndarray.arange(12).reshape([3, 4]);

describe('elements', () => {
  test('attributes', () => {
    const a = ndarray(new Int32Array(6), { shape: [2, 3] });
    expect([a.shape, a.strides, a.byteOffset, a.ndim, a.size, a.nbytes, a.dtype]).toEqual([
      [2, 3],
      [12, 4],
      0,
      2,
      6,
      24,
      i32,
    ]);
    expect((a as unknown as Record<symbol, unknown>)[NDARRAY]).toBe(a);
    expect(NDARRAY).toBe(Symbol.for('tsamba.ndarray'));
    expect(Object.isFrozen(a.shape)).toBe(true);
  });

  test('get and set one element; negative indices count from the end', () => {
    const a = grid();
    expect([a.get(0, 0), a.get(1, 2), a.get(-1, -1)]).toEqual([0, 6, 11]);
    a.set(7.5, -1, 0);
    expect(a.get(2, 0)).toBe(7.5);
    expect(() => a.get(3, 0)).toThrow('index 3 is out of range for axis 0 of length 3');
    expect(() => a.get(0)).toThrow('1 index given for an array with 2 axes');
    expect(() => a.set(1, 0, 4)).toThrow('index 4 is out of range for axis 1 of length 4');
    expect(() => a.set('1', 0, 0)).toThrow('cannot convert a value of type string to f64');
  });

  test('a 0-d array has one element and no index', () => {
    const a = ndarray(5);
    expect([a.ndim, a.size, a.get(), a.toArray()]).toEqual([0, 1, 5, 5]);
    a.set(6);
    expect(a.get()).toBe(6);
    expect(() => a.slice()).toThrow('use get()');
  });

  test('each dtype reads as its own kind of value', () => {
    expect(ndarray([true]).get(0)).toBe(true);
    expect(ndarray([1n]).get(0)).toBe(1n);
    expect(ndarray([0.1], { dtype: f16 }).get(0)).toBe(0.0999755859375);
    expect(ndarray([{ re: 1, im: 2 }]).get(0)).toEqual({ re: 1, im: 2 });
    const points = ndarray.zeros(2, struct({ x: f32, y: i32.array(2) }));
    points.set({ x: 1.5, y: [1, 2] }, 1);
    expect(points.toArray()).toEqual([
      { x: 0, y: [0, 0] },
      { x: 1.5, y: [1, 2] },
    ]);
    expect(points.data).toBeInstanceOf(Uint8Array);
  });
});

describe('views share memory', () => {
  test('slices', () => {
    const a = grid();
    const column = a.slice(':', 1);
    const reversed = a.slice('::-1', [1, null, 2]);
    expect([column.toArray(), reversed.toArray()]).toEqual([
      [1, 5, 9],
      [
        [9, 11],
        [5, 7],
        [1, 3],
      ],
    ]);
    expect([column.byteOffset, column.strides, reversed.byteOffset, reversed.strides]).toEqual([
      8,
      [32],
      72,
      [-32, 16],
    ]);
    a.set(-1, 1, 1);
    expect([column.get(1), reversed.get(1, 0)]).toEqual([-1, -1]);
    expect(column.data).toBe(a.data);
    expect(reversed.slice(-1).toArray()).toEqual([1, 3]);
    expect(() => a.slice(0, 0)).toThrow('slice(0, 0) has no range and names a single element; use get(0, 0)');
  });

  test('reshape and ravel share where strides allow it, and copy where not, in logical order', () => {
    const a = grid();
    expect(a.reshape(2, -1).data).toBe(a.data);
    expect(a.reshape([6, 2]).get(5, 1)).toBe(11);
    expect(a.slice('::2').reshape(2, 2, 2).data).toBe(a.data);
    const f = ndarray(
      [
        [0, 2, 4],
        [1, 3, 5],
      ],
      { order: 'F' },
    );
    expect([...f.data.slice(0, 6)]).toEqual([0, 1, 2, 3, 4, 5]);
    const copied = f.reshape(3, 2);
    expect([copied.toArray(), copied.data === f.data]).toEqual([
      [
        [0, 2],
        [4, 1],
        [3, 5],
      ],
      false,
    ]);
    const shared = f.reshape([3, 2], { order: 'F' });
    expect([shared.toArray(), shared.data === f.data]).toEqual([
      [
        [0, 3],
        [1, 4],
        [2, 5],
      ],
      true,
    ]);
    const c = ndarray([
      [0, 1, 2],
      [3, 4, 5],
    ]).reshape([3, 2], { order: 'F' });
    expect([c.toArray(), c.isFContiguous()]).toEqual([
      [
        [0, 4],
        [3, 2],
        [1, 5],
      ],
      true,
    ]);
    expect(f.ravel().toArray()).toEqual([0, 2, 4, 1, 3, 5]);
    expect(f.ravel({ order: 'F' }).toArray()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(f.ravel({ order: 'A' }).data).toBe(f.data);
    expect(ndarray([7]).reshape([]).get()).toBe(7);
    expect(ndarray([7]).reshape().get()).toBe(7);
    expect(() => a.reshape({ order: 'F' } as never)).toThrow(TypeError);
    expect(() => a.reshape(5, 2)).toThrow('changes the number of elements: 12 before, 10 after');
    expect(() => a.reshape([12], { order: 'K' as 'C' })).toThrow("order must be 'C', 'F' or 'A'");
  });

  test('transpose, T, contiguity', () => {
    const a = ndarray.arange(24, { dtype: i32 }).reshape(2, 3, 4);
    expect(a.T.shape).toEqual([4, 3, 2]);
    expect(a.transpose([1, 2, 0]).get(2, 3, 1)).toBe(a.get(1, 2, 3));
    expect(a.transpose(1, 2, 0).strides).toEqual([16, 4, 48]);
    expect([a.isCContiguous(), a.isFContiguous(), a.T.isCContiguous(), a.T.isFContiguous()]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(ndarray([1, 2]).T.toArray()).toEqual([1, 2]);
  });

  test('view: the same bytes as another type', () => {
    const a = ndarray(new Float32Array([1, 2, 3, 4]), { shape: [2, 2] });
    const bits = a.view(u32);
    expect([bits.shape, bits.get(0, 0), bits.data.constructor]).toEqual([[2, 2], 0x3f800000, Uint32Array]);
    bits.set(0x40400000, 0, 0);
    expect(a.get(0, 0)).toBe(3);
    expect(a.view('complex64').toArray()).toEqual([[{ re: 3, im: 2 }], [{ re: 3, im: 4 }]]);
    expect(a.view(u16).shape).toEqual([2, 4]);
    expect(a.slice(1).view(f64).toArray()).toHaveLength(1);
    expect(
      ndarray(new Uint16Array([0x3c00, 0xc000]))
        .view(f16)
        .toArray(),
    ).toEqual([1, -2]);
    expect(() => a.T.view(u16)).toThrow('needs a C-contiguous array');
  });

  test('a view that is not aligned for its type still works, over bytes', () => {
    const bytes = ndarray(new Uint8Array([9, 1, 2, 3, 4, 5, 6, 7, 8]));
    const words = bytes.slice('1:').view(u32);
    expect([words.toArray(), words.data.constructor]).toEqual([[0x04030201, 0x08070605], Uint8Array]);
    words.set(0xaabbccdd, 1);
    expect(bytes.toArray()).toEqual([9, 1, 2, 3, 4, 0xdd, 0xcc, 0xbb, 0xaa]);
    expect(ndarray.zeros(0, u8).view(f64).shape).toEqual([0]);
    words.set(words.slice('::-1'));
    expect(words.toArray()).toEqual([0xaabbccdd, 0x04030201]);
    expect(words.astype(f64).toArray()).toEqual([0xaabbccdd, 0x04030201]);
    const odd = ndarray(new Uint8Array(11), { shape: [2, 4], strides: [6, 1] })
      .view('uint8')
      .slice(1);
    expect(odd.view(u32).get(0)).toBe(0);
    const inside = ndarray(new Uint8Array(new ArrayBuffer(19), 3)).slice('5:13');
    expect([inside.view(f64).data.constructor, inside.view(f64).byteOffset, inside.view(f64).size]).toEqual([
      Float64Array,
      0,
      1,
    ]);
  });
});

describe('assignment', () => {
  test('scalars and arrays are broadcast', () => {
    const a = ndarray.zeros([2, 3]);
    a.set(1);
    a.set([5, 6, 7], 1);
    a.set(9, ':', -1);
    expect(a.toArray()).toEqual([
      [1, 1, 9],
      [5, 6, 9],
    ]);
    a.set(ndarray([[10], [20]]), ':', '1:');
    expect(a.toArray()).toEqual([
      [1, 10, 10],
      [5, 20, 20],
    ]);
    a.set([[[1, 2, 3]]]);
    expect(a.toArray()).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    a.set(new Float64Array([4, 5]), ':', 0);
    expect(a.slice(':', 0).toArray()).toEqual([4, 5]);
    a.set(ndarray(8), '0:1', '::2');
    expect(a.toArray()).toEqual([
      [8, 2, 8],
      [5, 2, 3],
    ]);
    expect(() => a.set([1, 2])).toThrow('an array of shape [2] cannot be broadcast to shape [2, 3]');
    expect(() => a.set([1, 2], 0, 0)).toThrow('cannot be broadcast to shape []');
    a.set(3, '5:');
    expect(a.get(1, 0)).toBe(5);
  });

  test('values convert: floats saturate, integers wrap', () => {
    const a = ndarray.zeros(3, u8);
    a.set([300, -1, 1.9]);
    expect(a.toArray()).toEqual([255, 0, 1]);
    a.set(new Float32Array([300, -1, Number.NaN]));
    expect(a.toArray()).toEqual([255, 0, 0]);
    a.set(new Int32Array([300, -1, 7]));
    expect(a.toArray()).toEqual([44, 255, 7]);
    a.set(ndarray(new Int32Array([300, 0, -1, 0, 7])).slice('::2'));
    expect(a.toArray()).toEqual([44, 255, 7]);
    a.set(new BigInt64Array([257n, -1n, 3n]));
    expect(a.toArray()).toEqual([1, 255, 3]);
    const c = ndarray.zeros(2, c64);
    c.set([1.5, 2]);
    c.set({ re: 0, im: 1 }, 0);
    expect(c.toArray()).toEqual([
      { re: 0, im: 1 },
      { re: 2, im: 0 },
    ]);
    expect(() => a.set(c.slice([0, 1]))).toThrow(
      'elements of c64 cannot be converted to u8; take the parts with view(f32)',
    );
    expect(() => a.set({ re: 1, im: 0 }, 0)).toThrow('take its .re or .im');
  });

  test('overlapping source and target', () => {
    const a = ndarray.arange(6);
    a.set(a.slice('0:5'), '1:');
    expect(a.toArray()).toEqual([0, 0, 1, 2, 3, 4]);
    a.set(a.slice('::-1'));
    expect(a.toArray()).toEqual([4, 3, 2, 1, 0, 0]);
    const b = ndarray(new Int16Array([1, 2, 3, 4]));
    b.view(u16).slice('1:').set(b.slice(':3'));
    expect(b.toArray()).toEqual([1, 1, 2, 3]);
    const square = grid().slice(':', ':3');
    square.set(square.T);
    expect(square.toArray()).toEqual([
      [0, 4, 8],
      [1, 5, 9],
      [2, 6, 10],
    ]);
  });

  test('where elements of the target coincide, the last one stays', () => {
    const a = ndarray(new Float32Array(2), { shape: [3, 2], strides: [0, 4] });
    a.set([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect([...a.data]).toEqual([5, 6]);
    a.set(
      ndarray(
        [
          [1, 2],
          [3, 4],
          [7, 8],
        ],
        { dtype: i32 },
      ),
    );
    expect([...a.data]).toEqual([7, 8]);
  });

  test('bytes between the elements stay as they were', () => {
    const data = new Float64Array([9, 9, 9, 9]);
    ndarray(data).slice('::2').set([0, 2]);
    expect([...data]).toEqual([0, 9, 2, 9]);
  });

  test('NaNs keep their bits when they are moved', () => {
    const bits = new Uint32Array([0x7f800001, 0xffc00123, 0x7fc00000, 0x7f800002]);
    const a = ndarray(new Float32Array(bits.buffer));
    const b = ndarray.zeros(4, f32);
    b.set(a.slice('::-1'));
    expect([...b.view(u32).toArray()]).toEqual([0x7f800002, 0x7fc00000, 0xffc00123, 0x7f800001]);
  });

  test('struct arrays', () => {
    const point = struct({ data: f32, shape: i32 });
    const a = ndarray(
      [
        { data: 1, shape: 2 },
        { data: 3, shape: 4 },
      ],
      { dtype: point },
    );
    a.set({ data: 5, shape: 6 }, 0);
    a.set(a.slice('::-1'));
    expect(a.toArray()).toEqual([
      { data: 3, shape: 4 },
      { data: 5, shape: 6 },
    ]);
    a.set({ data: 0, shape: 0 });
    expect(a.get(1)).toEqual({ data: 0, shape: 0 });
    expect(() => a.set(1)).toThrow('must be a plain object');
    expect(() => a.astype(f32)).toThrow('cannot be converted to f32');
  });
});

describe('copies', () => {
  test('copy and astype are compact and own their memory', () => {
    const a = grid().slice('::-1', '::2');
    const c = a.copy();
    expect([c.toArray(), c.strides, c.data.length]).toEqual([
      [
        [8, 10],
        [4, 6],
        [0, 2],
      ],
      [16, 8],
      6,
    ]);
    expect(a.copy({ order: 'F' }).strides).toEqual([8, 24]);
    const narrow = a.astype(i16);
    expect([narrow.dtype, narrow.toArray(), narrow.data.constructor]).toEqual([i16, a.toArray(), Int16Array]);
    expect(ndarray([1.5, -1.5]).astype('int32').toArray()).toEqual([1, -1]);
    expect(ndarray([1n, -1n]).astype('uint64').toArray()).toEqual([1n, 2n ** 64n - 1n]);
    expect(ndarray([1n, -1n]).astype(f32).toArray()).toEqual([1, -1]);
    expect(
      ndarray([[0, 2]])
        .astype('bool')
        .toArray(),
    ).toEqual([[false, true]]);
    expect(ndarray([0.1]).astype(f32).get(0)).toBe(Math.fround(0.1));
  });
});

test('arrays print their dtype, shape and elements', () => {
  expect(
    inspect(
      ndarray([
        [1, 2],
        [3, -0],
      ]),
    ),
  ).toBe('NDArray f64 [2, 2]\n[[1, 2],\n [3, -0]]');
  expect(String(ndarray([1n]))).toBe('NDArray i64 [1] [1n]');
  expect(String(ndarray.arange(1000, { dtype: i32 }))).toBe('NDArray i32 [1000] [0, 1, 2, …, 997, 998, 999]');
  expect(String(ndarray.zeros([0, 3]))).toBe('NDArray f64 [0, 3] []');
  expect(String(ndarray(5))).toBe('NDArray f64 [] 5');
  expect(String(ndarray([{ re: 1, im: -2 }]))).toBe('NDArray c128 [1] [{ re: 1, im: -2 }]');
});

test('TypeScript sees element type and rank', () => {
  const a = ndarray(new Float32Array(6), { shape: [2, 3] });
  expectTypeOf(a).toEqualTypeOf<NDArray<f32, 2>>();
  expectTypeOf(a.get(0, 0)).toEqualTypeOf<number>();
  expectTypeOf(a.toArray()).toEqualTypeOf<number[][]>();
  expectTypeOf(a.data).toEqualTypeOf<Float32Array>();
  expectTypeOf(a.reshape([6])).toEqualTypeOf<NDArray<f32, 1>>();
  expectTypeOf(ndarray(new Float32Array(2))).toEqualTypeOf<NDArray<f32, 1>>();
  expectTypeOf(ndarray([[1, 2]])).toEqualTypeOf<NDArray<f64, 2>>();
  expectTypeOf(ndarray([1n]).get(0)).toEqualTypeOf<bigint>();
  expectTypeOf(ndarray([true]).get(0)).toEqualTypeOf<boolean>();
  expectTypeOf(ndarray.zeros([2, 3], i64)).toEqualTypeOf<NDArray<i64, 2>>();
  expectTypeOf(ndarray.zeros(3)).toEqualTypeOf<NDArray<f64, 1>>();
  expectTypeOf(ndarray.zeros(3, { dtype: 'float32' }).dtype.name).toEqualTypeOf<string>();
  expectTypeOf(ndarray.arange(3, { dtype: i32 })).toEqualTypeOf<NDArray<i32, 1>>();
  expectTypeOf(ndarray([1, 2], { dtype: 'float32', shape: [2, 1] })).toEqualTypeOf<NDArray<f32, 2>>();
  expectTypeOf(a).toExtend<NDArray>();
  // @ts-expect-error an array of f64 is no array of f32
  const wrong: NDArray<f32, 1> = ndarray.zeros(3);
  expect(wrong).toBeInstanceOf(NDArray);
});
