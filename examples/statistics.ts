/**
 * Statistics of a table by universal functions and a reduction: columns are standardised on the device, and only numbers come back.
 *
 *     npx tsx examples/statistics.ts [rows]
 */
import { cuda, ndarray } from '../src/index.ts';

const rows = Number(process.argv[2] ?? 200_000);
const COLUMNS = 4;

const add = cuda.vectorize((a, b) => a + b, { identity: 0 });
const squaredDistance = cuda.vectorize((x, mean) => (x - mean) * (x - mean));
const standardise = cuda.vectorize((x, mean, variance) => (x - mean) / Math.sqrt(variance));
const scale = cuda.vectorize((sum, count) => sum / count);
const largest = cuda.reduce((a, b) => Math.max(a, b));

// Column k is spread over k + 1 units around 10 k.
let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};
const data = Float64Array.from({ length: rows * COLUMNS }, (_, i) => {
  const column = i % COLUMNS;
  return 10 * column + (column + 1) * (random() - 0.5);
});

const table = cuda.toDevice(ndarray(data, { shape: [rows, COLUMNS] }));
const mean = scale(add.reduce(table), rows);
const variance = scale(add.reduce(squaredDistance(table, mean)), rows);
const standard = standardise(table, mean, variance);

const numbers = (array: typeof mean) => Array.from(array.copyToHost() as Float64Array, (v) => v.toFixed(2)).join(' ');
console.log(`means ${numbers(mean)}, variances ${numbers(variance)}`);
console.log(`the farthest of ${rows} rows is ${largest(standard.ravel()).toFixed(2)} standard deviations out`);
