/**
 * The kernels of the NVIDIA benchmark, small and on the CPU device: they compile, and give what they should. On a GPU the benchmark
 * itself compares them with CUDA C++ and Numba.
 */

import { cuda, ndarray } from 'tsamba';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { hashed, SETUPS } from '../../bench/nvidia/cases.ts';
import { disagreement, SPECS } from '../../bench/nvidia/spec.ts';

const SCALE = 128;
beforeAll(() => {
  vi.stubEnv('TSAMBA_DEVICE', 'cpu');
});
afterAll(() => vi.unstubAllEnvs());

function outputs(name: string): ArrayLike<number>[] {
  const contestant = SETUPS[name](SCALE);
  contestant.launch();
  cuda.synchronize();
  const got = contestant.outputs.map((o) => ndarray(o.copyToHost() as Float32Array).ravel().data as ArrayLike<number>);
  for (const array of contestant.arrays) array.dispose();
  return got;
}

const sum = (list: ArrayLike<number>): number =>
  Array.prototype.reduce.call(list, (s, v) => Number(s) + Number(v), 0) as number;

it('every case has a kernel', () => {
  expect(Object.keys(SETUPS).sort()).toEqual(SPECS.map(({ name }) => name).sort());
});

it('saxpy', () => {
  const [y] = outputs('saxpy');
  const [x, before] = [hashed(y.length, 1), hashed(y.length, 2)];
  for (const k of [0, 1, 1000, y.length - 1]) expect(y[k]).toBeCloseTo(before[k] + 1e-3 * x[k], 6);
});

it('matmul', () => {
  const [c] = outputs('matmul');
  const [a, b] = [hashed(256, 1), hashed(256, 2)];
  for (const [y, x] of [
    [0, 0],
    [3, 9],
    [15, 15],
  ]) {
    let expected = 0;
    for (let k = 0; k < 16; k++) expected += a[16 * y + k] * b[16 * k + x];
    expect(c[16 * y + x]).toBeCloseTo(expected, 5);
  }
});

it('transpose and stencil', () => {
  const n = 8192 / SCALE;
  const [a, before] = [hashed(n * n, 1), hashed(n * n, 2)];
  const [[transposed], [smooth]] = [outputs('transpose'), outputs('stencil')];
  expect([transposed[5], transposed[7 * n + 40]]).toEqual([a[5 * n], a[40 * n + 7]]);
  const at = 9 * n + 11;
  expect(smooth[at]).toBeCloseTo(0.2 * (a[at] + a[at - n] + a[at + n] + a[at - 1] + a[at + 1]), 6);
  expect(smooth[n - 1]).toBe(before[n - 1]);
});

it('reduce and histogram', () => {
  const n = 2 ** 26 / SCALE;
  const x = hashed(n, 1);
  expect(sum(outputs('reduce')[0]) / sum(x)).toBeCloseTo(1, 5);
  const [bins] = outputs('histogram');
  expect(sum(bins)).toBe(n);
  expect(bins[7]).toBe(x.filter((v) => Math.floor(v * 256) === 7).length);
});

it('n-body: accelerations cancel out when masses weigh them', () => {
  const [ax, ay, az] = outputs('nbody');
  const m = hashed(ax.length, 4000);
  for (const axis of [ax, ay, az]) expect(Math.abs(sum(Float64Array.from(axis, (v, k) => v * m[k])))).toBeLessThan(0.5);
  expect(Math.abs(ax[0])).toBeGreaterThan(0.01);
});

it('Mandelbrot and Black-Scholes', () => {
  const [counts] = outputs('mandelbrot');
  expect(Math.max(...Array.from(counts))).toBe(500);
  expect(counts[0]).toBeLessThan(3);
  const [call, put] = outputs('blackscholes');
  const [price, strike, years] = [
    5 + 25 * hashed(1, 1)[0],
    1 + 99 * hashed(1, 2000)[0],
    0.25 + 9.75 * hashed(1, 3000)[0],
  ];
  // Put-call parity.
  expect(call[0] - put[0]).toBeCloseTo(price - strike * Math.exp(-0.02 * years), 3);
});

it('disagreement tells what is too far away', () => {
  const spec = { name: 'x', title: 'x', launches: 1, tolerance: 1e-3 };
  expect(disagreement(spec, [1, 1000], [1.0005, 1000.5])).toBeUndefined();
  expect(disagreement(spec, [1, Number.NaN], [1, 2])).toMatch(/1 of 2 differ: number 1 is NaN against 2/);
  expect(disagreement({ ...spec, outliers: 0.5 }, [1, 5], [1, 2])).toBeUndefined();
});
