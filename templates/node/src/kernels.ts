import { cuda, type f32, type In, type Mat, type Vec } from 'tsamba';

/** y = a x + y. */
export const saxpy = cuda.jit((a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * x[i]! + y[i]!;
});

/** One step of heat spreading on a plate whose rim keeps its temperature. */
export const spread = cuda.jit((now: In<Mat<f32>>, next: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  const [height, width] = next.shape;
  if (x >= width || y >= height) return;
  if (x === 0 || y === 0 || x === width - 1 || y === height - 1) {
    next[y]![x] = now[y]![x]!;
    return;
  }
  next[y]![x] = (now[y - 1]![x]! + now[y + 1]![x]! + now[y]![x - 1]! + now[y]![x + 1]!) / 4;
});
