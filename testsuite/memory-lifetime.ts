/**
 * Chapter: how long device memory lives: dispose, scopes, pending deallocations, statistics, and what happens when calls fail.
 */

import {
  cuda,
  type DeviceNDArray,
  DriverError,
  f32,
  type f64,
  i32,
  OutOfMemoryError,
  scope,
  type Vec,
} from '../src/index.ts';
import { withFaults } from '../src/memory/with-faults.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter, waiting } from './suite.ts';
import { element, launch, read, settled } from './waiting.ts';

const bytes = (): number => cuda.memoryStats().live;
const pending = (): { length: number; bytes: number; clear(): void } => cuda.currentContext().deallocations;

export const lifetime: readonly ConformanceTest[] = chapter('lifetime of memory', {
  'dispose gives the memory back': () => {
    const before = bytes();
    const a = cuda.deviceArray(1000, f32);
    same(bytes() - before, 4000);
    a.dispose();
    same(bytes() - before, 0);
    a.dispose();
    same(bytes() - before, 0);
    same(a.disposed, true);
  },
  'using disposes': () => {
    const before = bytes();
    const a = cuda.deviceArray(10, f32);
    a[Symbol.dispose]();
    same(bytes(), before);
  },
  'use after dispose says where it was disposed': () => {
    const a = cuda.deviceArray([2, 2], f32);
    a.dispose();
    for (const use of [
      () => a.copyToHost(),
      () => a.copyToDevice(new Float32Array(4)),
      () => a.get(0, 0),
      () => a.set(1),
      () => a.slice(0),
      () => a.T,
      () => a.reshape([4]),
      () => a.ravel(),
      () => a.view('int32'),
      () => a.split(1),
    ]) {
      throws(use, /this array was disposed at .+:\d+/);
    }
  },
  'use after dispose says where, however much was disposed before': async () => {
    for (let k = 0; k < 5000; k++) cuda.deviceArray(1, f32).dispose();
    const a = cuda.deviceArray(1, f32);
    a.dispose();
    await rejects(() => element(a, 0), /this array was disposed at .+:\d+/);
  },
  'views keep the memory alive': async () => {
    const before = bytes();
    const a = cuda.toDevice(Int32Array.of(1, 2, 3, 4));
    const v = a.slice('1:3');
    const w = a.reshape([2, 2]).T;
    a.dispose();
    sameElements((await read(v)) as unknown as Int32Array, [2, 3]);
    v.dispose();
    sameElements(await read(w), [1, 3, 2, 4]);
    same(bytes() - before, 16);
    w.dispose();
    // The view between a and w, which nobody holds, is the collector's.
    same(bytes() - before <= 16, true);
  },
  'zero-size arrays take no memory': async () => {
    const before = cuda.memoryStats();
    const a = cuda.deviceArray([3, 0], f32);
    same(a.allocSize, 0);
    same(a.gpuData, undefined);
    a.dispose();
    const after = cuda.memoryStats();
    same(after.allocations, before.allocations);
    await rejects(() => read(a), /disposed/);
  },
  'pending deallocations are freed when there are many': () => {
    pending().clear();
    same(pending().length, 0);
    const arrays = Array.from({ length: 5 }, () => cuda.deviceArray(100, f32));
    for (const a of arrays) a.dispose();
    same(pending().length, 5);
    same(pending().bytes, 2000);
    same(cuda.memoryStats().pending, 2000);
    for (let k = 0; k < 100; k++) cuda.deviceArray(1, f32).dispose();
    same(pending().length <= 10, true, 'at most ten pending');
    pending().clear();
    same(pending().bytes, 0);
    same(cuda.memoryStats().pending, 0);
  },
  'deferCleanup puts off freeing, and nests': () => {
    pending().clear();
    const frees = cuda.memoryStats().frees;
    cuda.deferCleanup(() => {
      for (let k = 0; k < 30; k++) cuda.deviceArray(1, f32).dispose();
      cuda.deferCleanup(() => {
        for (let k = 0; k < 30; k++) cuda.deviceArray(1, f32).dispose();
      });
      pending().clear();
      same(pending().length, 60);
      same(cuda.memoryStats().frees, frees);
    });
    same(pending().length, 60, 'leaving frees nothing by itself; pending');
    cuda.deviceArray(1, f32).dispose();
    same(pending().length, 0);
    same(cuda.memoryStats().frees, frees + 61);
  },
  'deferCleanup as an object, and around a body that throws': () => {
    pending().clear();
    const guard = cuda.deferCleanup();
    for (let k = 0; k < 20; k++) cuda.deviceArray(1, f32).dispose();
    same(pending().length, 20);
    guard.dispose();
    guard[Symbol.dispose]();
    throws(
      () =>
        cuda.deferCleanup(() => {
          throw new Error('midway');
        }),
      /midway/,
    );
    pending().clear();
    same(pending().length, 0);
  },
  'deferCleanup around async code': waiting(async () => {
    pending().clear();
    const result = await cuda.deferCleanup(async () => {
      for (let k = 0; k < 20; k++) cuda.deviceArray(1, f32).dispose();
      await Promise.resolve();
      same(pending().length >= 20, true);
      return 5;
    });
    same(result, 5);
    pending().clear();
    same(pending().length, 0);
  }),
  'scope frees what it made and does not return': async () => {
    const before = bytes();
    let inside: DeviceNDArray | undefined;
    const kept = scope(() => {
      inside = cuda.deviceArray(10, f32);
      const result = cuda.toDevice(Int32Array.of(1, 2, 3));
      return { sum: 6, parts: [result.slice('1:')] };
    });
    same(inside!.disposed, true);
    sameElements((await read(kept.parts[0]!)) as never, [2, 3]);
    kept.parts[0]!.dispose();
    same(bytes(), before);
  },
  'scopes nest, and free when the body throws': () => {
    const before = bytes();
    const outer = scope(() => {
      const a = scope(() => cuda.deviceArray(4, f32));
      throws(
        () =>
          scope(() => {
            cuda.deviceArray(1000, f32);
            throw new Error('midway');
          }),
        /midway/,
      );
      same(a.disposed, false);
      return a;
    });
    same(bytes() - before, 16);
    outer.dispose();
  },
  'scope refuses async bodies': () => {
    throws(() => scope(async () => undefined), /must be synchronous/, 'E_SCOPE_ASYNC');
  },
  'memoryStats counts': async () => {
    const a = cuda.deviceArray(8, f32);
    const before = cuda.memoryStats();
    const b = cuda.toDevice(new Float64Array(10));
    await read(a);
    a.copyToDevice(cuda.deviceArrayLike(a));
    const after = cuda.memoryStats();
    same(after.allocations - before.allocations, 2);
    same(after.live - before.live, 80 + 32);
    same(after.copies.hostToDevice.count - before.copies.hostToDevice.count, 1);
    same(after.copies.hostToDevice.bytes - before.copies.hostToDevice.bytes, 80);
    same(after.copies.deviceToHost.bytes - before.copies.deviceToHost.bytes, 32);
    same(after.copies.deviceToDevice.bytes - before.copies.deviceToDevice.bytes, 32);
    same(after.peak >= after.live, true, 'peak is at least live');
    b.dispose();
  },
  memoryInfo: () => {
    const { free, total } = cuda.currentContext().memoryInfo();
    same(free > 0 && free <= total, true, 'free is positive and at most total');
  },
  'a loop of disposed arrays does not grow': async () => {
    const kernel = cuda.jit((v: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k < v.length) v[k] = k;
    });
    const before = bytes();
    for (let k = 0; k < 1000; k++) {
      const a = cuda.deviceArray(100, 'float64');
      if (k % 100 === 0) await launch(kernel, { threads: 100 }, a);
      a.dispose();
    }
    // What earlier programs left may be collected meanwhile.
    same(bytes() <= before, true, `${bytes()} bytes instead of ${before}`);
    same(pending().length <= 10, true, 'at most ten pending');
  },
  'trackLeaks names what was never disposed': () => {
    const tracker = cuda.trackLeaks();
    const a = cuda.deviceArray(3, f32);
    const b = cuda.deviceArray(5, i32);
    a.dispose();
    const leaks = tracker.leaks();
    same(leaks.length, 1);
    same(leaks[0]!.bytes, 20);
    same(/:\d+/.test(leaks[0]!.site), true, 'the site names a line');
    b.dispose();
    same(tracker.leaks().length, 0);
    tracker.dispose();
  },
  'disposing does not invalidate enqueued work': async () => {
    const stream = cuda.stream();
    const kernel = cuda.jit((to: Vec<f64>, from: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k < to.length) to[k] = from[k] + 1;
    });
    const from = cuda.toDevice(Float64Array.of(1, 2, 3), { stream });
    const to = cuda.deviceArray(3, 'float64', { stream });
    await launch(kernel, { threads: 3, stream }, to, from);
    from.dispose();
    for (let k = 0; k < 20; k++) cuda.deviceArray(3, 'float64').dispose();
    await settled(stream);
    sameElements(await read(to), [2, 3, 4]);
  },
  'arrays outlive the stream that they are bound to': async () => {
    const double = cuda.jit((v: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k < v.length) v[k] *= 2;
    });
    const many = 1 << 16;
    for (const disposals of [0, 20]) {
      const stream = cuda.stream();
      const d = cuda.toDevice(new Float32Array(many).fill(1), { stream });
      for (let k = 0; k < 10; k++) await launch(double, { threads: many, stream }, d);
      stream.dispose();
      // Enough of them that the stream is destroyed with work on it.
      for (let k = 0; k < disposals; k++) cuda.stream().dispose();
      same(await element(d, many - 1), 1024);
      const view = d.slice('1:').reshape([3, -1]);
      same(view.stream, undefined);
      same(await element(view, 2, -1), 1024);
      d.set(7, ':2');
      d.copyToDevice(d.slice('::-1'));
      same(await element(d, -1), 7);
      same(await element(d, 0), 1024);
      sameElements(((await read(d)) as Float32Array).subarray(-3), [1024, 7, 7]);
      const copy = cuda.deviceArrayLike(d);
      copy.copyToDevice(d);
      same(await element(copy, -2), 7);
      same(await element(cuda.asCudaArray(d), -1), 7);
      await rejects(() => read(d, { stream }), /this stream was disposed at .+:\d+.*; make a new one/, 'E_DISPOSED');
      throws(() => d.bind(stream), /this stream was disposed/, 'E_DISPOSED');
      for (const array of [view, copy, d]) array.dispose();
    }
  },
  'copies without blocking, of an array whose stream was disposed': waiting(async () => {
    const stream = cuda.stream();
    const d = cuda.toDevice(Float32Array.of(1, 2, 3), { stream });
    stream.dispose();
    sameElements(await d.copyToHostAsync(), [1, 2, 3]);
    d.dispose();
  }),
  'more memory than there is': async () => {
    const before = bytes();
    throws(() => cuda.deviceArray(2 ** 45, f32), /bytes/, 'E_OUT_OF_MEMORY');
    same(bytes(), before);
    const a = cuda.deviceArray(4, f32);
    a.set(1);
    sameElements(await read(a), [1, 1, 1, 1]);
  },
  'out of memory frees what is pending and tries again': () => {
    pending().clear();
    cuda.deviceArray(1000, f32).dispose();
    same(pending().length, 1);
    withFaults({ allocate: 1 }, (counts) => {
      const a = cuda.deviceArray(4, f32);
      same(counts.allocate, 2);
      same(pending().length, 0);
      a.dispose();
    });
  },
  'out of memory says what was asked and what is live': () => {
    withFaults({ allocate: [1, 2] }, () => {
      let error: unknown;
      try {
        cuda.deviceArray(1000, f32);
      } catch (e) {
        error = e;
      }
      same(error instanceof OutOfMemoryError && error instanceof DriverError, true, 'an OutOfMemoryError');
      same((error as OutOfMemoryError).asked, 4000);
      same((error as OutOfMemoryError).live, bytes());
    });
  },
  'a failing copy leaves no array behind': () => {
    const before = bytes();
    withFaults({ copy: 1 }, () => {
      throws(() => cuda.toDevice(new Float32Array(100)), /./);
    });
    same(bytes(), before);
  },
  'a failing launch is thrown, and the next one works': async () => {
    const kernel = cuda.jit((v: Vec<f64>) => {
      v[cuda.grid(1)] = 1;
    });
    const v = cuda.deviceArray(2, 'float64');
    await launch(kernel, { grid: 1, block: 2 }, v);
    withFaults({ launch: 1 }, () => {
      throws(() => {
        kernel.launch({ grid: 1, block: 2 }, v);
        cuda.synchronize();
      }, /./);
      kernel.launch({ grid: 1, block: 2 }, v);
    });
    sameElements(await read(v), [1, 1]);
  },
  'a failing launch with host arrays leaves no arrays behind': () => {
    const kernel = cuda.jit((v: Vec<f64>) => {
      v[cuda.grid(1)] = 1;
    });
    const before = bytes();
    const host = Float64Array.of(5, 6);
    withFaults({ launch: 1 }, () => {
      throws(() => kernel.launch({ grid: 1, block: 2 }, cuda.InOut(host)), /./);
    });
    sameElements(host, [5, 6]);
    same(bytes(), before);
  },
  'a planned error of one’s own, in async code': waiting(async () => {
    const error = () => new DriverError('E_TEST', 'as planned');
    await rejects(
      () =>
        withFaults({ copy: 1, error }, async () => {
          await Promise.resolve();
          cuda.toDevice(new Float32Array(2));
        }),
      /as planned/,
      'E_TEST',
    );
    cuda.toDevice(new Float32Array(2)).dispose();
  }),
});
