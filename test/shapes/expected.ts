/**
 * What the kernels of the shape project must compute, as plain loops that share nothing with them but the formulas.
 * Single precision is left to a tolerance, except where the results are integers.
 */
const N = 203;
const floats = (n: number): number[] => Array.from({ length: n }, (_, i) => Math.fround(Math.sin(i) * 3));
const each = (f: (i: number) => number, n = N): number[] => Array.from({ length: n }, (_, i) => f(i));
const at = (a: readonly number[], i: number): number => a[i] ?? Number.NaN;
const WEIGHTS = [0.25, 0.5, 0.125];

function matmul(rows: number, inner: number, columns: number): number[] {
  const a = floats(rows * inner);
  const b = floats(inner * columns);
  return each((e) => {
    const [row, column] = [Math.floor(e / columns), e % columns];
    return each((k) => at(a, row * inner + k) * at(b, k * columns + column), inner).reduce((s, v) => s + v, 0);
  }, rows * columns);
}

function stencil(rows: number, columns: number): number[] {
  const a = floats(rows * columns);
  return each((e) => {
    const [y, x] = [Math.floor(e / columns), e % columns];
    if (x === 0 || y === 0 || x === columns - 1 || y === rows - 1) return 0;
    return (at(a, e - columns) + at(a, e + columns) + at(a, e - 1) + at(a, e + 1)) / 4;
  }, rows * columns);
}

function histogram(): number[] {
  const bins = each(() => 0, 16);
  for (let i = 0; i < N; i++) {
    const bin = ((i * i * 7) >>> 1) & 15;
    bins[bin] = at(bins, bin) + 1;
  }
  return bins;
}

function shade(v: number): number {
  const clamped = Math.min(Math.max(v, 0), 1);
  return 0.75 * (v / 2) + 0.25 * clamped;
}

function early(i: number): number {
  if (i >= N - 3) return 0;
  if (i < 3) return -1;
  let v = 1;
  while (v <= i) v = Math.fround(v * 1.5);
  do v = Math.fround(v - 1);
  while (v > 2);
  return v;
}

function factors(n: number): number {
  for (let a = 2; a < 12; a++) for (let b = a; b < 12 && a * b <= n; b++) if (a * b === n) return a * 100 + b;
  return -1;
}

function ternary(i: number): number {
  const v = (i - 100) * (i % 3);
  if (i === 0 || i === N - 1) {
    const value = Math.sign(v) * 100;
    return Math.sign(v) < 0 ? value - 1 : value;
  }
  if (v !== 0 && v % 2 === 0) return (v / 2) ^ 1;
  const value = Math.sign(v) * 3 + (v >> 28);
  return v < 0 ? value - 1 : value;
}

function hash(i: number): number {
  let h = (i + 0x9e3779b9) >>> 0;
  h = (h ^ (h >>> 16)) >>> 0;
  h = Math.imul(h, 0x85ebca6b) >>> 0;
  return (h ^ (h >>> 13)) >>> 0;
}

function firstSum(): number {
  let sum = 0;
  for (const v of floats(50)) {
    if (v > Math.fround(2.9)) break;
    if (v >= 0) sum += v;
  }
  return sum;
}

function euclid(i: number): number {
  let [a, b] = [i + 12, 36];
  while (b !== 0) [a, b] = [b, a % b];
  // low meets high after a third of the way; the countdown 4, 3, 2, 1, 0 adds 1 + 2 + 1 + 2 + 1.
  return a * 1000 + Math.ceil(i / 3) + 7;
}

function respelt(v: number): number {
  const squares = [0, 1, 2].map((k) => (v - k) ** 2);
  const least = Math.min(...squares);
  const nearest = squares.indexOf(least);
  const band = (width: number): number => (v < -width ? 0 : v <= width ? 1 : v - width > 1 ? 3 : 2);
  return v < nearest ? least + band(0.5) : band(2) - least;
}

function wide(i: number): number {
  let v = 1n;
  for (let k = 0; k < i % 40; k++) v = BigInt.asIntN(64, v * 3n + BigInt(k));
  return Number(i % 2 === 1 ? -v : v);
}

export const EXPECTED: Readonly<Record<string, readonly number[]>> = {
  saxpy: floats(N).map((v) => 4.5 * v),
  matmul: matmul(13, 21, 10),
  histogram: histogram(),
  stencil: stencil(13, 21),
  blockSum: each((b) => each((t) => floats(N)[b * 64 + t] ?? 0, 64).reduce((s, v) => s + v, 0), 4),
  shaded: floats(N).map((v) => (v > 0 ? 1.5 * shade(v) : -1.5 * shade(-v))),
  switched: each((i) => [10, 23, 3, 0, -i][i % 5] ?? Number.NaN),
  labelled: each((i) => factors(i + 2)),
  early: each(early),
  ternaries: each(ternary),
  captured: each((i) => 1.5 * WEIGHTS.reduce((s, w, k) => s + w * (i + k), 0)),
  hashed: each(hash),
  iterated: each((i) => firstSum() + 0.875 * i),
  swapped: each(euclid),
  respelt: floats(N).map(respelt),
  wide: each(wide),
  looped: each((i) => 4 * i + 9),
  explicit: each((i) => (i + 0.75) / 2, 100),
};
