/**
 * Chapter: rounding, comparison and selection of floats, and the bits of integers.
 */
import {
  cuda,
  f32,
  type f64,
  type In,
  type i8,
  type i32,
  type i64,
  type u32,
  type u64,
  type Vec,
} from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { doubles, EDGES, EDGES32, eachType, mixedIntegers, NORMAL32, ofPairs, singles } from './support.ts';
import { launch, read } from './waiting.ts';

/** All pairs of edges through a function of two numbers: a test in f64, and one in f32. */
function pairs(
  name: string,
  body: (a: number, b: number) => number,
  expected: (a: number, b: number) => number,
): Readonly<Record<string, () => Promise<void>>> {
  const inOne = (type: 'float64' | 'float32') => async (): Promise<void> => {
    const { a, b, got } = await ofPairs(type, body, EDGES, EDGES);
    sameElements(
      got,
      Array.from(a, (x, k) => expected(x, b[k] as number)),
      `${type} pair`,
    );
  };
  return { [name]: inOne('float64'), [`${name} in f32`]: inOne('float32') };
}

/** The edges through a function of one number: a test in f64, and one in f32. */
function edges(name: string, body: (v: number) => number): Readonly<Record<string, () => Promise<void>>> {
  return { [name]: doubles(body), [`${name} in f32`]: singles(body, NORMAL32) };
}

/** Of which sums are exact in f32, and what is no number. */
const QUARTERS: readonly number[] = EDGES32.filter(
  (v) => !Number.isFinite(v) || (Number.isInteger(v * 4) && Math.abs(v) < 2 ** 20),
);

const isNegative = (v: number): boolean => v < 0 || Object.is(v, -0);
const copysign = (a: number, b: number): number => (isNegative(b) ? -Math.abs(a) : Math.abs(a));

/** Half to even, as IEEE 754 rounds. */
function roundToEven(v: number): number {
  if (!Number.isFinite(v) || Math.abs(v) >= 2 ** 52) return v;
  const low = Math.floor(v);
  const rest = v - low;
  const rounded = rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
  return rounded === 0 ? copysign(0, v) : rounded;
}

const WORDS = BigInt64Array.of(
  0n,
  1n,
  -1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  0x00f0000000000000n,
  0x1234567890abcdefn,
  256n,
);
const bitsOf = (v: bigint, width: number): string => BigInt.asUintN(width, v).toString(2).padStart(width, '0');
const count = (bits: string): number => bits.replaceAll('0', '').length;
const leading = (bits: string): number => bits.length - bits.replace(/^0+/, '').length;
const lowest = (bits: string): number => (bits.includes('1') ? bits.length - bits.lastIndexOf('1') : 0);
const reversed = (bits: string): bigint => BigInt(`0b${[...bits].reverse().join('')}`);

export const rounding: readonly ConformanceTest[] = chapter('rounding, selection and bits', {
  'floor, ceil, trunc and round': doubles(
    (v) => Math.round(v) * 8 + Math.floor(v) * 4 + Math.ceil(v) * 2 + Math.trunc(v),
  ),
  'floor, ceil, trunc and round in f32': singles(
    (v) => Math.round(v) * 8 + Math.floor(v) * 4 + Math.ceil(v) * 2 + Math.trunc(v),
    QUARTERS.concat([0.49999997, 3.7, -3.7, 0.1]),
  ),
  ...edges('Math.floor of normal numbers', (v) => Math.floor(v)),
  ...edges('Math.ceil of normal numbers', (v) => Math.ceil(v)),
  'Math.floor keeps the sign of zero': doubles((v) => Math.floor(v)),
  'Math.ceil keeps the sign of zero': doubles((v) => Math.ceil(v)),
  'Math.trunc keeps the sign of zero': doubles((v) => Math.trunc(v)),
  'Math.round rounds halves up and keeps the sign of zero': doubles((v) => Math.round(v)),
  'Math.floor in f32': singles((v) => Math.floor(v)),
  'Math.ceil in f32': singles((v) => Math.ceil(v)),
  'Math.trunc in f32': singles((v) => Math.trunc(v)),
  'Math.round in f32': singles((v) => Math.round(v)),
  'cuda.rint rounds halves to even': doubles((v) => cuda.rint(v), EDGES, roundToEven),
  'cuda.rint rounds halves to even in f32': singles((v) => cuda.rint(v), EDGES32, roundToEven),
  ...edges('min and max propagate NaN and order zeros', (v) => Math.min(v, 0) + Math.max(-v, -0, 1 / Math.min(v, -0))),
  ...pairs('Math.min', (a, b) => Math.min(a, b), Math.min),
  ...pairs('Math.max', (a, b) => Math.max(a, b), Math.max),
  ...edges('Math.min and max of several', (v) => Math.min(v, 2, -v, 1.5) + Math.max(v, 2, -v, 0.5)),
  ...pairs(
    'cuda.fmin ignores NaN',
    (a, b) => cuda.fmin(a, b),
    (a, b) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b)),
  ),
  ...pairs(
    'cuda.fmax ignores NaN',
    (a, b) => cuda.fmax(a, b),
    (a, b) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b)),
  ),
  ...pairs(
    'cuda.copysign',
    (a, b) => cuda.copysign(a, Number.isNaN(b) ? 1 : b),
    (a, b) => copysign(a, Number.isNaN(b) ? 1 : b),
  ),
  'sign, abs and negation': doubles((v) => Math.sign(v) + Math.abs(v) * 2 + -v),
  'sign, abs and negation in f32': singles((v) => Math.sign(v) + Math.abs(v) * 2 + -v, QUARTERS),
  ...edges('Math.sign keeps zeros and NaN', (v) => Math.sign(v)),
  'Math.abs and negation in f32': singles((v) => (v > 0.25 ? -v : Math.abs(v))),
  'NaN is not equal to itself, whatever it is called': async () => {
    const kernel = cuda.jit(
      (x: Vec<f32>, y: Vec<i32>) => {
        const i = cuda.grid(1);
        if (i >= x.length) return;
        const a = x[i]!;
        const b = x[i]! + 0;
        // biome-ignore-start lint/suspicious/noSelfCompare: so is asked for NaN
        let bits = a !== a ? 1 : 0;
        if (a === a) bits += 2;
        if (a !== b) bits += 4;
        if (x[i]! === x[i]!) bits += 8;
        if (a <= a) bits += 16;
        if (!(b >= b)) bits += 32;
        if (a < a || b > b) bits += 64;
        // biome-ignore-end lint/suspicious/noSelfCompare: so is asked for NaN
        y[i] = bits;
      },
      { name: 'itself' },
    );
    const y = cuda.deviceArray(3, 'i32');
    await launch(kernel, { threads: 3 }, cuda.toDevice(Float32Array.of(1, Number.NaN, Number.POSITIVE_INFINITY)), y);
    sameElements(await read(y), [2 + 8 + 16, 1 + 4 + 32, 2 + 8 + 16]);
  },

  ...pairs(
    'equality of NaN and zeros',
    (a, b) => (a === b ? 1 : 0) + (a !== b ? 2 : 0) + (a !== 1 ? 4 : 0) + (b === 1 ? 8 : 0) + (1 !== b ? 16 : 0),
    (a, b) => (a === b ? 1 : 0) + (a !== b ? 2 : 0) + (a !== 1 ? 4 : 0) + (b === 1 ? 8 : 0) + (1 !== b ? 16 : 0),
  ),
  ...pairs(
    'order of NaN and zeros',
    (a, b) => (a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a > b ? 4 : 0) + (!(a >= b) ? 8 : 0),
    (a, b) => (a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a > b ? 4 : 0) + (!(a >= b) ? 8 : 0),
  ),
  ...edges(
    'NaN and finite tests',
    (v) => (Number.isNaN(v) ? 1 : 0) + (Number.isFinite(v) ? 2 : 0) + (Number.isInteger(v) ? 4 : 0) + (v ? 8 : 0),
  ),
  'cuda.selp evaluates both sides and picks one': () =>
    eachType([Float64Array, Float32Array], async (Elements) => {
      const kernel = cuda.jit((y: Vec<f64>, z: Vec<i32>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k >= v.length) return;
        let n = 0;
        const bump = () => {
          n++;
          return n;
        };
        z[k] = cuda.selp(v[k] > 0, bump() * 10, bump() * 100) + n;
        y[k] = cuda.selp(v[k] === 1, v[k] + 0.5, -v[k]);
      });
      const [y, z] = [cuda.toDevice(new Elements(3) as Float64Array), cuda.deviceArray(3, 'int32')];
      await launch(kernel, { grid: 1, block: 4 }, y, z, cuda.toDevice(Elements.of(1, -2, 3)) as never);
      sameElements(await read(y), [1.5, 2, -3]);
      sameElements(await read(z), [12, 202, 12]);
    }),
  'cuda.fma rounds once in f64': async () => {
    const kernel = cuda.jit((y: Vec<f64>, v: In<Vec<f64>>) => {
      y[0] = cuda.fma(v[0], v[1], -1);
      y[1] = cuda.fma(v[2], v[2], v[3]);
      y[2] = cuda.fma(v[4], 2, v[5]);
    });
    const e = 2 ** -52;
    const y = cuda.deviceArray(3, 'float64');
    const inputs = Float64Array.of(
      1 + e,
      1 - e,
      1 + 2 ** -30,
      -1 - 2 ** -29,
      Number.MAX_VALUE,
      Number.NEGATIVE_INFINITY,
    );
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(inputs));
    sameElements(await read(y), [-(e * e), 2 ** -60, Number.NEGATIVE_INFINITY]);
  },
  'cuda.fma rounds once in f32': async () => {
    const kernel = cuda.jit((y: Vec<f32>, v: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      y[k] = cuda.fma(v[3 * k], v[3 * k + 1], v[3 * k + 2]);
    });
    const e = 2 ** -23;
    const inputs = [1 + e, 1 - e, -1, 1 + 2 ** -12, 1 + 2 ** -12, -1 - 2 ** -11, 1e20, 1e20, -3e38, 3, 5, 7];
    const y = cuda.deviceArray(4, 'float32');
    await launch(kernel, { grid: 1, block: 4 }, y, cuda.toDevice(Float32Array.from(inputs)));
    sameElements(await read(y), [-(e * e), 2 ** -24, Number.POSITIVE_INFINITY, 22]);
  },
  'popc, clz, ffs and brev of i32': async () => {
    const x = mixedIntegers().subarray(0, 50);
    const kernel = cuda.jit((a: Vec<i32>, b: Vec<i32>, c: Vec<i32>, d: Vec<i32>, v: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      a[k] = cuda.popc(v[k]);
      b[k] = cuda.clz(v[k]);
      c[k] = cuda.ffs(v[k]);
      d[k] = cuda.brev(v[k]);
    });
    const out = () => cuda.deviceArray(x.length, 'int32');
    const [a, b, c, d] = [out(), out(), out(), out()];
    await launch(kernel, { threads: x.length, block: 16 }, a, b, c, d, cuda.toDevice(x));
    const bits = Array.from(x, (v) => bitsOf(BigInt(v), 32));
    sameElements(await read(a), bits.map(count), 'popc');
    sameElements(await read(b), bits.map(leading), 'clz');
    sameElements(await read(c), bits.map(lowest), 'ffs');
    sameElements(
      await read(d),
      bits.map((t) => Number(BigInt.asIntN(32, reversed(t)))),
      'brev',
    );
  },
  'popc, clz, ffs and brev of u32': async () => {
    const x = Uint32Array.of(0, 1, 0x80000000, 0xffffffff, 0xf0, 12345678);
    const kernel = cuda.jit((a: Vec<u32>, b: Vec<u32>, c: Vec<u32>, d: Vec<u32>, v: In<Vec<u32>>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      a[k] = cuda.popc(v[k]);
      b[k] = cuda.clz(v[k]);
      c[k] = cuda.ffs(v[k]);
      d[k] = cuda.brev(v[k]);
    });
    const out = () => cuda.deviceArray(x.length, 'uint32');
    const [a, b, c, d] = [out(), out(), out(), out()];
    await launch(kernel, { threads: x.length, block: 16 }, a, b, c, d, cuda.toDevice(x));
    const bits = Array.from(x, (v) => bitsOf(BigInt(v), 32));
    sameElements(await read(a), bits.map(count), 'popc');
    sameElements(await read(b), bits.map(leading), 'clz');
    sameElements(await read(c), bits.map(lowest), 'ffs');
    sameElements(
      await read(d),
      bits.map((t) => Number(reversed(t))),
      'brev',
    );
  },
  'bits that are counted by hand': async () => {
    const logical = (v: number): number => {
      const pairs = v - ((v >>> 1) & 0x55555555);
      const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
      return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    };
    const inPlace = (v: number): number => {
      v -= (v >> 1) & 0x55555555;
      v = (v & 0x33333333) + ((v >> 2) & 0x33333333);
      v = (v + (v >> 4)) & 0x0f0f0f0f;
      return Math.imul(v, 0x01010101) >> 24;
    };
    const nearly = (v: number): number => {
      v -= (v >> 1) & 0x55555555;
      v = (v & 0x33333333) + ((v >> 2) & 0x33333333);
      return Math.imul((v + (v >> 4)) & 0x0f0f0f0f, 0x01010101) >>> 16;
    };
    const x = mixedIntegers().subarray(0, 50);
    const kernel = cuda.jit((a: Vec<i32>, v: In<Vec<i32>>, u: In<Vec<u32>>) => {
      const k = cuda.grid(1);
      if (k >= v.length) return;
      for (let j = 0; j < 2; j++) a[k] += logical(u[k] ^ j) - 100 * inPlace(v[k]) + 10000 * nearly(v[k]);
    });
    const a = cuda.toDevice(new Int32Array(x.length));
    const u = Uint32Array.from(x);
    await launch(kernel, { threads: x.length, block: 16 }, a, cuda.toDevice(x), cuda.toDevice(u));
    const expected = Array.from(x, (v) => logical(v) + logical(v ^ 1) - 200 * inPlace(v) + 20000 * nearly(v));
    sameElements(await read(a), expected);
  },
  'popc, clz, ffs and brev of 64 bits': async () => {
    const kernel = cuda.jit(
      (a: Vec<i64>, b: Vec<i64>, c: Vec<i64>, d: Vec<i64>, v: In<Vec<i64>>, u: Vec<u64>, w: In<Vec<u64>>) => {
        const k = cuda.grid(1);
        if (k >= v.length) return;
        a[k] = cuda.popc(v[k]);
        b[k] = cuda.clz(v[k]);
        c[k] = cuda.ffs(v[k]);
        d[k] = cuda.brev(v[k]);
        u[k] = cuda.brev(w[k]) + cuda.clz(w[k]);
      },
    );
    const out = () => cuda.deviceArray(WORDS.length, 'int64');
    const [a, b, c, d, u] = [out(), out(), out(), out(), cuda.deviceArray(WORDS.length, 'uint64')];
    const w = cuda.toDevice(new BigUint64Array(WORDS.buffer));
    await launch(kernel, { threads: WORDS.length, block: 4 }, a, b, c, d, cuda.toDevice(WORDS), u, w);
    const bits = Array.from(WORDS, (v) => bitsOf(v, 64));
    sameElements(
      await read(a),
      bits.map((t) => BigInt(count(t))),
      'popc',
    );
    sameElements(
      await read(b),
      bits.map((t) => BigInt(leading(t))),
      'clz',
    );
    sameElements(
      await read(c),
      bits.map((t) => BigInt(lowest(t))),
      'ffs',
    );
    sameElements(
      await read(d),
      bits.map((t) => BigInt.asIntN(64, reversed(t))),
      'brev',
    );
    sameElements(
      await read(u),
      bits.map((t) => BigInt.asUintN(64, reversed(t) + BigInt(leading(t)))),
      'u64',
    );
  },
  'dp4a of signed bytes': async () => {
    const kernel = cuda.jit((y: Vec<i32>, a: In<Vec<i32>>, b: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      let sum = b[k];
      // The second wraps where the first has come near the limit; the third is of a constant.
      sum = cuda.dp4a(a[k], b[k], sum);
      sum = cuda.dp4a(b[k], a[y.length - 1 - k], sum);
      y[k] = cuda.dp4a(a[k], 0x01ff7f80, sum);
    });
    const [a, b] = [Int32Array.from(PACKED), Int32Array.from(PACKED, (x) => x ^ 0x7f80ff01)];
    const y = cuda.deviceArray(a.length, 'int32');
    await launch(kernel, { threads: a.length, block: 8 }, y, cuda.toDevice(a), cuda.toDevice(b));
    const expected = Array.from(a, (x, k) => {
      const [other, last] = [b[k] ?? 0, a[a.length - 1 - k] ?? 0];
      const sum = other + dot(x, other, signed) + dot(other, last, signed) + dot(x, 0x01ff7f80, signed);
      return Number(BigInt.asIntN(32, BigInt(sum)));
    });
    sameElements(await read(y), expected);
  },
  'dp4a of unsigned bytes': async () => {
    const kernel = cuda.jit((y: Vec<u32>, a: In<Vec<u32>>, b: In<Vec<u32>>, least: number) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = cuda.dp4a(a[k], b[y.length - 1 - k], 0xffff0000) + cuda.dp4a(a[k], least, 1);
    });
    const a = Uint32Array.from(PACKED);
    const y = cuda.deviceArray(a.length, 'uint32');
    await launch(kernel, { threads: a.length, block: 8 }, y, cuda.toDevice(a), cuda.toDevice(a), 0x01020304);
    const expected = Array.from(a, (x, k) => {
      const sum = 0xffff0000 + dot(x, a[a.length - 1 - k] ?? 0, unsigned) + dot(x, 0x01020304, unsigned) + 1;
      return Number(BigInt.asUintN(32, BigInt(sum)));
    });
    sameElements(await read(y), expected);
  },
  'a constant that comes out of an array, and is no number': () =>
    eachType(['float32', 'float64'] as const, async (type) => {
      const kernel = cuda.jit((y: Vec<f64>) => {
        const l = cuda.local.array(2, type);
        l[0] = 0;
        l[1] = 3;
        const a = l[1] * Math.sqrt(-0.25);
        y[0] = Math.floor(a);
        y[1] = Math.ceil(a);
        y[2] = Math.trunc(a);
        y[3] = Math.round(a);
      });
      const y = cuda.deviceArray(4, type as 'float64');
      await launch(kernel, { grid: 1, block: 1 }, y);
      sameElements(await read(y), [Number.NaN, Number.NaN, Number.NaN, Number.NaN], type);
    }),
  'a zero with a sign beside one without': async () => {
    const kernel = cuda.jit((y: Vec<f32>, z: Vec<f32>) => {
      const k = cuda.grid(1);
      y[3 * k] = f32(-0);
      y[3 * k + 1] = f32(0);
      y[3 * k + 2] = cuda.copysign(f32(2), f32(-0));
      z[2 * k] = f32(0);
      z[2 * k + 1] = f32(-0);
      cuda.atomic.add(z, 4, f32(0));
    });
    const [y, z] = [cuda.toDevice(new Float32Array(6).fill(1)), cuda.toDevice(new Float32Array(5).fill(1))];
    await launch(kernel, { grid: 2, block: 1 }, y, z);
    sameElements(await read(y), [-0, 0, -2, -0, 0, -2]);
    sameElements(await read(z), [0, -0, 0, -0, 1]);
  },
  'integers of 32 bits as f32, to nearest': async () => {
    const kernel = cuda.jit((y: Vec<f32>, z: Vec<f32>, a: In<Vec<u32>>, b: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      y[k] = a[k];
      z[k] = b[k];
    });
    // Around halves between neighbours, in each binade above 2^24.
    const some = [24, 26, 28, 30, 31].flatMap((e) =>
      [1, 2, 3].flatMap((m) => [-1, 0, 1].map((d) => 2 ** e + m * 2 ** (e - 24) + d)),
    );
    const a = Uint32Array.from([...some, 2 ** 32 - 1, 4_287_327_873, 4_287_327_871]);
    const b = Int32Array.from(a, (v, k) => (k % 2 === 0 ? v : -v) | 0);
    const [y, z] = [cuda.deviceArray(a.length, 'float32'), cuda.deviceArray(a.length, 'float32')];
    await launch(kernel, { threads: a.length, block: 16 }, y, z, cuda.toDevice(a), cuda.toDevice(b));
    sameElements(await read(y), Float32Array.from(a));
    sameElements(await read(z), Float32Array.from(b));
  },
  'dp4a of what is known when compiling, narrow data and the same value for all threads': async () => {
    const kernel = cuda.jit((y: Vec<i32>, bytes: In<Vec<i8>>, a: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      const same = cuda.dp4a(a[0], a[1], 1000);
      y[k] = cuda.dp4a(-1, 0x7f7f7f7f, 7) + cuda.dp4a(bytes[k], k, same);
    });
    const bytes = Int8Array.from({ length: 12 }, (_, k) => 29 * k - 128);
    const a = Int32Array.from(PACKED.slice(3, 5));
    const y = cuda.deviceArray(bytes.length, 'int32');
    await launch(kernel, { threads: bytes.length, block: 4 }, y, cuda.toDevice(bytes), cuda.toDevice(a));
    const same = 1000 + dot(a[0] ?? 0, a[1] ?? 0, signed);
    const expected = Array.from(bytes, (v, k) => 7 - 4 * 127 + same + dot(v, k, signed));
    sameElements(await read(y), expected);
  },
});

/** Four bytes each, with their limits and all signs. */
const PACKED = [
  ...[0, 1, -1, 0x7f80ff01, 0x80808080, 0x7f7f7f7f, 0x12345678, 0xdeadbeef, 0x7fffffff, 0x80000000, 0x00ff00ff],
  ...Array.from({ length: 22 }, (_, k) => Math.imul(k + 1, 0x9e3779b1)),
].map((x) => x | 0);

const signed = (byte: number): number => (byte << 24) >> 24;
const unsigned = (byte: number): number => byte;

function dot(a: number, b: number, as: (byte: number) => number): number {
  return [0, 8, 16, 24].reduce((sum, by) => sum + as((a >>> by) & 0xff) * as((b >>> by) & 0xff), 0);
}
