/**
 * Chapter: arrays of other libraries: the CUDA array interface in and out. (IPC needs another process: test/gpu has it.)
 */
import { cuda, type f32, f64, i32, struct, type Vec } from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { element, launch, read } from './waiting.ts';

type Described = Readonly<Record<string, unknown>>;

const describe = (array: { readonly __cuda_array_interface__: object }): Described =>
  array.__cuda_array_interface__ as Described;
/** What another library's array looks like. */
const exporting = (array: { readonly __cuda_array_interface__: object }, more: object = {}) => ({
  __cuda_array_interface__: { ...array.__cuda_array_interface__, ...more },
});
const dataOf = (array: { readonly __cuda_array_interface__: object }): unknown[] =>
  describe(array)['data'] as unknown[];

export const memoryInterop: readonly ConformanceTest[] = chapter('array interface', {
  'out: version 3, as Numba writes it': () => {
    const { shape, typestr, strides, stream, version, data, ...rest } = describe(cuda.deviceArray([2, 3], 'float32'));
    same(String(shape), '2,3');
    same(typestr, '<f4');
    same(strides, null);
    same(stream, null);
    same(version, 3);
    same((data as unknown[])[1], false);
    same(Object.keys(rest).length, 0);
  },
  'out: strides where the elements do not lie in C order': () => {
    const d = cuda.toDevice(Float64Array.from({ length: 10 }, (_, k) => k));
    same(String(describe(d.slice('::-1'))['strides']), '-8');
    same(String(describe(d.slice('::3'))['strides']), '24');
    same(String(describe(d.reshape(2, 5).T)['strides']), '8,40');
    const broadcast = cuda.deviceArray([4, 3], 'float64', { strides: [0, 8] });
    same(String(describe(broadcast)['strides']), '0,8');
    same(describe(cuda.deviceArray([1, 10], 'float64', { strides: [800, 8] }))['strides'], null);
  },
  'out: no elements, structs, a stream, disposed': () => {
    same(dataOf(cuda.deviceArray([0, 3]))[0], 0);
    const Point = struct({ a: 'uint8', x: f64, k: i32.array(2) }, { align: true });
    const described = describe(cuda.deviceArray(2, Point));
    same(described['typestr'], '|V24');
    same(JSON.stringify(described['descr']), '[["a","|u1"],["","|V7"],["x","<f8"],["k","<i4",[2]]]');
    const stream = cuda.stream();
    same(Number(describe(cuda.deviceArray(2, 'float32', { stream }))['stream']) > 0, true, 'the stream is named');
    const d = cuda.deviceArray(2);
    d.dispose();
    throws(() => describe(d), /disposed/, 'E_DISPOSED');
  },
  'out: mapped and managed arrays too, and not host arrays': () => {
    same(cuda.isCudaArray(cuda.mappedArray(2)), true);
    same(cuda.isCudaArray(cuda.managedArray(2)), true);
    same(cuda.isCudaArray(cuda.deviceArray(2)), true);
    same(cuda.isCudaArray(cuda.pinnedArray(2)), false);
    same(cuda.isCudaArray(new Float32Array(2)), false);
    same(cuda.isCudaArray(null), false);
    same(cuda.isCudaArray({ __cuda_array_interface__: 'not verified' }), true);
  },
  'in: the same memory, kept alive by its views': async () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
    const a = cuda.asCudaArray(exporting(d));
    a.set(9, 2);
    sameElements(await read(d), [1, 2, 9, 4]);
    const own = cuda.asCudaArray(d);
    const live = cuda.memoryStats().live;
    d.dispose();
    sameElements((await read(own)) as Float32Array, [1, 2, 9, 4]);
    same(cuda.memoryStats().live, live, 'the view keeps the memory');
    own.dispose();
    a.dispose();
  },
  'in: captured by a kernel, read and written': async () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
    const foreign = exporting(d.slice('::-1')) as unknown as Vec<f32>;
    const holder = { tensor: exporting(d) as unknown as Vec<f32> };
    const locked = exporting(d, { data: [dataOf(d)[0], true] }) as unknown as Vec<f32>;
    const kernel = cuda.jit((y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i >= y.length) return;
      y[i] = foreign[i] * 10 + holder.tensor.length + locked[0];
      cuda.syncThreads();
      holder.tensor[i] = y[i];
    });
    const y = cuda.deviceArray(4, 'float32');
    await launch(kernel, { grid: 1, block: 4 }, y);
    sameElements(await read(y), [45, 35, 25, 15]);
    sameElements(await read(d), [45, 35, 25, 15]);
    const storing = cuda.jit(() => {
      locked[0] = 1;
    });
    await rejects(() => launch(storing, { grid: 1, block: 1 }), /read-only/, 'K241');
  },
  'in: versions 0 to 3, strides, bigints': async () => {
    const d = cuda.toDevice(Float32Array.of(0, 1, 2, 3, 4, 5));
    for (const version of [0, 1, 2, 3]) {
      const more = { version, shape: [3n], strides: [8], ...(version < 3 ? { stream: undefined } : {}) };
      sameElements((await read(cuda.asCudaArray(exporting(d, more)))) as Float32Array, [0, 2, 4]);
    }
    sameElements((await read(cuda.asCudaArray(exporting(d.slice('::-1'))))) as Float32Array, [5, 4, 3, 2, 1, 0]);
    const broadcast = cuda.asCudaArray(exporting(d, { shape: [2, 3], strides: [0, 4] }));
    sameElements(await read(broadcast), [0, 1, 2, 0, 1, 2]);
    const none = cuda.asCudaArray(exporting(d, { shape: [0, 3], data: [0, false], strides: null }));
    same(none.size, 0);
    same(cuda.asCudaArray(exporting(d, { shape: [0], data: [null, false] })).size, 0);
    const raw = cuda.asCudaArray(exporting(d, { typestr: '<i4' }));
    same(await element(raw, 1), 0x3f800000);
  },
  'in: structs by their descr': async () => {
    const Point = struct({ a: 'uint8', x: f64 }, { align: true });
    const d = cuda.deviceArray(3, Point);
    d.set({ a: 7, x: 1.5 });
    const a = cuda.asCudaArray(exporting(d));
    same(JSON.stringify(await element(a, 2)), '{"a":7,"x":1.5}');
    const target = cuda.deviceArray(3, Point);
    target.copyToDevice(a);
    same(JSON.stringify(await element(target, 0)), '{"a":7,"x":1.5}');
    throws(() => cuda.asCudaArray(exporting(d, { descr: undefined })), /descr/, 'E_DTYPE');
  },
  'in: read-only memory is not written to': async () => {
    const d = cuda.toDevice(Float32Array.of(1, 2));
    const locked = cuda.asCudaArray(exporting(d, { data: [dataOf(d)[0], true] }));
    same(locked.readOnly, true);
    same(locked.slice('1:').readOnly, true, 'views are read-only too');
    throws(() => locked.set(1), /read-only/, 'E_READ_ONLY');
    throws(() => locked.copyToDevice(Float32Array.of(3, 4)), /read-only/, 'E_READ_ONLY');
    same(dataOf(locked)[1], true);
    const write = cuda.jit((a: Vec<f32>) => {
      a[0] = 1;
    });
    const strict = cuda.jit(
      (a: Vec<f32>) => {
        a[0] = 1;
      },
      { signature: 'void(float32[:])' },
    );
    await rejects(() => launch(write, { grid: 1, block: 1 }, locked as never), /\w+ is read-only/, 'K241');
    await rejects(() => launch(strict, { grid: 1, block: 1 }, locked as never), /\w+ is read-only/, 'K241');
    const double = cuda.jit((y: Vec<f32>, a: Vec<f32>) => {
      y[cuda.threadIdx.x] = a[cuda.threadIdx.x] * 2;
    });
    const y = cuda.deviceArray(2, 'float32');
    await launch(double, { grid: 1, block: 2 }, y, locked as never);
    await launch(double, { grid: 1, block: 2 }, y, d);
    sameElements(await read(y), [2, 4]);
    await launch(write, { grid: 1, block: 1 }, d);
    await rejects(() => launch(write, { grid: 1, block: 1 }, locked as never), /read-only/);
  },
  'in: wherever device arrays are taken': async () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3));
    const borrowed = exporting(d);
    const add = cuda.jit((a: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k < a.length) a[k] += 10;
    });
    await launch(add, { threads: 3 }, borrowed as never);
    await launch(add, { threads: 3 }, cuda.In(borrowed) as never);
    sameElements(await read(d), [21, 22, 23]);
    const shared = cuda.toDevice(borrowed);
    shared.set(0, 0);
    same(await element(d, 0), 0);
    const target = cuda.deviceArray(3, 'float32');
    target.copyToDevice(borrowed as never);
    sameElements(await read(target), [0, 22, 23]);
    target.set(borrowed);
    cuda.toDevice(Float32Array.of(7, 7, 7), { to: borrowed });
    same(await element(d, 2), 7);
    same(String(cuda.deviceArrayLike(borrowed as never).shape), '3');
  },
  'in: what is not sound': () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3));
    const take = (more: object) => () => cuda.asCudaArray(exporting(d, more));
    throws(
      () => cuda.asCudaArray(new Float32Array(2) as never),
      /needs an object with __cuda_array_interface__/,
      'E_CUDA_ARRAY',
    );
    for (const name of ['shape', 'typestr', 'data', 'version']) {
      throws(take({ [name]: undefined }), new RegExp(`no \`${name}\``), 'E_CUDA_ARRAY');
    }
    throws(() => cuda.asCudaArray({ __cuda_array_interface__: 5 }), /must be an object/, 'E_CUDA_ARRAY');
    throws(take({ mask: d }), /masked arrays are not supported/, 'E_CUDA_ARRAY_MASK');
    same(cuda.asCudaArray(exporting(d, { mask: null })).size, 3);
    throws(take({ stream: 0 }), /stream 0 is not allowed/, 'E_CUDA_ARRAY');
    throws(take({ stream: 'x' }), /stream must be an integer/, 'E_CUDA_ARRAY');
    throws(take({ strides: [4, 4] }), /stride/);
    throws(take({ typestr: '>f4' }), /big-endian/);
    throws(take({ typestr: '|O' }), /no counterpart/);
    // An address does not say how much memory there is.
    if (typeof dataOf(d)[0] === 'object') throws(take({ shape: [1000] }), /span bytes/, 'E_BOUNDS');
    throws(take({ data: 5 }), /data must be/, 'E_CUDA_ARRAY');
    throws(take({ version: 'x' }), /version/, 'E_CUDA_ARRAY');
  },
  'handles of other processes need ipc memory': () => {
    throws(() => cuda.deviceArray(4).ipcHandle(), /ipc: true|cannot share/, 'E_IPC');
    const open = cuda.openIpcArray as (...args: unknown[]) => unknown;
    throws(() => open(new Uint8Array(3), 4, 'float32'), /64 bytes|cannot open/, 'E_IPC');
  },
});
