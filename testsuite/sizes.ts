/**
 * Chapter: large grids, large blocks, much memory of each kind, and many arguments.
 */
import { cuda, f32, type f64, type In, i32, type Mat, type u8, type Vec } from '../src/index.ts';
import { same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { element, launch, read } from './waiting.ts';

const LARGE = Float32Array.from({ length: 50_000 }, (_, k) => k % 1000);

/** A checksum that depends on every element and its place. */
function checksum(a: ArrayLike<number>): number {
  let h = 0;
  for (let k = 0; k < a.length; k++) h = (Math.imul(h, 31) + (a[k]! | 0)) | 0;
  return h;
}

export const sizes: readonly ConformanceTest[] = chapter('sizes', {
  'a million threads': async () => {
    const n = 1_000_003;
    const saxpy = cuda.jit((y: Vec<f32>, x: In<Vec<f32>>, a: number) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] += a * x[k];
    });
    const x = Float32Array.from({ length: n }, (_, k) => k % 4096);
    const y = cuda.toDevice(x);
    await launch(saxpy, { threads: n, block: 256 }, y, cuda.toDevice(x), 2);
    await launch(saxpy, { threads: n }, y, cuda.toDevice(x), 1);
    same(checksum(await read(y)), checksum(x.map((v) => v * 4)));
  },
  'a sum of a million numbers through shared memory and atomics': async () => {
    const n = 1 << 20;
    const kernel = cuda.jit((out: Vec<i32>, v: In<Vec<u8>>) => {
      const s = cuda.shared.array(128, i32);
      const t = cuda.threadIdx.x;
      let sum = 0;
      for (let i = cuda.grid(1); i < v.length; i += cuda.gridSize(1)) sum += v[i];
      s[t] = sum;
      cuda.syncThreads();
      for (let half = 64; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        cuda.syncThreads();
      }
      if (t === 0) cuda.atomic.add(out, 0, s[0]);
    });
    const v = Uint8Array.from({ length: n }, (_, k) => (k * 7) & 255);
    const out = zeros(1, 'int32');
    await launch(kernel, { grid: 64, block: 128 }, out, cuda.toDevice(v));
    same(
      await element(out, 0),
      v.reduce((s, x) => s + x, 0),
    );
  },
  'many blocks along y and z': async () => {
    const kernel = cuda.jit((counts: Vec<i32>) => {
      cuda.atomic.add(counts, cuda.blockIdx.y & 7, 1);
      cuda.atomic.max(counts, 8, cuda.blockIdx.y + 100000 * cuda.blockIdx.z);
    });
    const counts = zeros(9, 'int32');
    await launch(kernel, { grid: [1, 4096, 3], block: 1 }, counts);
    sameElements(await read(counts), [1536, 1536, 1536, 1536, 1536, 1536, 1536, 1536, 204095]);
  },
  'blocks of 1024 threads with barriers': async () => {
    const kernel = cuda.jit((v: Vec<i32>) => {
      const s = cuda.shared.array(1024, i32);
      const t = cuda.threadIdx.x;
      const mine = v[cuda.grid(1)];
      s[t] = mine;
      for (let step = 1; step < 1024; step <<= 1) {
        cuda.syncThreads();
        const other = s[t ^ step];
        cuda.syncThreads();
        s[t] += other;
      }
      v[cuda.grid(1)] = s[t] - mine;
    });
    const x = Int32Array.from({ length: 3072 }, (_, k) => (k * k) % 1009);
    const v = cuda.toDevice(x);
    await launch(kernel, { grid: 3, block: 1024 }, v);
    const expected = x.map((mine, k) => x.subarray(k & ~1023, (k | 1023) + 1).reduce((s, w) => s + w, 0) - mine);
    sameElements(await read(v), expected);
  },
  '48 KiB of shared memory': async () => {
    const kernel = cuda.jit((out: Vec<f32>) => {
      const s = cuda.shared.array([96, 128], f32);
      const t = cuda.threadIdx.x;
      for (let row = t; row < 96; row += cuda.blockDim.x) {
        for (let c = 0; c < 128; c++) s[row][c] = row * 128 + c;
      }
      cuda.syncThreads();
      out[t] = s[95 - t][127 - t] + s[t][t];
    });
    const out = zeros(64, 'float32');
    await launch(kernel, { grid: 2, block: 64 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 64 }, (_, t) => (95 - t) * 128 + 127 - t + t * 129),
    );
  },
  'as much dynamic shared memory as there is': async () => {
    const { maxSharedBytesPerBlock } = cuda.currentDevice().limits;
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(0, i32);
      const t = cuda.threadIdx.x;
      for (let i = t; i < s.length; i += cuda.blockDim.x) s[i] = i;
      cuda.syncThreads();
      out[t] = s[s.length - 1 - t];
    });
    const sharedBytes = Math.min(maxSharedBytesPerBlock, 48 * 1024);
    const out = zeros(32, 'int32');
    await launch(kernel, { grid: 1, block: 32, sharedBytes }, out);
    sameElements(
      await read(out),
      Array.from({ length: 32 }, (_, t) => sharedBytes / 4 - 1 - t),
    );
  },
  'static and dynamic shared memory, together as much as there is': async () => {
    const { maxSharedBytesPerBlock } = cuda.currentDevice().limits;
    const kernel = cuda.jit((out: Vec<i32>) => {
      const fixed = cuda.shared.array(256, i32);
      const s = cuda.shared.array(0, i32);
      const t = cuda.threadIdx.x;
      for (let i = t; i < 256; i += cuda.blockDim.x) fixed[i] = -i;
      for (let i = t; i < s.length; i += cuda.blockDim.x) s[i] = i;
      cuda.syncThreads();
      out[t] = s[s.length - 1 - t] + 100_000 * fixed[255 - t];
    });
    const sharedBytes = Math.min(maxSharedBytesPerBlock, 48 * 1024) - 1024;
    const out = zeros(32, 'int32');
    for (const bytes of [sharedBytes, 512, sharedBytes - 16]) {
      await launch(kernel, { grid: 1, block: 32, sharedBytes: bytes }, out);
      sameElements(
        await read(out),
        Array.from({ length: 32 }, (_, t) => bytes / 4 - 1 - t - 100_000 * (255 - t)),
        `${bytes} bytes, element`,
      );
    }
  },
  'a kilobyte of local memory a thread, across barriers': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const own = cuda.local.array(256, i32);
      const s = cuda.shared.array(128, i32);
      const t = cuda.threadIdx.x;
      for (let i = 0; i < 256; i++) own[i] = t + i;
      s[t] = own[t];
      cuda.syncThreads();
      const at = s[127 - t] & 255;
      cuda.syncThreads();
      out[cuda.grid(1)] = own[at] + own[255 - at];
    });
    const out = zeros(256, 'int32');
    await launch(kernel, { grid: 2, block: 128 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 256 }, (_, k) => 2 * (k % 128) + 255),
    );
  },
  'captured arrays beyond 64 KiB': async () => {
    const kernel = cuda.jit((out: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k < out.length) out[k] = LARGE[k * 999] + LARGE[LARGE.length - 1 - k];
    });
    const out = zeros(50, 'float64');
    await launch(kernel, { threads: 50, block: 32 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 50 }, (_, k) => LARGE[k * 999]! + LARGE[49_999 - k]!),
    );
  },
  'sixteen arguments': async () => {
    const many = cuda.jit(
      (
        y: Vec<f64>,
        a: number,
        b: number,
        c: number,
        d: In<Vec<f64>>,
        e: number,
        f: In<Vec<f32>>,
        g: number,
        h: boolean,
        i: In<Vec<i32>>,
        j: number,
        k: In<Mat<f32>>,
        l: number,
        m: bigint,
        n: number,
        o: number,
      ) => {
        const t = cuda.grid(1);
        y[t] = a + b * 2 + c * 3 + d[t] * e + f[t] * g + (h ? 1 : 0) + i[t] * j + k[t][1] * l + Number(m) + n - o;
      },
    );
    const y = zeros(2, 'float64');
    const [d, f] = [cuda.toDevice(Float64Array.of(1, 2)), cuda.toDevice(Float32Array.of(3, 4))];
    const [i, k] = [cuda.toDevice(Int32Array.of(5, 6)), cuda.toDevice(Float32Array.of(7, 8, 9, 10)).reshape([2, 2])];
    await launch(many, { grid: 1, block: 2 }, y, 1, 2, 3, d, 4, f, 5, true, i, 6, k, 7, 8n, 9, 10);
    sameElements(await read(y), [
      1 + 4 + 9 + 4 + 15 + 1 + 30 + 56 + 8 + 9 - 10,
      1 + 4 + 9 + 8 + 20 + 1 + 36 + 70 + 8 + 9 - 10,
    ]);
  },
  'a thousand small launches': async () => {
    const kernel = cuda.jit((v: Vec<i32>, by: number) => {
      const k = cuda.grid(1);
      if (k < v.length) v[k] += by;
    });
    const v = zeros(5, 'int32');
    let sum = 0;
    for (let n = 0; n < 1000; n++) {
      await launch(kernel, { grid: 1, block: 5 }, v, n);
      sum += n;
    }
    sameElements(await read(v), new Int32Array(5).fill(sum));
    same(kernel.stats.misses, 1);
  },
  'a picture in two dimensions': async () => {
    const [width, height] = [257, 131];
    const kernel = cuda.jit((image: Mat<u8>, most: number) => {
      const [x, y] = cuda.grid(2);
      if (x >= image.shape[1] || y >= image.shape[0]) return;
      const cx = (x / image.shape[1]) * 3 - 2;
      const cy = (y / image.shape[0]) * 2 - 1;
      let zx = 0;
      let zy = 0;
      let n = 0;
      while (n < most && zx * zx + zy * zy < 4) {
        const t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
      }
      image[y][x] = n;
    });
    const image = cuda.deviceArray([height, width], 'uint8');
    await launch(kernel, { threads: [width, height] }, image, 200);
    const expected = Uint8Array.from({ length: width * height }, (_, k) => {
      const cx = ((k % width) / width) * 3 - 2;
      const cy = (Math.floor(k / width) / height) * 2 - 1;
      let [zx, zy, n] = [0, 0, 0];
      while (n < 200 && zx * zx + zy * zy < 4) {
        [zx, zy] = [zx * zx - zy * zy + cx, 2 * zx * zy + cy];
        n++;
      }
      return n;
    });
    const got = (await read(image)).data;
    // Devices may fuse products and sums, which moves a few points of the boundary.
    const different = got.reduce((count, v, k) => count + (v === expected[k] ? 0 : 1), 0);
    same(different <= 40, true, `${different} of ${got.length} points differ; at most 40`);
  },
});
