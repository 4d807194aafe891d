/**
 * Chapter: `cuda.fp16` and `cuda.bf16`, each function by its name.
 */
import { cuda, f32, type In, type i32, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { BF16, close, evenRound, F16, fused, nearest } from './narrow-reference.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

export const halfFunctions: readonly ConformanceTest[] = chapter('16-bit floats, functions', {
  'functions of cuda.fp16 and cuda.bf16': async () => {
    const kernelOf = (h: typeof cuda.fp16) =>
      cuda.jit((y: Vec<f32>, flags: Vec<i32>, a: In<Vec<f32>>, b: In<Vec<f32>>) => {
        const k = cuda.grid(1);
        if (k >= a.length) return;
        const [u, v] = [a[k], b[k]];
        const at = 34 * k;
        y[at] = h.hadd(u, v);
        y[at + 1] = h.hsub(u, v);
        y[at + 2] = h.hmul(u, v);
        y[at + 3] = h.hdiv(u, v);
        y[at + 4] = h.hfma(u, v, u);
        y[at + 5] = h.haddSat(u, v);
        y[at + 6] = h.hsubSat(u, v);
        y[at + 7] = h.hmulSat(u, v);
        y[at + 8] = h.hfmaSat(u, v, u);
        y[at + 9] = h.hfmaRelu(u, v, u);
        y[at + 10] = h.hneg(u);
        y[at + 11] = h.habs(u);
        y[at + 12] = h.hmin(u, v);
        y[at + 13] = h.hmax(u, v);
        y[at + 14] = h.hminNan(u, v);
        y[at + 15] = h.hmaxNan(u, v);
        y[at + 16] = h.hceil(u);
        y[at + 17] = h.hfloor(u);
        y[at + 18] = h.htrunc(u);
        y[at + 19] = h.hrint(u);
        y[at + 20] = h.hsqrt(u);
        y[at + 21] = h.hrcp(u);
        y[at + 22] = h.hrsqrt(u);
        y[at + 23] = h.hsin(u);
        y[at + 24] = h.hcos(u);
        y[at + 25] = h.htanh(u);
        y[at + 26] = h.hexp(u);
        y[at + 27] = h.hexp2(u);
        y[at + 28] = h.hexp10(u);
        y[at + 29] = h.hlog(u);
        y[at + 30] = h.hlog2(u);
        y[at + 31] = h.hlog10(u);
        y[at + 32] = h.hisnan(u) ? 1 : 0;
        y[at + 33] = 0;
        flags[k] =
          (h.heq(u, v) ? 1 : 0) +
          (h.hne(u, v) ? 2 : 0) +
          (h.hlt(u, v) ? 4 : 0) +
          (h.hle(u, v) ? 8 : 0) +
          (h.hgt(u, v) ? 16 : 0) +
          (h.hge(u, v) ? 32 : 0) +
          (h.hequ(u, v) ? 64 : 0) +
          (h.hneu(u, v) ? 128 : 0) +
          (h.hltu(u, v) ? 256 : 0) +
          (h.hleu(u, v) ? 512 : 0) +
          (h.hgtu(u, v) ? 1024 : 0) +
          (h.hgeu(u, v) ? 2048 : 0);
      });
    const some = [0, -0, 0.1, -0.3, 1, 2.5, -7.7, 3.9, 0.0004, 100, 300, -1000, Number.NaN, Number.POSITIVE_INFINITY];
    const a = Float32Array.from(some.flatMap((x) => some.map(() => x)));
    const b = Float32Array.from(some.flatMap(() => some));
    for (const [format, kernel] of [
      [F16, kernelOf(cuda.fp16)],
      [BF16, kernelOf(cuda.bf16)],
    ] as const) {
      const y = cuda.deviceArray(34 * a.length, f32);
      const flags = cuda.deviceArray(a.length, 'int32');
      await launch(kernel, { threads: a.length }, y, flags, cuda.toDevice(a), cuda.toDevice(b));
      const got = await read(y);
      const round = (x: number): number => nearest(format, x);
      const clamp = (x: number): number => (Number.isNaN(x) ? 0 : Math.min(Math.max(x, 0), 1));
      const column = (n: number): number[] => Array.from(a, (_, k) => got[34 * k + n] as number);
      const u = Array.from(a, round);
      const v = Array.from(b, round);
      const both = (fn: (x: number, z: number) => number): number[] => u.map((x, k) => fn(x, v[k] as number));
      const smaller = (x: number, z: number): number => (Number.isNaN(x) ? z : Number.isNaN(z) ? x : Math.min(x, z));
      const larger = (x: number, z: number): number => (Number.isNaN(x) ? z : Number.isNaN(z) ? x : Math.max(x, z));
      const exact: readonly (readonly [string, readonly number[]])[] = [
        ['hadd', both((x, z) => round(x + z))],
        ['hsub', both((x, z) => round(x - z))],
        ['hmul', both((x, z) => round(x * z))],
        ['hdiv', both((x, z) => round(x / z))],
        ['hfma', both((x, z) => fused(format, x, z, x))],
        ['haddSat', both((x, z) => clamp(round(x + z)))],
        ['hsubSat', both((x, z) => clamp(round(x - z)))],
        ['hmulSat', both((x, z) => clamp(round(x * z)))],
        ['hfmaSat', both((x, z) => clamp(fused(format, x, z, x)))],
        ['hfmaRelu', both((x, z) => Math.max(fused(format, x, z, x), 0))],
        ['hneg', u.map((x) => -x)],
        ['habs', u.map(Math.abs)],
        ['hmin', both(smaller)],
        ['hmax', both(larger)],
        ['hminNan', both(Math.min)],
        ['hmaxNan', both(Math.max)],
        ['hceil', u.map(Math.ceil)],
        ['hfloor', u.map(Math.floor)],
        ['htrunc', u.map(Math.trunc)],
        ['hrint', u.map(evenRound)],
        ['hsqrt', u.map((x) => round(Math.sqrt(x)))],
        ['hrcp', u.map((x) => round(1 / x))],
      ];
      for (const [n, [name, expected]] of exact.entries()) {
        // The sign of a zero that was clamped is left open.
        const plain = (list: readonly number[]): number[] =>
          /Sat|Relu/.test(name) ? list.map((x) => x + 0) : [...list];
        sameElements(plain(column(n)), plain(expected), `${format.name} ${name}`);
      }
      const near: readonly (readonly [string, (x: number) => number])[] = [
        ['hrsqrt', (x) => 1 / Math.sqrt(x)],
        ['hsin', Math.sin],
        ['hcos', Math.cos],
        ['htanh', Math.tanh],
        ['hexp', Math.exp],
        ['hexp2', (x) => 2 ** x],
        ['hexp10', (x) => 10 ** x],
        ['hlog', Math.log],
        ['hlog2', Math.log2],
        ['hlog10', Math.log10],
      ];
      for (const [n, [name, fn]] of near.entries()) close(format, column(22 + n), u.map(fn), name);
      sameElements(
        column(32),
        u.map((x) => (Number.isNaN(x) ? 1 : 0)),
        'hisnan',
      );
      const expected = both((x, z) => {
        const open = Number.isNaN(x) || Number.isNaN(z);
        const is = [x === z, x < z || x > z, x < z, x <= z, x > z, x >= z];
        return [...is, ...[is[0], is[1], is[2], is[3], is[4], is[5]].map((one) => one || open)].reduce(
          (bits, one, n) => bits + (one ? 2 ** n : 0),
          0,
        );
      });
      sameElements(await read(flags), expected, `${format.name} comparisons`);
    }
  },
});
