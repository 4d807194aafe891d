/**
 * Chapter: arithmetic of integers that operators have no word for: upper halves of products, differences, means, bytes.
 */
import { cuda, type In, type i16, type i32, type i64, type u32, type u64, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

/** Limits, signs and mixed bits. */
const WORDS: readonly number[] = [
  ...[0, 1, -1, 2, 0x7fffffff, -0x80000000, 0x7ffffffe, -0x7fffffff, 0xffff, 0x10000, 0x800000, 0xffffff, -0x800000],
  ...Array.from({ length: 19 }, (_, k) => Math.imul(k + 3, 0x9e3779b1)),
];
const LONGS: readonly bigint[] = WORDS.flatMap((a, k) => [
  BigInt(a),
  BigInt.asIntN(64, (BigInt(a) << 32n) | BigInt.asUintN(32, BigInt(WORDS[(k * 7 + 5) % WORDS.length] ?? 0))),
]);

const floor2 = (x: bigint): bigint => (x - (((x % 2n) + 2n) % 2n)) / 2n;
const gap = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);

/** Each of the five functions of a pair, and of its first and a constant. */
type Wrap = (x: bigint) => bigint;
function expected(pairs: readonly (readonly [bigint, bigint])[], bits: bigint, wrap: Wrap): bigint[] {
  return pairs.flatMap(([a, b]) =>
    [(a * b) >> bits, gap(a, b) + 9n, gap(b, 7n) + a, floor2(a + b), floor2(a + b + 1n), (a * 5n) >> bits].map(wrap),
  );
}
const PER = 6;

function pairsOf<T>(list: readonly T[]): readonly (readonly [T, T])[] {
  return list.flatMap((a, k) => [1, 4, 11].map((step) => [a, list[(k + step) % list.length] ?? a] as const));
}

export const integerArithmetic: readonly ConformanceTest[] = chapter('arithmetic of integers', {
  'mulhi, sad, hadd and rhadd of i32': async () => {
    const pairs = pairsOf(WORDS);
    const kernel = cuda.jit((y: Vec<i32>, a: In<Vec<i32>>, b: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      y[6 * k] = cuda.mulhi(a[k], b[k]);
      y[6 * k + 1] = cuda.sad(a[k], b[k], 9);
      y[6 * k + 2] = cuda.sad(b[k], 7, a[k]);
      y[6 * k + 3] = cuda.hadd(a[k], b[k]);
      y[6 * k + 4] = cuda.rhadd(a[k], b[k]);
      y[6 * k + 5] = cuda.mulhi(a[k], 5);
    });
    const [a, b] = [Int32Array.from(pairs, ([p]) => p), Int32Array.from(pairs, ([, q]) => q)];
    const y = cuda.deviceArray(PER * a.length, 'int32');
    await launch(kernel, { threads: a.length, block: 32 }, y, cuda.toDevice(a), cuda.toDevice(b));
    const big = pairs.map(([p, q]) => [BigInt(p), BigInt(q)] as const);
    sameElements(await read(y), expected(big, 32n, (x) => BigInt.asIntN(32, x)).map(Number));
  },
  'mulhi, sad, hadd and rhadd of u32': async () => {
    const pairs = pairsOf(WORDS.map((x) => x >>> 0));
    const kernel = cuda.jit((y: Vec<u32>, a: In<Vec<u32>>, b: In<Vec<u32>>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      y[6 * k] = cuda.mulhi(a[k], b[k]);
      y[6 * k + 1] = cuda.sad(a[k], b[k], 9);
      y[6 * k + 2] = cuda.sad(b[k], 7, a[k]);
      y[6 * k + 3] = cuda.hadd(a[k], b[k]);
      y[6 * k + 4] = cuda.rhadd(a[k], b[k]);
      y[6 * k + 5] = cuda.mulhi(a[k], 5);
    });
    const [a, b] = [Uint32Array.from(pairs, ([p]) => p), Uint32Array.from(pairs, ([, q]) => q)];
    const y = cuda.deviceArray(PER * a.length, 'uint32');
    await launch(kernel, { threads: a.length, block: 32 }, y, cuda.toDevice(a), cuda.toDevice(b));
    const big = pairs.map(([p, q]) => [BigInt(p), BigInt(q)] as const);
    sameElements(await read(y), expected(big, 32n, (x) => BigInt.asUintN(32, x)).map(Number));
  },
  'mulhi, sad, hadd and rhadd of i64 and u64': async () => {
    const pairs = pairsOf(LONGS);
    const unsigned = pairs.map(([p, q]) => [BigInt.asUintN(64, p), BigInt.asUintN(64, q)] as const);
    const kernel = cuda.jit(
      (y: Vec<i64>, a: In<Vec<i64>>, b: In<Vec<i64>>, z: Vec<u64>, u: In<Vec<u64>>, v: In<Vec<u64>>) => {
        const k = cuda.grid(1);
        if (k >= a.length) return;
        y[6 * k] = cuda.mulhi(a[k], b[k]);
        y[6 * k + 1] = cuda.sad(a[k], b[k], 9n);
        y[6 * k + 2] = cuda.sad(b[k], 7n, a[k]);
        y[6 * k + 3] = cuda.hadd(a[k], b[k]);
        y[6 * k + 4] = cuda.rhadd(a[k], b[k]);
        y[6 * k + 5] = cuda.mulhi(a[k], 5n);
        z[6 * k] = cuda.mulhi(u[k], v[k]);
        z[6 * k + 1] = cuda.sad(u[k], v[k], 9n);
        z[6 * k + 2] = cuda.sad(v[k], 7n, u[k]);
        z[6 * k + 3] = cuda.hadd(u[k], v[k]);
        z[6 * k + 4] = cuda.rhadd(u[k], v[k]);
        z[6 * k + 5] = cuda.mulhi(u[k], 5n);
      },
    );
    const [a, b] = [BigInt64Array.from(pairs, ([p]) => p), BigInt64Array.from(pairs, ([, q]) => q)];
    const [u, v] = [new BigUint64Array(a.buffer), new BigUint64Array(b.buffer)];
    const [y, z] = [cuda.deviceArray(PER * a.length, 'int64'), cuda.deviceArray(PER * a.length, 'uint64')];
    const args = [y, cuda.toDevice(a), cuda.toDevice(b), z, cuda.toDevice(u), cuda.toDevice(v)] as const;
    await launch(kernel, { threads: a.length, block: 32 }, ...args);
    sameElements(
      await read(y),
      expected(pairs, 64n, (x) => BigInt.asIntN(64, x)),
      'i64',
    );
    sameElements(
      await read(z),
      expected(unsigned, 64n, (x) => BigInt.asUintN(64, x)),
      'u64',
    );
  },
  'mul24 and bytePerm': async () => {
    const pairs = pairsOf(WORDS);
    const kernel = cuda.jit((y: Vec<i32>, z: Vec<u32>, a: In<Vec<i32>>, b: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      y[k] = cuda.mul24(a[k], b[k]);
      const [p, q] = [a[k] >>> 0, b[k] >>> 0];
      z[4 * k] = cuda.mul24(p, q);
      z[4 * k + 1] = cuda.bytePerm(p, q, 0x7531);
      z[4 * k + 2] = cuda.bytePerm(p, q, (p ^ (q >>> 7)) >>> 0);
      // What is above the three bits of a digit does not count.
      z[4 * k + 3] = cuda.bytePerm(p, q, 0xffffb8e4);
    });
    const [a, b] = [Int32Array.from(pairs, ([p]) => p), Int32Array.from(pairs, ([, q]) => q)];
    const [y, z] = [cuda.deviceArray(a.length, 'int32'), cuda.deviceArray(4 * a.length, 'uint32')];
    await launch(kernel, { threads: a.length, block: 32 }, y, z, cuda.toDevice(a), cuda.toDevice(b));
    const low = (x: number): bigint => BigInt.asIntN(24, BigInt(x));
    const unsigned = (x: number): bigint => BigInt.asUintN(24, BigInt(x));
    sameElements(
      await read(y),
      pairs.map(([p, q]) => Number(BigInt.asIntN(32, low(p) * low(q)))),
      'mul24',
    );
    const bytes = (p: number, q: number, selector: number): number => {
      const all = new Uint8Array(Uint32Array.of(p, q).buffer);
      const picked = [0, 4, 8, 12].map((by) => all[(selector >>> by) & 7] ?? 0);
      return new Uint32Array(Uint8Array.from(picked).buffer)[0] ?? 0;
    };
    sameElements(
      await read(z),
      pairs.flatMap(([p, q]) => [
        Number(BigInt.asUintN(32, unsigned(p) * unsigned(q))),
        bytes(p, q, 0x7531),
        bytes(p, q, p ^ (q >>> 7)),
        bytes(p, q, 0x38e4),
      ]),
      'u32',
    );
  },
  'of narrow data, indices and what is known when compiling': async () => {
    const kernel = cuda.jit((y: Vec<i32>, a: In<Vec<i16>>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      y[4 * k] = cuda.mulhi(a[k], -65536);
      y[4 * k + 1] = cuda.sad(a[k], k, 1);
      y[4 * k + 2] = cuda.hadd(-7, 4) + cuda.rhadd(-7, 4) + cuda.mulhi(0x40000000, 12);
      y[4 * k + 3] = cuda.bytePerm(0x03020100, 0x07060504, 0x6543);
    });
    const a = Int16Array.of(0, 1, -1, 32767, -32768, 77);
    const y = cuda.deviceArray(4 * a.length, 'int32');
    await launch(kernel, { threads: a.length, block: 8 }, y, cuda.toDevice(a));
    const rows = Array.from(a, (v, k) => [
      Math.floor((v * -65536) / 2 ** 32) + 0,
      Math.abs(v - k) + 1,
      -2 - 1 + 3,
      0x06050403,
    ]);
    sameElements(await read(y), rows.flat());
  },
});
