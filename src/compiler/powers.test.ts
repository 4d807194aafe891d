import { expect, it } from 'vitest';
import { cuda, type f64, type In, type i32, type u8, type Vec } from '../index.ts';

it('a power that meets a fraction of bytes has the digits of the f64 that both go into', () => {
  cuda.selectDevice('cpu');
  const scaled = cuda.jit((y: Vec<f64>, x: In<Vec<u8>>, e: In<Vec<i32>>) => {
    const i = cuda.grid(1);
    if (i >= y.length) return;
    const power = 10 ** (e[i] as number);
    y[i] = power * ((x[i] as number) * 0.1);
  });
  const [x, e] = [Uint8Array.of(1, 3, 7), Int32Array.of(12, 13, -3)];
  const y = new Float64Array(3);
  scaled.launch({ threads: 3 }, cuda.Out(y), cuda.In(x), cuda.In(e));
  expect(y).toEqual(Float64Array.from(x, (value, k) => 10 ** (e[k] as number) * (value * 0.1)));
});
