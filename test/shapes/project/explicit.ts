/** A kernel with explicit captures, for engines without an inspector; minifiers must not hurt it either. */
import { cuda, type f32, type In, type Vec } from 'tsamba';
import { lerp } from './device.js';

const factor = 0.75;

export const explicit = cuda.jit(
  ({ cuda, factor, mix }) =>
    (y: Vec<f32>, x: In<Vec<f32>>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = mix(x[i], factor, 0.5);
    },
  { captures: { cuda, factor, mix: lerp } },
);

export function runExplicit(): number[] {
  const n = 100;
  const y = new Float32Array(n);
  const x = Float32Array.from({ length: n }, (_, i) => i);
  explicit.launch({ threads: n, block: 32 }, y, x);
  return Array.from(y);
}
