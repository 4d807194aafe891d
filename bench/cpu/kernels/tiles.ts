/**
 * Blocks that work on a tile in shared memory: histograms, a transpose, a bitonic sort, Fourier transforms and edit distances.
 */
import { cuda, f32, type In, i32, type Mat, type u8, type Vec } from 'tsamba';
import { type Case, random, randomBytes, shaped } from '../case.ts';

function histogram(name: string, kernel: (...args: never[]) => void, grid: number): Case {
  return {
    name,
    size: '2M u8',
    setUp() {
      const n = 2 ** 21;
      const [x, bins] = [randomBytes(n), new Int32Array(256)];
      return {
        launches: [{ kernel, grid, block: 256, args: [x, bins] }],
        plain: () => histogramPlain(x, bins),
        c: ['histogram', n, x, bins],
        results: [bins],
      };
    },
  };
}

const histogramShared = (x: In<Vec<u8>>, bins: Vec<i32>) => {
  const mine = cuda.shared.array(256, i32);
  const t = cuda.threadIdx.x;
  mine[t] = 0;
  cuda.syncThreads();
  for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) cuda.atomic.add(mine, x[i], 1);
  cuda.syncThreads();
  cuda.atomic.add(bins, t, mine[t]);
};

const histogramGlobal = (x: In<Vec<u8>>, bins: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i < x.length) cuda.atomic.add(bins, x[i], 1);
};

function histogramPlain(x: Uint8Array, bins: Int32Array): void {
  for (let i = 0; i < x.length; i++) bins[x[i]]++;
}

const transpose: Case = {
  name: 'transpose',
  size: '2016² f32',
  setUp() {
    // Not a power of two, whose columns all want the same few lines of the cache.
    const n = 2016;
    const [from, to] = [random(n * n), new Float32Array(n * n)];
    const args = [shaped(from, n, n), shaped(to, n, n)];
    return {
      launches: [{ kernel: transposeKernel, grid: [n / 32, n / 32], block: [32, 8], args }],
      plain: () => transposePlain(from, to, n),
      c: ['transpose', n, from, to],
      results: [to],
    };
  },
};

const transposeKernel = (from: In<Mat<f32>>, to: Mat<f32>) => {
  const tile = cuda.shared.array([32, 33], f32);
  const { x: tx, y: ty } = cuda.threadIdx;
  const left = cuda.blockIdx.x * 32;
  const top = cuda.blockIdx.y * 32;
  for (let k = 0; k < 32; k += 8) tile[ty + k][tx] = from[top + ty + k][left + tx];
  cuda.syncThreads();
  for (let k = 0; k < 32; k += 8) to[left + ty + k][top + tx] = tile[tx][ty + k];
};

function transposePlain(from: Float32Array, to: Float32Array, n: number): void {
  for (let y = 0; y < n; y++) for (let x = 0; x < n; x++) to[x * n + y] = from[y * n + x];
}

const SORTED = 512;

/** Each block sorts its part. */
const bitonic: Case = {
  name: 'bitonic-sort',
  size: '512 blocks of 512 f32',
  setUp() {
    const n = 512 * SORTED;
    const [x, out] = [random(n), new Float32Array(n)];
    return {
      launches: [{ kernel: bitonicKernel, grid: n / SORTED, block: SORTED, args: [x, out] }],
      plain: () => bitonicPlain(x, out),
      c: ['bitonic', n, x, out],
      results: [out],
    };
  },
};

const bitonicKernel = (x: In<Vec<f32>>, out: Vec<f32>) => {
  const s = cuda.shared.array(SORTED, f32);
  const t = cuda.threadIdx.x;
  const i = cuda.grid(1);
  s[t] = x[i];
  cuda.syncThreads();
  for (let k = 2; k <= SORTED; k <<= 1) {
    for (let j = k >> 1; j > 0; j >>= 1) {
      const other = t ^ j;
      if (other > t) {
        const [a, b] = [s[t], s[other]];
        if ((t & k) === 0 ? a > b : a < b) {
          s[t] = b;
          s[other] = a;
        }
      }
      cuda.syncThreads();
    }
  }
  out[i] = s[t];
};

function bitonicPlain(x: Float32Array, out: Float32Array): void {
  out.set(x);
  for (let first = 0; first < x.length; first += SORTED) out.subarray(first, first + SORTED).sort();
}

const POINTS = 512;
const STAGES = 9;
const BUTTERFLIES = POINTS / 2;

/** Each block transforms a signal; a thread has a butterfly in each stage. */
const fft: Case = {
  name: 'fft',
  size: '512 × 512 points f32',
  setUp() {
    const n = 512 * POINTS;
    const [re, im, outRe, outIm] = [random(n), random(n, 2), new Float32Array(n), new Float32Array(n)];
    const cos = Float32Array.from({ length: BUTTERFLIES }, (_, k) => Math.cos((-2 * Math.PI * k) / POINTS));
    const sin = Float32Array.from({ length: BUTTERFLIES }, (_, k) => Math.sin((-2 * Math.PI * k) / POINTS));
    const arrays = [re, im, cos, sin, outRe, outIm] as const;
    return {
      launches: [{ kernel: fftKernel, grid: n / POINTS, block: BUTTERFLIES, args: arrays }],
      plain: () => fftPlain(...arrays),
      c: ['fft', n, ...arrays],
      results: [outRe, outIm],
      tolerance: 1e-3,
    };
  },
};

const fftKernel = (
  re: In<Vec<f32>>,
  im: In<Vec<f32>>,
  cos: In<Vec<f32>>,
  sin: In<Vec<f32>>,
  outRe: Vec<f32>,
  outIm: Vec<f32>,
) => {
  const sr = cuda.shared.array(POINTS, f32);
  const si = cuda.shared.array(POINTS, f32);
  const t = cuda.threadIdx.x;
  const first = cuda.blockIdx.x * POINTS;
  for (let k = t; k < POINTS; k += BUTTERFLIES) {
    const from = cuda.brev(k) >>> (32 - STAGES);
    sr[k] = re[first + from];
    si[k] = im[first + from];
  }
  cuda.syncThreads();
  for (let half = 1; half < POINTS; half <<= 1) {
    const k = t & (half - 1);
    const a = 2 * (t - k) + k;
    const b = a + half;
    const w = k * Math.floor(BUTTERFLIES / half);
    const vr = sr[b] * cos[w] - si[b] * sin[w];
    const vi = sr[b] * sin[w] + si[b] * cos[w];
    sr[b] = sr[a] - vr;
    si[b] = si[a] - vi;
    sr[a] += vr;
    si[a] += vi;
    cuda.syncThreads();
  }
  for (let k = t; k < POINTS; k += BUTTERFLIES) {
    outRe[first + k] = sr[k];
    outIm[first + k] = si[k];
  }
};

function fftPlain(
  re: Float32Array,
  im: Float32Array,
  cos: Float32Array,
  sin: Float32Array,
  outRe: Float32Array,
  outIm: Float32Array,
): void {
  for (let first = 0; first < re.length; first += POINTS) {
    for (let k = 0, from = 0; k < POINTS; k++) {
      outRe[first + k] = re[first + from];
      outIm[first + k] = im[first + from];
      let bit = POINTS >> 1;
      for (; from & bit; bit >>= 1) from ^= bit;
      from |= bit;
    }
    for (let half = 1; half < POINTS; half <<= 1)
      for (let start = first; start < first + POINTS; start += 2 * half)
        for (let k = 0; k < half; k++) {
          const [a, b, w] = [start + k, start + k + half, (k * BUTTERFLIES) / half];
          const vr = outRe[b] * cos[w] - outIm[b] * sin[w];
          const vi = outRe[b] * sin[w] + outIm[b] * cos[w];
          outRe[b] = outRe[a] - vr;
          outIm[b] = outIm[a] - vi;
          outRe[a] += vr;
          outIm[a] += vi;
        }
  }
}

const LETTERS = 128;

/** How many letters to change, to insert and to leave out to make one word of another: each block compares two. */
const levenshtein: Case = {
  name: 'levenshtein',
  size: '128 pairs of 128 u8',
  setUp() {
    const pairs = 128;
    const [a, b] = [randomBytes(pairs * LETTERS, 1, 4), randomBytes(pairs * LETTERS, 2, 4)];
    const distances = new Int32Array(pairs);
    const args = [shaped(a, pairs, LETTERS), shaped(b, pairs, LETTERS), distances];
    return {
      launches: [{ kernel: levenshteinKernel, grid: pairs, block: LETTERS, args }],
      plain: () => levenshteinPlain(a, b, distances),
      c: ['levenshtein', pairs, a, b, distances],
      results: [distances],
    };
  },
};

/** Goes over the table of distances by its diagonals; thread t has row t + 1. */
const levenshteinKernel = (a: In<Mat<u8>>, b: In<Mat<u8>>, distances: Vec<i32>) => {
  const diagonals = cuda.shared.array([3, LETTERS + 1], i32);
  const pair = cuda.blockIdx.x;
  const t = cuda.threadIdx.x;
  const row = t + 1;
  const letter = a[pair][t];
  if (t === 0) {
    diagonals[0][0] = 0;
    diagonals[1][0] = 1;
    diagonals[1][1] = 1;
  }
  cuda.syncThreads();
  for (let d = 2; d <= 2 * LETTERS; d++) {
    const column = d - row;
    const now = d % 3;
    const before = (d + 2) % 3;
    const beforeThat = (d + 1) % 3;
    if (column >= 1 && column <= LETTERS) {
      const change = diagonals[beforeThat][row - 1] + (letter === b[pair][column - 1] ? 0 : 1);
      diagonals[now][row] = Math.min(change, diagonals[before][row - 1] + 1, diagonals[before][row] + 1);
    }
    if (column === 0) diagonals[now][row] = row;
    if (t === 0 && d <= LETTERS) diagonals[now][0] = d;
    cuda.syncThreads();
  }
  if (row === LETTERS) distances[pair] = diagonals[(2 * LETTERS) % 3][LETTERS];
};

function levenshteinPlain(a: Uint8Array, b: Uint8Array, distances: Int32Array): void {
  const row = new Int32Array(LETTERS + 1);
  for (let p = 0; p < distances.length; p++) {
    for (let j = 0; j <= LETTERS; j++) row[j] = j;
    for (let i = 1; i <= LETTERS; i++) {
      let diagonal = row[0];
      row[0] = i;
      for (let j = 1; j <= LETTERS; j++) {
        const change = diagonal + (a[p * LETTERS + i - 1] === b[p * LETTERS + j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(change, row[j] + 1, row[j - 1] + 1);
      }
    }
    distances[p] = row[LETTERS];
  }
}

export const tiles: readonly Case[] = [
  histogram('histogram-shared', histogramShared, 32),
  histogram('histogram-global', histogramGlobal, 2 ** 21 / 256),
  transpose,
  bitonic,
  fft,
  levenshtein,
];
