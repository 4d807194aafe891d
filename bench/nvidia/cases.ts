/**
 * The kernels of the NVIDIA benchmark as a user would write them, with their data. `bench/peers` has the same algorithms with the
 * same launch shapes in CUDA C++ and in Numba; data and checks are made by the same formulas there.
 */
import { cuda, f32, type In, i32, type Mat, type u8, type Vec } from 'tsamba';
import { type Contestant, hashed, matrix, type Scale } from './contestant.ts';
import { IMAGES } from './images.ts';
import { INTEGERS } from './integers.ts';
import { ROWS } from './rows.ts';

export type { Contestant, Scale } from './contestant.ts';
export { hashed } from './contestant.ts';

const saxpy = cuda.jit((a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] += a * x[i];
});

function setUpSaxpy(scale: Scale): Contestant {
  const n = 2 ** 26 / scale;
  const x = cuda.toDevice(hashed(n, 1));
  const y = cuda.toDevice(hashed(n, 2));
  return {
    launch: () => saxpy.launch({ threads: n, block: 256 }, 1e-3, x, y),
    compile: () => saxpy.compileAsync(1e-3, x, y),
    outputs: [y],
    arrays: [x, y],
  };
}

const TILE = 16;
const matmul = cuda.jit((A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
  const a = cuda.shared.array([TILE, TILE], f32);
  const b = cuda.shared.array([TILE, TILE], f32);
  const [x, y] = cuda.grid(2);
  const { x: tx, y: ty } = cuda.threadIdx;
  let sum = f32(0);
  for (let start = 0; start < A.shape[1]; start += TILE) {
    a[ty][tx] = A[y][start + tx];
    b[ty][tx] = B[start + ty][x];
    cuda.syncThreads();
    for (let k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
    cuda.syncThreads();
  }
  C[y][x] = sum;
});

function setUpMatmul(scale: Scale): Contestant {
  const n = 2048 / scale;
  const [a, b, c] = [matrix(n, n, 1), matrix(n, n, 2), cuda.deviceArray([n, n], f32)];
  const grid = [n / TILE, n / TILE] as const;
  return {
    launch: () => matmul.launch({ grid, block: [TILE, TILE] }, a, b, c),
    compile: () => matmul.compileAsync(a, b, c),
    outputs: [c],
    arrays: [a, b, c],
  };
}

const transpose = cuda.jit((from: In<Mat<f32>>, to: Mat<f32>) => {
  const tile = cuda.shared.array([32, 33], f32);
  const { x: tx, y: ty } = cuda.threadIdx;
  const left = cuda.blockIdx.x * 32;
  const top = cuda.blockIdx.y * 32;
  for (let k = 0; k < 32; k += 8) tile[ty + k][tx] = from[top + ty + k][left + tx];
  cuda.syncThreads();
  for (let k = 0; k < 32; k += 8) to[left + ty + k][top + tx] = tile[tx][ty + k];
});

function setUpTranspose(scale: Scale): Contestant {
  const n = 8192 / scale;
  const [a, b] = [matrix(n, n, 1), cuda.deviceArray([n, n], f32)];
  const grid = [n / 32, n / 32] as const;
  return {
    launch: () => transpose.launch({ grid, block: [32, 8] }, a, b),
    compile: () => transpose.compileAsync(a, b),
    outputs: [b],
    arrays: [a, b],
  };
}

const stencil = cuda.jit((from: In<Mat<f32>>, to: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [rows, columns] = from.shape;
  if (y > 0 && x > 0 && y < rows - 1 && x < columns - 1) {
    to[y][x] = 0.2 * (from[y][x] + from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
  }
});

function setUpStencil(scale: Scale): Contestant {
  const n = 8192 / scale;
  const [a, b] = [matrix(n, n, 1), matrix(n, n, 2)];
  return {
    launch: () => stencil.launch({ threads: [n, n], block: [32, 8] }, a, b),
    compile: () => stencil.compileAsync(a, b),
    outputs: [b],
    arrays: [a, b],
  };
}

const BLOCK = 256;
const GRID = 1056;
const reduce = cuda.jit((x: In<Vec<f32>>, partial: Vec<f32>) => {
  const shared = cuda.shared.array(BLOCK, f32);
  const t = cuda.threadIdx.x;
  let sum = f32(0);
  for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) sum += x[i];
  shared[t] = sum;
  cuda.syncThreads();
  for (let half = BLOCK >> 1; half > 0; half >>= 1) {
    if (t < half) shared[t] += shared[t + half];
    cuda.syncThreads();
  }
  if (t === 0) partial[cuda.blockIdx.x] = shared[0];
});

function setUpReduce(scale: Scale): Contestant {
  const x = cuda.toDevice(hashed(2 ** 26 / scale, 1));
  const partial = cuda.deviceArray(GRID, f32);
  return {
    launch: () => reduce.launch({ grid: GRID, block: BLOCK }, x, partial),
    compile: () => reduce.compileAsync(x, partial),
    outputs: [partial],
    arrays: [x, partial],
  };
}

const histogram = cuda.jit((x: In<Vec<u8>>, bins: Vec<i32>) => {
  const mine = cuda.shared.array(256, i32);
  const t = cuda.threadIdx.x;
  mine[t] = 0;
  cuda.syncThreads();
  for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) cuda.atomic.add(mine, x[i], 1);
  cuda.syncThreads();
  cuda.atomic.add(bins, t, mine[t]);
});

function setUpHistogram(scale: Scale): Contestant {
  const values = hashed(2 ** 26 / scale, 1);
  const bytes = new Uint8Array(values.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = values[i] * 256;
  const x = cuda.toDevice(bytes);
  const bins = cuda.toDevice(new Int32Array(256));
  return {
    launch: () => histogram.launch({ grid: GRID, block: BLOCK }, x, bins),
    compile: () => histogram.compileAsync(x, bins),
    outputs: [bins],
    arrays: [x, bins],
  };
}

const LIMIT = 500;
const mandelbrot = cuda.jit((counts: Mat<i32>, left: number, top: number, step: number) => {
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
});

function setUpMandelbrot(scale: Scale): Contestant {
  const n = 4096 / scale;
  const counts = cuda.deviceArray([n, n], i32);
  const [left, top, step] = [f32(-2), f32(-1.25), f32(2.5 / n)].map((v) => cuda.scalar(f32, v));
  return {
    launch: () => mandelbrot.launch({ threads: [n, n], block: [16, 16] }, counts, left, top, step),
    compile: () => mandelbrot.compileAsync(counts, left, top, step),
    outputs: [counts],
    arrays: [counts],
  };
}

const SOFTENING = 1e-3;
const nbody = cuda.jit(
  (x: In<Vec<f32>>, y: In<Vec<f32>>, z: In<Vec<f32>>, m: In<Vec<f32>>, ax: Vec<f32>, ay: Vec<f32>, az: Vec<f32>) => {
    const sx = cuda.shared.array(BLOCK, f32);
    const sy = cuda.shared.array(BLOCK, f32);
    const sz = cuda.shared.array(BLOCK, f32);
    const sm = cuda.shared.array(BLOCK, f32);
    const i = cuda.grid(1);
    const t = cuda.threadIdx.x;
    const px = x[i];
    const py = y[i];
    const pz = z[i];
    let fx = f32(0);
    let fy = f32(0);
    let fz = f32(0);
    for (let start = 0; start < x.length; start += BLOCK) {
      sx[t] = x[start + t];
      sy[t] = y[start + t];
      sz[t] = z[start + t];
      sm[t] = m[start + t];
      cuda.syncThreads();
      for (let k = 0; k < BLOCK; k++) {
        const dx = sx[k] - px;
        const dy = sy[k] - py;
        const dz = sz[k] - pz;
        const r = cuda.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
        const s = sm[k] * r * r * r;
        fx += s * dx;
        fy += s * dy;
        fz += s * dz;
      }
      cuda.syncThreads();
    }
    ax[i] = fx;
    ay[i] = fy;
    az[i] = fz;
  },
);

function setUpNbody(scale: Scale): Contestant {
  const n = 65536 / scale;
  const [x, y, z, m] = [1, 2, 3, 4].map((seed) => cuda.toDevice(hashed(n, seed * 1000)));
  const [ax, ay, az] = [cuda.deviceArray(n, f32), cuda.deviceArray(n, f32), cuda.deviceArray(n, f32)];
  return {
    launch: () => nbody.launch({ grid: n / BLOCK, block: BLOCK }, x, y, z, m, ax, ay, az),
    compile: () => nbody.compileAsync(x, y, z, m, ax, ay, az),
    outputs: [ax, ay, az],
    arrays: [x, y, z, m, ax, ay, az],
  };
}

const normal = (d: number) => {
  const k = 1 / (1 + 0.2316419 * Math.abs(d));
  const w =
    0.39894228 *
    Math.exp(-0.5 * d * d) *
    (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return d > 0 ? 1 - w : w;
};
const RATE = 0.02;
const VOLATILITY = 0.3;
function prices(price: In<Vec<f32>>, strike: In<Vec<f32>>, years: In<Vec<f32>>, call: Vec<f32>, put: Vec<f32>): void {
  const i = cuda.grid(1);
  if (i >= price.length) return;
  const s = price[i];
  const x = strike[i];
  const t = years[i];
  const root = Math.sqrt(t);
  const d1 = (Math.log(s / x) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * t) / (VOLATILITY * root);
  const d2 = d1 - VOLATILITY * root;
  const n1 = normal(d1);
  const n2 = normal(d2);
  const discounted = x * Math.exp(-RATE * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1 - n2) - s * (1 - n1);
}

function setUpBlackScholes(scale: Scale, fastMath = false): Contestant {
  const blackScholes = cuda.jit(prices, { fastMath });
  const n = 2 ** 24 / scale;
  const price = cuda.toDevice(hashed(n, 1).map((v) => 5 + 25 * v));
  const strike = cuda.toDevice(hashed(n, 2000).map((v) => 1 + 99 * v));
  const years = cuda.toDevice(hashed(n, 3000).map((v) => 0.25 + 9.75 * v));
  const [call, put] = [cuda.deviceArray(n, f32), cuda.deviceArray(n, f32)];
  return {
    launch: () => blackScholes.launch({ threads: n, block: 256 }, price, strike, years, call, put),
    compile: () => blackScholes.compileAsync(price, strike, years, call, put),
    outputs: [call, put],
    arrays: [price, strike, years, call, put],
  };
}

export const SETUPS: Readonly<Record<string, (scale: Scale) => Contestant>> = {
  saxpy: setUpSaxpy,
  matmul: setUpMatmul,
  transpose: setUpTranspose,
  stencil: setUpStencil,
  reduce: setUpReduce,
  histogram: setUpHistogram,
  mandelbrot: setUpMandelbrot,
  nbody: setUpNbody,
  blackscholes: setUpBlackScholes,
  'blackscholes-fast': (scale) => setUpBlackScholes(scale, true),
  ...IMAGES,
  ...ROWS,
  ...INTEGERS,
};
