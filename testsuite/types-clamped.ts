/**
 * Chapter: u8c, the type of `Uint8ClampedArray` and of every `ImageData`. Stores clamp and round half to even; the engine's own
 * array says what must come out.
 */
import {
  type bool,
  cuda,
  type DeviceNDArray,
  f16,
  f32,
  type f64,
  i32,
  type i64,
  type Mat,
  ndarray,
  type Struct,
  struct,
  type u8,
  u8c,
  type u64,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { eachType } from './support.ts';
import { element, launch, read } from './waiting.ts';

/** Ties, limits, and what is beyond them. */
const FLOATS = [
  0,
  -0,
  0.5,
  1.5,
  2.5,
  0.4999,
  0.5001,
  127.5,
  128.5,
  253.5,
  254.5,
  254.4999,
  255,
  255.4,
  255.5,
  256,
  300,
  1e10,
  -0.4,
  -0.5,
  -0.6,
  -1,
  -1e10,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e-30,
  77,
  100.25,
  99.75,
];
const WORDS = [0, 1, 127, 128, 254, 255, 256, 257, 511, -1, -128, -255, -256, 2147483647, -2147483648];

const clamped = (values: ArrayLike<number>): Uint8ClampedArray => Uint8ClampedArray.from(values);

/** What a kernel stores of these numbers, of a type, and what the engine does. */
async function stores(data: Float32Array | Float64Array | Int32Array | Uint32Array): Promise<void> {
  const kernel = cuda.jit((to: Vec<u8c>, from: Vec<f32>) => {
    const i = cuda.grid(1);
    if (i < to.length) to[i] = from[i];
  });
  const to = cuda.deviceArray(data.length, u8c);
  await launch(kernel, { threads: data.length }, to, cuda.toDevice(data) as never);
  sameElements(await read(to), clamped(data), data.constructor.name);
}

export const clampedBytes: readonly ConformanceTest[] = chapter('clamped bytes', {
  'stores of floats and integers': () =>
    eachType(
      [Float64Array.from(FLOATS), Float32Array.from(FLOATS), Int32Array.from(WORDS), Uint32Array.from(WORDS)],
      stores,
    ),
  'stores of every sixteenth': () => {
    const all = Float32Array.from({ length: 5000 }, (_, i) => i / 16 - 20);
    return eachType([all, Float64Array.from(all)], stores);
  },
  'stores of other types': async () => {
    const kernel = cuda.jit((to: Vec<u8c>, a: Vec<i64>, b: Vec<u64>, c: Vec<f16>, d: Vec<bool>) => {
      to[0] = a[0] as never;
      to[1] = a[1] as never;
      to[2] = a[2] as never;
      to[3] = b[0] as never;
      to[4] = b[1] as never;
      to[5] = c[0];
      to[6] = c[1];
      to[7] = d[0] as never;
      to[8] = 300;
      to[9] = 2.5;
      to[10] = -7;
      to[11] = to.length * 100;
    });
    const to = cuda.deviceArray(12, u8c);
    const half = ndarray([3.5, -2], { dtype: f16 });
    await launch(
      kernel,
      { grid: 1, block: 1 },
      to,
      cuda.toDevice(BigInt64Array.of(-(2n ** 40n), 2n ** 33n, 9n)),
      cuda.toDevice(BigUint64Array.of(2n ** 63n, 200n)),
      cuda.toDevice(half) as never,
      cuda.toDevice(ndarray([true])) as never,
    );
    sameElements(await read(to), [0, 255, 9, 255, 200, 4, 0, 1, 255, 2, 0, 255]);
  },
  'a number of f32 that is stored alone may be a fraction': async () => {
    const kernel = cuda.jit(
      (a: Vec<u8c>, x: number) => {
        a[0] = x;
      },
      { defaultFloat: 'f32' },
    );
    const a = cuda.deviceArray(1, u8c);
    await launch(kernel, { grid: 1, block: 1 }, a, 3.5);
    same(await element(a, 0), 4);
  },
  'a number that is stored alone may be a fraction': async () => {
    const kernel = cuda.jit((a: Vec<u8c>, x: number) => {
      a[0] = x;
    });
    const a = cuda.deviceArray(1, u8c);
    await launch(kernel, { grid: 1, block: 1 }, a, 3.5);
    same(await element(a, 0), 4);
  },
  'compound assignment clamps once': async () => {
    const kernel = cuda.jit((a: Vec<u8c>, k: number) => {
      a[0] += 1.5;
      a[1] -= 10;
      a[2] *= f32(k);
      a[3]++;
      a[4]--;
      a[5] /= 2;
      a[6] <<= 3;
      a[7] += 2 * a[7];
    });
    const model = Uint8ClampedArray.of(9, 5, 10, 255, 0, 5, 100, 100);
    const a = cuda.toDevice(model);
    await launch(kernel, { grid: 1, block: 1 }, a, 2.75);
    model[0] = 9 + 1.5;
    model[1] = 5 - 10;
    model[2] = 10 * 2.75;
    model[3] = 256;
    model[4] = -1;
    model[5] = 5 / 2;
    model[6] = 100 << 3;
    model[7] = 300;
    sameElements(await read(a), model);
  },
  'the cast u8c(x)': async () => {
    await eachType([Float64Array.from(FLOATS), Float32Array.from(FLOATS)], async (floats) => {
      const kernel = cuda.jit((to: Vec<i32>, from: Vec<f64>, words: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i < from.length) to[i] = u8c(from[i]);
        if (i < words.length) to[from.length + i] = u8c(words[i]) + u8c(1000) - u8c(f32(255.25));
      });
      const to = cuda.deviceArray(FLOATS.length + WORDS.length, i32);
      const words = cuda.toDevice(Int32Array.from(WORDS));
      await launch(kernel, { threads: FLOATS.length }, to, cuda.toDevice(floats) as never, words);
      sameElements(await read(to), [...clamped(floats), ...clamped(WORDS)], floats.constructor.name);
    });
    sameElements(
      FLOATS.map((x) => u8c(x)),
      [...clamped(FLOATS)],
      'on the host',
    );
    sameElements([u8c(300n), u8c(-1n), u8c(7n), u8c(true)], [255, 0, 7, 1]);
  },
  'shared, local, constant and captured arrays': () =>
    eachType([{}, { defaultFloat: 'f32' }] as const, async (options) => {
      const table = Uint8ClampedArray.of(250, 251, 252, 253);
      const kernel = cuda.jit((to: Vec<u8c>) => {
        const tile = cuda.shared.array(32, u8c);
        const own = cuda.local.array(2, u8c);
        const t = cuda.threadIdx.x;
        tile[t] = t * 10.5;
        own[t % 2] = -t;
        own[(t + 1) % 2] = t + 240.5;
        cuda.syncThreads();
        to[t] = tile[31 - t];
        to[32 + t] = own[0] + own[1] + table[t % 4] - 250;
      }, options);
      const to = cuda.deviceArray(64, u8c);
      await launch(kernel, { grid: 1, block: 32 }, to);
      const expected = new Uint8ClampedArray(64);
      const own = new Uint8ClampedArray(1);
      for (let t = 0; t < 32; t++) {
        expected[t] = (31 - t) * 10.5;
        own[0] = t + 240.5;
        expected[32 + t] = (own[0] ?? 0) + (t % 4);
      }
      sameElements(await read(to), expected);
    }),
  'members of structs': async () => {
    const dtype = struct({ x: f32, rgb: u8c.array(3), a: u8c });
    const kernel = cuda.jit((p: Vec<Struct<typeof dtype>>) => {
      const i = cuda.grid(1);
      p[i].a = p[i].x * 2;
      p[i].rgb[1] += 99.5;
      p[i].rgb[2] = -3;
      p[i + 2] = { x: 1, rgb: [1000, 0.5, p[i].x], a: 254.5 };
    });
    const p = cuda.deviceArray([4], dtype);
    p.set({ x: 140.25, rgb: [1, 200, 3], a: 9.5 });
    same((await element(p, 0)).a, 10);
    await launch(kernel, { grid: 1, block: 2 }, p);
    same(
      JSON.stringify([await element(p, 0), await element(p, 2)]),
      JSON.stringify([
        { x: 140.25, rgb: [1, 255, 0], a: 255 },
        { x: 1, rgb: [255, 0, 140], a: 254 },
      ]),
    );
  },
  'arrays of any layout': async () => {
    const kernel = cuda.jit((A: Mat<u8c>) => {
      const [x, y] = cuda.grid(2);
      if (y < A.shape[0] && x < A.shape[1]) A[y][x] += 100.5 * x;
    });
    const A = cuda.deviceArray([3, 4], u8c, { order: 'F' });
    A.set(17);
    await launch(kernel, { threads: [4, 3] }, A);
    const row = [...clamped([17, 117.5, 218, 318.5])];
    same(JSON.stringify((await read(A)).toArray()), JSON.stringify([row, row, row]));
    const every = cuda.deviceArray(12, u8c);
    every.set(1);
    await launch(
      kernel,
      { threads: [4, 3] },
      (every.reshape([3, 4]) as DeviceNDArray).slice([null, null, -1]) as never,
    );
    same(Number(await element(every, 11)), 255);
  },
  'an array comes back as it went': async () => {
    const image = Uint8ClampedArray.of(1, 2, 3, 255);
    const d = cuda.toDevice(image);
    same(d.dtype, u8c);
    const back = await read(d);
    same(back.constructor, Uint8ClampedArray);
    sameElements(back, image);
    // The bytes are those of u8.
    const bytes = new Uint8Array(4);
    await read(d, bytes as never);
    sameElements(bytes, image);
    d.copyToDevice(Uint8Array.of(5, 6, 7, 8) as never);
    sameElements(await read(d), [5, 6, 7, 8]);
    const viewed = d.view('uint8');
    same((await read(viewed)).constructor, Uint8Array);
    same((await read(viewed.view(u8c) as DeviceNDArray)).constructor, Uint8ClampedArray);
    const wrap = cuda.jit((a: Vec<u8>, x: Vec<i32>) => {
      a[0] = x[0];
    });
    await launch(wrap, { grid: 1, block: 1 }, viewed as never, cuda.toDevice(Int32Array.of(300)));
    same(await element(d, 0), 44);
  },
  'what is set from the host is clamped': blocking(async () => {
    const d = cuda.deviceArray(4, u8c);
    d.set(300);
    same(await element(d, 0), 255);
    d.set(Float32Array.of(-1, 0.5, 1.5, 400));
    sameElements(await read(d), [0, 0, 2, 255]);
    d.set(cuda.toDevice(Int32Array.of(-5, 5, 500, 256)) as never);
    sameElements(await read(d), [0, 5, 255, 255]);
    d.set(cuda.toDevice(BigInt64Array.of(-5n, 5n, 500n, 256n)) as never);
    sameElements(await read(d), [0, 5, 255, 255]);
    const host = ndarray([0.5, 2.5, 3.5, -9, 1e9], { dtype: 'u8c' });
    sameElements(host.data, [0, 2, 4, 0, 255]);
    sameElements(ndarray(Int16Array.of(-1, 256, 77), { dtype: u8c }).data, [0, 255, 77]);
    sameElements(ndarray.full([2], 254.5, u8c).data, [254, 254]);
    same(ndarray(Uint8Array.of(1), { dtype: u8c }).dtype, u8c);
  }),
  'signatures name it': async () => {
    const kernel = cuda.jit(
      (a: Vec<u8c>, x: number) => {
        a[0] = x;
      },
      { signature: 'void(u8c[:], float32)' },
    );
    const a = cuda.deviceArray(1, u8c);
    await launch(kernel, { grid: 1, block: 1 }, a, 3.5);
    same(await element(a, 0), 4);
    await rejects(
      () => launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, 'uint8') as never, 1),
      /wants u8c\[:\]/,
    );
    const wraps = cuda.jit((v: Vec<u8>, k: Vec<i32>) => {
      v[0] = k[0];
    });
    const [bytes, k] = [new Uint8Array(1), Int32Array.of(257)];
    await launch(wraps, { grid: 1, block: 1 }, bytes, k);
    same(bytes[0], 1);
    const pixels = new Uint8ClampedArray(1);
    await launch(wraps, { grid: 1, block: 1 }, pixels as never, k);
    same(pixels[0], 255, 'another specialisation');
  },
  'atomics are refused': async () => {
    const kernel = cuda.jit((a: Vec<u8c>) => {
      cuda.atomic.add(a as never, 0, 1);
    });
    await rejects(
      () => launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, u8c)),
      /does not exist for u8c/,
      'K335',
    );
  },
  'other libraries see bytes': () => {
    const d = cuda.toDevice(Uint8ClampedArray.of(1, 2));
    same(d.__cuda_array_interface__.typestr, '|u1');
    same(u8c.itemSize, 1);
  },
});
