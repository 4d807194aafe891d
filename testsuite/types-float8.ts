/**
 * Chapter: floats of 8 bits, which are storage. Every element and its bits, and how values of all types round to elements and saturate, against
 * the formats' definitions.
 */
import {
  cuda,
  type DType,
  f8e4m3,
  f8e5m2,
  f16,
  f32,
  type f64,
  type In,
  type i32,
  type i64,
  ndarray,
  type Struct,
  struct,
  type u32,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import {
  allNumbers,
  F8E4M3,
  F8E5M2,
  type Format,
  manyDoubles,
  manySingles,
  nearest,
  numberOf,
  sameBits,
} from './narrow-reference.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { element, launch, read } from './waiting.ts';

const ALL: Uint8Array<ArrayBuffer> = Uint8Array.from({ length: 256 }, (_, bits) => bits);

/** Either dtype with its definition. What is written to the array of one is a `number`. */
const TYPES: readonly (readonly [Format, DType<f8e4m3> & ((x: number | bigint) => number)])[] = [
  [F8E4M3, f8e4m3],
  [F8E5M2, f8e5m2 as never],
];

const WORDS: readonly number[] = [0, 1, 17, 18, 19, 447, 448, 464, 465, 480, 500, 57343, 61439, 61440, 2 ** 24 + 1];

export const float8: readonly ConformanceTest[] = chapter('8-bit floats', {
  'every element has its value, on the host and in kernels': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<f8e4m3>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = x[k];
    });
    for (const [format, dtype] of TYPES) {
      const elements = ndarray(ALL, { dtype });
      const y = cuda.deviceArray(256, f32);
      await launch(kernel, { threads: 256, block: 96 }, y, cuda.toDevice(elements));
      sameElements(await read(y), allNumbers(format), format.name);
      sameElements(elements, allNumbers(format), `${format.name} on the host`);
    }
  },
  'every element is stored as it was loaded': async () => {
    const copy = cuda.jit((y: Vec<f8e4m3>, x: In<Vec<f8e4m3>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = x[k];
    });
    for (const [format, dtype] of TYPES) {
      const y = cuda.deviceArray(256, dtype);
      await launch(copy, { threads: 256, block: 96 }, y, cuda.toDevice(ndarray(ALL, { dtype })));
      // A store leaves no infinity behind.
      const stored = ALL.map((bits) =>
        Math.abs(numberOf(format, bits)) === Number.POSITIVE_INFINITY ? (bits & 0x80) | 0x7b : bits,
      );
      sameBits(format, (await read(y)).data as Uint8Array, stored, 'copied');
    }
  },
  'f32 rounds to the nearest element, ties to the even one, and saturates': async () => {
    const x = manySingles();
    const kernel = cuda.jit((y: Vec<f8e4m3>, values: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = values[k];
    });
    const values = cuda.toDevice(x);
    for (const [format, dtype] of TYPES) {
      const y = cuda.deviceArray(x.length, dtype);
      await launch(kernel, { threads: x.length }, y, values);
      const expected = Array.from(x, (value) => nearest(format, value));
      sameElements(await read(y), expected, format.name);
      sameElements(
        Array.from(x, (value) => dtype(value)),
        expected,
        `${format.name} on the host`,
      );
    }
  },
  'f64, integers and literals are rounded once, in stores and in casts': async () => {
    const doubles = cuda.jit((y: Vec<f64>, z: Vec<f8e4m3>, x: In<Vec<f64>>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      y[k] = f8e4m3(x[k]);
      z[k] = x[k];
    });
    const doublesWide = cuda.jit((y: Vec<f64>, z: Vec<f8e5m2>, x: In<Vec<f64>>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      y[k] = f8e5m2(x[k]);
      z[k] = x[k];
    });
    for (const [format, dtype] of TYPES) {
      const x = manyDoubles(format);
      const [y, z] = [cuda.deviceArray(x.length, 'float64'), cuda.deviceArray(x.length, dtype)];
      await launch(
        dtype === TYPES[0]?.[1] ? doubles : (doublesWide as never),
        { threads: x.length },
        y,
        z,
        cuda.toDevice(x),
      );
      const expected = Array.from(x, (value) => nearest(format, value));
      sameElements(await read(y), expected, `${format.name} cast`);
      sameElements(await read(z), expected, `${format.name} stored`);
    }
    const integers = cuda.jit(
      (a: Vec<f8e4m3>, b: Vec<f8e5m2>, c: Vec<f8e5m2>, x: In<Vec<i32>>, y: In<Vec<u32>>, z: In<Vec<i64>>) => {
        const k = cuda.grid(1);
        if (k >= a.length) return;
        a[k] = x[k];
        b[k] = y[k];
        c[k] = f8e5m2(z[k]);
      },
    );
    const words = WORDS.flatMap((n) => [n, -n]);
    const [a, b, c] = [
      cuda.deviceArray(words.length, f8e4m3),
      cuda.deviceArray(words.length, f8e5m2),
      cuda.deviceArray(words.length, f8e5m2),
    ];
    await launch(
      integers,
      { threads: words.length },
      a,
      b,
      c,
      cuda.toDevice(Int32Array.from(words)),
      cuda.toDevice(Uint32Array.from(words)),
      cuda.toDevice(BigInt64Array.from(words, BigInt)),
    );
    // Integers have no -0.
    sameElements(
      await read(a),
      words.map((n) => nearest(F8E4M3, n + 0)),
      'i32',
    );
    sameElements(
      await read(b),
      words.map((n) => nearest(F8E5M2, n >>> 0)),
      'u32',
    );
    sameElements(
      await read(c),
      words.map((n) => nearest(F8E5M2, n + 0)),
      'i64',
    );
    const literals = cuda.jit((y: Vec<f8e4m3>) => {
      y[0] = 0.1;
      y[1] = 1e30;
      y[2] = f8e4m3(-300.5) * 2;
      y[3] = Number.NaN;
      y[4] = 17.000000001;
    });
    const y = cuda.deviceArray(5, f8e4m3);
    await launch(literals, { grid: 1, block: 1 }, y);
    sameElements(await read(y), [0.1015625, 448, -448, Number.NaN, 18]);
  },
  'to and from f16; arithmetic is that of f32': async () => {
    const kernel = cuda.jit((h: Vec<f16>, back: Vec<f8e5m2>, a: In<Vec<f8e5m2>>, sum: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k >= h.length) return;
      h[k] = a[k];
      back[k] = h[k];
      sum[k] = a[k] * a[k] + 0.1;
    });
    const [h, back] = [cuda.deviceArray(256, f16), cuda.deviceArray(256, f8e5m2)];
    const sum = cuda.deviceArray(256, f32);
    await launch(kernel, { threads: 256, block: 64 }, h, back, cuda.toDevice(ndarray(ALL, { dtype: f8e5m2 })), sum);
    const numbers = allNumbers(F8E5M2);
    sameElements(await read(h), numbers, 'f16');
    sameElements(
      await read(back),
      numbers.map((x) => nearest(F8E5M2, x)),
      'back',
    );
    // Squares of 3 digits are exact.
    sameElements(
      await read(sum),
      numbers.map((x) => Math.fround(Math.fround(x * x) + Math.fround(0.1))),
      'f32',
    );
  },
  'shared, local and constant arrays, and members of records': async () => {
    const table = ndarray([0.1, 1 / 3, -7.7, 1e30], { dtype: f8e4m3 });
    const Cell = struct({ scale: f8e5m2, list: f8e4m3.array(3), sum: f32 });
    const kernel = cuda.jit((to: Vec<f8e4m3>, cells: Vec<Struct<typeof Cell>>) => {
      const tile = cuda.shared.array(32, f8e4m3);
      const own = cuda.local.array(3, f8e5m2);
      const known = cuda.const.arrayLike(table);
      const t = cuda.threadIdx.x;
      tile[t] = t * 1.01;
      own[t % 3] = -t;
      own[(t + 1) % 3] = t + 0.123;
      own[(t + 2) % 3] = known[t % 4];
      const c = cells[t];
      c.sum = c.scale + c.list[1];
      c.list[2] = c.sum;
      cuda.syncThreads();
      to[t] = tile[31 - t];
      to[32 + t] = own[0] + own[1] + own[2];
    });
    const to = cuda.deviceArray(64, f8e4m3);
    const at = (t: number): Struct<typeof Cell> => ({
      scale: nearest(F8E5M2, t / 7),
      list: [0.5, nearest(F8E4M3, -t * 3.3), Number.NaN],
      sum: 0,
    });
    const cells = cuda.deviceArray(32, Cell);
    for (let t = 0; t < 32; t++) cells.set(at(t), t);
    await launch(kernel, { grid: 1, block: 32 }, to, cells as never);
    const known = [0.1, 1 / 3, -7.7, 1e30].map((x) => nearest(F8E4M3, x));
    const expected = new Array<number>(64);
    for (let t = 0; t < 32; t++) {
      const own = [0, 0, 0];
      own[t % 3] = nearest(F8E5M2, -t + 0);
      own[(t + 1) % 3] = nearest(F8E5M2, Math.fround(t + 0.123));
      own[(t + 2) % 3] = nearest(F8E5M2, known[t % 4] as number);
      expected[31 - t] = nearest(F8E4M3, Math.fround(t * Math.fround(1.01)));
      expected[32 + t] = nearest(F8E4M3, (own[0] as number) + (own[1] as number) + (own[2] as number));
    }
    sameElements(await read(to), expected);
    for (let t = 0; t < 32; t += 5) {
      const before = at(t);
      const sum = Math.fround((before.scale as number) + ((before.list as number[])[1] as number));
      const list = [0.5, (before.list as number[])[1], nearest(F8E4M3, sum)];
      same(JSON.stringify(await element(cells, t)), JSON.stringify({ scale: before.scale, list, sum }), `record ${t}`);
    }
  },
  'host arrays, copies, views and text': async () => {
    const a = cuda.toDevice(ndarray(Float32Array.of(1.1, -2.2, 1000, Number.NaN), { dtype: 'float8_e4m3fn' }));
    same(a.itemSize, 1);
    sameElements(await read(a), [1.125, -2.25, 448, Number.NaN]);
    sameElements(await read(a.view('uint8')), [0x39, 0xc1, 0x7e, 0x7f]);
    same(String(await read(a)), 'NDArray f8e4m3 [4] [1.125, -2.25, 448, NaN]');
    const b = cuda.deviceArray(2, 'float8_e5m2');
    b.set(1e6, 0);
    b.set(-0.3, 1);
    sameElements(await read(b), [57344, -0.3125]);
    sameElements(
      await read(b.view(f8e4m3)),
      [0x7b, 0xb5].map((bits) => numberOf(F8E4M3, bits)),
    );
  },
  'scalars and signatures': async () => {
    const kernel = cuda.jit(
      (y: Vec<f8e5m2>, v: number) => {
        y[0] = v;
        y[1] = v * 3;
      },
      { signature: 'void(float8_e5m2[:], f8e4m3)' },
    );
    const y = cuda.deviceArray(2, f8e5m2);
    await launch(kernel, { grid: 1, block: 1 }, y, 0.3);
    sameElements(await read(y), [nearest(F8E5M2, 0.3125), nearest(F8E5M2, 0.9375)]);
  },
  'there are no atomics': async () => {
    const kernel = cuda.jit((y: Vec<f32>) => {
      cuda.atomic.add(y, 0, 1);
    });
    await rejects(
      async () => await launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, f8e4m3) as never),
      /does not exist for f8e4m3/,
    );
  },
});
