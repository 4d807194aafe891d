/**
 * The kernels of `tsamba bench`, each beside the plain JavaScript that one would write instead. Every kernel computes in f32.
 */
import { cuda } from '../cuda/namespace.ts';
import { f32, i32 } from '../dtype/index.ts';
import type { In, Mat, Vec } from '../kernel/types.ts';

/** One benchmark, with its data on the device. */
export interface Case {
  readonly name: string;
  /** Compiles what is launched. */
  prepare(): Promise<void>;
  /** Enqueues the work once. */
  launch(): void;
  /** Plain JavaScript; gives what `result` should be. */
  plain(): Float32Array | Int32Array;
  result(): Promise<ArrayLike<number>>;
  /** By how much numbers may differ, relative to their size. */
  readonly tolerance: number;
  /** Which share of them may differ by more; default 0. */
  readonly share?: number | undefined;
}

const BLOCK = 256;
const BINS = 64;
const TILE = 16;

/** All cases; `n` is about the number of elements. */
export function casesOf(n: number): readonly (() => Case)[] {
  return [() => saxpy(n), () => mandelbrot(n >> 2), () => matmul(n), () => histogram(n), () => stencil(n)];
}

function saxpy(n: number): Case {
  const kernel = cuda.jit((a: number, x: In<Vec<f32>>, y: In<Vec<f32>>, out: Vec<f32>) => {
    const i = cuda.grid(1);
    if (i < out.length) out[i] = a * x[i]! + y[i]!;
  });
  const x = Float32Array.from({ length: n }, (_, i) => i % 100);
  const y = Float32Array.from({ length: n }, (_, i) => i % 7);
  const out = cuda.deviceArray(n, f32);
  const args = [2, cuda.toDevice(x), cuda.toDevice(y), out] as const;
  const host = new Float32Array(n);
  return {
    name: `saxpy, ${n} elements`,
    tolerance: 0,
    prepare: () => kernel.compileAsync(...args),
    launch: () => kernel.launch({ threads: n }, ...args),
    plain() {
      for (let i = 0; i < n; i++) host[i] = 2 * x[i]! + y[i]!;
      return host;
    },
    result: async () => (await out.copyToHostAsync()) as Float32Array,
  };
}

function mandelbrot(n: number): Case {
  const side = Math.floor(Math.sqrt(n));
  const kernel = cuda.jit((rounds: Mat<i32>, step: f32) => {
    const [px, py] = cuda.grid(2);
    if (px >= rounds.shape[1] || py >= rounds.shape[0]) return;
    const re = px * step - f32(2);
    const im = py * step - f32(1.5);
    let a = f32(0);
    let b = f32(0);
    let round = 0;
    while (round < 100 && a * a + b * b < 4) {
      const next = a * a - b * b + re;
      b = a * b * 2 + im;
      a = f32(next);
      round++;
    }
    rounds[py]![px] = round;
  });
  const rounds = cuda.deviceArray([side, side], i32);
  // A step that f32 and f64 both have, so that both walk the same points.
  const step = 2 ** Math.round(Math.log2(3 / side));
  const host = new Int32Array(side * side);
  return {
    name: `mandelbrot, ${side} × ${side}`,
    tolerance: 0,
    // Points at the rim leave a round earlier or later in f64.
    share: 0.02,
    prepare: () => kernel.compileAsync(rounds, f32(step)),
    launch: () => kernel.launch({ threads: [side, side] }, rounds, f32(step)),
    plain() {
      for (let py = 0; py < side; py++)
        for (let px = 0; px < side; px++) host[py * side + px] = escapeRound(px * step - 2, py * step - 1.5);
      return host;
    },
    result: async () => (await rounds.reshape(side * side).copyToHostAsync()) as Int32Array,
  };
}

function escapeRound(re: number, im: number): number {
  let [a, b, round] = [0, 0, 0];
  while (round < 100 && a * a + b * b < 4) {
    const next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
    round++;
  }
  return round;
}

function matmul(elements: number): Case {
  const n = Math.max(64, TILE * Math.floor(Math.sqrt(elements / 16) / TILE));
  const kernel = cuda.jit((A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
    const sA = cuda.shared.array([16, 16], f32);
    const sB = cuda.shared.array([16, 16], f32);
    const [x, y] = cuda.grid(2);
    const { x: tx, y: ty } = cuda.threadIdx;
    let acc = f32(0);
    for (let k0 = 0; k0 < A.shape[1]; k0 += 16) {
      sA[ty]![tx] = A[y]![k0 + tx]!;
      sB[ty]![tx] = B[k0 + ty]![x]!;
      cuda.syncThreads();
      for (let k = 0; k < 16; k++) acc += sA[ty]![k]! * sB[k]![tx]!;
      cuda.syncThreads();
    }
    C[y]![x] = acc;
  });
  const a = Float32Array.from({ length: n * n }, (_, i) => i % 5);
  const A = cuda.toDevice(a).reshape(n, n);
  const C = cuda.deviceArray([n, n], f32);
  const host = new Float32Array(n * n);
  return {
    name: `tiled matmul, ${n} × ${n}`,
    tolerance: 1e-5,
    prepare: () => kernel.compileAsync(A, A, C),
    launch: () => kernel.launch({ grid: [n / TILE, n / TILE], block: [TILE, TILE] }, A, A, C),
    plain() {
      host.fill(0);
      for (let y = 0; y < n; y++)
        for (let k = 0; k < n; k++) {
          const factor = a[y * n + k]!;
          for (let x = 0; x < n; x++) host[y * n + x]! += factor * a[k * n + x]!;
        }
      return host;
    },
    result: async () => (await C.reshape(n * n).copyToHostAsync()) as Float32Array,
  };
}

function histogram(n: number): Case {
  const kernel = cuda.jit((values: In<Vec<i32>>, counts: Vec<i32>) => {
    const own = cuda.shared.array(64, i32);
    if (cuda.threadIdx.x < 64) own[cuda.threadIdx.x] = 0;
    cuda.syncThreads();
    for (let i = cuda.grid(1); i < values.length; i += cuda.gridSize(1)) cuda.atomic.add(own, values[i]!, 1);
    cuda.syncThreads();
    if (cuda.threadIdx.x < 64) cuda.atomic.add(counts, cuda.threadIdx.x, own[cuda.threadIdx.x]!);
  });
  const values = Int32Array.from({ length: n }, (_, i) => (i * 7919) % BINS);
  const there = cuda.toDevice(values);
  const counts = cuda.toDevice(new Int32Array(BINS));
  let launches = 0;
  const host = new Int32Array(BINS);
  return {
    name: `histogram, ${n} elements, ${BINS} bins`,
    tolerance: 0,
    prepare: () => kernel.compileAsync(there, counts),
    launch() {
      launches++;
      kernel.launch({ grid: Math.min(512, Math.ceil(n / BLOCK)), block: BLOCK }, there, counts);
    },
    plain() {
      host.fill(0);
      for (let i = 0; i < n; i++) host[values[i]!]!++;
      return host;
    },
    result: async () => ((await counts.copyToHostAsync()) as Int32Array).map((count) => count / launches),
  };
}

function stencil(n: number): Case {
  const side = Math.floor(Math.sqrt(n));
  const kernel = cuda.jit((now: In<Mat<f32>>, next: Mat<f32>) => {
    const [x, y] = cuda.grid(2);
    if (x >= 1 && y >= 1 && x < next.shape[1] - 1 && y < next.shape[0] - 1) {
      next[y]![x] = (now[y - 1]![x]! + now[y + 1]![x]! + now[y]![x - 1]! + now[y]![x + 1]!) / 4;
    }
  });
  const before = Float32Array.from({ length: side * side }, (_, i) => i % 64);
  const now = cuda.toDevice(before).reshape(side, side);
  const next = cuda.toDevice(new Float32Array(side * side)).reshape(side, side);
  const host = new Float32Array(side * side);
  return {
    name: `5-point stencil, ${side} × ${side}`,
    tolerance: 0,
    prepare: () => kernel.compileAsync(now, next),
    launch: () => kernel.launch({ threads: [side, side] }, now, next),
    plain() {
      for (let y = 1; y < side - 1; y++)
        for (let x = 1; x < side - 1; x++) {
          const i = y * side + x;
          host[i] = (before[i - side]! + before[i + side]! + before[i - 1]! + before[i + 1]!) / 4;
        }
      return host;
    },
    result: async () => (await next.reshape(side * side).copyToHostAsync()) as Float32Array,
  };
}
