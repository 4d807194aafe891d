/**
 * Chapter: `inclusiveScan`, `exclusiveScan`, `scanByKey` and `segmentedScan` of `tsamba/parallel`, held against plain loops. Sums of floats are exact, so that the order of a
 * device does not matter.
 */
import { c64, cuda, f32, f64, i32, ndarray, struct, u8 } from '../../src/index.ts';
import { counting, exclusiveScan, inclusiveScan, map, scanByKey, segmentedScan } from '../../src/parallel/index.ts';
import { rejects, same, sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { read } from '../waiting.ts';
import { LENGTHS } from './reduce.ts';

const small = (k: number): number => ((k * 7919) % 23) - 11;
const times = (p: { a: number; b: number }, q: { a: number; b: number }): { a: number; b: number } => ({
  a: p.a * q.a,
  b: p.b * q.a + q.b,
});

/** What all values up to each one come to. */
function running<T>(values: readonly T[], op: (a: T, b: T) => T): T[] {
  const results: T[] = [];
  for (const value of values) results.push(results.length === 0 ? value : op(results.at(-1) as T, value));
  return results;
}

const add = (a: number, b: number): number => a + b;

/** What of a host array of three axes is asked for. */
interface Cube {
  readonly shape: readonly [number, number, number];
  get(...at: readonly number[]): number;
}

/** The elements of a host array of structs. */
function listed<T>(array: unknown): T[] {
  const { size, get } = array as { readonly size: number; get(this: unknown, k: number): T };
  return Array.from({ length: size }, (_, k) => get.call(array, k));
}

/** Runs of 1 to 9 equal numbers. */
function runs(length: number): number[] {
  const keys: number[] = [];
  for (let run = 0; keys.length < length; run++) {
    for (let k = 0; k <= (run * 31) % 9 && keys.length < length; k++) keys.push(run % 3);
  }
  return keys;
}

export const parallelScan: readonly ConformanceTest[] = chapter('parallel scan', {
  'sums and maxima of numbers of every kind': async () => {
    for (const length of [...LENGTHS, 0]) {
      const values = Array.from({ length }, (_, k) => small(k));
      const sums = running(values, add);
      sameElements(await read(await inclusiveScan.async(Int32Array.from(values), 'sum')), sums, `${length} of i32`);
      sameElements(await read(await inclusiveScan.async(Float32Array.from(values), add)), sums, `${length} of f32`);
      sameElements(await read(await inclusiveScan.async(Float64Array.from(values), 'sum')), sums, `${length} of f64`);
      const most = await inclusiveScan.async(Float32Array.from(values), 'max');
      sameElements(await read(most), running(values, Math.max), `maxima of ${length}`);
      const before = [5, ...sums.map((sum) => sum + 5)].slice(0, length);
      sameElements(await read(await exclusiveScan.async(Int32Array.from(values), 'sum', { init: 5 })), before);
      const zero = [0, ...sums].slice(0, length);
      sameElements(await read(await exclusiveScan.async(Float32Array.from(values), 'sum')), zero);
    }
  },

  'narrow integers by name give 32 bits, by a function what they are': async () => {
    const bytes = Uint8Array.from({ length: 3000 }, (_, k) => (k * 37) & 255);
    const sums = running([...bytes], add);
    const wide = await inclusiveScan.async(bytes, 'sum');
    same(wide.dtype.name, 'u32');
    sameElements(await read(wide), sums);
    const narrow = await inclusiveScan.async(bytes, add);
    same(narrow.dtype.name, 'u8');
    sameElements(
      await read(narrow),
      sums.map((sum) => sum & 255),
    );
    const floats = await inclusiveScan.async(bytes, 'sum', { dtype: f64 });
    same(floats.dtype.name, 'f64');
    sameElements(await read(floats), sums);
  },

  'bigints, complex numbers and structs, by operators that do not commute': async () => {
    for (const length of [1, 100, 5000, 12_289]) {
      const big = BigInt64Array.from({ length }, (_, k) => BigInt(small(k)) * 2n ** 40n);
      sameElements(
        await read(await inclusiveScan.async(big, 'sum')),
        running([...big], (a, b) => a + b),
      );
      const z = Array.from({ length }, (_, k) => ({ re: (k % 3) - 1, im: k % 2 }));
      const sums = await read(await inclusiveScan.async(ndarray(z, { dtype: c64 }) as never, 'sum'));
      const parts = running(z, (a, b) => ({ re: a.re + b.re, im: a.im + b.im }));
      sameElements(
        listed<{ re: number; im: number }>(sums).flatMap(({ re, im }) => [re, im]),
        parts.flatMap(({ re, im }) => [re, im]),
      );
      // Lines through a point: x → a x + b.
      for (const type of [struct({ a: i32, b: i32 }), struct({ a: f32, b: f64 }), struct({ b: i32, a: u8 })]) {
        const lines = Array.from({ length }, (_, k) => ({ a: k % 3 === 0 ? 0 : 1, b: small(k) }));
        const made = await read(await inclusiveScan.async(ndarray(lines, { dtype: type }) as never, times as never));
        sameElements(
          listed<{ a: number; b: number }>(made).flatMap(({ a, b }) => [a, b]),
          running(lines, times).flatMap(({ a, b }) => [a, b]),
        );
      }
    }
  },

  'views, lazy inputs, in place and into others': async () => {
    const values = Int32Array.from({ length: 20_003 }, (_, k) => small(k));
    const x = cuda.toDevice(values);
    for (const [from, step] of [
      [0, 2],
      [1, 1],
      [3, 3],
    ] as const) {
      const part = [...values].filter((_, k) => k >= from && (k - from) % step === 0);
      sameElements(await read(await inclusiveScan.async(x.slice([from, null, step]), 'sum')), running(part, add));
    }
    const squares = map(counting(1000), (v) => v * v);
    sameElements(
      await read(await inclusiveScan.async(squares, 'sum')),
      running(
        Array.from({ length: 1000 }, (_, k) => k * k),
        add,
      ),
    );
    const sums = running([...values], add);
    const out = cuda.deviceArray(40_006, i32).slice([1, null, 2]);
    same(await inclusiveScan.async(x, 'sum', { out }), out);
    sameElements(await read(out), sums);
    await inclusiveScan.async(x, 'sum', { out: x });
    sameElements(await read(x), sums);
    // What is yet to be read is not overwritten.
    const shifted = cuda.toDevice(values);
    await inclusiveScan.async(shifted.slice([0, -1]), 'sum', { out: shifted.slice([1, null]) });
    sameElements(await read(shifted), [values[0], ...sums.slice(0, -1)]);
  },

  'along an axis': async () => {
    const shape = [3, 300, 5] as const;
    const x = cuda.toDevice(
      ndarray(
        Float32Array.from({ length: 4500 }, (_, k) => small(k)),
        { shape },
      ),
    );
    for (const [axis, view] of [
      [0, x],
      [1, x],
      [-1, x],
      [1, x.slice(':', '::-2', ':')],
    ] as const) {
      const sums = (await read(await inclusiveScan.async(view as never, 'sum', { axis }))) as unknown as Cube;
      const host = (await read(view as never)) as unknown as Cube;
      const [a, b, c] = host.shape;
      for (let i = 0; i < a; i++) {
        for (let j = 0; j < b; j++) {
          for (let k = 0; k < c; k++) {
            const at = [i, j, k].map((place, n) => (n === (axis + 3) % 3 ? place - 1 : place));
            const earlier = Math.min(...at) < 0 ? 0 : sums.get(...at);
            same(sums.get(i, j, k), earlier + host.get(i, j, k));
          }
        }
      }
    }
  },

  'by key, and by segments': async () => {
    for (const length of [...LENGTHS, 0]) {
      const keys = runs(length);
      const values = Array.from({ length }, (_, k) => small(k));
      const isHead = keys.map((key, k) => k === 0 || key !== keys[k - 1]);
      const sums: number[] = [];
      values.forEach((value, k) => {
        sums.push(isHead[k] ? value : (sums[k - 1] as number) + value);
      });
      const [by, x] = [Uint8Array.from(keys), Float32Array.from(values)];
      sameElements(await read(await scanByKey.async(by, x, 'sum')), sums, `${length} by key`);
      const before = sums.map((sum, k) => sum - (values[k] as number) + 3);
      const exclusive = await scanByKey.async(by, x, add, { exclusive: true, init: 3 });
      sameElements(await read(exclusive), before, `${length} by key before each`);
      const offsets = [...isHead.keys()].filter((k) => isHead[k]);
      sameElements(
        await read(await segmentedScan.async(x, [...offsets, length], 'sum')),
        sums,
        `${length} in segments`,
      );
    }
  },

  'what does not fit is said': async () => {
    const x = Int32Array.of(1, 2);
    await rejects(async () => exclusiveScan.async(x, add), /pass init/, 'E_PARALLEL');
    await rejects(async () => scanByKey.async([1, 2, 3], x, 'sum'), /3 keys, and 2/, 'E_PARALLEL');
    await rejects(
      async () => inclusiveScan.async(x, 'sum', { out: cuda.deviceArray(3, i32) }),
      /out has shape/,
      'E_PARALLEL',
    );
    await rejects(async () => segmentedScan.async(x, [0.5], 'sum'), /integers/, 'E_PARALLEL');
  },
});
