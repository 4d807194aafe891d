/**
 * Chapter: `set` and `get`: the elements of 0-d arrays, which no index names, and of others; types named by `dtype`.
 */
import { c64, cuda, f32, f32x4, f64, i32, type Mat, ndarray, struct, u8c, type Vec, type View } from '../src/index.ts';
import { same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

const PAIR = struct({ h: f32, g: i32 });
type Pair = { h: f32; g: i32 };

/** What kernels in the chapter are given, whatever its type. */
type Any = never;

export const setAndGet: readonly ConformanceTest[] = chapter('set, get and dtype', {
  'a 0-d array of the device': async () => {
    const total = cuda.deviceArray([], 'float32');
    total.set(4);
    const kernel = cuda.jit((s: View<f32, 0>, y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y.set(s.get() * i, i);
      cuda.syncThreads();
      if (i === 0) s.set(s.get() + 2.5);
    });
    const y = cuda.deviceArray(3, 'float32');
    await launch(kernel, { grid: 1, block: 8 }, total, y);
    same((await read(total)).get(), 6.5);
    sameElements(await read(y), [0, 4, 8]);
  },
  'a 0-d array of the host, which is copied back': async () => {
    const count = ndarray(5, { dtype: 'i32' });
    const kernel = cuda.jit((n: View<i32, 0>) => {
      if (cuda.grid(1) === 0) n.set(n.get() + 1);
    });
    const on = cuda.toDevice(count);
    await launch(kernel, { threads: 1 }, on as Any);
    same((await read(on)).get() as number, 6);
  },
  '0-d arrays in shared and local memory': async () => {
    const kernel = cuda.jit((y: Vec<f32>) => {
      const first = cuda.shared.array([], f32);
      const own = cuda.local.array([], f32);
      const t = cuda.threadIdx.x;
      own.set(t / 2);
      if (t === 1) first.set(40);
      cuda.syncThreads();
      if (t < y.length) y[t] = first.get() + own.get();
    });
    const y = cuda.deviceArray(3, 'float32');
    await launch(kernel, { grid: 1, block: 32 }, y);
    sameElements(await read(y), [40, 40.5, 41]);
  },
  'one index an axis, in every memory space': async () => {
    const kernel = cuda.jit((A: Mat<f32>) => {
      const s = cuda.shared.array([2, 3], f32);
      const own = cuda.local.array([2, 3], f32);
      const t = cuda.threadIdx.x;
      const [i, j] = [Math.floor(t / 3), t % 3];
      if (t < 6) s.set(t * 10, i, j);
      cuda.syncThreads();
      if (t >= 6) return;
      own.set(s.get(1 - i, 2 - j), i, j);
      A.set(own.get(i, j) + A.get(i, j), i, j);
      A.T.set(A.T.get(j, i) + 0.5, j, i);
    });
    const A = cuda.toDevice(Float32Array.of(1, 2, 3, 4, 5, 6)).reshape([2, 3]);
    await launch(kernel, { grid: 1, block: 32 }, A);
    sameElements((await read(A)).toArray().flat(), [51.5, 42.5, 33.5, 24.5, 15.5, 6.5]);
  },
  'elements of every kind': async () => {
    const kernel = cuda.jit((p: Vec<Pair>, one: View<Pair, 0>, z: Vec<c64>, v: Vec<f32x4>, px: Vec<u8c>) => {
      if (cuda.grid(1) !== 0) return;
      p.set({ h: 1.5, g: 2 }, 1);
      p.set(p.get(1), 0);
      one.set({ h: p[0].h, g: 7 });
      z.set(c64(1, 2) * z.get(1), 0);
      v.set(f32x4(1, 2, 3, 4), 0);
      px.set(300.5, 0);
    });
    const p = cuda.deviceArray(2, PAIR);
    const one = cuda.deviceArray([], PAIR);
    const z = cuda.toDevice(
      ndarray(
        [
          { re: 0, im: 0 },
          { re: 3, im: 1 },
        ],
        { dtype: c64 },
      ),
    );
    const v = cuda.deviceArray(1, f32x4);
    const px = cuda.deviceArray(1, u8c);
    await launch(kernel as Any, { threads: 1 }, ...([p, one, z, v, px] as Any[]));
    sameElements(
      (await read(p)).toArray().flatMap(({ h, g }) => [h, g]),
      [1.5, 2, 1.5, 2],
    );
    same(JSON.stringify((await read(one)).get()), '{"h":1.5,"g":7}');
    same(JSON.stringify((await read(z)).get(0)), '{"re":1,"im":7}');
    same(JSON.stringify((await read(v)).get(0)), '{"x":1,"y":2,"z":3,"w":4}');
    sameElements(await read(px), [255]);
  },
  'set of several values, as typed arrays have it': async () => {
    const body = (y: Vec<f32>, x: Vec<f32>, i: number): void => {
      const own = new Float32Array(5);
      own.set([1, 2]);
      own.set([7, i], 3);
      const all = [0, 0, 0];
      all[2] = 4;
      own.set(all.slice(1), 1);
      y.set(own, 5 * i);
      y.set(x.subarray(0, 2), 5 * i + 2);
    };
    const x = Float32Array.of(8, 9);
    const kernel = cuda.jit((y: Vec<f32>, given: Vec<f32>) => {
      const i = cuda.grid(1);
      if (5 * i < y.length) body(y, given, i);
    });
    const expected = new Float32Array(20);
    for (let i = 0; i < 4; i++) body(expected as Any, x as Any, i);
    const y = cuda.deviceArray(20, 'float32');
    await launch(kernel, { threads: 4 }, y, cuda.toDevice(x));
    sameElements(await read(y), expected);
  },
  'set evaluates its arguments in order, once': async () => {
    const kernel = cuda.jit((y: Vec<i32>) => {
      if (cuda.grid(1) !== 0) return;
      let n = 0;
      const next = (): number => {
        n += 1;
        return n;
      };
      y.set(next() * 10, next());
      y.set(next(), y.get(2) - 10);
      y[3] = n;
    });
    const y = cuda.toDevice(new Int32Array(4));
    await launch(kernel, { threads: 1 }, y);
    sameElements(await read(y), [3, 0, 10, 3]);
  },
  'dtype where a type is wanted': async () => {
    const kernel = cuda.jit((y: Vec<f64>, n: Vec<i32>, p: Vec<Pair>) => {
      const T = y.dtype;
      const s = cuda.shared.array(4, T);
      const own = cuda.local.array(2, s.dtype);
      const pairs = cuda.local.array(1, p.dtype);
      const t = cuda.threadIdx.x;
      if (t >= 3) return;
      own[0] = 0.1 * t;
      s[t] = own[0];
      pairs[0].h = t + 0.5;
      pairs[0].g = 4;
      y[t] = s[t] + (T === f64 ? 10 : 0) + pairs[0].g;
      n[t] = cast(n, t + 0.7);
    });
    const cast = (a: Vec<i32>, v: number): number => a.dtype(v);
    const y = cuda.deviceArray(3, 'float64');
    const n = cuda.deviceArray(3, 'int32');
    await launch(kernel, { grid: 1, block: 4 }, y, n, cuda.deviceArray(1, PAIR) as Any);
    sameElements(await read(y), [14, 14.1, 14.2]);
    sameElements(await read(n), [0, 1, 2]);
  },
});
