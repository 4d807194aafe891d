/**
 * Kernels of the NVIDIA benchmark in which the threads of a block or a warp work together on a row: a scan, layer norm, softmax,
 * sorting, dense and sparse products, nearest neighbours.
 */
import { cuda, f32, type In, i32, type Mat, type Vec } from 'tsamba';
import { type Contestant, hashed, matrix, type Scale } from './contestant.ts';

const BLOCK = 256;
const ALL = 0xffffffff;

const warpScan = (value: number): number => {
  let sum = value;
  for (let step = 1; step < 32; step <<= 1) {
    const other = cuda.shflUpSync(ALL, sum, step);
    if (cuda.laneId >= step) sum += other;
  }
  return sum;
};

/** Running sums within each block. */
const scan = cuda.jit((x: In<Vec<f32>>, out: Vec<f32>) => {
  const totals = cuda.shared.array(32, f32);
  const warp = cuda.threadIdx.x >> 5;
  const i = cuda.grid(1);
  const sum = warpScan(x[i]);
  if (cuda.laneId === 31) totals[warp] = sum;
  cuda.syncThreads();
  if (warp === 0) totals[cuda.laneId] = warpScan(cuda.laneId < BLOCK / 32 ? totals[cuda.laneId] : 0);
  cuda.syncThreads();
  out[i] = sum + (warp > 0 ? totals[warp - 1] : 0);
});

function setUpScan(scale: Scale): Contestant {
  const n = 2 ** 26 / scale;
  const [x, out] = [cuda.toDevice(hashed(n, 1)), cuda.deviceArray(n, f32)];
  return { launch: () => scan.launch({ grid: n / BLOCK, block: BLOCK }, x, out), outputs: [out], arrays: [x, out] };
}

const warpSum = (value: number): number => {
  let sum = value;
  for (let step = 16; step > 0; step >>= 1) sum += cuda.shflXorSync(ALL, sum, step);
  return sum;
};

const blockSum = (value: number): number => {
  const part = cuda.shared.array(BLOCK / 32, f32);
  let sum = warpSum(value);
  if (cuda.laneId === 0) part[cuda.threadIdx.x >> 5] = sum;
  cuda.syncThreads();
  sum = 0;
  for (let w = 0; w < BLOCK / 32; w++) sum += part[w];
  cuda.syncThreads();
  return sum;
};

const layerNorm = cuda.jit((x: In<Mat<f32>>, gain: In<Vec<f32>>, shift: In<Vec<f32>>, y: Mat<f32>) => {
  const row = cuda.blockIdx.x;
  const columns = x.shape[1];
  let sum = f32(0);
  for (let c = cuda.threadIdx.x; c < columns; c += BLOCK) sum += x[row][c];
  const mean = blockSum(sum) / columns;
  let squares = f32(0);
  for (let c = cuda.threadIdx.x; c < columns; c += BLOCK) squares += (x[row][c] - mean) * (x[row][c] - mean);
  const factor = cuda.rsqrt(blockSum(squares) / columns + 1e-5);
  for (let c = cuda.threadIdx.x; c < columns; c += BLOCK) y[row][c] = (x[row][c] - mean) * factor * gain[c] + shift[c];
});

const COLUMNS = 1024;
function setUpLayerNorm(scale: Scale): Contestant {
  const rows = 65536 / scale;
  const [x, y] = [matrix(rows, COLUMNS, 1), cuda.deviceArray([rows, COLUMNS], f32)];
  const [gain, shift] = [cuda.toDevice(hashed(COLUMNS, 2)), cuda.toDevice(hashed(COLUMNS, 3))];
  return {
    launch: () => layerNorm.launch({ grid: rows, block: BLOCK }, x, gain, shift, y),
    outputs: [y],
    arrays: [x, gain, shift, y],
  };
}

const softmax = cuda.jit((x: In<Mat<f32>>, y: Mat<f32>) => {
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
});

function setUpSoftmax(scale: Scale): Contestant {
  const rows = 65536 / scale;
  const [x, y] = [matrix(rows, COLUMNS, 1), cuda.deviceArray([rows, COLUMNS], f32)];
  return { launch: () => softmax.launch({ grid: rows, block: BLOCK }, x, y), outputs: [y], arrays: [x, y] };
}

const SORTED = 2 * BLOCK;

/** Each block sorts 512 numbers in shared memory. */
const bitonic = cuda.jit((x: In<Vec<f32>>, y: Vec<f32>) => {
  const part = cuda.shared.array(SORTED, f32);
  const t = cuda.threadIdx.x;
  const first = cuda.blockIdx.x * SORTED;
  part[t] = x[first + t];
  part[t + BLOCK] = x[first + t + BLOCK];
  for (let size = 2; size <= SORTED; size <<= 1) {
    for (let stride = size >> 1; stride > 0; stride >>= 1) {
      cuda.syncThreads();
      const i = 2 * t - (t & (stride - 1));
      const a = part[i];
      const b = part[i + stride];
      if (a > b === ((i & size) === 0)) {
        part[i] = b;
        part[i + stride] = a;
      }
    }
  }
  cuda.syncThreads();
  y[first + t] = part[t];
  y[first + t + BLOCK] = part[t + BLOCK];
});

function setUpBitonic(scale: Scale): Contestant {
  const n = 2 ** 24 / scale;
  const [x, y] = [cuda.toDevice(hashed(n, 1)), cuda.deviceArray(n, f32)];
  return { launch: () => bitonic.launch({ grid: n / SORTED, block: BLOCK }, x, y), outputs: [y], arrays: [x, y] };
}

/** A warp a row. */
const matvec = cuda.jit((A: In<Mat<f32>>, x: In<Vec<f32>>, y: Vec<f32>) => {
  const row = cuda.grid(1) >> 5;
  if (row >= y.length) return;
  let sum = f32(0);
  for (let k = cuda.laneId; k < x.length; k += 32) sum += A[row][k] * x[k];
  sum = warpSum(sum);
  if (cuda.laneId === 0) y[row] = sum;
});

function setUpMatvec(scale: Scale): Contestant {
  const n = 8192 / scale;
  const [a, x, y] = [matrix(n, n, 1), cuda.toDevice(hashed(n, 2)), cuda.deviceArray(n, f32)];
  return { launch: () => matvec.launch({ threads: 32 * n, block: BLOCK }, a, x, y), outputs: [y], arrays: [a, x, y] };
}

/** A sparse matrix by rows (CSR) times a vector, a warp a row. */
const spmv = cuda.jit(
  (starts: In<Vec<i32>>, columns: In<Vec<i32>>, values: In<Vec<f32>>, x: In<Vec<f32>>, y: Vec<f32>) => {
    const row = cuda.grid(1) >> 5;
    if (row >= y.length) return;
    let sum = f32(0);
    for (let k = starts[row] + cuda.laneId; k < starts[row + 1]; k += 32) sum += values[k] * x[columns[k]];
    sum = warpSum(sum);
    if (cuda.laneId === 0) y[row] = sum;
  },
);

function setUpSpmv(scale: Scale): Contestant {
  const rows = 2 ** 20 / scale;
  const lengths = hashed(rows, 1);
  const starts = new Int32Array(rows + 1);
  for (let k = 0; k < rows; k++) starts[k + 1] = starts[k] + 16 + Math.floor(64 * lengths[k]);
  const places = hashed(starts[rows], 2);
  const arrays = [
    cuda.toDevice(starts),
    cuda.toDevice(new Int32Array(places.map((v) => v * rows))),
    cuda.toDevice(hashed(starts[rows], 3)),
    cuda.toDevice(hashed(rows, 4)),
    cuda.deviceArray(rows, f32),
  ] as const;
  return {
    launch: () => spmv.launch({ threads: 32 * rows, block: BLOCK }, ...arrays),
    outputs: [arrays[4]],
    arrays,
  };
}

/** The nearest of m points for each of n, by trying all of them. */
const nearest = cuda.jit((points: In<Mat<f32>>, from: In<Mat<f32>>, places: Vec<i32>, squares: Vec<f32>) => {
  const tile = cuda.shared.array([3, BLOCK], f32);
  const i = cuda.grid(1);
  const t = cuda.threadIdx.x;
  const x = points[0][i];
  const y = points[1][i];
  const z = points[2][i];
  let least = f32(Number.POSITIVE_INFINITY);
  let best = 0;
  for (let start = 0; start < from.shape[1]; start += BLOCK) {
    for (let c = 0; c < 3; c++) tile[c][t] = from[c][start + t];
    cuda.syncThreads();
    for (let k = 0; k < BLOCK; k++) {
      const dx = tile[0][k] - x;
      const dy = tile[1][k] - y;
      const dz = tile[2][k] - z;
      const square = dx * dx + dy * dy + dz * dz;
      if (square < least) {
        least = square;
        best = start + k;
      }
    }
    cuda.syncThreads();
  }
  places[i] = best;
  squares[i] = least;
});

function setUpNearest(scale: Scale): Contestant {
  const n = 65536 / scale;
  const arrays = [matrix(3, n, 1), matrix(3, n, 777), cuda.deviceArray(n, i32), cuda.deviceArray(n, f32)] as const;
  return {
    launch: () => nearest.launch({ grid: n / BLOCK, block: BLOCK }, ...arrays),
    outputs: [arrays[2], arrays[3]],
    arrays,
  };
}

export const ROWS: Readonly<Record<string, (scale: Scale) => Contestant>> = {
  scan: setUpScan,
  layernorm: setUpLayerNorm,
  softmax: setUpSoftmax,
  bitonic: setUpBitonic,
  matvec: setUpMatvec,
  spmv: setUpSpmv,
  nearest: setUpNearest,
};
