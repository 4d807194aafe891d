/**
 * The kernels of the CPU benchmark, each with the two plain JavaScript functions of `plain.ts` that a user would write instead,
 * and a check that all three agree.
 */
import { type cuda as Cuda, f32, type In, i32, type Mat, ndarray, type u8, type Vec } from 'tsamba';
import {
  blackScholesFormula,
  blackScholesOnce,
  cumulative,
  histogramLoop,
  histogramOf,
  mandelbrotDirect,
  mandelbrotSquares,
  matmulByElements,
  matmulByRows,
  saxpyAdd,
  saxpyAssign,
  stencilByRows,
  stencilFlat,
  sumLoop,
  sumReduce,
} from './plain.ts';

export interface Case {
  readonly name: string;
  /** What the speed-up must reach, by number of threads. */
  readonly targets: Readonly<Record<number, number>>;
  /** Bytes read and written, where memory is the limit. */
  readonly bytes?: number;
  readonly flops?: number;
  setUp(cuda: typeof Cuda, options: { boundsCheck: boolean }): Contest;
}

export interface Contest {
  /** Runs and waits. */
  kernel(): void;
  readonly plain: readonly [() => void, () => void];
  /** The loop once more over arrays that are constants of its closure, where that makes a difference to V8: see `plain.ts`. */
  readonly closure?: () => void;
  /** Throws when the results differ by more than rounding explains. */
  check(): void;
}

function random(n: number, seed = 1): Float32Array {
  let s = seed;
  return Float32Array.from({ length: n }, () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2 ** 32;
  });
}

function near(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number, what: string): void {
  for (let k = 0; k < expected.length; k++) {
    if (!(Math.abs(actual[k] - expected[k]) <= tolerance * Math.max(1, Math.abs(expected[k])))) {
      throw new Error(`${what}: element ${k} is ${actual[k]} instead of ${expected[k]}`);
    }
  }
}

const flat = (a: unknown): Float32Array => ndarray(a as Float32Array).ravel().data as Float32Array;

const saxpy: Case = {
  name: 'saxpy 16M',
  targets: { 1: 4 },
  bytes: 12 * 2 ** 24,
  setUp(cuda, options) {
    const n = 2 ** 24;
    const x = random(n);
    const y = random(n, 2);
    const dx = cuda.toDevice(x);
    const dy = cuda.toDevice(y);
    const kernel = cuda.jit((a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] += a * x[i];
    }, options);
    return {
      kernel() {
        kernel.launch({ threads: n, block: 256 }, 1e-3, dx, dy);
        cuda.synchronize();
      },
      plain: [() => saxpyAdd(1e-3, x, y), () => saxpyAssign(1e-3, x, y, n)],
      closure() {
        for (let i = 0; i < n; i++) y[i] += 1e-3 * x[i];
      },
      check() {
        const z = random(n, 3);
        dy.copyToDevice(z);
        this.kernel();
        near(
          flat(dy.copyToHost()).subarray(0, 4096),
          z.subarray(0, 4096).map((v, i) => v + 1e-3 * x[i]),
          1e-6,
          'saxpy',
        );
      },
    };
  },
};

const TILE = 16;
const matmul: Case = {
  name: 'matmul 512 tiled',
  targets: { 1: 8.5, 2: 17 },
  flops: 2 * 512 ** 3,
  setUp(cuda, options) {
    const n = 512;
    const a = random(n * n);
    const b = random(n * n, 2);
    const c = new Float32Array(n * n);
    const [dA, dB] = [a, b].map((m) => cuda.toDevice(ndarray(m, { shape: [n, n] })));
    const dC = cuda.deviceArray([n, n], f32);
    const kernel = cuda.jit((A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
      const sA = cuda.shared.array([TILE, TILE], f32);
      const sB = cuda.shared.array([TILE, TILE], f32);
      const [x, y] = cuda.grid(2);
      const { x: tx, y: ty } = cuda.threadIdx;
      let acc = 0;
      for (let k0 = 0; k0 < A.shape[1]; k0 += TILE) {
        sA[ty][tx] = A[y][k0 + tx];
        sB[ty][tx] = B[k0 + ty][x];
        cuda.syncThreads();
        for (let k = 0; k < TILE; k++) acc += sA[ty][k] * sB[k][tx];
        cuda.syncThreads();
      }
      C[y][x] = acc;
    }, options);
    return {
      kernel() {
        kernel.launch({ grid: [n / TILE, n / TILE], block: [TILE, TILE] }, dA as never, dB as never, dC as never);
        cuda.synchronize();
      },
      plain: [() => matmulByRows(a, b, c, n), () => matmulByElements(a, b, c, n)],
      check() {
        this.plain[1]();
        this.kernel();
        near(flat(dC.copyToHost()), c, 1e-4, 'matmul');
      },
    };
  },
};

const stencil: Case = {
  name: '5-point stencil 2048²',
  targets: { 1: 4 },
  bytes: 8 * 2048 ** 2,
  setUp(cuda, options) {
    const n = 2048;
    const x = random(n * n);
    const y = new Float32Array(n * n);
    const dx = cuda.toDevice(ndarray(x, { shape: [n, n] }));
    const dy = cuda.toDevice(ndarray(y, { shape: [n, n] }));
    const kernel = cuda.jit((from: In<Mat<f32>>, to: Mat<f32>) => {
      const [j, i] = cuda.grid(2);
      const rows = from.shape[0];
      const columns = from.shape[1];
      if (i > 0 && j > 0 && i < rows - 1 && j < columns - 1) {
        to[i][j] = 0.2 * (from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
      }
    }, options);
    return {
      kernel() {
        kernel.launch({ threads: [n, n], block: [256, 1] }, dx as never, dy as never);
        cuda.synchronize();
      },
      plain: [() => stencilFlat(x, y, n), () => stencilByRows(x, y, n)],
      closure() {
        for (let i = 1; i < n - 1; i++)
          for (let j = 1; j < n - 1; j++) {
            const at = i * n + j;
            y[at] = 0.2 * (x[at] + x[at - n] + x[at + n] + x[at - 1] + x[at + 1]);
          }
      },
      check() {
        this.plain[0]();
        this.kernel();
        near(flat(dy.copyToHost()), y, 1e-6, 'stencil');
      },
    };
  },
};

const mandelbrot: Case = {
  name: 'Mandelbrot 1024²',
  targets: { 1: 2.8 },
  setUp(cuda, options) {
    const n = 1024;
    const limit = 256;
    const counts = new Int32Array(n * n);
    const d = cuda.deviceArray([n, n], i32);
    const kernel = cuda.jit((out: Mat<i32>, left: number, top: number, step: number) => {
      const [x, y] = cuda.grid(2);
      if (x >= out.shape[1] || y >= out.shape[0]) return;
      const cr = left + x * step;
      const ci = top + y * step;
      let re = f32(0);
      let im = f32(0);
      let n = 0;
      while (n < limit && re * re + im * im <= 4) {
        const next = re * re - im * im + cr;
        im = 2 * re * im + ci;
        re = next;
        n++;
      }
      out[y][x] = n;
    }, options);
    const plane = { left: -2, top: -1.25, step: 2.5 / n };
    return {
      kernel() {
        kernel.launch({ threads: [n, n], block: [32, 8] }, d as never, plane.left, plane.top, plane.step);
        cuda.synchronize();
      },
      plain: [() => mandelbrotDirect(counts, n, plane, limit), () => mandelbrotSquares(counts, n, plane, limit)],
      check() {
        this.plain[0]();
        this.kernel();
        const got = ndarray(d.copyToHost()).ravel().data as Int32Array;
        let differ = 0;
        for (let k = 0; k < got.length; k++) if (got[k] !== counts[k]) differ++;
        // f32 against f64: points at the boundary differ.
        if (differ > got.length * 0.005) throw new Error(`Mandelbrot: ${differ} counts differ`);
      },
    };
  },
};

const BLOCK = 256;
const reduce: Case = {
  name: 'block reduce 16M',
  targets: { 1: 2 },
  bytes: 4 * 2 ** 24,
  setUp(cuda, options) {
    const n = 2 ** 24;
    const x = random(n);
    const dx = cuda.toDevice(x);
    const partial = cuda.deviceArray(n / BLOCK, f32);
    const kernel = cuda.jit((x: In<Vec<f32>>, out: Vec<f32>) => {
      const s = cuda.shared.array(BLOCK, f32);
      const t = cuda.threadIdx.x;
      const i = cuda.grid(1);
      s[t] = i < x.length ? x[i] : 0;
      cuda.syncThreads();
      for (let d = BLOCK >> 1; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        cuda.syncThreads();
      }
      if (t === 0) out[cuda.blockIdx.x] = s[0];
    }, options);
    let sum = 0;
    return {
      kernel() {
        kernel.launch({ threads: n, block: BLOCK }, dx, partial);
        cuda.synchronize();
      },
      plain: [
        () => {
          sum = sumLoop(x);
        },
        () => {
          sum = sumReduce(x);
        },
      ],
      check() {
        this.plain[0]();
        this.kernel();
        near([flat(partial.copyToHost()).reduce((a, b) => a + b, 0)], [sum], 1e-6, 'reduce');
      },
    };
  },
};

const histogram: Case = {
  name: 'shared histogram 16M',
  targets: { 2: 1.9 },
  bytes: 2 ** 24,
  setUp(cuda, options) {
    const n = 2 ** 24;
    const x = Uint8Array.from(random(n), (v) => v * 256);
    const bins = new Int32Array(256);
    const dx = cuda.toDevice(x);
    const dBins = cuda.toDevice(bins);
    // Each block ends with 256 updates of global memory, which cost as much as ten times as many of its own.
    const perThread = 256;
    const kernel = cuda.jit((x: In<Vec<u8>>, bins: Vec<i32>) => {
      const mine = cuda.shared.array(256, i32);
      const t = cuda.threadIdx.x;
      mine[t] = 0;
      cuda.syncThreads();
      const start = cuda.blockIdx.x * 256 * perThread + t;
      for (let k = 0; k < perThread; k++) {
        const i = start + k * 256;
        if (i < x.length) cuda.atomic.add(mine, x[i], 1);
      }
      cuda.syncThreads();
      cuda.atomic.add(bins, t, mine[t]);
    }, options);
    return {
      kernel() {
        kernel.launch({ grid: n / 256 / perThread, block: 256 }, dx, dBins);
        cuda.synchronize();
      },
      plain: [() => histogramLoop(x, bins), () => histogramOf(x, bins)],
      closure() {
        bins.fill(0);
        for (let i = 0; i < n; i++) bins[x[i]]++;
      },
      check() {
        this.plain[0]();
        dBins.set(0);
        this.kernel();
        near(ndarray(dBins.copyToHost()).ravel().data as Int32Array, bins, 0, 'histogram');
      },
    };
  },
};

const blackScholes: Case = {
  name: 'Black-Scholes 4M',
  targets: { 1: 4 },
  setUp(cuda, options) {
    const n = 2 ** 22;
    const price = random(n).map((v) => 5 + 25 * v);
    const strike = random(n, 2).map((v) => 1 + 99 * v);
    const years = random(n, 3).map((v) => 0.25 + 9.75 * v);
    const call = new Float32Array(n);
    const put = new Float32Array(n);
    const [rate, volatility] = [0.02, 0.3];
    const market = { price, strike, years, rate, volatility };
    const [dS, dX, dT] = [cuda.toDevice(price), cuda.toDevice(strike), cuda.toDevice(years)];
    const [dCall, dPut] = [cuda.toDevice(call), cuda.toDevice(put)];
    const kernel = cuda.jit(
      (s: In<Vec<f32>>, x: In<Vec<f32>>, t: In<Vec<f32>>, call: Vec<f32>, put: Vec<f32>, r: number, v: number) => {
        const i = cuda.grid(1);
        if (i >= s.length) return;
        const root = Math.sqrt(t[i]);
        const d1 = (Math.log(s[i] / x[i]) + (r + 0.5 * v * v) * t[i]) / (v * root);
        const d2 = d1 - v * root;
        const n1 = cumulative(d1);
        const n2 = cumulative(d2);
        const discount = Math.exp(-r * t[i]);
        call[i] = s[i] * n1 - x[i] * discount * n2;
        put[i] = x[i] * discount * (1 - n2) - s[i] * (1 - n1);
      },
      options,
    );
    return {
      kernel() {
        kernel.launch({ threads: n, block: 256 }, dS, dX, dT, dCall, dPut, rate, volatility);
        cuda.synchronize();
      },
      plain: [() => blackScholesFormula(market, call, put), () => blackScholesOnce(market, call, put)],
      check() {
        this.plain[0]();
        this.kernel();
        near(flat(dCall.copyToHost()), call, 2e-4, 'Black-Scholes call');
        near(flat(dPut.copyToHost()), put, 2e-4, 'Black-Scholes put');
      },
    };
  },
};

export const cases: readonly Case[] = [saxpy, matmul, stencil, mandelbrot, reduce, histogram, blackScholes];
