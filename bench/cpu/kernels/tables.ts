/**
 * Tables, counters and records: look-ups, rows chosen by number, flags that are counted, quaternions in rows of four, running maxima, and
 * updates in place.
 */
import { cuda, type f32, type In, type i8, i32, type Mat, type u8, type u16, type Vec } from 'tsamba';
import { type Case, random, shaped } from '../case.ts';

const BLOCK = 256;

/** A curve of 4096 steps. */
const lookUp: Case = {
  name: 'look-up-u16',
  size: '1M u16',
  setUp() {
    const n = 2 ** 20;
    const x = Uint16Array.from(random(n), (v) => v * 4096);
    const table = Uint16Array.from(random(4096, 2), (v) => v * 65535);
    const y = new Uint16Array(n);
    return {
      launches: [{ kernel: lookUpKernel, threads: n, block: BLOCK, args: [x, table, y] }],
      plain: () => {
        for (let i = 0; i < x.length; i++) y[i] = table[x[i]];
      },
      c: ['look_up', n, x, table, y],
      results: [y],
    };
  },
};

const lookUpKernel = (x: In<Vec<u16>>, table: In<Vec<u16>>, y: Vec<u16>) => {
  const i = cuda.grid(1);
  if (i < x.length) y[i] = table[x[i]];
};

const embedding: Case = {
  name: 'embedding',
  size: '8K of 4K rows of 64 f32',
  setUp() {
    const [n, rows, width] = [8192, 4096, 64];
    const ids = Int32Array.from(random(n), (v) => v * rows);
    const [table, out] = [random(rows * width, 2), new Float32Array(n * width)];
    const args = [ids, shaped(table, rows, width), shaped(out, n, width)];
    return {
      launches: [{ kernel: embeddingKernel, threads: [width, n], block: [64, 4], args }],
      plain: () => {
        for (let t = 0; t < n; t++) for (let d = 0; d < width; d++) out[t * width + d] = table[ids[t] * width + d];
      },
      c: ['embedding', n, width, ids, table, out],
      results: [out],
    };
  },
};

const embeddingKernel = (ids: In<Vec<i32>>, table: In<Mat<f32>>, out: Mat<f32>) => {
  const [d, t] = cuda.grid(2);
  if (t < out.shape[0] && d < out.shape[1]) out[t][d] = table[ids[t]][d];
};

/** Which numbers are above a limit, and how many of each block. */
const flags: Case = {
  name: 'flags-counted',
  size: '1M i32',
  setUp() {
    const n = 2 ** 20;
    const x = Int32Array.from(random(n), (v) => v * 1000);
    const [flag, counts] = [new Uint8Array(n), new Int32Array(n / BLOCK)];
    return {
      launches: [{ kernel: flagsKernel, threads: n, block: BLOCK, args: [x, flag, counts, 600] }],
      plain: () => {
        for (let b = 0; b < counts.length; b++) {
          let count = 0;
          for (let i = b * BLOCK; i < (b + 1) * BLOCK; i++) {
            const keep = x[i] > 600;
            flag[i] = keep ? 1 : 0;
            if (keep) count++;
          }
          counts[b] = count;
        }
      },
      c: ['flags_counted', n, x, flag, counts, 600],
      results: [flag, counts],
    };
  },
};

const flagsKernel = (x: In<Vec<i32>>, flag: Vec<u8>, counts: Vec<i32>, limit: number) => {
  const count = cuda.shared.array(1, i32);
  const t = cuda.threadIdx.x;
  const i = cuda.grid(1);
  if (t === 0) count[0] = 0;
  cuda.syncThreads();
  if (i < x.length) {
    const keep = x[i] > limit;
    flag[i] = keep ? 1 : 0;
    if (keep) cuda.atomic.add(count, 0, 1);
  }
  cuda.syncThreads();
  if (t === 0) counts[cuda.blockIdx.x] = count[0];
};

const quaternions: Case = {
  name: 'quaternions',
  size: '128K f32',
  setUp() {
    const n = 2 ** 17;
    const [q, v, out] = [random(4 * n), random(3 * n, 2), new Float32Array(3 * n)];
    const args = [shaped(q, n, 4), shaped(v, n, 3), shaped(out, n, 3)];
    return {
      launches: [{ kernel: quaternionKernel, threads: n, block: BLOCK, args }],
      plain: () => quaternionsPlain(q, v, out, n),
      c: ['quaternions', n, q, v, out],
      results: [out],
      tolerance: 1e-5,
    };
  },
};

const quaternionKernel = (q: In<Mat<f32>>, v: In<Mat<f32>>, out: Mat<f32>) => {
  const i = cuda.grid(1);
  if (i >= v.shape[0]) return;
  const [w, x, y, z] = [q[i][0], q[i][1], q[i][2], q[i][3]];
  const [vx, vy, vz] = [v[i][0], v[i][1], v[i][2]];
  const tx = 2 * (y * vz - z * vy);
  const ty = 2 * (z * vx - x * vz);
  const tz = 2 * (x * vy - y * vx);
  out[i][0] = vx + w * tx + (y * tz - z * ty);
  out[i][1] = vy + w * ty + (z * tx - x * tz);
  out[i][2] = vz + w * tz + (x * ty - y * tx);
};

function quaternionsPlain(q: Float32Array, v: Float32Array, out: Float32Array, n: number): void {
  for (let i = 0; i < n; i++) {
    const w = q[4 * i];
    const x = q[4 * i + 1];
    const y = q[4 * i + 2];
    const z = q[4 * i + 3];
    const vx = v[3 * i];
    const vy = v[3 * i + 1];
    const vz = v[3 * i + 2];
    const tx = 2 * (y * vz - z * vy);
    const ty = 2 * (z * vx - x * vz);
    const tz = 2 * (x * vy - y * vx);
    out[3 * i] = vx + w * tx + (y * tz - z * ty);
    out[3 * i + 1] = vy + w * ty + (z * tx - x * tz);
    out[3 * i + 2] = vz + w * tz + (x * ty - y * tx);
  }
}

/** By Hillis and Steele. */
const runningMaxima: Case = {
  name: 'running-maxima',
  size: '1M i32',
  setUp() {
    const n = 2 ** 20;
    const [x, out] = [Int32Array.from(random(n), (v) => v * 1e9), new Int32Array(n)];
    return {
      launches: [{ kernel: runningMaximaKernel, threads: n, block: BLOCK, args: [x, out] }],
      plain: () => {
        for (let b = 0; b < n; b += BLOCK) {
          let most = x[b];
          for (let i = b; i < b + BLOCK; i++) {
            most = Math.max(most, x[i]);
            out[i] = most;
          }
        }
      },
      c: ['running_maxima', n, x, out],
      results: [out],
    };
  },
};

const LEAST = -(2 ** 31);

const runningMaximaKernel = (x: In<Vec<i32>>, out: Vec<i32>) => {
  const most = cuda.shared.array(BLOCK, i32);
  const t = cuda.threadIdx.x;
  const i = cuda.grid(1);
  most[t] = i < x.length ? x[i] : LEAST;
  cuda.syncThreads();
  for (let step = 1; step < BLOCK; step *= 2) {
    const other = t >= step ? most[t - step] : LEAST;
    cuda.syncThreads();
    most[t] = Math.max(most[t], other);
    cuda.syncThreads();
  }
  if (i < x.length) out[i] = most[t];
};

/** A step of Floyd's and Warshall's algorithm. */
const shortestPaths: Case = {
  name: 'shortest-paths',
  size: '1024² f32',
  setUp() {
    const n = 1024;
    const by = 77;
    const d = random(n * n);
    for (let i = 0; i < n; i++) d[i * n + i] = 0;
    return {
      launches: [{ kernel: shortestPathsKernel, threads: [n, n], block: [32, 8], args: [shaped(d, n, n), by] }],
      plain: () => {
        for (let i = 0; i < n; i++)
          for (let j = 0; j < n; j++) d[i * n + j] = Math.min(d[i * n + j], d[i * n + by] + d[by * n + j]);
      },
      c: ['shortest_paths', n, d, by],
      results: [d],
      tolerance: 1e-6,
    };
  },
};

const shortestPathsKernel = (d: Mat<f32>, by: number) => {
  const [j, i] = cuda.grid(2);
  if (i < d.shape[0] && j < d.shape[1]) d[i][j] = Math.min(d[i][j], d[i][by] + d[by][j]);
};

/** Both colours of a chequerboard in turns. */
const redBlack: Case = {
  name: 'red-black',
  size: '1024² f32',
  setUp() {
    const n = 1024;
    const [u, f] = [random(n * n), random(n * n, 2)];
    const [du, df] = [shaped(u, n, n), shaped(f, n, n)];
    return {
      launches: [0, 1].map((colour) => ({
        kernel: redBlackKernel,
        threads: [n, n],
        block: [32, 8],
        args: [du, df, colour],
      })),
      plain: () => redBlackPlain(u, f, n),
      c: ['red_black', n, u, f],
      results: [u],
      tolerance: 1e-5,
    };
  },
};

const redBlackKernel = (u: Mat<f32>, f: In<Mat<f32>>, colour: number) => {
  const [x, y] = cuda.grid(2);
  if (x <= 0 || y <= 0 || x >= u.shape[1] - 1 || y >= u.shape[0] - 1) return;
  if ((x + y) % 2 !== colour) return;
  u[y][x] = 0.25 * (u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1] - f[y][x]);
};

function redBlackPlain(u: Float32Array, f: Float32Array, n: number): void {
  for (let colour = 0; colour < 2; colour++)
    for (let y = 1; y < n - 1; y++)
      for (let x = 1 + ((y + 1 + colour) & 1); x < n - 1; x += 2) {
        const at = y * n + x;
        u[at] = 0.25 * (u[at - n] + u[at + n] + u[at - 1] + u[at + 1] - f[at]);
      }
}

const bytes: Case = {
  name: 'matvec-i8',
  size: '2048 × 512 i8',
  setUp() {
    const [rows, columns] = [2048, 512];
    const signed = (n: number, seed: number): Int8Array => Int8Array.from(random(n, seed), (v) => v * 255 - 127);
    const [a, x, y] = [signed(rows * columns, 1), signed(columns, 2), new Int32Array(rows)];
    return {
      launches: [{ kernel: bytesKernel, threads: rows, block: 128, args: [shaped(a, rows, columns), x, y] }],
      plain: () => {
        for (let r = 0; r < rows; r++) {
          let sum = 0;
          for (let k = 0; k < columns; k++) sum += a[r * columns + k] * x[k];
          y[r] = sum;
        }
      },
      c: ['matvec_i8', rows, columns, a, x, y],
      results: [y],
    };
  },
};

const bytesKernel = (A: In<Mat<i8>>, x: In<Vec<i8>>, y: Vec<i32>) => {
  const row = cuda.grid(1);
  if (row >= y.length) return;
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += A[row][k] * x[k];
  y[row] = sum;
};

export const tables: readonly Case[] = [
  lookUp,
  embedding,
  flags,
  quaternions,
  runningMaxima,
  shortestPaths,
  redBlack,
  bytes,
];
