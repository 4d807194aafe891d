/**
 * Chapter: primitives along an axis of arrays of any layout, against plain JavaScript.
 */
import { cuda, ndarray } from '../../src/index.ts';
import { all, any, argmax, argmin, argsort, countIf, minmax, reduce, sort } from '../../src/parallel/index.ts';
import { rejects, same, sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { read } from '../waiting.ts';

type Line = readonly number[];

const SHAPE = [3, 5, 4] as const;
const SIZE = 60;
const numbers = Array.from({ length: SIZE }, (_, k) => ((k * 37) % 23) - 11);

/** Place `k` of line `(o, i)` in C order. */
function lineOf(x: Line, axis: number, o: number, i: number): number[] {
  const inner = SHAPE.slice(axis + 1).reduce((a, b) => a * b, 1);
  const length = SHAPE[axis] as number;
  return Array.from({ length }, (_, k) => x[(o * length + k) * inner + i] as number);
}

/** What a function makes of each line, in C order. */
function ofLines<T>(x: Line, axis: number, fn: (line: number[]) => T): T[] {
  const inner = SHAPE.slice(axis + 1).reduce((a, b) => a * b, 1);
  const outer = SHAPE.slice(0, axis).reduce((a, b) => a * b, 1);
  return Array.from({ length: outer * inner }, (_, s) => fn(lineOf(x, axis, Math.floor(s / inner), s % inner)));
}

/** Lines that a function makes of lines, put back where they were. */
function intoLines(x: Line, axis: number, fn: (line: number[]) => number[]): number[] {
  const inner = SHAPE.slice(axis + 1).reduce((a, b) => a * b, 1);
  const length = SHAPE[axis] as number;
  const result = new Array<number>(SIZE);
  ofLines(x, axis, fn).forEach((line, s) => {
    line.forEach((v, k) => {
      result[(Math.floor(s / inner) * length + k) * inner + (s % inner)] = v;
    });
  });
  return result;
}

const shaped = (x: Float32Array | Int32Array) => cuda.toDevice(ndarray(x, { shape: SHAPE }));

/** The same elements in C order, the last two axes the other way round in memory. */
const turned = (x: Line) => {
  const memory = Float32Array.from({ length: SIZE }, (_, k) => {
    const [o, q, r] = [Math.floor(k / 20), Math.floor((k % 20) / 5), k % 5];
    return x[o * 20 + r * 4 + q] as number;
  });
  return cuda.toDevice(ndarray(memory, { shape: [3, 4, 5] })).transpose([0, 2, 1]);
};

const withNaN = numbers.map((v, k) => (k === 17 ? Number.NaN : v % 6 === 0 ? -0 : v));

export const parallelAxis: readonly ConformanceTest[] = chapter('parallel along an axis', {
  'reductions by names and by functions': async () => {
    for (const array of [shaped(Float32Array.from(numbers)), turned(numbers)]) {
      for (const axis of [0, 1, 2]) {
        const sums = await reduce.async(array, 'sum', { axis, keepDims: true });
        const kept = SHAPE.map((n, k) => (k === axis ? 1 : n));
        sameElements(sums.shape, kept);
        const sum = (line: number[]): number => line.reduce((a, b) => a + b, 0);
        sameElements(await read(sums), ofLines(numbers, axis, sum));
        const least = await reduce.async(array, (a, b) => Math.min(a, b), { axis: axis - 3, init: -5 });
        sameElements(
          least.shape,
          SHAPE.filter((_, k) => k !== axis),
        );
        sameElements(
          await read(least),
          ofLines(numbers, axis, (line) => Math.min(-5, ...line)),
        );
      }
    }
    const big = await reduce.async(shaped(Int32Array.from(numbers, (v) => v * 1e8)), 'sum', { axis: 1 });
    same(big.dtype.name, 'i64');
    sameElements(
      await read(big),
      ofLines(numbers, 1, (line) => line.reduce((a, b) => a + BigInt(b) * 100_000_000n, 0n)),
    );
  },

  'long lines and few, and none': async () => {
    for (const [rows, columns] of [
      [2, 3000],
      [3000, 2],
    ] as const) {
      const x = Int32Array.from({ length: 6000 }, (_, k) => (k * 7919) % 1009);
      const array = cuda.toDevice(ndarray(x, { shape: [rows, columns] }));
      const at = (i: number, j: number): number => x[i * columns + j] as number;
      const downs = Array.from({ length: columns }, (_, j) => Array.from({ length: rows }, (_, i) => at(i, j)));
      const across = Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => at(i, j)));
      for (const [axis, lines] of [downs, across].entries()) {
        const least = (line: number[]): number => line.reduce((a, b) => Math.min(a, b));
        sameElements(await read(await reduce.async(array, 'min', { axis })), lines.map(least));
        sameElements(
          await read(await argmin.async(array, { axis })),
          lines.map((line) => line.indexOf(least(line))),
        );
      }
    }
    const none = cuda.deviceArray([2, 0, 3], 'float32');
    sameElements(await read(await reduce.async(none, 'sum', { axis: 1 })), new Array(6).fill(0));
    same((await reduce.async(none, 'max', { axis: 0 })).size, 0);
    await rejects(() => argmax.async(none, { axis: 1 }), /no elements/, 'E_PARALLEL');
    await rejects(() => reduce.async(none, 'sum', { axis: 3 }), /axis/);
  },

  'extremes, places, tests and counts': async () => {
    const less = (a: number, b: number): boolean => a < b || (Number.isNaN(a) && !Number.isNaN(b));
    const first = (line: number[], before: typeof less): number =>
      line.reduce((best, v, k) => (before(v, line[best] as number) ? k : best), 0);
    const more = (a: number, b: number): boolean => a > b || (Number.isNaN(a) && !Number.isNaN(b));
    for (const array of [shaped(Float32Array.from(withNaN)), turned(withNaN)]) {
      for (const axis of [0, 1, 2]) {
        const lines = <T>(fn: (line: number[]) => T): T[] => ofLines(withNaN, axis, fn);
        const { min, max } = await minmax.async(array, { axis });
        sameElements(
          await read(min),
          lines((line) => Math.min(...line)),
        );
        sameElements(
          await read(max),
          lines((line) => Math.max(...line)),
        );
        sameElements(
          await read(await argmin.async(array, { axis })),
          lines((line) => first(line, less)),
        );
        sameElements(
          await read(await argmax.async(array, { axis, keepDims: true })),
          lines((line) => first(line, more)),
        );
        sameElements(
          await read(await any.async(array, (v) => v > 9, { axis })),
          lines((line) => line.some((v) => v > 9)),
        );
        sameElements(
          await read(await all.async(array, undefined, { axis })),
          lines((line) => line.every((v) => v !== 0)),
        );
        sameElements(
          await read(await countIf.async(array, (v) => v < 0, { axis })),
          lines((line) => line.filter((v) => v < 0).length),
        );
      }
    }
  },

  'along several axes, and into arrays that are given': async () => {
    for (const array of [shaped(Float32Array.from(numbers)), turned(numbers)]) {
      const sum = (line: number[]): number => line.reduce((a, b) => a + b, 0);
      // What is left of three axes is one: the lines of that, one behind the other.
      for (const left of [0, 1, 2]) {
        const axis = [0, 1, 2].filter((k) => k !== left);
        const others = Array.from({ length: SHAPE[left] as number }, (_, place) => {
          const inner = SHAPE.slice(left + 1).reduce((a, b) => a * b, 1);
          return numbers.filter((_, k) => Math.floor(k / inner) % (SHAPE[left] as number) === place);
        });
        const sums = await reduce.async(array, 'sum', { axis });
        sameElements(sums.shape, [SHAPE[left]]);
        sameElements(await read(sums), others.map(sum));
        const counts = await countIf.async(array, (v) => v > 0, { axis: [axis[1] as number, (axis[0] as number) - 3] });
        sameElements(
          await read(counts),
          others.map((line) => line.filter((v) => v > 0).length),
        );
      }
      const all = await reduce.async(array, 'max', { axis: [0, 1, 2], keepDims: true });
      sameElements(all.shape, [1, 1, 1]);
      sameElements(await read(all.ravel()), [Math.max(...numbers)]);
      const wide = cuda.toDevice(ndarray(new Float32Array(24), { shape: [3, 8] }));
      const out = wide.slice(':', '::2');
      same(await reduce.async(array, 'sum', { axis: 1, out }), out);
      sameElements(await read(out), ofLines(numbers, 1, sum));
      // Into the array that is read.
      const square = cuda.toDevice(ndarray(Int32Array.of(1, 5, 7, 3), { shape: [2, 2] }));
      await argmax.async(square, { axis: 0, out: square.slice(1) });
      sameElements(await read(square.ravel()), [1, 5, 1, 0]);
      await rejects(() => reduce.async(array, 'sum', { axis: [0, -3] }), /twice/, 'E_AXIS');
      await rejects(() => reduce.async(array, 'sum', { axis: 1, out: wide }), /shape/, 'E_PARALLEL');
      await rejects(() => reduce.async(array, 'sum', { out } as never), /axis/, 'E_PARALLEL');
      await rejects(() => argmin.async(array, { axis: [0, 1] as never }), /integer/, 'E_AXIS');
    }
  },

  'sorts and their places': async () => {
    const array = turned(withNaN);
    const before = (a: number, b: number): number => {
      if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
      return a - b || Number(Object.is(b, -0)) - Number(Object.is(a, -0));
    };
    const places = (line: number[], compare: (a: number, b: number) => number): number[] =>
      line.map((_, k) => k).sort((p, q) => compare(line[p] as number, line[q] as number));
    for (const axis of [0, 1, 2]) {
      sameElements(
        await read(await sort.async(array, { axis })),
        intoLines(withNaN, axis, (line) => line.sort(before)),
      );
      sameElements(
        await read(await argsort.async(array, { axis })),
        intoLines(withNaN, axis, (line) => places(line, before)),
      );
    }
    const out = shaped(Float32Array.from(numbers));
    same(await sort.async(out, { axis: 0, key: (v) => v * v, descending: true, out }), out);
    sameElements(
      await read(out),
      intoLines(numbers, 0, (line) => places(line, (a, b) => b * b - a * a).map((k) => line[k] as number)),
    );
    await rejects(() => sort.async(out, { axis: 0, out: cuda.deviceArray(60, 'float32') }), /shape/, 'E_PARALLEL');
  },
});
