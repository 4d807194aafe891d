/**
 * Programs of the playground. They run as they are in a page: plain JavaScript, with `canvas` and `print` at hand. Kernels take
 * what they need as arguments, because a page has no inspector that would show what a function closes over.
 */
export interface Sample {
  readonly name: string;
  readonly code: string;
}

const MANDELBROT = `import { cuda } from 'tsamba';

const [width, height] = [640, 400];

const mandelbrot = cuda.jit((image, left, top, step, limit) => {
  const [x, y] = cuda.grid(2);
  if (x >= image.shape[1] || y >= image.shape[0]) return;
  const cr = left + x * step;
  const ci = top + y * step;
  let [re, im, n] = [0, 0, 0];
  while (n < limit && re * re + im * im <= 4) {
    const next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    n++;
  }
  const t = Math.sqrt(n / limit);
  for (let c = 0; c < 3; c++) {
    const wave = 0.5 - 0.5 * Math.cos(6.2831853 * (t * (1 + 0.5 * c) + 0.12 * c));
    image[y][x][c] = n === limit ? 0 : 255 * wave;
  }
  image[y][x][3] = 255;
}, { defaultFloat: 'f32' }); // WebGPU has no f64

const image = cuda.deviceArray([height, width, 4], 'uint8');
await mandelbrot.launchAsync({ threads: [width, height] }, image, -2.2, -0.95, 0.0047, 200);
await cuda.present(image, canvas);
`;

const LIFE = `import { cuda } from 'tsamba';

const [width, height, generations] = [320, 200, 150];

// Cells of the edge see those of the other side.
const step = cuda.jit((now, next) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = now.shape;
  if (x >= w || y >= h) return;
  let alive = 0;
  for (let dy = -1; dy <= 1; dy++)
    for (let dx = -1; dx <= 1; dx++)
      if (dx !== 0 || dy !== 0) alive += now[(y + dy + h) % h][(x + dx + w) % w];
  next[y][x] = alive === 3 || (alive === 2 && now[y][x] === 1) ? 1 : 0;
});

const paint = cuda.jit((cells, image) => {
  const [x, y] = cuda.grid(2);
  if (x >= image.shape[1] || y >= image.shape[0]) return;
  for (let c = 0; c < 3; c++) image[y][x][c] = cells[y][x] === 1 ? 60 + 70 * c : 16;
  image[y][x][3] = 255;
});

const seed = Uint8Array.from({ length: width * height }, () => (Math.random() < 0.3 ? 1 : 0));
let now = cuda.toDevice(seed).reshape([height, width]);
let next = cuda.deviceArrayLike(now);
const image = cuda.deviceArray([height, width, 4], 'uint8');
for (let generation = 0; generation < generations; generation++) {
  await step.launchAsync({ threads: [width, height] }, now, next);
  [now, next] = [next, now];
  if (generation % 3 !== 0) continue;
  await paint.launchAsync({ threads: [width, height] }, now, image);
  await cuda.present(image, canvas);
}
`;

const BLOCKS = `import { cuda } from 'tsamba';

// A thread for each pixel; the colour says which block it is in.
const blocks = cuda.jit((image) => {
  const [x, y] = cuda.grid(2);
  if (x >= image.shape[1] || y >= image.shape[0]) return;
  const inside = cuda.threadIdx.x > 0 && cuda.threadIdx.y > 0;
  image[y][x][0] = inside ? 40 + 5 * cuda.blockIdx.x : 20;
  image[y][x][1] = inside ? 90 + 6 * cuda.blockIdx.y : 20;
  image[y][x][2] = inside ? 230 - 5 * cuda.blockIdx.x : 20;
  image[y][x][3] = 255;
});

const image = cuda.deviceArray([400, 640, 4], 'uint8');
await blocks.launchAsync({ grid: [40, 25], block: [16, 16] }, image);
await cuda.present(image, canvas);
print('40 × 25 blocks of 16 × 16 threads');
`;

const SUM = `import { cuda } from 'tsamba';

// A sum in shared memory: each block adds 256 numbers, in 8 steps.
const blockSums = cuda.jit((x, sums) => {
  const tile = cuda.shared.array(256, 'f32');
  const t = cuda.threadIdx.x;
  const i = cuda.grid(1);
  tile[t] = i < x.length ? x[i] : 0;
  cuda.syncThreads();
  for (let half = 128; half > 0; half >>= 1) {
    if (t < half) tile[t] += tile[t + half];
    cuda.syncThreads();
  }
  if (t === 0) sums[cuda.blockIdx.x] = tile[0];
});

const n = 1_000_000;
const x = cuda.toDevice(new Float32Array(n).fill(0.5));
const grid = Math.ceil(n / 256);
const sums = cuda.deviceArray(grid, 'f32');
await blockSums.launchAsync({ grid, block: 256 }, x, sums);
const parts = await sums.copyToHostAsync();
print('sum:', parts.reduce((a, b) => a + b, 0));
print(blockSums.inspect({ target: 'ptx' }).split('\\n').slice(0, 12).join('\\n'), '…');
`;

const JULIA = `import { cuda } from 'tsamba';

const [width, height] = [640, 400];

// z² + c again and again, for the same c everywhere.
const julia = cuda.jit((image, cr, ci) => {
  const [x, y] = cuda.grid(2);
  if (x >= image.shape[1] || y >= image.shape[0]) return;
  let re = (x - 320) * 0.005;
  let im = (y - 200) * 0.005;
  let n = 0;
  while (n < 255 && re * re + im * im < 16) {
    const next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    n++;
  }
  image[y][x][0] = n;
  image[y][x][1] = Math.min(255, 3 * n);
  image[y][x][2] = Math.min(255, 9 * n);
  image[y][x][3] = 255;
}, { defaultFloat: 'f32' }); // WebGPU has no f64

const image = cuda.deviceArray([height, width, 4], 'uint8');
for (let frame = 0; frame < 60; frame++) {
  const angle = 1.8 + frame / 100;
  await julia.launchAsync({ threads: [width, height] }, image, 0.7885 * Math.cos(angle), 0.7885 * Math.sin(angle));
  await cuda.present(image, canvas);
}
`;

const HEAT = `import { cuda } from 'tsamba';

const [width, height, steps] = [320, 200, 600];

// Each point becomes the mean of its neighbours; the sources stay hot.
const spread = cuda.jit((now, next, hot) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = now.shape;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const mean = 0.25 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
  next[y][x] = hot[y][x] === 1 ? 1 : mean;
});

const paint = cuda.jit((heat, image) => {
  const [x, y] = cuda.grid(2);
  if (x >= image.shape[1] || y >= image.shape[0]) return;
  const t = 3 * Math.sqrt(heat[y][x]);
  image[y][x][0] = 255 * Math.min(1, t);
  image[y][x][1] = 255 * Math.min(1, Math.max(0, t - 1));
  image[y][x][2] = 255 * Math.min(1, Math.max(0, t - 2));
  image[y][x][3] = 255;
});

const sources = Uint8Array.from({ length: width * height }, (_, i) => {
  const [dx, dy] = [(i % width) - 160, Math.floor(i / width) - 100];
  return Math.abs(Math.hypot(dx, dy) - 60) < 2 || (Math.abs(dx) < 2 && Math.abs(dy) < 30) ? 1 : 0;
});
const hot = cuda.toDevice(sources).reshape([height, width]);
let now = cuda.toDevice(new Float32Array(width * height)).reshape([height, width]);
let next = cuda.toDevice(new Float32Array(width * height)).reshape([height, width]);
const image = cuda.deviceArray([height, width, 4], 'uint8');
for (let step = 0; step < steps; step++) {
  await spread.launchAsync({ threads: [width, height] }, now, next, hot);
  [now, next] = [next, now];
  if (step % 20 !== 19) continue;
  await paint.launchAsync({ threads: [width, height] }, now, image);
  await cuda.present(image, canvas);
}
`;

const HISTOGRAM = `import { cuda } from 'tsamba';

// Each block counts in shared memory, and adds what it has to the total once.
const histogram = cuda.jit((values, counts) => {
  const mine = cuda.shared.array(16, 'i32');
  const t = cuda.threadIdx.x;
  if (t < 16) mine[t] = 0;
  cuda.syncThreads();
  const i = cuda.grid(1);
  if (i < values.length) cuda.atomic.add(mine, values[i] >> 4, 1);
  cuda.syncThreads();
  if (t < 16) cuda.atomic.add(counts, t, mine[t]);
});

const n = 200_000;
const dice = () => Math.floor(64 * (Math.random() + Math.random() + Math.random() + Math.random()));
const values = cuda.toDevice(Uint8Array.from({ length: n }, dice));
const counts = cuda.toDevice(new Int32Array(16));
await histogram.launchAsync({ grid: Math.ceil(n / 256), block: 256 }, values, counts);
const found = await counts.copyToHostAsync();
found.forEach((count, bin) => print(String(16 * bin).padStart(3), '#'.repeat(Math.round(count / 800)), count));
print('together', found.reduce((a, b) => a + b, 0));
`;

const SAXPY = `import { cuda } from 'tsamba';

const saxpy = cuda.jit((y, a, x) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * x[i] + y[i];
});

const x = cuda.toDevice(Float32Array.from({ length: 1000 }, (_, i) => i));
const y = cuda.toDevice(new Float32Array(1000).fill(1));
await saxpy.launchAsync({ threads: 1000 }, y, 2, x);
print((await y.copyToHostAsync()).slice(0, 8).join(' '), '…');
`;

const PI = `import { cuda } from 'tsamba';

// Points in a square by a small generator in each thread: how many are in the circle?
const inCircle = cuda.jit((hits, each) => {
  const i = cuda.grid(1);
  if (i >= hits.length) return;
  let state = (i * 747796405 + 2891336453) | 0;
  let count = 0;
  for (let k = 0; k < each; k++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    const x = Math.fround(state >>> 8) / 16777216;
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    const y = Math.fround(state >>> 8) / 16777216;
    if (x * x + y * y < 1) count++;
  }
  hits[i] = count;
});

const [threads, each] = [4096, 500];
const hits = cuda.deviceArray(threads, 'i32');
await inCircle.launchAsync({ threads }, hits, each);
const all = (await hits.copyToHostAsync()).reduce((a, b) => a + b, 0);
print('π is about', (4 * all) / (threads * each));
`;

const MATMUL = `import { cuda } from 'tsamba';

// Each block of 16 x 16 threads makes a tile of the product, and shares the tiles that it reads.
const multiply = cuda.jit((a, b, c) => {
  const left = cuda.shared.array([16, 16], 'f32');
  const right = cuda.shared.array([16, 16], 'f32');
  const [tx, ty] = [cuda.threadIdx.x, cuda.threadIdx.y];
  const [column, row] = cuda.grid(2);
  let sum = Math.fround(0);
  for (let k = 0; k < a.shape[1]; k += 16) {
    left[ty][tx] = a[row][k + tx];
    right[ty][tx] = b[k + ty][column];
    cuda.syncThreads();
    for (let j = 0; j < 16; j++) sum += left[ty][j] * right[j][tx];
    cuda.syncThreads();
  }
  c[row][column] = sum;
});

const n = 256;
const random = () => Float32Array.from({ length: n * n }, () => Math.random() - 0.5);
const [x, y] = [random(), random()];
const [a, b] = [x, y].map((matrix) => cuda.toDevice(matrix).reshape([n, n]));
const c = cuda.deviceArray([n, n], 'f32');
await multiply.launchAsync({ grid: [n / 16, n / 16], block: [16, 16] }, a, b, c);
const result = (await c.copyToHostAsync()).toArray();

let worst = 0;
for (let row = 0; row < n; row++)
  for (let column = 0; column < n; column++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += x[row * n + k] * y[k * n + column];
    worst = Math.max(worst, Math.abs(sum - result[row][column]));
  }
print(n, '×', n, 'products; the largest difference from JavaScript is', worst.toExponential(1));
`;

const PATTERNS = `import { cuda } from 'tsamba';

const [width, height, steps] = [160, 100, 2000];

// Two substances that react and spread (Gray and Scott's model). What one thread reads, its neighbours write next.
const react = cuda.jit((u, v, nextU, nextV, feed, kill) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = u.shape;
  if (x >= w || y >= h) return;
  const [up, down, left, right] = [(y + h - 1) % h, (y + 1) % h, (x + w - 1) % w, (x + 1) % w];
  const spreadU = u[up][x] + u[down][x] + u[y][left] + u[y][right] - 4 * u[y][x];
  const spreadV = v[up][x] + v[down][x] + v[y][left] + v[y][right] - 4 * v[y][x];
  const reaction = u[y][x] * v[y][x] * v[y][x];
  nextU[y][x] = u[y][x] + 0.2 * spreadU - reaction + feed * (1 - u[y][x]);
  nextV[y][x] = v[y][x] + 0.1 * spreadV + reaction - (feed + kill) * v[y][x];
});

const paint = cuda.jit((v, image) => {
  const [x, y] = cuda.grid(2);
  if (x >= image.shape[1] || y >= image.shape[0]) return;
  const t = Math.min(1, 2.5 * v[y][x]);
  image[y][x][0] = 255 * t * t;
  image[y][x][1] = 255 * Math.sqrt(t) * 0.8;
  image[y][x][2] = 60 + 195 * t;
  image[y][x][3] = 255;
});

const inSpot = (i) => Math.hypot(((i % width) % 40) - 20, (Math.floor(i / width) % 50) - 25) < 5;
const field = (value) => cuda.toDevice(Float32Array.from({ length: width * height }, (_, i) => value(i))).reshape([height, width]);
let [u, v] = [field((i) => (inSpot(i) ? 0.5 : 1)), field((i) => (inSpot(i) ? 0.25 : 0))];
let [nextU, nextV] = [field(() => 1), field(() => 0)];
const image = cuda.deviceArray([height, width, 4], 'uint8');
for (let step = 1; step <= steps; step++) {
  await react.launchAsync({ threads: [width, height] }, u, v, nextU, nextV, 0.037, 0.06);
  [u, v, nextU, nextV] = [nextU, nextV, u, v];
  if (step % 50 !== 0) continue;
  await paint.launchAsync({ threads: [width, height] }, v, image);
  await cuda.present(image, canvas);
}
`;

const PRIMITIVES = `import { cuda } from 'tsamba';
import { inclusiveScan, reduce, sort } from 'tsamba/parallel';

// What CUDA has in CUB and Thrust: whole arrays, with functions of your own.
const numbers = Int32Array.from({ length: 100_000 }, () => Math.floor(1e6 * Math.random()));
const x = cuda.toDevice(numbers);

print('largest:', await reduce.async(x, (a, b) => Math.max(a, b)));
const sums = await inclusiveScan.async(x, 'sum');
print('running sums:', (await sums.copyToHostAsync()).slice(0, 5).join(' '), '…');
await sort.async(x);
const sorted = await x.copyToHostAsync();
print('sorted:', sorted.slice(0, 8).join(' '), '…', sorted.at(-1));
print('in order:', sorted.every((value, i) => i === 0 || sorted[i - 1] <= value));
`;

export const SAMPLES: readonly Sample[] = [
  { name: 'Mandelbrot set', code: MANDELBROT },
  { name: 'Game of Life', code: LIFE },
  { name: 'Grid and blocks', code: BLOCKS },
  { name: 'Sum in shared memory', code: SUM },
  { name: 'a · x + y', code: SAXPY },
  { name: 'Julia sets', code: JULIA },
  { name: 'Heat', code: HEAT },
  { name: 'Patterns of two substances', code: PATTERNS },
  { name: 'Histogram', code: HISTOGRAM },
  { name: 'π by random points', code: PI },
  { name: 'Matrix product in tiles', code: MATMUL },
  { name: 'Sort, sums, maximum', code: PRIMITIVES },
];
