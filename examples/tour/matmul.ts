/**
 * Matrix multiplication with tiles in shared memory, the classic example of Numba's documentation.
 */
import { cuda, f32, type In, type Mat, ndarray } from '../../src/index.ts';
import type { Report } from './report.ts';

const N = 512;
const TILE = 16;

const matmul = cuda.jit((A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
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
});

/** Multiplies two random matrices on the device and in plain JavaScript, and compares. */
export function multiply(report: Report): void {
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32 - 0.5;
  };
  const a = Float32Array.from({ length: N * N }, random);
  const b = Float32Array.from({ length: N * N }, random);
  const dA = cuda.toDevice(ndarray(a, { shape: [N, N] }));
  const dB = cuda.toDevice(ndarray(b, { shape: [N, N] }));
  const dC = cuda.deviceArray([N, N], f32);
  const run = () => {
    matmul.launch({ grid: [N / TILE, N / TILE], block: [TILE, TILE] }, dA, dB, dC);
    cuda.synchronize();
  };
  const c = new Float32Array(N * N);
  report.race(`matmul ${N}×${N}×${N}`, run, () => plainMatmul(a, b, c), { flops: 2 * N ** 3 });
  report.compare(dC.copyToHost().data, c, 1e-3);
  for (const d of [dA, dB, dC]) d.dispose();
}

/** Row by row, the loop order that suits caches. */
function plainMatmul(a: Float32Array, b: Float32Array, c: Float32Array): void {
  c.fill(0);
  for (let i = 0; i < N; i++) {
    for (let k = 0; k < N; k++) {
      const v = a[i * N + k];
      for (let j = 0; j < N; j++) c[i * N + j] += v * b[k * N + j];
    }
  }
}
