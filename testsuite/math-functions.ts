/**
 * Chapter: functions of floats. Results in f32 and f64 are held to the accuracy that the documentation states, in units of the
 * last place of the result.
 */
import { cuda, type f64, type Vec } from '../src/index.ts';
import { sameElements, ulpElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { type Accuracy, accurate, doubles, EDGES, EDGES32, eachType, linspace, ofPairs, singles } from './support.ts';
import { launch, read } from './waiting.ts';

/** Zeros, denormals, infinities, NaN. */
const SPECIAL: readonly number[] = [
  ...[0, -0, 1, -1, 2 ** -149, -(2 ** -149), 2 ** -130, 2 ** -60, -(2 ** -60), Number.NaN],
  ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
];

/** f32 as stated for the worst device, with an eighth for the reference's own rounding; f64 as far from the host's functions. */
const ulp = (f32: number, f64 = 3): Accuracy => ({ f32: f32 + 0.125, f64 });

const wide = (low: number, high: number): readonly number[] => [...SPECIAL, ...linspace(low, high, 301)];
/** Both signs, magnitudes from 2**low to 2**high. */
const magnitudes = (low: number, high: number): readonly number[] => [
  ...SPECIAL,
  ...linspace(low, high, 151).flatMap((e) => [2 ** e, -(2 ** e)]),
];

/** A function of two numbers on all pairs. */
function pairs(
  body: (a: number, b: number) => number,
  first: readonly number[],
  second: readonly number[],
  ulps: Accuracy,
): () => Promise<void> {
  return () =>
    eachType(['float32', 'float64'] as const, async (type) => {
      const { a, b, got } = await ofPairs(type, body, first, second);
      const exact = Array.from(a, (v, k) => body(v, b[k] as number));
      ulpElements(got, exact, ulps[type === 'float32' ? 'f32' : 'f64'], type, (k) => `f(${a[k]}, ${b[k]})`);
    });
}

type Table = readonly (readonly [x: number, y: number])[];

/** Values that are the same in f32 and f64, and the true results. */
function tabled(body: (v: number) => number, table: Table, ulps: Accuracy): () => void {
  const known = new Map(table);
  return accurate(
    body,
    table.map(([x]) => x),
    ulps,
    (x) => known.get(x)!,
  );
}

const ERF: Table = [
  [-6, -1.0],
  [-3.5, -0.9999992569016276],
  [-2, -0.9953222650189527],
  [-1.25, -0.9229001282564583],
  [-0.5, -0.5204998778130465],
  [-0.125, -0.1403162048013338],
  [9.5367431640625e-7, 1.0761062308265404e-6],
  [0.0625, 0.07043197772238707],
  [0.25, 0.27632639016823696],
  [0.5, 0.5204998778130465],
  [0.75, 0.7111556336535151],
  [0.84375, 0.7672256612323416],
  [1, 0.8427007929497149],
  [1.25, 0.9229001282564583],
  [1.5, 0.9661051464753108],
  [2, 0.9953222650189527],
  [2.5, 0.999593047982555],
  [3, 0.9999779095030014],
  [4, 0.9999999845827421],
];
const ERFC: Table = [
  [-3, 1.9999779095030015],
  [-1, 1.8427007929497148],
  [-0.25, 1.276326390168237],
  [0.0625, 0.9295680222776129],
  [0.5, 0.4795001221869535],
  [0.75, 0.28884436634648486],
  [1, 0.15729920705028513],
  [1.25, 0.07709987174354177],
  [2, 0.004677734981047266],
  [3, 2.209049699858544e-5],
  [4, 1.541725790028002e-8],
  [5, 1.537459794428035e-12],
  [6, 2.1519736712498913e-17],
  [8, 1.1224297172982926e-29],
  [9.5, 3.7692144856548797e-41],
];
const GAMMA: Table = [
  [-3.5, 0.2700882058522691],
  [-2.25, -1.7428148657282527],
  [-1.5, 2.363271801207355],
  [-0.5, -3.544907701811032],
  [0.125, 7.533941598797612],
  [0.5, 1.772453850905516],
  [0.75, 1.2254167024651776],
  [1, 1.0],
  [1.5, 0.886226925452758],
  [2, 1.0],
  [2.5, 1.329340388179137],
  [3, 2.0],
  [4, 6.0],
  [5, 24.0],
  [7.25, 1155.3810139199898],
  [10, 362880.0],
  [15.5, 334838609873.55646],
  [20, 1.21645100408832e17],
  [33, 2.631308369336935e35],
];
const LGAMMA: Table = [
  [0.125, 2.0194183575537963],
  [0.5, 0.5723649429247001],
  [0.75, 0.20328095143129538],
  [1.5, -0.12078223763524522],
  [2.5, 0.2846828704729192],
  [4, 1.791759469228055],
  [5, 3.1780538303479458],
  [7.25, 7.0521854507385395],
  [10, 12.801827480081469],
  [15.5, 26.536914491115613],
  [20, 39.339884187199495],
  [33, 81.55795945611504],
  [100, 359.1342053695754],
  [1000.5, 5908.674175848678],
  [65536, 661276.8717651855],
];

const SPREAD = [...SPECIAL, 2, -2, 3, -3, 0.5, -0.5, 1.5, 10, -10, 0.1, 100, -7, 1e-3, 33.3];

export const functions: readonly ConformanceTest[] = chapter('math functions', {
  exp: accurate((v) => Math.exp(v), wide(-104, 89), ulp(2.1)),
  expm1: accurate((v) => Math.expm1(v), [...wide(-20, 20), ...magnitudes(-20, 3)], ulp(1.5)),
  log: accurate((v) => Math.log(v), [...magnitudes(-120, 120), ...linspace(0.5, 1.5, 101)], ulp(1)),
  log2: accurate((v) => Math.log2(v), [...magnitudes(-120, 120), ...linspace(0.5, 1.5, 101)], ulp(1.6)),
  log10: accurate((v) => Math.log10(v), [...magnitudes(-120, 120), ...linspace(0.5, 1.5, 101)], ulp(1.6)),
  log1p: accurate((v) => Math.log1p(v), [...magnitudes(-30, 30), ...linspace(-0.99, 1, 101)], ulp(1.6)),
  sin: accurate((v) => Math.sin(v), [...wide(-20, 20), ...magnitudes(0, 100)], ulp(1.6)),
  cos: accurate((v) => Math.cos(v), [...wide(-20, 20), ...magnitudes(0, 100)], ulp(1.6)),
  tan: accurate((v) => Math.tan(v), [...wide(-20, 20), ...magnitudes(0, 100)], ulp(2)),
  asin: accurate((v) => Math.asin(v), wide(-1.01, 1.01), ulp(0.9)),
  acos: accurate((v) => Math.acos(v), wide(-1.01, 1.01), ulp(0.8)),
  atan: accurate((v) => Math.atan(v), [...wide(-5, 5), ...magnitudes(-30, 30)], ulp(2)),
  sinh: accurate((v) => Math.sinh(v), [...wide(-89, 89), ...magnitudes(-20, 2)], ulp(2.8)),
  cosh: accurate((v) => Math.cosh(v), wide(-89, 89), ulp(2.4)),
  tanh: accurate((v) => Math.tanh(v), [...wide(-10, 10), ...magnitudes(-20, 2)], ulp(1.7)),
  asinh: accurate((v) => Math.asinh(v), magnitudes(-20, 100), ulp(1.1)),
  acosh: accurate((v) => Math.acosh(v), [...wide(0.5, 20), ...magnitudes(0, 100)], ulp(1.1)),
  atanh: accurate((v) => Math.atanh(v), wide(-1.01, 1.01), ulp(1.1)),
  cbrt: accurate((v) => Math.cbrt(v), [...wide(-30, 30), ...magnitudes(-120, 120)], ulp(1.2)),
  'cuda.cbrt': accurate((v) => cuda.cbrt(v), wide(-30, 30), ulp(1.2), Math.cbrt),
  'cuda.rsqrt': accurate(
    (v) => cuda.rsqrt(v),
    [...wide(0, 30), ...magnitudes(-120, 120)],
    ulp(1.6),
    (v) => 1 / Math.sqrt(v),
  ),
  'cuda.exp2': accurate(
    (v) => cuda.exp2(v),
    wide(-151, 129),
    ulp(2.1),
    (v) => 2 ** v,
  ),
  'cuda.erf': tabled((v) => cuda.erf(v), ERF, ulp(1.5, 2)),
  'cuda.erfc': tabled((v) => cuda.erfc(v), ERFC, ulp(2.3, 4)),
  'cuda.tgamma': tabled((v) => cuda.tgamma(v), GAMMA, ulp(3.9, 4)),
  'cuda.lgamma': tabled((v) => cuda.lgamma(v), LGAMMA, ulp(6, 4)),
  'Math.pow': pairs((a, b) => a ** b, SPREAD, SPREAD, ulp(1.5)),
  'Math.atan2': pairs((a, b) => Math.atan2(a, b), SPREAD, SPREAD, ulp(1.9)),
  'Math.hypot of two': pairs((a, b) => Math.hypot(a, b), SPREAD, SPREAD, ulp(1.3)),
  'Math.hypot of three': accurate((v) => Math.hypot(v, v * 2, 3), linspace(-20, 20, 81), ulp(3, 4)),
  'sqrt is correctly rounded in f64': doubles((v) => Math.sqrt(v)),
  'sqrt is correctly rounded in f32': singles((v) => Math.sqrt(v)),
  'functions in one expression, per thread different': accurate(
    (v) => (v > 0 ? Math.sqrt(v) * Math.exp(-v) : Math.cos(v) - 1),
    linspace(-3, 3, 101),
    { f32: 4096, f64: 4096 },
  ),
  'arithmetic in double precision': doubles((v) => v * 3 + 0.1 / v - (v % 0.7), EDGES),
  'arithmetic in single precision': accurate(
    (v) => v * 3 + 0.1 / v - (v % 0.75),
    EDGES32.filter((v) => v === 0 || !(Math.abs(v) < 2 ** -20 || Math.abs(v) > 2 ** 20)),
    { f32: 8, f64: 8 },
  ),
  'division and its special cases': pairs((a, b) => a / b, SPREAD, SPREAD, { f32: 0.5, f64: 0 }),
  'remainder and its special cases': pairs((a, b) => a % b, SPREAD, SPREAD, { f32: 0.5, f64: 0 }),
  'a function of an integer is a fraction': async () => {
    const kernel = cuda.jit((y: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = Math.sqrt(k) / 2 + k / 4;
    });
    const y = cuda.deviceArray(9, 'float64');
    await launch(kernel, { threads: 9, block: 4 }, y);
    sameElements(
      await read(y),
      Float64Array.from({ length: 9 }, (_, k) => Math.sqrt(k) / 2 + k / 4),
    );
  },
});
