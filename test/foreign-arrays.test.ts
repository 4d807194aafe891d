/**
 * Host arrays of other packages go wherever host arrays are taken, without a copy on the host: npm `ndarray`, `@stdlib/ndarray`, and columns
 * of Apache Arrow. For `@stdlib/ndarray`, which brings hundreds of packages, stands a class with the members of its objects.
 */
import { Float32, Int64, makeVector, tableFromArrays, vectorFromArray } from 'apache-arrow';
import npmNdarray from 'ndarray';
import { beforeAll, describe, expect, it } from 'vitest';
import { cuda, type f32, type NDArray, ndarray, type Vec } from '../src/index.ts';

beforeAll(() => {
  cuda.selectDevice('cpu');
});

/** `@stdlib/ndarray-ctor`: everything is a getter of the prototype, `shape` and `strides` give copies, strides are of elements. */
class StdlibNdarray {
  readonly #buffer: Float32Array;
  readonly #shape: number[];
  readonly #strides: number[];
  readonly #offset: number;
  constructor(buffer: Float32Array, shape: number[], strides: number[], offset: number) {
    [this.#buffer, this.#shape, this.#strides, this.#offset] = [buffer, shape, strides, offset];
  }
  get data(): Float32Array {
    return this.#buffer;
  }
  get shape(): number[] {
    return [...this.#shape];
  }
  get strides(): number[] {
    return [...this.#strides];
  }
  get offset(): number {
    return this.#offset;
  }
  get order(): string {
    return 'row-major';
  }
  get dtype(): string {
    return 'float32';
  }
}

// The middle columns of a 3 × 4 matrix, its rows from the last one.
const memory = () => Float32Array.from({ length: 12 }, (_, k) => k);
const shown = [
  [9, 10],
  [5, 6],
  [1, 2],
];

describe.each([
  ['ndarray', (data: Float32Array) => npmNdarray(data, [3, 4]).hi(3, 3).lo(0, 1).step(-1, 1)],
  ['@stdlib/ndarray', (data: Float32Array) => new StdlibNdarray(data, [3, 2], [-4, 1], 9)],
])('an array of %s', (_name, make) => {
  it('goes to the device with its shape and order', () => {
    using d = cuda.toDevice(make(memory()));
    expect(d.dtype.name).toBe('f32');
    expect(ndarray(d.copyToHost() as never).toArray()).toEqual(shown);
  });

  it('is copied into, element by element', () => {
    const data = memory();
    using d = cuda.toDevice(
      ndarray(Float32Array.of(-1, -2, -3, -4, -5, -6), {
        shape: [3, 2],
      }),
    );
    const into = make(data);
    expect(d.copyToHost(into as never)).toBe(into);
    expect([...data]).toEqual([0, -5, -6, 3, 4, -3, -4, 7, 8, -1, -2, 11]);
  });

  it('is a source of copies and assignments, and a pattern for new arrays', () => {
    using d = cuda.deviceArrayLike(make(memory()));
    expect([d.shape, d.dtype.name]).toEqual([[3, 2], 'f32']);
    d.copyToDevice(make(memory()));
    expect(ndarray(d.copyToHost() as never).toArray()).toEqual(shown);
    d.set(make(memory().fill(7)));
    expect(d.get(2, 1)).toBe(7);
  });

  it('is a kernel argument, and can be pinned', () => {
    const double = cuda.jit((a: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k < a.length) a[k] *= 2;
    });
    const data = memory();
    const array = make(data);
    const row = { data, shape: [2], stride: [1], offset: 5 };
    cuda.pinned(array as never, () => double.launch({ threads: 2 }, cuda.InOut(row) as never));
    expect([...data.subarray(4, 8)]).toEqual([4, 10, 12, 7]);
  });

  it('shares its memory with the NDArray of it', () => {
    const data = memory();
    const a = ndarray(make(data));
    a.set(100, 0, 0);
    expect(data[9]).toBe(100);
  });

  it('must not reach beyond its data', () => {
    const bad = make(memory().subarray(0, 9));
    expect(() => cuda.toDevice(bad)).toThrow(RangeError);
  });
});

describe('arrays without axes and without elements', () => {
  it.each([
    ['ndarray', npmNdarray(Float32Array.of(5), []), npmNdarray(new Float32Array(), [0, 3])],
    // Not `[]`, as one might think.
    [
      '@stdlib/ndarray',
      new StdlibNdarray(Float32Array.of(5), [], [0], 0),
      new StdlibNdarray(new Float32Array(), [0, 3], [3, 1], 0),
    ],
  ])('of %s', (_name, scalar, empty) => {
    using d = cuda.toDevice(scalar);
    expect([d.shape, d.get()]).toEqual([[], 5]);
    d.set(6);
    d.copyToHost(scalar as never);
    expect(ndarray(scalar).toArray()).toBe(6);
    using none = cuda.toDevice(empty);
    expect([none.shape, none.allocSize]).toEqual([[0, 3], 0]);
  });
});

describe('ndarray’s own views', () => {
  it('keep their axes and steps', () => {
    const a = npmNdarray(
      Int32Array.from({ length: 24 }, (_, k) => k),
      [2, 3, 4],
    );
    const view = a.transpose(2, 0, 1).step(-2, 1, 2).pick(null, 1, null);
    const wanted = Array.from({ length: view.shape[0] as number }, (_, i) =>
      Array.from({ length: view.shape[1] as number }, (_, j) => view.get(i, j)),
    );
    expect(ndarray(view).toArray()).toEqual(wanted);
    using d = cuda.toDevice(view);
    expect(ndarray(d.copyToHost() as never).toArray()).toEqual(wanted);
  });

  it('over JavaScript arrays are refused, with what to do', () => {
    expect(() => ndarray(npmNdarray([1, 2, 3]) as never)).toThrow(/must be a TypedArray; convert it/);
  });
});

describe('an object that keeps its elements in a member', () => {
  const bytes = Uint8ClampedArray.of(1, 2, 3, 255, 5, 6, 7, 255);

  it.each([
    [
      'ImageData',
      { data: bytes, width: 2, height: 1, colorSpace: 'srgb' },
      'ndarray(x.data, { shape: [x.height, x.width, 4] })',
    ],
    [
      'a tensor of onnxruntime',
      { data: new Float32Array(2), dims: [2, 1], type: 'float32' },
      'ndarray(x.data, { shape: x.dims })',
    ],
    [
      'an attribute of three.js',
      { array: new Float32Array(3), itemSize: 3, count: 1 },
      'ndarray(x.array, { shape: [x.count, x.itemSize] })',
    ],
  ])('%s: the error says what to write, which works', (_, members, write) => {
    const x = Object.assign(new (class Foreign {})(), members);
    const message = `which has its elements in a member: write ${write}`;
    expect(() => cuda.toDevice(x as never)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message) }),
    );
    const make = new Function('ndarray', 'x', `return ${write}`) as (make: typeof ndarray, x: object) => NDArray;
    using d = cuda.toDevice(make(ndarray, x));
    expect(d.size).toBe('data' in members ? members.data.length : 3);
  });

  it('a tensor of tfjs, whose data is a promise: the error says to wait for it', () => {
    const tensor = {
      shape: [2, 1],
      dtype: 'float32',
      data: async () => new Float32Array(2),
      dataSync: () => new Float32Array(2),
    };
    expect(() => cuda.toDevice(tensor as never)).toThrow(/ndarray\(await x\.data\(\), \{ shape: x\.shape \}\)/);
  });
});

describe('a column of Apache Arrow', () => {
  const values = Float64Array.of(1, 2, 3, 4);

  it('goes to the device as its memory, which toArray() gives', () => {
    const column = makeVector(values);
    expect(column.toArray().buffer).toBe(values.buffer);
    const { hostToDevice } = cuda.memoryStats().copies;
    using d = cuda.toDevice(column.slice(1).toArray());
    expect(d.copyToHost()).toEqual(Float64Array.of(2, 3, 4));
    expect(cuda.memoryStats().copies.hostToDevice.bytes - hostToDevice.bytes).toBe(24);
  });

  it('of a table, of any number type', () => {
    const table = tableFromArrays({ x: Float32Array.of(1, 2), name: ['a', 'b'] });
    using x = cuda.toDevice(table.getChild('x')?.toArray() as Float32Array);
    expect([x.dtype.name, x.get(1)]).toEqual(['f32', 2]);
    using big = cuda.toDevice(vectorFromArray([1n, -2n], new Int64()).toArray());
    expect([big.dtype.name, big.get(1)]).toEqual(['i64', -2n]);
    using gaps = cuda.toDevice(vectorFromArray([1, null, 3], new Float32()).toArray());
    expect(gaps.copyToHost()).toEqual(Float32Array.of(1, 0, 3));
  });

  it('is written to in place', () => {
    const column = makeVector(new Float64Array(2));
    using d = cuda.toDevice(Float64Array.of(8, 9));
    d.copyToHost(column.toArray());
    expect([column.get(0), column.get(1)]).toEqual([8, 9]);
  });

  it('is no array by itself, and the error says what is', () => {
    expect(() => cuda.toDevice(makeVector(values) as never)).toThrow(/toArray\(\)/);
  });
});
