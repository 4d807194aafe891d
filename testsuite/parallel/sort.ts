/**
 * Chapter: `sort`, `argsort` and `sortByKey` of `tsamba/parallel`, held against plain JavaScript.
 */
import { cuda, f16, f32, i32, ndarray, roc, struct } from '../../src/index.ts';
import { argsort, map, segmentedSort, sort, sortByKey, stableSort, topK } from '../../src/parallel/index.ts';
import { rejects, same, sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { read } from '../waiting.ts';
import { LENGTHS } from './reduce.ts';

/** A generator of 32 bits that gives the same numbers every time. */
function hashes(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let h = state;
    h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
    h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
    return (h ^ (h >>> 15)) >>> 0;
  };
}

type Numbers =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;
type Big = BigInt64Array | BigUint64Array;

/** A class of typed arrays. */
interface NumbersClass {
  from(like: { readonly length: number }, make: (_: unknown, k: number) => number): Numbers;
}

const CLASSES: readonly NumbersClass[] = [
  Int8Array,
  Uint8Array,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
];
const SPECIAL = [Number.NaN, 0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324, 1e-40];

/** Elements of all kinds: of the whole range, few different ones, those with a meaning of their own. */
function numbers(Class: NumbersClass, length: number, next: () => number): Numbers {
  const isFloat = [Float32Array, Float64Array].includes(Class as never);
  const few = length % 2 === 0;
  return Class.from({ length }, () => {
    const bits = next();
    if (!isFloat) return few ? (bits % 5) - 2 : bits;
    if (bits % 16 === 0) return SPECIAL[(bits >>> 8) % SPECIAL.length] as number;
    return few ? (bits % 5) - 2 : (bits - 2 ** 31) * 2 ** ((bits % 60) - 60);
  });
}

/** As `TypedArray.prototype.sort`, of places: -0 before 0, NaN last, equal elements in their order. */
function placesOf(x: Numbers | Big, descending = false): number[] {
  const order = (i: number, j: number): number => {
    const [a, b] = [x[i] as number, x[j] as number];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    const by = a < b ? -1 : a > b ? 1 : a === 0 && b === 0 ? Number(Object.is(b, -0)) - Number(Object.is(a, -0)) : 0;
    return descending ? -by : by;
  };
  return Array.from(x.keys()).sort((i, j) => order(i, j) || i - j);
}

const Item = struct({ weight: f32, id: i32, more: f32 });

interface Row {
  readonly weight: number;
  readonly id: number;
  readonly more: number;
}

async function rowsOf(x: unknown): Promise<readonly Row[]> {
  const copy = (await read(x as never)) as unknown as { toArray(): Row[] };
  return copy.toArray();
}

const items = (length: number) => {
  const next = hashes(length);
  return Array.from({ length }, (_, id) => ({ weight: next() % 50, id, more: id / 2 }));
};

export const parallelSort: readonly ConformanceTest[] = chapter('parallel sort', {
  'numbers of every type, as typed arrays sort': async () => {
    const next = hashes(1);
    for (const length of [1, 2, 33, 257, 2049, 9001, 20000]) {
      for (const Class of CLASSES) {
        const x = numbers(Class, length, next);
        sameElements(await read(await sort.async(x)), Array.from(x.slice().sort()));
      }
    }
  },

  'lengths around warps, blocks and tiles': async () => {
    const next = hashes(2);
    for (const length of LENGTHS) {
      const x = Uint32Array.from({ length }, next);
      sameElements(await read(await sort.async(x)), Array.from(x.slice().sort()));
    }
    same((await sort.async(new Float32Array(0))).size, 0);
  },

  'integers of 64 bits': async () => {
    const next = hashes(3);
    for (const length of [2, 3001]) {
      const signed = BigInt64Array.from({ length }, () => (BigInt(next()) << 32n) | BigInt(next()));
      const unsigned = BigUint64Array.from(signed, (v) => BigInt.asUintN(64, v));
      sameElements(await read(await sort.async(signed)), Array.from(signed.slice().sort()));
      sameElements(await read(await sort.async(unsigned)), Array.from(unsigned.slice().sort()));
      const down = await read(await sort.async(signed, { descending: true }));
      sameElements(down, Array.from(signed.slice().sort()).reverse());
    }
  },

  'floats of 16 bits and booleans': async () => {
    const next = hashes(4);
    const values = Array.from({ length: 3000 }, () => (next() % 400) - 200);
    const x = cuda.toDevice(ndarray(values, { dtype: f16 }));
    const sorted = await sort.async(x);
    sameElements(
      await read(sorted),
      [...values].sort((a, b) => a - b),
    );
    const flags = Array.from({ length: 500 }, () => next() % 2 === 0);
    const ordered = await read(await sort.async(flags));
    sameElements(
      ordered,
      [...flags].sort((a, b) => Number(a) - Number(b)),
    );
  },

  'descending leaves equal elements in their order and NaN last': async () => {
    const next = hashes(5);
    for (const Class of [Float32Array, Int16Array, Float64Array]) {
      for (const length of [300, 8193]) {
        const x = numbers(Class, length, next);
        const at = placesOf(x, true);
        sameElements(await read(await argsort.async(x, { descending: true })), at);
        const sorted = await read(await sort.async(x, { descending: true }));
        sameElements(
          sorted,
          at.map((i) => x[i]),
        );
      }
    }
  },

  'places of equal elements are in their order': async () => {
    const next = hashes(6);
    for (const Class of CLASSES) {
      for (const length of [5, 256, 7001]) {
        const x = numbers(Class, length, next);
        sameElements(await read(await argsort.async(x)), placesOf(x));
      }
    }
  },

  'sorted, reversed and equal elements': async () => {
    const length = 9000;
    const up = Float32Array.from({ length }, (_, k) => k - 100);
    sameElements(await read(await sort.async(up)), Array.from(up));
    sameElements(await read(await sort.async(up.slice().reverse())), Array.from(up));
    const equal = new Int32Array(length).fill(7);
    sameElements(await read(await argsort.async(equal)), Array.from(equal.keys()));
  },

  'in place, into arrays of any layout, and parts of arrays': async () => {
    const next = hashes(7);
    const x = Float32Array.from({ length: 4000 }, () => next() % 1000);
    const d = cuda.toDevice(x);
    same(await sort.async(d, { out: d }), d);
    const sorted = Array.from(x.slice().sort());
    sameElements(await read(d), sorted);
    const bytes = Uint8Array.from({ length: 3000 }, next);
    const b = cuda.toDevice(bytes);
    await sort.async(b, { out: b });
    sameElements(await read(b), Array.from(bytes.slice().sort()));
    const every = cuda.toDevice(x).slice([null, null, -3]);
    const third = Array.from(x.filter((_, k) => (x.length - 1 - k) % 3 === 0).sort());
    sameElements(await read(await sort.async(every)), third);
    const wide = cuda.toDevice(new Float32Array(8000));
    const even = wide.slice([null, null, 2]);
    await sort.async(x, { out: even });
    sameElements(await read(even), sorted);
    const shifted = cuda.toDevice(x);
    await sort.async(shifted.slice([0, 3999]), { out: shifted.slice([1, 4000]) });
    sameElements(await read(shifted), [x[0], ...Array.from(x.slice(0, 3999).sort())]);
  },

  'by a key': async () => {
    const x = Float32Array.from({ length: 5000 }, (_, k) => ((k * 7919) % 101) - 50);
    const by = Array.from(x.keys()).sort((i, j) => Math.abs(x[i] as number) - Math.abs(x[j] as number) || i - j);
    const sorted = await sort.async(x, { key: (v) => Math.abs(v) });
    sameElements(
      await read(sorted),
      by.map((i) => x[i]),
    );
    sameElements(await read(await argsort.async(x, { key: (v) => Math.abs(v) })), by);
    const lazy = await sort.async(map(x, (v) => v * 2));
    sameElements(
      await read(lazy),
      Array.from(x, (v) => 2 * v).sort((a, b) => a - b),
    );
  },

  'structs by a key and by a comparison, stable': async () => {
    for (const length of [1, 40, 3000]) {
      const values = items(length);
      const d = cuda.toDevice(ndarray(values, { dtype: Item }));
      const ids = [...values].sort((a, b) => a.weight - b.weight).map(({ id }) => id);
      const byKey = await sort.async(d, { key: (v) => v.weight });
      const byComparison = await stableSort.async(d, { compare: (a, b) => a.weight - b.weight });
      for (const sorted of [byKey, byComparison]) {
        const rows = await rowsOf(sorted);
        sameElements(
          rows.map(({ id }) => id),
          ids,
        );
        sameElements(
          rows.map(({ more }) => more),
          ids.map((id) => id / 2),
        );
      }
      sameElements(await read(await argsort.async(d, { compare: (a, b) => a.weight - b.weight })), ids);
      const down = [...values].sort((a, b) => b.weight - a.weight).map(({ id }) => id);
      const reversed = await argsort.async(d, { compare: (a, b) => a.weight - b.weight, descending: true });
      sameElements(await read(reversed), down);
    }
  },

  'numbers by a comparison': async () => {
    const next = hashes(8);
    for (const length of LENGTHS) {
      const x = Int32Array.from({ length }, () => next() % 1000);
      const sorted = await sort.async(x, { compare: (a, b) => (b % 100) - (a % 100) });
      sameElements(
        await read(sorted),
        Array.from(x).sort((a, b) => (b % 100) - (a % 100)),
      );
    }
  },

  'values of every size along keys': async () => {
    const next = hashes(9);
    const length = 4500;
    const keys = Int16Array.from({ length }, () => next() % 300);
    const at = placesOf(keys);
    for (const Class of CLASSES) {
      const values = Class.from({ length }, (_, k) => k % 120);
      const sorted = await sortByKey.async(keys, values);
      sameElements(
        await read(sorted.keys),
        at.map((i) => keys[i]),
      );
      sameElements(
        await read(sorted.values),
        at.map((i) => values[i]),
      );
    }
    const values = items(length);
    const d = cuda.toDevice(ndarray(values, { dtype: Item }));
    const rows = await rowsOf((await sortByKey.async(keys, d)).values);
    sameElements(
      rows.map(({ id }) => id),
      at,
    );
  },

  'keys and values in place, by a comparison of keys': async () => {
    const values = items(2000);
    const d = cuda.toDevice(ndarray(values, { dtype: Item }));
    const ids = cuda.toDevice(Int32Array.from(values.keys()));
    const out = { keys: d, values: ids };
    await sortByKey.async(d, ids, { compare: (a, b) => b.weight - a.weight, out });
    const at = [...values].sort((a, b) => b.weight - a.weight).map(({ id }) => id);
    sameElements(await read(ids), at);
    sameElements(
      (await rowsOf(d)).map(({ id }) => id),
      at,
    );
  },

  'segments, each by itself': async () => {
    const next = hashes(10);
    const length = 6000;
    const x = Float32Array.from({ length }, () => next() % 500);
    const d = cuda.toDevice(ndarray(items(length), { dtype: Item }));
    for (const count of [1, 3, 700]) {
      const offsets = Int32Array.from({ length: count + 1 }, () => 10 + (next() % (length - 20))).sort();
      offsets[count] = offsets[count - 1] as number;
      const expected = x.slice();
      const weights = items(length).map(({ weight, id }) => ({ weight, id }));
      for (let s = 0; s < count; s++) {
        const [from, to] = [offsets[s] as number, offsets[s + 1] as number];
        expected.subarray(from, to).sort();
        const part = weights.slice(from, to).sort((a, b) => b.weight - a.weight);
        weights.splice(from, part.length, ...part);
      }
      sameElements(await read(await segmentedSort.async(x, offsets)), Array.from(expected));
      const inPlace = cuda.toDevice(x);
      await segmentedSort.async(inPlace, cuda.toDevice(offsets), { out: inPlace });
      sameElements(await read(inPlace), Array.from(expected));
      const sorted = await segmentedSort.async(d, offsets, { key: (v) => v.weight, descending: true });
      sameElements(
        (await rowsOf(sorted)).map(({ id }) => id),
        weights.map(({ id }) => id),
      );
    }
    sameElements(await read(await segmentedSort.async(Int32Array.of(3, 2, 1), [0, 2])), [2, 3, 1]);
    await rejects(() => segmentedSort.async(x, x), /integers/);
  },

  'the greatest and the least': async () => {
    const next = hashes(11);
    for (const length of [1, 100, 9000]) {
      const x = numbers(Float32Array as never, length, next);
      for (const k of [0, 1, 17, length + 5]) {
        for (const descending of [true, false]) {
          const at = placesOf(x, descending).slice(0, k);
          const { values, indices } = await topK.async(x, k, descending ? {} : { descending });
          sameElements(await read(indices), at);
          sameElements(
            await read(values),
            at.map((i) => x[i]),
          );
        }
      }
    }
    const values = items(300);
    const d = cuda.toDevice(ndarray(values, { dtype: Item }));
    const best = await topK.async(d, 5, { key: (v) => v.weight });
    const ids = [...values].sort((a, b) => b.weight - a.weight).map(({ id }) => id);
    sameElements(
      (await rowsOf(best.values)).map(({ id }) => id),
      ids.slice(0, 5),
    );
    await rejects(() => topK.async(d, -1), /integer/);
  },

  'what cannot be sorted': async () => {
    const d = cuda.toDevice(ndarray(items(3), { dtype: Item }));
    await rejects(() => sort.async(d), /key/);
    await rejects(() => sort.async(Float32Array.of(1), { out: cuda.deviceArray(2, f32) }), /shape/);
    await rejects(() => sort.async(Float32Array.of(1), { out: cuda.deviceArray(1, i32) }), /dtype/);
    const both = { key: (v: number) => v, compare: (a: number, b: number) => a - b };
    await rejects(() => sort.async(Float32Array.of(1), both), /not both/);
    await rejects(() => sortByKey.async(Float32Array.of(1), Float32Array.of(1, 2)), /2 values/);
  },

  'arrays of roc': async () => {
    const x = roc.toDevice(Float32Array.of(3, 1, 2));
    sameElements(await read((await sort.async(x)) as never), [1, 2, 3]);
  },
});
