/**
 * A histogram with atomics: each block counts in shared memory, and adds what it has to the total once.
 *
 *     npx tsx examples/histogram.ts [elements]
 */
import { cuda, type In, i32, type u8, type Vec } from '../src/index.ts';

const n = Number(process.argv[2] ?? 1_000_000);
const BINS = 16;
const BLOCK = 256;

const histogram = cuda.jit((data: In<Vec<u8>>, total: Vec<i32>) => {
  const bins = cuda.shared.array(BINS, i32);
  const t = cuda.threadIdx.x;
  if (t < BINS) bins[t] = 0;
  cuda.syncThreads();
  for (let i = cuda.grid(1); i < data.length; i += cuda.gridSize(1)) cuda.atomic.add(bins, data[i] >> 4, 1);
  cuda.syncThreads();
  if (t < BINS) cuda.atomic.add(total, t, bins[t]);
});

// The mean of four random bytes: a bell.
let seed = 1;
const random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed >>> 24;
};
const data = Uint8Array.from({ length: n }, () => (random() + random() + random() + random()) / 4);

const total = cuda.toDevice(new Int32Array(BINS));
histogram.launch({ grid: 64, block: BLOCK }, cuda.toDevice(data), total);
const counts = total.copyToHost();

const most = Math.max(...counts);
counts.forEach((count, bin) => {
  const range = `${16 * bin}–${16 * bin + 15}`.padStart(7);
  console.log(`${range} ${'█'.repeat(Math.round((50 * count) / most))} ${count}`);
});
const sum = counts.reduce((a, b) => a + b, 0);
if (sum !== n) throw new Error(`counted ${sum} of ${n}`);
