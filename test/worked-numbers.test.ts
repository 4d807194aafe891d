/**
 * Worked numbers of Numba's memory model, one by one: shapes, byte strides, the place of the first element, and sizes; where Numba itself
 * is wrong, what NumPy says.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cuda, type DeviceNDArray, f32, f64, i16, i32, i64, ndarray, struct, u8, u32, type Vec } from '../src/index.ts';
import { Deallocations, type PendingItem } from '../src/memory/deallocations.ts';
import { withFaults } from '../src/memory/with-faults.ts';

beforeAll(() => {
  cuda.selectDevice('cpu');
});

const count = (n: number) => Float64Array.from({ length: n }, (_, k) => k);
/** Shape, strides, and bytes from the first element of `base`. */
const lies = (view: DeviceNDArray<never, never>, base: DeviceNDArray<never, never>) => {
  const array = view as unknown as DeviceNDArray;
  return [[...array.shape], [...array.strides], array.pointer - (base as unknown as DeviceNDArray).pointer];
};
const list = (array: { copyToHost(): unknown }) => ndarray(array.copyToHost() as never).toArray();

describe('deviceArray', () => {
  it('(2, 3) f4 in F order', () => {
    const d = cuda.deviceArray([2, 3], f32, { order: 'F' });
    expect([d.shape, d.strides, d.allocSize]).toEqual([[2, 3], [4, 8], 24]);
  });

  it('(2, 3) f4 with strides (16, 4): the padding between rows belongs to it', () => {
    const d = cuda.deviceArray([2, 3], f32, { strides: [16, 4] });
    expect([d.strides, d.allocSize, d.flags.C_CONTIGUOUS]).toEqual([[16, 4], 28, false]);
  });

  it('() and (0, 3) f8', () => {
    const scalar = cuda.deviceArray([], f64);
    expect([scalar.shape, scalar.strides, scalar.allocSize]).toEqual([[], [], 8]);
    const none = cuda.deviceArray([0, 3], f64);
    expect([none.strides, none.allocSize, none.pointer, none.gpuData]).toEqual([[24, 8], 0, 0, undefined]);
    expect(none.flags).toEqual({ C_CONTIGUOUS: true, F_CONTIGUOUS: true });
  });
});

describe('slices of arange(10) f8', () => {
  let d: DeviceNDArray<f64, 1>;
  beforeEach(() => {
    d = cuda.toDevice(count(10));
  });

  it('[::3]', () => {
    const v = d.slice('::3');
    expect(lies(v as never, d as never)).toEqual([[4], [24], 0]);
    expect([v.allocSize, v.nbytes]).toEqual([80, 32]);
  });

  it('[::-1]: the pointer is that of the first logical element', () => {
    const v = d.slice('::-1');
    expect(lies(v as never, d as never)).toEqual([[10], [-8], 72]);
    expect([v.allocSize, v.__cuda_array_interface__.strides]).toEqual([80, [-8]]);
    expect(list(v)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  it('[8:2:-2], [7:3], [:0][-1:]', () => {
    expect(lies(d.slice('8:2:-2') as never, d as never)).toEqual([[3], [-16], 64]);
    expect(d.slice('7:3').shape).toEqual([0]);
    expect(d.slice(':0').slice('-1:').shape).toEqual([0]);
  });

  it('split(4): a length, not a number', () => {
    const parts = d.split(4);
    expect(parts.map((part) => part.size)).toEqual([4, 4, 2]);
    expect(parts.map((part) => part.pointer - d.pointer)).toEqual([0, 32, 64]);
  });

  it('reshape(2, 5) in F order', () => {
    expect(list(d.reshape([2, 5], { order: 'F' }))).toEqual([
      [0, 2, 4, 6, 8],
      [1, 3, 5, 7, 9],
    ]);
  });
});

describe('slices in several dimensions', () => {
  it('(6, 7) f8 [1::2, ::3]', () => {
    const e = cuda.deviceArray([6, 7], f64);
    const v = e.slice('1::2', '::3');
    expect(lies(v as never, e as never)).toEqual([[3, 3], [112, 24], 56]);
    expect(v.allocSize).toBe(280);
  });

  it('arange(3) broadcast to (4, 3) stays three elements on the device', () => {
    const d = cuda.toDevice(ndarray(count(3), { shape: [4, 3], strides: [0, 8] }));
    expect([d.shape, d.strides, d.allocSize, d.nbytes]).toEqual([[4, 3], [0, 8], 24, 96]);
    expect(d.flags).toEqual({ C_CONTIGUOUS: false, F_CONTIGUOUS: false });
    expect(d.layout).toBe('A');
  });

  it('(3, 4, 5) i4 in F order: a trailing integer keeps the strides', () => {
    const f = cuda.deviceArray([3, 4, 5], i32, { order: 'F' });
    expect(lies(f.slice(':', ':', 0) as never, f as never)).toEqual([[3, 4], [4, 12], 0]);
    expect(lies(f.slice(':', ':', -1) as never, f as never)).toEqual([[3, 4], [4, 12], 192]);
    expect(lies(f.slice(1) as never, f as never)).toEqual([[4, 5], [12, 48], 4]);
    expect(lies(f.slice(':', 2, 1) as never, f as never)).toEqual([[3], [4], 72]);
  });

  it('(10, 12) i8 [::2, ::2].T is a view, as in NumPy', () => {
    const d = cuda.deviceArray([10, 12], i64);
    expect(d.slice('::2', '::2').T.strides).toEqual([16, 192]);
    expect(d.slice('::2', '::2').T.shape).toEqual([6, 5]);
  });
});

describe('view, squeeze, reshape', () => {
  it('(3, 4) i2 as i4, i8, u1', () => {
    const d = cuda.deviceArray([3, 4], i16);
    const as = (dtype: Parameters<typeof d.view>[0]) => {
      const { shape, strides } = d.view(dtype);
      return [shape, strides];
    };
    expect([as(i32), as(i64), as(u8)]).toEqual([
      [
        [3, 2],
        [8, 4],
      ],
      [
        [3, 1],
        [8, 8],
      ],
      [
        [3, 8],
        [8, 1],
      ],
    ]);
    expect(() => cuda.deviceArray([4, 3], i16).view(i32)).toThrow(RangeError);
    const strided = d.slice(':', '::2');
    expect(() => strided.view(i32)).toThrow(RangeError);
    expect(strided.view('uint16').shape).toEqual([3, 2]);
  });

  it('(1, 2, 1, 3) squeezed', () => {
    const d = cuda.deviceArray([1, 2, 1, 3], f32);
    expect([d.squeeze().shape, d.squeeze(0).shape]).toEqual([
      [2, 3],
      [2, 1, 3],
    ]);
    expect(() => d.squeeze(1)).toThrow(RangeError);
  });

  it('reshape takes elements in logical order, whatever the memory is like', () => {
    const f = cuda.toDevice(ndarray([[0, 2, 4], [1, 3, 5]], { order: 'F' })); // biome-ignore format: a matrix
    expect(list(f.reshape(3, 2))).toEqual([
      [0, 2],
      [4, 1],
      [3, 5],
    ]);
    const c = cuda.toDevice(ndarray([[0, 1, 2], [3, 4, 5]])); // biome-ignore format: a matrix
    expect(list(c.reshape([3, 2], { order: 'F' }))).toEqual([
      [0, 4],
      [3, 2],
      [1, 5],
    ]);
  });
});

describe('copies', () => {
  it('touch nothing between the elements of the target', () => {
    const d = cuda.toDevice(Float64Array.of(0, 1, 2, 3));
    const h = ndarray(Float64Array.of(9, 9, 9, 9));
    d.slice('::2').copyToHost(h.slice('::2'));
    expect([...h.data]).toEqual([0, 9, 2, 9]);
  });

  it('the array interface of (2, 3) f4', () => {
    const d = cuda.deviceArray([2, 3], f32);
    expect(d.__cuda_array_interface__).toEqual({
      shape: [2, 3],
      strides: null,
      data: [expect.anything(), false],
      typestr: '<f4',
      stream: null,
      version: 3,
    });
  });
});

describe('struct dtypes', () => {
  const offsets = (type: { fields?: readonly { offset: number }[] | undefined }) => type.fields?.map((f) => f.offset);

  it('aligned', () => {
    const small = struct({ a: u8, b: u8, x: u8, y: u32, z: u8 }, { align: true });
    expect([small.itemSize, offsets(small)]).toEqual([12, [0, 1, 2, 4, 8]]);
    const large = struct({ a: f64, b: i32, c: 'complex64', d: u8.array(5) }, { align: true });
    expect([large.itemSize, offsets(large)]).toEqual([32, [0, 8, 12, 20]]);
  });

  it('packed', () => {
    const flat = struct({ i: i32, j: f32.array(3, 2) });
    expect([flat.itemSize, offsets(flat)]).toEqual([28, [0, 4]]);
    const nested = struct({ x: i32, y: struct({ i: i32, j: f32.array(3, 3) }) });
    expect([nested.itemSize, offsets(nested)]).toEqual([44, [0, 4]]);
  });
});

describe('the pending queue', () => {
  const queue = () => cuda.currentContext().deallocations;
  const freeOne = () => cuda.deviceArray(1, u8).dispose();
  beforeEach(() => {
    queue().clear();
  });

  it('holds ten frees, and the eleventh frees all eleven', () => {
    const { frees } = cuda.memoryStats();
    for (let k = 1; k <= 10; k++) {
      freeOne();
      expect(queue().length).toBe(k);
    }
    freeOne();
    expect(queue().length).toBe(0);
    expect(cuda.memoryStats().frees).toBe(frees + 11);
  });

  it('holds as many bytes as its limit, and not one more', () => {
    const freed: number[] = [];
    const item = (bytes: number): PendingItem => ({ bytes, destroy: () => void freed.push(bytes) });
    const limited = new Deallocations(10, 1000);
    limited.add(item(1000));
    expect([limited.length, limited.bytes]).toEqual([1, 1000]);
    limited.add(item(1));
    expect([limited.length, limited.bytes, freed]).toEqual([0, 0, [1000, 1]]);
  });

  it('grows while cleanup is deferred: 20, still 20 after leaving, 0 after the next', () => {
    const { frees } = cuda.memoryStats();
    cuda.deferCleanup(() => {
      for (let k = 0; k < 20; k++) freeOne();
      expect(queue().length).toBe(20);
    });
    expect(queue().length).toBe(20);
    freeOne();
    expect([queue().length, cuda.memoryStats().frees]).toEqual([0, frees + 21]);
  });

  it('stops at a free that fails; the ones behind it wait for the next flush', () => {
    for (let k = 0; k < 3; k++) freeOne();
    const { frees } = cuda.memoryStats();
    withFaults({ free: 2 }, (calls) => {
      expect(() => queue().clear()).toThrow(/free number 2/);
      expect([queue().length, queue().bytes]).toEqual([1, 1]);
      queue().clear();
      expect([queue().length, queue().bytes, calls.free]).toEqual([0, 0, 3]);
    });
    expect(cuda.memoryStats().frees).toBe(frees + 3);
  });
});

it('dynamic shared memory of 30 bytes has room for three f8', () => {
  const measure = cuda.jit((out: Vec<i32>) => {
    const dynamic = cuda.shared.array(0, f64);
    out[0] = dynamic.length;
  });
  const out = cuda.deviceArray(1, i32);
  measure.launch({ grid: 1, block: 1, sharedBytes: 30 }, out);
  expect(out.get(0)).toBe(3);
});
