import { cuda, type f32, type Vec } from 'tsamba';

/** The waves of two sources that meet. */
export const waves = cuda.jit((y: Vec<f32>, distance: number) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = Math.sin(i / 8) + Math.sin((i - distance) / 8);
});
