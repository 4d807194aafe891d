/**
 * Memory of `roc`: arrays and what they keep of Numba's, copies that are done when they return, registered arrays, streams, host arrays
 * of the driver. Runs on whatever device `roc` computes on.
 */
import { f32, i32, NDArray, ndarray, roc, struct, type Vec } from '../src/index.ts';
import { elementsOf, rejects, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter, waiting } from './suite.ts';
import { element, launch, read, settled } from './waiting.ts';

const arange = (n: number): Float64Array => Float64Array.from({ length: n }, (_, i) => i);

/** Adds one to every element. */
const increment = roc.jit((a: Vec<f32>) => {
  const i = roc.getGlobalId(0);
  if (i < a.length) a[i] += 1;
});

export const rocMemory: readonly ConformanceTest[] = chapter('roc memory', {
  'toDevice copies, copyToHost gives it back': async () => {
    const host = arange(10);
    const d = roc.toDevice(host);
    same(d instanceof roc.DeviceNDArray, true);
    same(d.dtype.name, 'f64');
    const back = await read(d);
    sameElements(back, host);
    host[0] = 99;
    same(await element(d, 0), 0, 'the device has a copy');
  },
  'copyToHost fills a given array and gives it': async () => {
    const d = roc.toDevice(arange(12)).reshape([3, 4]);
    const into = ndarray.empty([3, 4]);
    same(await read(d, into), into);
    sameElements(into.toArray().flat() as number[], arange(12));
  },
  'copyToHost is filled on return, with a stream too': async () => {
    const s = roc.stream();
    const d = roc.toDevice(new Float32Array(1000), { stream: s });
    for (let k = 0; k < 5; k++) await launch(increment, { grid: 8, block: 128, stream: s }, d);
    sameElements(await read(d, { stream: s }), new Float32Array(1000).fill(5));
    const into = new Float32Array(1000);
    await read(d, into, { stream: s });
    sameElements(into, new Float32Array(1000).fill(5));
  },
  'empty arrays come and go': async () => {
    sameElements(await read(roc.toDevice(new Float32Array(0))), []);
    same((await read(roc.deviceArray([0, 3], f32))).size, 0);
    roc.deviceArray(0).copyToDevice(new Float64Array(0));
  },
  'deviceArray knows shape, dtype, order and strides': () => {
    const c = roc.deviceArray([3, 5]);
    same(c.dtype.name, 'f64');
    sameElements(c.strides, [40, 8]);
    sameElements(roc.deviceArray([3, 5], f32, { order: 'F' }).strides, [4, 12]);
    sameElements(roc.deviceArray([3, 5], f32, { strides: [32, 4] }).strides, [32, 4]);
    throws(() => roc.deviceArray([-1]), /-1/);
    throws(() => roc.deviceArray(3, f32, { order: 'X' as never }), /order/);
    throws(() => roc.deviceArray(3, f32, { stream: 0 } as never), /no option 'stream'/);
  },
  'deviceArrayLike has shape, dtype and axis order of the other': () => {
    const like = roc.deviceArrayLike(ndarray(arange(6), { shape: [2, 3], order: 'F' }));
    sameElements(like.shape, [2, 3]);
    sameElements(like.strides, [8, 16]);
    same(roc.deviceArrayLike(new Int32Array(4)).dtype.name, 'i32');
    throws(() => roc.deviceArrayLike([1, 2] as never), /JavaScript array/);
  },
  'toDevice of a device array makes another one': async () => {
    const d = roc.toDevice(Int32Array.of(1, 2, 3));
    const e = roc.toDevice(d);
    e.set(0);
    sameElements(await read(d), [1, 2, 3]);
    sameElements(await read(e), [0, 0, 0]);
  },
  'toDevice copies into `to`, and not at all with copy: false': async () => {
    const to = roc.deviceArray(3, i32);
    same(roc.toDevice(Int32Array.of(7, 8, 9), { to }), to);
    sameElements(await read(to), [7, 8, 9]);
    same(roc.toDevice(Int32Array.of(1, 2, 3), { to, copy: false }), to);
    sameElements(await read(to), [7, 8, 9]);
    sameElements(roc.toDevice(new Float32Array(5), { copy: false }).shape, [5]);
  },
  'structs are records on the device': async () => {
    const Point = struct({ x: f32, n: i32 });
    const d = roc.toDevice({ x: 1.5, n: 7 }, { dtype: Point });
    same(d instanceof roc.DeviceRecord, true);
    const copy = roc.toDevice(d);
    copy.set('n', 8);
    same(JSON.stringify(await read(d)), '{"x":1.5,"n":7}');
    same(JSON.stringify(await read(copy)), '{"x":1.5,"n":8}');
    same(new roc.DeviceRecord(Point).array.context, roc.currentContext());
    const shift = roc.jit((p: Vec<{ x: f32; n: i32 }>) => {
      const i = roc.getGlobalId(0);
      if (i < p.length) p[i].x += p[i].n;
    });
    const points = roc.toDevice(
      ndarray(
        [
          { x: 1, n: 2 },
          { x: 3, n: 4 },
        ],
        { dtype: Point },
      ),
    );
    await launch(shift, { grid: 1, block: 2 }, points);
    same(JSON.stringify(((await read(points)) as NDArray).toArray()), '[{"x":3,"n":2},{"x":7,"n":4}]');
  },
  'toDevice takes a context, and says so when given something else': () => {
    const d = roc.toDevice(arange(3), { context: roc.currentContext() });
    same(d.context, roc.currentContext());
    throws(() => roc.toDevice(arange(3), { context: roc.stream() as never }), /context must be/);
    throws(() => roc.toDevice(arange(3), roc.stream() as never), /options as an object/);
  },
  'strided and reversed host arrays keep every element in its place': async () => {
    const host = ndarray(arange(24), { shape: [4, 6] }).slice('::-1', '1::2');
    const d = roc.toDevice(host);
    sameElements(elementsOf(await read(d)), elementsOf(host));
  },
  'copyToDevice checks dtype and shape before anything moves': async () => {
    const d = roc.deviceArray(4, f32);
    throws(() => d.copyToDevice(new Float64Array(4)), /dtype/, 'E_DTYPE_MISMATCH');
    throws(() => d.copyToDevice(new Float32Array(5)), /shape/, 'E_SHAPE_MISMATCH');
    throws(() => roc.deviceArray(0, f32).copyToDevice(new Float64Array(0)), /dtype/, 'E_DTYPE_MISMATCH');
    await rejects(() => read(d, new Float32Array(3)), /shape/, 'E_SHAPE_MISMATCH');
    d.copyToDevice(Object.freeze(ndarray(new Float32Array(4).fill(2))));
    sameElements(await read(d), [2, 2, 2, 2]);
  },
  'isCContiguous, isFContiguous, ravel and reshape': async () => {
    const d = roc.toDevice(arange(1000)).reshape([20, 50], { order: 'F' });
    same(d.isFContiguous(), true);
    same(d.isCContiguous(), false);
    same(await element(d, 1, 0), 1);
    sameElements(await read(d.ravel({ order: 'F' })), arange(1000));
    same(await element(roc.toDevice(arange(6)).reshape([2, -1]), 1, 2), 5);
    throws(() => d.ravel({ order: 'C' }), /ravel/);
  },
  'everything else that device arrays can do': async () => {
    const d = roc.toDevice(arange(12)).reshape([3, 4]);
    sameElements((await read(d.slice(1))) as Float64Array, [4, 5, 6, 7]);
    sameElements((await read(d.T.slice(0))) as Float64Array, [0, 4, 8]);
    d.set(-1, ':', 0);
    same(await element(d, 2, 0), -1);
    same(roc.toDevice(arange(4)).split(2).length, 2);
    const view = d.view('int64');
    same(view.dtype.name, 'i64');
    sameElements(new roc.DeviceNDArray([2], null, f32).shape, [2]);
    same(new roc.DeviceNDArray([2], null, f32).context, roc.currentContext());
  },
  'register leaves results as they are, in both forms': blocking(async () => {
    const a = new Float32Array(300);
    const b = new Float32Array(300).fill(10);
    const registered = roc.register(a, b);
    await launch(increment, { grid: 3, block: 100 }, a);
    await launch(increment, { grid: 3, block: 100 }, b);
    registered[Symbol.dispose]();
    sameElements(a, new Float32Array(300).fill(1));
    sameElements(b, new Float32Array(300).fill(11));
    same(
      roc.register(a, () => {
        const d = roc.toDevice(a);
        increment.launch({ grid: 3, block: 100 }, d);
        d.copyToHost(a);
        return 'done';
      }),
      'done',
    );
    sameElements(a, new Float32Array(300).fill(2));
  }),
  'a part of a registered array is an argument like any other': blocking(() => {
    const a = new Float32Array(64);
    roc.register(a, () => {
      increment.launch({ grid: 1, block: 16 }, a.subarray(16, 32));
      increment.forAll(64)(a);
      same(a[0], 1);
    });
    sameElements(
      a,
      Array.from({ length: 64 }, (_, i) => (i >= 16 && i < 32 ? 2 : 1)),
    );
  }),
  'register nests, and deregister undoes one registration': () => {
    const a = new Float64Array(100);
    const outer = roc.register(a);
    roc.register(a, () => undefined);
    roc.register(a);
    roc.deregister(a);
    outer.dispose();
    outer.dispose();
    throws(() => roc.deregister(a), /not registered/, 'E_NOT_REGISTERED');
    const left = roc.register(a);
    roc.deregister(a);
    left.dispose();
  },
  'register undoes all when one of the arrays is none': () => {
    const a = new Float32Array(8);
    throws(() => roc.register(a, 'b' as never), /argument 2/, 'E_HOST_ARRAY');
    throws(() => roc.deregister(a), /not registered/);
    const whole = new Float32Array(16);
    const part = roc.register(whole.subarray(0, 8));
    throws(() => roc.register(a, whole), /overlap/, 'E_PINNED');
    throws(() => roc.deregister(a), /not registered/);
    part.dispose();
  },
  'register ends when the body throws': () => {
    const a = new Float32Array(8);
    throws(() => {
      roc.register(a, () => {
        throw new Error('in the body');
      });
    }, /in the body/);
    throws(() => roc.deregister(a), /not registered/);
  },
  'register knows the extent of strided arrays': () => {
    const data = new Float64Array(30);
    const view = ndarray(data).slice('20:10:-2');
    roc.register(view, () => {
      // What lies outside of the extent can be registered by itself.
      roc.register(data.subarray(0, 10), () => undefined);
      throws(() => roc.register(data.subarray(0, 16)), /overlap/, 'E_PINNED');
    });
  },
  'register waits for a body that is async': waiting(async () => {
    const a = new Float32Array(8);
    await roc.register(a, async () => {
      await Promise.resolve();
      await launch(increment, { grid: 1, block: 8 }, a);
    });
    sameElements(a, new Float32Array(8).fill(1));
    throws(() => roc.deregister(a), /not registered/);
    await rejects(() => roc.register(a, () => Promise.reject(new Error('later'))) as Promise<unknown>, /later/);
    throws(() => roc.deregister(a), /not registered/);
  }),
  'a kernel may be the first work on a fresh stream': async () => {
    const d = roc.toDevice(new Float32Array(4));
    const s = roc.stream();
    await launch(increment, { grid: 1, block: 4, stream: s }, d);
    await settled(s);
    sameElements(await read(d), [1, 1, 1, 1]);
  },
  'autoSynchronize waits, also when the body throws': blocking(async () => {
    const s = roc.stream();
    const d = roc.toDevice(new Float32Array(4), { stream: s });
    const leaving = s.autoSynchronize();
    await launch(increment, { grid: 1, block: 4, stream: s }, d);
    leaving.dispose();
    same(s.query(), true);
    throws(
      () =>
        s.autoSynchronize(() => {
          increment.launch({ grid: 1, block: 4, stream: s }, d);
          throw new Error('no');
        }),
      /no/,
    );
    same(s.query(), true);
    sameElements(await read(d), [2, 2, 2, 2]);
  }),
  'many streams with many operations': async () => {
    const arrays = Array.from({ length: 3 }, () => {
      const s = roc.stream();
      const d = roc.toDevice(new Float32Array(64), { stream: s });
      for (let k = 0; k < 120; k++) increment.launch({ grid: 1, block: 64, stream: s }, d);
      return d;
    });
    for (const d of arrays) sameElements(await read(d), new Float32Array(64).fill(120));
  },
  'coarse- and fine-grain arrays are host arrays': blocking(async () => {
    const coarse = roc.coarsegrainArray([2, 3], f32);
    same(coarse instanceof NDArray, true);
    coarse.set(4, 1, 2);
    same(await element(roc.toDevice(coarse), 1, 2), 4);
    const fine = roc.finegrainArray(16, f32);
    fine.data.fill(1);
    await launch(increment, { grid: 1, block: 16 }, fine);
    roc.synchronize();
    sameElements(fine.data as Float32Array, new Float32Array(16).fill(2));
    sameElements(roc.coarsegrainArray([2, 3], f32, { order: 'F' }).strides, [4, 8]);
  }),
  'agents lists the device that is in use': blocking(() => {
    const { kind, index, name } = roc.currentDevice();
    const found = roc.agents.find((agent) => agent.kind === kind && agent.index === index);
    // WebGPU finds its devices by promises: which there are is not known before one is opened.
    same(found?.name, kind === 'webgpu' ? undefined : name);
    found?.activate(() => same(roc.currentDevice().name, name));
    same(typeof roc.isAvailable(), 'boolean');
  }),
});
