/**
 * A photograph through a separable Gaussian blur and a Sobel edge filter, both with tiles in shared memory.
 */
import { type Cube, cuda, f32, type In, type Mat, ndarray, type u8, u8c } from '../../src/index.ts';
import type { Picture } from './png.ts';
import type { Report } from './report.ts';

const RADIUS = 12;
const WIDTH = 128;
const ROWS = 8;
const COLUMNS = 32;
const EDGE = 16;

/** Normalised weights of a Gaussian; captured by the kernels as constant memory. */
const weights = Float32Array.from({ length: 2 * RADIUS + 1 }, (_, k) =>
  Math.exp(-((k - RADIUS) ** 2) / (2 * (RADIUS / 2.5) ** 2)),
);
const total = weights.reduce((a, b) => a + b, 0);
for (let k = 0; k < weights.length; k++) weights[k] /= total;

/** Blurs along rows. One block takes WIDTH pixels of a row, and keeps them with RADIUS more on both sides in shared memory. */
const blurRows = cuda.jit((source: In<Cube<u8>>, target: Cube<f32>) => {
  const tile = cuda.shared.array([3, WIDTH + 2 * RADIUS], f32);
  const tx = cuda.threadIdx.x;
  const y = cuda.blockIdx.y;
  const left = cuda.blockIdx.x * WIDTH;
  const width = source.shape[1];
  for (let k = tx; k < WIDTH + 2 * RADIUS; k += WIDTH) {
    const x = Math.min(Math.max(left + k - RADIUS, 0), width - 1);
    for (let c = 0; c < 3; c++) tile[c][k] = source[y][x][c];
  }
  cuda.syncThreads();
  const x = left + tx;
  if (x < width) {
    for (let c = 0; c < 3; c++) {
      let sum = 0;
      for (let k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * tile[c][tx + k];
      target[y][x][c] = sum;
    }
  }
});

/** Blurs along columns: a block takes COLUMNS × ROWS pixels, one colour after another. */
const blurColumns = cuda.jit((source: In<Cube<f32>>, target: Cube<u8c>) => {
  const tile = cuda.shared.array([ROWS + 2 * RADIUS, COLUMNS], f32);
  const { x: tx, y: ty } = cuda.threadIdx;
  const [x, y] = cuda.grid(2);
  const [height, width] = source.shape;
  const top = cuda.blockIdx.y * ROWS - RADIUS;
  for (let c = 0; c < 3; c++) {
    cuda.syncThreads();
    for (let k = ty; k < ROWS + 2 * RADIUS; k += ROWS) {
      const row = Math.min(Math.max(top + k, 0), height - 1);
      tile[k][tx] = source[row][Math.min(x, width - 1)][c];
    }
    cuda.syncThreads();
    if (x < width && y < height) {
      let sum = 0;
      for (let k = 0; k <= 2 * RADIUS; k++) sum += weights[k] * tile[ty + k][tx];
      target[y][x][c] = sum;
    }
  }
});

const luminance = (r: number, g: number, b: number) => 0.299 * r + 0.587 * g + 0.114 * b;

/** The strength of edges. Each thread loads its pixel of a tile with a border of one, computes its gray value, and differentiates. */
const sobel = cuda.jit((source: In<Cube<u8>>, target: Mat<u8c>) => {
  const tile = cuda.shared.array([EDGE + 2, EDGE + 2], f32);
  const { x: tx, y: ty } = cuda.threadIdx;
  const [x, y] = cuda.grid(2);
  const [height, width] = source.shape;
  for (let v = ty; v < EDGE + 2; v += EDGE) {
    for (let u = tx; u < EDGE + 2; u += EDGE) {
      const row = Math.min(Math.max(cuda.blockIdx.y * EDGE + v - 1, 0), height - 1);
      const column = Math.min(Math.max(cuda.blockIdx.x * EDGE + u - 1, 0), width - 1);
      const pixel = source[row][column];
      tile[v][u] = luminance(pixel[0], pixel[1], pixel[2]);
    }
  }
  cuda.syncThreads();
  if (x >= width || y >= height) return;
  const gx =
    tile[ty][tx + 2] +
    2 * tile[ty + 1][tx + 2] +
    tile[ty + 2][tx + 2] -
    tile[ty][tx] -
    2 * tile[ty + 1][tx] -
    tile[ty + 2][tx];
  const gy =
    tile[ty + 2][tx] +
    2 * tile[ty + 2][tx + 1] +
    tile[ty + 2][tx + 2] -
    tile[ty][tx] -
    2 * tile[ty][tx + 1] -
    tile[ty][tx + 2];
  target[y][x] = Math.sqrt(gx * gx + gy * gy);
});

/** Blurs a picture and finds its edges on the device and in plain JavaScript, compares, and writes both. */
export function photo(report: Report, picture: Picture<Uint8Array>): void {
  const { width, height } = picture;
  const size = [height, width, 3] as const;
  const source = cuda.toDevice(ndarray(picture.data, { shape: size }));
  const between = cuda.deviceArray(size, f32);
  const blurred = cuda.deviceArray(size, u8c);
  const edges = cuda.deviceArray([height, width], u8c);

  const blur = () => {
    blurRows.launch({ grid: [Math.ceil(width / WIDTH), height], block: WIDTH }, source, between);
    blurColumns.launch({ threads: [width, height], block: [COLUMNS, ROWS] }, between, blurred);
    cuda.synchronize();
  };
  const find = () => {
    sobel.launch({ threads: [width, height], block: [EDGE, EDGE] }, source, edges);
    cuda.synchronize();
  };
  const plainBlurred = new Uint8ClampedArray(picture.data.length);
  const plainEdges = new Uint8ClampedArray(width * height);
  report.race('blur, radius 12', blur, () => plainBlur(picture, plainBlurred));
  report.compare(blurred.copyToHost().data, plainBlurred, 1);
  report.race('Sobel edges', find, () => plainSobel(picture, plainEdges));
  report.compare(edges.copyToHost().data, plainEdges, 1);
  report.picture('coffee-blurred.png', { ...picture, data: blurred.copyToHost().data });
  report.picture('coffee-edges.png', {
    width,
    height,
    channels: 1,
    data: edges.copyToHost().data,
  });
  for (const a of [source, between, blurred, edges]) a.dispose();
}

/** The same in plain JavaScript. */
function plainBlur({ width, height, data }: Picture, target: Uint8ClampedArray): void {
  const between = new Float32Array(data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let k = -RADIUS; k <= RADIUS; k++)
          sum += weights[k + RADIUS] * data[(y * width + Math.min(Math.max(x + k, 0), width - 1)) * 3 + c];
        between[(y * width + x) * 3 + c] = sum;
      }
    }
  }
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let k = -RADIUS; k <= RADIUS; k++)
          sum += weights[k + RADIUS] * between[(Math.min(Math.max(y + k, 0), height - 1) * width + x) * 3 + c];
        target[(y * width + x) * 3 + c] = sum;
      }
    }
  }
}

function plainSobel({ width, height, data }: Picture, target: Uint8ClampedArray): void {
  const gray = new Float32Array(width * height);
  for (let k = 0; k < gray.length; k++) gray[k] = luminance(data[3 * k], data[3 * k + 1], data[3 * k + 2]);
  const at = (y: number, x: number) =>
    gray[Math.min(Math.max(y, 0), height - 1) * width + Math.min(Math.max(x, 0), width - 1)];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const gx =
        at(y - 1, x + 1) + 2 * at(y, x + 1) + at(y + 1, x + 1) - at(y - 1, x - 1) - 2 * at(y, x - 1) - at(y + 1, x - 1);
      const gy =
        at(y + 1, x - 1) + 2 * at(y + 1, x) + at(y + 1, x + 1) - at(y - 1, x - 1) - 2 * at(y - 1, x) - at(y - 1, x + 1);
      target[y * width + x] = Math.sqrt(gx * gx + gy * gy);
    }
  }
}
