/** What is stored is converted once, from the type that it has: clamped bytes, narrow floats, small and wide integers. */
import { expect, it } from 'vitest';
import {
  bf16,
  cuda,
  type f32,
  f64,
  type In,
  type NDArray,
  ndarray,
  type u8,
  type u8c,
  u64,
  type Vec,
} from '../index.ts';

cuda.selectDevice('cpu');
const ONE = { grid: 1, block: 1 };

it('numbers given to clamped bytes need not be integers', () => {
  const px = new Uint8ClampedArray(3);
  const kernel = cuda.jit((to: Vec<u8c>, k: number) => {
    to[0] = k;
    to[1] = k * 3;
    to[2] = -k;
  });
  kernel.launch(ONE, cuda.Out(px), 2.5);
  expect([...px]).toEqual([2, 8, 0]);
  // A product of integers would wrap to 0.
  const square = cuda.jit((to: Vec<u8c>, k: number) => {
    to[0] = k * k;
  });
  square.launch(ONE, cuda.Out(px), 65536);
  expect(px[0]).toBe(255);
});

it('doubles and literals are rounded to bf16 once, not by way of f32', () => {
  // Just above the middle between two neighbours, and on it as an f32.
  const x = 1 + 2 ** -8 + 2 ** -40;
  const to = cuda.toDevice(ndarray([0, 0], { dtype: bf16 }));
  const kernel = cuda.jit((y: Vec<bf16>, from: In<Vec<f64>>) => {
    y[0] = from[0] as number;
    y[1] = 1.0039062500009095;
  });
  expect(x).toBe(1.0039062500009095);
  kernel.launch(ONE, to, cuda.In(Float64Array.of(x)));
  expect((to.copyToHost() as NDArray<bf16, 1>).toArray()).toEqual([1 + 2 ** -7, 1 + 2 ** -7]);
});

it('rounded floats saturate in small elements', () => {
  const y = new Uint8Array(2);
  const kernel = cuda.jit((to: Vec<u8>, x: In<Vec<f32>>) => {
    to[0] = Math.floor(x[0] as number);
    to[1] = Math.round(x[1] as number);
  });
  kernel.launch(ONE, cuda.Out(y), cuda.In(Float32Array.of(300.5, -7.25)));
  expect([...y]).toEqual([255, 0]);
});

it('u32 widens to i64, and negative floats are 0 as u64', () => {
  const sums = new BigInt64Array(1);
  const words = new BigUint64Array(1);
  const kernel = cuda.jit((y: { [k: number]: unknown }, z: { [k: number]: unknown }, a: { [k: number]: unknown }) => {
    y[0] = (y[0] as number) + (a[0] as number);
    z[0] = u64(f64(-2));
  });
  kernel.launch(ONE, sums as never, words as never, Uint32Array.of(4294967295) as never);
  expect([sums[0], words[0]]).toEqual([4294967295n, 0n]);
});
