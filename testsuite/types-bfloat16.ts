/**
 * Chapter: bf16, the upper half of an f32. Every element and its bits, and how values of all types round to elements, against arithmetic
 * that has nothing in common with the library's: neighbours are found by counting units, and compared as exact doubles or bigints.
 */
import {
  bf16,
  cuda,
  f32,
  type f64,
  type i32,
  type i64,
  ndarray,
  type Struct,
  struct,
  type TypedArray,
  type Vec,
} from '../src/index.ts';
import { ConformanceFailure, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { element, type Launched, launch, read } from './waiting.ts';

const ALL: Uint16Array<ArrayBuffer> = Uint16Array.from({ length: 65536 }, (_, bits) => bits);

/** The value of each element, by the definition of the format: sign, 8 bits of exponent, 7 of fraction. */
function numberOf(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  const [exponent, fraction] = [Math.floor(bits / 128) % 256, bits % 128];
  if (exponent === 255) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -133 : (128 + fraction) * 2 ** (exponent - 134));
}

/** A double as the nearest element, ties to the even one. */
function nearest(x: number): number {
  if (!Number.isFinite(x) || x === 0) return x;
  const size = Math.abs(x);
  // Math.log2 may be off by one next to a power of two.
  let exponent = Math.max(Math.floor(Math.log2(size)), -126);
  if (size < 2 ** exponent && exponent > -126) exponent--;
  if (size >= 2 ** (exponent + 1)) exponent++;
  const count = size / 2 ** (exponent - 7);
  const low = Math.floor(count);
  const rest = count - low;
  const rounded = (rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low) * 2 ** (exponent - 7);
  return Math.sign(x) * (rounded >= 2 ** 128 ? Number.POSITIVE_INFINITY : rounded);
}

/** As `nearest`, of an integer that a double may not hold. */
function nearestInteger(n: bigint): number {
  const size = n < 0n ? -n : n;
  const drop = BigInt(Math.max(size.toString(2).length - 8, 0));
  const low = size >> drop;
  const twice = 2n * (size - (low << drop));
  const one = 1n << drop;
  const up = twice > one || (twice === one && low % 2n === 1n);
  return Number((up ? low + 1n : low) << drop) * (n < 0n ? -1 : 1);
}

/** Bits are the same, but that a NaN may be any NaN. */
function sameBits(actual: ArrayLike<number>, expected: ArrayLike<number>, what: string): void {
  for (let k = 0; k < expected.length; k++) {
    const [a, e] = [actual[k] as number, expected[k] as number];
    if (a === e || (Number.isNaN(numberOf(a)) && Number.isNaN(numberOf(e)))) continue;
    throw new ConformanceFailure(`${what} ${k}: ${a.toString(16)} instead of ${e.toString(16)}`);
  }
}

const elements = (bits: Uint16Array<ArrayBuffer>) => ndarray(bits, { dtype: bf16 });

/** Around each element of one sign: itself, the tie to the next, and what is next to the tie. */
const AROUND: readonly number[] = [0x0000, 0x7fff, 0x8000, 0x8001, 0xffff];

/** Numbers that f32 does not hold, next to ties of bf16; limits; and what is none. */
const DOUBLES: readonly number[] = [
  ...[0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300, 5e-324, -1e-45, 0.1],
  ...[2 ** -134, 2 ** -134 * 1.0001, 3 * 2 ** -134, 2 ** -126 * (1 - 2 ** -9), 3.3961775e38, 3.3961776e38, 3.4e38],
  ...[1, 1 + 2 ** -7, 1 + 2 ** -6].flatMap((x) =>
    [0, 2 ** -40, -(2 ** -40), 2 ** -52].flatMap((d) => [
      x + 2 ** -8 + d,
      -(x + 2 ** -8 + d),
      (x + 2 ** -8 + d) * 2 ** 90,
    ]),
  ),
];

const WORDS: readonly number[] = [
  0, 1, -1, 255, 256, 257, 258, 259, 511, 513, 65535, 65665, 0x1010001, 0x1010000, 0x100ffff,
]
  .concat([0x40400001, 0x40400000, 0x403fffff, 0x7fffffff, 0x7f800000, -0x7f800001, -0x80000000])
  .flatMap((n) => [n, -n | 0]);

const LONGS: readonly bigint[] = WORDS.map(BigInt).concat(
  [0n, 1n, -1n].flatMap((d) => [9, 20, 40, 54].map((shift) => (257n << BigInt(shift)) + d)),
  [(259n << 40n) + 1n, (1n << 62n) + (1n << 54n) + 1n, 2n ** 63n - 1n],
);

export const bfloat16: readonly ConformanceTest[] = chapter('bf16', {
  'every element has its value': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: Vec<bf16>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = x[k];
    });
    const y = cuda.deviceArray(ALL.length, f32);
    await launch(kernel, { threads: ALL.length }, y, cuda.toDevice(elements(ALL)));
    sameElements(await read(y), Array.from(ALL, numberOf));
    sameElements(elements(ALL), Array.from(ALL, numberOf), 'on the host');
  },
  'every element is stored as it was loaded': async () => {
    const copy = cuda.jit((y: Vec<bf16>, x: Vec<bf16>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = x[k];
    });
    const scatter = cuda.jit((y: Vec<bf16>, x: Vec<bf16>, at: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k < y.length && !Number.isNaN(x[at[k]])) y[at[k]] = x[at[k]];
    });
    const x = cuda.toDevice(elements(ALL));
    const y = cuda.deviceArray(ALL.length, bf16);
    await launch(copy, { threads: ALL.length, block: 96 }, y, x);
    sameBits((await read(y)).data, ALL, 'copied');
    // Every element once, in another order; NaNs stay away.
    const at = Int32Array.from(ALL, (k) => (k * 40503) % 65536);
    const z = cuda.toDevice(elements(new Uint16Array(65536)));
    await launch(scatter, { threads: ALL.length }, z, x, cuda.toDevice(at));
    sameBits(
      (await read(z)).data,
      ALL.map((bits) => (Number.isNaN(numberOf(bits)) ? 0 : bits)),
      'scattered',
    );
    const host = elements(new Uint16Array(65536));
    for (let k = 0; k < 65536; k++) host.set(numberOf(k), k);
    sameBits(host.data, ALL, 'set on the host');
  },
  'f32 rounds to the nearest element, ties to the even one': async () => {
    const words = new Uint32Array(65536 * AROUND.length);
    for (const bits of ALL)
      for (const [n, low] of AROUND.entries()) words[bits * AROUND.length + n] = bits * 65536 + low;
    const x = new Float32Array(words.buffer);
    const kernel = cuda.jit((y: Vec<bf16>, values: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = values[k];
    });
    const y = cuda.deviceArray(x.length, bf16);
    await launch(kernel, { threads: x.length }, y, cuda.toDevice(x));
    const stored = (await read(y)).data;
    const host = bf16;
    for (let k = 0; k < x.length; k++) {
      const value = x[k] as number;
      const expected = nearest(value);
      const got = numberOf(stored[k] as number);
      if (!Object.is(got, expected))
        throw new ConformanceFailure(`${value} is stored as ${got} instead of ${expected}`);
      if (!Object.is(host(value), expected))
        throw new ConformanceFailure(`bf16(${value}) is ${host(value)} on the host`);
    }
  },
  'values of all types are rounded once, in stores and in casts': async () => {
    const doubles = cuda.jit((y: Vec<f64>, z: Vec<bf16>, x: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      y[k] = bf16(x[k]);
      z[k] = x[k];
    });
    const run = async <T extends TypedArray>(
      kernel: Launched<never[]>,
      x: T,
      expected: readonly number[],
      what: string,
    ): Promise<void> => {
      const [y, z] = [cuda.deviceArray(x.length, 'float64'), cuda.deviceArray(x.length, bf16)];
      await launch(kernel, { threads: x.length, block: 48 }, ...([y, z, cuda.toDevice(x)] as never[]));
      sameElements(await read(y), expected, `${what} cast`);
      sameElements(await read(z), expected, `${what} stored`);
    };
    await run(doubles, Float64Array.from(DOUBLES), DOUBLES.map(nearest), 'f64');
    sameElements(
      DOUBLES.map((x) => bf16(x)),
      DOUBLES.map(nearest),
      'f64 on the host',
    );
    const words = cuda.jit((y: Vec<f64>, z: Vec<bf16>, x: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      y[k] = bf16(x[k]);
      z[k] = x[k];
    });
    const signed = Int32Array.from(WORDS);
    const unsigned = Uint32Array.from(WORDS);
    await run(
      words,
      signed,
      Array.from(signed, (n) => nearestInteger(BigInt(n))),
      'i32',
    );
    await run(
      words,
      unsigned,
      Array.from(unsigned, (n) => nearestInteger(BigInt(n))),
      'u32',
    );
    const longs = cuda.jit((y: Vec<f64>, z: Vec<bf16>, x: Vec<i64>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      y[k] = bf16(x[k]);
      z[k] = bf16(x[k]);
    });
    const wide = BigInt64Array.from(LONGS);
    const wideUnsigned = BigUint64Array.from(LONGS, (n) => BigInt.asUintN(64, n));
    await run(longs, wide, Array.from(wide, nearestInteger), 'i64');
    await run(longs, wideUnsigned, Array.from(wideUnsigned, nearestInteger), 'u64');
    sameElements(
      Array.from(wideUnsigned, (n) => bf16(n)),
      Array.from(wideUnsigned, nearestInteger),
      'u64 on the host',
    );
  },
  'literals and booleans': async () => {
    const kernel = cuda.jit((y: Vec<bf16>, z: Vec<f32>) => {
      // Just above a tie; rounded to f32 first it would be the tie, which goes down.
      y[0] = 1.00390625000001;
      z[0] = bf16(1.00390625000001);
      y[1] = 16842753;
      z[1] = bf16(16842753);
      z[2] = bf16(y.length > 1) + bf16(-0.1);
      y[2] = -1e-45;
      z[3] = bf16(1 / 3) * 3;
    });
    const [y, z] = [cuda.deviceArray(3, bf16), cuda.deviceArray(4, f32)];
    await launch(kernel, { grid: 1, block: 1 }, y, z);
    sameElements(await read(y), [1.0078125, 16908288, -0]);
    sameElements(await read(z), [1.0078125, 16908288, nearest(1 - 0.10009765625), nearest(0.333984375 * 3)]);
  },
  'each operation rounds': async () => {
    const kernel = cuda.jit((a: Vec<bf16>, b: Vec<bf16>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      a[k] += b[k] * 1.5;
      if (k % 3 === 0) a[k]++;
      if (k % 5 === 0) a[k] /= 3;
      else b[k] = -a[k];
    });
    const n = 211;
    const start = Array.from({ length: n }, (_, k) => nearest(Math.sin(k) * 2 ** (k % 40)));
    const other = Array.from({ length: n }, (_, k) => nearest(Math.cos(k) * 2 ** (k % 33)));
    const a = cuda.toDevice(ndarray(start, { dtype: bf16 }));
    const b = cuda.toDevice(ndarray(other, { dtype: 'bfloat16' }));
    await launch(kernel, { threads: n, block: 64 }, a, b);
    for (let k = 0; k < n; k++) {
      start[k] = nearest((start[k] as number) + nearest((other[k] as number) * 1.5));
      if (k % 3 === 0) start[k] = nearest((start[k] as number) + 1);
      if (k % 5 === 0) start[k] = nearest((start[k] as number) / 3);
      else other[k] = -(start[k] as number);
    }
    sameElements(await read(a), start, 'a');
    sameElements(await read(b), other, 'b');
  },
  'shared, local and constant arrays': async () => {
    const table = ndarray([0.1, 1 / 3, -7.7, 1e30], { dtype: bf16 });
    const kernel = cuda.jit((to: Vec<bf16>) => {
      const tile = cuda.shared.array(32, bf16);
      const own = cuda.local.array(3, bf16);
      const known = cuda.const.arrayLike(table);
      const t = cuda.threadIdx.x;
      tile[t] = t * 1.01;
      own[t % 3] = -t;
      own[(t + 1) % 3] = t + 0.123;
      own[(t + 2) % 3] = known[t % 4];
      cuda.syncThreads();
      to[t] = tile[31 - t];
      to[32 + t] = own[0] + own[1] + own[2];
    });
    const to = cuda.deviceArray(64, bf16);
    await launch(kernel, { grid: 1, block: 32 }, to);
    const known = [0.1, 1 / 3, -7.7, 1e30].map(nearest);
    const expected = new Array<number>(64);
    for (let t = 0; t < 32; t++) {
      const own = [0, 0, 0];
      own[t % 3] = -t;
      own[(t + 1) % 3] = nearest(Math.fround(t + 0.123));
      own[(t + 2) % 3] = known[t % 4] as number;
      expected[31 - t] = nearest(Math.fround(t * Math.fround(1.01)));
      expected[32 + t] = nearest(nearest((own[0] as number) + (own[1] as number)) + (own[2] as number));
    }
    sameElements(await read(to), expected);
  },
  'fields of records, aligned and not, and sub-arrays': async () => {
    for (const align of [true, false]) {
      const Cell = struct({ tag: 'uint8', weight: bf16, list: bf16.array(3), sum: f32 }, { align });
      const kernel = cuda.jit((cells: Vec<Struct<typeof Cell>>) => {
        const k = cuda.grid(1);
        if (k >= cells.length) return;
        const c = cells[k];
        c.sum = c.weight + c.list[0] + c.list[1];
        c.weight = c.sum * 1.1;
        c.list[2] = -c.weight;
      });
      const at = (k: number): Struct<typeof Cell> => ({
        tag: k,
        weight: nearest(k / 7),
        list: [nearest(-k * 3.3), 2 ** -130, Number.NaN],
        sum: 0,
      });
      const cells = cuda.deviceArray(40, Cell);
      for (let k = 0; k < 40; k++) cells.set(at(k), k);
      await launch(kernel, { threads: 40, block: 32 }, cells as never);
      for (let k = 0; k < 40; k++) {
        const before = at(k);
        const [first = 0, second = 0] = before.list as number[];
        const sum = nearest(nearest((before.weight as number) + first) + second);
        const weight = nearest(Math.fround(sum * Math.fround(1.1)));
        const after = await element(cells, k);
        same(
          JSON.stringify(after),
          JSON.stringify({ tag: k, weight, list: [first, second, -weight], sum }),
          `align ${align}, ${k}`,
        );
      }
    }
  },
  'host arrays, views and copies': async () => {
    const a = cuda.toDevice(ndarray([1.1, 2.2, 3.3, 4.4, 5.5, 6.6], { dtype: 'bf16' }));
    same(a.itemSize, 2);
    same(await element(a, 2), 3.296875);
    a.set(0.3, 0);
    a.slice('1::2').set(9.99, 0);
    sameElements(await read(a), [0.30078125, 10, 3.296875, 4.40625, 5.5, 6.59375]);
    sameElements(await read(a.view('uint16')), [0x3e9a, 0x4120, 0x4053, 0x408d, 0x40b0, 0x40d3]);
    sameElements(await read(a.reshape(2, 3).T), [0.30078125, 4.40625, 10, 5.5, 3.296875, 6.59375]);
    const wide = cuda.deviceArray(6, f32);
    throws(() => wide.copyToDevice(a as never), /bf16|f32/);
    same(String(a.dtype), 'bf16');
  },
  'scalars and signatures': async () => {
    const kernel = cuda.jit(
      (y: Vec<bf16>, v: number) => {
        y[0] = v;
        y[1] = v * 3;
      },
      { signature: 'void(bfloat16[:], bf16)' },
    );
    const y = cuda.deviceArray(2, bf16);
    await launch(kernel, { grid: 1, block: 1 }, y, 0.1);
    sameElements(await read(y), [0.10009765625, nearest(Math.fround(0.10009765625 * 3))]);
    const typed = cuda.jit((z: Vec<f32>, v: number) => {
      z[0] = v;
    });
    const z = cuda.deviceArray(1, f32);
    await launch(typed, { grid: 1, block: 1 }, z, cuda.scalar(bf16, 0.1));
    same(await element(z, 0), 0.10009765625);
  },
});
