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
});

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

// Each block has a colour of its own: 10 x 8 blocks of 64 x 50 threads' worth of pixels.
const blocks = cuda.jit((image) => {
  const [x, y] = cuda.grid(2);
  if (x >= image.shape[1] || y >= image.shape[0]) return;
  const inside = cuda.threadIdx.x > 0 && cuda.threadIdx.y > 0;
  image[y][x][0] = inside ? 40 + 20 * cuda.blockIdx.x : 20;
  image[y][x][1] = inside ? 90 + 12 * cuda.blockIdx.y : 20;
  image[y][x][2] = inside ? 230 - 12 * cuda.blockIdx.x : 20;
  image[y][x][3] = 255;
});

const image = cuda.deviceArray([400, 640, 4], 'uint8');
await blocks.launchAsync({ grid: [20, 25], block: [32, 16] }, image);
await cuda.present(image, canvas);
print('20 × 25 blocks of 32 × 16 threads');
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

export const SAMPLES: readonly Sample[] = [
  { name: 'Mandelbrot set', code: MANDELBROT },
  { name: 'Game of Life', code: LIFE },
  { name: 'Grid and blocks', code: BLOCKS },
  { name: 'Sum in shared memory', code: SUM },
];
