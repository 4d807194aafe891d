/**
 * Host arrays of other packages go wherever host arrays are taken, without a copy on the host: npm `ndarray`, `@stdlib/ndarray`, and columns
 * of Apache Arrow. The classes here have the members that those packages' objects have, in the places where they have them.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { cuda, type f32, ndarray, type Vec } from '../src/index.ts';

beforeAll(() => {
  cuda.selectDevice('cpu');
});

/** npm `ndarray` 1.0: own properties, strides of elements, dtype and methods on the prototype. */
class View2dFloat32 {
  data: Float32Array;
  shape: number[];
  stride: number[];
  offset: number;
  constructor(data: Float32Array, shape: number[], stride: number[], offset: number) {
    [this.data, this.shape, this.stride, this.offset] = [data, shape, stride, offset];
  }
  get dtype(): string {
    return 'float32';
  }
  get size(): number {
    return this.shape.reduce((a, b) => a * b, 1);
  }
}

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

/** A vector of Apache Arrow: its chunks, and `toArray()`, which is the memory itself where there is one chunk. */
class ArrowVector {
  readonly data: readonly { readonly values: Float64Array }[];
  constructor(values: Float64Array) {
    this.data = [{ values }];
  }
  get length(): number {
    return this.data.reduce((sum, { values }) => sum + values.length, 0);
  }
  toArray(): Float64Array {
    return this.data[0]?.values ?? new Float64Array(0);
  }
  *[Symbol.iterator](): Iterator<number> {
    for (const { values } of this.data) yield* values;
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
  ['ndarray', (data: Float32Array) => new View2dFloat32(data, [3, 2], [-4, 1], 9)],
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

describe('a column of Apache Arrow', () => {
  const values = Float64Array.of(1, 2, 3, 4);

  it('goes to the device as its memory, which toArray() gives', () => {
    const { hostToDevice } = cuda.memoryStats().copies;
    using d = cuda.toDevice(new ArrowVector(values.subarray(1)).toArray());
    expect(d.copyToHost()).toEqual(Float64Array.of(2, 3, 4));
    expect(cuda.memoryStats().copies.hostToDevice.bytes - hostToDevice.bytes).toBe(24);
  });

  it('is no array by itself, and the error says what is', () => {
    expect(() => cuda.toDevice(new ArrowVector(values) as never)).toThrow(/toArray\(\)/);
  });
});
