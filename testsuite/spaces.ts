/**
 * Chapter: shared, dynamic shared, local and constant memory, and what a kernel captures.
 */
import {
  bool,
  cuda,
  type DType,
  f16,
  f32,
  f64,
  type In,
  i8,
  i16,
  i32,
  i64,
  type Mat,
  type NDArray,
  ndarray,
  u8,
  u16,
  u32,
  u64,
  type Vec,
} from '../src/index.ts';
import { closeElements, elementsOf, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType, zeros } from './support.ts';
import { launch, read } from './waiting.ts';

const COUNT = 24;

/** Reverses a block of numbers through shared memory of a type. */
function reversed(dtype: DType<i32>, elements: readonly number[]): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((to: Vec<i32>, from: In<Vec<i32>>) => {
      const s = cuda.shared.array(COUNT, dtype);
      const t = cuda.threadIdx.x;
      s[t] = from[t];
      cuda.syncThreads();
      to[t] = s[COUNT - 1 - t];
    });
    const from = cuda.toDevice(ndarray(elements, { dtype, shape: [elements.length] }));
    const to = cuda.deviceArrayLike(from);
    await launch(kernel, { grid: 1, block: COUNT }, to as never, from as never);
    sameElements(await read(to), elementsOf(await read(from)).reverse());
  };
}

/** Sums thread-private values kept in local memory of a type. */
function privately(dtype: DType<i32>): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const mine = cuda.local.array(5, dtype);
      const k = cuda.grid(1);
      for (let i = 0; i < 5; i++) mine[i] = (k + i) & 63;
      let s = mine[0];
      for (let i = 1; i < 5; i++) s += mine[(i * 2) % 5];
      out[k] = s;
    });
    const out = cuda.deviceArray(COUNT, dtype);
    await launch(kernel, { grid: 2, block: COUNT / 2 }, out);
    const expected = Array.from({ length: COUNT }, (_, k) => [0, 1, 2, 3, 4].reduce((s, i) => s + ((k + i) & 63), 0));
    sameElements(await read(out), expected);
  };
}

const ordinary = Array.from({ length: COUNT }, (_, k) => k * 5 - 50);
const positive = Array.from({ length: COUNT }, (_, k) => k * 10);
const fractions = Array.from({ length: COUNT }, (_, k) => k / 8 - 1);

const WEIGHTS = Float32Array.of(0.25, 0.5, 0.25, 4);
const BYTES = Uint8Array.of(200, 100, 50, 255);
const ONE_AND_NONE = Uint8Array.of(1, 0);
const SHORTS = Int16Array.of(-300, 5, 32767, -32768);
const INTS = Int32Array.of(1, -2, 3, 2147483647);
const WORDS = BigInt64Array.of(2n ** 60n, -1n, 5n, 0n);
const DOUBLES = Float64Array.of(0.1, 1e300, -5, 7);
const TABLE = ndarray(
  [
    [1, 2, 3],
    [4, 5, 6],
  ],
  { dtype: 'float32', shape: [2, 3] },
);
const CUBE = ndarray(
  Int32Array.from({ length: 24 }, (_, k) => k * k),
  { shape: [2, 3, 4] },
);
const COLUMNS = TABLE.T;
const NESTED = [
  [1, 0.1],
  [-2, 300],
  [5, 6],
];
const LIST = [7, 8, 9];
const BLOCKS = [NESTED, [LIST.slice(0, 2), LIST.slice(1), LIST.slice(0, 2)]];
const EVERY_OTHER = ndarray(Int32Array.of(0, 1, 2, 3, 4, 5)).slice('::-2') as NDArray<i32, 1>;
const FLAGS = ndarray([true, false, true, true]);
const HALVES = ndarray([0.5, 1 / 3, 2049, 65504], { dtype: 'float16', shape: [4] });

const gauss = (x: number, width: number) => Math.exp(-(x * x) / width);
const shape = { width: 2, offset: { x: 1 } };

export const spaces: readonly ConformanceTest[] = chapter('memory spaces', {
  'the dtype of an argument is that of shared and local arrays': async () => {
    const kernel = cuda.jit((to: Vec<f32>, from: In<Vec<f32>>) => {
      const s = cuda.shared.array(COUNT, from.dtype);
      const l = cuda.local.array([1, 2], to.dtype);
      const t = cuda.threadIdx.x;
      s[t] = from[t];
      cuda.syncThreads();
      l[0][1] = s[COUNT - 1 - t];
      to[t] = l[0][1];
    });
    await eachType([f32, u8, f64, i64] as DType<f32>[], async (type) => {
      const from = cuda.toDevice(ndarray(Array.from({ length: COUNT }, (_, k) => k + 1)).astype(type));
      const to = cuda.deviceArray(COUNT, type);
      await launch(kernel, { grid: 1, block: COUNT }, to, from);
      sameElements(
        elementsOf(await read(to)).map(Number),
        Array.from({ length: COUNT }, (_, k) => COUNT - k),
        type.name,
      );
    });
  },
  'shared memory of i8': reversed(i8 as never, ordinary),
  'shared memory of u8': reversed(u8 as never, positive),
  'shared memory of i16': reversed(i16 as never, ordinary),
  'shared memory of u16': reversed(u16 as never, positive),
  'shared memory of i32': reversed(i32, ordinary),
  'shared memory of u32': reversed(u32 as never, positive),
  'shared memory of f16': reversed(f16 as never, fractions),
  'shared memory of f32': reversed(f32 as never, fractions),
  'shared memory of f64': reversed(f64 as never, fractions),
  'shared memory of i64 and u64': async () => {
    const kernel = cuda.jit((a: Vec<i64>, b: Vec<u64>) => {
      const s = cuda.shared.array(8, i64);
      const u = cuda.shared.array(8, u64);
      const t = cuda.threadIdx.x;
      s[t] = a[t];
      u[t] = b[t];
      cuda.syncThreads();
      a[t] = s[7 - t] * 2n;
      b[t] = u[7 - t] + 1n;
    });
    const a = cuda.toDevice(BigInt64Array.from({ length: 8 }, (_, k) => BigInt(k) - 4n));
    const b = cuda.toDevice(BigUint64Array.from({ length: 8 }, (_, k) => 2n ** 63n + BigInt(k)));
    await launch(kernel, { grid: 1, block: 8 }, a, b);
    sameElements(
      await read(a),
      Array.from({ length: 8 }, (_, k) => BigInt(6 - 2 * k)),
    );
    sameElements(
      await read(b),
      Array.from({ length: 8 }, (_, k) => 2n ** 63n + BigInt(8 - k)),
    );
  },
  'shared memory of bool': async () => {
    const kernel = cuda.jit((out: Vec<bool>) => {
      const s = cuda.shared.array(COUNT, bool);
      const t = cuda.threadIdx.x;
      s[t] = t % 3 === 0;
      cuda.syncThreads();
      out[t] = s[COUNT - 1 - t];
    });
    const out = cuda.deviceArray(COUNT, bool);
    await launch(kernel, { grid: 1, block: COUNT }, out);
    sameElements(
      await read(out),
      Array.from({ length: COUNT }, (_, t) => (COUNT - 1 - t) % 3 === 0),
    );
  },
  'shared memory of two and three dimensions': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const a = cuda.shared.array([4, 6], i32);
      const b = cuda.shared.array([2, 3, 4], i32);
      const t = cuda.threadIdx.x;
      a[t % 4][(t / 4) | 0] = t;
      b[(t / 12) | 0][((t / 4) | 0) % 3][t % 4] = t * 100;
      cuda.syncThreads();
      const row = a[3 - (t % 4)];
      out[t] =
        row[5 - ((t / 4) | 0)] + b[1][2][3 - (t % 4)] + a.length * 10000 + b.shape[2] * 100000 + row.length * 1000000;
    });
    const out = zeros(24, 'int32');
    await launch(kernel, { grid: 1, block: 24 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 24 }, (_, t) => 23 - t + (20 + 3 - (t % 4)) * 100 + 40000 + 400000 + 6000000),
    );
  },
  'several shared arrays do not overlap': () =>
    eachType([f64, f32 as unknown as typeof f64], async (float) => {
      // Sums of quarters are exact in f32.
      const parts = float.itemSize === 8 ? 3 : 4;
      const kernel = cuda.jit((out: Vec<f64>) => {
        const bytes = cuda.shared.array(7, u8);
        const doubles = cuda.shared.array(5, float);
        const halves = cuda.shared.array(3, f16);
        const ints = cuda.shared.array(4, i32);
        const t = cuda.threadIdx.x;
        if (t < 7) bytes[t] = 200 + t;
        if (t < 5) doubles[t] = t / parts;
        if (t < 3) halves[t] = t + 0.5;
        if (t < 4) ints[t] = -t;
        cuda.syncThreads();
        out[t] = bytes[t % 7] * 1000 + doubles[t % 5] + halves[t % 3] * 10 + ints[t % 4];
      });
      const out = zeros(16, float);
      await launch(kernel, { grid: 1, block: 16 }, out);
      sameElements(
        await read(out),
        Array.from({ length: 16 }, (_, t) => (200 + (t % 7)) * 1000 + (t % 5) / parts + ((t % 3) + 0.5) * 10 - (t % 4)),
      );
    }),
  'shared memory is a block’s own': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(1, i32);
      if (cuda.threadIdx.x === 0) s[0] = cuda.blockIdx.x * 7;
      cuda.syncThreads();
      cuda.atomic.add(s, 0, 1);
      cuda.syncThreads();
      out[cuda.grid(1)] = s[0];
    });
    const out = zeros(40, 'int32');
    await launch(kernel, { grid: 8, block: 5 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 40 }, (_, k) => ((k / 5) | 0) * 7 + 5),
    );
  },
  'slices of shared memory': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(20, i32);
      const t = cuda.threadIdx.x;
      s[t] = t;
      s[t + 10] = 100 + t;
      cuda.syncThreads();
      const upper = s.slice('10:');
      const back = upper.slice('::-1');
      const odd = s.slice([1, null, 2]);
      out[t] = upper[t] * 1000 + back[t] + odd[t] * 1000000;
    });
    const out = zeros(10, 'int32');
    await launch(kernel, { grid: 1, block: 10 }, out);
    const all = Array.from({ length: 20 }, (_, k) => (k < 10 ? k : 90 + k));
    sameElements(
      await read(out),
      Array.from({ length: 10 }, (_, t) => (100 + t) * 1000 + (109 - t) + all[2 * t + 1] * 1000000),
    );
  },
  'shared memory passed to device functions': async () => {
    const fill = (s: Vec<i32>, t: number, v: number) => {
      s[t] = v;
    };
    const total = (s: Vec<i32>) => {
      let sum = 0;
      for (const v of s) sum += v;
      return sum;
    };
    const kernel = cuda.jit((out: Vec<i32>) => {
      const a = cuda.shared.array(6, i32);
      const b = cuda.shared.array(6, i32);
      const t = cuda.threadIdx.x;
      fill(a, t, t);
      fill(b, t, t * 100);
      cuda.syncThreads();
      out[t] = total(a) + total(b);
    });
    const out = zeros(6, 'int32');
    await launch(kernel, { grid: 1, block: 6 }, out);
    sameElements(await read(out), new Int32Array(6).fill(1515));
  },
  'dynamic shared memory': async () => {
    const kernel = cuda.jit((v: Vec<f32>) => {
      const s = cuda.shared.array(0, f32);
      const t = cuda.threadIdx.x;
      const k = cuda.grid(1);
      s[t] = v[k];
      cuda.syncThreads();
      v[k] = s[s.length - 1 - t] + s.length;
    });
    for (const block of [4, 12, 33]) {
      const v = cuda.toDevice(Float32Array.from({ length: 3 * block }, (_, k) => k));
      await launch(kernel, { grid: 3, block, sharedBytes: 4 * block }, v);
      sameElements(
        await read(v),
        Array.from({ length: 3 * block }, (_, k) => k - (k % block) + block - 1 - (k % block) + block),
      );
    }
  },
  'dynamic shared memory cut into parts of several types': () =>
    eachType([f64, f32 as unknown as typeof f64], async (float) => {
      const words = float.itemSize / 4;
      const kernel = cuda.jit((out: Vec<f64>) => {
        const n = cuda.blockDim.x;
        const a = cuda.shared.array(0, float).slice([0, n]);
        const b = cuda.shared.array(0, i32).slice([words * n, (words + 1) * n]);
        const c = cuda.shared.array(0, u8).slice([(4 * words + 4) * n, (4 * words + 5) * n]);
        const t = cuda.threadIdx.x;
        a[t] = t / 4;
        b[t] = -t;
        c[t] = 200 + t;
        cuda.syncThreads();
        const r = n - 1 - t;
        out[t] = a[r] + b[r] * 10 + c[r] * 1000;
      });
      const out = zeros(9, float);
      await launch(kernel, { grid: 1, block: 9, sharedBytes: (4 * words + 5) * 9 }, out);
      sameElements(
        await read(out),
        Array.from({ length: 9 }, (_, t) => (8 - t) / 4 - (8 - t) * 10 + (208 - t) * 1000),
      );
    }),
  'static beside dynamic shared memory': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const own = cuda.shared.array(5, i32);
      const rest = cuda.shared.array(0, i32);
      const t = cuda.threadIdx.x;
      own[t] = t;
      rest[t] = t * 10;
      cuda.syncThreads();
      out[t] = own[4 - t] + rest[4 - t] * 100;
    });
    const out = zeros(5, 'int32');
    await launch(kernel, { grid: 1, block: 5, sharedBytes: 20 }, out);
    sameElements(await read(out), [4004, 3003, 2002, 1001, 0]);
  },
  'local memory of i8': privately(i8 as never),
  'local memory of u16': privately(u16 as never),
  'local memory of i32': privately(i32),
  'local memory of f16': privately(f16 as never),
  'local memory of f32': privately(f32 as never),
  'local memory of f64': privately(f64 as never),
  'local memory of two dimensions, indexed by data': async () => {
    const kernel = cuda.jit((out: Vec<i32>, at: In<Vec<i32>>) => {
      const m = cuda.local.array([3, 4], i32);
      const k = cuda.grid(1);
      for (let i = 0; i < 3; i++) {
        for (let j = 0; j < 4; j++) m[i][j] = k * 100 + i * 10 + j;
      }
      m[at[k] % 3][at[k] % 4] = -1;
      let s = 0;
      for (const row of m) for (const v of row) s += v;
      out[k] = s + m[at[k] % 3][3];
    });
    const at = Int32Array.from({ length: 15 }, (_, k) => (k * 7) % 12);
    const out = zeros(15, 'int32');
    await launch(kernel, { grid: 3, block: 5 }, out, cuda.toDevice(at));
    const expected = Array.from(at, (a, k) => {
      const m = Array.from({ length: 12 }, (_, e) => k * 100 + ((e / 4) | 0) * 10 + (e % 4));
      m[(a % 3) * 4 + (a % 4)] = -1;
      return m.reduce((s, v) => s + v, 0) + m[(a % 3) * 4 + 3];
    });
    sameElements(await read(out), expected);
  },
  'a local array in a device function is new in each call': async () => {
    const digits = (v: number) => {
      const d = cuda.local.array(4, i32);
      for (let i = 0; i < 4; i++) d[i] = (v >> (4 * i)) & 15;
      return d[0] * 1000 + d[1] * 100 + d[2] * 10 + d[3];
    };
    const kernel = cuda.jit((out: Vec<i32>) => {
      const k = cuda.grid(1);
      out[k] = digits(k * 4660 + 1) - digits(k);
    });
    const out = zeros(10, 'int32');
    await launch(kernel, { grid: 1, block: 10 }, out);
    const host = (v: number) => [0, 1, 2, 3].reduce((s, i) => s * 10 + ((v >> (4 * i)) & 15), 0);
    sameElements(
      await read(out),
      Array.from({ length: 10 }, (_, k) => host(k * 4660 + 1) - host(k)),
    );
  },
  'bytes of constant memory that a condition chooses': async () => {
    // What NVIDIA's driver 580.159 dies of, where they are loaded as others are.
    const kernel = cuda.jit((out: Vec<i32>) => {
      const flags = cuda.const.arrayLike(ONE_AND_NONE);
      const t = cuda.threadIdx.x;
      if (flags[t > 5 ? 1 : 0] !== 0) out[t] = t;
      cuda.syncThreads();
      if (flags[cuda.syncThreadsAnd(t < 99)] !== 0) out[t] += 100;
    });
    const out = cuda.toDevice(new Int32Array(8).fill(-1));
    await launch(kernel, { grid: 1, block: 8 }, out);
    sameElements(await read(out), [0, 1, 2, 3, 4, 5, -1, -1]);
  },
  'constant memory by name and by const.arrayLike': async () => {
    const kernel = cuda.jit((out: Vec<f32>) => {
      const w = cuda.const.arrayLike(WEIGHTS);
      const k = cuda.grid(1);
      out[k] = w[k % 4] * 10 + WEIGHTS[3 - (k % 4)] + w.length;
    });
    const out = zeros(9, 'float32');
    await launch(kernel, { grid: 1, block: 9 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 9 }, (_, k) => WEIGHTS[k % 4] * 10 + WEIGHTS[3 - (k % 4)] + 4),
    );
  },
  'constant memory of every type': async () => {
    const kernel = cuda.jit((out: Vec<f64>) => {
      const k = cuda.grid(1);
      out[k] =
        BYTES[k] +
        SHORTS[k] +
        INTS[k] / 2 +
        DOUBLES[k] +
        Number(WORDS[k]) +
        (FLAGS.get(k) ? 0.5 : 0.25) +
        HALVES.get(k);
    });
    const out = zeros(4, 'float64');
    await launch(kernel, { grid: 1, block: 4 }, out);
    sameElements(
      await read(out),
      Array.from(
        { length: 4 },
        (_, k) =>
          BYTES[k] +
          SHORTS[k] +
          INTS[k] / 2 +
          DOUBLES[k] +
          Number(WORDS[k]) +
          (FLAGS.get(k) ? 0.5 : 0.25) +
          HALVES.get(k),
      ),
    );
  },
  'constant matrices, cubes and views': () =>
    eachType(['f64', 'f32'] as const, async (type) => {
      const kernel = cuda.jit(
        (out: Vec<f64>) => {
          const table = cuda.const.arrayLike(TABLE);
          const cube = cuda.const.arrayLike(CUBE);
          const columns = cuda.const.arrayLike(COLUMNS);
          const few = cuda.const.arrayLike(EVERY_OTHER);
          const k = cuda.grid(1);
          out[k] =
            table[k % 2][k % 3] + cube[k % 2][k % 3][k % 4] * 10 + columns[k % 3][k % 2] / 4 + few[k % 3] * 10000;
        },
        { defaultFloat: type },
      );
      const out = zeros(12, type as 'f64');
      await launch(kernel, { grid: 1, block: 12 }, out);
      sameElements(
        await read(out),
        Array.from({ length: 12 }, (_, k) => {
          const entry = TABLE.get(k % 2, k % 3);
          return entry + CUBE.get(k % 2, k % 3, k % 4) * 10 + entry / 4 + [5, 3, 1][k % 3] * 10000;
        }),
      );
    }),
  'constant memory of nested arrays, whose numbers are f64': async () => {
    const kernel = cuda.jit((out: Vec<f64>) => {
      const list = cuda.const.arrayLike(LIST);
      const table = cuda.const.arrayLike(NESTED);
      const blocks = cuda.const.arrayLike(BLOCKS);
      const k = cuda.grid(1);
      out[k] = list[k % 3] * table.shape[0] + table[k % 3][k % 2] + blocks[k % 2][k % 3][0] * 1000;
    });
    const out = zeros(6, 'float64');
    await launch(kernel, { grid: 1, block: 6 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 6 }, (_, k) => LIST[k % 3] * 3 + NESTED[k % 3][k % 2] + BLOCKS[k % 2][k % 3][0] * 1000),
    );
  },
  'captured device arrays are read and written': async () => {
    const state = cuda.toDevice(Int32Array.of(1, 2, 3, 4));
    const kernel = cuda.jit((gain: number) => {
      const k = cuda.grid(1);
      if (k < state.shape[0]) (state as unknown as Vec<i32>)[k] *= gain;
    });
    await launch(kernel, { grid: 1, block: 8 }, 3);
    await launch(kernel, { grid: 1, block: 8 }, 5);
    sameElements(await read(state), [15, 30, 45, 60]);
  },
  'captured functions and settings': () =>
    eachType(['f64', 'f32'] as const, async (type) => {
      const half = (v: number) => v / shape.width;
      const kernel = cuda.jit(
        (y: Vec<f64>) => {
          const k = cuda.grid(1);
          y[k] = gauss(half(k) - shape.offset.x, shape.width);
        },
        { defaultFloat: type },
      );
      const y = zeros(6, type as 'f64');
      await launch(kernel, { grid: 1, block: 6 }, y);
      closeElements(
        await read(y),
        Array.from({ length: 6 }, (_, k) => gauss(half(k) - 1, 2)),
        type === 'f64' ? 0 : 1e-6,
      );
    }),
  'captures are frozen at the first launch, until recompile()': async () => {
    let gain = 2;
    const table = Int32Array.of(10, 20);
    const kernel = cuda.jit((y: Vec<i32>) => {
      const k = cuda.grid(1);
      y[k] = table[k] * gain;
    });
    const y = zeros(2, 'int32');
    await launch(kernel, { grid: 1, block: 2 }, y);
    gain = 3;
    table[0] = 1;
    await launch(kernel, { grid: 1, block: 2 }, y);
    sameElements(await read(y), [20, 40], 'frozen element');
    kernel.recompile();
    await launch(kernel, { grid: 1, block: 2 }, y);
    sameElements(await read(y), [3, 60], 'element');
  },
  'the explicit form takes its captures as an object': async () => {
    const kernel = cuda.jit(
      ({ device, gain, weights }) =>
        (y: Vec<f32>, A: Mat<f32>) => {
          const k = device.grid(1);
          y[k] = A[k][k] * gain + weights[k];
        },
      { captures: { device: cuda, gain: 4, weights: WEIGHTS } },
    );
    const y = zeros(2, 'float32');
    const A = cuda.toDevice(Float32Array.of(1, 2, 3, 4)).reshape([2, 2]);
    await launch(kernel, { grid: 1, block: 2 }, y, A);
    sameElements(await read(y), [4.25, 16.5]);
  },
});
