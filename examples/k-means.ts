/**
 * k-means: the photograph in eight colours. Every pixel goes to the nearest of eight centres, and every centre to the mean of its pixels, until nothing moves.
 *
 *     npx tsx examples/k-means.ts [colours] [picture.png] [result.png]
 */
import { join } from 'node:path';
import { cuda, type f32, type In, i32, type Mat, ndarray, type u8 } from '../src/index.ts';
import { reduce } from '../src/parallel/index.ts';
import { readPng, writePng } from './tour/png.ts';

const colours = Number(process.argv[2] ?? 8);
const [path = join(import.meta.dirname, 'tour', 'coffee.png'), result = 'k-means.png'] = process.argv.slice(3);
const { width, height, channels, data } = readPng(path);
const nearest = (pixel: In<Mat<u8>>, i: number, centres: In<Mat<f32>>) => {
  let [best, least] = [0, Infinity];
  for (let k = 0; k < centres.shape[0]; k++) {
    const distance = Math.hypot(pixel[i][0] - centres[k][0], pixel[i][1] - centres[k][1], pixel[i][2] - centres[k][2]);
    if (distance < least) [best, least] = [k, distance];
  }
  return best;
};
// Sums of the colours of each centre's pixels, and how many: in the block's memory first.
const collect = cuda.jit((pixels: In<Mat<u8>>, centres: In<Mat<f32>>, sums: Mat<i32>) => {
  const own = cuda.shared.array([colours, 4], i32);
  const [i, t] = [cuda.grid(1), cuda.threadIdx.x];
  if (t < 4 * colours) own[t >> 2][t & 3] = 0;
  cuda.syncThreads();
  if (i < pixels.length) {
    const k = nearest(pixels, i, centres);
    for (let c = 0; c < 4; c++) cuda.atomic.add(own, [k, c], c < 3 ? pixels[i][c] : 1);
  }
  cuda.syncThreads();
  if (t < 4 * colours) cuda.atomic.add(sums, [t >> 2, t & 3], own[t >> 2][t & 3]);
});
const move = cuda.jit((sums: In<Mat<i32>>, centres: Mat<f32>, moved: Mat<f32>) => {
  const [k, c] = cuda.grid(2);
  if (k >= centres.shape[0]) return;
  const mean = sums[k][3] > 0 ? sums[k][c] / sums[k][3] : centres[k][c];
  [moved[k][c], centres[k][c]] = [Math.abs(mean - centres[k][c]), mean];
});
const paint = cuda.jit((pixels: Mat<u8>, centres: In<Mat<f32>>) => {
  const i = cuda.grid(1);
  if (i >= pixels.length) return;
  const k = nearest(pixels, i, centres);
  for (let c = 0; c < 3; c++) pixels[i][c] = Math.round(centres[k][c]);
});

const pixels = cuda.toDevice(ndarray(data, { shape: [width * height, channels] }));
const greys = Float32Array.from({ length: 3 * colours }, (_, k) => (255 * (Math.floor(k / 3) + 0.5)) / colours);
const centres = cuda.toDevice(ndarray(greys, { shape: [colours, 3] }));
const [sums, moved] = [cuda.deviceArray([colours, 4], 'int32'), cuda.deviceArray([colours, 3], 'float32')];
let rounds = 0;
do {
  sums.set(0);
  collect.launch({ threads: pixels.shape[0], block: 256 }, pixels, centres, sums);
  move.launch({ grid: [colours, 1], block: [1, 3] }, sums, centres, moved);
} while (++rounds < 100 && reduce(moved.ravel(), 'max') > 0.05);
paint.launch({ threads: pixels.shape[0] }, pixels, centres);
writePng(result, { width, height, channels, data: pixels.ravel().copyToHost() });
console.log(`${width} x ${height} pixels in ${colours} colours after ${rounds} rounds; wrote ${result}`);
