/**
 * Chapter: `cuda.reduce`. Results are held against plain loops, of integers and of floats whose sums are exact, so that the order of a device does not matter.
 */
import { type bool, c64, cuda, type DTypeLike, i32, ndarray, struct } from '../src/index.ts';
import { same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { element, read, settled } from './waiting.ts';

/** Lengths around blocks, tiles and what one block does by itself. */
const LENGTHS = [1, 2, 31, 32, 33, 255, 256, 257, 511, 1000, 4095, 4096, 4097, 8191, 8192, 12289, 70001];

const sum = cuda.reduce((a, b) => a + b);
const bigSum = cuda.reduce((a: bigint, b: bigint) => a + b);
const max = cuda.reduce((a, b) => Math.max(a, b));

/** Small whole numbers of both signs. */
const small = (k: number): number => ((k * 7919) % 23) - 11;

/** The elements of a device array for each dtype, and their sum as the dtype holds it. */
async function sums(dtype: DTypeLike, wrapped: (sum: number) => number = (v) => v): Promise<void> {
  for (const length of LENGTHS) {
    const values = Array.from({ length }, (_, k) => small(k));
    const x = cuda.toDevice(ndarray(values.map(wrapped), { dtype }));
    const expected = wrapped(values.reduce((a, b) => a + b));
    same(await sum.async(x as never), expected, `the sum of ${length} of ${String(dtype)}`);
  }
}

export const reductions: readonly ConformanceTest[] = chapter('reduce', {
  'sums of floats': async () => {
    await sums('float32');
    await sums('float64');
    // Every partial sum is exact in 11 bits, or rounds once at the end.
    const x = cuda.toDevice(ndarray(new Array<number>(3000).fill(1), { dtype: 'float16' }));
    same(await sum.async(x as never), 3000);
  },

  'sums of integers wrap once, at the end': async () => {
    await sums('int32');
    await sums('uint32', (v) => v >>> 0);
    await sums('int16', (v) => (v << 16) >> 16);
    await sums('uint8', (v) => v & 255);
    const most = new Int32Array(9000).fill(2 ** 31 - 1);
    same(
      await sum.async(most),
      most.reduce((a, b) => (a + b) | 0, 0),
    );
  },

  'sums of 64-bit integers': async () => {
    for (const length of LENGTHS) {
      const values = BigInt64Array.from({ length }, (_, k) => BigInt(small(k)) * 2n ** 40n);
      const expected = values.reduce((a, b) => BigInt.asIntN(64, a + b), 0n);
      same(await bigSum.async(values), expected);
      same(await bigSum.async(new BigUint64Array(values.buffer)), BigInt.asUintN(64, expected));
    }
  },

  'the greatest, with signed zeros and NaN': async () => {
    for (const length of LENGTHS) {
      const values = Float32Array.from({ length }, (_, k) => -1 - ((k * 31) % 97));
      same(
        await max.async(values),
        values.reduce((a, b) => Math.max(a, b)),
      );
      values[length - 1] = Number.NaN;
      same(await max.async(values), Number.NaN);
    }
    same(await max.async(Float64Array.of(-0, -0, -0)), -0);
    same(await max.async(Float64Array.of(-0, 0, -0)), 0);
    same(await cuda.reduce((a, b) => Math.min(a, b)).async(Float64Array.of(0, -0, 5)), -0);
  },

  'products, and operators of the user': async () => {
    const x = Float64Array.from({ length: 40 }, (_, k) => (k % 2 === 0 ? 2 : 0.5));
    same(await cuda.reduce((a, b) => a * b).async(x), 1);
    const modulus = 1009;
    const times = cuda.reduce((a, b) => (a * b) % modulus);
    const values = Int32Array.from({ length: 5000 }, (_, k) => 1 + (k % 1000));
    same(
      await times.async(values),
      values.reduce((a, b) => (a * b) % modulus),
    );
    const bits = Uint32Array.from({ length: 9999 }, (_, k) => Math.imul(k, 2654435761) >>> 0);
    same(
      await cuda.reduce((a, b) => a ^ b).async(bits),
      bits.reduce((a, b) => (a ^ b) >>> 0, 0),
    );
  },

  'booleans, complex numbers and structs': async () => {
    const flags = cuda.deviceArray(5000, 'bool');
    flags.set(false);
    const any = cuda.reduce((a: bool, b: bool) => a || b);
    same(await any.async(flags), false);
    flags.set(true, 4321);
    same(await any.async(flags), true);

    const z = cuda.toDevice(
      ndarray(
        Array.from({ length: 5001 }, (_, k) => ({ re: k % 3, im: -(k % 2) })),
        { dtype: c64 },
      ),
    );
    const total = await cuda.reduce((a: c64, b: c64) => a + b).async(z as never);
    sameElements([(total as unknown as c64).re, (total as unknown as c64).im], [5001, -2500]);

    const Range = struct({ low: i32, high: i32 });
    const ranges = cuda.toDevice(
      ndarray(
        Array.from({ length: 6000 }, (_, k) => ({ low: small(k), high: k })),
        { dtype: Range },
      ),
    );
    const cover = cuda.reduce((a: { low: number; high: number }, b: { low: number; high: number }) => ({
      low: Math.min(a.low, b.low),
      high: Math.max(a.high, b.high),
    }));
    const { low, high } = await cover.async(ranges as never);
    sameElements([low, high], [-11, 5999]);
  },

  'strided, reversed and unaligned views': async () => {
    const values = Float32Array.from({ length: 20_003 }, (_, k) => small(k));
    const x = cuda.toDevice(values);
    for (const [from, step] of [
      [0, 2],
      [1, 1],
      [3, 3],
      [2, 1],
    ] as const) {
      const expected = values.filter((_, k) => k >= from && (k - from) % step === 0).reduce((a, b) => a + b);
      same(await sum.async(x.slice([from, null, step]) as never), expected, `from ${from} in steps of ${step}`);
    }
    same(await sum.async(x.slice('::-1') as never), await sum.async(x));
    same(
      await sum.async(cuda.toDevice(ndarray(new Float32Array(1200), { shape: [30, 40] })).slice(':', 3) as never),
      0,
    );
  },

  'size, init and res': async () => {
    const x = cuda.toDevice(Int32Array.from({ length: 10_000 }, (_, k) => k));
    same(await sum.async(x, { size: 100 }), 4950);
    same(await sum.async(x, { size: 9000, init: 5 }), (9000 * 8999) / 2 + 5);
    same(await sum.async(x, { size: 0 }), 0);
    same(await sum.async(x, { size: 0, init: -7 }), -7);
    same(await sum.async(new Float64Array(0), { init: 2.5 }), 2.5);
    same(await bigSum.async(new BigInt64Array(0)), 0n);
    same(await bigSum.async(new BigInt64Array(3), { init: 4n }), 4n);
    const res = cuda.deviceArray(3, 'int32');
    res.set(1);
    same(await sum.async(x, { res }), undefined);
    sameElements(await read(res), [49_995_000, 1, 1]);
    await sum.async(x, { res, size: 0, init: 9 });
    same(await element(res, 0), 9);
    const stream = cuda.stream();
    await sum.async(x, { res, size: 3, stream });
    await settled(stream);
    same(await element(res, 0), 3);
  },

  'the same again gives the same bits': async () => {
    const x = cuda.toDevice(Float32Array.from({ length: 300_007 }, (_, k) => Math.sin(k)));
    const first = await sum.async(x);
    for (let round = 0; round < 3; round++) same(await sum.async(x), first);
  },

  "a returned number waits, and Numba's documentation": blocking(() => {
    const A = Float64Array.from({ length: 1234 }, (_, k) => k);
    same(
      sum(A),
      A.reduce((a, b) => a + b),
    );
    const product = new cuda.Reduce((a: number, b: number) => a * b);
    same(product(Float32Array.of(1, 2, 3, 4)), 24);
    same(product(Float32Array.of(1, 2), { init: 0 }), 0);
    const stream = cuda.stream();
    same(sum(cuda.toDevice(A, { stream }), { stream }), 760_761);
    same(sum([1, 2, 3.5]), 6.5);
    same(sum.name, 'reduce');
    same(cuda.reduce((a, b) => a + b, { name: 'total' }).name, 'total');
  }),

  'what comes from outside': async () => {
    const modulus = 7;
    const byFactory = cuda.reduce(
      ({ modulus: m }: { modulus: number }) =>
        (a: number, b: number) =>
          (a + b) % m,
      { captures: { modulus } },
    );
    same(await byFactory.async(Int32Array.of(5, 5, 5)), 1);
  },

  'temporaries are given back': blocking(() => {
    const x = cuda.toDevice(new Float32Array(100_000));
    sum(x);
    cuda.synchronize();
    const { live } = cuda.memoryStats();
    for (let round = 0; round < 20; round++) sum(x, { size: 50_000 });
    cuda.synchronize();
    cuda.currentContext().deallocations.clear();
    same(cuda.memoryStats().live <= live, true, 'no bytes more are live');
  }),

  'what cannot be reduced': blocking(() => {
    const x = cuda.deviceArray(10, 'float32');
    throws(
      () => sum(cuda.deviceArray([2, 3], 'float32') as never),
      /arrays of one axis, got shape \[2, 3\]/,
      'E_REDUCE',
    );
    throws(() => sum(x, { size: 11 }), /size is 11, and the array has 10/, 'E_REDUCE');
    throws(() => sum(x, { size: -1 }), /size is -1/, 'E_REDUCE');
    throws(() => sum(x, { size: 1.5 }), /size must be an integer, got 1.5/, 'E_REDUCE');
    throws(() => sum(x, { sise: 1 } as never), /no option 'sise'.*'size'/, 'E_OPTION');
    throws(() => sum(x, { res: new Float32Array(1) as never }), /res must be a device array/, 'E_REDUCE');
    throws(() => sum(x, { res: cuda.deviceArray(1, 'int32') as never }), /res has dtype i32/, 'E_DTYPE_MISMATCH');
    throws(() => sum(x, { res: cuda.deviceArray(0, 'float32') }), /res has no elements/, 'E_REDUCE');
    throws(() => sum(cuda.deviceArray(3, 'int32'), { init: 0.5 }), /0.5 is not an integer/, 'E_ARGUMENT_INTEGER');
    throws(() => cuda.reduce(3 as never), /takes a function, got 3/, 'E_FUNCTION');
    throws(() => cuda.reduce(cuda.jit(() => undefined) as never), /is not one/, 'E_FUNCTION');
    throws(() => cuda.reduce((a: number, b: number) => (a as never)['first'] + b)(x), /has no property first/, 'K223');
  }),
});
