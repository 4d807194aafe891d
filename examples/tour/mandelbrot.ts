/**
 * The Mandelbrot set: one thread a pixel, a loop that each thread leaves when its point escapes.
 */
import { type Cube, cuda, f32, i32, type Mat, u8 } from '../../src/index.ts';
import type { Report } from './report.ts';

const WIDTH = 1200;
const HEIGHT = 800;
const LIMIT = 256;

const mandelbrot = cuda.jit((count: Mat<i32>, left: number, top: number, step: number) => {
  const [x, y] = cuda.grid(2);
  if (x >= count.shape[1] || y >= count.shape[0]) return;
  const cr = left + x * step;
  const ci = top + y * step;
  let re = f32(0);
  let im = f32(0);
  let n = 0;
  while (n < LIMIT && re * re + im * im <= 4) {
    const next = re * re - im * im + cr;
    im = 2 * re * im + ci;
    re = next;
    n++;
  }
  count[y][x] = n;
});

/** Colours by a cosine palette; points of the set are black. */
const paint = cuda.jit((count: Mat<i32>, image: Cube<u8>) => {
  const [x, y] = cuda.grid(2);
  if (x >= count.shape[1] || y >= count.shape[0]) return;
  const n = count[y][x];
  const t = Math.sqrt(f32(n) / LIMIT);
  for (let c = 0; c < 3; c++) {
    const wave = 0.5 - 0.5 * Math.cos(6.2831853 * (t * (1 + 0.5 * c) + 0.12 * c));
    image[y][x][c] = n === LIMIT ? 0 : Math.floor(255 * wave);
  }
});

/** Counts on the device and in plain JavaScript, compares, and writes mandelbrot.png. */
export function drawMandelbrot(report: Report): void {
  const count = cuda.deviceArray([HEIGHT, WIDTH], i32);
  const image = cuda.deviceArray([HEIGHT, WIDTH, 3], u8);
  const [left, top, step] = [-2.2, -1.2, 3 / 1000];
  const run = () => {
    mandelbrot.launch({ threads: [WIDTH, HEIGHT], block: [32, 4] }, count, left, top, step);
    cuda.synchronize();
  };
  const plain = new Int32Array(WIDTH * HEIGHT);
  report.race(`Mandelbrot ${WIDTH}×${HEIGHT}`, run, () => plainMandelbrot(plain, left, top, step));
  paint.launch({ threads: [WIDTH, HEIGHT], block: [32, 4] }, count, image);
  const counts = count.copyToHost().data;
  let differ = 0;
  for (let k = 0; k < plain.length; k++) if (counts[k] !== plain[k]) differ++;
  report.say(
    `${''.padEnd(26)} ${differ} of ${plain.length} counts differ: the kernel computes in f32, JavaScript in f64`,
  );
  if (differ > plain.length * 0.01) throw new Error('too many counts differ');
  report.picture('mandelbrot.png', {
    width: WIDTH,
    height: HEIGHT,
    channels: 3,
    data: image.copyToHost().data,
  });
  count.dispose();
  image.dispose();
}

function plainMandelbrot(count: Int32Array, left: number, top: number, step: number): void {
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const cr = left + x * step;
      const ci = top + y * step;
      let re = 0;
      let im = 0;
      let n = 0;
      while (n < LIMIT && re * re + im * im <= 4) {
        const next = re * re - im * im + cr;
        im = 2 * re * im + ci;
        re = next;
        n++;
      }
      count[y * WIDTH + x] = n;
    }
  }
}
