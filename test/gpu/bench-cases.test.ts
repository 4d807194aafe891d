/**
 * The kernels of the NVIDIA benchmark, small and on the CPU device: they compile, and give what they should. On a GPU the benchmark
 * itself compares them with CUDA C++ and Numba.
 */

import { cuda, ndarray } from 'tsamba';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { hashed, SETUPS } from '../../bench/nvidia/cases.ts';

import { disagreement } from '../../bench/nvidia/spec.ts';
import { WGSL_SPECS } from '../../bench/webgpu/handwritten.ts';

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
  expect(Object.keys(SETUPS).sort()).toEqual(WGSL_SPECS.map(({ name }) => name).sort());
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

it('images: convolution, blur, resize, heat, Julia set', () => {
  const side = 64;
  const a = hashed(side * side, 1);
  const at = (y: number, x: number): number =>
    a[side * Math.min(Math.max(y, 0), side - 1) + Math.min(Math.max(x, 0), side - 1)];
  const blur = (weights: Float32Array, width: number, y: number, x: number, separable: boolean): number => {
    let total = 0;
    for (let j = 0; j < width; j++)
      for (let i = 0; i < width; i++) {
        const weight = separable ? weights[j] * weights[i] : weights[width * j + i];
        total += weight * at(y + j - (width >> 1), x + i - (width >> 1));
      }
    return total;
  };
  const [[sharp], [smooth]] = [outputs('convolution'), outputs('gaussian')];
  for (const [y, x] of [
    [0, 0],
    [63, 5],
    [17, 33],
  ]) {
    expect(sharp[side * y + x]).toBeCloseTo(blur(hashed(9, 5), 3, y, x, false), 4);
    expect(smooth[side * y + x]).toBeCloseTo(blur(hashed(9, 5), 9, y, x, true), 3);
  }
  const small = hashed(48 * 48, 1);
  const [large] = outputs('resize');
  // Pixel 2 of 64 has its centre at 1.375 of 48, counted from the first centre.
  const mix = (row: number): number => small[48 * row + 1] + 0.375 * (small[48 * row + 2] - small[48 * row + 1]);
  expect(large[64 * 2 + 2]).toBeCloseTo(mix(1) + 0.375 * (mix(2) - mix(1)), 4);
  expect(large[0]).toBe(small[0]);
  const [warm, cells, i] = [outputs('heat')[0], hashed(4096, 1), 16 * (16 * 3 + 4) + 5];
  const around = [1, -1, 16, -16, 256, -256].reduce((s, d) => s + cells[i + d], 0);
  expect(warm[i]).toBeCloseTo(cells[i] + 0.1 * (around - 6 * cells[i]), 5);
  expect(warm[0]).toBe(hashed(4096, 2)[0]);
  const [counts] = outputs('julia');
  let [re, im, n] = [-1.5 + (9 * 3) / 32, -1.5 + (7 * 3) / 32, 0];
  for (; n < 300 && re * re + im * im <= 4; n++) [re, im] = [re * re - im * im - 0.8, 2 * re * im + 0.156];
  expect([counts[0], counts[32 * 7 + 9]]).toEqual([0, n]);
  expect(n).toBeGreaterThan(1);
  expect(Math.max(...Array.from(counts))).toBeGreaterThan(30);
});

it('rows: scan, layer norm, softmax, sort', () => {
  const x = hashed(2 ** 19, 1);
  const [running] = outputs('scan');
  expect(running[256]).toBeCloseTo(x[256], 5);
  expect(running[767]).toBeCloseTo(sum(x.slice(512, 768)), 3);
  const row = x.slice(1024, 2048);
  const [gain, shift] = [hashed(1024, 2), hashed(1024, 3)];
  const mean = sum(row) / 1024;
  const deviation = Math.sqrt(row.reduce((s, v) => s + (v - mean) ** 2, 0) / 1024 + 1e-5);
  expect(outputs('layernorm')[0][1024 + 700]).toBeCloseTo(((row[700] - mean) / deviation) * gain[700] + shift[700], 4);
  expect(outputs('softmax')[0][1024 + 700]).toBeCloseTo(Math.exp(row[700]) / sum(row.map((v) => Math.exp(v))), 7);
  const [sorted] = outputs('bitonic');
  expect(Array.from(sorted).slice(512, 1024)).toEqual(Array.from(x.slice(512, 1024).sort()));
});

it('rows: products and nearest points', () => {
  const [a, x] = [hashed(4096, 1), hashed(64, 2)];
  expect(outputs('matvec')[0][7]).toBeCloseTo(sum(x.map((v, k) => v * a[7 * 64 + k])), 4);
  const lengths = Array.from(hashed(8192, 1), (v) => 16 + Math.floor(64 * v));
  const [start, all] = [sum(lengths.slice(0, 9)), sum(lengths)];
  const [places, values, by] = [hashed(all, 2), hashed(all, 3), hashed(8192, 4)];
  let product = 0;
  for (let k = start; k < start + lengths[9]; k++) product += values[k] * by[Math.floor(places[k] * 8192)];
  expect(outputs('spmv')[0][9]).toBeCloseTo(product, 4);
  const [points, from] = [hashed(3 * 512, 1), hashed(3 * 512, 777)];
  const squares = Array.from({ length: 512 }, (_, k) =>
    [0, 512, 1024].reduce((s, c) => s + (from[c + k] - points[c + 5]) ** 2, 0),
  );
  const [best, least] = outputs('nearest');
  expect(least[5]).toBeCloseTo(Math.min(...squares), 5);
  expect(squares[best[5]]).toBeCloseTo(Math.min(...squares), 5);
});

it('integers: random numbers, checksums, hashes, distances', () => {
  const [a, b] = outputs('boxmuller').map((list) => Float64Array.from(list));
  expect(sum(a) / a.length).toBeCloseTo(0, 1);
  expect(sum(b.map((v) => v * v)) / b.length).toBeCloseTo(1, 1);
  expect(sum(a.map((v, k) => v * b[k])) / a.length).toBeCloseTo(0, 1);
  const [hits] = outputs('montecarlo');
  expect((4 * sum(hits)) / (256 * hits.length)).toBeCloseTo(Math.PI, 2);
  const line = Uint8Array.from(hashed(8192 * 64, 1).slice(64 * 9, 64 * 10), (v) => v * 256);
  expect(outputs('crc')[0][9]).toBe(crc32(line));
  let h = BigInt(Math.floor(hashed(8, 1)[7] * 2 ** 24));
  for (let k = 0n; k < 16n; k++) h = BigInt.asIntN(64, BigInt.asIntN(64, (h ^ (h >> 29n)) * 1099511628211n) + k);
  expect(outputs('hash')[0][7]).toBe(Number((h ^ (h >> 32n)) & 0x7fffffffn));
  const word = (seed: number): number[] =>
    Array.from(hashed(256 * 128, seed).slice(3 * 128, 4 * 128), (v) => Math.floor(4 * v));
  expect(outputs('levenshtein')[0][3]).toBe(distance(word(1), word(1000003)));
});

function distance(a: readonly number[], b: readonly number[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1), row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[b.length];
}

function crc32(line: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of line) {
    rest ^= byte;
    for (let k = 0; k < 8; k++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  }
  return ~rest >>> 0;
}

it('disagreement tells what is too far away', () => {
  const spec = { name: 'x', title: 'x', launches: 1, tolerance: 1e-3 };
  expect(disagreement(spec, [1, 1000], [1.0005, 1000.5])).toBeUndefined();
  expect(disagreement(spec, [1, Number.NaN], [1, 2])).toMatch(/1 of 2 differ: number 1 is NaN against 2/);
  expect(disagreement({ ...spec, outliers: 0.5 }, [1, 5], [1, 2])).toBeUndefined();
});
