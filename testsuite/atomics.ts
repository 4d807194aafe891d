/**
 * Chapter: atomic operations on global and shared memory.
 *
 * Every operation is checked twice: many threads, whose old values can only come from some order of the operations, and one thread.
 */
import {
  cuda,
  type DeviceNDArray,
  type DType,
  f32,
  f64,
  type In,
  i32,
  i64,
  type Mat,
  u32,
  u64,
  type Vec,
} from '../src/index.ts';
import { same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType, zeros } from './support.ts';
import { element, launch, read } from './waiting.ts';

type Op = (a: Vec<i32>, index: number, v: number) => number;

const THREADS = 300;
const BINS = 7;

/** Integer and float types as one, for kernels that serve them all. */
const NUMERIC: readonly [string, DType<i32>][] = [
  ['i32', i32],
  ['u32', u32 as never],
  ['i64', i64 as never],
  ['u64', u64 as never],
  ['f32', f32 as never],
  ['f64', f64 as never],
];
const INTEGER = NUMERIC.slice(0, 4);
const UNSIGNED = [NUMERIC[1]!, NUMERIC[3]!];

const plain = (a: ArrayLike<number | bigint>): number[] => Array.from(a as ArrayLike<number>, Number);

/** The operands of the threads, in a type. */
function operands(dtype: DType<i32>, value: (k: number) => number): Vec<i32> {
  const array = cuda.deviceArray(THREADS, dtype);
  array.set(0);
  const numbers = Float64Array.from({ length: THREADS }, (_, k) => value(k));
  array.copyToDevice(convert(numbers, dtype));
  return array as unknown as Vec<i32>;
}

function convert(numbers: ArrayLike<number>, dtype: DType<i32>): unknown {
  const list = Array.from(numbers);
  if ((dtype as unknown) === i64) return BigInt64Array.from(list, BigInt);
  if ((dtype as unknown) === u64) return BigUint64Array.from(list, BigInt);
  if ((dtype as unknown) === u32) return Uint32Array.from(list);
  if ((dtype as unknown) === f32) return Float32Array.from(list);
  return (dtype as unknown) === f64 ? Float64Array.from(list) : Int32Array.from(list);
}

/**
 * Many threads of many blocks apply an operation to few elements, in global memory and, block by block, in shared memory.
 * `fold` says what becomes of an element; the operations must commute.
 */
function commuting(
  types: typeof NUMERIC,
  op: Op,
  start: number,
  value: (k: number) => number,
  fold: (a: number, v: number) => number,
): () => Promise<void> {
  return () =>
    eachType(types, async ([name, dtype]) => {
      const inGlobal = cuda.jit((bins: Vec<i32>, v: In<Vec<i32>>) => {
        const k = cuda.grid(1);
        if (k < v.length) op(bins, k % BINS, v[k]);
      });
      const inShared = cuda.jit((out: Mat<i32>, v: In<Vec<i32>>, first: In<Vec<i32>>) => {
        const s = cuda.shared.array(BINS, dtype);
        const t = cuda.threadIdx.x;
        const k = cuda.grid(1);
        if (t < BINS) s[t] = first[0];
        cuda.syncThreads();
        if (k < v.length) op(s, k % BINS, v[k]);
        cuda.syncThreads();
        if (t < BINS) out[cuda.blockIdx.x][t] = s[t];
      });
      const v = operands(dtype, value);
      const bins = cuda.deviceArray(BINS, dtype);
      bins.set(start);
      await launch(inGlobal, { threads: THREADS, block: 33 }, bins, v as never);
      const expected = new Array<number>(BINS).fill(start);
      for (let k = 0; k < THREADS; k++) expected[k % BINS] = fold(expected[k % BINS], value(k));
      sameElements(plain(await read(bins)), expected, `${name} in global memory, element`);

      const first = cuda.deviceArray(1, dtype);
      first.set(start);
      const out = cuda.deviceArray([6, BINS], dtype);
      await launch(inShared, { grid: 6, block: 50 }, out as never, v as never, first);
      const each = Array.from({ length: 6 * BINS }, (_, at) => {
        let a = start;
        for (let k = 50 * ((at / BINS) | 0); k < 50 * ((at / BINS) | 0) + 50; k++)
          if (k % BINS === at % BINS) a = fold(a, value(k));
        return a;
      });
      sameElements(
        plain(((await read(out)) as { data: ArrayLike<number> }).data),
        each,
        `${name} in shared memory, element`,
      );
    });
}

/** One thread applies an operation to a row of starting values, each with an operand: what is there then, and what was said to be there. */
function one(
  types: typeof NUMERIC,
  op: Op,
  cases: readonly (readonly [start: number, operand: number, result: number])[],
): () => Promise<void> {
  return () =>
    eachType(types, async ([name, dtype]) => {
      const kernel = cuda.jit((a: Vec<i32>, v: In<Vec<i32>>, old: Vec<i32>) => {
        const k = cuda.grid(1);
        if (k < a.length) old[k] = op(a, k, v[k]);
      });
      const a = cuda.toDevice(
        convert(
          cases.map(([start]) => start),
          dtype,
        ) as Int32Array,
      );
      const v = cuda.toDevice(
        convert(
          cases.map(([, operand]) => operand),
          dtype,
        ) as Int32Array,
      );
      const old = cuda.deviceArrayLike(a);
      await launch(kernel, { threads: cases.length, block: 4 }, a, v, old);
      sameElements(
        plain(await read(a)),
        cases.map(([, , result]) => result),
        `${name}, result`,
      );
      sameElements(
        plain(await read(old)),
        cases.map(([start]) => start),
        `${name}, old value`,
      );
    });
}

const value = (k: number): number => (k * 37) % 101;

const FLOATS = [Float32Array, Float64Array] as const;

/** Numbers on the device, for kernels that serve both types of floats. */
function inFloats(Elements: (typeof FLOATS)[number], numbers: readonly number[]): DeviceNDArray<f64, 1> {
  return cuda.toDevice(Elements.from(numbers)) as never;
}

export const atomics: readonly ConformanceTest[] = chapter('atomics', {
  'add by many threads': commuting(
    NUMERIC,
    (a, i, v) => cuda.atomic.add(a, i, v),
    5,
    value,
    (a, v) => a + v,
  ),
  'sub by many threads': commuting(
    NUMERIC,
    (a, i, v) => cuda.atomic.sub(a, i, v),
    100000,
    value,
    (a, v) => a - v,
  ),
  'max by many threads': commuting(NUMERIC, (a, i, v) => cuda.atomic.max(a, i, v), 50, value, Math.max),
  'min by many threads': commuting(NUMERIC, (a, i, v) => cuda.atomic.min(a, i, v), 50, value, Math.min),
  'nanMax by many threads': commuting(NUMERIC, (a, i, v) => cuda.atomic.nanMax(a, i, v), 50, value, Math.max),
  'nanMin by many threads': commuting(NUMERIC, (a, i, v) => cuda.atomic.nanMin(a, i, v), 50, value, Math.min),
  'and by many threads': commuting(
    INTEGER,
    (a, i, v) => cuda.atomic.and(a, i, v),
    127,
    (k) => 127 & ~(1 << (k % 5)),
    (a, v) => a & v,
  ),
  'or by many threads': commuting(
    INTEGER,
    (a, i, v) => cuda.atomic.or(a, i, v),
    64,
    (k) => 1 << (k % 5),
    (a, v) => a | v,
  ),
  'xor by many threads': commuting(
    INTEGER,
    (a, i, v) => cuda.atomic.xor(a, i, v),
    85,
    value,
    (a, v) => a ^ v,
  ),
  'inc by many threads': commuting(
    UNSIGNED,
    (a, i, v) => cuda.atomic.inc(a as never, i, v) as number,
    3,
    () => 9,
    (a, v) => (a >= v ? 0 : a + 1),
  ),
  'dec by many threads': commuting(
    UNSIGNED,
    (a, i, v) => cuda.atomic.dec(a as never, i, v) as number,
    3,
    () => 9,
    (a, v) => (a === 0 || a > v ? v : a - 1),
  ),
  'add gives the old value': one(NUMERIC, (a, i, v) => cuda.atomic.add(a, i, v), [
    [3, 4, 7],
    [0, 0, 0],
    [100, 1, 101],
  ]),
  'sub gives the old value': one(NUMERIC, (a, i, v) => cuda.atomic.sub(a, i, v), [
    [10, 4, 6],
    [5, 5, 0],
  ]),
  'max and min compare signed values': async () => {
    const kernel = cuda.jit((a: Vec<i32>, b: Vec<u32>) => {
      cuda.atomic.max(a, 0, -3);
      cuda.atomic.min(a, 1, -3);
      cuda.atomic.max(b, 0, 0xfffffff0);
      cuda.atomic.min(b, 1, 0xfffffff0);
    });
    const a = cuda.toDevice(Int32Array.of(-5, -5));
    const b = cuda.toDevice(Uint32Array.of(5, 5));
    await launch(kernel, { grid: 1, block: 1 }, a, b);
    sameElements(await read(a), [-3, -5]);
    sameElements(await read(b), [0xfffffff0, 5]);
  },
  'max and min compare signed values of 64 bits': async () => {
    const kernel = cuda.jit((a: Vec<i64>, b: Vec<u64>) => {
      cuda.atomic.max(a, 0, -3n);
      cuda.atomic.min(a, 1, -3n);
      cuda.atomic.max(b, 0, 0xfffffffffffffff0n);
      cuda.atomic.min(b, 1, 0xfffffffffffffff0n);
    });
    const a = cuda.toDevice(BigInt64Array.of(-5n, -5n));
    const b = cuda.toDevice(BigUint64Array.of(5n, 5n));
    await launch(kernel, { grid: 1, block: 1 }, a, b);
    sameElements(await read(a), [-3n, -5n]);
    sameElements(await read(b), [0xfffffffffffffff0n, 5n]);
  },
  'exch gives the old value': one(INTEGER, (a, i, v) => cuda.atomic.exch(a, i, v), [
    [1, 2, 2],
    [7, 7, 7],
  ]),
  'and, or and xor give the old value': one(
    INTEGER,
    (a, i, v) => {
      const old = cuda.atomic.and(a, i, v);
      cuda.atomic.or(a, i, 8);
      cuda.atomic.xor(a, i, 1);
      return old;
    },
    [
      [7, 5, 12],
      [16, 16, 25],
    ],
  ),
  'inc starts again at 0': one(UNSIGNED, (a, i, v) => cuda.atomic.inc(a as never, i, v) as number, [
    [3, 5, 4],
    [5, 5, 0],
    [9, 5, 0],
    [0, 0, 0],
  ]),
  'dec starts again at the top': one(UNSIGNED, (a, i, v) => cuda.atomic.dec(a as never, i, v) as number, [
    [3, 5, 2],
    [0, 5, 5],
    [9, 5, 5],
    [5, 5, 4],
  ]),
  'cas stores where the element is as expected': one(INTEGER, (a, i, v) => cuda.atomic.cas(a, i, 4, v), [
    [4, 9, 9],
    [5, 9, 5],
  ]),
  'integers wrap': async () => {
    const kernel = cuda.jit((a: Vec<i32>, b: Vec<u32>) => {
      cuda.atomic.add(a, 0, 1);
      cuda.atomic.sub(b, 0, 1);
    });
    const a = cuda.toDevice(Int32Array.of(2147483647));
    const b = cuda.toDevice(Uint32Array.of(0));
    await launch(kernel, { grid: 1, block: 1 }, a, b);
    same(await element(a, 0), -2147483648);
    same(await element(b, 0), 4294967295);
  },
  'integers of 64 bits wrap': async () => {
    const kernel = cuda.jit((a: Vec<i64>, b: Vec<u64>) => {
      cuda.atomic.add(a, 0, 1n);
      cuda.atomic.sub(b, 0, 1n);
    });
    const a = cuda.toDevice(BigInt64Array.of(2n ** 63n - 1n));
    const b = cuda.toDevice(BigUint64Array.of(0n));
    await launch(kernel, { grid: 1, block: 1 }, a, b);
    same(await element(a, 0), -(2n ** 63n));
    same(await element(b, 0), 2n ** 64n - 1n);
  },
  'max and min of floats do nothing when either is NaN': () =>
    eachType(FLOATS, async (Elements) => {
      const kernel = cuda.jit((a: Vec<f64>, b: Vec<f64>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        cuda.atomic.max(a, k, v[k]);
        cuda.atomic.min(b, k, v[k]);
      });
      const start = [1, 1, 1, Number.NaN, -1, Number.NEGATIVE_INFINITY];
      const [a, b] = [inFloats(Elements, start), inFloats(Elements, start)];
      await launch(kernel, { grid: 1, block: 6 }, a, b, inFloats(Elements, [2, 0, Number.NaN, 5, -3, 0]));
      sameElements(await read(a), [2, 1, 1, Number.NaN, -1, 0], Elements.name);
      sameElements(await read(b), [1, 0, 1, Number.NaN, -3, Number.NEGATIVE_INFINITY], Elements.name);
    }),
  'nanMax and nanMin of floats prefer numbers': () =>
    eachType(FLOATS, async (Elements) => {
      const kernel = cuda.jit((a: Vec<f64>, b: Vec<f64>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        cuda.atomic.nanMax(a, k, v[k]);
        cuda.atomic.nanMin(b, k, v[k]);
      });
      const start = [1, 1, 1, Number.NaN, -1];
      const [a, b] = [inFloats(Elements, start), inFloats(Elements, start)];
      await launch(kernel, { grid: 1, block: 5 }, a, b, inFloats(Elements, [2, 0, Number.NaN, 5, -3]));
      sameElements(await read(a), [2, 1, 1, 5, -1], Elements.name);
      sameElements(await read(b), [1, 0, 1, 5, -3], Elements.name);
    }),
  'old values number the threads': async () => {
    const kernel = cuda.jit((next: Vec<i32>, ticket: Vec<i32>) => {
      const k = cuda.grid(1);
      ticket[k] = cuda.atomic.add(next, 0, 1);
    });
    const [next, ticket] = [zeros(1, 'int32'), zeros(640, 'int32')];
    await launch(kernel, { grid: 20, block: 32 }, next, ticket);
    sameElements(await read(next), [640]);
    sameElements(
      (await read(ticket)).sort(),
      Array.from({ length: 640 }, (_, k) => k),
    );
  },
  'exchanged values are handed on, none lost': async () => {
    const kernel = cuda.jit((slot: Vec<i32>, got: Vec<i32>) => {
      const k = cuda.grid(1);
      got[k] = cuda.atomic.exch(slot, 0, k + 1);
    });
    const [slot, got] = [zeros(1, 'int32'), zeros(200, 'int32')];
    await launch(kernel, { grid: 10, block: 20 }, slot, got);
    const all = [...(await read(got)), await element(slot, 0)].sort((a, b) => a - b);
    sameElements(
      all,
      Array.from({ length: 201 }, (_, k) => k),
    );
  },
  'a loop of cas makes any operation atomic': async () => {
    const kernel = cuda.jit((a: Vec<u32>) => {
      let old = a[0];
      while (true) {
        const seen = cuda.atomic.cas(a, 0, old, u32(old * 3 + 1) & 0xffff);
        if (seen === old) break;
        old = seen;
      }
    });
    const a = zeros(1, 'uint32');
    await launch(kernel, { grid: 8, block: 25 }, a);
    let expected = 0;
    for (let k = 0; k < 200; k++) expected = (expected * 3 + 1) & 0xffff;
    same(await element(a, 0), expected);
  },
  'indices as tuples, on matrices, views and negative strides': async () => {
    const kernel = cuda.jit((A: Mat<i32>, b: Vec<i32>, reversed: Vec<i32>) => {
      const k = cuda.grid(1);
      cuda.atomic.add(A, [k % 2, k % 3], 1);
      cuda.atomic.add(A[1], 2, 10);
      cuda.atomic.add(b, [k % 4], 1);
      cuda.atomic.add(b.slice('2:'), 0, 100);
      cuda.atomic.max(reversed, 0, k);
    });
    const A = cuda.deviceArray([2, 3], 'int32', { order: 'F' });
    A.set(0);
    const b = zeros(4, 'int32');
    const c = zeros(5, 'int32');
    await launch(kernel, { grid: 1, block: 12 }, A, b, c.slice('::-1') as never);
    sameElements(await read(A), [2, 2, 2, 2, 2, 122]);
    sameElements(await read(b), [3, 3, 1203, 3]);
    sameElements(await read(c), [0, 0, 0, 0, 11]);
  },
  'atomics in divergent branches and loops': async () => {
    const kernel = cuda.jit((a: Vec<i32>, v: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      for (let i = 0; i < v[k]; i++) {
        if (i % 3 === 1) continue;
        if (i > 6) break;
        cuda.atomic.add(a, i, k);
      }
    });
    const v = Int32Array.from({ length: 40 }, (_, k) => (k * 7) % 11);
    const a = zeros(11, 'int32');
    await launch(kernel, { grid: 2, block: 20 }, a, cuda.toDevice(v));
    const expected = new Array<number>(11).fill(0);
    v.forEach((n, k) => {
      for (let i = 0; i < n; i++) {
        if (i % 3 === 1) continue;
        if (i > 6) break;
        expected[i] += k;
      }
    });
    sameElements(await read(a), expected);
  },
  'a histogram through shared memory': async () => {
    const kernel = cuda.jit((bins: Vec<i32>, v: In<Vec<i32>>) => {
      const own = cuda.shared.array(16, i32);
      const t = cuda.threadIdx.x;
      if (t < 16) own[t] = 0;
      cuda.syncThreads();
      for (let i = cuda.grid(1); i < v.length; i += cuda.gridSize(1)) cuda.atomic.add(own, v[i] & 15, 1);
      cuda.syncThreads();
      if (t < 16) cuda.atomic.add(bins, t, own[t]);
    });
    const v = Int32Array.from({ length: 5000 }, (_, k) => Math.imul(k, 0x9e3779b1) >>> 13);
    const bins = zeros(16, 'int32');
    await launch(kernel, { grid: 7, block: 40 }, bins, cuda.toDevice(v));
    const expected = new Array<number>(16).fill(0);
    for (const x of v) expected[x & 15]++;
    sameElements(await read(bins), expected);
  },
});
