/**
 * Kernels as the documentation writes them, `A[i][j]`, for projects without `noUncheckedIndexedAccess`. Compiled, never run.
 */
import { type Cube, cuda, f32, type In, type Mat, type Vec } from 'tsamba';

export const sum = cuda.jit((A: In<Mat<f32>>, T: In<Cube<f32>>, out: Vec<f32>) => {
  const i = cuda.grid(1);
  const tile = cuda.shared.array([16, 16], f32);
  if (i >= out.length) return;
  for (let j = 0; j < A.shape[1]; j++) out[i] += A[i][j] * T[i][j][0];
  tile[0][i] = out[i];
  cuda.syncThreads();
  out[i] = tile[i][0];
});
