/**
 * Chapter: the kernel language. Every body runs as a device function in many threads at once, and again as the plain
 * JavaScript that it is; both must give the same numbers.
 */
import { cuda, type f64, type i32, type Vec } from '../index.ts';
import { sameElements } from './assert.ts';
import { chapter, type ConformanceTest } from './suite.ts';

const N = 203;

type Body = (k: number, x: Vec<i32>) => number;

/** Integers of all sizes and signs, small ones often. */
function inputs(): Int32Array {
  let seed = 12345;
  return Int32Array.from({ length: N + 16 }, (_, k) => {
    seed = (Math.imul(seed, 1103515245) + 12345) | 0;
    return k % 3 === 0 ? seed >> 8 : (seed >> 16) % 50;
  });
}

/** Runs `body` on the device for each k, into integers, and compares with the host. */
function integers(body: Body): () => void {
  return () => {
    const x = inputs();
    const kernel = cuda.jit((y: Vec<i32>, values: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(k, values);
    });
    const y = cuda.deviceArray(N, 'int32');
    const dx = cuda.toDevice(x);
    for (const block of [32, 50]) {
      kernel.launch({ threads: N, block }, y, dx);
      const expected = Int32Array.from({ length: N }, (_, k) => body(k, x as unknown as Vec<i32>));
      sameElements(y.copyToHost(), expected, `block ${block}, thread`);
    }
    y.dispose();
    dx.dispose();
  };
}

/** The same in double precision, which is JavaScript's own arithmetic. */
function doubles(body: (v: number) => number, values: readonly number[]): () => void {
  return () => {
    const x = Float64Array.from(values);
    const kernel = cuda.jit((y: Vec<f64>, v: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(v[k]);
    });
    const y = new Float64Array(x.length);
    kernel.launch({ threads: x.length, block: 16 }, y, cuda.In(x));
    sameElements(y, x.map(body), 'value');
  };
}

const EDGES = [0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-300, 5e-324, 1e300, -1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 0.49999999999999994, 4503599627370497.5, 2 ** 31, -(2 ** 31) - 1, 3.7, -3.7];

const square = (v: number) => Math.imul(v, v);
const clamp = (v: number, lo: number, hi: number) => {
  if (v < lo) return lo;
  if (v > hi) return hi;
  return v;
};

export const language: readonly ConformanceTest[] = chapter('language', {
  'if and else': integers((k, x) => {
    if (x[k] > 20) return 1;
    else if (x[k] < -20) return 2;
    return x[k] === 0 ? 3 : 4;
  }),
  'loops that each thread leaves at its own time': integers((k, x) => {
    let s = 0;
    let n = x[k] & 63;
    while (n > 1) {
      n = n % 2 === 0 ? (n / 2) | 0 : 3 * n + 1;
      s++;
      if (s > 40) break;
    }
    return s * 100 + n;
  }),
  'do while and continue': integers((k, x) => {
    let s = 0;
    let i = 0;
    do {
      i++;
      if ((x[k] >> i) & 1) continue;
      s += i;
    } while (i < 10);
    return s;
  }),
  'labelled break and continue': integers((k, x) => {
    let s = 0;
    outer: for (let a = 0; a < 6; a++) {
      for (let b = 0; b < 6; b++) {
        if (a * b > (x[k] & 15)) break outer;
        if (b > a) continue outer;
        s += a * 10 + b;
      }
    }
    return s;
  }),
  'switch with fall through': integers((k, x) => {
    let r = 0;
    switch (x[k] & 7) {
      case 0: r = 1; break;
      case 1: r = 10;
      case 2: r += 100; break;
      default: r = 7;
      case 5: { r += 1000; break; }
      case 6: return -6;
    }
    return r;
  }),
  'ternaries, && and || with side effects': integers((k, x) => {
    let a = 0;
    let b = 0;
    x[k] > 0 ? (a = x[k] & 7, b++) : b--;
    x[k + 1] > 5 && (b += 5);
    x[k + 2] > 5 || (a += 7);
    const c = a > 3 && x[k + 3] > 0 ? b++ : --b;
    return a * 1000 + b * 10 + c;
  }),
  'guarded access': integers((k, x) => (k > 0 && x[k - 1] > 10 ? x[k - 1] & 255 : k + 1 < 200 && x[k + 1] < 0 ? 2 : 3)),
  'order of evaluation': integers((k, x) => {
    let v = x[k] & 15;
    const s = v + (v = 5) + v++ * v;
    return s * 10 + v;
  }),
  'nested functions and closures': integers((k, x) => {
    let n = x[k] & 255;
    const bump = (by: number) => { n += by; };
    function twice(f: (v: number) => void) { f(1); f(n & 3); }
    twice(bump);
    return n;
  }),
  'device functions with several returns': integers((k, x) => clamp(x[k], -10, 10) + square(clamp(x[k], 0, 7))),
  'tuples, objects, destructuring, swap': integers((k, x) => {
    let [a, b] = [x[k] & 255, x[k + 1] & 255];
    if (a < b) [a, b] = [b, a];
    const p = { hi: a, rest: { lo: b } };
    const { hi, rest: { lo } } = p;
    const [first, ...others] = [hi, lo, 3];
    return first * 1000 + others[0] + others.length;
  }),
  'a name with two lives': integers((k, x) => {
    var t = x[k] & 31;
    const half = t * 0.5;
    var t = Math.floor(half) + 1;
    return t;
  }),
  'integer division, remainder and rounding': integers((k, x) => {
    const a = x[k];
    const b = (x[k + 1] & 15) + 1;
    return ((a / b) | 0) + Math.floor(a / b) * 3 + Math.trunc(a / -b) * 5 + Math.ceil(a / b) * 7 + (a % b) * 11 + Math.round(a / b);
  }),
  'bit operations and shifts': integers((k, x) => {
    const a = x[k];
    const s = x[k + 1] & 31;
    return ((a << s) ^ (a >> s) ^ (a >>> 3)) + (~a & 0xffff) + (a | 5) + Math.clz32(a) + Math.imul(a, 0x9e3779b1);
  }),
  'Math on integers stays integer': integers((k, x) => Math.abs(x[k]) + Math.min(x[k], x[k + 1], 3) * 2 + Math.max(x[k], -5) * 3 + Math.sign(x[k]) * 7),
  'comparison and truthiness': integers((k, x) => {
    let r = 0;
    if (x[k]) r += 1;
    if (!x[k + 1]) r += 2;
    if (x[k] !== x[k + 1] && !(x[k] <= x[k + 2] || x[k] === 5)) r += 4;
    r += +(x[k] > 3) * 8;
    return r;
  }),
  'arithmetic in double precision': doubles((v) => v * 3 + 0.1 / v - v % 0.7, EDGES),
  'rounding functions': doubles((v) => Math.round(v) * 8 + Math.floor(v) * 4 + Math.ceil(v) * 2 + Math.trunc(v), EDGES),
  'round keeps the sign of zero': doubles((v) => Math.round(v), EDGES),
  'min and max with NaN and zeros': doubles((v) => Math.min(v, 0) + Math.max(-v, -0, 1 / Math.min(v, -0)), EDGES),
  'sign, abs and sqrt': doubles((v) => Math.sign(v) + Math.abs(v) * 2 + Math.sqrt(v), EDGES),
  'NaN and finite tests': doubles((v) => (Number.isNaN(v) ? 1 : 0) + (Number.isFinite(v) ? 2 : 0) + (Number.isInteger(v) ? 4 : 0) + (v ? 8 : 0), EDGES),
  'fround': doubles((v) => Math.fround(v) + Math.fround(v * 1e10), EDGES),
});
