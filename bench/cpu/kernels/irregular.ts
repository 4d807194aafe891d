/**
 * Data whose way through memory is known only at run time: a sparse matrix, searches, the nearest of several centres.
 */
import { cuda, type f32, type In, type i32, type Mat, type Vec } from 'tsamba';
import { type Case, random, shaped } from '../case.ts';

/** Compressed sparse rows, 16 elements in each on average. */
const spmv: Case = {
  name: 'spmv-csr',
  size: '64K rows, 1M elements f32',
  setUp() {
    const rows = 2 ** 16;
    const starts = new Int32Array(rows + 1);
    random(rows).forEach((v, k) => {
      starts[k + 1] = starts[k] + Math.floor(v * 32);
    });
    const count = starts[rows];
    const columns = Int32Array.from(random(count, 2), (v) => v * rows);
    const [values, x, y] = [random(count, 3), random(rows, 4), new Float32Array(rows)];
    const arrays = [starts, columns, values, x, y] as const;
    return {
      launches: [{ kernel: spmvKernel, threads: rows, block: 256, args: arrays }],
      plain: () => spmvPlain(...arrays),
      c: ['spmv', rows, ...arrays],
      results: [y],
      tolerance: 1e-5,
    };
  },
};

const spmvKernel = (
  starts: In<Vec<i32>>,
  columns: In<Vec<i32>>,
  values: In<Vec<f32>>,
  x: In<Vec<f32>>,
  y: Vec<f32>,
) => {
  const row = cuda.grid(1);
  if (row >= y.length) return;
  let sum = 0;
  for (let k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
  y[row] = sum;
};

function spmvPlain(
  starts: Int32Array,
  columns: Int32Array,
  values: Float32Array,
  x: Float32Array,
  y: Float32Array,
): void {
  for (let row = 0; row < y.length; row++) {
    let sum = 0;
    for (let k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

/** The first element of a sorted table that is not less than a value. */
const search: Case = {
  name: 'binary-search',
  size: '256K in 64K f32',
  setUp() {
    const [table, values] = [random(2 ** 16).sort(), random(2 ** 18, 2)];
    const places = new Int32Array(values.length);
    return {
      launches: [{ kernel: searchKernel, threads: values.length, block: 256, args: [table, values, places] }],
      plain: () => searchPlain(table, values, places),
      c: ['search', table.length, table, values.length, values, places],
      results: [places],
    };
  },
};

const searchKernel = (table: In<Vec<f32>>, values: In<Vec<f32>>, places: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i >= values.length) return;
  const value = values[i];
  let low = 0;
  let high = table.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (table[middle] < value) low = middle + 1;
    else high = middle;
  }
  places[i] = low;
};

function searchPlain(table: Float32Array, values: Float32Array, places: Int32Array): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    let low = 0;
    let high = table.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table[middle] < value) low = middle + 1;
      else high = middle;
    }
    places[i] = low;
  }
}

/** Which of 16 centres in the plane is nearest. */
const kmeans: Case = {
  name: 'k-means',
  size: '256K points, 16 centres f32',
  setUp() {
    const [n, k] = [2 ** 18, 16];
    const [x, y, centres, nearest] = [random(n), random(n, 2), random(2 * k, 3), new Int32Array(n)];
    return {
      launches: [{ kernel: kmeansKernel, threads: n, block: 256, args: [x, y, shaped(centres, k, 2), nearest] }],
      plain: () => kmeansPlain(x, y, centres, nearest),
      c: ['kmeans', n, x, y, k, centres, nearest],
      results: [nearest],
      outliers: 1e-4,
    };
  },
};

const kmeansKernel = (x: In<Vec<f32>>, y: In<Vec<f32>>, centres: In<Mat<f32>>, nearest: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i >= x.length) return;
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let k = 0; k < centres.shape[0]; k++) {
    const dx = x[i] - centres[k][0];
    const dy = y[i] - centres[k][1];
    const distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      best = k;
    }
  }
  nearest[i] = best;
};

function kmeansPlain(x: Float32Array, y: Float32Array, centres: Float32Array, nearest: Int32Array): void {
  for (let i = 0; i < x.length; i++) {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0; k < centres.length / 2; k++) {
      const dx = x[i] - centres[2 * k];
      const dy = y[i] - centres[2 * k + 1];
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = k;
      }
    }
    nearest[i] = best;
  }
}

export const irregular: readonly Case[] = [spmv, search, kmeans];
