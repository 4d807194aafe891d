/**
 * Chapter: device arrays: making them, copying them to and fro, views of them.
 *
 * What a view shows is compared with the same view of a host array.
 */
import {
  bool,
  c64,
  cuda,
  type DeviceNDArray,
  type DTypeLike,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  NDArray,
  ndarray,
  struct,
  u8,
  u16,
  u32,
  u64,
} from '../src/index.ts';
import { elementsOf, rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter, waiting } from './suite.ts';
import { element, read } from './waiting.ts';

const count = (n: number): number[] => Array.from({ length: n }, (_, k) => k);

/** What host and device arrays have in common. */
interface Viewable {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  slice(...specs: (number | string | (number | null)[])[]): Viewable;
  reshape(shape: readonly number[], options?: { order?: 'C' | 'F' }): Viewable;
  transpose(axes?: readonly number[]): Viewable;
  readonly T: Viewable;
}

/** The same views of a host array and of its copy on the device show the same, have the same shape, and copy back the same. */
function views(shape: readonly number[], ...steps: ((a: Viewable) => Viewable)[]): () => Promise<void> {
  return async () => {
    const host = ndarray(Int32Array.from(count(shape.reduce((a, b) => a * b, 1))), { shape });
    const device = cuda.toDevice(host);
    for (const [n, step] of steps.entries()) {
      const there = step(device as unknown as Viewable) as unknown as DeviceNDArray;
      const here = step(host as unknown as Viewable) as unknown as NDArray;
      sameElements(there.shape, here.shape, `view ${n}: length of axis`);
      sameElements(there.strides, here.strides, `view ${n}: stride of axis`);
      sameElements(elementsOf((await read(there)) as NDArray), elementsOf(here), `view ${n}: element`);
      // Into an array of the same shape that lies otherwise in memory.
      const into = ndarray.zeros(here.shape, { dtype: 'int32', order: 'F' });
      same(await read(there, into), into, 'the array copied into');
      sameElements(into, here, `view ${n} into an F array: element`);
      // And from such an array.
      into.set(ndarray(Int32Array.from(count(here.size).map((v) => 1000 + v)), { shape: here.shape }));
      const before = elementsOf((await read(device)) as NDArray);
      there.copyToDevice(into);
      here.set(into);
      sameElements(
        elementsOf((await read(device)) as NDArray),
        elementsOf(host),
        `after copyToDevice to view ${n}: element`,
      );
      device.copyToDevice(ndarray(Int32Array.from(before as number[]), { shape }));
      host.set(ndarray(Int32Array.from(before as number[]), { shape }));
    }
  };
}

/** A copy there and back, of a type and all its kinds of host arrays. */
function roundTrip(dtype: DTypeLike, values: readonly unknown[]): () => Promise<void> {
  return async () => {
    const host = ndarray(values as number[], { dtype, shape: [values.length] });
    const device = cuda.toDevice(host) as unknown as DeviceNDArray<number, 1>;
    same(device.dtype, host.dtype, 'dtype');
    same(device.nbytes, values.length * host.itemSize, 'nbytes');
    const back = (await read(device)) as never;
    sameElements(elementsOf(back).map(plain), elementsOf(host).map(plain));
    const kind = back as unknown;
    const plainType = !['bool', 'f16', 'c64', 'c128'].includes(host.dtype.name) && host.dtype.fields === undefined;
    same(kind instanceof NDArray, !plainType, 'copyToHost gives an NDArray');
    const every = device.slice('::-2');
    sameElements(elementsOf((await read(every)) as never).map(plain), elementsOf(host.slice('::-2')).map(plain));
    for (let k = 0; k < values.length; k++) same(plain(await element(device, k)), plain(host.get(k)), `get(${k})`);
  };
}

const plain = (v: unknown): unknown =>
  typeof v === 'object' ? JSON.stringify(v, (_, x: unknown) => (typeof x === 'bigint' ? `${x}n` : x)) : v;

export const memoryArrays: readonly ConformanceTest[] = chapter('device arrays', {
  'round trip of bool': roundTrip(bool, [true, false, true, true]),
  'round trip of i8': roundTrip(i8, [-128, 0, 127, 5]),
  'round trip of u8': roundTrip(u8, [0, 255, 7]),
  'round trip of i16': roundTrip(i16, [-32768, 32767, 0]),
  'round trip of u16': roundTrip(u16, [0, 65535, 3]),
  'round trip of i32': roundTrip(i32, [-(2 ** 31), 2 ** 31 - 1, 0, 9]),
  'round trip of u32': roundTrip(u32, [0, 2 ** 32 - 1, 5]),
  'round trip of i64': roundTrip(i64, [-(2n ** 63n), 2n ** 63n - 1n, 0n]),
  'round trip of u64': roundTrip(u64, [0n, 2n ** 64n - 1n, 1n]),
  'round trip of f16': roundTrip(f16, [0.5, -65504, Number.NaN, -0]),
  'round trip of f32': roundTrip(f32, [0.1, -0, Number.NaN, Number.POSITIVE_INFINITY]),
  'round trip of f64': roundTrip(f64, [0.1, -0, Number.NaN, 5e-324]),
  'round trip of complex numbers': roundTrip(c64, [
    { re: 1, im: -2 },
    { re: 0.5, im: 0 },
    { re: -1, im: 3 },
  ]),
  'round trip of structs': roundTrip(struct({ x: f32, n: u8, id: i64 }), [
    { x: 0.5, n: 200, id: 2n ** 60n },
    { x: -1, n: 3, id: -5n },
    { x: 2, n: 0, id: 7n },
  ]),
  'vectors and their views': views(
    [12],
    (a) => a,
    (a) => a.slice('3:9'),
    (a) => a.slice('::3'),
    (a) => a.slice('::-1'),
    (a) => a.slice('10:2:-3'),
    (a) => a.slice('1::2').slice('::-2'),
    (a) => a.slice([4, 4]),
    (a) => a.reshape([3, 4]),
    (a) => a.reshape([3, 4], { order: 'F' }),
    (a) => a.reshape([2, -1, 2]),
  ),
  'matrices and their views': views(
    [4, 6],
    (a) => a,
    (a) => a.T,
    (a) => a.slice(2),
    (a) => a.slice(-1, '::-1'),
    (a) => a.slice(':', 3),
    (a) => a.slice('1:3', '::2'),
    (a) => a.slice('::-2', '::-1').T,
    (a) => a.T.slice('1:5').slice(':', '::3'),
    (a) => a.reshape([2, 2, 6]).transpose([2, 0, 1]),
    (a) => a.reshape([24]).slice('5:20:5'),
    (a) => a.slice('2:2'),
    (a) => a.slice(':', [1, null, 2]),
  ),
  'cubes and their views': views(
    [3, 4, 5],
    (a) => a,
    (a) => a.T,
    (a) => a.transpose([1, 2, 0]),
    (a) => a.slice(1),
    (a) => a.slice(1, 2),
    (a) => a.slice(':', 1, '::-1'),
    (a) => a.slice('::2', '::-1', '1:4'),
    (a) => a.slice('::-1').transpose([1, 0, 2]).slice('1:'),
    (a) => a.reshape([12, 5]).T,
  ),
  'what copyToHost gives': async () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
    const vector = (await read(d.slice('1:3'))) as unknown as Float32Array;
    same(vector instanceof Float32Array, true, 'a Float32Array');
    same(vector.byteOffset, 0, 'byteOffset');
    same(vector.buffer.byteLength, 8, 'bytes of its buffer');
    same(vector.buffer instanceof ArrayBuffer, true, 'a plain ArrayBuffer');
    const matrix = await read(d.reshape([2, 2]).T);
    same(matrix instanceof NDArray, true, 'an NDArray');
    sameElements(matrix.shape, [2, 2]);
    const scalar = await read(cuda.toDevice(2.5));
    same(scalar instanceof NDArray, true, 'an NDArray');
    same(scalar.toArray() as unknown, 2.5);
    sameElements((await read(cuda.deviceArray([0, 3], f32))).shape, [0, 3]);
    same((await read(cuda.deviceArray(0, i32))).length, 0);
  },
  'toDevice of lists and numbers': async () => {
    sameElements(await read(cuda.toDevice([1, 2.5, -3])), Float64Array.of(1, 2.5, -3));
    const nested = cuda.toDevice([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    sameElements(nested.shape, [3, 2]);
    same(nested.dtype.name, 'f64');
    same(cuda.toDevice([1n, 2n] as never).dtype.name, 'i64');
    same(cuda.toDevice([true, false] as never).dtype.name, 'bool');
    same(cuda.toDevice(7).ndim, 0);
  },
  'toDevice keeps the layout of one block of memory': async () => {
    const base = ndarray(Float32Array.from(count(24)), { shape: [4, 6] });
    sameElements(cuda.toDevice(base.T).strides, [4, 24]);
    const repeated = ndarray(Float32Array.of(1, 2, 3), { shape: [4, 3], strides: [0, 4] });
    sameElements(cuda.toDevice(repeated).strides, [0, 4]);
    for (const part of [base.slice('::-1'), base.slice(':', '::2'), base.T.slice('::-2', 1), repeated]) {
      sameElements(elementsOf((await read(cuda.toDevice(part))) as NDArray), part);
    }
    const d = cuda.toDevice(base);
    same(cuda.toDevice(d), d, 'a device array');
  },
  'toDevice into an array, and without a copy': async () => {
    const d = cuda.deviceArray(3, f32);
    same(cuda.toDevice(Float32Array.of(1, 2, 3), { to: d }), d);
    sameElements(await read(d), [1, 2, 3]);
    const e = cuda.toDevice(Float64Array.of(1, 2), { copy: false });
    sameElements(e.shape, [2]);
    same(e.dtype.name, 'f64');
  },
  'deviceArray: shape, dtype, order, strides': async () => {
    const a = cuda.deviceArray([2, 3]);
    same(a.dtype.name, 'f64');
    sameElements(a.strides, [24, 8]);
    const f = cuda.deviceArray([2, 3], 'int16', { order: 'F' });
    sameElements(f.strides, [2, 4]);
    same(f.isFContiguous() && !f.isCContiguous(), true, 'F-contiguous');
    const s = cuda.deviceArray([2, 3], f32, { strides: [32, 8] });
    same(s.allocSize, 32 + 16 + 4);
    same(s.nbytes, 24);
    s.set(7);
    sameElements(await read(s), [7, 7, 7, 7, 7, 7]);
  },
  'deviceArrayLike keeps dtype and order': () => {
    const base = cuda.deviceArray([4, 6], i16);
    sameElements(cuda.deviceArrayLike(base.T).strides, [2, 12]);
    sameElements(cuda.deviceArrayLike(base.slice(':', '::2')).strides, [6, 2]);
    const like = cuda.deviceArrayLike(Uint8Array.of(1, 2));
    same(like.dtype.name, 'u8');
    sameElements(like.shape, [2]);
    same(cuda.deviceArrayLike(ndarray.zeros([2, 2], 'float32')).dtype.name, 'f32');
  },
  'attributes of arrays and views': () => {
    const a = cuda.deviceArray([4, 6], f32);
    const v = a.slice('::-2', '1:3');
    same(v.ndim, 2);
    same(v.size, 4);
    same(v.itemSize, 4);
    same(v.nbytes, 16);
    sameElements(v.strides, [-48, 4]);
    same(v.allocSize, 48 + 4 + 4);
    same(a.flags.C_CONTIGUOUS, true);
    same(v.flags.C_CONTIGUOUS, false);
    same(a.T.flags.F_CONTIGUOUS, true);
    same(a.slice(0, '1:4').isCContiguous(), true);
  },
  'get and set of elements': async () => {
    const a = cuda.toDevice(Int32Array.from(count(12))).reshape([3, 4]);
    same(await element(a, 1, 2), 6);
    same(await element(a, -1, -1), 11);
    a.set(50, 1, 2);
    a.set(60, -1, 0);
    same(await element(a, 1, 2), 50);
    same(await element(a, 2, 0), 60);
    same(await element(a.T, 2, 1), 50);
    await rejects(() => element(a, 3, 0), /out of range/);
    await rejects(() => element(a, 0), /./);
  },
  'set assigns scalars and arrays, broadcasting': async () => {
    const a = cuda.deviceArray([3, 4], i32);
    a.set(1);
    a.set(2, 1);
    a.set(3, ':', '1:3');
    a.set(Int32Array.of(10, 20, 30, 40), 2);
    a.set([100, 200, 300], ':', 0);
    sameElements(await read(a), [100, 3, 3, 1, 200, 3, 3, 2, 300, 20, 30, 40]);
    a.set(cuda.toDevice(Int32Array.of(7, 8, 9, 6)));
    sameElements(await read(a), [7, 8, 9, 6, 7, 8, 9, 6, 7, 8, 9, 6]);
    throws(() => a.set([1, 2, 3]), /broadcast|shape/);
  },
  'set copes with overlapping source and target': async () => {
    const a = cuda.toDevice(Int32Array.from(count(8)));
    a.set(a.slice(':-1'), '1:');
    sameElements(await read(a), [0, 0, 1, 2, 3, 4, 5, 6]);
    a.set(a.slice('::-1'));
    sameElements(await read(a), [6, 5, 4, 3, 2, 1, 0, 0]);
  },
  'set converts as casts do': async () => {
    const a = cuda.deviceArray(4, u8);
    a.set(ndarray([300, -5, 1.9, Number.NaN]));
    sameElements(await read(a), [255, 0, 1, 0]);
    const b = cuda.deviceArray(2, f16);
    b.set([0.1, 1e6]);
    sameElements(await read(b), [0.0999755859375, Number.POSITIVE_INFINITY]);
  },
  'copies between device arrays of different layouts': async () => {
    const from = cuda.toDevice(Int32Array.from(count(12))).reshape([3, 4]);
    const to = cuda.deviceArray([4, 3], i32);
    to.copyToDevice(from.T);
    sameElements(await read(to), await read(from.T));
    to.slice('::-1').copyToDevice(from.T);
    sameElements((await read(to.slice('::-1'))) as NDArray, await read(from.T));
  },
  'views write through': async () => {
    const a = cuda.toDevice(Int32Array.from(count(6)));
    a.slice('::2').set(-1);
    a.reshape([2, 3]).set(9, 1, 0);
    sameElements(await read(a), [-1, 1, -1, 9, -1, 5]);
  },
  'ravel, squeeze and split': async () => {
    const a = cuda.toDevice(Int32Array.from(count(12)));
    const m = a.reshape([3, 1, 4]);
    sameElements(m.squeeze().shape, [3, 4]);
    sameElements(m.squeeze(1).shape, [3, 4]);
    throws(() => m.squeeze(0), /axis|length|squeeze/);
    sameElements(await read(m.ravel()), count(12));
    sameElements(await read(a.reshape([3, 4]).T.ravel({ order: 'F' })), count(12));
    throws(() => a.reshape([3, 4]).T.ravel({ order: 'C' }), /ravel/, 'E_RAVEL_COPY');
    const parts = a.split(5);
    sameElements(
      parts.map((p) => p.size),
      [5, 5, 2],
    );
    sameElements(await read(parts[2]!), [10, 11]);
    parts[1]!.set(0);
    sameElements(await read(a), [0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 10, 11]);
  },
  'reshape copies where it must and can': async () => {
    const a = cuda.toDevice(Int32Array.from(count(6))).reshape([2, 3]);
    sameElements(await read(a.T.reshape([6])), [0, 3, 1, 4, 2, 5]);
    throws(() => a.slice(':', '::2').reshape([4]), /would have to be copied/, 'E_RESHAPE_COPY');
    throws(() => a.reshape([4]), /size|reshape/);
    throws(() => a.reshape([-1, -1]), /-1|one/);
  },
  'view reads the bytes as another type': async () => {
    const a = cuda.toDevice(Float32Array.of(1, -2));
    sameElements(await read(a.view('uint32')), [0x3f800000, 0xc0000000]);
    sameElements(a.view(u8).shape, [8]);
    sameElements(await read(a.view('int64')), [BigInt.asIntN(64, 0xc00000003f800000n)]);
    throws(() => cuda.deviceArray(3, f32).view(f64), /./);
    throws(() => cuda.deviceArray([2, 2], f32).T.view(f64), /./);
  },
  'transpose of named axes': () => {
    const a = cuda.deviceArray([2, 3, 4], f32);
    sameElements(a.transpose(1, 2, 0).shape, [3, 4, 2]);
    sameElements(a.transpose([2, 0, 1]).shape, [4, 2, 3]);
    sameElements(a.transpose().shape, [4, 3, 2]);
    throws(() => a.transpose([0, 0, 1]), /axes|axis/);
  },
  'copyToHost into arrays that do not fit': async () => {
    const a = cuda.toDevice(Float32Array.of(1, 2, 3));
    await rejects(() => read(a, new Float64Array(3)), /f64|float64/);
    await rejects(() => read(a, new Float32Array(4)), /shape|4/);
    throws(() => a.copyToDevice(Int32Array.of(1, 2, 3)), /i32|int32/);
    throws(() => a.copyToDevice(Float32Array.of(1, 2)), /shape|2/);
    throws(() => a.copyToDevice('abc'), /array/);
    const column = ndarray.zeros([3, 1], 'float32');
    await read(a, column);
    sameElements(column, [1, 2, 3]);
  },
  'bad shapes, dtypes and strides': () => {
    const deviceArray = cuda.deviceArray as unknown as (...args: unknown[]) => unknown;
    throws(() => deviceArray(-1), /-1/, undefined);
    throws(() => deviceArray([2, -3], f32), /-3/);
    throws(() => deviceArray(2.5), /2\.5/);
    throws(() => deviceArray('3'), /shape|3/);
    throws(() => deviceArray(3, 'float31'), /float31/);
    throws(() => deviceArray(3, 'i8'), /ambiguous|int8/);
    throws(() => deviceArray([2, 3], f32, { order: 'K' }), /order|K/);
    throws(() => deviceArray([2, 3], f32, { strides: [4] }), /strides/);
    throws(() => (cuda.toDevice as unknown as (x: unknown) => unknown)('abc'), /array|abc/);
    throws(() => cuda.deviceArray(4, f32).slice(0 as never), /get/);
    throws(() => cuda.deviceArray([4, 4], f32).slice(9), /out of range/);
  },
  copyToHostAsync: waiting(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(1, 2, 3, 4), { stream });
    sameElements(await a.copyToHostAsync(), [1, 2, 3, 4]);
    const into = new Float32Array(2);
    same(await a.slice('::-2').copyToHostAsync(into, { stream }), into);
    sameElements(into, [4, 2]);
    stream.dispose();
    a.dispose();
  }),
});
