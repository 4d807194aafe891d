/**
 * Chapter: what arrays of small types hold, casts, and stores of one type into an array of another.
 */
import {
  bool,
  cuda,
  type DTypeLike,
  f16,
  f32,
  f64,
  type In,
  i8,
  i16,
  i32,
  ndarray,
  type TypedArray,
  u8,
  u16,
  u32,
  type Vec,
} from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { asVec, doubles, EDGES, EDGES32, eachType, N, NORMAL32, singles, zeros } from './support.ts';
import { type Copied, launch, read } from './waiting.ts';

/** Values around every limit of the integer types, and what is no number. */
const CASTS: readonly number[] = [
  ...[0, -0, 0.5, -0.5, 0.999, -0.999, 1.5, -1.5, 2.5, 127.5, 128, -128.9, -129, 255.9, 256, -1, -1.0001],
  ...[32767.9, 32768, -32768.5, -32769, 65535.5, 65536, 2147483647, 2147483648, -2147483648, -2147483649],
  ...[4294967295, 4294967296, 1e10, -1e10, 1e300, -1e300, Number.NaN, Number.POSITIVE_INFINITY],
  Number.NEGATIVE_INFINITY,
];

const clampTo = (low: number, high: number) => (v: number) =>
  Number.isNaN(v) ? 0 : Math.trunc(Math.min(Math.max(v, low), high)) + 0;

/** A cast from f64 and from f32, against truncation and saturation; from f32 also where nothing is of f64. */
function cast(body: (v: number) => number, low: number, high: number): () => Promise<void> {
  const Words = high > 2147483647 ? Uint32Array : Int32Array;
  const turns = [
    [Float64Array, Float64Array],
    [Float32Array, Float64Array],
    [Float32Array, Words],
  ] as const;
  return () =>
    eachType(turns, async ([From, To]) => {
      const x = From.from(CASTS);
      const kernel = cuda.jit((y: Vec<f64>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(v[k]);
      });
      const y = cuda.toDevice(new To(x.length) as Float64Array);
      await launch(kernel, { threads: x.length, block: 16 }, y, cuda.toDevice(x) as never);
      sameElements(await read(y), Float64Array.from(x, clampTo(low, high)), `${From.name} as ${To.name}, value`);
      sameElements(Float64Array.from(x, body), Float64Array.from(x, clampTo(low, high)), 'cast on the host of value');
    });
}

/** Elements of a small type, counted up by more than the type holds. */
function wrapping(dtype: DTypeLike, start: TypedArray): () => Promise<void> {
  return async () => {
    const a = cuda.toDevice(start);
    const kernel = cuda.jit((v: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      v[k] = v[k] + k * 1000;
      v[k]++;
      v[k] *= 3;
      v[k] = ~v[k] >> 1;
    });
    await launch(kernel, { threads: start.length, block: 16 }, a as never);
    const expected = start.slice() as Int32Array;
    for (let k = 0; k < expected.length; k++) {
      expected[k] = expected[k] + k * 1000;
      expected[k]++;
      expected[k] *= 3;
      expected[k] = ~expected[k] >> 1;
    }
    sameElements((await read(a)) as TypedArray, expected, String(dtype));
  };
}

/** What a double becomes as f16: nearest, ties to even. */
function toHalf(v: number): number {
  if (!Number.isFinite(v) || v === 0) return v;
  const magnitude = Math.abs(v);
  if (magnitude >= 65520) return Math.sign(v) * Number.POSITIVE_INFINITY;
  const unit = 2 ** (Math.max(Math.floor(Math.log2(magnitude)), -14) - 10);
  const count = magnitude / unit;
  const low = Math.floor(count);
  const rest = count - low;
  const rounded = rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
  return Math.sign(v) * rounded * unit;
}

const HALVES: readonly number[] = [
  ...[0, -0, 1, -1, 0.1, 1 / 3, 2049, 2051, 2048.5, 65504, 65519, 65520, -65520, 6e-8, 5.9e-8, 2.9e-8, 3e-8],
  ...[6.1e-5, 6.097e-5, 1e-4, 1234.5678, Number.NaN, Number.POSITIVE_INFINITY, -1e-9, 1e9],
];

/** Around every power of two at which a way to convert could go wrong, of either sign. */
const WRAPPED = [0, -0, 0.5, 1.9, 300, 1e5, 3e9, 1e20, 1e300, 5e-324, Number.NaN, Number.POSITIVE_INFINITY]
  .concat(
    [31, 32, 33, 52, 53, 62, 63, 64, 70, 83, 84, 96, 127].flatMap((e) =>
      [1, 1.25, 1 + 2 ** -20].map((m) => m * 2 ** e),
    ),
  )
  .concat([2 ** 31 - 0.5, 2 ** 32 - 0.5, 2 ** 32 + 1.5, 2 ** 53 - 1, 2 ** 63 - 1024, 2 ** 63 + 2048, 2 ** 83 + 2 ** 31])
  .flatMap((v) => [v, -v]);

/** Every bit operation of floats, against JavaScript's own. */
function wraps(x: Float32Array | Float64Array): () => Promise<void> {
  const body = (y: Vec<i32>, w: Vec<u32>, v: Vec<f64>, k: number): void => {
    y[8 * k] = v[k] | 0;
    y[8 * k + 1] = ~~v[k] ^ 0x55;
    y[8 * k + 2] = v[k] & v[0];
    y[8 * k + 3] = v[k] << 3;
    y[8 * k + 4] = v[k] >> 5;
    y[8 * k + 5] = Math.imul(v[k], 0x9e3779b1);
    y[8 * k + 6] = Math.clz32(v[k]) + ~v[k];
    y[8 * k + 7] ^= v[k];
    w[k] = v[k] >>> 0;
  };
  return async () => {
    const n = x.length;
    const kernel = cuda.jit((y: Vec<i32>, w: Vec<u32>, v: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k < v.length) body(y, w, v, k);
    });
    const [y, w] = [cuda.toDevice(new Int32Array(8 * n)), cuda.deviceArray(n, u32)];
    await launch(kernel, { threads: n, block: 16 }, y, w, cuda.toDevice(x) as unknown as Float64Array);
    const [wantY, wantW] = [new Int32Array(8 * n), new Uint32Array(n)];
    for (let k = 0; k < n; k++) body(asVec(wantY), asVec(wantW), asVec(x), k);
    sameElements(await read(y), wantY);
    sameElements(await read(w), wantW);
  };
}

export const storage: readonly ConformanceTest[] = chapter('small types, casts and stores', {
  'i8 elements widen when read and wrap when stored': wrapping(
    'int8',
    Int8Array.from({ length: 40 }, (_, k) => k * 6),
  ),
  'u8 elements widen when read and wrap when stored': wrapping(
    'uint8',
    Uint8Array.from({ length: 40 }, (_, k) => k * 6),
  ),
  'i16 elements widen when read and wrap when stored': wrapping(
    'int16',
    Int16Array.from({ length: 40 }, (_, k) => k * 900),
  ),
  'u16 elements widen when read and wrap when stored': wrapping(
    'uint16',
    Uint16Array.from({ length: 40 }, (_, k) => k * 1700),
  ),
  'neighbours of small elements stay intact': async () => {
    for (const make of [Int8Array, Uint8Array, Int16Array, Uint16Array]) {
      const a = cuda.toDevice(new make(N) as Uint8Array);
      const kernel = cuda.jit((v: Vec<u8>) => {
        const k = cuda.grid(1);
        if (k < v.length && k % 3 === 1) v[k] = k & 127;
      });
      await launch(kernel, { threads: N, block: 64 }, a);
      sameElements(
        await read(a),
        Array.from({ length: N }, (_, k) => (k % 3 === 1 ? k & 127 : 0)),
        make.name,
      );
    }
  },
  'f16 elements round to nearest, ties to even': () =>
    eachType([Float64Array, Float32Array], async (Elements) => {
      const x = Elements.from(HALVES);
      const kernel = cuda.jit((y: Vec<f16>, back: Vec<f64>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k >= v.length) return;
        y[k] = v[k];
        back[k] = y[k];
      });
      const [y, back] = [cuda.deviceArray(x.length, f16), cuda.toDevice(new Elements(x.length) as Float64Array)];
      await launch(kernel, { threads: x.length, block: 16 }, y, back, cuda.toDevice(x) as never);
      sameElements(await read(back), Array.from(x, toHalf), Elements.name);
      sameElements(await read(y), Array.from(x, toHalf), Elements.name);
    }),
  'f16 stores round f32 values once': async () => {
    const x = Float32Array.from(HALVES);
    const kernel = cuda.jit((y: Vec<f16>, v: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      if (k < v.length) y[k] = v[k];
    });
    const y = cuda.deviceArray(x.length, f16);
    await launch(kernel, { threads: x.length, block: 16 }, y, cuda.toDevice(x));
    sameElements(await read(y), Array.from(x, toHalf));
  },
  'f16 elements compute as f16': async () => {
    const kernel = cuda.jit((y: Vec<f32>, v: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = v[k] * v[k + 1];
    });
    const v = ndarray([0.1, 3, 1000, 70.5, 2048], { dtype: 'float16' });
    const y = cuda.deviceArray(4, f32);
    await launch(kernel, { threads: 4, block: 4 }, y, cuda.toDevice(v) as never);
    const h = [0.1, 3, 1000, 70.5, 2048].map(toHalf);
    sameElements(
      await read(y),
      Float32Array.from([0, 1, 2, 3], (k) => toHalf(h[k] * h[k + 1])),
    );
  },
  'casts to i8 truncate and saturate': cast((v) => i8(v), -128, 127),
  'casts to u8 truncate and saturate': cast((v) => u8(v), 0, 255),
  'casts to i16 truncate and saturate': cast((v) => i16(v), -32768, 32767),
  'casts to u16 truncate and saturate': cast((v) => u16(v), 0, 65535),
  'casts to i32 truncate and saturate': cast((v) => i32(v), -2147483648, 2147483647),
  'casts to u32 truncate and saturate': cast((v) => u32(v), 0, 4294967295),
  'bit operations take f32 made of u32 modulo 2 ** 32': async () => {
    const x = Uint32Array.of(0, 1, 2 ** 31 - 128, 2 ** 31, 3e9, 2 ** 32 - 256);
    const kernel = cuda.jit((y: Vec<i32>, v: In<Vec<u32>>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      y[3 * k] = f32(v[k]) | 0;
      y[3 * k + 1] = (f32(v[k]) * f32(0.75)) & -1;
      y[3 * k + 2] = ~(Math.abs(f32(v[k])) + f32(256));
    });
    const y = cuda.deviceArray(3 * x.length, i32);
    await launch(kernel, { threads: x.length }, y, cuda.toDevice(x));
    sameElements(
      await read(y),
      [...x].flatMap((v) => [v | 0, Math.fround(v * 0.75) & -1, ~Math.fround(v + 256)]),
    );
  },
  'bit operations take floats made of u32 modulo 2 ** 32': async () => {
    const x = Uint32Array.of(0, 1, 2 ** 31 - 1, 2 ** 31, 3e9, 2 ** 32 - 1);
    const kernel = cuda.jit((y: Vec<i32>, v: In<Vec<u32>>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      y[3 * k] = f64(v[k]) | 0;
      y[3 * k + 1] = (f64(v[k]) * 0.75) & -1;
      y[3 * k + 2] = ~(Math.abs(f64(v[k])) + 0.5);
    });
    const y = new Int32Array(3 * x.length);
    await launch(kernel, { threads: x.length }, cuda.Out(y), cuda.In(x));
    sameElements(
      y,
      [...x].flatMap((v) => [v | 0, (v * 0.75) & -1, ~(v + 0.5)]),
    );
  },
  'bit operations take f64 modulo 2 ** 32': wraps(Float64Array.from(WRAPPED)),
  'bit operations take f32 modulo 2 ** 32': wraps(Float32Array.from(WRAPPED)),
  'bit operations take one float out of range beside many within': wraps(
    Float32Array.from({ length: 64 }, (_, k) => (k === 37 ? -(2 ** 40) - 2 ** 33 : k * 1000.5 - 2e4)),
  ),
  'x | 0 of what is known to fit': async () => {
    const x = Float32Array.of(0, 0.5, 1, 0.999, -3, 1e10, Number.NaN, Number.POSITIVE_INFINITY);
    const kernel = cuda.jit((y: Vec<i32>, v: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      if (k < v.length) y[k] = (Math.min(Math.max(v[k], 0), 1) * 255 + 0.5) | 0;
    });
    const y = cuda.deviceArray(x.length, i32);
    await launch(kernel, { threads: x.length, block: 16 }, y, cuda.toDevice(x));
    sameElements(await read(y), Int32Array.of(0, 128, 255, 255, 0, 255, 0, 255));
  },
  'casts to f32 round': doubles((v) => f32(v), [...EDGES, 0.1, 16777217, 3.5e38, -1e-46]),
  'Math.fround rounds': doubles((v) => Math.fround(v), [...EDGES, 0.1, 16777217, 3.4028235677973366e38, 1e-46]),
  'casts to f32 of f32 and Math.fround change nothing': singles((v) => f32(Math.fround(v)), NORMAL32),
  'arithmetic of f32 casts is f32 arithmetic': doubles((v) => f32(f32(v) * f32(0.1)), [...EDGES, 0.1, 3.3, 1e10]),
  'casts to f64 make f32 arithmetic exact': singles(
    (v) => f64(v) * f64(v) - f64(v) * f64(v) * (1 - 2 ** -30),
    [1.1, 3.3, 0.1, -7.7, 1e10],
  ),
  'Math.floor, ceil, round and trunc store to integers': () =>
    eachType([Float64Array, Float32Array], async (Elements) => {
      const x = Elements.from(CASTS);
      const kernel = cuda.jit((a: Vec<i32>, b: Vec<i32>, c: Vec<i32>, d: Vec<i32>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k >= v.length) return;
        a[k] = Math.floor(v[k]);
        b[k] = Math.ceil(v[k]);
        c[k] = Math.round(v[k]);
        d[k] = Math.trunc(v[k]);
      });
      const outs = [0, 1, 2, 3].map(() => cuda.deviceArray(x.length, i32)) as never[];
      const v = cuda.toDevice(x) as never;
      await launch(kernel, { threads: x.length, block: 16 }, outs[0]!, outs[1]!, outs[2]!, outs[3]!, v);
      for (const [n, round] of [Math.floor, Math.ceil, Math.round, Math.trunc].entries()) {
        const out = outs[n] as Copied<Int32Array>;
        const expected = Int32Array.from(x, (w) => clampTo(-(2 ** 31), 2 ** 31 - 1)(round(w)));
        sameElements(await read(out), expected, `${Elements.name}, Math.${round.name} of value`);
      }
    }),
  'rounded f32 values store to small integers': async () => {
    const x = Float32Array.from(CASTS);
    const kernel = cuda.jit((a: Vec<u8>, b: Vec<i16>, v: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      a[k] = Math.round(v[k]);
      b[k] = Math.floor(v[k]);
    });
    const [a, b] = [cuda.deviceArray(x.length, u8), cuda.deviceArray(x.length, i16)];
    await launch(kernel, { threads: x.length, block: 16 }, a, b, cuda.toDevice(x));
    sameElements(
      await read(a),
      Uint8Array.from(x, (v) => clampTo(0, 255)(Math.round(v))),
    );
    sameElements(
      await read(b),
      Int16Array.from(x, (v) => clampTo(-32768, 32767)(Math.floor(v))),
    );
  },
  'Math.floor of a float is an index': async () => {
    const kernel = cuda.jit((bins: Vec<i32>, v: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      if (k < v.length) cuda.atomic.add(bins, Math.floor(v[k] * 4), 1);
    });
    const bins = zeros(4, 'int32');
    await launch(kernel, { threads: 5, block: 5 }, bins, cuda.toDevice(Float32Array.of(0.1, 0.3, 0.99, 0.6, 0.3)));
    sameElements(await read(bins), [1, 2, 1, 1]);
  },
  'bool arrays hold true and false': async () => {
    const kernel = cuda.jit((flags: Vec<bool>, counts: Vec<i32>, v: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      flags[k] = v[k] > 2;
      counts[k] = flags[k] ? 10 : 20;
      flags[k] = !flags[k] || k === 0;
    });
    const v = Int32Array.of(5, 1, 3, 2, 9);
    const [flags, counts] = [cuda.deviceArray(5, bool), cuda.deviceArray(5, i32)];
    await launch(kernel, { threads: 5, block: 8 }, flags, counts, cuda.toDevice(v));
    sameElements(await read(flags), [true, true, false, true, false]);
    sameElements(await read(counts), [10, 20, 10, 20, 10]);
  },
  'mixed widths in one expression': async () => {
    const kernel = cuda.jit(
      (y: Vec<f64>, a: In<Vec<u8>>, b: In<Vec<f32>>, c: In<Vec<f64>>, d: In<Vec<i16>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = a[k] * b[k] + c[k] * d[k];
      },
      { contract: false },
    );
    const a = Uint8Array.of(200, 3);
    const b = Float32Array.of(0.1, 1e10);
    const c = Float64Array.of(0.1, 1e-10);
    const d = Int16Array.of(-300, 7);
    const y = cuda.deviceArray(2, f64);
    await launch(
      kernel,
      { grid: 1, block: 2 },
      y,
      cuda.toDevice(a),
      cuda.toDevice(b),
      cuda.toDevice(c),
      cuda.toDevice(d),
    );
    sameElements(
      await read(y),
      Float64Array.from([0, 1], (k) => Math.fround(a[k] * b[k]) + c[k] * d[k]),
    );
  },
  'mixed widths in one expression, without f64': async () => {
    const kernel = cuda.jit(
      (y: Vec<f32>, a: In<Vec<u8>>, b: In<Vec<f32>>, c: In<Vec<f16>>, d: In<Vec<i16>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = a[k] * b[k] + f32(c[k]) * d[k];
      },
      { contract: false },
    );
    const [a, b, d] = [Uint8Array.of(200, 3), Float32Array.of(0.1, 1e10), Int16Array.of(-300, 7)];
    const c = ndarray([0.375, -11], { dtype: 'float16' });
    const y = cuda.deviceArray(2, f32);
    const inputs = [cuda.toDevice(a), cuda.toDevice(b), cuda.toDevice(c), cuda.toDevice(d)] as const;
    await launch(kernel as never, { grid: 1, block: 2 }, y, ...(inputs as never));
    sameElements(
      await read(y),
      Float32Array.from([0, 1], (k) => Math.fround(a[k] * b[k]) + (c.get(k) as number) * d[k]),
    );
  },
  'f64 results narrow when stored to f32': async () => {
    const kernel = cuda.jit((y: Vec<f32>, v: In<Vec<f64>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = v[k] * 3;
    });
    const y = cuda.deviceArray(3, f32);
    await launch(kernel, { grid: 1, block: 3 }, y, cuda.toDevice(Float64Array.of(0.1, 1e300, -1e-300)));
    sameElements(await read(y), Float32Array.of(0.1 * 3, Number.POSITIVE_INFINITY, -0));
  },
  'single precision arithmetic rounds after each operation': singles((v) => v * 3, EDGES32),
  'single precision division': singles((v) => v / 3, EDGES32),
  'single precision sums': singles((v) => v + 1e9, EDGES32),
  'single precision square roots': singles((v) => Math.sqrt(v), EDGES32),
  'single precision remainders': singles((v) => v % 0.75, EDGES32),
});
