/**
 * Chapter: segmented reductions, histograms, questions, searches and moves of `tsamba/parallel`, held against plain JavaScript and values of NumPy's.
 */
import { cuda, f32, i32, ndarray, struct } from '../../src/index.ts';
import {
  all,
  any,
  argmax,
  argmin,
  bincount,
  collect,
  countIf,
  counting,
  gather,
  histogram,
  histogram2d,
  map,
  merge,
  minmax,
  permute,
  reduce,
  reverse,
  scatter,
  searchSorted,
  segmentedReduce,
  segmentedScan,
  segmentedSort,
  shuffle,
  sort,
  sortByKey,
} from '../../src/parallel/index.ts';
import { rejects, same, sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { element, read } from '../waiting.ts';

const mixed = (length: number, below = 23): number[] => Array.from({ length }, (_, k) => (k * 7919) % below);
const sumOf = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0);
const Pair = struct({ x: f32, y: i32 });

/** Bins of equal width, where borders are whole numbers. */
function counted(values: ArrayLike<number>, bins: number, low: number, high: number): Int32Array {
  const counts = new Int32Array(bins);
  for (const v of Array.from(values)) {
    if (v < low || v > high) continue;
    const bin = Math.min(bins - 1, Math.floor(((v - low) * bins) / (high - low)));
    counts[bin] = (counts[bin] as number) + 1;
  }
  return counts;
}

export const parallelCounting: readonly ConformanceTest[] = chapter('parallel counting', {
  'segments of all lengths': async () => {
    const lengths = [0, 1, 5, 3000, 7, 10, 40, 0, 33, 5000, 100, 0];
    const offsets = [0];
    for (const n of lengths) offsets.push((offsets.at(-1) as number) + n);
    const x = Float32Array.from(mixed(offsets.at(-1) as number));
    const parts = lengths.map((_, s) => x.slice(offsets[s], offsets[s + 1]));
    sameElements(await read(await segmentedReduce.async(x, offsets, 'sum')), parts.map(sumOf));
    const most = await segmentedReduce.async(x, Int32Array.from(offsets), (a, b) => Math.max(a, b), { init: 5 });
    sameElements(
      await read(most),
      parts.map((part) => Math.max(5, ...part)),
    );
    const ints = await segmentedReduce.async(Int16Array.from(x), offsets, 'sum');
    sameElements(
      await read(ints),
      parts.map((part) => BigInt(sumOf(part))),
    );
  },

  'segments by lanes, with lazy offsets and structs': async () => {
    for (const each of [1, 3, 30, 300, 4500]) {
      const count = Math.floor(9000 / each);
      const x = mixed(count * each);
      const sums = Array.from({ length: count }, (_, s) => sumOf(x.slice(s * each, (s + 1) * each)));
      const offsets = counting(count + 1, 0, each);
      sameElements(await read(await segmentedReduce.async(Float32Array.from(x), offsets, (a, b) => a + b)), sums);
    }
    const values = mixed(3000).map((x, y) => ({ x, y }));
    const pairs = ndarray(values, { dtype: Pair });
    const join = (a: { x: number; y: number }, b: { x: number; y: number }) => ({
      x: a.x + b.x,
      y: Math.max(a.y, b.y),
    });
    const joined = await segmentedReduce.async(pairs, counting(31, 0, 100), join);
    const last = (await element(joined as never, 29)) as { x: number; y: number };
    sameElements([last.x, last.y], [sumOf(mixed(3000).slice(2900)), 2999]);
    sameElements(await read(await segmentedReduce.async(new Float32Array(0), [0, 0], 'prod')), [1]);
    await rejects(() => segmentedReduce.async(pairs, [0.5, 1], join), /integers/);
  },

  'histograms of floats': async () => {
    for (const length of [5, 30011]) {
      const x = Float32Array.from(mixed(length));
      sameElements(await read(await histogram.async(x, 32, { range: [0, 32] })), counted(x, 32, 0, 32));
      sameElements(await read(await histogram.async(x, 7, { range: [2, 16] })), counted(x, 7, 2, 16));
      const wide = await read(await histogram.async(Float64Array.from(x), 9000, { range: [0, 9000] }));
      sameElements(Array.from(wide as never as Int32Array).slice(0, 23), counted(x, 9000, 0, 9000).slice(0, 23));
    }
    sameElements(
      await read(await histogram.async(Float32Array.from(mixed(9000)), 11)),
      counted(mixed(9000), 11, 0, 22),
    );
  },

  "bins are NumPy's": async () => {
    // np.histogram([0.1, 0.2, 0.3, 0.7, 0.9, 1.0, nan], 10, (0, 1)), and with f32.
    const x = [0.1, 0.2, 0.3, 0.7, 0.9, 1, Number.NaN, 1.5, -1];
    sameElements(await read(await histogram.async(x, 10, { range: [0, 1] })), [0, 1, 2, 0, 0, 0, 1, 0, 0, 2]);
    sameElements(await read(await histogram.async([1, 2, 2, 5], [1, 2, 3, 5])), [1, 2, 1]);
    sameElements(await read(await histogram.async([2, 2, 2], 3)), [0, 3, 0]);
    sameElements(await read(await histogram.async(BigInt64Array.of(1n, 5n, -3n), 4)), [1, 0, 1, 1]);
    sameElements(await read(await histogram.async(new Float32Array(0), 2, { range: [0, 1] })), [0, 0]);
    await rejects(() => histogram.async([1], 0), /number of bins/);
    await rejects(() => histogram.async([1], 3, { range: [2, 1] }), /ascend/);
  },

  'histograms of bytes, and how often integers are there': async () => {
    const bytes = Uint8Array.from(mixed(20003, 1013).map((v) => v >> 2));
    sameElements(await read(await histogram.async(bytes, 256, { range: [0, 256] })), counted(bytes, 256, 0, 256));
    const signed = new Int8Array(bytes.buffer);
    sameElements(await read(await histogram.async(signed, 16, { range: [-128, 128] })), counted(signed, 16, -128, 128));
    sameElements(
      await read(await bincount.async(bytes)),
      counted(bytes, Math.max(...bytes) + 1, 0, Math.max(...bytes) + 1),
    );
    sameElements(await read(await bincount.async(Int32Array.of(1, -1, 3, 900), { length: 5 })), [0, 1, 0, 1, 0]);
    same((await bincount.async(new Uint16Array(0))).size, 0);
    const both = await read(
      await histogram2d.async([0, 0, 1, 2], [0, 1, 1, 0], [3, 2], {
        range: [
          [0, 3],
          [0, 1],
        ],
      }),
    );
    sameElements(both as never, [1, 1, 0, 1, 1, 0]);
  },

  questions: async () => {
    const x = Float32Array.from(mixed(5000, 2311));
    const { min, max } = await minmax.async(x);
    sameElements([min, max], [0, 2310]);
    sameElements([await argmin.async(x), await argmax.async(x)], [0, x.indexOf(2310)]);
    sameElements([await any.async(x, (v) => v > 2310), await all.async(x, (v) => v < 2311)], [false, true]);
    same(await countIf.async(x, (v) => v < 10), x.filter((v) => v < 10).length);
    same(
      await countIf.async(
        map(counting(100), (v) => v * 2),
        (v) => v % 3 === 0,
      ),
      34,
    );
    x[77] = x[99] = Number.NaN;
    const odd = await minmax.async(x);
    sameElements([odd.min, odd.max, await argmin.async(x), await argmax.async(x)], [Number.NaN, Number.NaN, 77, 77]);
    sameElements(
      [await any.async([false, true]), await all.async([false, true]), await countIf.async([true, false])],
      [true, false, 1],
    );
    sameElements([await any.async(new Float32Array(0)), await all.async(new Float32Array(0))], [false, true]);
    await rejects(() => argmin.async(new Float32Array(0)), /no elements/);
  },

  'searches and merges': async () => {
    const sorted = Float32Array.of(1, 3, 3, 9, Number.NaN);
    const wanted = [0, 1, 3, 4, 10, Number.NaN];
    sameElements(await read(await searchSorted.async(sorted, wanted)), [0, 0, 1, 3, 4, 4]);
    sameElements(await read(await searchSorted.async(sorted, wanted, { side: 'right' })), [0, 1, 3, 3, 4, 5]);
    const down = await searchSorted.async(Int32Array.of(9, 5, 5, 1), [5], { less: (a, b) => a > b });
    sameElements(await read(down), [1]);
    const [a, b] = [mixed(3000, 997).sort((p, q) => p - q), mixed(1777, 1009).sort((p, q) => p - q)];
    const both = await merge.async(Int32Array.from(a), Int32Array.from(b));
    sameElements(
      await read(both),
      [...a, ...b].sort((p, q) => p - q),
    );
    // Of equal elements those of the first come first.
    const stable = await merge.async(Int32Array.of(11, 21), Int32Array.of(12, 20), {
      less: (p, q) => Math.floor(p / 10) < Math.floor(q / 10),
    });
    sameElements(await read(stable), [11, 12, 21, 20]);
    await rejects(() => merge.async(Int32Array.of(1), Float32Array.of(1)), /float32|f32/);
  },

  'what does not fit is said, and nothing is left': async () => {
    const { live } = cuda.memoryStats();
    const x = cuda.toDevice(Float32Array.of(3, 1, 2));
    const int = cuda.deviceArray(3, i32);
    const wrong: readonly (readonly [run: () => Promise<unknown>, text: RegExp])[] = [
      [() => reduce.async(x, 5 as never), /'max', or a function of two values, got 5/],
      [() => reduce.async(x, 'summe' as never), /no operator 'summe'/],
      [() => reduce.async(x, 'sum', { init: '1' as never }), /init must be a value of f32/],
      [() => reduce.async(Promise.resolve(x) as never, 'sum'), /await it first/],
      [() => segmentedReduce.async(x, [0, 3, 1], 'sum'), /offsets\[2\] is 1, and the offset before it is 3/],
      [() => segmentedScan.async(x, [0, 9], 'sum'), /offsets\[1\] is 9, and there are 3 elements/],
      [() => segmentedSort.async(x, Int32Array.of(-1, 2)), /offsets\[0\] is -1/],
      [() => sort.async(x, { descending: 1 as never }), /true or false/],
      [() => sortByKey.async(x, int, { out: { keys: int, values: int } }), /separate arrays/],
      [() => sortByKey.async(x, int, { out: { key: int } as never }), /no option 'key'/],
      [() => histogram2d.async(x, [1, 2], 2), /x has 3 elements, and y 2/],
      [() => scatter.async(x, [0], int), /dtype/],
      [() => scatter.async(int, [0], int), /1 indices, and 3 elements/],
      [() => gather.async(x, [0.5]), /integers, got 0.5/],
      [() => collect.async(permute(x, x)), /index must be integers/],
      [async () => counting(3, 1n, 2 as never), /two numbers or two bigints/],
    ];
    for (const [run, text] of wrong) await rejects(run, text);
    same((await gather.async(x, [])).size, 0);
    for (const array of [x, int]) array.dispose();
    same(cuda.memoryStats().live, live);
  },

  'indices and offsets of 64 bits': async () => {
    const x = Float32Array.of(5, 6, 7, 8);
    for (const Class of [BigInt64Array, BigUint64Array]) {
      const at = Class.of(2n, 0n, 3n);
      sameElements(await read(await gather.async(x, at)), [7, 5, 8]);
      const out = cuda.toDevice(new Float32Array(4));
      await scatter.async(Float32Array.of(1, 2, 3), at, out);
      sameElements(await read(out), [2, 0, 1, 3]);
      const offsets = Class.of(0n, 1n, 4n);
      sameElements(await read(await segmentedReduce.async(x, offsets, 'sum')), [5, 21]);
      sameElements(await read(await segmentedScan.async(x, offsets, 'sum')), [5, 6, 13, 21]);
    }
  },

  moves: async () => {
    sameElements(await read(await gather.async(Float32Array.of(5, 6, 7), [2, 0, 2])), [7, 5, 7]);
    const out = cuda.toDevice(Float32Array.of(0, 0, 0));
    await scatter.async(Float32Array.of(7, 8), [2, 0], out);
    sameElements(await read(out), [8, 0, 7]);
    sameElements(await read(await collect.async(reverse(Int32Array.of(1, 2, 3)))), [3, 2, 1]);
    const x = cuda.toDevice(Int32Array.from({ length: 1001 }, (_, k) => k));
    await collect.async(reverse(x), { out: x });
    sameElements([await element(x, 0), await element(x, 999), await element(x, 1000)], [1000, 1, 0]);
    const order = await shuffle.async(x, { seed: 7 });
    const again = await shuffle.async(x, { seed: 7 });
    same(await reduce.async(order, 'sum'), 500500);
    const values = Array.from((await read(order)) as never as Int32Array);
    sameElements((await read(again)) as never, values);
    sameElements(
      [...values].sort((p, q) => p - q),
      counted([], 1001, 0, 1).map((_, k) => k),
    );
    same(
      values.every((v, k) => v === 1000 - k),
      false,
    );
    same(new Set(values.slice(0, 10)).size, 10);
  },
});
