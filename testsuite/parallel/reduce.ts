/**
 * Chapter: `reduce`, `reduceInto` and `transform` of `tsamba/parallel`, and lazy inputs. Results are held against plain JavaScript, of numbers whose sums are exact.
 */
import { cuda, f32, i32, ndarray, struct } from '../../src/index.ts';
import {
  constant,
  counting,
  map,
  permute,
  reduce,
  reduceInto,
  reverse,
  strided,
  transform,
  zip,
} from '../../src/parallel/index.ts';
import { rejects, same, sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { element, read } from '../waiting.ts';

/** Lengths around warps, blocks, tiles and what one block does by itself. */
export const LENGTHS: readonly number[] = [1, 2, 31, 33, 255, 257, 4095, 4096, 4097, 8193, 20011];

/** Small whole numbers of both signs. */
export const small = (k: number): number => ((k * 7919) % 23) - 11;

const Pair = struct({ x: f32, y: i32 });

export const parallelReduce: readonly ConformanceTest[] = chapter('parallel reduce', {
  'sums, products, least and greatest of numbers': async () => {
    for (const length of LENGTHS) {
      const x = Float32Array.from({ length }, (_, k) => small(k));
      same(
        await reduce.async(x, 'sum'),
        x.reduce((a, b) => a + b),
        `the sum of ${length}`,
      );
      same(await reduce.async(x, 'min'), Math.min(...x));
      same(await reduce.async(x, (a, b) => Math.max(a, b)), Math.max(...x));
      const y = Float64Array.from({ length }, (_, k) => (k === 7 ? 0.5 : k % 3 === 0 ? -1 : 1));
      same(
        await reduce.async(y, 'prod'),
        y.reduce((a, b) => a * b),
      );
    }
  },

  'sums of integers are exact': async () => {
    same(await reduce.async(new Int32Array(9000).fill(2 ** 31 - 1), 'sum'), 9000 * (2 ** 31 - 1));
    same(await reduce.async(new Uint32Array(5000).fill(2 ** 32 - 1), 'sum'), 5000 * (2 ** 32 - 1));
    same(await reduce.async(new Uint8Array(9001).fill(255), 'sum'), 9001 * 255);
    same(await reduce.async(new Int16Array(70).fill(-32768), 'sum'), 70 * -32768);
    same(await reduce.async(Int8Array.of(7, -7, 100, 100), 'prod'), -490000);
    same(await reduce.async(new BigInt64Array(5000).fill(-(2n ** 40n)), 'sum'), -5000n * 2n ** 40n);
    same(await reduce.async([true, false, true, true], 'sum'), 3);
    // A function computes as numbers of the elements do: once around, at the end.
    same(await reduce.async(new Uint8Array(300).fill(1), (a, b) => a + b), 44);
  },

  'the least and greatest of integers, booleans, NaN and signed zeros': async () => {
    for (const length of [5, 5001]) {
      const big = BigInt64Array.from({ length }, (_, k) => BigInt(small(k)) << 50n);
      same(await reduce.async(big, 'max'), BigInt(Math.max(...Array.from({ length }, (_, k) => small(k)))) << 50n);
      const bytes = Uint8Array.from({ length }, (_, k) => 200 + (k % 56));
      same(await reduce.async(bytes, 'max'), Math.max(...bytes));
      const x = new Float32Array(length).fill(1);
      x[length - 2] = Number.NaN;
      same(await reduce.async(x, 'min'), Number.NaN);
      same(await reduce.async(x, 'max'), Number.NaN);
    }
    same(await reduce.async(Float64Array.of(0, -0, 0), 'min'), -0);
    same(await reduce.async(Float64Array.of(-0, 0, -0), 'max'), 0);
    same(await reduce.async([true, false], 'min'), false);
    same(await reduce.async([false, true], 'max'), true);
  },

  'structs by functions of the user, with a first value': async () => {
    for (const length of [3, 300, 6001]) {
      const values = Array.from({ length }, (_, k) => ({ x: small(k), y: k }));
      const pairs = cuda.toDevice(ndarray(values, { dtype: Pair }));
      const join = (a: { x: number; y: number }, b: { x: number; y: number }) => ({
        x: a.x + b.x,
        y: Math.max(a.y, b.y),
      });
      const expected = values.reduce(join);
      const total = await reduce.async(pairs, join);
      sameElements([total.x, total.y], [expected.x, expected.y]);
      const more = await reduce.async(pairs, join, { init: { x: 100, y: 1e6 } });
      sameElements([more.x, more.y], [expected.x + 100, 1e6]);
    }
  },

  'first values, and arrays without elements': async () => {
    same(await reduce.async(Float32Array.of(1, 2), 'sum', { init: 10 }), 13);
    same(await reduce.async(BigInt64Array.of(1n, 2n), 'sum', { init: 10n }), 13n);
    same(await reduce.async(new Float32Array(0), 'sum'), 0);
    same(await reduce.async(new Int32Array(0), 'prod'), 1);
    same(await reduce.async(new Float32Array(0), 'min', { init: 5 }), 5);
    await rejects(() => reduce.async(new Float32Array(0), 'min'), /init/);
    await rejects(() => reduce.async(new Float32Array(0), (a, b) => a + b), /init/);
  },

  'arrays of any layout and of several axes': async () => {
    const values = Float64Array.from({ length: 6000 }, (_, k) => small(k));
    const x = cuda.toDevice(values);
    const every = (step: number): number => values.filter((_, k) => k % step === 0).reduce((a, b) => a + b);
    same(await reduce.async(x.slice([null, null, 3]), 'sum'), every(3));
    same(await reduce.async(x.slice([null, null, -1]), 'sum'), every(1));
    same(await reduce.async(x.slice([1, null]), 'sum'), every(1) - (values[0] as number));
    const matrix = x.reshape([60, 100]);
    same(await reduce.async(matrix, 'sum'), every(1));
    same(await reduce.async(matrix.T, 'max'), Math.max(...values));
  },

  'into an array of another type, without waiting': async () => {
    const out = cuda.toDevice(Float64Array.of(-1, -1));
    await reduceInto.async(counting(10001), 'sum', out);
    await reduceInto.async(Float32Array.of(2, 9, 4), (a: number, b: number) => Math.max(a, b), out.slice([1, 2]));
    sameElements(await read(out), [50005000, 9]);
    await reduceInto.async(new Float32Array(0), 'prod', out);
    same(await element(out, 0), 1);
  },

  'lazy inputs': async () => {
    const x = Float32Array.from({ length: 5000 }, (_, k) => small(k));
    same(
      await reduce.async(
        map(counting(1001), (v) => v * v),
        'sum',
      ),
      333833500,
    );
    same(await reduce.async(constant(2.5, 1000), 'sum'), 2500);
    same(await reduce.async(counting(5, 10n, -3n), 'sum'), 20n);
    const dot = await reduce.async(
      map(zip({ x, y: counting(5000) }), (v) => v.x * v.y),
      'sum',
    );
    same(
      dot,
      x.reduce((sum, v, k) => sum + v * k, 0),
    );
    const best = await reduce.async(zip({ value: x, at: counting(5000) }), (a, b) =>
      a.value > b.value || (a.value === b.value && a.at < b.at) ? a : b,
    );
    sameElements([best.value, best.at], [11, x.indexOf(11)]);
    same(
      await reduce.async(permute(x, counting(10, 3)), 'sum'),
      x.slice(3, 13).reduce((a, b) => a + b),
    );
  },

  'lazy inputs of lazy inputs': async () => {
    const twice = map(
      map(counting(50), (v) => v + 1),
      (v) => v * 2,
    );
    sameElements(await read(await transform.async((v: number) => v, strided(twice, 20))), [2, 42, 82]);
    sameElements(await read(await transform.async((v: number) => v, strided(reverse(twice), -20))), [2, 42, 82]);
    const nested = zip({ p: zip(counting(5), counting(5, 3)), c: counting(4) });
    const value = (v: { p: { a: number; b: number }; c: number }): number => v.p.a + v.p.b * 100 + v.c * 10000;
    sameElements(await read(await transform.async(value, nested)), [300, 10401, 20502, 30603]);
    sameElements(
      await read(await transform.async((v: number) => v, strided(Int32Array.of(1, 2, 3, 4, 5), -2, 3))),
      [4, 2],
    );
  },

  'functions of elements': async () => {
    const x = cuda.toDevice(Float32Array.from({ length: 1000 }, (_, k) => k));
    const y = await transform.async((a: number, b: number) => a * 10 + b, x, counting(900));
    same(y.size, 900);
    sameElements(await read(y.slice([898, null])), [8980 + 898, 8990 + 899]);
    // In place, and shifted by one within the same memory.
    await transform.async((a: number) => a + 1, x, { out: x });
    sameElements(await read(x.slice([0, 3])), [1, 2, 3]);
    await transform.async((a: number) => a, x.slice([0, 999]), { out: x.slice([1, null]) });
    sameElements(await read(x.slice([0, 4])), [1, 1, 2, 3]);
    same(await element(x, 999), 999);
    const pairs = await transform.async((a: number) => ({ x: a / 2, y: a }), counting(9), { dtype: Pair });
    const fifth = (await element(pairs as never, 5)) as { x: number; y: number };
    sameElements([fifth.x, fifth.y], [2.5, 5]);
  },

  'what cannot be combined': async () => {
    const pairs = ndarray([{ x: 1, y: 2 }], { dtype: Pair });
    await rejects(() => reduce.async(pairs, 'sum' as never), /a function/);
    await rejects(() => reduce.async(Float32Array.of(1), 'mean' as never), /'sum'/);
    await rejects(() => reduce.async(5 as never, 'sum'), /array/);
    await rejects(() => transform.async((a: number) => ({ a }), counting(3)), /dtype/);
    const out = cuda.deviceArray(5, 'int32');
    await rejects(() => transform.async((a: number) => a, counting(3), { out }), /3 results/);
  },
});
