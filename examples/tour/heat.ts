/**
 * The heat equation on a plate: hot spots spread over many small steps, two device arrays taking turns, nothing copied between.
 */
import { cuda, type f32, type In, type Mat, ndarray } from '../../src/index.ts';
import type { Report } from './report.ts';

const N = 512;
const STEPS = 400;

const step = cuda.jit((from: In<Mat<f32>>, to: Mat<f32>, rate: number) => {
  const [x, y] = cuda.grid(2);
  const n = from.shape[0];
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
    const here = from[y][x];
    to[y][x] = here + rate * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1] - 4 * here);
  }
});

/** A ring, two bars and a few dots of heat. */
function start(): Float32Array {
  const plate = new Float32Array(N * N);
  for (let y = 1; y < N - 1; y++) {
    for (let x = 1; x < N - 1; x++) {
      const r = Math.hypot(x - N / 2, y - N / 2);
      if (Math.abs(r - 150) < 7 || (Math.abs(y - x) < 5 && r < 110) || (Math.abs(y + x - N) < 5 && r < 110))
        plate[y * N + x] = 1;
      if ((x % 128) - 64 > -6 && (x % 128) - 64 < 6 && (y % 128) - 64 > -6 && (y % 128) - 64 < 6)
        plate[y * N + x] = 0.8;
    }
  }
  return plate;
}

/** Black, red, yellow, white. */
function glow(heat: ArrayLike<number>): Uint8Array {
  const data = new Uint8Array(N * N * 3);
  for (let k = 0; k < N * N; k++) {
    const t = Math.sqrt(Math.max(0, Math.min(1, heat[k] * 1.6)));
    data[3 * k] = Math.min(1, t * 2.4) * 255;
    data[3 * k + 1] = Math.max(0, Math.min(1, t * 2.2 - 0.7)) * 255;
    data[3 * k + 2] = Math.max(0, Math.min(1, t * 2.6 - 1.6)) * 255;
  }
  return data;
}

/** Runs the steps on the device and in plain JavaScript, compares, and writes heat.png. */
export function spreadHeat(report: Report): void {
  const plate = start();
  const host = ndarray(plate, { shape: [N, N] });
  let from = cuda.toDevice(host);
  let to = cuda.toDevice(host);
  const run = () => {
    from.copyToDevice(host);
    to.copyToDevice(host);
    for (let k = 0; k < STEPS; k++) {
      step.launch({ threads: [N, N], block: [64, 4] }, from, to, 0.22);
      [from, to] = [to, from];
    }
    cuda.synchronize();
  };
  let plain: Float32Array = plate;
  report.race(`heat, ${STEPS} steps of ${N}×${N}`, run, () => {
    plain = plainHeat(plate);
  });
  const frame = from.copyToHost().data;
  report.compare(frame, plain, 1e-4);
  report.picture('heat.png', { width: N, height: N, channels: 3, data: glow(frame) });
  from.dispose();
  to.dispose();
}

function plainHeat(plate: Float32Array): Float32Array {
  let from = plate.slice();
  let to = plate.slice();
  for (let k = 0; k < STEPS; k++) {
    for (let y = 1; y < N - 1; y++) {
      for (let x = 1; x < N - 1; x++) {
        const at = y * N + x;
        to[at] = from[at] + 0.22 * (from[at - N] + from[at + N] + from[at - 1] + from[at + 1] - 4 * from[at]);
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
