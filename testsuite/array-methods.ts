/**
 * Chapter: arrays that kernels make by constructors, JavaScript's methods of arrays on them, on tuples and on views, and reductions.
 */
import { cuda, f32, f64, i32, type i64, type Mat, ndarray, type Vec } from '../src/index.ts';
import { closeElements, rejects } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType, integers } from './support.ts';
import { launch, read } from './waiting.ts';

const TABLE = [5, 3, 8, 3];

/** Runs a kernel on 12 numbers, some of them equal, one NaN or none, and compares 8 results. */
function reduced(kernel: (y: Vec<f64>, a: Mat<f64>) => void, values: readonly number[], expected: readonly number[]) {
  return () =>
    eachType([Float64Array, Float32Array], async (Elements) => {
      const a = cuda.toDevice(Elements.from(values) as Float64Array).reshape(3, 4);
      const y = cuda.toDevice(new Elements(expected.length) as Float64Array);
      const run = cuda.jit(kernel, { defaultFloat: Elements === Float64Array ? 'f64' : 'f32' });
      await launch(run, { grid: 1, block: 1 }, y, a);
      closeElements(await read(y), expected, Elements === Float64Array ? 0 : 2e-7, `${Elements.name}, result`);
    });
}

const NUMBERS = [4, -2, 7.5, 0, 3, 7.5, -2, 1, 2, 2, 5, 6];

export const arrayMethods: readonly ConformanceTest[] = chapter('array methods', {
  'typed arrays that begin with 0': integers((k, x) => {
    const bytes = new Uint8Array(5);
    const words = new Int32Array(40);
    for (let j = 0; j < 16; j++) {
      bytes[j % 5]! += x[k + j] & 127;
      words[(x[k + j] & 31) + (j & 7)]!++;
    }
    let s = 0;
    for (let j = 0; j < 5; j++) s = (s * 3 + bytes[j]!) | 0;
    for (let j = 0; j < 40; j++) s = (s * 3 + words[j]!) | 0;
    return s;
  }),
  'every class of typed arrays': integers((k, x) => {
    const a = new Int8Array(3);
    const b = new Uint8ClampedArray(3);
    const c = new Int16Array([x[k], 1, 2]);
    const d = Uint16Array.of(x[k], 1, 2);
    const e = new Uint32Array(3);
    const f = new Float32Array(3).fill(0.5);
    const g = Float64Array.from(TABLE, (v) => v * 2);
    a[k % 3] = x[k];
    b[k % 3] = x[k];
    e[k % 3] = 7;
    f[k % 3]! += 1;
    const i = (k + 1) % 3;
    const h = k % 3;
    return (a[h]! + b[h]! * 2 + c[i]! * 3 + d[h]! * 5 + (e[h] === 7 ? 11 : 3) + f[h]! * 2 + g[i]!) | 0;
  }),
  'new Array(n).fill(x), Array.from and Array.of': integers((k, x) => {
    const v = new Array<number>(9).fill(1);
    const w = Array.from({ length: 4 }, (_, j) => j * j + (x[k] & 3));
    const m = Array.from({ length: 3 }, () => [0, 0]);
    const o = Array.of(x[k], k);
    for (let j = 0; j < 9; j++) v[j]! += w[j & 3]!;
    for (let j = 0; j < 6; j++) m[j % 3]![j & 1]! += v[(j + k) % 9]!;
    const copy = Array.from(v);
    copy[k % 9] = 100;
    return v[k % 9]! + copy[k % 9]! + m[k % 3]![k & 1]! * 3 + o[k & 1]!;
  }),
  'a large array that is filled': integers((k, x) => {
    const seen = new Array<number>(200).fill(-1);
    for (let j = 0; j < 8; j++) seen[x[k + j] & 127] = j;
    let s = 0;
    for (let j = 0; j < 200; j++) s = (s * 3 + seen[j]!) | 0;
    return s;
  }),
  'map, forEach and reduce': integers((k, x) => {
    const v = [x[k] & 255, x[k + 1] & 255, x[k + 2] & 255];
    const w = v.map((a, j) => a * 2 + j);
    let s = 0;
    w.forEach((a, j) => {
      s += a * (j + 1);
    });
    w[k % 3] = 5;
    const most = w.reduce((a, b) => Math.max(a, b));
    const text = w.reduceRight((a, b) => a * 3 + b, 1);
    return s + most * 7 + text + TABLE.reduce((a, b) => a + b, 0);
  }),
  'some, every, includes, indexOf and findIndex': integers((k, x) => {
    const v = [x[k] & 7, x[k + 1] & 7, x[k + 2] & 7, 3];
    const w = new Int32Array(v);
    w[k & 3] = 9;
    let r = v.some((a) => a > 5) ? 1 : 0;
    if (w.every((a) => a < 8 || a === 9)) r += 2;
    if (v.includes(k & 7)) r += 4;
    r += 10 * (v.indexOf(3) + 1) + 100 * (w.lastIndexOf(9) + 1) + 1000 * (w.findIndex((a) => (a & 1) === 1) + 1);
    return r + 10000 * (w.find((a) => a > 6) ?? 0) + (TABLE.indexOf(x[k] & 7) + 1) * 100000;
  }),
  'methods of views of any length': integers((k, x) => {
    const part = x.subarray(k, k + 9);
    const last = part.at(-1);
    const big = part.findIndex((v) => v > 20);
    const sum = part.reduce((a, v) => a + (v & 255), 0);
    return sum + big * 7 + (part.includes(k) ? 1000 : 0) + (last & 63) + (part.some((v) => v < 0) ? 5000 : 0);
  }),
  'slices of as many elements as they name': integers((k, x) => {
    const group = k >> 4;
    const [a, b, c] = x.subarray(3 * group, 3 * (group + 1)).map((v) => (v & 255) + 1);
    const near = x.subarray(k, k + 4);
    let s = a! + b! * 3 + c! * 5 + Math.max(...near);
    for (let j = 0; j < 3; j++) s += x.subarray(j + k, j + k + 2).map((v) => v >> 3)[1]!;
    return (s + near.length) | 0;
  }),
  'entries, keys, values and literals in loops': integers((k, x) => {
    let s = 0;
    for (const [j, v] of x.subarray(k, k + 5).entries()) s += (j + 1) * (v & 255);
    const v = [k & 3, x[k] & 3, 2];
    v[k % 3] = 7;
    for (const [j, a] of v.entries()) s = s * 3 + a * j;
    for (const j of v.keys()) s += j * v[j]!;
    for (const a of v.values()) s += a;
    for (const a of [1, 2, 3]) s += a * k;
    for (const [j, a] of [4, 5].entries()) s += a << j;
    return s | 0;
  }),
  'fill, at, slice and spread': integers((k, x) => {
    const v = [x[k] & 31, x[k + 1] & 31, x[k + 2] & 31, 4, 5];
    const tail = v.slice(1, -1);
    const whole = v.slice();
    v.fill(9, 3);
    v[k % 5] = 11;
    const copy = [...v, 1];
    copy[k % 6] = 2;
    const top = Math.max(...v, ...tail);
    let s = tail.length * 1000 + top;
    for (let j = 0; j < 5; j++) s = s * 3 + v[j]! + copy[j]! + whole[j]!;
    return (s + v.at(-1)! + v.at(-1 - (k % 5))! + tail.at(0)!) | 0;
  }),
  'reductions of all elements': reduced(
    (y, a) => {
      y[0] = a.sum();
      y[1] = a.min();
      y[2] = a.max();
      y[3] = a.mean();
      y[4] = a.argmin();
      y[5] = a.argmax();
      y[6] = a.any() ? 1 : 0;
      y[7] = a.all() ? 1 : 0;
    },
    NUMBERS,
    [34, -2, 7.5, 34 / 12, 1, 2, 1, 0],
  ),
  'reductions of rows, columns and arrays of the thread': reduced(
    (y, a) => {
      y[0] = a[1].sum();
      y[1] = a.T[2].prod();
      y[2] = a.T.argmax();
      const own = cuda.local.array(3, f32);
      for (let k = 0; k < 3; k++) own[k] = a[k][k];
      y[3] = own.max();
      y[4] = own.argmin();
      const whole = cuda.local.array([2, 2], i32);
      whole.fill(3);
      whole[1][0] = 4;
      y[5] = whole.sum() / whole.mean();
      y[6] = whole.all() && whole[1].any() ? 1 : 0;
      y[7] = whole.T.argmax();
    },
    NUMBERS,
    [9.5, 7.5 * -2 * 5, 4, 7.5, 0, 4, 1, 1],
  ),
  'NaN in reductions': reduced(
    (y, a) => {
      y[0] = a.min();
      y[1] = a.max();
      y[2] = a.argmin();
      y[3] = a.argmax();
      y[4] = a[0].includes(Number.NaN) ? 1 : 0;
      y[5] = a[0].indexOf(Number.NaN);
    },
    NUMBERS.map((v, k) => (k === 2 || k === 7 ? Number.NaN : v)),
    [Number.NaN, Number.NaN, 2, 2, 1, -1],
  ),
  'new Array(n) without values is refused': async () => {
    const kernel = cuda.jit((y: Vec<i32>) => {
      const v = new Array<number>(4);
      y[0] = v[cuda.grid(1)]!;
    });
    const y = cuda.deviceArray(1, 'int32');
    await rejects(() => launch(kernel, { threads: 1 }, y), /new Array\(n\) has no values/, 'K311');
  },
  'a copy of a length that only the launch knows is refused': async () => {
    const kernel = cuda.jit((y: Vec<i32>) => {
      y[0] = y.map((v) => v + 1)[0]!;
    });
    const y = cuda.deviceArray(1, 'int32');
    await rejects(() => launch(kernel, { threads: 1 }, y), /must be known at compile time/, 'K332');
  },

  'variance, counts, and reductions that leave NaN out': async () => {
    const N = Number.NaN;
    const rows = [
      [1, 2, 3, 4],
      [N, 5, -2, 0],
      [N, N, N, N],
      [0, 0.5, -0.5, -3],
    ];
    const kernel = cuda.jit((A: Mat<f64>, y: Mat<f64>) => {
      const i = cuda.grid(1);
      if (i >= A.length) return;
      const a = A[i]!;
      y[i]![0] = a.var();
      y[i]![1] = a.std();
      y[i]![2] = a.countNonzero();
      y[i]![3] = a.nanSum();
      y[i]![4] = a.nanProd();
      y[i]![5] = a.nanMean();
      y[i]![6] = a.nanMin();
      y[i]![7] = a.nanMax();
    });
    const y = cuda.deviceArray([4, 8], f64);
    await launch(kernel, { threads: 4 }, cuda.toDevice(ndarray(rows, { dtype: f64 })) as never, y);
    const expected = rows.flatMap((row) => {
      const known = row.filter((x) => !Number.isNaN(x));
      const total = (xs: number[]): number => xs.reduce((a, b) => a + b, 0);
      const mean = total(row) / row.length;
      const variance = total(row.map((x) => (x - mean) ** 2)) / row.length;
      const ends = known.length === 0 ? [N, N] : [Math.min(...known), Math.max(...known)];
      return [
        variance,
        Math.sqrt(variance),
        row.filter((x) => x !== 0).length,
        total(known),
        known.reduce((a, b) => a * b, 1),
        total(known) / known.length,
        ...ends,
      ];
    });
    closeElements(await read(y), expected, 1e-15);
    const integers = cuda.jit((a: Vec<i32>, b: Vec<i64>, whole: Mat<f32>, z: Vec<f64>) => {
      if (cuda.grid(1) > 0) return;
      z[0] = a.var();
      z[1] = a.countNonzero() + 10 * b.countNonzero() + 100 * whole.countNonzero();
      z[2] = a.nanSum() + a.nanMax();
      z[3] = whole.std();
    });
    const z = cuda.deviceArray(4, f64);
    const [a, b] = [cuda.toDevice(Int32Array.of(3, 0, -1, 6)), cuda.toDevice(BigInt64Array.of(0n, 5n, 2n ** 40n))];
    const whole = cuda.toDevice(
      ndarray(
        [
          [1, 2],
          [3, 0],
        ],
        { dtype: f32 },
      ),
    );
    await launch(integers, { threads: 1 }, a, b, whole as never, z);
    closeElements(await read(z), [7.5, 323, 14, Math.sqrt(1.25)], 1e-6);
  },
});
