/**
 * Chapter: integers of 64 bits, against BigInt.
 */
import { cuda, type f64, type In, i32, i64, type u8, type u32, u64, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

const COUNT = 61;

/** Words of all magnitudes, both extremes among them. */
function words(): BigInt64Array {
  let state = 0x9e3779b97f4a7c15n;
  return BigInt64Array.from({ length: COUNT + 1 }, (_, k) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    const edges = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 31n), 9007199254740993n];
    return edges[k] ?? BigInt.asIntN(64, state >> BigInt((k * 7) % 60));
  });
}

/** Runs `body` on pairs of i64 and compares with itself on bigints, wrapped. */
function signed(body: (a: bigint, b: bigint) => bigint): () => Promise<void> {
  return async () => {
    const x = words();
    const kernel = cuda.jit((y: Vec<i64>, v: In<Vec<i64>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(v[k], v[k + 1]);
    });
    const y = cuda.deviceArray(COUNT, 'int64');
    await launch(kernel, { threads: COUNT, block: 16 }, y, cuda.toDevice(x));
    sameElements(
      await read(y),
      BigInt64Array.from({ length: COUNT }, (_, k) => BigInt.asIntN(64, body(x[k], x[k + 1]))),
    );
  };
}

/** The same on u64; `expected` where the body cannot run on bigints as it is. */
function unsigned(body: (a: bigint, b: bigint) => bigint, expected: typeof body = body): () => Promise<void> {
  return async () => {
    const x = new BigUint64Array(words().buffer as ArrayBuffer);
    const kernel = cuda.jit((y: Vec<u64>, v: In<Vec<u64>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(v[k], v[k + 1]);
    });
    const y = cuda.deviceArray(COUNT, 'uint64');
    await launch(kernel, { threads: COUNT, block: 16 }, y, cuda.toDevice(x));
    sameElements(
      await read(y),
      BigUint64Array.from({ length: COUNT }, (_, k) => BigInt.asUintN(64, expected(x[k], x[k + 1]))),
    );
  };
}

/** Numbers in, numbers out, by way of 64-bit integers. */
function byNumber(body: (v: number) => number, values: readonly number[]): () => Promise<void> {
  return async () => {
    const x = Float64Array.from(values);
    const kernel = cuda.jit((y: Vec<f64>, v: In<Vec<f64>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(v[k]);
    });
    const y = cuda.deviceArray(x.length, 'float64');
    await launch(kernel, { threads: x.length, block: 8 }, y, cuda.toDevice(x));
    sameElements(await read(y), x.map(body));
  };
}

export const wideTypes: readonly ConformanceTest[] = chapter('64-bit integers', {
  'i64 adds, subtracts and multiplies, wrapping': signed((a, b) => a * 3n + b - a * b),
  'i64 divides towards zero': signed((a, b) => a / (b === 0n ? 5n : b)),
  'i64 remainder has the sign of the dividend': signed((a, b) => a % (b === 0n ? 5n : b)),
  'i64 bit operations': signed((a, b) => (a & b) ^ (a | b) ^ ~a),
  'i64 shifts': signed((a, b) => (a << 7n) ^ (a >> 13n) ^ (b >> 63n)),
  'i64 shifts by a computed count': signed((a, b) => (a >> (b & 31n)) ^ (a << (b & 15n))),
  'i64 comparisons': signed(
    (a, b) => (a < b ? 1n : 0n) + (a >= 0n ? 2n : 0n) + (a === b ? 4n : 0n) + (a !== 1n ? 8n : 0n),
  ),
  'i64 negation': signed((a, b) => -a + (b > 0n ? -b : b)),
  'u64 adds, subtracts and multiplies, wrapping': unsigned((a, b) => a * 0x100000001b3n + b - a),
  'u64 divides without a sign': unsigned((a, b) => a / (b | 1n)),
  'u64 remainder without a sign': unsigned((a, b) => a % (b | 1n)),
  'u64 shifts fill with zeros': unsigned((a, b) => (a >> 3n) ^ (a << 11n) ^ (b >> 60n)),
  'u64 comparisons': unsigned((a, b) => (a < b ? 1n : 0n) + (a >= 0x8000000000000000n ? 2n : 0n)),
  'u64 hash': unsigned(
    (a, b) => {
      let h = u64(0xcbf29ce484222325n);
      h = (h ^ (a & 255n)) * 0x100000001b3n;
      h = (h ^ (b & 255n)) * 0x100000001b3n;
      return h;
    },
    (a, b) => {
      let h = 0xcbf29ce484222325n;
      h = BigInt.asUintN(64, (h ^ (a & 255n)) * 0x100000001b3n);
      h = BigInt.asUintN(64, (h ^ (b & 255n)) * 0x100000001b3n);
      return h;
    },
  ),
  'loops and branches on 64-bit values': signed((a, b) => {
    let n = a & 1023n;
    let s = 0n;
    while (n > 0n) {
      if ((n & 1n) === 1n) s += b >> 8n;
      n >>= 1n;
    }
    return s;
  }),
  'division by zero gives zero': async () => {
    const kernel = cuda.jit((y: Vec<i64>, x: In<Vec<i64>>, w: Vec<u64>, v: In<Vec<u64>>) => {
      y[0] = x[0] / x[1];
      y[1] = x[0] % x[1];
      y[2] = x[2] / x[3];
      y[3] = x[2] % x[3];
      w[0] = v[0] / v[1];
      w[1] = v[0] % v[1];
    });
    const y = cuda.deviceArray(4, 'int64');
    const w = cuda.deviceArray(2, 'uint64');
    const least = -(2n ** 63n);
    await launch(
      kernel,
      { grid: 1, block: 1 },
      y,
      cuda.toDevice(BigInt64Array.of(7n, 0n, least, -1n)),
      w,
      cuda.toDevice(BigUint64Array.of(7n, 0n)),
    );
    sameElements(await read(y), [0n, 0n, least, 0n]);
    sameElements(await read(w), [0n, 0n]);
  },
  'Number(x) of i64 rounds once': async () => {
    const x = words();
    const kernel = cuda.jit((y: Vec<f64>, v: In<Vec<i64>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = Number(v[k]);
    });
    const y = cuda.deviceArray(COUNT, 'float64');
    await launch(kernel, { threads: COUNT, block: 16 }, y, cuda.toDevice(x));
    sameElements(await read(y), Float64Array.from(x.subarray(0, COUNT), Number));
  },
  'numbers to i64 and back': byNumber((v) => Number(i64(v) * 3n), [0, -1, 1e15, -123456789012, 2 ** 40]),
  'numbers to u64 and back': byNumber((v) => Number(u64(v) + 1n), [0, 5, 1e15, 2 ** 52]),
  'floats beyond 64 bits saturate': async () => {
    const kernel = cuda.jit((y: Vec<i64>, w: Vec<u64>, v: In<Vec<f64>>) => {
      const k = cuda.grid(1);
      if (k < v.length) {
        y[k] = i64(v[k]);
        w[k] = u64(v[k]);
      }
    });
    const v = Float64Array.of(1e30, -1e30, Number.NaN, Number.POSITIVE_INFINITY, -1.9, 1.9);
    const [y, w] = [cuda.deviceArray(v.length, 'int64'), cuda.deviceArray(v.length, 'uint64')];
    await launch(kernel, { threads: v.length, block: 4 }, y, w, cuda.toDevice(v));
    const [top, bottom] = [2n ** 63n - 1n, -(2n ** 63n)];
    sameElements(await read(y), [top, bottom, 0n, top, -1n, 1n]);
    sameElements(await read(w), [2n ** 64n - 1n, 0n, 0n, 2n ** 64n - 1n, 0n, 1n]);
  },
  'i32 of a 64-bit value is an index': async () => {
    const kernel = cuda.jit((y: Vec<i64>, at: In<Vec<i64>>) => {
      const k = cuda.grid(1);
      if (k < at.length) y[i32(at[k])] = BigInt(k) + at[k];
    });
    const y = cuda.deviceArray(4, 'int64');
    await launch(kernel, { threads: 4, block: 4 }, y, cuda.toDevice(BigInt64Array.of(3n, 1n, 0n, 2n)));
    sameElements(await read(y), [2n, 2n, 5n, 3n]);
  },
  'BigInt of an unsigned integer or an index meets u64 and i64': async () => {
    const fnv1a = (text: ArrayLike<number>, from: number, to: number) => {
      let h = 0xcbf29ce484222325n;
      for (let k = from; k < to; k++) h = BigInt.asUintN(64, (h ^ BigInt(text[k])) * 0x100000001b3n);
      return h;
    };
    const kernel = cuda.jit(
      (h: Vec<u64>, y: Vec<i64>, text: In<Vec<u8>>, ends: In<Vec<i32>>, v: In<Vec<u64>>, w: In<Vec<u32>>) => {
        const k = cuda.grid(1);
        if (k >= h.length) return;
        h[k] = fnv1a(text, ends[k], ends[k + 1]) + v[k] * BigInt(k) - BigInt(w[k]);
        y[k] = BigInt(w[k]) - BigInt(k) * 3n;
      },
    );
    const text = new TextEncoder().encode('one kernel, many threads');
    const ends = Int32Array.of(0, 3, 3, 11, text.length);
    const v = BigUint64Array.of(1n, 2n ** 64n - 1n, 2n ** 63n, 7n);
    const w = Uint32Array.of(0, 2 ** 32 - 1, 5, 1);
    const [h, y] = [cuda.deviceArray(4, 'uint64'), cuda.deviceArray(4, 'int64')];
    const given = [text, ends, v, w].map((array) => cuda.toDevice(array)) as never[];
    await launch(kernel as never, { threads: 4, block: 4 }, h, y, ...given);
    const hashes = [0, 1, 2, 3].map((k) => fnv1a(text, ends[k], ends[k + 1]));
    sameElements(
      await read(h),
      hashes.map((hash, k) => BigInt.asUintN(64, hash + v[k] * BigInt(k) - BigInt(w[k]))),
    );
    sameElements(
      await read(y),
      Array.from(w, (u, k) => BigInt(u) - BigInt(k) * 3n),
    );
  },
  'BigInt.asIntN and asUintN of 64 bits': async () => {
    const kernel = cuda.jit((y: Vec<i64>, w: Vec<u64>) => {
      const k = cuda.grid(1);
      const v = y[k];
      y[k] = BigInt.asIntN(64, w[k]);
      w[k] = BigInt.asUintN(64, v);
    });
    const y = cuda.toDevice(BigInt64Array.of(-1n, 5n));
    const w = cuda.toDevice(BigUint64Array.of(2n ** 64n - 2n, 6n));
    await launch(kernel, { grid: 1, block: 2 }, y, w);
    sameElements(await read(y), [-2n, 6n]);
    sameElements(await read(w), [2n ** 64n - 1n, 5n]);
  },
  'bigint arguments': async () => {
    const kernel = cuda.jit((y: Vec<i64>, w: Vec<u64>, a: bigint, b: bigint) => {
      y[0] = y[0] + a;
      w[0] = w[0] ^ b;
    });
    const [y, w] = [cuda.toDevice(BigInt64Array.of(-3n)), cuda.toDevice(BigUint64Array.of(2n ** 63n))];
    await launch(kernel, { grid: 1, block: 1 }, y, w, 2n ** 40n, 2n ** 64n - 1n);
    sameElements(await read(y), [2n ** 40n - 3n]);
    sameElements(await read(w), [2n ** 63n - 1n]);
  },
});
