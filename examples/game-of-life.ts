/**
 * Conway's Game of Life on a torus: two device arrays take turns, and nothing is copied until the end.
 *
 *     npx tsx examples/game-of-life.ts [size] [generations] [picture.png]
 */
import { cuda, type In, type Mat, ndarray, type u8 } from '../src/index.ts';
import { writePng } from './tour/png.ts';

const [size = 256, generations = 500] = process.argv.slice(2, 4).map(Number);
const path = process.argv[4] ?? 'life.png';

const step = cuda.jit((now: In<Mat<u8>>, next: Mat<u8>) => {
  const [x, y] = cuda.grid(2);
  const [height, width] = now.shape;
  if (x >= width || y >= height) return;
  const [left, right] = [x === 0 ? width - 1 : x - 1, x === width - 1 ? 0 : x + 1];
  const above = now[y === 0 ? height - 1 : y - 1]; // rows are views
  const here = now[y];
  const below = now[y === height - 1 ? 0 : y + 1];
  const neighbours =
    above[left] + above[x] + above[right] + here[left] + here[right] + below[left] + below[x] + below[right];
  next[y][x] = neighbours === 3 || (neighbours === 2 && here[x] === 1) ? 1 : 0;
});

// A soup of cells from a small random generator, the same in every run.
let seed = 42;
const soup = Uint8Array.from({ length: size * size }, () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed > 0xa0000000 ? 1 : 0;
});

let now = cuda.toDevice(ndarray(soup, { shape: [size, size] }));
let next = cuda.deviceArrayLike(now);
const started = performance.now();
for (let k = 0; k < generations; k++) {
  step.launch({ threads: [size, size] }, now, next);
  [now, next] = [next, now];
}
const cells = now.copyToHost().data;
const milliseconds = performance.now() - started;

const alive = cells.reduce((sum, cell) => sum + cell, 0);
console.log(
  `${alive} of ${size * size} cells are alive after ${generations} generations, ${milliseconds.toFixed(0)} ms`,
);
writePng(path, { width: size, height: size, channels: 1, data: cells.map((cell) => 255 * cell) });
console.log(`wrote ${path}`);
