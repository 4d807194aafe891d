/**
 * Chapter: JavaScript arrays that live in a kernel: literals that are stored to and indexed by variables, rows, captured tables, arrays of
 * functions; and what is refused.
 */
import { cuda, type f64, type i32, type Vec } from '../src/index.ts';
import { rejects, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { doubles, integers } from './support.ts';
import { launch, read } from './waiting.ts';

const WEIGHTS = [1, 4, 6, 4, 1];
const MASKS = [true, false, true, true];
const QUANTISATION = [
  [16, 11, 10, 16],
  [12, 12, 14, 19],
  [14, 13, 16, 24],
];
const BODIES = [
  { mass: 2, at: { x: 1, y: -1 } },
  { mass: 3, at: { x: 5, y: 7 } },
  { mass: 4, at: { x: -2, y: 0 } },
];

const add = (a: number, b: number): number => a + b;
const subtract = (a: number, b: number): number => a - b;
const blend = (a: number, b: number): number => (a > b ? a * 2 - b : b);
const OPERATIONS = [add, subtract, blend, Math.min];

const swap = (v: number[], a: number, b: number): void => {
  const t = v[a]!;
  v[a] = v[b]!;
  v[b] = t;
};

/** Sorts in place. */
const sort = (v: number[]): void => {
  for (let a = 1; a < v.length; a++) for (let b = a; b > 0 && v[b - 1]! > v[b]!; b--) swap(v, b - 1, b);
};

const digits = (n: number): number[] => {
  const out = [0, 0, 0, 0];
  for (let k = 0, rest = n; k < 4; k++, rest = (rest / 10) | 0) out[k] = rest % 10;
  return out;
};

/** A kernel with a use of arrays that there is none of. */
function refused(body: (k: number) => number, message: RegExp, code: string): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((y: Vec<i32>) => {
      y[0] = body(cuda.grid(1));
    });
    const y = cuda.deviceArray(1, 'int32');
    await rejects(() => launch(kernel, { threads: 1 }, y), message, code);
  };
}

export const localArrays: readonly ConformanceTest[] = chapter('local arrays', {
  'a literal that is stored to and read by a variable': integers((k, x) => {
    const v = [0, 0, 0, 0, 0];
    for (let j = 0; j < 16; j++) v[j % 5]! += x[k + j] & 255;
    let s = 0;
    for (let j = 0; j < v.length; j++) s = s * 7 + v[(j + k) % 5]!;
    return s | 0;
  }),
  'items that are computed, and stored by constants': integers((k, x) => {
    const v = [x[k], k, 3];
    v[0] = v[1]! + v[2]!;
    v[1]!--;
    v[2] = v[0]! << 1;
    const at = ++v[1]!;
    return v[0]! + v[1]! * 3 + v[2]! * 5 + at;
  }),
  'a sort in place, by functions that get the array': integers((k, x) => {
    const v = [x[k], x[k + 1], x[k + 2], x[k + 3], x[k + 4], x[k + 5]];
    sort(v);
    return v[k % 6]!;
  }),
  'arrays that functions make': integers((k, x) => {
    const d = digits(x[k] & 1023);
    const e = digits(k);
    let s = 0;
    for (let j = 0; j < 4; j++) s += d[j]! * e[3 - j]!;
    return s;
  }),
  'two names for one array': integers((k, x) => {
    const v = [1, 2, 3];
    const w = v;
    w[k % 3] = x[k] & 31;
    return v[0]! + v[1]! * 32 + v[2]! * 1024;
  }),
  'a new array in every round': integers((k, x) => {
    let s = 0;
    for (let j = 0; j < 5; j++) {
      const seen = [0, 0, 0, 0];
      seen[(x[k + j] + j) & 3]!++;
      for (let i = 0; i < 4; i++) s = (s * 2 + seen[i]!) | 0;
    }
    return s;
  }),
  'rows, by variables and by name': integers((k, x) => {
    const m = [
      [1, 0, x[k] & 7],
      [0, 1, k & 7],
      [2, 0, 1],
    ];
    for (let i = 0; i < 3; i++) {
      m[2]![i]! += i;
      const row = m[(i + k) % 3]!;
      for (let j = 0; j < 3; j++) row[j] = row[j]! * 3 + i;
    }
    m[1]![2]! += 5;
    let s = 0;
    for (let i = 0; i < 9; i++) s = (s * 5 + m[(i / 3) | 0]![i % 3]!) | 0;
    return s;
  }),
  'floats, in the precision of what they meet': doubles((v) => {
    const p = [v, v * 0.5, 1, 0.1];
    for (let j = 0; j < 4; j++) p[3 - j] = p[j]! * 1.25 + p[3 - j]!;
    return p[0]! - p[1]! + p[2]! * p[3]!;
  }),
  'captured tables, by variables': integers((k, x) => {
    let s = 0;
    for (let j = 0; j < 5; j++) s += WEIGHTS[j]! * (x[k + j] & 255);
    return s + QUANTISATION[k % 3]![(k >> 2) & 3]! + WEIGHTS.length + (MASKS[k & 3]! ? 100 : 0);
  }),
  'captured objects, by variables': integers((k) => {
    const b = BODIES[k % 3]!;
    return b.mass * 100 + b.at.x * 10 + b.at.y;
  }),
  'tables in the kernel, as indices and as numbers': integers((k, x) => {
    const order = [2, 0, 3, 1];
    const scale = [1, 10, 100, 1000];
    return x[k + order[k & 3]!] + scale[order[(k + 1) & 3]!]!;
  }),
  'functions, by a variable': integers((k, x) => {
    const f = OPERATIONS[(k + 1) & 3]!;
    return OPERATIONS[k & 3]!(x[k], x[k + 1]) + f(k, 50);
  }),
  flags: integers((k, x) => {
    const seen = [false, false, false, false];
    let repeated = 0;
    for (let j = 0; j < 4; j++) {
      const at = x[k + j] & 3;
      if (seen[at]) repeated++;
      seen[at] = true;
    }
    return repeated;
  }),
  'a variable that is given one array after another': integers((k, x) => {
    let p = [x[k] & 15, k & 15, 1];
    for (let j = 0; j < 3; j++) {
      if (((k + j) & 1) === 0) p = [p[1]!, p[2]!, p[j]!];
      else p = p.map((v) => v * 2 + 1);
    }
    let s = 0;
    for (let j = 0; j < 3; j++) s = s * 31 + p[(j + k) % 3]!;
    return s;
  }),
  'arrays of numbers as arguments, by variables': async () => {
    const kernel = cuda.jit((y: Vec<f64>, taps: readonly number[], rows: readonly (readonly number[])[]) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      let s = rows[k % 2]![k % 3]! + rows[1]![k % 3]!;
      for (let j = 0; j < taps.length; j++) s += taps[(j + k) % taps.length]! * j;
      y[k] = s;
    });
    const [taps, rows] = [
      [0.5, 1, 2, 4.25],
      [
        [1, 2, 3],
        [10, 20, 30],
      ],
    ];
    const y = cuda.deviceArray(9, 'f64');
    await launch(kernel, { threads: 9 }, y, taps, rows);
    const expected = Float64Array.from({ length: 9 }, (_, k) =>
      taps.reduce((s, _t, j) => s + taps[(j + k) % 4]! * j, rows[k % 2]![k % 3]! + rows[1]![k % 3]!),
    );
    sameElements(await read(y), expected, 'thread');
  },
  'rows of different lengths are refused': refused(
    (k) => [[1], [2, 3]][k & 1]![0]!,
    /rows of different lengths/,
    'K239',
  ),
  'a constant index beyond the end is refused': refused(
    () => {
      const v = [1, 2, 3];
      for (let j = 0; j < 3; j++) v[j] = j;
      return v[3]!;
    },
    /index 3 is out of range/,
    'K235',
  ),
});
