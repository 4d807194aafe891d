/** The kernels that must survive every tool: one for each construct that minifiers and transpilers rewrite. */
import { cuda, f32, type In, type i32, i64, type Mat, u32, type Vec } from 'tsamba';
import { shade, WEIGHTS as weights } from './device.js';

const TILE = 8;
const BINS = 16;
const gain = 1.5;
const flip = true;

export const saxpy = cuda.jit((y: Vec<f32>, x: In<Vec<f32>>, a: number) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] += a * x[i];
});

export const matmul = cuda.jit((C: Mat<f32>, A: In<Mat<f32>>, B: In<Mat<f32>>) => {
  const sA = cuda.shared.array([TILE, TILE], f32);
  const sB = cuda.shared.array([TILE, TILE], f32);
  const { x: tx, y: ty } = cuda.threadIdx;
  const [col, row] = cuda.grid(2);
  let sum = 0;
  for (let t = 0; t < A.shape[1]; t += TILE) {
    sA[ty][tx] = row < A.shape[0] && t + tx < A.shape[1] ? A[row][t + tx] : 0;
    sB[ty][tx] = t + ty < B.shape[0] && col < B.shape[1] ? B[t + ty][col] : 0;
    cuda.syncThreads();
    for (let k = 0; k < TILE; k++) sum += sA[ty][k] * sB[k][tx];
    cuda.syncThreads();
  }
  if (row < C.shape[0] && col < C.shape[1]) C[row][col] = sum;
});

export const histogram = cuda.jit((bins: Vec<u32>, data: In<Vec<u32>>) => {
  const local = cuda.shared.array(BINS, u32);
  const t = cuda.threadIdx.x;
  if (t < BINS) local[t] = 0;
  cuda.syncThreads();
  for (let i = cuda.grid(1); i < data.length; i += cuda.gridSize(1)) cuda.atomic.add(local, data[i] & (BINS - 1), 1);
  cuda.syncThreads();
  if (t < BINS) cuda.atomic.add(bins, t, local[t]);
});

export const stencil = cuda.jit((out: Mat<f32>, a: In<Mat<f32>>) => {
  const [x, y] = cuda.grid(2);
  const [rows, columns] = a.shape;
  if (x >= 1 && y >= 1 && x < columns - 1 && y < rows - 1) {
    out[y][x] = 0.25 * (a[y - 1][x] + a[y + 1][x] + a[y][x - 1] + a[y][x + 1]);
  }
});

export const blockSum = cuda.jit((sums: Vec<f32>, x: In<Vec<f32>>) => {
  const part = cuda.shared.array(64, f32);
  const t = cuda.threadIdx.x;
  const i = cuda.grid(1);
  part[t] = i < x.length ? x[i] : 0;
  cuda.syncThreads();
  for (let s = cuda.blockDim.x >> 1; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    cuda.syncThreads();
  }
  if (t === 0) sums[cuda.blockIdx.x] = part[0];
});

export const shaded = cuda.jit((y: Vec<f32>, x: In<Vec<f32>>) => {
  const i = cuda.grid(1);
  const tint = (v: number): number => shade(v) * gain;
  if (i < y.length) {
    const v = x[i];
    y[i] = v > 0 ? tint(v) : -tint(-v);
  }
});

export const switched = cuda.jit((y: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i >= y.length) return;
  let v = 0;
  switch (i % 5) {
    case 0:
      v = 10;
      break;
    case 1:
      v = 20;
    // falls through
    case 2:
      v += 3;
      break;
    case 3:
      return;
    default:
      v = -i;
  }
  y[i] = v;
});

export const labelled = cuda.jit((y: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i >= y.length) return;
  let found = -1;
  search: for (let a = 2; a < 12; a++) {
    for (let b = a; b < 12; b++) {
      if (a * b > i + 2) continue search;
      if (a * b === i + 2) {
        found = a * 100 + b;
        break search;
      }
    }
  }
  y[i] = found;
});

export const early = cuda.jit((y: Vec<f32>, n: number) => {
  const i = cuda.grid(1);
  if (i >= n) return;
  if (i < 3) {
    y[i] = -1;
    return;
  }
  let v = 1;
  while (true) {
    v *= 1.5;
    if (v > i) break;
  }
  do v -= 1;
  while (v > 2);
  y[i] = v;
});

export const ternaries = cuda.jit((y: Vec<i32>, x: In<Vec<i32>>) => {
  const i = cuda.grid(1);
  if (i < y.length) {
    const v = x[i];
    const sign = v < 0 ? -1 : v === 0 ? 0 : 1;
    const even = (v & 1) === 0 && v !== 0;
    const edge = i === 0 || i === y.length - 1;
    y[i] = edge ? sign * 100 : even ? (v / 2) | 0 : sign * 3 + (v >> 28);
    if (even && !edge) y[i] ^= 1;
    else if (sign < 0) y[i]--;
  }
});

export const captured = cuda.jit((y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i >= y.length) return;
  let v = 0;
  for (let k = 0; k < weights.length; k++) v += weights[k] * (i + k);
  y[i] = flip ? v * gain : v / gain;
});

export const hashed = cuda.jit((y: Vec<u32>) => {
  const i = cuda.grid(1);
  if (i < y.length) {
    let h = u32(i) + u32(0x9e3779b9);
    h ^= h >>> 16;
    h = Math.imul(h, 0x85ebca6b);
    h ^= h >>> 13;
    y[i] = h;
  }
});

export const iterated = cuda.jit((y: Vec<f32>, x: In<Vec<f32>>) => {
  const i = cuda.grid(1);
  if (i >= y.length) return;
  let sum = 0;
  for (const v of x) {
    if (v < 0) continue;
    if (v > 2.9) break;
    sum += v;
  }
  for (const w of weights) sum += w * i;
  y[i] = sum;
});

/** Euclid: a swap by destructuring, several loop variables, a countdown. */
export const swapped = cuda.jit((y: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i >= y.length) return;
  let a = i + 12;
  let b = 36;
  while (b !== 0) [a, b] = [b, a % b];
  let steps = 0;
  for (let low = 0, high = i; low < high; low++, high -= 2) steps++;
  let n = 5;
  while (n--) steps += n & 1 ? 2 : 1;
  y[i] = a * 1000 + steps;
});

/** What minifiers spell otherwise: infinities, booleans, powers, defaults, object literals, several returns in a row. */
export const respelt = cuda.jit((y: Vec<f32>, x: In<Vec<f32>>) => {
  const i = cuda.grid(1);
  const band = (v: number, width = 0.5): number => {
    // biome-ignore lint/suspicious/noSelfCompare: how minifiers ask for NaN
    if (v !== v) return -1;
    if (v < -width) return 0;
    if (v > width) {
      const over = v - width;
      return over > 1 ? 3 : 2;
    }
    return 1;
  };
  if (i < y.length) {
    const v = x[i];
    let least = Infinity;
    let odd = false;
    for (let k = 0; k < 3; k++) {
      const d = { square: (v - k) ** 2, sign: v < k ? -1 : 1 };
      if (d.square < least) {
        least = d.square;
        odd = d.sign < 0;
      }
    }
    y[i] = odd ? least + band(v) : band(v, 2) - least;
  }
});

/** 64-bit integers beside single precision. */
export const wide = cuda.jit((y: Vec<i64>) => {
  const i = cuda.grid(1);
  if (i < y.length) {
    let v = 1n;
    for (let k = 0; k < i % 40; k++) v = v * 3n + i64(k);
    y[i] = i & 1 ? -v : v;
  }
});

/** A function made in each turn of a loop. */
export const looped = cuda.jit((y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i >= y.length) return;
  let sum = 0;
  for (let k = 0; k < 4; k++) {
    const add = (v: number): number => v + k * gain;
    sum += add(i);
  }
  y[i] = sum;
});

declare const notDefined: number;

/** Must fail, and point at the name. */
export const brokenName = cuda.jit((y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) {
    y[i] = 2 * notDefined;
  }
});

/** Must fail, and point at the addition of two types. */
export const brokenTypes = cuda.jit((y: Vec<i32>, n: In<Vec<u32>>) => {
  const i = cuda.grid(1);
  if (i < y.length) {
    y[i] = y[i] % n[i];
  }
});
