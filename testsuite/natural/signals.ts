/**
 * Natural kernels of signals, matrices and graphs.
 */
import { doubles, floats, integers, type Programs, program } from './program.ts';

const N = 64;
const TAU = 2 * Math.PI;

export const signals: Programs = {
  'a discrete fourier transform': program(
    N,
    [doubles(N), new Float64Array(2 * N)],
    (k, x, out) => {
      let [re, im] = [0, 0];
      for (let n = 0; n < x.length; n++) {
        const phi = (-TAU * k * n) / x.length;
        re += x[n] * Math.cos(phi);
        im += x[n] * Math.sin(phi);
      }
      out[2 * k] = re;
      out[2 * k + 1] = im;
    },
    1e-9,
    'f64',
  ),

  'a filter of five taps, reflected': program(N, [floats(N), new Float32Array(N)], (i, x, y) => {
    const taps = [0.0625, 0.25, 0.375, 0.25, 0.0625];
    let sum = 0;
    for (let k = -2; k <= 2; k++) {
      let at = i + k;
      if (at < 0) at = -at;
      if (at >= x.length) at = 2 * x.length - 2 - at;
      sum += taps[k + 2] * x[at];
    }
    y[i] = sum;
  }),

  'a biquad for each channel': program(6, [doubles(6 * 40)], (c, samples) => {
    const { b0, b1, b2, a1, a2 } = { b0: 0.2, b1: 0.3, b2: 0.1, a1: -0.5, a2: 0.25 };
    let [x1, x2, y1, y2] = [0, 0, 0, 0];
    for (let n = 0; n < 40; n++) {
      const x = samples[c * 40 + n];
      const y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
      [x2, x1, y2, y1] = [x1, x, y1, y];
      samples[c * 40 + n] = y;
    }
  }),

  'windows by their name': program(N, [new Float64Array(3 * N)], (i, out) => {
    const cosine = (...a: number[]) => {
      let sum = 0;
      for (let k = 0; k < a.length; k++) sum += (k % 2 === 0 ? 1 : -1) * a[k] * Math.cos((TAU * k * i) / (N - 1));
      return sum;
    };
    out[i] = cosine(0.5, 0.5);
    out[N + i] = cosine(0.54, 0.46);
    out[2 * N + i] = cosine(0.42, 0.5, 0.08);
  }),

  goertzel: program(
    8,
    [doubles(N), new Float64Array(8)],
    (i, x, power) => {
      const coefficient = 2 * Math.cos((TAU * i) / x.length);
      let s1 = 0;
      let s2 = 0;
      for (const v of x) {
        const s = v + coefficient * s1 - s2;
        s2 = s1;
        s1 = s;
      }
      power[i] = s1 ** 2 + s2 ** 2 - coefficient * s1 * s2;
    },
    1e-9,
    'f64',
  ),

  autocorrelation: program(N, [doubles(N, -1, 1), new Float64Array(N)], (lag, x, out) => {
    let sum = 0;
    for (let n = 0; n + lag < x.length; n++) sum += x[n] * x[n + lag];
    out[lag] = sum;
  }),

  'peaks of a signal': program(N, [doubles(N), new Uint8Array(N)], (i, x, peak) => {
    const before = i > 0 ? x[i - 1] : -Infinity;
    const after = i + 1 < x.length ? x[i + 1] : -Infinity;
    peak[i] = Number(x[i] > before && x[i] > after);
  }),

  'mu-law': program(N, [Int16Array.from(doubles(N, -32000, 32000)), new Uint8Array(N)], (i, pcm, out) => {
    let sample = pcm[i];
    const sign = sample < 0 ? 0x80 : 0;
    if (sign !== 0) sample = -sample;
    sample = Math.min(sample, 32635) + 132;
    let exponent = 7;
    for (let mask = 0x4000; (sample & mask) === 0 && exponent > 0; mask >>= 1) exponent--;
    const mantissa = (sample >> (exponent + 3)) & 0x0f;
    out[i] = ~(sign | (exponent << 4) | mantissa);
  }),

  'matrix times vector': program(12, [doubles(12 * 9), doubles(9), new Float64Array(12)], (r, a, x, y) => {
    y[r] = x.reduce((sum, v, c) => sum + a[r * x.length + c] * v, 0);
  }),

  'inverse of matrices of three rows': program(
    10,
    [doubles(90, -1, 1)],
    (i, all) => {
      const m = all.subarray(9 * i, 9 * i + 9);
      const [a, b, c, d, e, f, g, h, k] = m;
      const A = e * k - f * h;
      const B = f * g - d * k;
      const C = d * h - e * g;
      const det = a * A + b * B + c * C;
      const inverse = [
        A,
        c * h - b * k,
        b * f - c * e,
        B,
        a * k - c * g,
        c * d - a * f,
        C,
        b * g - a * h,
        a * e - b * d,
      ];
      for (let j = 0; j < 9; j++) m[j] = inverse[j] / det;
    },
    1e-8,
  ),

  'cholesky of small matrices': program(5, [new Float64Array(5 * 16)], (i, out) => {
    const a = (r: number, c: number) => (r === c ? 4 + i : 1 / (1 + Math.abs(r - c)));
    const l = [
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ];
    for (let r = 0; r < 4; r++) {
      for (let c = 0; c <= r; c++) {
        let sum = a(r, c);
        for (let k = 0; k < c; k++) sum -= l[r][k] * l[c][k];
        l[r][c] = r === c ? Math.sqrt(sum) : sum / l[c][c];
      }
    }
    for (let r = 0; r < 4; r++) for (let c = 0; c < 4; c++) out[16 * i + 4 * r + c] = l[r][c];
  }),

  'gauss with pivots, in a local matrix': program(
    4,
    [doubles(4 * 12, -1, 1), new Float64Array(12)],
    (i, system, x) => {
      const m = Array.from({ length: 3 }, (_, r) => [
        system[12 * i + 4 * r],
        system[12 * i + 4 * r + 1],
        system[12 * i + 4 * r + 2],
        system[12 * i + 4 * r + 3],
      ]);
      for (let p = 0; p < 3; p++) {
        let top = p;
        for (let r = p + 1; r < 3; r++) if (Math.abs(m[r][p]) > Math.abs(m[top][p])) top = r;
        for (let c = 0; c < 4; c++) [m[p][c], m[top][c]] = [m[top][c], m[p][c]];
        for (let r = 0; r < 3; r++) {
          if (r === p) continue;
          const f = m[r][p] / m[p][p];
          for (let c = p; c < 4; c++) m[r][c] -= f * m[p][c];
        }
      }
      for (let r = 0; r < 3; r++) x[3 * i + r] = m[r][3] / m[r][r];
    },
    1e-7,
  ),

  'a sparse matrix in rows': program(
    5,
    [integers(6, 0, 1).map((_, k) => 3 * k), integers(15, 0, 9), doubles(15), doubles(9), new Float64Array(5)],
    (r, start, column, value, x, y) => {
      let sum = 0;
      for (let k = start[r]; k < start[r + 1]; k++) sum += value[k] * x[column[k]];
      y[r] = sum;
    },
  ),

  'a step of pagerank': program(
    8,
    [integers(24, 0, 8), doubles(8), new Float64Array(8), 0.85],
    (v, links, rank, next, damping) => {
      let sum = 0;
      for (let u = 0; u < 8; u++) {
        for (let k = 0; k < 3; k++) if (links[3 * u + k] === v) sum += rank[u] / 3;
      }
      next[v] = (1 - damping) / 8 + damping * sum;
    },
  ),

  'distances from a vertex': program(8, [integers(64, 1, 20), new Int32Array(64)], (source, weight, out) => {
    const distance = new Array(8).fill(1e9);
    const done = new Array(8).fill(false);
    distance[source] = 0;
    for (let round = 0; round < 8; round++) {
      let u = -1;
      for (let v = 0; v < 8; v++) if (!done[v] && (u === -1 || distance[v] < distance[u])) u = v;
      done[u] = true;
      for (let v = 0; v < 8; v++) distance[v] = Math.min(distance[v], distance[u] + weight[8 * u + v]);
    }
    for (let v = 0; v < 8; v++) out[8 * source + v] = distance[v];
  }),

  'roots of polynomials by newton': program(20, [doubles(20, 1, 9)], (i, x) => {
    const p = [-6, 11, -6, 1];
    let v = x[i];
    for (let step = 0; step < 30; step++) {
      let [f, df] = [0, 0];
      for (let k = p.length - 1; k >= 0; k--) {
        df = df * v + f;
        f = f * v + p[k];
      }
      if (Math.abs(df) < 1e-12) break;
      v -= f / df;
    }
    x[i] = Math.round(v * 1e3) / 1e3;
  }),

  'simpson with a function as an argument': program(12, [new Float64Array(12)], (i, out) => {
    const integrate = (f: (x: number) => number, a: number, b: number, n = 20) => {
      const h = (b - a) / n;
      let sum = f(a) + f(b);
      for (let k = 1; k < n; k++) sum += f(a + k * h) * (k % 2 ? 4 : 2);
      return (sum * h) / 3;
    };
    out[i] = integrate((x) => Math.exp(-x * x), 0, i / 4) + integrate(Math.sin, 0, i, 10);
  }),
};
