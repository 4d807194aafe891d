/**
 * Chapter: memory operations. Atomic loads and stores, exchanges of floats and small integers, orders and scopes.
 */
import {
  bf16,
  cuda,
  f16,
  f32,
  type f64,
  type In,
  i8,
  i16,
  i32,
  type i64,
  type Mat,
  ndarray,
  struct,
  u8,
  u16,
  u32,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { element, launch, read } from './waiting.ts';

/** Element types that only move: how they are called, and values that they hold. */
const MOVED: readonly (readonly [
  dtype: 'int8' | 'uint8' | 'int16' | 'uint16' | 'float32' | 'float64',
  values: readonly number[],
])[] = [
  ['int8', [-128, 127, -1, 5]],
  ['uint8', [255, 128, 1, 7]],
  ['int16', [-32768, 32767, -2, 300]],
  ['uint16', [65535, 32768, 3, 511]],
  ['float32', [1.5, -0, Number.POSITIVE_INFINITY, 2 ** -149]],
  ['float64', [0.1, -0, Number.NEGATIVE_INFINITY, 5e-324]],
];

const numbers = (a: unknown): number[] => Array.from(a as ArrayLike<number>, Number);

export const memoryOperations: readonly ConformanceTest[] = chapter('memory operations', {
  'exch, cas, load and store of small integers and floats, at every place of a word': async () => {
    const kernel = cuda.jit((a: Vec<f32>, v: In<Vec<f32>>, old: Vec<f32>) => {
      const k = cuda.grid(1);
      const n = v.length;
      if (k >= n) return;
      cuda.atomic.store(a, k, v[k]);
      old[k] = cuda.atomic.exch(a, k, v[(k + 1) % n]);
      old[n + k] = cuda.atomic.load(a, k);
      old[2 * n + k] = cuda.atomic.cas(a, k, v[(k + 1) % n], v[(k + 2) % n]);
      old[3 * n + k] = cuda.atomic.cas(a, k, v[k], v[(k + 3) % n]);
    });
    for (const [dtype, values] of MOVED) {
      const n = values.length;
      const make = (length: number) => cuda.deviceArray(length, dtype as 'float32');
      const [a, v, old] = [make(n), make(n), make(4 * n)];
      v.set(ndarray(values as number[]));
      a.set(0);
      await launch(kernel, { grid: 1, block: 4 }, a, v, old);
      const at = (k: number): number => values[k % n] as number;
      const each = (of: (k: number) => number): number[] => values.map((_, k) => of(k));
      sameElements(
        numbers(await read(old)),
        [...each(at), ...each((k) => at(k + 1)), ...each((k) => at(k + 1)), ...each((k) => at(k + 2))],
        `${dtype}, old value`,
      );
      sameElements(
        numbers(await read(a)),
        each((k) => at(k + 2)),
        `${dtype}, what is left`,
      );
    }
  },
  'values are handed on by bytes and floats, none lost': async () => {
    const counting = cuda.jit((slots: Vec<u8>, seen: Vec<i32>) => {
      const k = cuda.grid(1);
      cuda.atomic.add(seen, cuda.atomic.exch(slots, k & 3, 1 + (k >> 2)), 1);
    });
    const slots = zeros(5, 'uint8');
    const seen = zeros(64, 'int32');
    await launch(counting, { grid: 8, block: 25 }, slots, seen);
    for (const last of numbers(await read(slots)).slice(0, 4)) seen.set(numbers(await read(seen))[last]! + 1, last);
    // Each of the four slots gave its 0 and every value that was put in, but the last, which is still there.
    sameElements(
      await read(seen),
      Array.from({ length: 64 }, (_, k) => (k <= 50 ? 4 : 0)),
    );

    const handing = cuda.jit((single: Vec<f32>, double: Vec<f64>, got: Vec<i32>, also: Vec<i32>) => {
      const k = cuda.grid(1);
      got[k] = i32(cuda.atomic.exch(single, 0, k + 1));
      also[k] = i32(cuda.atomic.exch(double, 0, k + 1));
    });
    const [single, double] = [zeros(1, 'float32'), zeros(1, 'float64')];
    const [got, also] = [zeros(200, 'int32'), zeros(200, 'int32')];
    await launch(handing, { grid: 8, block: 25 }, single, double, got, also);
    for (const [list, slot] of [
      [got, single],
      [also, double],
    ] as const) {
      const all = [...numbers(await read(list)), Number(await element(slot, 0))].sort((x, y) => x - y);
      sameElements(
        all,
        Array.from({ length: 201 }, (_, k) => k),
      );
    }
  },
  'a loop of cas makes any operation on floats and bytes atomic': async () => {
    const kernel = cuda.jit((product: Vec<f32>, bytes: Vec<u8>) => {
      let old = product[0];
      while (true) {
        const seen = cuda.atomic.cas(product, 0, old, (old * 3 + 1) % 1021);
        if (seen === old) break;
        old = seen;
      }
      let byte = i32(bytes[3]);
      while (true) {
        const seen = cuda.atomic.cas(bytes, 3, byte, (byte * 5 + 3) & 255);
        if (seen === byte) break;
        byte = seen;
      }
    });
    const [product, bytes] = [zeros(1, 'float32'), zeros(5, 'uint8')];
    await launch(kernel, { grid: 8, block: 25 }, product, bytes);
    let [x, byte] = [0, 0];
    for (let k = 0; k < 200; k++) {
      x = (x * 3 + 1) % 1021;
      byte = (byte * 5 + 3) & 255;
    }
    same(await element(product, 0), x);
    sameElements(await read(bytes), [0, 0, 0, byte, 0]);
  },
  'cas of floats compares bits: NaN is NaN, and 0 is not -0': async () => {
    const kernel = cuda.jit((a: Vec<f32>, b: Vec<f64>) => {
      cuda.atomic.cas(a, 0, Number.NaN, 1);
      cuda.atomic.cas(a, 1, 0, 1);
      cuda.atomic.cas(a, 2, -0, 1);
      cuda.atomic.cas(b, 0, a[3], 1);
      cuda.atomic.cas(b, 1, 0, 1);
      cuda.atomic.cas(b, 2, -0, 1);
    });
    const a = cuda.toDevice(Float32Array.of(Number.NaN, -0, -0, 2));
    const b = cuda.toDevice(Float64Array.of(2, -0, -0));
    await launch(kernel, { grid: 1, block: 1 }, a, b);
    sameElements(await read(a), [1, -0, 1, 2]);
    sameElements(await read(b), [1, -0, 1]);
  },
  'exch and cas of f16 and bf16, in global and shared memory': async () => {
    const kernel = cuda.jit((a: Vec<f16>, b: Vec<bf16>, out: Vec<f32>) => {
      const s = cuda.shared.array(3, f16);
      cuda.atomic.store(s, 1, 0.1);
      // 0.1 is rounded to the element before it is compared.
      out[0] = cuda.atomic.cas(s, 1, 0.1, 2.5);
      out[1] = cuda.atomic.load(s, 1);
      out[2] = cuda.atomic.exch(a, 1, -1 / 3);
      out[3] = cuda.atomic.cas(b, 1, -3, 2 ** 100);
      out[4] = cuda.atomic.exch(b, 1, -7);
    });
    const a = cuda.deviceArray(3, f16);
    a.set(1.5);
    const b = cuda.deviceArray(3, bf16);
    b.set(-3);
    const out = zeros(5, 'float32');
    await launch(kernel, { grid: 1, block: 1 }, a, b, out);
    sameElements(await read(out), [0.0999755859375, 2.5, 1.5, -3, 2 ** 100].map(Math.fround));
    sameElements(await read(a), [1.5, -0.333251953125, 1.5]);
    sameElements(await read(b), [-3, -7, -3]);
  },
  'bytes in shared memory, beside others': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(7, i8);
      const h = cuda.shared.array(5, u16);
      const t = cuda.threadIdx.x;
      if (t < 7) s[t] = 0;
      if (t < 5) h[t] = 0;
      cuda.syncThreads();
      out[t] = cuda.atomic.exch(s, t % 7, -1 - (t % 7));
      cuda.atomic.exch(h, t % 5, 40000 + (t % 5));
      cuda.syncThreads();
      if (t < 7) out[70 + t] = s[t];
      if (t < 5) out[80 + t] = h[t];
    });
    const out = zeros(90, 'int32');
    await launch(kernel, { grid: 1, block: 70 }, out);
    const all = numbers(await read(out));
    sameElements(all.slice(70, 77), [-1, -2, -3, -4, -5, -6, -7]);
    sameElements(all.slice(80, 85), [40000, 40001, 40002, 40003, 40004]);
    for (let k = 0; k < 7; k++) same(all.slice(0, 70).filter((v, t) => t % 7 === k && v === 0).length, 1, 'first');
  },
  'members of records': async () => {
    const P = struct({ x: f32, n: i16, flag: u8 }, { align: true });
    const kernel = cuda.jit((p: Vec<{ x: f32; n: i16; flag: u8 }>, out: Vec<f64>) => {
      out[0] = cuda.atomic.exch(p[1], 'x', 2.5);
      out[1] = cuda.atomic.cas(p[1], 'n', -4, 7);
      out[2] = cuda.atomic.load(p[1], 'flag');
      cuda.atomic.store(p[1], 'flag', 9);
    });
    const p = cuda.deviceArray(2, P);
    p.set({ x: 1.5, n: -4, flag: 200 });
    const out = zeros(3, 'float64');
    await launch(kernel, { grid: 1, block: 1 }, p as never, out);
    sameElements(await read(out), [1.5, -4, 200]);
    same(JSON.stringify((await read(p)).toArray()), '[{"x":1.5,"n":-4,"flag":200},{"x":2.5,"n":7,"flag":9}]');
  },
  'the last block sums what the others released': async () => {
    const kernel = cuda.jit((partial: Vec<f32>, done: Vec<i32>, total: Vec<f32>) => {
      if (cuda.threadIdx.x !== 0) return;
      partial[cuda.blockIdx.x] = cuda.blockIdx.x + 1;
      const before = cuda.atomic.add(done, 0, 1, { order: 'acq_rel', scope: 'device' });
      if (before !== cuda.gridDim.x - 1) return;
      let sum = 0;
      for (let k = 0; k < cuda.gridDim.x; k++) sum += partial[k];
      total[0] = sum;
    });
    const total = zeros(1, 'float32');
    await launch(kernel, { grid: 60, block: 32 }, zeros(60, 'float32'), zeros(1, 'int32'), total);
    same(await element(total, 0), 1830);
  },
  'every order of every operation': async () => {
    const kernel = cuda.jit((a: Vec<i32>, b: Vec<i64>, c: Vec<u8>, d: Vec<f32>, out: Vec<i32>) => {
      const k = cuda.grid(1);
      cuda.atomic.store(a, k, 1, { order: 'release' });
      cuda.atomic.add(a, k, 2, { order: 'acquire' });
      cuda.atomic.max(a, k, 7, { order: 'release', scope: 'block' });
      cuda.atomic.xor(a, k, 1, { order: 'seq_cst' });
      cuda.atomic.add(b, k, 5n, { order: 'acq_rel' });
      cuda.atomic.store(b, k, cuda.atomic.load(b, k, { order: 'seq_cst' }) * 2n, { order: 'seq_cst' });
      cuda.atomic.exch(c, k, 3, { order: 'acq_rel' });
      cuda.atomic.cas(c, k, 3, 4, { order: 'seq_cst', scope: 'block' });
      cuda.atomic.add(d, k, 0.5, { order: 'relaxed' });
      cuda.atomic.max(d, k, 2, { order: 'acq_rel' });
      cuda.atomic.nanMin(d, k, 1.5, { order: 'seq_cst' });
      out[k] =
        cuda.atomic.load(a, k, { order: 'acquire', scope: 'block' }) + cuda.atomic.load(c, k, { scope: 'device' });
    });
    const [a, b, c, d] = [zeros(5, 'int32'), zeros(5, 'int64'), zeros(5, 'uint8'), zeros(5, 'float32')];
    const out = zeros(5, 'int32');
    await launch(kernel, { grid: 1, block: 5 }, a, b, c, d, out);
    sameElements(await read(a), Array(5).fill(6));
    sameElements(await read(b), Array(5).fill(10n));
    sameElements(await read(c), Array(5).fill(4));
    sameElements(await read(d), Array(5).fill(1.5));
    sameElements(await read(out), Array(5).fill(10));
  },
  'the scope of the whole system': async () => {
    const kernel = cuda.jit((a: Vec<i32>) => {
      cuda.atomic.add(a, 0, 1, { order: 'release', scope: 'system' });
      a[1] = cuda.atomic.load(a, 0, { order: 'acquire', scope: 'system' });
    });
    const a = zeros(2, 'int32');
    if (cuda.currentDevice().kind === 'opencl') {
      await rejects(() => launch(kernel, { grid: 1, block: 1 }, a), /scope 'system'/, 'E_ATOMIC_SCOPE');
      return;
    }
    await launch(kernel, { grid: 1, block: 1 }, a);
    sameElements(await read(a), [1, 1]);
  },
  'orders and scopes that there are not': async () => {
    const a = zeros(2, 'int32');
    const wrong = cuda.jit((x: Vec<i32>) => {
      cuda.atomic.add(x, 0, 1, { order: 'sequential' as 'relaxed' });
    });
    await rejects(
      () => launch(wrong, { grid: 1, block: 1 }, a),
      /'sequential' is not a valid order for cuda\.atomic\.add/,
    );
    const backwards = cuda.jit((x: Vec<i32>) => {
      cuda.atomic.store(x, 0, 1, { order: 'acquire' as 'release' });
    });
    await rejects(
      () => launch(backwards, { grid: 1, block: 1 }, a),
      /'acquire' is not a valid order for cuda\.atomic\.store/,
    );
    const unknown = cuda.jit((x: Vec<i32>) => {
      cuda.atomic.load(x, 0, { ordered: 'acquire' } as object);
    });
    await rejects(() => launch(unknown, { grid: 1, block: 1 }, a), /has no option ordered/);
  },
  'loads and stores with cache hints are loads and stores': async () => {
    const kernel = cuda.jit((x: In<Vec<f32>>, A: Mat<i32>, y: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      const sum = cuda.ldca(x, k) + cuda.ldcg(x, k) + cuda.ldcs(x, k) + cuda.ldlu(x, k);
      cuda.stcs(y, 4 * k, sum);
      cuda.stcg(y, 4 * k + 1, cuda.ldcv(y, 4 * k));
      cuda.stwb(y, 4 * k + 2, cuda.ldcs(A, [k, 1]));
      cuda.stwt(y, 4 * k + 3, 7);
      cuda.stcs(A, [k, 0], k);
    });
    const A = cuda.toDevice(ndarray(Int32Array.of(1, 2, 3, 4, 5, 6), { shape: [3, 2] }));
    const y = zeros(12, 'float32');
    await launch(kernel, { threads: 3 }, cuda.toDevice(Float32Array.of(1, 2, 3)), A, y);
    sameElements(await read(y), [4, 4, 2, 7, 8, 8, 4, 7, 12, 12, 6, 7]);
    sameElements(await read(A), [0, 2, 1, 4, 2, 6]);
  },
  'a load with a hint sees what was stored before, and keeps what it saw': async () => {
    const kernel = cuda.jit((y: Vec<i32>) => {
      y[0] = 5;
      const seen = cuda.ldcg(y, 0);
      y[0] = 6;
      y[1] = seen;
      cuda.stcs(y, 2, cuda.ldcs(y, 0));
    });
    const y = zeros(3, 'int32');
    await launch(kernel, { grid: 1, block: 1 }, y);
    sameElements(await read(y), [6, 5, 6]);
  },
  'reshape takes the elements in another shape': async () => {
    const kernel = cuda.jit((x: Vec<i32>, A: Mat<i32>, out: Vec<i32>, cols: number) => {
      const M = x.reshape(2, 3);
      out[0] = M[1][2]!;
      out[1] = M.shape[0] * 10 + M.shape[1];
      const N = x.reshape([-1, cols]);
      out[2] = N[2][1]!;
      out[3] = N.length;
      const flat = A.reshape(-1);
      out[4] = flat[4]!;
      flat[5] = 60;
      const s = cuda.shared.array([2, 4], i32);
      for (let k = 0; k < 8; k++) s.reshape(8)[k] = k;
      out[5] = s[1][3]!;
      out[6] = s.reshape(4, -1)[3][0]!;
      out[7] = A[1].reshape(3, 1)[2][0]!;
    });
    const x = cuda.toDevice(Int32Array.of(1, 2, 3, 4, 5, 6));
    const A = cuda.toDevice(ndarray(Int32Array.of(1, 2, 3, 4, 5, 6), { shape: [2, 3] }));
    const out = zeros(8, 'int32');
    await launch(kernel, { grid: 1, block: 1 }, x, A, out, 2);
    sameElements(await read(out), [6, 23, 6, 3, 5, 7, 6, 60]);
    sameElements(await read(A), [1, 2, 3, 4, 5, 60]);
  },
  'reshape refuses what is not contiguous, and other numbers of elements': async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2, 3, 4, 5, 6));
    const sliced = cuda.jit((v: Vec<i32>) => {
      v[0] = v.slice('::2').reshape(3, 1)[0][0]!;
    });
    await rejects(() => launch(sliced, { grid: 1, block: 1 }, x), /not known to be contiguous/, 'K246');
    const unequal = cuda.jit((v: Vec<i32>) => {
      const s = cuda.shared.array(8, i32);
      s.reshape(3, 3)[0][0] = v[0]!;
    });
    await rejects(() => launch(unequal, { grid: 1, block: 1 }, x), /has 8 elements, and the shape 9/, 'K246');
  },
  'view takes the bytes as other elements': async () => {
    const kernel = cuda.jit((x: Vec<f32>, bytes: Vec<u8>, A: Mat<f64>, out: Vec<f64>) => {
      const bits = x.view(u32);
      out[0] = bits[0]!;
      bits[1] = 0x40000000;
      out[1] = x.view(u8)[3]!;
      out[2] = x.view('uint8').length;
      // From an odd address: put together from bytes.
      out[3] = bytes.slice('1:').view(u32)[0]!;
      const words = cuda.assumeAligned(bytes, 4).view(u32);
      out[4] = words[1]!;
      out[5] = words.length;
      out[6] = A.view(u32)[1][1]!;
      out[7] = A.view(u32).shape[1];
      const s = cuda.shared.array(8, u8, { align: 8 });
      for (let k = 0; k < 8; k++) s[k] = k;
      out[8] = s.view(u32)[1]!;
      const own = cuda.local.array(2, f32, { align: 16 });
      own[0] = 1;
      own[1] = 2;
      out[9] = own.view(u32)[1]!;
    });
    const x = cuda.toDevice(Float32Array.of(1, 5, 7));
    const bytes = cuda.toDevice(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    const A = cuda.toDevice(ndarray(Float64Array.of(1, 2, 3, 1.5), { shape: [2, 2] }));
    const out = zeros(10, 'float64');
    await launch(kernel, { grid: 1, block: 1 }, x, bytes, A, out);
    sameElements(
      await read(out),
      [0x3f800000, 0x3f, 12, 0x05040302, 0x08070605, 2, 0x40080000, 4, 0x07060504, 0x40000000],
    );
    sameElements(await read(x), [1, 2, 7]);
  },
  'alignments that there are not': async () => {
    const y = zeros(1, 'float32');
    const wrong = cuda.jit((out: Vec<f32>) => {
      const s = cuda.shared.array(8, f32, { align: 12 });
      s[0] = 1;
      out[0] = s[0];
    });
    await rejects(
      () => launch(wrong, { grid: 1, block: 1 }, y),
      /12 is not a valid align for cuda\.shared\.array/,
      'K342',
    );
  },
});
