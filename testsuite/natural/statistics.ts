/**
 * Natural kernels of statistics, finance and machine learning.
 */
import { bytes, doubles, floats, integers, type Programs, program } from './program.ts';

const ROWS = 30;
const COLUMNS = 12;

function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const d = 0.3989422804014327 * Math.exp((-x * x) / 2);
  const p = d * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x > 0 ? 1 - p : p;
}

export const statistics: Programs = {
  'black and scholes': program(
    50,
    [doubles(50, 10, 50), doubles(50, 10, 50), doubles(50, 0.1, 2), new Float64Array(50)],
    (i, spot, strike, years, call) => {
      const [r, v] = [0.02, 0.3];
      const [s, k, t] = [spot[i], strike[i], years[i]];
      const d1 = (Math.log(s / k) + (r + (v * v) / 2) * t) / (v * Math.sqrt(t));
      const d2 = d1 - v * Math.sqrt(t);
      call[i] = s * normalCdf(d1) - k * Math.exp(-r * t) * normalCdf(d2);
    },
  ),

  'mean and deviation of rows': program(
    ROWS,
    [doubles(ROWS * COLUMNS), new Float64Array(2 * ROWS), COLUMNS],
    (i, x, out, n) => {
      const row = x.subarray(i * n, (i + 1) * n);
      let mean = 0;
      for (const v of row) mean += v;
      mean /= n;
      let square = 0;
      for (const v of row) square += (v - mean) ** 2;
      out[2 * i] = mean;
      out[2 * i + 1] = Math.sqrt(square / (n - 1));
    },
  ),

  "welford's variance": program(ROWS, [doubles(ROWS * COLUMNS), new Float64Array(ROWS)], (i, x, out) => {
    const acc = { n: 0, mean: 0, m2: 0 };
    for (let k = 0; k < COLUMNS; k++) {
      const v = x[i * COLUMNS + k];
      acc.n += 1;
      const delta = v - acc.mean;
      acc.mean += delta / acc.n;
      acc.m2 += delta * (v - acc.mean);
    }
    out[i] = acc.m2 / (acc.n - 1);
  }),

  'softmax of rows': program(ROWS, [floats(ROWS * COLUMNS, -3, 3)], (i, x) => {
    const start = i * COLUMNS;
    let top = -Infinity;
    for (let k = 0; k < COLUMNS; k++) top = Math.max(top, x[start + k]);
    let sum = 0;
    for (let k = 0; k < COLUMNS; k++) {
      x[start + k] = Math.exp(x[start + k] - top);
      sum += x[start + k];
    }
    for (let k = 0; k < COLUMNS; k++) x[start + k] /= sum;
  }),

  'layer norm': program(ROWS, [floats(ROWS * COLUMNS, -3, 3), floats(COLUMNS), floats(COLUMNS)], (i, x, gain, bias) => {
    let [mean, variance] = [0, 0];
    for (let k = 0; k < COLUMNS; k++) mean += x[i * COLUMNS + k] / COLUMNS;
    for (let k = 0; k < COLUMNS; k++) variance += (x[i * COLUMNS + k] - mean) ** 2 / COLUMNS;
    const scale = 1 / Math.sqrt(variance + 1e-5);
    for (let k = 0; k < COLUMNS; k++) x[i * COLUMNS + k] = (x[i * COLUMNS + k] - mean) * scale * gain[k] + bias[k];
  }),

  'gelu, relu and leaky relu by a name': program(90, [floats(90, -3, 3)], (i, x) => {
    const kinds = ['gelu', 'relu', 'leaky'] as const;
    const apply = (kind: (typeof kinds)[number], v: number): number => {
      switch (kind) {
        case 'gelu':
          return 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3)));
        case 'relu':
          return Math.max(0, v);
        case 'leaky':
          return v > 0 ? v : 0.01 * v;
      }
    };
    if (i % 3 === 0) x[i] = apply('gelu', x[i]);
    else if (i % 3 === 1) x[i] = apply('relu', x[i]);
    else x[i] = apply('leaky', x[i]);
  }),

  'attention of one query': program(
    ROWS,
    [floats(ROWS * 8, -1, 1), floats(20 * 8, -1, 1), floats(20 * 8), new Float32Array(ROWS * 8)],
    (i, q, k, v, out) => {
      const scores = new Float32Array(20);
      let top = -Infinity;
      for (let t = 0; t < 20; t++) {
        let s = 0;
        for (let d = 0; d < 8; d++) s += q[i * 8 + d] * k[t * 8 + d];
        scores[t] = s / Math.sqrt(8);
        if (scores[t] > top) top = scores[t];
      }
      let total = 0;
      for (let t = 0; t < 20; t++) total += scores[t] = Math.exp(scores[t] - top);
      for (let d = 0; d < 8; d++) {
        let s = 0;
        for (let t = 0; t < 20; t++) s += scores[t] * v[t * 8 + d];
        out[i * 8 + d] = s / total;
      }
    },
  ),

  'k nearest centre': program(
    60,
    [doubles(120), doubles(10), new Int32Array(60)],
    (i, points, centres, label) => {
      let best = -1;
      let bestDistance = Number.MAX_VALUE;
      for (let c = 0; c < 5; c++) {
        const dx = points[2 * i] - centres[2 * c];
        const dy = points[2 * i + 1] - centres[2 * c + 1];
        const d = dx * dx + dy * dy;
        if (d < bestDistance) {
          bestDistance = d;
          best = c;
        }
      }
      label[i] = best;
    },
    undefined,
    'f64',
  ),

  'moving average with a window': program(80, [doubles(80), new Float64Array(80), 7], (i, x, out, window) => {
    const from = Math.max(0, i - window + 1);
    let sum = 0;
    for (let k = from; k <= i; k++) sum += x[k];
    out[i] = sum / (i - from + 1);
  }),

  'a histogram of each row': program(ROWS, [bytes(ROWS * COLUMNS), new Uint32Array(ROWS * 4)], (i, x, out) => {
    const counts = [0, 0, 0, 0];
    for (let k = 0; k < COLUMNS; k++) counts[x[i * COLUMNS + k] >> 6]++;
    counts.forEach((c, k) => {
      out[i * 4 + k] = c;
    });
  }),

  'monte carlo of pi, with its own generator': program(40, [new Float64Array(40)], (i, out) => {
    let seed = i + 1;
    // mulberry32
    const random = () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    let hits = 0;
    for (let k = 0; k < 100; k++) {
      const x = random();
      const y = random();
      if (x * x + y * y < 1) hits++;
    }
    out[i] = (4 * hits) / 100;
  }),

  'compound interest': program(24, [doubles(24, 100, 900), 0.05, 10], (i, balance, rate, years) => {
    for (let y = 0; y < years; y++) balance[i] *= 1 + rate;
  }),

  'correlation of two columns': program(
    8,
    [doubles(8 * 30), doubles(8 * 30), new Float64Array(8)],
    (i, xs, ys, out) => {
      let [sx, sy, sxx, syy, sxy] = [0, 0, 0, 0, 0];
      for (let k = 0; k < 30; k++) {
        const [x, y] = [xs[i * 30 + k], ys[i * 30 + k]];
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
      }
      out[i] = (30 * sxy - sx * sy) / Math.sqrt((30 * sxx - sx ** 2) * (30 * syy - sy ** 2));
    },
  ),

  'quantiles by counting': program(50, [integers(50, 0, 100), new Int32Array(50)], (i, x, rank) => {
    let below = 0;
    for (let k = 0; k < x.length; k++) {
      if (x[k] < x[i] || (x[k] === x[i] && k < i)) below += 1;
    }
    rank[i] = below;
  }),
};
