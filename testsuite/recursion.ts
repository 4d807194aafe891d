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

const ackermann = (m: number, n: number): number => {
  if (m === 0) return n + 1;
  return ackermann(m - 1, n === 0 ? 1 : ackermann(m, n - 1));
};

function quicksort(a: Vec<i32>, low: number, high: number): void {
  if (low >= high) return;
  const pivot = a[(low + high) >> 1];
  let i = low;
  let j = high;
  while (i <= j) {
    while (a[i] < pivot) i++;
    while (a[j] > pivot) j--;
    if (i > j) break;
    const t = a[i];
    a[i++] = a[j];
    a[j--] = t;
  }
  quicksort(a, low, j);
  quicksort(a, i, high);
}

/** Ways to put queens on the columns that are left, none of which attacks another. */
const queens = (n: number, row: number, columns: number, left: number, right: number): number => {
  if (row === n) return 1;
  let ways = 0;
  for (let c = 0; c < n; c++) {
    const bit = 1 << c;
    if (((columns | left | right) & bit) !== 0) continue;
    ways += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return ways;
};

/** Sum and depth of a tree, whose nodes name their children; -1 is none. */
const walk = (left: Vec<i32>, right: Vec<i32>, value: Vec<f32>, node: number): [number, number] => {
  if (node < 0) return [0, 0];
  const [a, deepA] = walk(left, right, value, left[node]);
  const [b, deepB] = walk(left, right, value, right[node]);
  return [a + value[node] + b, 1 + Math.max(deepA, deepB)];
};

/** A path of its own at each level: what stands in it must outlast the calls inside. */
const paths = (n: number, sum: number): number => {
  const own = [n, 2 * n, 3 * n];
  if (n === 0) return sum;
  const below = paths(n - 1, sum + own[n % 3]) + paths(n - 1, sum);
  own[n % 2] += below;
  return own[0] + own[1] + own[2];
};

/** A class whose method calls itself. */
class Counter {
  n = 0;
  descend(depth: number): void {
    this.n++;
    if (depth === 0) return;
    for (let k = 0; k < 2; k++) this.descend(depth - 1);
  }
}

/** Of labelled loops, a switch and early returns. */
const maze = (x: number, y: number, seed: number): number => {
  if (x + y > 3) return seed & 7;
  let sum = 0;
  outer: for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      switch ((x + 2 * y + i + j + seed) % 5) {
        case 0:
          sum += maze(x + 1, y, seed + j);
          continue outer;
        case 1:
          if (sum > 40) break outer;
          sum += 2 * maze(x, y + 1, seed + i);
        // falls through
        case 2:
          sum++;
          break;
        case 3:
          if (i === 2) return sum;
          break;
        default:
          do sum += 2;
          while (sum % 3 === 1);
      }
    }
  }
  return sum + 1;
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
    await rejects(async () => {
      await launch(unchecked, { grid: 1, block: 2 }, y, 4);
      await settled();
    }, /\w+ calls itself more than 4 deep \(maxRecursion\)/);
  },
  'without a depth, or with too great a one, is refused': async () => {
    const plain = cuda.jit((y: Vec<f64>) => {
      y[0] = factorial(y.length);
    });
    await rejects(
      async () => await launch(plain, { grid: 1, block: 1 }, cuda.deviceArray(1, 'float64')),
      /K315: \w+ calls itself: recursion.*maxRecursion: 16/s,
    );
    throws(() => cuda.jit(() => undefined, { maxRecursion: 0 }), /maxRecursion must be at least 1/);
    throws(() => cuda.jit(() => undefined, { maxRecursion: 5000 }), /maxRecursion must be at most 1024/);
  },
  'twice and thrice, in the arguments of itself, sorting': async () => {
    const kernel = cuda.jit(
      (y: Vec<i32>, z: Vec<i32>, a: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i >= y.length) return;
        y[i] = fibonacci(i) + 10000 * ackermann(2, i % 4);
        z[i] = queens(2 + (i % 5), 0, 0, 0, 0);
        quicksort(a.slice([16 * i, 16 * i + 16]), 0, 15);
      },
      { maxRecursion: 24 },
    );
    const ack = [3, 5, 7, 9];
    const data = Int32Array.from({ length: 18 * 16 }, (_, i) => (i * 7919) % 101);
    const [y, z, a] = [cuda.deviceArray(18, 'int32'), cuda.deviceArray(18, 'int32'), cuda.toDevice(data)];
    await launch(kernel, { threads: 18, block: 8 }, y, z, a);
    sameElements(
      await read(y),
      Array.from({ length: 18 }, (_, i) => fibonacci(i) + 10000 * (ack[i % 4] ?? 0)),
    );
    sameElements(
      await read(z),
      Array.from({ length: 18 }, (_, i) => [0, 0, 2, 10, 4][i % 5] ?? 0),
    );
    const sorted = Array.from({ length: 18 }, (_, i) => [...data.slice(16 * i, 16 * i + 16).sort()]);
    sameElements(await read(a), sorted.flat());
  },
  'trees, tuples, arrays of each call': async () => {
    const left = Int32Array.of(1, 3, -1, -1, 5, -1);
    const right = Int32Array.of(2, 4, -1, -1, -1, -1);
    const value = Float32Array.of(1, 2, 4, 8, 16, 32);
    const kernel = cuda.jit(
      (l: Vec<i32>, r: Vec<i32>, v: Vec<f32>, y: Vec<f64>, z: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i >= l.length) return;
        const [sum, depth] = walk(l, r, v, i);
        y[i] = sum + 1000 * depth;
        z[i] = paths(i, 1);
      },
      { maxRecursion: 8 },
    );
    const [y, z] = [cuda.deviceArray(6, 'float64'), cuda.deviceArray(6, 'int32')];
    const tree = [cuda.toDevice(left), cuda.toDevice(right), cuda.toDevice(value)] as const;
    await launch(kernel, { threads: 6, block: 4 }, ...tree, y, z);
    sameElements(await read(y), [4063, 3058, 1004, 1008, 2048, 1032]);
    sameElements(
      await read(z),
      Array.from({ length: 6 }, (_, i) => paths(i, 1)),
    );
  },
  'loops, jumps, methods and names around it': async () => {
    const kernel = cuda.jit(
      (y: Vec<i32>, z: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i >= y.length) return;
        let calls = 0;
        let deepest: number | undefined;
        const descend = (n: number): void => {
          calls++;
          if (deepest === undefined || n > deepest) deepest = n;
          if (n < i % 4) for (let k = 0; k <= n; k++) descend(n + 1);
        };
        descend(0);
        const counter = new Counter();
        counter.descend(i % 5);
        y[i] = maze(i & 1, i >> 3, i);
        z[i] = calls + 100 * (deepest ?? 0) + 1000 * counter.n;
      },
      { maxRecursion: 9 },
    );
    const [y, z] = [cuda.deviceArray(16, 'int32'), cuda.deviceArray(16, 'int32')];
    await launch(kernel, { threads: 16, block: 8 }, y, z);
    sameElements(
      await read(y),
      Array.from({ length: 16 }, (_, i) => maze(i & 1, i >> 3, i)),
    );
    sameElements(
      await read(z),
      Array.from(
        { length: 16 },
        (_, i) => ([1, 2, 4, 10][i % 4] ?? 0) + 100 * (i % 4) + 1000 * (2 ** ((i % 5) + 1) - 1),
      ),
    );
  },
  'a result that is returned as it is takes no depth': async () => {
    const kernel = cuda.jit(
      (y: Vec<i32>, a: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i < y.length) y[i] = gcd(a[i], 832040) + (isEven(a[i] % 1000) ? 1000000 : 0);
      },
      { maxRecursion: 2 },
    );
    const a = Int32Array.from({ length: 40 }, (_, i) => 514229 + 12345 * i);
    const y = cuda.deviceArray(40, 'int32');
    await launch(kernel, { threads: 40, block: 32 }, y, cuda.toDevice(a));
    sameElements(
      await read(y),
      a.map((v) => gcd(v, 832040) + ((v % 1000) % 2 === 0 ? 1000000 : 0)),
    );
  },
  'constants as defaults of parameters': async () => {
    const kernel = cuda.jit(
      (y: Vec<i32>) => {
        const collatz = (n: number, steps = 0, sign = -1): number => {
          if (n < 2) return sign * steps;
          return n % 2 === 0 ? collatz(n / 2, steps + 1) : collatz(3 * n + 1, steps + 1);
        };
        y[0] = collatz(7);
        y[1] = collatz(6, 100);
        y[2] = collatz(3, undefined, 2);
      },
      { maxRecursion: 20 },
    );
    const y = cuda.deviceArray(3, 'int32');
    await launch(kernel, { grid: 1, block: 1 }, y);
    sameElements(await read(y), [-16, -108, -7]);
  },
  'a tuple in one arm, a call inside in the other': async () => {
    const kernel = cuda.jit(
      (y: Vec<i32>) => {
        const divided = (n: number, d: number, q: number): [number, number] =>
          n < d ? [q, n] : divided(n - d, d, q + 1);
        const reversed = (n: number, d: number, q: number): [number, number] =>
          n >= d ? reversed(n - d, d, q + 1) : [q, n];
        const [q, r] = divided(25, 7, 0);
        const [s, t] = reversed(38, 9, 0);
        y.set([q, r, s, t]);
      },
      { maxRecursion: 8 },
    );
    const y = cuda.deviceArray(4, 'int32');
    await launch(kernel, { grid: 1, block: 1 }, y);
    sameElements(await read(y), [3, 4, 4, 2]);
  },
  'what cannot be done is refused': async () => {
    const run = (body: (y: Vec<i32>) => void): Promise<unknown> =>
      launch(cuda.jit(body, { maxRecursion: 4 }), { grid: 1, block: 1 }, cuda.deviceArray(4, 'int32'));
    const waits = (n: number): number => {
      cuda.syncThreads();
      return n === 0 ? 0 : 1 + waits(n - 1);
    };
    await rejects(() => run((y) => void (y[0] = waits(y.length))), /K315: .*barriers/s);
    const some = (n: number): number | undefined => {
      if (n > 3) return n;
      if (n > 1) return 1 + (some(n + 1) as number);
      return undefined;
    };
    await rejects(() => run((y) => void some(y.length)), /\w+\(\) returns (?:undefined|nothing)/);
    const one = (n: number): number => (n <= 0 ? 0 : one(n - 1) + other(n - 1));
    const other = (n: number): number => (n <= 0 ? 1 : other(n - 1) + one(n - 2));
    await rejects(() => run((y) => void (y[0] = one(y.length))), /K315: .*by way of one of them only/s);
  },
});
