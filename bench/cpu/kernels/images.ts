/**
 * Pictures and sound: filters, and arithmetic on elements of 8 and 16 bits.
 */
import { cuda, type f32, type In, type i16, type Mat, type u8, type Vec } from 'tsamba';
import { type Case, random, randomBytes, shaped } from '../case.ts';

const sobel: Case = {
  name: 'sobel',
  size: '2048² u8',
  setUp() {
    const n = 2048;
    const [from, to] = [randomBytes(n * n), new Uint8Array(n * n)];
    const args = [shaped(from, n, n), shaped(to, n, n)];
    return {
      launches: [{ kernel: sobelKernel, threads: [n, n], block: [32, 8], args }],
      plain: () => sobelPlain(from, to, n),
      c: ['sobel', n, from, to],
      results: [to],
    };
  },
};

const sobelKernel = (from: In<Mat<u8>>, to: Mat<u8>) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = from.shape;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const [a, b, c] = [from[y - 1][x - 1], from[y - 1][x], from[y - 1][x + 1]];
  const [d, e] = [from[y][x - 1], from[y][x + 1]];
  const [f, g, i] = [from[y + 1][x - 1], from[y + 1][x], from[y + 1][x + 1]];
  const gx = c + 2 * e + i - a - 2 * d - f;
  const gy = f + 2 * g + i - a - 2 * b - c;
  to[y][x] = Math.min(255, Math.abs(gx) + Math.abs(gy));
};

function sobelPlain(from: Uint8Array, to: Uint8Array, n: number): void {
  for (let y = 1; y < n - 1; y++)
    for (let x = 1; x < n - 1; x++) {
      const at = y * n + x;
      const [up, down] = [at - n, at + n];
      const gx = from[up + 1] + 2 * from[at + 1] + from[down + 1] - from[up - 1] - 2 * from[at - 1] - from[down - 1];
      const gy = from[down - 1] + 2 * from[down] + from[down + 1] - from[up - 1] - 2 * from[up] - from[up + 1];
      to[at] = Math.min(255, Math.abs(gx) + Math.abs(gy));
    }
}

/** Beyond the edge the picture goes on as at its edge. */
const convolution: Case = {
  name: 'convolution-7x7',
  size: '512² f32',
  setUp() {
    const n = 512;
    const [from, weights, to] = [random(n * n), random(49, 2), new Float32Array(n * n)];
    const args = [shaped(from, n, n), shaped(weights, 7, 7), shaped(to, n, n)];
    return {
      launches: [{ kernel: convolutionKernel, threads: [n, n], block: [32, 8], args }],
      plain: () => convolutionPlain(from, weights, to, n),
      c: ['convolution', n, from, weights, to],
      results: [to],
      tolerance: 1e-5,
    };
  },
};

const convolutionKernel = (from: In<Mat<f32>>, weights: In<Mat<f32>>, to: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = from.shape;
  if (x >= w || y >= h) return;
  let sum = 0;
  for (let j = 0; j < 7; j++)
    for (let i = 0; i < 7; i++) {
      const row = Math.min(Math.max(y + j - 3, 0), h - 1);
      const column = Math.min(Math.max(x + i - 3, 0), w - 1);
      sum += weights[j][i] * from[row][column];
    }
  to[y][x] = sum;
};

function convolutionPlain(from: Float32Array, weights: Float32Array, to: Float32Array, n: number): void {
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      let sum = 0;
      for (let j = 0; j < 7; j++)
        for (let i = 0; i < 7; i++) {
          const row = Math.min(Math.max(y + j - 3, 0), n - 1);
          const column = Math.min(Math.max(x + i - 3, 0), n - 1);
          sum += weights[j * 7 + i] * from[row * n + column];
        }
      to[y * n + x] = sum;
    }
}

const RADIUS = 4;
const GAUSSIAN = Float32Array.from({ length: 2 * RADIUS + 1 }, (_, k) => Math.exp(-((k - RADIUS) ** 2) / 8) / 4.98);

/** Along the rows, then along the columns. */
const gaussian: Case = {
  name: 'gaussian-separable',
  size: '1024² f32',
  setUp() {
    const n = 1024;
    const [from, between, to] = [random(n * n), new Float32Array(n * n), new Float32Array(n * n)];
    const [dFrom, dBetween, dTo] = [from, between, to].map((a) => shaped(a, n, n));
    const shape = { threads: [n, n], block: [32, 8] };
    return {
      launches: [
        { kernel: gaussianRowsKernel, ...shape, args: [dFrom, dBetween] },
        { kernel: gaussianColumnsKernel, ...shape, args: [dBetween, dTo] },
      ],
      plain: () => gaussianPlain(from, between, to, n),
      c: ['gaussian', n, GAUSSIAN, from, between, to],
      results: [to],
      tolerance: 1e-5,
    };
  },
};

const gaussianRowsKernel = (from: In<Mat<f32>>, to: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = from.shape;
  if (x >= w || y >= h) return;
  let sum = 0;
  for (let k = -RADIUS; k <= RADIUS; k++) {
    sum += GAUSSIAN[k + RADIUS] * from[y][Math.min(Math.max(x + k, 0), w - 1)];
  }
  to[y][x] = sum;
};

const gaussianColumnsKernel = (from: In<Mat<f32>>, to: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = from.shape;
  if (x >= w || y >= h) return;
  let sum = 0;
  for (let k = -RADIUS; k <= RADIUS; k++) {
    sum += GAUSSIAN[k + RADIUS] * from[Math.min(Math.max(y + k, 0), h - 1)][x];
  }
  to[y][x] = sum;
};

function gaussianPlain(from: Float32Array, between: Float32Array, to: Float32Array, n: number): void {
  const clamp = (v: number): number => Math.min(Math.max(v, 0), n - 1);
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      let sum = 0;
      for (let k = -RADIUS; k <= RADIUS; k++) sum += GAUSSIAN[k + RADIUS] * from[y * n + clamp(x + k)];
      between[y * n + x] = sum;
    }
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      let sum = 0;
      for (let k = -RADIUS; k <= RADIUS; k++) sum += GAUSSIAN[k + RADIUS] * between[clamp(y + k) * n + x];
      to[y * n + x] = sum;
    }
}

const grayscale: Case = {
  name: 'grayscale',
  size: '2M pixels u8',
  setUp() {
    const n = 2 ** 21;
    const [pixels, gray] = [randomBytes(4 * n), new Uint8Array(n)];
    return {
      launches: [{ kernel: grayscaleKernel, threads: n, block: 256, args: [pixels, gray] }],
      plain: () => grayscalePlain(pixels, gray),
      c: ['grayscale', n, pixels, gray],
      results: [gray],
    };
  },
};

const grayscaleKernel = (pixels: In<Vec<u8>>, gray: Vec<u8>) => {
  const i = cuda.grid(1);
  if (i < gray.length) gray[i] = (77 * pixels[4 * i] + 150 * pixels[4 * i + 1] + 29 * pixels[4 * i + 2]) >> 8;
};

function grayscalePlain(pixels: Uint8Array, gray: Uint8Array): void {
  for (let i = 0; i < gray.length; i++) {
    gray[i] = (77 * pixels[4 * i] + 150 * pixels[4 * i + 1] + 29 * pixels[4 * i + 2]) >> 8;
  }
}

const blend: Case = {
  name: 'alpha-blend',
  size: '1M pixels u8',
  setUp() {
    const n = 2 ** 20;
    const [over, under, out] = [randomBytes(4 * n), randomBytes(4 * n, 2), new Uint8Array(4 * n)];
    return {
      launches: [{ kernel: blendKernel, threads: n, block: 256, args: [over, under, out] }],
      plain: () => blendPlain(over, under, out),
      c: ['blend', n, over, under, out],
      results: [out],
    };
  },
};

const blendKernel = (over: In<Vec<u8>>, under: In<Vec<u8>>, out: Vec<u8>) => {
  const i = 4 * cuda.grid(1);
  if (i >= out.length) return;
  const alpha = over[i + 3];
  for (let c = 0; c < 3; c++) out[i + c] = Math.floor((over[i + c] * alpha + under[i + c] * (255 - alpha)) / 255);
  out[i + 3] = 255;
};

function blendPlain(over: Uint8Array, under: Uint8Array, out: Uint8Array): void {
  for (let i = 0; i < out.length; i += 4) {
    const alpha = over[i + 3];
    for (let c = 0; c < 3; c++) out[i + c] = (over[i + c] * alpha + under[i + c] * (255 - alpha)) / 255;
    out[i + 3] = 255;
  }
}

/** Gains are in 256ths; what is too loud is clipped. */
const mix: Case = {
  name: 'audio-mix',
  size: '4M i16',
  setUp() {
    const n = 2 ** 22;
    const track = (seed: number): Int16Array => Int16Array.from(random(n, seed), (v) => v * 65536 - 32768);
    const [a, b, out] = [track(1), track(2), new Int16Array(n)];
    return {
      launches: [{ kernel: mixKernel, threads: n, block: 256, args: [a, b, out, 200, 120] }],
      plain: () => mixPlain(a, b, out, 200, 120),
      c: ['mix', n, a, b, out, 200, 120],
      results: [out],
    };
  },
};

const mixKernel = (a: In<Vec<i16>>, b: In<Vec<i16>>, out: Vec<i16>, gainA: number, gainB: number) => {
  const i = cuda.grid(1);
  if (i >= out.length) return;
  const sum = (a[i] * gainA + b[i] * gainB) >> 8;
  out[i] = Math.max(-32768, Math.min(32767, sum));
};

function mixPlain(a: Int16Array, b: Int16Array, out: Int16Array, gainA: number, gainB: number): void {
  for (let i = 0; i < out.length; i++) {
    const sum = (a[i] * gainA + b[i] * gainB) >> 8;
    out[i] = Math.max(-32768, Math.min(32767, sum));
  }
}

export const images: readonly Case[] = [sobel, convolution, gaussian, grayscale, blend, mix];
