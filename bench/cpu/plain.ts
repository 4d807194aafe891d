/**
 * The plain JavaScript that one would write instead of the kernels of `cases.ts`: two ways for each, as functions of their arguments.
 *
 * As functions, because that is how code is kept and called again. A loop in a closure over two particular arrays is another thing: V8
 * takes their addresses and lengths for constants there, and is up to twice as fast on the shortest loops (docs/benchmarks.md).
 */

export function saxpyAdd(a: number, x: Float32Array, y: Float32Array): void {
  for (let i = 0; i < y.length; i++) y[i] += a * x[i];
}

export function saxpyAssign(a: number, x: Float32Array, y: Float32Array, n: number): void {
  for (let i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

export function matmulByRows(a: Float32Array, b: Float32Array, c: Float32Array, n: number): void {
  c.fill(0);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < n; k++) {
      const v = a[i * n + k];
      for (let j = 0; j < n; j++) c[i * n + j] += v * b[k * n + j];
    }
}

export function matmulByElements(a: Float32Array, b: Float32Array, c: Float32Array, n: number): void {
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

export function stencilFlat(x: Float32Array, y: Float32Array, n: number): void {
  for (let i = 1; i < n - 1; i++)
    for (let j = 1; j < n - 1; j++) {
      const at = i * n + j;
      y[at] = 0.2 * (x[at] + x[at - n] + x[at + n] + x[at - 1] + x[at + 1]);
    }
}

export function stencilByRows(x: Float32Array, y: Float32Array, n: number): void {
  for (let i = 1; i < n - 1; i++) {
    const up = x.subarray((i - 1) * n, i * n);
    const row = x.subarray(i * n, (i + 1) * n);
    const down = x.subarray((i + 1) * n, (i + 2) * n);
    const out = y.subarray(i * n, (i + 1) * n);
    for (let j = 1; j < n - 1; j++) out[j] = 0.2 * (row[j] + up[j] + down[j] + row[j - 1] + row[j + 1]);
  }
}

/** The part of the plane that a picture of the Mandelbrot set shows. */
export interface Plane {
  readonly left: number;
  readonly top: number;
  readonly step: number;
}

export function mandelbrotDirect(counts: Int32Array, n: number, { left, top, step }: Plane, limit: number): void {
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      const cr = left + x * step;
      const ci = top + y * step;
      let re = 0,
        im = 0,
        k = 0;
      while (k < limit && re * re + im * im <= 4) {
        const next = re * re - im * im + cr;
        im = 2 * re * im + ci;
        re = next;
        k++;
      }
      counts[y * n + x] = k;
    }
}

/** Keeps the squares. */
export function mandelbrotSquares(counts: Int32Array, n: number, { left, top, step }: Plane, limit: number): void {
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      const cr = left + x * step;
      const ci = top + y * step;
      let re = 0,
        im = 0,
        re2 = 0,
        im2 = 0,
        k = 0;
      while (k < limit && re2 + im2 <= 4) {
        im = 2 * re * im + ci;
        re = re2 - im2 + cr;
        re2 = re * re;
        im2 = im * im;
        k++;
      }
      counts[y * n + x] = k;
    }
}

export function sumLoop(x: Float32Array): number {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += x[i];
  return s;
}

export function sumReduce(x: Float32Array): number {
  return x.reduce((a, b) => a + b, 0);
}

export function histogramLoop(x: Uint8Array, bins: Int32Array): void {
  bins.fill(0);
  for (let i = 0; i < x.length; i++) bins[x[i]]++;
}

export function histogramOf(x: Uint8Array, bins: Int32Array): void {
  bins.fill(0);
  for (const v of x) bins[v] += 1;
}

/** A polynomial approximation of the normal distribution's cumulative function; the kernel calls it, too. */
export function cumulative(d: number): number {
  const k = 1 / (1 + 0.2316419 * Math.abs(d));
  const w =
    0.39894228 *
    Math.exp(-0.5 * d * d) *
    (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return d > 0 ? 1 - w : w;
}

/** Options to price: what they cost now, at what price and when they can be used, and the market. */
export interface Options {
  readonly price: Float32Array;
  readonly strike: Float32Array;
  readonly years: Float32Array;
  readonly rate: number;
  readonly volatility: number;
}

/** As the formula stands in books. */
export function blackScholesFormula(options: Options, call: Float32Array, put: Float32Array): void {
  const { price, strike, years, rate, volatility } = options;
  for (let i = 0; i < price.length; i++) {
    const root = Math.sqrt(years[i]);
    const d1 =
      (Math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / (volatility * root);
    const d2 = d1 - volatility * root;
    const n1 = cumulative(d1);
    const n2 = cumulative(d2);
    const discount = Math.exp(-rate * years[i]);
    call[i] = price[i] * n1 - strike[i] * discount * n2;
    put[i] = strike[i] * discount * (1 - n2) - price[i] * (1 - n1);
  }
}

/** Reads each array once. */
export function blackScholesOnce(options: Options, call: Float32Array, put: Float32Array): void {
  const { price, strike, years, rate, volatility } = options;
  for (let i = 0; i < price.length; i++) {
    const [s, x, t] = [price[i], strike[i], years[i]];
    const root = Math.sqrt(t);
    const d1 = (Math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
    const n1 = cumulative(d1);
    const n2 = cumulative(d1 - volatility * root);
    const discounted = x * Math.exp(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - s * (1 - n1);
  }
}
