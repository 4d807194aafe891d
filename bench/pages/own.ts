/**
 * Tsamba's side of the benchmark of pages: kernels as in the README.
 */
import { cuda, f32, type In, type Mat, type Vec } from 'tsamba';

export const saxpy = cuda.jit((a: f32, x: In<Vec<f32>>, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = (y[i] as number) + a * (x[i] as number);
});

const TILE = 16;

export const tiled = cuda.jit((a: In<Mat<f32>>, b: In<Mat<f32>>, c: Mat<f32>) => {
  const [ours, theirs] = [cuda.shared.array([TILE, TILE], f32), cuda.shared.array([TILE, TILE], f32)];
  const [x, y] = cuda.grid(2);
  const { x: tx, y: ty } = cuda.threadIdx;
  let sum = f32(0);
  for (let k = 0; k < a.shape[1]; k += TILE) {
    ours[ty]![tx] = a[y]![k + tx]!;
    theirs[ty]![tx] = b[k + ty]![x]!;
    cuda.syncThreads();
    for (let j = 0; j < TILE; j++) sum += ours[ty]![j]! * theirs[j]![tx]!;
    cuda.syncThreads();
  }
  c[y]![x] = sum;
});

const [ROWS, COLUMNS, ACROSS] = [8, 4, 64];

/** The block of `registers`, and the elements that one computes along both axes. */
export const REGISTERS = { block: [ACROSS, 1], tile: [ACROSS * COLUMNS, ROWS] } as const;

/** Without shared memory: a thread computes some elements of some rows in registers. */
export const registers = cuda.jit((a: In<Mat<f32>>, b: In<Mat<f32>>, c: Mat<f32>) => {
  const row = cuda.blockIdx.y * ROWS;
  const column = cuda.blockIdx.x * ACROSS * COLUMNS + cuda.threadIdx.x;
  const sums = cuda.local.array([ROWS, COLUMNS], f32);
  for (let i = 0; i < ROWS; i++) for (let j = 0; j < COLUMNS; j++) sums[i]![j] = 0;
  for (let k = 0; k < a.shape[1]; k++) {
    for (let i = 0; i < ROWS; i++) {
      for (let j = 0; j < COLUMNS; j++) sums[i]![j]! += a[row + i]![k]! * b[k]![column + j * ACROSS]!;
    }
  }
  for (let i = 0; i < ROWS; i++) for (let j = 0; j < COLUMNS; j++) c[row + i]![column + j * ACROSS] = sums[i]![j]!;
});
