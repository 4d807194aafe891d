/**
 * Chapter: quotients of integers that are rounded, by every function and at every edge, directly and through variables.
 */
import { cuda, type f32, type f64, type In, i32, type i64, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

const SMALL = [0, 1, 2, 3, 7, 100, 16777217, 99999999, 100000000];
const EDGES: Readonly<Record<'int32' | 'uint32' | 'int64' | 'uint64', readonly bigint[]>> = {
  int32: [...SMALL, ...SMALL.map((v) => -v), 2 ** 31 - 1, 2 - 2 ** 31, 1 - 2 ** 31, -(2 ** 31)].map(BigInt),
  uint32: [...SMALL, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1].map(BigInt),
  int64: [...SMALL.map(BigInt), ...SMALL.map((v) => BigInt(-v)), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)],
  uint64: [...SMALL.map(BigInt), 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n],
};

/** a / b in exact integers: rounded down, up, half up, towards zero; 0 where b is. */
function roundings(a: bigint, b: bigint): readonly bigint[] {
  if (b === 0n) return [0n, 0n, 0n, 0n];
  const [n, d] = b < 0n ? [-a, -b] : [a, b];
  const down = n / d - (n % d < 0n ? 1n : 0n);
  const rest = n - down * d;
  return [down, rest === 0n ? down : down + 1n, 2n * rest >= d ? down + 1n : down, n / d];
}

type Body = (y: Vec<i32>, a: In<Vec<i32>>, b: In<Vec<i32>>) => void;

/** Runs a kernel on all pairs of edges and compares with exact integers that wrap. */
function quotients(type: keyof typeof EDGES, body: Body): () => Promise<void> {
  return async () => {
    const pairs = EDGES[type].flatMap((a) => EDGES[type].map((b) => [a, b] as const));
    // To the types of the kernel all four are i32: what a kernel does follows from the arrays that it is given.
    const cells = (list: readonly bigint[]): Int32Array => {
      const bits = BigInt64Array.from(list, (v) => BigInt.asIntN(64, v));
      const typed =
        type === 'int64'
          ? bits
          : type === 'uint64'
            ? new BigUint64Array(bits.buffer)
            : (type === 'int32' ? Int32Array : Uint32Array).from(list.map(Number));
      return typed as unknown as Int32Array;
    };
    const kernel = cuda.jit(body);
    const y = cells(pairs.flatMap(() => [9n, 9n, 9n, 9n]));
    const [a, b] = [cells(pairs.map((p) => p[0])), cells(pairs.map((p) => p[1]))];
    await launch(kernel, { threads: pairs.length, block: 64 }, cuda.Out(y), cuda.In(a), cuda.In(b));
    sameElements(y, cells(pairs.flatMap(([p, q]) => roundings(p, q))));
  };
}

const direct: Body = (y, a, b) => {
  const k = cuda.grid(1);
  if (k >= a.length) return;
  y[4 * k] = Math.floor(a[k] / b[k]);
  y[4 * k + 1] = Math.ceil(a[k] / b[k]);
  y[4 * k + 2] = Math.round(a[k] / b[k]);
  y[4 * k + 3] = Math.trunc(a[k] / b[k]);
};

const named: Body = (y, a, b) => {
  const k = cuda.grid(1);
  if (k >= a.length) return;
  const q = a[k] / b[k];
  y[4 * k] = Math.floor(q);
  y[4 * k + 1] = Math.ceil(q);
  y[4 * k + 2] = Math.round(q);
  y[4 * k + 3] = ~~q;
};

export const quotientTests: readonly ConformanceTest[] = chapter('quotients of integers', {
  'i32: every pair of edges, every rounding': quotients('int32', direct),
  'u32: every pair of edges, every rounding': quotients('uint32', direct),
  'i64: every pair of edges, every rounding': quotients('int64', direct),
  'u64: every pair of edges, every rounding': quotients('uint64', direct),
  'i32 through a variable': quotients('int32', named),
  'u32 through a variable': quotients('uint32', named),
  'quotients without a remainder are indices, of integers alone': async () => {
    const kernel = cuda.jit((y: Vec<i32>, z: Vec<f64>, table: In<Vec<i32>>, x: In<Vec<f64>>, width: i32) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      const column = k % width;
      const row = (k - column) / width;
      const triangle = (k * (k + 1)) / 2;
      y[k] = table[row]! * 1000 + table[(k - (k & 3)) / 4]! + table[triangle % 50]! * 100 + row + (8 * k) / 4;
      const v = x[k]!;
      z[k] = (v - (v % 0.3)) / 0.3 + (v * (v + 1)) / 2 + (8 * v) / 4;
    });
    const table = Int32Array.from({ length: 50 }, (_, k) => 7 * k + 1);
    const x = Float64Array.from({ length: 40 }, (_, k) => k * 0.37 - 5);
    const [y, z] = [cuda.deviceArray(40, 'i32'), cuda.deviceArray(40, 'f64')];
    await launch(
      kernel,
      { threads: 40 },
      y,
      z,
      cuda.toDevice(table) as never,
      cuda.toDevice(x) as never,
      cuda.scalar(i32, 7) as never,
    );
    const expected = Int32Array.from({ length: 40 }, (_, k) => {
      const row = Math.floor(k / 7);
      return table[row]! * 1000 + table[k >> 2]! + table[((k * (k + 1)) / 2) % 50]! * 100 + row + 2 * k;
    });
    sameElements(await read(y), expected, 'thread');
    const fractions = x.map((v) => (v - (v % 0.3)) / 0.3 + (v * (v + 1)) / 2 + (8 * v) / 4);
    sameElements((await read(z)) as Float64Array, fractions, 'thread');
  },
  'quotients are indices where the program has asked for a remainder': async () => {
    const sums = (k: number, table: ArrayLike<number>): number => {
      let sum = 0;
      for (let r = 0; r < 6; r++) {
        const s = k - r;
        if (s < 0 || s % 2 !== 0) continue;
        const at = s / 2;
        sum += table[at]!;
      }
      for (let r = 0; r < 9; r++) if (r % 3 === 0) sum += 10 * table[r / 3]!;
      if ((k & 3) === 0) sum += 100 * table[k / 4]!;
      else if (!(k % 3)) sum += 100 * table[k / 3]!;
      sum += k % 5 === 0 && table[k / 5]! > 20 ? 1000 : k % 6 ? 0 : 2000 * table[(k + 12) / 6]!;
      let n = k;
      if (n % 8 === 0) {
        sum += 5000 * table[n / 4]!;
        n = n / 2;
        if (n % 12 !== 0) sum += 7000;
        else sum += 9000 * table[n / 12 + n / 4]!;
      }
      const even = k % 2 === 0;
      return even ? sum + table[k / 2]! : sum;
    };
    const kernel = cuda.jit(
      (y: Vec<i32>, table: In<Vec<i32>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = sums(k, table);
      },
      { captures: { sums, cuda } },
    );
    const table = Int32Array.from({ length: 50 }, (_, k) => 7 * k + 1);
    const y = cuda.deviceArray(50, 'i32');
    await launch(kernel, { threads: 50, block: 16 }, y, cuda.toDevice(table) as never);
    sameElements(
      await read(y),
      Int32Array.from({ length: 50 }, (_, k) => sums(k, table)),
      'thread',
    );
  },
  'a variable that holds a quotient on some paths': async () => {
    const kernel = cuda.jit((y: Vec<i32>, a: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      let q = -1;
      if (a[k] !== 0) q = 100 / a[k];
      y[k] = Math.ceil(q);
    });
    const y = cuda.deviceArray(5, 'int32');
    await launch(kernel, { threads: 5 }, y, cuda.In(Int32Array.of(0, 3, -3, 7, -100)));
    sameElements(await read(y), Int32Array.of(-1, 34, -33, 15, -1));
  },
  'a quotient is rounded before it becomes an f32': async () => {
    const kernel = cuda.jit((y: Vec<f32>, a: In<Vec<i32>>) => {
      const q = a[0] / a[1];
      y[0] = Math.floor(q);
      y[1] = Math.floor(a[0] / a[1]);
      y[2] = q;
    });
    const y = cuda.deviceArray(3, 'float32');
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.In(Int32Array.of(99999999, 100000000)));
    sameElements(await read(y), Float32Array.of(0, 0, 1));
  },
  'chains of quotients are JavaScript fractions until they are rounded': async () => {
    const kernel = cuda.jit((y: Vec<i32>, a: In<Vec<i32>>) => {
      y[0] = Math.floor(a[0] / a[1] / a[2]);
      y[1] = Math.floor((a[0] + a[1]) / a[2]);
      y[2] = Math.min(Math.ceil(a[0] / a[1]), a[2]);
      y[3] = Math.trunc(-(a[0] / a[1]));
      y[4] = Math.trunc(Math.abs(a[0] / a[1]));
    });
    const [a, b, c] = [-1000000007, 33, 1024];
    const y = cuda.deviceArray(5, 'int32');
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.In(Int32Array.of(a, b, c)));
    const want = [a / b / c, (a + b) / c, Math.ceil(a / b), -Math.ceil(a / b), -Math.ceil(a / b)].map(Math.floor);
    sameElements(await read(y), Int32Array.from(want));
  },
  '64-bit quotients that a variable holds are whole': async () => {
    const kernel = cuda.jit((y: Vec<i64>, a: In<Vec<i64>>) => {
      const q = a[0] / a[1];
      y[0] = q * 2n;
    });
    const y = cuda.deviceArray(1, 'int64');
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.In(BigInt64Array.of(-7n, 2n)));
    sameElements(await read(y), BigInt64Array.of(-6n));
  },
  'quotients of what was found divisible, of every sign': async () => {
    const kernel = cuda.jit((y: Vec<i32>, z: Vec<i64>, a: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      let n = a[k];
      let wide = BigInt(n) * 1073741824n + BigInt(n);
      y[3 * k] = n % 8 === 0 ? Math.trunc(n / 4) + (n % 2) : Math.trunc(n / 8) * 10;
      z[2 * k] = wide % 2n !== 0n ? wide / 2n : wide / 4n + wide / 2n;
      if (n % 4 === 0) {
        n = Math.trunc(n / 4);
        y[3 * k + 1] = Math.trunc(n / 2);
      } else y[3 * k + 1] = Math.trunc(n / 4);
      if (wide % 16n === 0n) wide /= 16n;
      z[2 * k + 1] = wide / 16n;
      y[3 * k + 2] = n % 4 === 1 ? 1 : n % 4 === -1 ? -1 : n;
    });
    const a = Int32Array.from({ length: 66 }, (_, k) => (k < 64 ? k - 32 : k === 64 ? -(2 ** 31) : 2 ** 31 - 1));
    const [y, z] = [cuda.deviceArray(3 * a.length, 'i32'), cuda.deviceArray(2 * a.length, 'i64')];
    await launch(kernel, { threads: a.length, block: 40 }, y, z as never, cuda.toDevice(a) as never);
    const ints = Array.from(a, (n) => {
      const m = n % 4 === 0 ? n / 4 : n;
      const first = n % 8 === 0 ? n / 4 : Math.trunc(n / 8) * 10;
      const second = n % 4 === 0 ? Math.trunc(m / 2) : Math.trunc(n / 4);
      return [first, second, m % 4 === 1 ? 1 : m % 4 === -1 ? -1 : m];
    });
    sameElements(await read(y), Int32Array.from(ints.flat()), 'element');
    const wides = Array.from(a, (n) => {
      const w = BigInt(n) * 1073741824n + BigInt(n);
      return [w % 2n !== 0n ? w / 2n : w / 4n + w / 2n, (w % 16n === 0n ? w / 16n : w) / 16n];
    });
    sameElements((await read(z)) as BigInt64Array, BigInt64Array.from(wides.flat()), 'element');
  },
});
