/**
 * Kernels of the NVIDIA benchmark on pictures and grids: a convolution, a blur, a resize, heat in space, a Julia set.
 */
import { c64, cuda, f32, type In, i32, type Mat, type Vec } from 'tsamba';
import { type Contestant, hashed, matrix, type Scale } from './contestant.ts';

/** A 3 × 3 kernel; beyond the borders lie the nearest pixels. */
const convolution = cuda.jit((from: In<Mat<f32>>, weights: In<Vec<f32>>, to: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [rows, columns] = from.shape;
  if (x >= columns || y >= rows) return;
  let sum = f32(0);
  for (let dy = -1; dy <= 1; dy++) {
    const row = Math.min(Math.max(y + dy, 0), rows - 1);
    for (let dx = -1; dx <= 1; dx++) {
      const column = Math.min(Math.max(x + dx, 0), columns - 1);
      sum += weights[3 * (dy + 1) + dx + 1] * from[row][column];
    }
  }
  to[y][x] = sum;
});

function setUpConvolution(scale: Scale): Contestant {
  const n = 8192 / scale;
  const [a, b] = [matrix(n, n, 1), cuda.deviceArray([n, n], f32)];
  const weights = cuda.toDevice(hashed(9, 5));
  return {
    launch: () => convolution.launch({ threads: [n, n], block: [32, 8] }, a, weights, b),
    outputs: [b],
    arrays: [a, weights, b],
  };
}

const SIDE = 16;
const RADIUS = 4;
const WIDE = SIDE + 2 * RADIUS;

/** Rows, then columns, of a tile with its surroundings in shared memory. */
const gaussian = cuda.jit((from: In<Mat<f32>>, weights: In<Vec<f32>>, to: Mat<f32>) => {
  const tile = cuda.shared.array([WIDE, WIDE], f32);
  const smooth = cuda.shared.array([WIDE, SIDE], f32);
  const { x: tx, y: ty } = cuda.threadIdx;
  const left = cuda.blockIdx.x * SIDE - RADIUS;
  const top = cuda.blockIdx.y * SIDE - RADIUS;
  const [rows, columns] = from.shape;
  for (let y = ty; y < WIDE; y += SIDE) {
    const row = Math.min(Math.max(top + y, 0), rows - 1);
    for (let x = tx; x < WIDE; x += SIDE) tile[y][x] = from[row][Math.min(Math.max(left + x, 0), columns - 1)];
  }
  cuda.syncThreads();
  for (let y = ty; y < WIDE; y += SIDE) {
    let sum = f32(0);
    for (let k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * tile[y][tx + k];
    smooth[y][tx] = sum;
  }
  cuda.syncThreads();
  let sum = f32(0);
  for (let k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * smooth[ty + k][tx];
  to[top + RADIUS + ty][left + RADIUS + tx] = sum;
});

function setUpGaussian(scale: Scale): Contestant {
  const n = 8192 / scale;
  const [a, b] = [matrix(n, n, 1), cuda.deviceArray([n, n], f32)];
  const weights = cuda.toDevice(hashed(2 * RADIUS + 1, 5));
  const grid = [n / SIDE, n / SIDE] as const;
  return {
    launch: () => gaussian.launch({ grid, block: [SIDE, SIDE] }, a, weights, b),
    outputs: [b],
    arrays: [a, weights, b],
  };
}

/** Bilinear, pixels' centres at halves. */
const resize = cuda.jit((from: In<Mat<f32>>, to: Mat<f32>, ratio: number) => {
  const [x, y] = cuda.grid(2);
  if (x >= to.shape[1] || y >= to.shape[0]) return;
  const [rows, columns] = from.shape;
  const u = Math.max((x + f32(0.5)) * ratio - 0.5, 0);
  const v = Math.max((y + f32(0.5)) * ratio - 0.5, 0);
  const x0 = Math.floor(u);
  const y0 = Math.floor(v);
  const x1 = Math.min(x0 + 1, columns - 1);
  const y1 = Math.min(y0 + 1, rows - 1);
  const a = u - x0;
  const b = v - y0;
  const upper = from[y0][x0] + a * (from[y0][x1] - from[y0][x0]);
  const lower = from[y1][x0] + a * (from[y1][x1] - from[y1][x0]);
  to[y][x] = upper + b * (lower - upper);
});

function setUpResize(scale: Scale): Contestant {
  const [n, m] = [6144 / scale, 8192 / scale];
  const [a, b] = [matrix(n, n, 1), cuda.deviceArray([m, m], f32)];
  const ratio = cuda.scalar(f32, n / m);
  return {
    launch: () => resize.launch({ threads: [m, m], block: [32, 8] }, a, b, ratio),
    outputs: [b],
    arrays: [a, b],
  };
}

/** A step of heat in a cube of n³ cells by the seven-point stencil. */
const heat = cuda.jit((from: In<Vec<f32>>, to: Vec<f32>, n: i32) => {
  const [x, y, z] = cuda.grid(3);
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const i = (z * n + y) * n + x;
  const here = from[i];
  const around = from[i - 1] + from[i + 1] + from[i - n] + from[i + n] + from[i - n * n] + from[i + n * n];
  to[i] = here + 0.1 * (around - 6 * here);
});

function setUpHeat(scale: Scale): Contestant {
  const n = Math.max(16, 512 / scale);
  const [a, b] = [cuda.toDevice(hashed(n ** 3, 1)), cuda.toDevice(hashed(n ** 3, 2))];
  return {
    launch: () => heat.launch({ threads: [n, n, n], block: [32, 4, 2] }, a, b, n),
    outputs: [b],
    arrays: [a, b],
  };
}

const ROUNDS = 300;
const julia = cuda.jit((counts: Mat<i32>, c: c64, step: number) => {
  const [x, y] = cuda.grid(2);
  if (x >= counts.shape[1] || y >= counts.shape[0]) return;
  let z = c64(-1.5 + x * step, -1.5 + y * step);
  let n = 0;
  while (n < ROUNDS && z.re * z.re + z.im * z.im <= 4) {
    z = z * z + c;
    n++;
  }
  counts[y][x] = n;
});

function setUpJulia(scale: Scale): Contestant {
  const n = 4096 / scale;
  const counts = cuda.deviceArray([n, n], i32);
  const [c, step] = [cuda.scalar(c64, c64(-0.8, 0.156)), cuda.scalar(f32, f32(3 / n))];
  return {
    launch: () => julia.launch({ threads: [n, n], block: [16, 16] }, counts, c, step),
    outputs: [counts],
    arrays: [counts],
  };
}

export const IMAGES: Readonly<Record<string, (scale: Scale) => Contestant>> = {
  convolution: setUpConvolution,
  gaussian: setUpGaussian,
  resize: setUpResize,
  heat: setUpHeat,
  julia: setUpJulia,
};
