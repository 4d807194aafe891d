/**
 * Vectors and dense matrices: saxpy, a dot product, a matrix times a vector, and three ways to multiply matrices.
 */
import { cuda, f32, f64, type In, type Mat, type Vec } from 'tsamba';
import { type Case, random, shaped } from '../case.ts';

const saxpy: Case = {
  name: 'saxpy',
  size: '4M f32',
  setUp() {
    const n = 2 ** 22;
    const [x, y] = [random(n), random(n, 2)];
    return {
      launches: [{ kernel: saxpyKernel, threads: n, block: 256, args: [1e-3, x, y] }],
      plain: () => saxpyPlain(1e-3, x, y),
      c: ['saxpy', n, 1e-3, x, y],
      results: [y],
      tolerance: 1e-6,
    };
  },
};

const saxpyKernel = (a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] += a * x[i];
};

function saxpyPlain(a: number, x: Float32Array, y: Float32Array): void {
  for (let i = 0; i < y.length; i++) y[i] += a * x[i];
}

const DOT_BLOCK = 256;

const dot: Case = {
  name: 'dot-f64',
  size: '2M f64',
  setUp() {
    const n = 2 ** 21;
    const [x, y] = [Float64Array.from(random(n)), Float64Array.from(random(n, 2))];
    const total = new Float64Array(1);
    return {
      launches: [{ kernel: dotKernel, grid: 64, block: DOT_BLOCK, args: [x, y, total] }],
      plain: () => {
        total[0] += dotPlain(x, y);
      },
      c: ['dot', n, x, y, total],
      results: [total],
      tolerance: 1e-9,
    };
  },
};

const dotKernel = (x: In<Vec<f64>>, y: In<Vec<f64>>, total: Vec<f64>) => {
  const part = cuda.shared.array(DOT_BLOCK, f64);
  const t = cuda.threadIdx.x;
  let sum = 0;
  for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) sum += x[i] * y[i];
  part[t] = sum;
  cuda.syncThreads();
  for (let half = DOT_BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    cuda.syncThreads();
  }
  if (t === 0) cuda.atomic.add(total, 0, part[0]);
};

function dotPlain(x: Float64Array, y: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
  return sum;
}

const matvec: Case = {
  name: 'matvec',
  size: '2048² f32',
  setUp() {
    const n = 2048;
    const [a, x, y] = [random(n * n), random(n, 2), new Float32Array(n)];
    return {
      launches: [{ kernel: matvecKernel, threads: n, block: 128, args: [shaped(a, n, n), x, y] }],
      plain: () => matvecPlain(a, x, y, n),
      c: ['matvec', n, a, x, y],
      results: [y],
      tolerance: 1e-4,
    };
  },
};

const matvecKernel = (A: In<Mat<f32>>, x: In<Vec<f32>>, y: Vec<f32>) => {
  const row = cuda.grid(1);
  if (row >= y.length) return;
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += A[row][k] * x[k];
  y[row] = sum;
};

function matvecPlain(a: Float32Array, x: Float32Array, y: Float32Array, n: number): void {
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += a[i * n + k] * x[k];
    y[i] = sum;
  }
}

/** The three matrix products differ in their kernels only. */
function product(name: string, kernel: (...args: never[]) => void, tile: number, block: number | number[]): Case {
  return {
    name,
    size: '512² f32',
    setUp() {
      const n = 512;
      const [a, b, c] = [random(n * n), random(n * n, 2), new Float32Array(n * n)];
      const args = [a, b, c].map((m) => shaped(m, n, n));
      return {
        launches: [{ kernel, grid: [n / tile, n / tile], block, args }],
        plain: () => matmulPlain(a, b, c, n),
        c: ['matmul', n, a, b, c],
        results: [c],
        tolerance: 1e-4,
      };
    },
  };
}

function matmulPlain(a: Float32Array, b: Float32Array, c: Float32Array, n: number): void {
  c.fill(0);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < n; k++) {
      const v = a[i * n + k];
      for (let j = 0; j < n; j++) c[i * n + j] += v * b[k * n + j];
    }
}

const naiveKernel = (A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  if (y >= C.shape[0] || x >= C.shape[1]) return;
  let sum = 0;
  for (let k = 0; k < A.shape[1]; k++) sum += A[y][k] * B[k][x];
  C[y][x] = sum;
};

const TILE = 16;

const tiledKernel = (A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
  const a = cuda.shared.array([TILE, TILE], f32);
  const b = cuda.shared.array([TILE, TILE], f32);
  const [x, y] = cuda.grid(2);
  const { x: tx, y: ty } = cuda.threadIdx;
  let sum = 0;
  for (let start = 0; start < A.shape[1]; start += TILE) {
    a[ty][tx] = A[y][start + tx];
    b[ty][tx] = B[start + ty][x];
    cuda.syncThreads();
    for (let k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
    cuda.syncThreads();
  }
  C[y][x] = sum;
};

/** Each of 256 threads computes 8 × 8 elements of a tile of 128 × 128. */
const registersKernel = (A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
  const a = cuda.shared.array([8, 128], f32);
  const b = cuda.shared.array([8, 128], f32);
  const sums = cuda.local.array([8, 8], f32);
  const t = cuda.threadIdx.x;
  const row = Math.floor(t / 16) * 8;
  const column = (t % 16) * 8;
  const top = cuda.blockIdx.y * 128;
  const left = cuda.blockIdx.x * 128;
  for (let i = 0; i < 8; i++) for (let j = 0; j < 8; j++) sums[i][j] = 0;
  for (let start = 0; start < A.shape[1]; start += 8) {
    for (let e = t; e < 1024; e += 256) {
      a[e % 8][Math.floor(e / 8)] = A[top + Math.floor(e / 8)][start + (e % 8)];
      b[Math.floor(e / 128)][e % 128] = B[start + Math.floor(e / 128)][left + (e % 128)];
    }
    cuda.syncThreads();
    for (let k = 0; k < 8; k++)
      for (let i = 0; i < 8; i++) for (let j = 0; j < 8; j++) sums[i][j] += a[k][row + i] * b[k][column + j];
    cuda.syncThreads();
  }
  for (let i = 0; i < 8; i++) for (let j = 0; j < 8; j++) C[top + row + i][left + column + j] = sums[i][j];
};

export const linearAlgebra: readonly Case[] = [
  saxpy,
  dot,
  matvec,
  product('matmul-naive', naiveKernel, 16, [16, 16]),
  product('matmul-tiled', tiledKernel, TILE, [TILE, TILE]),
  product('matmul-registers', registersKernel, 128, 256),
];
