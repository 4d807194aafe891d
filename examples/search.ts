/**
 * The nearest of a million vectors: the cosine of each with a query, and the five largest.
 *
 *     npx tsx examples/search.ts [vectors] [dimensions]
 */
import { cuda, type f32, type In, type Mat, type Vec } from '../src/index.ts';
import { topK } from '../src/parallel/index.ts';

const [count = 1_000_000, dimensions = 32] = process.argv.slice(2).map(Number);

const fill = cuda.jit((vectors: Mat<f32>, seed: number) => {
  const i = cuda.grid(1);
  if (i >= vectors.shape[0]) return;
  let squares = 0;
  for (let k = 0; k < vectors.shape[1]; k += 2) {
    const [a, b] = cuda.random.philox([seed, 0], [i, k, 0, 0]);
    const size = Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32)); // Box and Muller: two normal numbers of two uniform ones
    const [x, y] = [size * Math.cos((2 * Math.PI * b) / 2 ** 32), size * Math.sin((2 * Math.PI * b) / 2 ** 32)];
    vectors[i][k] = x;
    vectors[i][k + 1] = y;
    squares += x * x + y * y;
  }
  for (let k = 0; k < vectors.shape[1]; k++) vectors[i][k] /= Math.sqrt(squares);
});
const cosines = cuda.jit((vectors: In<Mat<f32>>, query: In<Vec<f32>>, scores: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i >= scores.length) return;
  let dot = 0;
  for (let k = 0; k < query.length; k++) dot += vectors[i][k] * query[k];
  scores[i] = dot;
});

const vectors = cuda.deviceArray([count, dimensions], 'float32');
fill.launch({ threads: count }, vectors, 2026);
// The query is one of them, a little bent.
const wanted = Math.floor(count / 3);
const bent = Float32Array.from(vectors.slice(wanted).copyToHost() as Float32Array, (v, k) => v + 0.02 * Math.sin(k));
const query = bent.map((v) => v / Math.hypot(...bent));
const scores = cuda.deviceArray(count, 'float32');
const started = performance.now();
cosines.launch({ threads: count }, vectors, cuda.toDevice(query), scores);
const found = topK(scores, 5);
const [values, indices] = [found.values.copyToHost(), found.indices.copyToHost()];
const milliseconds = performance.now() - started;
console.log(
  `${count} vectors of ${dimensions} numbers searched in ${milliseconds.toFixed(1)} ms; the one that was bent is ${wanted}`,
);
indices.forEach((i, k) => console.log(`${Number(values[k]).toFixed(4)}  vector ${i}`));
