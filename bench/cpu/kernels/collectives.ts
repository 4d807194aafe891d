/**
 * What the threads of a block compute together: sums, prefix sums, the statistics of a row, through shared memory and by shuffles.
 */
import { cuda, f32, type In, type Mat, type Vec } from 'tsamba';
import { type Case, random, shaped } from '../case.ts';

const BLOCK = 256;
const ALL = 0xffffffff;

function sums(name: string, kernel: (...args: never[]) => void): Case {
  return {
    name,
    size: '4M f32',
    setUp() {
      const n = 2 ** 22;
      const [x, out] = [random(n), new Float32Array(n / BLOCK)];
      return {
        launches: [{ kernel, threads: n, block: BLOCK, args: [x, out] }],
        plain: () => sumsPlain(x, out),
        c: ['block_sums', n, x, out],
        results: [out],
        tolerance: 1e-5,
      };
    },
  };
}

const sumsShared = (x: In<Vec<f32>>, out: Vec<f32>) => {
  const part = cuda.shared.array(BLOCK, f32);
  const t = cuda.threadIdx.x;
  const i = cuda.grid(1);
  part[t] = i < x.length ? x[i] : 0;
  cuda.syncThreads();
  for (let half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    cuda.syncThreads();
  }
  if (t === 0) out[cuda.blockIdx.x] = part[0];
};

const warpSum = (value: number): number => {
  let sum = value;
  for (let step = 16; step > 0; step >>= 1) sum += cuda.shflDownSync(ALL, sum, step);
  return sum;
};

const sumsShuffled = (x: In<Vec<f32>>, out: Vec<f32>) => {
  const part = cuda.shared.array(32, f32);
  const t = cuda.threadIdx.x;
  const lane = t % 32;
  const warp = Math.floor(t / 32);
  const i = cuda.grid(1);
  let sum = warpSum(i < x.length ? x[i] : 0);
  if (lane === 0) part[warp] = sum;
  cuda.syncThreads();
  if (warp === 0) {
    sum = warpSum(lane < BLOCK / 32 ? part[lane] : 0);
    if (lane === 0) out[cuda.blockIdx.x] = sum;
  }
};

function sumsPlain(x: Float32Array, out: Float32Array): void {
  for (let b = 0; b < out.length; b++) {
    let sum = 0;
    for (let i = b * BLOCK; i < (b + 1) * BLOCK; i++) sum += x[i];
    out[b] = sum;
  }
}

const gridSum: Case = {
  name: 'sum-grid-stride',
  size: '4M f32',
  setUp() {
    const n = 2 ** 22;
    const [x, total] = [random(n), new Float32Array(1)];
    return {
      launches: [{ kernel: gridSumKernel, grid: 64, block: BLOCK, args: [x, total] }],
      plain: () => {
        total[0] += gridSumPlain(x);
      },
      c: ['sum', n, x, total],
      results: [total],
      tolerance: 1e-3,
    };
  },
};

const gridSumKernel = (x: In<Vec<f32>>, total: Vec<f32>) => {
  const part = cuda.shared.array(BLOCK, f32);
  const t = cuda.threadIdx.x;
  let sum = 0;
  for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) sum += x[i];
  part[t] = sum;
  cuda.syncThreads();
  for (let half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    cuda.syncThreads();
  }
  if (t === 0) cuda.atomic.add(total, 0, part[0]);
};

function gridSumPlain(x: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i];
  return sum;
}

const scan: Case = {
  name: 'scan-shuffles',
  size: '2M f32',
  setUp() {
    const n = 2 ** 21;
    const [x, out] = [random(n), new Float32Array(n)];
    return {
      launches: [{ kernel: scanKernel, threads: n, block: BLOCK, args: [x, out] }],
      plain: () => scanPlain(x, out),
      c: ['block_scan', n, x, out],
      results: [out],
      tolerance: 1e-5,
    };
  },
};

const warpScan = (value: number): number => {
  let sum = value;
  for (let step = 1; step < 32; step <<= 1) {
    const other = cuda.shflUpSync(ALL, sum, step);
    if (cuda.laneId >= step) sum += other;
  }
  return sum;
};

const scanKernel = (x: In<Vec<f32>>, out: Vec<f32>) => {
  const totals = cuda.shared.array(32, f32);
  const t = cuda.threadIdx.x;
  const warp = Math.floor(t / 32);
  const i = cuda.grid(1);
  const sum = warpScan(i < x.length ? x[i] : 0);
  if (cuda.laneId === 31) totals[warp] = sum;
  cuda.syncThreads();
  if (warp === 0) {
    const before = warpScan(cuda.laneId < BLOCK / 32 ? totals[cuda.laneId] : 0);
    totals[cuda.laneId] = before;
  }
  cuda.syncThreads();
  if (i < out.length) out[i] = sum + (warp > 0 ? totals[warp - 1] : 0);
};

function scanPlain(x: Float32Array, out: Float32Array): void {
  for (let b = 0; b < x.length; b += BLOCK) {
    let sum = 0;
    for (let i = b; i < b + BLOCK; i++) {
      sum += x[i];
      out[i] = sum;
    }
  }
}

const layerNorm: Case = {
  name: 'layer-norm-shuffles',
  size: '2048 × 1024 f32',
  setUp() {
    const [rows, columns] = [2048, 1024];
    const [x, gain, shift] = [random(rows * columns), random(columns, 2), random(columns, 3)];
    const y = new Float32Array(rows * columns);
    const args = [shaped(x, rows, columns), gain, shift, shaped(y, rows, columns)];
    return {
      launches: [{ kernel: layerNormKernel, grid: rows, block: BLOCK, args }],
      plain: () => layerNormPlain(x, gain, shift, y, rows, columns),
      c: ['layer_norm', rows, columns, x, gain, shift, y],
      results: [y],
      tolerance: 1e-4,
    };
  },
};

const blockSum = (value: number): number => {
  const part = cuda.shared.array(32, f32);
  const t = cuda.threadIdx.x;
  let sum = value;
  for (let step = 16; step > 0; step >>= 1) sum += cuda.shflXorSync(ALL, sum, step);
  if (t % 32 === 0) part[Math.floor(t / 32)] = sum;
  cuda.syncThreads();
  sum = 0;
  for (let w = 0; w < BLOCK / 32; w++) sum += part[w];
  cuda.syncThreads();
  return sum;
};

/** A row for each block. */
const layerNormKernel = (x: In<Mat<f32>>, gain: In<Vec<f32>>, shift: In<Vec<f32>>, y: Mat<f32>) => {
  const row = cuda.blockIdx.x;
  const columns = x.shape[1];
  let sum = f32(0);
  for (let c = cuda.threadIdx.x; c < columns; c += BLOCK) sum += x[row][c];
  const mean = blockSum(sum) / columns;
  let squares = f32(0);
  for (let c = cuda.threadIdx.x; c < columns; c += BLOCK) squares += (x[row][c] - mean) * (x[row][c] - mean);
  const scale = 1 / Math.sqrt(blockSum(squares) / columns + 1e-5);
  for (let c = cuda.threadIdx.x; c < columns; c += BLOCK) y[row][c] = (x[row][c] - mean) * scale * gain[c] + shift[c];
};

function layerNormPlain(
  x: Float32Array,
  gain: Float32Array,
  shift: Float32Array,
  y: Float32Array,
  rows: number,
  columns: number,
): void {
  for (let r = 0; r < rows; r++) {
    const first = r * columns;
    let sum = 0;
    for (let c = 0; c < columns; c++) sum += x[first + c];
    const mean = sum / columns;
    let squares = 0;
    for (let c = 0; c < columns; c++) squares += (x[first + c] - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / columns + 1e-5);
    for (let c = 0; c < columns; c++) y[first + c] = (x[first + c] - mean) * scale * gain[c] + shift[c];
  }
}

const softmax: Case = {
  name: 'softmax',
  size: '1024 × 1024 f32',
  setUp() {
    const [rows, columns] = [1024, 1024];
    const [x, y] = [random(rows * columns).map((v) => 8 * v), new Float32Array(rows * columns)];
    const args = [shaped(x, rows, columns), shaped(y, rows, columns)];
    return {
      launches: [{ kernel: softmaxKernel, grid: rows, block: BLOCK, args }],
      plain: () => softmaxPlain(x, y, rows, columns),
      c: ['softmax', rows, columns, x, y],
      results: [y],
      tolerance: 1e-5,
    };
  },
};

/** A row for each block. */
const softmaxKernel = (x: In<Mat<f32>>, y: Mat<f32>) => {
  const part = cuda.shared.array(BLOCK, f32);
  const row = cuda.blockIdx.x;
  const t = cuda.threadIdx.x;
  const columns = x.shape[1];
  let largest = f32(Number.NEGATIVE_INFINITY);
  for (let c = t; c < columns; c += BLOCK) largest = Math.max(largest, x[row][c]);
  part[t] = largest;
  cuda.syncThreads();
  for (let half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) part[t] = Math.max(part[t], part[t + half]);
    cuda.syncThreads();
  }
  largest = part[0];
  cuda.syncThreads();
  let sum = f32(0);
  for (let c = t; c < columns; c += BLOCK) {
    const e = Math.exp(x[row][c] - largest);
    y[row][c] = e;
    sum += e;
  }
  part[t] = sum;
  cuda.syncThreads();
  for (let half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) part[t] += part[t + half];
    cuda.syncThreads();
  }
  for (let c = t; c < columns; c += BLOCK) y[row][c] /= part[0];
};

function softmaxPlain(x: Float32Array, y: Float32Array, rows: number, columns: number): void {
  for (let r = 0; r < rows; r++) {
    const first = r * columns;
    let largest = Number.NEGATIVE_INFINITY;
    for (let c = 0; c < columns; c++) largest = Math.max(largest, x[first + c]);
    let sum = 0;
    for (let c = 0; c < columns; c++) {
      const e = Math.exp(x[first + c] - largest);
      y[first + c] = e;
      sum += e;
    }
    for (let c = 0; c < columns; c++) y[first + c] /= sum;
  }
}

export const collectives: readonly Case[] = [
  sums('sums-shared', sumsShared),
  sums('sums-shuffles', sumsShuffled),
  gridSum,
  scan,
  layerNorm,
  softmax,
];
