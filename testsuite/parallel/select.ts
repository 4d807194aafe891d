/**
 * Chapter: `select`, `partition`, `unique`, `uniqueByKey`, `runLengthEncode` and `reduceByKey` of `tsamba/parallel`, held against plain JavaScript.
 */
import { cuda, f32, f64, i32, ndarray, struct } from '../../src/index.ts';
import {
  counting,
  partition,
  partitionInto,
  reduceByKey,
  reduceByKeyInto,
  runLengthEncode,
  runLengthEncodeInto,
  select,
  selectInto,
  unique,
  uniqueByKey,
  uniqueByKeyInto,
  uniqueInto,
} from '../../src/parallel/index.ts';
import { rejects, same, sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { element, read } from '../waiting.ts';
import { LENGTHS } from './reduce.ts';

const small = (k: number): number => ((k * 7919) % 23) - 11;

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

export const parallelSelect: readonly ConformanceTest[] = chapter('parallel select', {
  'by a function and by flags': async () => {
    for (const length of [...LENGTHS, 0]) {
      const values = Int32Array.from({ length }, (_, k) => small(k));
      const wanted = values.filter((v) => v % 3 === 0);
      sameElements(await read(await select.async(values, (v) => v % 3 === 0)), wanted, `${length}`);
      const flags = cuda.toDevice(Uint8Array.from(values, (v) => (v % 3 === 0 ? 2 : 0)));
      sameElements(await read(await select.async(Float64Array.from(values), flags)), wanted, `${length} by flags`);
      sameElements(await read(await select.async(values, () => true)), values);
      same((await select.async(values, () => false)).size, 0);
    }
  },

  'the others, too, both in their order': async () => {
    for (const length of [...LENGTHS, 0]) {
      const values = Float32Array.from({ length }, (_, k) => small(k));
      const { selected, rejected } = await partition.async(values, (v) => v > 2);
      sameElements(
        await read(selected),
        values.filter((v) => v > 2),
        `${length}`,
      );
      sameElements(
        await read(rejected),
        values.filter((v) => v <= 2),
        `${length}, the others`,
      );
    }
  },

  'structs, views and lazy inputs': async () => {
    const Item = struct({ id: i32, weight: f64 });
    const items = Array.from({ length: 5003 }, (_, k) => ({ id: k, weight: small(k) / 2 }));
    const heavy = await read(
      await select.async(ndarray(items, { dtype: Item }) as never, ((v: { weight: number }) => v.weight > 1) as never),
    );
    sameElements(
      listed<{ id: number }>(heavy).map(({ id }) => id),
      items.filter(({ weight }) => weight > 1).map(({ id }) => id),
    );
    const values = Int32Array.from({ length: 9001 }, (_, k) => small(k));
    const odd = [...values].filter((_, k) => k % 2 === 1);
    sameElements(
      await read(await select.async(cuda.toDevice(values).slice([1, null, 2]), (v) => v > 0)),
      odd.filter((v) => v > 0),
    );
    // Where elements stand.
    const places = await select.async(counting(9001), cuda.toDevice(values));
    sameElements(
      await read(places),
      [...values.keys()].filter((k) => values[k] !== 0),
    );
  },

  'without repeats, and how often they are': async () => {
    for (const length of [...LENGTHS, 0]) {
      const keys = runs(length);
      const heads = [...keys.keys()].filter((k) => k === 0 || keys[k] !== keys[k - 1]);
      const first = heads.map((k) => keys[k] as number);
      const counts = heads.map((k, r) => (heads[r + 1] ?? length) - k);
      sameElements(await read(await unique.async(Float32Array.from(keys))), first, `${length}`);
      const { values, counts: found } = await runLengthEncode.async(Uint8Array.from(keys));
      sameElements(await read(values), first);
      sameElements(await read(found), counts, `${length} in runs`);
      const beside = Float64Array.from({ length }, (_, k) => small(k));
      const kept = await uniqueByKey.async(Int32Array.from(keys), beside);
      sameElements(await read(kept.keys), first);
      sameElements(
        await read(kept.values),
        heads.map((k) => beside[k]),
        `${length} by key`,
      );
    }
    sameElements(await read(await unique.async(Float64Array.of(Number.NaN, Number.NaN, -0, 0, 1))), [
      Number.NaN,
      -0,
      1,
    ]);
    const Pair = struct({ x: i32, y: f32 });
    const pairs = [1, 1, 2, 2].map((x, k) => ({ x, y: k === 3 ? 1 : 0 }));
    same((await unique.async(ndarray(pairs, { dtype: Pair }) as never)).size, 3);
  },

  'values combined by key, also by operators that do not commute': async () => {
    const last = (a: number, b: number): number => a * 0 + b;
    for (const length of [...LENGTHS, 0]) {
      const keys = Int32Array.from(runs(length));
      const values = Int32Array.from({ length }, (_, k) => small(k));
      const heads = [...keys.keys()].filter((k) => k === 0 || keys[k] !== keys[k - 1]);
      const parts = heads.map((k, r) => [...values.subarray(k, heads[r + 1] ?? length)]);
      const sums = await reduceByKey.async(keys, values, 'sum', { init: 2 });
      sameElements(
        await read(sums.keys),
        heads.map((k) => keys[k]),
      );
      sameElements(
        await read(sums.values),
        parts.map((part) => part.reduce((a, b) => a + b, 2)),
        `${length}`,
      );
      const ends = await reduceByKey.async(keys, values, last);
      sameElements(
        await read(ends.values),
        parts.map((part) => part.at(-1)),
        `${length}, the last ones`,
      );
    }
  },

  'into arrays, with their number': async () => {
    const x = cuda.toDevice(Int32Array.from(runs(6000)));
    const host = runs(6000);
    const count = cuda.deviceArray(1, 'int64');
    const [a, b] = [cuda.deviceArray(6000, i32), cuda.deviceArray(6000, i32)];
    await selectInto.async(x, ((v: number) => v > 0) as never, a, count);
    same(await element(count, 0), BigInt(host.filter((v) => v > 0).length));
    await partitionInto.async(x, ((v: number) => v > 0) as never, a, b, count);
    const kept = Number(await element(count, 0));
    sameElements(
      await read(b.slice([0, 6000 - kept])),
      host.filter((v) => v <= 0),
    );
    const heads = [...host.keys()].filter((k) => k === 0 || host[k] !== host[k - 1]);
    await uniqueInto.async(x, a, count);
    same(await element(count, 0), BigInt(heads.length));
    await uniqueByKeyInto.async(x, counting(6000), a, b, count);
    sameElements(await read(b.slice([0, heads.length])), heads);
    await runLengthEncodeInto.async(x, a, b, count);
    sameElements(
      await read(b.slice([0, heads.length])),
      heads.map((k, r) => (heads[r + 1] ?? 6000) - k),
    );
    await reduceByKeyInto.async(x, x, 'sum', a, b, count);
    sameElements(
      await read(b.slice([0, heads.length])),
      heads.map((k, r) => ((heads[r + 1] ?? 6000) - k) * (host[k] as number)),
    );
    await selectInto.async(new Int32Array(0), (() => true) as never, a, count);
    same(await element(count, 0), 0n);
  },

  'what does not fit is said': async () => {
    const x = cuda.toDevice(Int32Array.of(1, 2, 3));
    await rejects(async () => select.async(x, [1, 0]), /2 flags, and 3/, 'E_PARALLEL');
    const count = cuda.deviceArray(1, i32);
    const short = cuda.deviceArray(2, i32);
    await rejects(async () => selectInto.async(x, x, short, count), /may be 3/, 'E_PARALLEL');
    await rejects(async () => uniqueInto.async(x, x, count), /read/, 'E_PARALLEL');
    await rejects(async () => uniqueByKey.async(x, [1]), /3 keys, and 1/, 'E_PARALLEL');
  },
});
