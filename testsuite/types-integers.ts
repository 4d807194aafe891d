/**
 * Chapter: integer arithmetic of 32 bits and less, signed and unsigned, and what has no type of its own.
 */
import {
  bool,
  cuda,
  type f32,
  type f64,
  type In,
  i8,
  i16,
  i32,
  type i64,
  u8,
  u16,
  u32,
  type Vec,
} from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { asVec, eachType, integers, mixedIntegers, N } from './support.ts';
import { launch, read } from './waiting.ts';

/** All bits of the mixed integers, as u32. */
function mixedUnsigned(): Uint32Array {
  return Uint32Array.from(mixedIntegers(), (v, k) => (k % 5 === 0 ? Math.imul(v, 0x9e3779b1) : v) >>> 0);
}

/** Runs `body` on u32 and compares with `expected`, which says it in doubles. */
function unsigned(body: (a: u32, b: u32) => number, expected: (a: number, b: number) => number): () => Promise<void> {
  return async () => {
    const x = mixedUnsigned();
    const kernel = cuda.jit((y: Vec<u32>, v: In<Vec<u32>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(v[k], v[k + 1]);
    });
    const y = cuda.deviceArray(N, 'uint32');
    await launch(kernel, { threads: N, block: 50 }, y, cuda.toDevice(x));
    sameElements(
      await read(y),
      Uint32Array.from({ length: N }, (_, k) => expected(x[k], x[k + 1])),
    );
  };
}

/** Runs `body` on i32; what it says of integers, `expected` says of plain numbers. */
function cast(body: (v: i32) => number, expected: (v: number) => number): () => Promise<void> {
  return async () => {
    const x = mixedIntegers();
    const kernel = cuda.jit((y: Vec<i32>, v: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(v[k]);
    });
    const y = cuda.deviceArray(x.length, 'int32');
    await launch(kernel, { threads: x.length, block: 50 }, y, cuda.toDevice(x));
    sameElements(await read(y), Int32Array.from(x, expected));
  };
}

/** Wraps a double that is exact (|v| < 2**53). */
const wrap = (v: number): number => v % 2 ** 32;

export const integerTypes: readonly ConformanceTest[] = chapter('integers', {
  'u32 compared with numbers that none is': unsigned(
    (a, b) =>
      (a < -1 ? 1 : 0) + (b !== -1 ? 2 : 0) + (a > -5 ? 4 : 0) + (b === 4294967296 ? 8 : 0) + (u32(7) >= -7 ? 16 : 0),
    () => 2 + 4 + 16,
  ),
  'i32 division, remainder and rounding': integers((k, x) => {
    const a = x[k];
    const b = (x[k + 1] & 15) + 1;
    return (
      ((a / b) | 0) +
      Math.floor(a / b) * 3 +
      Math.trunc(a / -b) * 5 +
      Math.ceil(a / b) * 7 +
      (a % b) * 11 +
      Math.round(a / b)
    );
  }),
  'rounded quotients of either sign': integers((k, x) => {
    const a = x[k] & 255;
    const b = (x[k + 1] % 7) * 2 + 1;
    return (
      Math.round(a / b) +
      100 * Math.round(-a / b) +
      10000 * (Math.floor(-a / b) & 15) +
      1000000 * (Math.ceil(-a / b) & 15)
    );
  }),
  'remainders take the sign of the dividend': integers((k, x) => {
    const m = (x[k + 1] & 7) + 2;
    return (x[k] % m) * 100 + (-x[k] % m) * 10 + (x[k] % -m);
  }),
  'every spelling of a quotient without its fraction': integers((k, x) => {
    const d = x[k + 1] % 9;
    return ~~(x[k] / d) + ((x[k] / d) >> 0) * 3 + ((x[k] / d) << 0) * 5 + ~~(x[k] / 7) - ((x[k] / 0) >> 0);
  }),
  'i32 wraps': integers((k, x) => {
    const big = x[k] | 0x40000000;
    return (big + big + 5) | 0;
  }),
  'i32 products wrap with Math.imul': integers((k, x) => Math.imul(x[k], 0x9e3779b1) ^ Math.imul(x[k + 1], x[k])),
  'bit operations and shifts': integers((k, x) => {
    const a = x[k];
    const s = x[k + 1] & 31;
    return (((a << s) ^ (a >> s) ^ (a >>> 3)) + (~a & 0xffff) + (a | 5) + Math.clz32(a)) | 0;
  }),
  'shift counts are taken modulo 32': integers((k, x) => (x[k] << x[k + 1]) ^ (x[k] >> x[k + 1]) ^ (x[k] << 33)),
  'Math on integers stays integer': integers(
    (k, x) => Math.abs(x[k]) + Math.min(x[k], x[k + 1], 3) * 2 + Math.max(x[k], -5) * 3 + Math.sign(x[k]) * 7,
  ),
  'powers of integers': integers((k, x) => (x[k] & 7) ** 3 + 2 ** (x[k + 1] & 7) * 100),
  'u32 wraps when added': unsigned(
    (a, b) => a + b,
    (a, b) => wrap(a + b),
  ),
  'u32 wraps when subtracted': unsigned(
    (a, b) => a - b,
    (a, b) => wrap(a - b + 2 ** 32),
  ),
  'u32 wraps when multiplied': unsigned(
    (a, b) => a * b,
    (a, b) => Math.imul(a, b) >>> 0,
  ),
  'u32 compares without a sign': unsigned(
    (a, b) => (a > b ? 1 : 0) + (a >= 0x80000000 ? 2 : 0) + (a === b ? 4 : 0),
    (a, b) => (a > b ? 1 : 0) + (a >= 0x80000000 ? 2 : 0) + (a === b ? 4 : 0),
  ),
  'u32 divides without a sign': unsigned(
    (a, b) => Math.floor(a / (b | 1)) + (a % (b | 1)),
    (a, b) => wrap(Math.floor(a / ((b | 1) >>> 0)) + (a % ((b | 1) >>> 0))),
  ),
  'u32 shifts fill with zeros': unsigned(
    (a, b) => (a >> 3) ^ (a >>> 5) ^ (a << 7) ^ b,
    (a, b) => ((a >>> 3) ^ (a >>> 5) ^ (a << 7) ^ b) >>> 0,
  ),
  'u32 min, max and absolute value': unsigned(
    (a, b) => Math.min(a, b) ^ Math.max(a, b) ^ Math.abs(a),
    (a, b) => (Math.min(a, b) ^ Math.max(a, b) ^ a) >>> 0,
  ),
  'a hash in u32': unsigned(
    (a, b) => {
      let h = u32(2166136261);
      h = (h ^ a) * 16777619;
      h = (h ^ (b >>> 16)) * 16777619;
      return h ^ (h >>> 13);
    },
    (a, b) => {
      let h = 2166136261;
      h = Math.imul(h ^ a, 16777619);
      h = Math.imul(h ^ (b >>> 16), 16777619);
      return (h ^ (h >>> 13)) >>> 0;
    },
  ),
  'casts between i32 and u32 keep the bits': cast(
    (v) => i32(u32(v) >>> 1) + (i32(u32(v)) === v ? 1 : 0),
    (v) => (v >>> 1) + 1,
  ),
  'integer casts wrap to fewer bits': cast(
    (v) => i8(v) + u8(v) * 3 + i16(v) * 5 + u16(v) * 7,
    (v) => ((v << 24) >> 24) + (v & 255) * 3 + ((v << 16) >> 16) * 5 + (v & 65535) * 7,
  ),
  'a bool cast asks whether a number is not zero': cast(
    (v) => (bool(v & 3) ? 1 : 0) + i32(v > 5),
    (v) => (v & 3 ? 1 : 0) + (v > 5 ? 1 : 0),
  ),
  'division by zero gives zero': async () => {
    const kernel = cuda.jit((y: Vec<i32>, x: In<Vec<i32>>, w: Vec<u32>, v: In<Vec<u32>>) => {
      const k = cuda.grid(1);
      y[2 * k] = (x[k] / x[k + 3]) | 0;
      y[2 * k + 1] = x[k] % x[k + 3];
      w[2 * k] = Math.floor(v[k] / v[k + 3]);
      w[2 * k + 1] = v[k] % v[k + 3];
    });
    const y = cuda.deviceArray(6, 'int32');
    const w = cuda.deviceArray(6, 'uint32');
    const x = Int32Array.of(7, -7, -(2 ** 31), 0, 0, -1);
    const v = Uint32Array.of(7, 0, 0xffffffff, 0, 0, 2);
    await launch(kernel, { grid: 1, block: 3 }, y, cuda.toDevice(x), w, cuda.toDevice(v));
    sameElements(await read(y), [0, 0, 0, 0, -(2 ** 31), 0]);
    sameElements(await read(w), [0, 0, 0, 0, 0x7fffffff, 1]);
  },
  'counters and indices convert where they are used': async () => {
    const body = (out: Vec<f32>, n: number) => {
      for (let i = 0; i < n; i++) out[i] = i * 0.5 + i / 4;
    };
    const kernel = cuda.jit((out: Vec<f32>, n: number) => {
      if (cuda.grid(1) === 0) body(out, n);
    });
    const out = cuda.deviceArray(7, 'float32');
    await launch(kernel, { grid: 1, block: 32 }, out, 7);
    const expected = new Float32Array(7);
    body(asVec(expected), 7);
    sameElements(await read(out), expected);
  },
  'literals take the type of what they meet': async () => {
    const kernel = cuda.jit((a: Vec<f32>, b: Vec<i32>, c: Vec<u32>) => {
      a[0] = a[0] * 0.1;
      b[0] = b[0] + 1;
      c[0] = c[0] - 1;
    });
    const a = cuda.toDevice(Float32Array.of(3));
    const [b, c] = [cuda.toDevice(Int32Array.of(2147483647)), cuda.toDevice(Uint32Array.of(0))];
    await launch(kernel, { grid: 1, block: 1 }, a, b, c);
    sameElements(await read(a), [Math.fround(3 * Math.fround(0.1))]);
    sameElements(await read(b), [-2147483648]);
    sameElements(await read(c), [4294967295]);
  },
  'literals take the type of the f64 or f32 that they meet': async () => {
    const kernel = cuda.jit((a: Vec<f32>, b: Vec<f64>) => {
      a[0] = a[0] * 0.1;
      b[0] = b[0] * 0.1;
    });
    const [a, b] = [cuda.toDevice(Float32Array.of(3)), cuda.toDevice(Float64Array.of(3))];
    await launch(kernel, { grid: 1, block: 1 }, a, b);
    sameElements(await read(a), [Math.fround(3 * Math.fround(0.1))]);
    sameElements(await read(b), [3 * 0.1]);
  },
  'an accumulator takes the type of what is added': async () => {
    const kernel = cuda.jit((out: Vec<f32>, x: In<Vec<f32>>) => {
      let sum = 0;
      for (let i = 0; i < x.length; i++) sum += x[i];
      out[cuda.grid(1)] = sum;
    });
    const x = Float32Array.from({ length: 40 }, (_, k) => 1 / (k + 1));
    const out = cuda.deviceArray(1, 'float32');
    await launch(kernel, { grid: 1, block: 1 }, out, cuda.toDevice(x));
    sameElements(await read(out), [x.reduce((s, v) => Math.fround(s + v), 0)]);
  },
  'number arguments are typed by their uses': async () => {
    const kernel = cuda.jit((y: Vec<f32>, z: Vec<i32>, n: number, gain: number, mask: number) => {
      const k = cuda.grid(1);
      if (k < n) {
        y[k] = y[k] * gain;
        z[k] = z[k] & mask;
      }
    });
    const [y, z] = [cuda.toDevice(Float32Array.of(1, 2, 3)), cuda.toDevice(Int32Array.of(5, 6, 7))];
    await launch(kernel, { grid: 1, block: 3 }, y, z, 2, 0.1, 3);
    sameElements(await read(y), Float32Array.of(0.1, Math.fround(2 * Math.fround(0.1)), 3));
    sameElements(await read(z), [1, 2, 7]);
    await launch(kernel, { grid: 1, block: 3 }, y, z, 3, 2, 1);
    sameElements(await read(z), [1, 0, 1]);
  },
  'floats stored to integers are cut': () =>
    eachType([Float64Array, Float32Array], async (Elements) => {
      const kernel = cuda.jit(
        (a: Vec<i32>, b: Vec<u8>, x: In<Vec<f32>>, z: In<Vec<f64>>) => {
          const k = cuda.grid(1);
          if (k >= a.length) return;
          a[k] = x[k] * 1.5;
          a[k] += 0.75;
          b[k] = z[k];
          if (k === 0) b[k] = 2.9;
        },
        Elements === Float32Array ? { defaultFloat: 'f32' } : {},
      );
      const x = Float32Array.of(1, -1, 2.5, Number.NaN, -3.25, 100);
      const [a, b] = [cuda.deviceArray(x.length, 'int32'), cuda.deviceArray(x.length, 'uint8')];
      await launch(
        kernel,
        { threads: x.length, block: 4 },
        a,
        b,
        cuda.toDevice(x),
        cuda.toDevice(Elements.from(x.map(Math.abs))) as never,
      );
      sameElements(
        await read(a),
        Int32Array.from(x, (v) => Math.trunc(Math.trunc(v * 1.5 || 0) + 0.75)),
      );
      sameElements(
        await read(b),
        Uint8Array.from(x, (v, k) => (k === 0 ? 2 : Math.abs(v))),
      );
    }),
  'numbers that are whole by what made them are indices': async () => {
    const kernel = cuda.jit((y: Vec<i32>, x: In<Vec<f32>>, long: In<Vec<i64>>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      const cell = Math.floor(x[k]) % 4;
      const near = Math.min(Math.abs(Math.ceil(x[k])), y.length - 1);
      y[k] = long[0] === 1n ? x[cell] * 100 + x[near] * 10 + x[Number(long[k & 1])] : 0;
    });
    const x = Float32Array.of(0, 1.5, 2.25, 3.75, 4, 5.5);
    const y = cuda.deviceArray(x.length, 'int32');
    await launch(kernel, { threads: x.length, block: 4 }, y, cuda.toDevice(x), cuda.toDevice(BigInt64Array.of(1n, 3n)));
    sameElements(
      await read(y),
      Int32Array.from(
        x,
        (v, k) => x[Math.floor(v) % 4] * 100 + x[Math.min(Math.ceil(v), x.length - 1)] * 10 + x[k & 1 ? 3 : 1],
      ),
    );
  },
  'a quotient that is halved is an index': async () => {
    const kernel = cuda.jit((y: Vec<i32>, x: In<Vec<i32>>) => {
      const t = cuda.threadIdx.x;
      const part = cuda.shared.array(64, i32);
      part[t] = x[cuda.grid(1)];
      cuda.syncThreads();
      for (let s = cuda.blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        cuda.syncThreads();
      }
      if (t === 0) y[cuda.blockIdx.x] = part[0];
    });
    const x = mixedIntegers().map((v) => v >> 9);
    const y = cuda.deviceArray(3, 'int32');
    await launch(kernel, { grid: 3, block: 64 }, y, cuda.toDevice(x));
    sameElements(
      await read(y),
      Int32Array.from({ length: 3 }, (_, b) => x.subarray(64 * b, 64 * b + 64).reduce((sum, v) => sum + v, 0)),
    );
  },
  'stated scalars keep their type': () =>
    eachType(['float64', 'float32'] as const, async (type) => {
      const kernel = cuda.jit((y: Vec<f64>, a: number, b: number, c: boolean) => {
        y[0] = a;
        y[1] = b;
        y[2] = c ? 1 : 0;
      });
      const y = cuda.deviceArray(3, type as 'float64');
      await launch(kernel, { grid: 1, block: 1 }, y, cuda.scalar('float32', 0.1), cuda.scalar('uint8', 200), true);
      sameElements(await read(y), [Math.fround(0.1), 200, 1], type);
    }),
});
