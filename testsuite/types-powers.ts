/**
 * Chapter: powers of integers. Integers where integers are asked for, and where floats are what JavaScript means, with negative exponents.
 */
import {
  cuda,
  type f16,
  type f32,
  type f64,
  type In,
  type i32,
  type i64,
  ndarray,
  type u8,
  type u32,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements, ulpElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

const BASES = [0, 1, -1, 2, -2, 3, 7, 10, -10, 255, 46341, 2 ** 31 - 1, -(2 ** 31)];
const EXPONENTS = [0, 1, 2, 3, 5, 9, 10, 19, 29, 30, 31, 40, 127, 200].flatMap((n) => [n, -n]);
const EDGES = [2 ** 31 - 1, 1 - 2 ** 31, -(2 ** 31)];
const PAIRS = BASES.flatMap((a) => [...EXPONENTS, ...EDGES].map((b) => [a, b] as const));

type Type = 'float32' | 'float64';
type Body = (y: Vec<f32>, a: In<Vec<i32>>, b: In<Vec<i32>>) => void;

/** A power of a whole number, rounded once, or twice where the exponent is negative: engines' own are up to six units of the last place off. */
function exactPower(a: number, b: number): number {
  if (Math.abs(b) > 1100) return a ** b;
  const whole = Number(BigInt(a) ** BigInt(Math.abs(b)));
  return b < 0 ? 1 / whole : whole;
}

/** Runs a kernel on all pairs, and compares with JavaScript's numbers: exact where the power is a whole number of the float that is small. */
function powers(type: Type, body: Body, expected: (a: number, b: number) => number): () => Promise<void> {
  return async () => {
    const y = cuda.deviceArray(PAIRS.length, type);
    const [a, b] = [0, 1].map((k) => cuda.toDevice(Int32Array.from(PAIRS, (pair) => pair[k] as number)));
    await launch(cuda.jit(body), { threads: PAIRS.length, block: 64 }, y as never, a as never, b as never);
    const got = Array.from((await read(y)) as ArrayLike<number>, Number);
    // Some devices flush subnormal numbers.
    const flushed = (v: number, k: number): boolean => type === 'float32' && Math.abs(v) < 2 ** -126 && got[k] === 0;
    const want = PAIRS.map(([p, q]) => expected(p, q)).map((v, k) => (flushed(v, k) ? (got[k] as number) : v));
    ulpElements(got, want, 4, type, (k) => PAIRS[k]!.join(' ** '));
    for (const [k, v] of want.entries())
      if (Number.isInteger(v) && Math.abs(v) < 2 ** 24 && v !== 0)
        same(got[k], v, `${type}: ${PAIRS[k]!.join(' ** ')}`);
  };
}

const direct: Body = (y, a, b) => {
  const k = cuda.grid(1);
  if (k < y.length) y[k] = a[k]! ** b[k]!;
};

const scaled: Body = (y, a, b) => {
  const k = cuda.grid(1);
  if (k >= y.length) return;
  // Variables of powers, in turn and on some paths, that go into floats alone.
  const power = a[k]! ** b[k]!;
  let scale = 1;
  if (b[k]! !== 0) scale = -power;
  y[k] = Math.fround(0.5) * scale;
};

export const powerTests: readonly ConformanceTest[] = chapter('powers of integers', {
  'as f32': powers('float32', direct, (a, b) => a ** b),
  'as f64': powers('float64', direct, exactPower),
  'through variables': powers('float32', scaled, (a, b) => (b === 0 ? 0.5 : a ** b * -0.5)),
  'of literals and counters, in products, choices and function calls': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<f32>>, e: In<Vec<i32>>, u: In<Vec<u8>>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      const unit = (n: number): number => 10 ** n;
      y[8 * k] = x[k]! * 10 ** e[k]!;
      y[8 * k + 1] = 3 * 10 ** -k;
      y[8 * k + 2] = e[k]! < 0 ? -(2 ** e[k]!) : 2 ** u[k]!;
      y[8 * k + 3] = unit(e[k]!) / 4;
      y[8 * k + 4] = Math.max(10 ** e[k]!, 1);
      y[8 * k + 5] = Math.sqrt(4 ** e[k]!);
      y[8 * k + 6] = 10 ** e[k]! < x[k]! ? 1 : 0;
      y[8 * k + 7] = (k + 2) ** -2;
    });
    const e = Int32Array.of(-3, 2, -1, 7);
    const [x, u] = [Float32Array.of(1.5, -2, 0.0625, 8), Uint8Array.of(1, 2, 30, 100)];
    const y = cuda.deviceArray(32, 'float32');
    await launch(kernel, { threads: 4 }, y, cuda.toDevice(x), cuda.toDevice(e), cuda.toDevice(u));
    const want = [0, 1, 2, 3].flatMap((k) => [
      x[k]! * 10 ** e[k]!,
      3 * 10 ** -k,
      e[k]! < 0 ? -(2 ** e[k]!) : 2 ** u[k]!,
      10 ** e[k]! / 4,
      Math.max(10 ** e[k]!, 1),
      2 ** e[k]!,
      10 ** e[k]! < x[k]! ? 1 : 0,
      (k + 2) ** -2,
    ]);
    ulpElements((await read(y)) as Float32Array, want, 4, 'float32', (k) => `value ${k % 8} of thread ${k >> 3}`);
  },
  'stay integers as indices, bounds, operands and elements': async () => {
    const kernel = cuda.jit((y: Vec<i32>, n: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= n.length) return;
      const stride = 2 ** n[k]!;
      let sum = 0;
      for (let j = 0; j < 2 ** n[k]!; j++) sum += j;
      y[4 * k] = y[stride - 1]! + sum;
      y[4 * k + 1] = 3 ** (n[k]! + 16);
      y[4 * k + 2] = (3 ** (n[k]! + 16) + 1) % 1000;
      y[4 * k + 3] = (stride >> 1) | 64;
    });
    for (const n of [0, 1, 2, 3]) {
      const out = cuda.toDevice(Int32Array.from({ length: 16 }, (_, k) => 100 * k));
      await launch(kernel, { grid: 1, block: 1 }, out, cuda.toDevice(Int32Array.of(n)));
      const sum = (2 ** n * (2 ** n - 1)) / 2;
      const power = 3 ** (n + 16);
      sameElements(
        ((await read(out)) as Int32Array).subarray(0, 4),
        [100 * (2 ** n - 1) + sum, power, (power + 1) % 1000, ((2 ** n) >> 1) | 64],
        `exponent ${n}:`,
      );
    }
  },
  'sums and remainders keep the digits of integers': async () => {
    const kernel = cuda.jit((y: Vec<f32>, n: In<Vec<i32>>) => {
      y[0] = 3 ** n[0]! - 387420480;
      y[1] = 3 ** n[0]! % 1000;
      const power = 3 ** n[0]!;
      y[2] = power - 387420480;
    });
    const y = cuda.deviceArray(3, 'float32');
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(Int32Array.of(18)));
    sameElements((await read(y)) as Float32Array, [9, 489, 9]);
  },
  'of bases without a sign': async () => {
    const kernel = cuda.jit(
      (y: Vec<u32>, z: Vec<f32>, a: In<Vec<u32>>, less: i32) => {
        const k = cuda.grid(1);
        if (k >= a.length) return;
        y[k] = a[k]! ** k;
        z[k] = a[k]! ** (k - 2);
        if (less > 0) y[k] = a[k]! ** (k - less);
      },
      { boundsCheck: true },
    );
    const a = Uint32Array.of(5, 4294967295, 4000000000, 7);
    const [y, z] = [cuda.deviceArray(4, 'uint32'), cuda.deviceArray(4, 'float32')];
    await launch(kernel, { threads: 4 }, y, z, cuda.toDevice(a), 0);
    sameElements((await read(y)) as Uint32Array, [1, 4294967295, Number(BigInt.asUintN(32, 4000000000n ** 2n)), 343]);
    ulpElements((await read(z)) as Float32Array, [1 / 25, 1 / 4294967295, 1, 7], 4, 'float32', (k) => `thread ${k}`);
    await rejects(async () => {
      await launch(kernel, { threads: 1 }, y, z, cuda.toDevice(a), 1);
      await read(y);
    }, /integer power with the negative exponent -1/);
  },
  'of 16 bits are f16': async () => {
    const kernel = cuda.jit((y: Vec<f16>, x: In<Vec<f16>>, e: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      const scale = 10 ** e[k]!;
      y[k] = x[k]! * scale;
      y[k + 3] = 2 ** e[k]!;
    });
    const y = cuda.deviceArray(6, 'float16');
    const x = cuda.toDevice(ndarray([1, 3, -5], { dtype: 'float16' }));
    await launch(kernel, { threads: 3 }, y as never, x as never, cuda.toDevice(Int32Array.of(-1, 2, -3)));
    const want = ndarray([0.1, 300, -0.005, 0.5, 4, 0.125], { dtype: 'float16' });
    sameElements(((await read(y)) as unknown as { toArray(): number[] }).toArray(), want.toArray() as number[]);
  },
  'a bigint to a negative power is an error': async () => {
    const kernel = cuda.jit((y: Vec<f64>, a: In<Vec<i64>>) => {
      y[0] = Number(a[0]! ** -2n);
    });
    await rejects(
      () =>
        launch(
          kernel,
          { grid: 1, block: 1 },
          cuda.deviceArray(1, 'f64') as never,
          cuda.toDevice(BigInt64Array.of(3n)) as never,
        ),
      /a bigint to the power of -2 is not a bigint/,
      'K217',
    );
  },
});
