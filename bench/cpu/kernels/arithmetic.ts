/**
 * Much arithmetic for each element: gravity, the Mandelbrot set, prices of options, spheres in the light.
 */
import { cuda, f32, type In, type i32, type Mat, type Vec } from 'tsamba';
import { type Case, random, shaped } from '../case.ts';

const nbody: Case = {
  name: 'n-body',
  size: '1024 bodies f32',
  setUp() {
    const n = 1024;
    const [x, y, z, m] = [1, 2, 3, 4].map((seed) => random(n, seed));
    const [ax, ay, az] = [new Float32Array(n), new Float32Array(n), new Float32Array(n)];
    return {
      launches: [{ kernel: nbodyKernel, threads: n, block: 256, args: [x, y, z, m, ax, ay, az] }],
      plain: () => nbodyPlain(x, y, z, m, ax, ay, az),
      c: ['nbody', n, x, y, z, m, ax, ay, az],
      results: [ax, ay, az],
      tolerance: 1e-3,
    };
  },
};

const SOFTENING = 1e-3;

const nbodyKernel = (
  x: In<Vec<f32>>,
  y: In<Vec<f32>>,
  z: In<Vec<f32>>,
  m: In<Vec<f32>>,
  ax: Vec<f32>,
  ay: Vec<f32>,
  az: Vec<f32>,
) => {
  const i = cuda.grid(1);
  if (i >= x.length) return;
  let fx = 0;
  let fy = 0;
  let fz = 0;
  for (let k = 0; k < x.length; k++) {
    const dx = x[k] - x[i];
    const dy = y[k] - y[i];
    const dz = z[k] - z[i];
    const r = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
    const pull = m[k] * r * r * r;
    fx += pull * dx;
    fy += pull * dy;
    fz += pull * dz;
  }
  ax[i] = fx;
  ay[i] = fy;
  az[i] = fz;
};

function nbodyPlain(
  x: Float32Array,
  y: Float32Array,
  z: Float32Array,
  m: Float32Array,
  ax: Float32Array,
  ay: Float32Array,
  az: Float32Array,
): void {
  for (let i = 0; i < x.length; i++) {
    let [fx, fy, fz] = [0, 0, 0];
    for (let k = 0; k < x.length; k++) {
      const dx = x[k] - x[i];
      const dy = y[k] - y[i];
      const dz = z[k] - z[i];
      const r = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
      const pull = m[k] * r * r * r;
      fx += pull * dx;
      fy += pull * dy;
      fz += pull * dz;
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
  }
}

const LIMIT = 256;

const mandelbrot: Case = {
  name: 'mandelbrot',
  size: '512² f32',
  setUp() {
    const n = 512;
    const counts = new Int32Array(n * n);
    const step = 2.5 / n;
    return {
      launches: [
        { kernel: mandelbrotKernel, threads: [n, n], block: [32, 8], args: [shaped(counts, n, n), -2, -1.25, step] },
      ],
      plain: () => mandelbrotPlain(counts, n, -2, -1.25, step),
      c: ['mandelbrot', n, counts, -2, -1.25, step],
      results: [counts],
      // f32 and f64 count differently at the boundary.
      outliers: 0.005,
    };
  },
};

const mandelbrotKernel = (counts: Mat<i32>, left: number, top: number, step: number) => {
  const [x, y] = cuda.grid(2);
  if (x >= counts.shape[1] || y >= counts.shape[0]) return;
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
  counts[y][x] = n;
};

function mandelbrotPlain(counts: Int32Array, n: number, left: number, top: number, step: number): void {
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      const cr = left + x * step;
      const ci = top + y * step;
      let re = 0;
      let im = 0;
      let k = 0;
      while (k < LIMIT && re * re + im * im <= 4) {
        const next = re * re - im * im + cr;
        im = 2 * re * im + ci;
        re = next;
        k++;
      }
      counts[y * n + x] = k;
    }
}

/** A polynomial approximation of the normal distribution's cumulative function; the kernel and the loop both call it. */
function cumulative(d: number): number {
  const k = 1 / (1 + 0.2316419 * Math.abs(d));
  const w =
    0.39894228 *
    Math.exp(-0.5 * d * d) *
    (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return d > 0 ? 1 - w : w;
}

const blackScholes: Case = {
  name: 'black-scholes',
  size: '256K f32',
  setUp() {
    const n = 2 ** 18;
    const price = random(n).map((v) => 5 + 25 * v);
    const strike = random(n, 2).map((v) => 1 + 99 * v);
    const years = random(n, 3).map((v) => 0.25 + 9.75 * v);
    const [call, put] = [new Float32Array(n), new Float32Array(n)];
    const arrays = [price, strike, years, call, put] as const;
    return {
      launches: [{ kernel: blackScholesKernel, threads: n, block: 256, args: [...arrays, 0.02, 0.3] }],
      plain: () => blackScholesPlain(...arrays, 0.02, 0.3),
      c: ['black_scholes', n, ...arrays, 0.02, 0.3],
      results: [call, put],
      tolerance: 2e-4,
    };
  },
};

const blackScholesKernel = (
  price: In<Vec<f32>>,
  strike: In<Vec<f32>>,
  years: In<Vec<f32>>,
  call: Vec<f32>,
  put: Vec<f32>,
  rate: number,
  volatility: number,
) => {
  const i = cuda.grid(1);
  if (i >= price.length) return;
  const root = Math.sqrt(years[i]);
  const d1 = (Math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / (volatility * root);
  const n1 = cumulative(d1);
  const n2 = cumulative(d1 - volatility * root);
  const discounted = strike[i] * Math.exp(-rate * years[i]);
  call[i] = price[i] * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - price[i] * (1 - n1);
};

function blackScholesPlain(
  price: Float32Array,
  strike: Float32Array,
  years: Float32Array,
  call: Float32Array,
  put: Float32Array,
  rate: number,
  volatility: number,
): void {
  for (let i = 0; i < price.length; i++) {
    const root = Math.sqrt(years[i]);
    const d1 =
      (Math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / (volatility * root);
    const n1 = cumulative(d1);
    const n2 = cumulative(d1 - volatility * root);
    const discounted = strike[i] * Math.exp(-rate * years[i]);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - price[i] * (1 - n1);
  }
}

/** A picture of spheres, the nearest at each point, lit from one side. */
const spheres: Case = {
  name: 'spheres',
  size: '512², 8 spheres f32',
  setUp() {
    const [n, count] = [512, 8];
    const scene = Float32Array.from(random(4 * count), (v, k) => (k % 4 === 3 ? 0.1 + 0.2 * v : 2 * v - 1));
    const picture = new Float32Array(n * n);
    return {
      launches: [
        {
          kernel: spheresKernel,
          threads: [n, n],
          block: [32, 8],
          args: [shaped(scene, count, 4), shaped(picture, n, n)],
        },
      ],
      plain: () => spheresPlain(scene, count, picture, n),
      c: ['spheres', count, scene, n, picture],
      results: [picture],
      tolerance: 1e-3,
      // f32 and f64 differ about what is hit at the edges.
      outliers: 1e-3,
    };
  },
};

/** Rays run along z from -3. */
const spheresKernel = (scene: In<Mat<f32>>, picture: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [h, w] = picture.shape;
  if (x >= w || y >= h) return;
  const px = (2 * x) / w - 1;
  const py = (2 * y) / h - 1;
  let nearest = f32(1e9);
  let light = f32(0);
  for (let k = 0; k < scene.shape[0]; k++) {
    const dx = px - scene[k][0];
    const dy = py - scene[k][1];
    const radius = scene[k][3];
    const square = radius * radius - dx * dx - dy * dy;
    if (square <= 0) continue;
    const depth = Math.sqrt(square);
    const distance = scene[k][2] + 3 - depth;
    if (distance < nearest) {
      nearest = distance;
      light = Math.max(0, (0.6 * dx + 0.5 * dy + 0.62 * depth) / radius);
    }
  }
  picture[y][x] = light;
};

function spheresPlain(scene: Float32Array, count: number, picture: Float32Array, n: number): void {
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      const px = (2 * x) / n - 1;
      const py = (2 * y) / n - 1;
      let nearest = 1e9;
      let light = 0;
      for (let k = 0; k < count; k++) {
        const dx = px - scene[4 * k];
        const dy = py - scene[4 * k + 1];
        const radius = scene[4 * k + 3];
        const square = radius * radius - dx * dx - dy * dy;
        if (square <= 0) continue;
        const depth = Math.sqrt(square);
        const distance = scene[4 * k + 2] + 3 - depth;
        if (distance < nearest) {
          nearest = distance;
          light = Math.max(0, (0.6 * dx + 0.5 * dy + 0.62 * depth) / radius);
        }
      }
      picture[y * n + x] = light;
    }
}

export const arithmetic: readonly Case[] = [nbody, mandelbrot, blackScholes, spheres];
