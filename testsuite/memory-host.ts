/**
 * Chapter: host memory that the device reaches: pinned, mapped and managed arrays, and arrays of the program pinned for a while.
 *
 * What the host reads after a kernel is synchronised first, as on a GPU it must be.
 */
import { cuda, type f32, f64, i16, i32, ndarray, scope, u8, type Vec } from '../src/index.ts';
import { withFaults } from '../src/memory/with-faults.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { RandomPlay } from './memory-host-random.ts';
import { blocking, type ConformanceTest, chapter, waiting } from './suite.ts';
import { element, launch, read, settled } from './waiting.ts';

type Floats = Vec<f32>;

/** y[k] = y[k] * factor + k. */
function stepper() {
  return cuda.jit((y: Floats, factor: number) => {
    const k = cuda.grid(1);
    if (k < y.length) y[k] = y[k] * factor + k;
  });
}

const live = (): number => cuda.memoryStats().live;
const pending = (): { length: number; clear(): void } => cuda.currentContext().deallocations;

export const memoryHost: readonly ConformanceTest[] = chapter('host memory', {
  'pinnedArray: an NDArray of any shape, dtype, order and strides': () => {
    const a = cuda.pinnedArray([2, 3]);
    same(a.dtype, f64);
    same(String(a.strides), '24,8');
    const f = cuda.pinnedArray([2, 3], 'float32', { order: 'F' });
    same(String(f.strides), '4,8');
    const s = cuda.pinnedArray([2, 3], 'float32', { strides: [16, 4] });
    same(String(s.strides), '16,4');
    const r = cuda.pinnedArray(4, i16, { strides: [-2] });
    r.set([1, 2, 3, 4]);
    sameElements(r.data as Int16Array, [4, 3, 2, 1]);
    const none = cuda.pinnedArray([0, 3], i32);
    same(none.size, 0);
    const one = cuda.pinnedArray([], i32);
    one.set(7);
    same(one.get(), 7);
    for (const x of [a, f, s, r, none, one]) x.dispose();
  },
  'pinnedArray: what is wrong is said': () => {
    const make = cuda.pinnedArray as (...args: unknown[]) => unknown;
    throws(() => make(1.5), /integer/);
    throws(() => make(-1), /-1/);
    throws(() => make([2, 3], 'float32', { strides: [4] }), /stride/);
    throws(() => make(2, 'float32', { order: 'X' }), /order/);
    throws(() => make(2, 'float32', { stream: 0 }), /stream/, 'E_OPTION');
    throws(() => make(2, 'object'), /object/);
  },
  'pinnedArrayLike and mappedArrayLike: shape, dtype and the order of the axes': () => {
    const like = ndarray.zeros([3, 4], i32).T;
    const a = cuda.pinnedArrayLike(like);
    same(String(a.shape), '4,3');
    same(String(a.strides), '4,16');
    same(a.dtype, i32);
    const m = cuda.mappedArrayLike(cuda.deviceArray([2, 2], u8), { portable: true });
    same(String(m.shape), '2,2');
    throws(() => cuda.pinnedArrayLike([1, 2] as never), /pinnedArray\(shape, dtype\)/);
    a.dispose();
    m.dispose();
  },
  'copies from and to pinned arrays, on streams too': async () => {
    const p = cuda.pinnedArray(1000, 'float32');
    for (let k = 0; k < 1000; k++) p.set(k, k);
    const stream = cuda.stream();
    const d = cuda.toDevice(p, { stream });
    const q = cuda.pinnedArray(1000, 'float32');
    await read(d, q, { stream });
    await settled(stream);
    sameElements(
      q,
      Float32Array.from({ length: 1000 }, (_, k) => k),
    );
    d.copyToDevice(p.slice('::-1'));
    same(await element(d, 0), 999);
    await read(d.slice('::2'), q.slice(':500'));
    same(q.get(1), 997);
    for (const x of [p, q, d, stream]) x.dispose();
  },
  'a pinned array is a host array to a kernel': async () => {
    const p = cuda.pinnedArray(8, 'float32');
    p.set(2);
    await launch(stepper(), { threads: 8 }, p, 3);
    sameElements(
      p,
      Float32Array.from({ length: 8 }, (_, k) => 6 + k),
    );
    p.dispose();
  },
  'mapped arrays are kernel arguments without a copy, and seen from both sides': async () => {
    const step = stepper();
    for (const options of [{}, { portable: true }, { writeCombined: true }]) {
      const m = cuda.mappedArray(100, 'float32', options);
      m.set(1);
      const before = cuda.memoryStats().copies;
      await launch(step, { threads: 100 }, m, 2);
      await launch(step, { threads: 100 }, m, 2);
      await settled();
      sameElements(
        m,
        Float32Array.from({ length: 100 }, (_, k) => 4 + 3 * k),
      );
      const after = cuda.memoryStats().copies;
      same(after.hostToDevice.count, before.hostToDevice.count, 'copies to the device');
      same(after.deviceToHost.count, before.deviceToHost.count, 'copies to the host');
      m.set(5);
      same(await element(m.device, 99), 5);
      m.device.set(6, 99);
      await settled();
      same(m.get(99), 6);
      m.dispose();
    }
  },
  'slices, reshapes and views of mapped and managed arrays keep their address': async () => {
    const step = stepper();
    for (const a of [cuda.mappedArray(24, 'float32'), cuda.managedArray(24, 'float32')]) {
      a.set(1);
      const part = a.slice('20:2:-3');
      await launch(step, { threads: part.size }, part, 0);
      await settled();
      sameElements(part, [0, 1, 2, 3, 4, 5]);
      same(a.get(20), 0);
      same(a.get(17), 1);
      same(a.get(18), 1);
      const column = a.reshape(4, 6).T.slice(2) as typeof a;
      await launch(step, { threads: 4 }, column, 0);
      await settled();
      same(a.get(2), 0);
      same(a.get(20), 3);
      const raw = a.view('int32');
      raw.set(0x40000000, 5);
      same(a.get(5), 2);
      same(await element(a.device, 5), 2);
    }
  },
  'mapped arrays with strides of their own': async () => {
    const step = stepper();
    const a = cuda.mappedArray(6, 'float32', { strides: [-8] });
    a.set(1);
    await launch(step, { threads: 6 }, a, 0);
    await settled();
    sameElements(a, [0, 1, 2, 3, 4, 5]);
    const f = cuda.mappedArray([3, 2], 'float32', { order: 'F' });
    f.set(ndarray([1, 2, 3, 4, 5, 6]).reshape(3, 2));
    sameElements(await read(f.device), [1, 2, 3, 4, 5, 6]);
    const none = cuda.mappedArray([0, 2], 'float32');
    same(none.device.size, 0);
    same(none.device.pointer, 0);
  },
  'managed arrays in turn': async () => {
    const step = stepper();
    const a = cuda.managedArray(1000, 'float32', { attachGlobal: true });
    for (let round = 1; round < 4; round++) {
      a.set(round);
      await launch(step, { threads: 1000 }, a, 10);
      await settled();
      same(a.get(7), 10 * round + 7);
    }
    a.dispose();
    same(cuda.managedArray(3, 'float32', { attachGlobal: false }).size, 3);
  },
  'a captured mapped array is read and written where it is': async () => {
    const table = cuda.mappedArray(4, 'float32');
    table.set([1, 2, 3, 4]);
    const kernel = cuda.jit((y: Floats) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = (table as unknown as Floats)[k] * 10;
    });
    const y = cuda.deviceArray(4, 'float32');
    await launch(kernel, { threads: 4 }, y);
    table.set(7);
    await launch(kernel, { threads: 4 }, y);
    sameElements(await read(y), [70, 70, 70, 70]);
  },
  'toDevice of a mapped array is its device array; copies take either side': async () => {
    const m = cuda.mappedArray(4, 'float32');
    m.set([1, 2, 3, 4]);
    same(cuda.toDevice(m), m.device);
    const d = cuda.deviceArray(4, 'float32');
    d.copyToDevice(m);
    sameElements(await read(d), [1, 2, 3, 4]);
    m.copyToDevice(Float32Array.of(5, 6, 7, 8));
    await settled();
    sameElements(m, [5, 6, 7, 8]);
    await read(d, m.slice('::-1'));
    await settled();
    sameElements(m, [4, 3, 2, 1]);
    sameElements((await read(m)) as Float32Array, [4, 3, 2, 1]);
    d.set(m.slice('0:1'));
    sameElements(await read(d), [4, 4, 4, 4]);
    cuda.toDevice(Float32Array.of(9, 9, 9, 9), { to: m });
    await settled();
    same(m.get(0), 9);
  },
  'dispose, views and use after it': async () => {
    pending().clear();
    const before = live();
    const m = cuda.mappedArray(100, 'float32');
    same(live() - before, 400, 'mapped memory counts');
    const part = m.slice('10:20');
    m.dispose();
    m.dispose();
    part.set(3);
    same(part.get(9), 3);
    same(live() - before, 400);
    part.dispose();
    same(live() - before, 0);
    for (const use of [
      () => m.get(0),
      () => m.set(1),
      () => m.slice('1:'),
      () => m.device,
      () => m.toArray(),
      () => m.bytes,
    ]) {
      throws(use, /this array was disposed at .+:\d+/, 'E_DISPOSED');
    }
    await rejects(() => launch(stepper(), { threads: 1 }, m, 1), /disposed/);
    throws(() => cuda.toDevice(m), /disposed/);
    const p = cuda.pinnedArray(100, 'float32');
    same(live() - before, 0, 'pinned memory is no device memory');
    p.dispose();
    throws(() => cuda.toDevice(p), /disposed/);
    same(/disposed/.test(String(p)), true);
  },
  'scope disposes host arrays as well': () => {
    const before = live();
    const kept = scope(() => {
      cuda.mappedArray(100, 'float32');
      return cuda.mappedArray(10, 'float32');
    });
    same(live() - before, 40);
    kept.dispose();
    same(live() - before, 0);
  },
  'the pending queue takes host memory, and is flushed when there is none': () => {
    pending().clear();
    const a = cuda.pinnedArray(1000, 'float32');
    a.dispose();
    same(pending().length, 1);
    withFaults({ allocate: 1 }, () => {
      cuda.pinnedArray(10, 'float32').dispose();
    });
    same(pending().length, 1, 'the one that waited was freed, and the allocation tried once more; pending');
    withFaults({ allocate: [1, 2] }, () => {
      throws(() => cuda.mappedArray(10, 'float32'), /cannot allocate 40 bytes/, 'E_OUT_OF_MEMORY');
    });
  },
  'pinned: an object and a body': blocking(() => {
    const [a, b] = [new Float32Array(100).fill(1), ndarray.zeros([4, 4])];
    const pin = cuda.pinned(a, b);
    const d = cuda.toDevice(a);
    pin.dispose();
    pin[Symbol.dispose]();
    same(
      cuda.pinned(a, b, () => d.get(5)),
      1,
    );
    same(
      cuda.pinned(() => 3),
      3,
    );
    const failed = new Error('in the body');
    throws(
      () =>
        cuda.pinned(a, () => {
          throw failed;
        }),
      /in the body/,
    );
    // After all of that it can be pinned again.
    for (let k = 0; k < 30; k++) cuda.pinned(a).dispose();
  }),
  'pinned: an async body': waiting(async () => {
    const a = new Float32Array(1000).fill(4);
    const stream = cuda.stream();
    const d = cuda.deviceArray(1000, 'float32');
    const result = await cuda.pinned(a, async () => {
      d.copyToDevice(a, { stream });
      await new Promise((resolve) => setTimeout(resolve, 1));
      return 'done';
    });
    same(result, 'done');
    same(stream.query(), true, 'leaving has waited for the copy');
    await rejects(() => cuda.pinned(a, () => Promise.reject(new Error('later'))), /later/);
    const pin = cuda.pinned(a);
    await pin[Symbol.asyncDispose]();
    same(await element(d, 999), 4);
  }),
  'pinned: the same array twice, parts of it, and nested': () => {
    const a = new Float32Array(100);
    cuda.pinned(a, a, a.subarray(10, 20), () => {
      cuda.pinned(a, () => cuda.pinned(a.subarray(5), () => undefined));
      cuda.pinned(a.subarray(99)).dispose();
    });
    const part = cuda.pinned(a.subarray(0, 50));
    throws(() => cuda.pinned(a.subarray(40, 60)), /overlap.*pinned already/, 'E_PINNED');
    part.dispose();
    cuda.pinned(a.subarray(40, 60)).dispose();
    const p = cuda.pinnedArray(10, 'float32');
    cuda.pinned(p, p.data, () => undefined);
    p.dispose();
    cuda.pinned(new Float32Array(), ndarray.zeros([3, 0])).dispose();
  },
  'pinned: neighbours, and copies across them': blocking(() => {
    const a = Float32Array.from({ length: 100 }, (_, i) => i);
    const d = cuda.deviceArray(100, 'float32');
    for (const border of [1, 50, 99]) {
      cuda.pinned(a.subarray(border), a.subarray(0, border), () => {
        d.copyToDevice(a);
        a.fill(0);
        d.copyToHost(a);
      });
      same(a[border - 1], border - 1);
      same(a[99], 99);
    }
  }),
  'pinned: what is wrong is said, and nothing stays pinned': () => {
    const a = new Float32Array(10);
    const pin = cuda.pinned as (...args: unknown[]) => { dispose(): void };
    throws(
      () => pin(a, [1, 2]),
      /argument 2 must be a TypedArray or an NDArray, got a JavaScript array/,
      'E_HOST_ARRAY',
    );
    throws(() => pin(a, 3), /argument 2/, 'E_HOST_ARRAY');
    throws(() => pin(cuda.deviceArray(2)), /argument 1/, 'E_HOST_ARRAY');
    withFaults({ allocate: [2, 3] }, () => {
      throws(() => pin(a, new Float32Array(10)), /cannot allocate/);
    });
    // Were `a` still pinned, this would overlap.
    const part = cuda.pinned(a.subarray(1, 3));
    throws(() => pin(a), /overlap/);
    part.dispose();
    pin(a).dispose();
  },
  'mapped: kernels write to the program’s own arrays': blocking(async () => {
    const step = stepper();
    const [a, b] = [new Float32Array(1000).fill(1), new Float32Array(50).fill(2)];
    cuda.mapped(a, b, ([da, db]) => {
      step.launch({ threads: 1000 }, da, 5);
      step.launch({ threads: 50 }, db, 5);
      cuda.synchronize();
      same(a[999], 5 + 999);
      same(b[49], 10 + 49);
      a[3] = -1;
      same(da.get(3), -1);
      da.set(8, 4);
      cuda.synchronize();
      same(a[4], 8);
      step.launch({ threads: 1000 }, da, 1);
      cuda.synchronize();
      same(a[3], 2);
    });
    const mapping = cuda.mapped(a);
    const [d] = mapping.arrays;
    same(await element(d, 4), 12);
    mapping.dispose();
    same(a[4], 12);
  }),
  'mapped: arrays of any layout; views see the same memory': blocking(() => {
    const host = ndarray(
      Float32Array.from({ length: 12 }, (_, k) => k),
      { shape: [3, 4] },
    );
    const step = stepper();
    cuda.mapped(host, host.T, host.slice(1, '::-1'), ([d, t, r]) => {
      same(t.get(1, 2), 9);
      sameElements(r.copyToHost() as Float32Array, [7, 6, 5, 4]);
      step.launch({ threads: 4 }, r as never, 0);
      cuda.synchronize();
      sameElements(host.slice(1), [3, 2, 1, 0]);
      same(d.get(1, 0), 3);
    });
    cuda.mapped(new Float32Array(), ([d]) => same(d.size, 0));
    same(cuda.mapped().arrays.length, 0);
  }),
  'mapped: arrays that outlive it raise': async () => {
    const a = new Float32Array(10).fill(1);
    const step = stepper();
    const kept = cuda.mapped(a, ([d]) => d);
    same(kept.disposed, true);
    await rejects(() => read(kept), /its mapping has ended/, 'E_DISPOSED');
    throws(() => kept.slice('1:'), /its mapping has ended/);
    await rejects(() => launch(step, { threads: 1 }, kept, 1), /its mapping has ended/);
    const outer = cuda.mapped(a);
    const inner = cuda.mapped(a);
    inner.dispose();
    await rejects(() => element(inner.arrays[0], 0), /its mapping has ended/);
    same(await element(outer.arrays[0], 0), 1);
    outer.dispose();
  },
  'mapped: a stream, an exception, an async body, arrays that are mapped already': blocking(async () => {
    const stream = cuda.stream();
    const a = new Float32Array(100).fill(1);
    const step = stepper();
    const { arrays, dispose } = cuda.mapped(a, { stream });
    same(arrays[0].stream, stream);
    await launch(step, { threads: 100, stream }, arrays[0], 2);
    dispose();
    same(a[99], 2 + 99, 'leaving waits for kernels');
    throws(
      () =>
        cuda.mapped(a, ([d]) => {
          step.launch({ threads: 100 }, d, 0);
          throw new Error('in the body');
        }),
      /in the body/,
    );
    same(a[99], 99);
    await cuda.mapped(a, { stream }, async ([d]) => {
      await launch(step, { threads: 100, stream }, d, 0);
      await stream.done();
      same(a[50], 50);
      d.set(1);
    });
    same(a[50], 1);
    const m = cuda.mappedArray(4, 'float32');
    const p = cuda.pinnedArray(4, 'float32');
    cuda.mapped(m, m.slice('2:'), p, p.data, ([dm, tail, dp]) => {
      dm.set(3);
      tail.set(4);
      dp.set(5);
      cuda.synchronize();
    });
    sameElements(m, [3, 3, 4, 4]);
    same(p.get(3), 5);
  }),
  'random operations on several streams, with disposals in between': blocking(() => {
    for (const seed of [1, 2, 3]) new RandomPlay(seed).run(150);
  }),
});
