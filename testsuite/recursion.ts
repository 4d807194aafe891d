/**
 * Chapter: functions that call themselves, as deep as the option maxRecursion says.
 */
import { cuda, type f32, type f64, type i32, type u32, type Vec } from '../src/index.ts';
import { rejects, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));

const gcd = (a: number, b: number): number => {
  if (b === 0) return a;
  return gcd(b, a % b);
};

const fibonacci = (n: number): number => {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
};

const isEven = (n: number): boolean => (n === 0 ? true : isOdd(n - 1));
const isOdd = (n: number): boolean => (n === 0 ? false : isEven(n - 1));

/** First place in a sorted array that is not below a value. */
const lowerBound = (a: Vec<f32>, value: number, low: number, high: number): number => {
  if (low >= high) return low;
  const middle = (low + high) >> 1;
  const below = a[middle] < value;
  return lowerBound(a, value, below ? middle + 1 : low, below ? high : middle);
};

/** Quotient and remainder. */
const divide = (n: number, d: number, quotient: number): [number, number] => {
  if (n < d) return [quotient, n];
  return divide(n - d, d, quotient + 1);
};

export const recursion: readonly ConformanceTest[] = chapter('functions that call themselves', {
  once: async () => {
    const kernel = cuda.jit(
      (y: Vec<f64>, a: Vec<i32>, z: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i >= y.length) return;
        y[i] = factorial(i);
        z[i] = gcd(a[i], 36);
      },
      { maxRecursion: 20 },
    );
    const a = Int32Array.from({ length: 13 }, (_, i) => 7 * i + 12);
    const [y, z] = [cuda.deviceArray(13, 'float64'), cuda.deviceArray(13, 'int32')];
    await launch(kernel, { threads: 13, block: 16 }, y, cuda.toDevice(a), z);
    sameElements(
      await read(y),
      Array.from(a, (_, i) => factorial(i)),
    );
    sameElements(
      await read(z),
      a.map((v) => gcd(v, 36)),
    );
  },
  'twice, and by way of another': async () => {
    const kernel = cuda.jit(
      (y: Vec<u32>, z: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i >= y.length) return;
        y[i] = fibonacci(i);
        z[i] = (isEven(i) ? 1 : 0) + (isOdd(i) ? 2 : 0);
      },
      { maxRecursion: 5 },
    );
    const [y, z] = [cuda.deviceArray(5, 'uint32'), cuda.deviceArray(5, 'int32')];
    await launch(kernel, { threads: 5, block: 8 }, y, z);
    sameElements(await read(y), [0, 1, 1, 2, 3]);
    sameElements(await read(z), [1, 2, 1, 2, 1]);
  },
  'over arrays, with tuples, in loops': async () => {
    const sorted = Float32Array.from({ length: 20 }, (_, i) => i * i);
    const kernel = cuda.jit(
      (a: Vec<f32>, y: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i >= y.length) return;
        let sum = 0;
        for (let k = 0; k < a.length; k += 10) {
          const [q, r] = divide(k + i, 9, 0);
          sum += 100 * q + r;
        }
        y[i] = lowerBound(a, 5 * i, 0, a.length) + 1000 * sum;
      },
      { maxRecursion: 6 },
    );
    const y = cuda.deviceArray(20, 'int32');
    await launch(kernel, { threads: 20, block: 20 }, cuda.toDevice(sorted), y);
    sameElements(
      await read(y),
      Array.from({ length: 20 }, (_, i) => {
        let sum = 0;
        for (let k = 0; k < 20; k += 10) sum += 100 * Math.floor((k + i) / 9) + ((k + i) % 9);
        const place = sorted.findIndex((v) => v >= 5 * i);
        return place + 1000 * sum;
      }),
    );
  },
  'deeper than was said is reported': async () => {
    const body = (y: Vec<f64>, n: number): void => {
      const i = cuda.grid(1);
      y[i] = factorial(n + i);
    };
    const kernel = cuda.jit(body, { maxRecursion: 4, boundsCheck: true });
    const y = cuda.deviceArray(2, 'float64');
    await launch(kernel, { grid: 1, block: 2 }, y, 3);
    sameElements(await read(y), [6, 24]);
    await rejects(async () => {
      await launch(kernel, { grid: 1, block: 2 }, y, 4);
      await settled();
    }, /\w+ calls itself more than 4 deep \(maxRecursion\)/);
    const unchecked = cuda.jit(body, { maxRecursion: 4, boundsCheck: false });
    await launch(unchecked, { grid: 1, block: 2 }, y, 4);
    // The thread that went too deep ends, as after a `throw`.
    sameElements(await read(y), [24, 24]);
  },
  'without a depth, or with too great a one, is refused': async () => {
    const plain = cuda.jit((y: Vec<f64>) => {
      y[0] = factorial(y.length);
    });
    await rejects(
      async () => await launch(plain, { grid: 1, block: 1 }, cuda.deviceArray(1, 'float64')),
      /K315: \w+ calls itself: recursion.*maxRecursion: 16/s,
    );
    const wide = cuda.jit(
      (y: Vec<f64>) => {
        y[0] = fibonacci(y.length);
      },
      { maxRecursion: 40 },
    );
    await rejects(
      async () => await launch(wide, { grid: 1, block: 1 }, cuda.deviceArray(1, 'float64')),
      /K105: .*make maxRecursion smaller/s,
    );
    throws(() => cuda.jit(() => undefined, { maxRecursion: 0 }), /maxRecursion must be at least 1/);
    throws(() => cuda.jit(() => undefined, { maxRecursion: 1000 }), /maxRecursion must be at most 64/);
  },
});
