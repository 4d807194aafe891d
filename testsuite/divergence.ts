/**
 * Chapter: every type and operation while only some threads of a vector run.
 *
 * The other threads must neither change anything nor fail: a division by zero, an index out of range or a huge cast in a
 * thread that is not there is none.
 */
import {
  cuda,
  type DType,
  f16,
  f32,
  f64,
  type In,
  i8,
  i16,
  i32,
  type i64,
  u8,
  u16,
  u32,
  u64,
  type Vec,
} from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { asVec, eachType, integers, mixedIntegers, N, zeros } from './support.ts';
import { launch, read } from './waiting.ts';

const TYPES: readonly [string, DType<i32>, (v: number) => number][] = [
  ['i8', i8 as never, (v) => (v << 24) >> 24],
  ['u8', u8 as never, (v) => v & 255],
  ['i16', i16 as never, (v) => (v << 16) >> 16],
  ['u16', u16 as never, (v) => v & 65535],
  ['i32', i32, (v) => v | 0],
  ['u32', u32 as never, (v) => v >>> 0],
  ['f32', f32 as never, Math.fround],
  ['f64', f64 as never, (v) => v],
];

/** A permutation of the threads, so that reads and writes are scattered. */
const scattered = Int32Array.from({ length: N }, (_, k) => (k * 71 + 13) % N);

/** The compiler knows; linters do not. */
const ALWAYS: boolean = N > 0;

/** Runs a body of doubles in which threads part, and compares. */
function parted(body: (v: number, k: number) => number): () => Promise<void> {
  return async () => {
    const x = Float64Array.from({ length: N }, (_, k) => ((k * 37) % 101) / 8 - 6);
    await eachType(['float64', 'float32'] as const, async (type) => {
      const kernel = cuda.jit((y: Vec<f64>, v: In<Vec<f64>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(v[k], k);
      });
      const y = cuda.deviceArray(N, type);
      const from = type === 'float64' ? x : Float32Array.from(x);
      await launch(kernel, { threads: N, block: 50 }, y as never, cuda.toDevice(from) as never);
      const expected = Float64Array.from(x, (v, k) => body(v, k));
      sameElements(await read(y), type === 'float64' ? expected : Float32Array.from(expected), `${type}, thread`);
    });
  };
}

export const divergence: readonly ConformanceTest[] = chapter('divergence', {
  'loops whose first round is the last': parted((v, k) => {
    if (v > 1) {
      for (let i = 0; i < 4; i++) if (ALWAYS) return v + i;
      return v - 1;
    }
    let sum = v;
    outer: while (sum < 100) {
      for (let i = 0; i < 3; i++) {
        sum += 7;
        if (v < -3) break outer;
        if (ALWAYS) continue outer;
      }
      sum += 1000;
    }
    do {
      if (k % 3 === 0) return -sum;
      if (ALWAYS) return sum;
    } while (sum > k);
    return 0;
  }),
  'loops that threads leave in different rounds, all of them before its end': parted((v, k) => {
    if (k % 5 !== 2) {
      for (let i = 0; i < 1000; i++) {
        if (i === k % 7) return v * (i + 1);
        if (i > 6) return -1;
      }
      return -2;
    }
    for (let i = 0; ; i++) if (i * i > k) return i;
  }),
  'scattered reads and writes of every type': async () => {
    const kernel = cuda.jit((to: Vec<i32>, from: In<Vec<i32>>, at: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k < at.length && at[k] % 3 !== 0) to[at[k]] = from[at[at[k]]] + 1;
    });
    const at = cuda.toDevice(scattered);
    await eachType(TYPES, async ([name, dtype, convert]) => {
      const from = cuda.deviceArray(N, dtype);
      from.set(Int32Array.from({ length: N }, (_, k) => k & 127));
      const to = zeros(N, dtype as never) as unknown as typeof from;
      await launch(kernel, { threads: N, block: 50 }, to, from, at);
      const expected = new Float64Array(N);
      for (let k = 0; k < N; k++) {
        if (scattered[k] % 3 !== 0) expected[scattered[k]] = convert((scattered[scattered[k]] & 127) + 1);
      }
      sameElements(Array.from((await read(to)) as Int32Array), expected, `${name}, element`);
    });
  },
  'f16 under a mask': async () => {
    const kernel = cuda.jit((to: Vec<f16>, from: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      if (k < to.length && from[k] > 0.5) to[to.length - 1 - k] = from[k] * 2;
    });
    const from = cuda.deviceArray(40, f16);
    from.set(Float64Array.from({ length: 40 }, (_, k) => (k % 7) / 8));
    const to = cuda.deviceArray(40, f16);
    to.set(-1);
    await launch(kernel, { threads: 40, block: 20 }, to, from);
    const expected = new Array<number>(40).fill(-1);
    for (let k = 0; k < 40; k++) if ((k % 7) / 8 > 0.5) expected[39 - k] = (k % 7) / 4;
    sameElements(await read(to), expected);
  },
  '64-bit integers under a mask': async () => {
    const kernel = cuda.jit((a: Vec<i64>, b: Vec<u64>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      let n = a[k];
      while (n > 0n) {
        if (n % 3n === 1n) b[k] += u64(n);
        else if (n % 3n === 2n) b[k] ^= u64(n);
        n = n / 2n - 1n;
      }
      a[k] = n;
    });
    const a = BigInt64Array.from({ length: 50 }, (_, k) => BigInt(k * k * 1000003) - 5000n);
    const [da, db] = [cuda.toDevice(a), cuda.toDevice(new BigUint64Array(50))];
    await launch(kernel, { threads: 50, block: 25 }, da, db);
    const b = new BigUint64Array(50);
    for (let k = 0; k < 50; k++) {
      let n = a[k];
      while (n > 0n) {
        if (n % 3n === 1n) b[k] += n;
        else if (n % 3n === 2n) b[k] ^= n;
        n = n / 2n - 1n;
      }
      a[k] = n;
    }
    sameElements(await read(da), a);
    sameElements(await read(db), b);
  },
  'division by zero in threads that are not there': integers((k, x) => {
    const d = x[k] & 3;
    let r = -1;
    if (d !== 0) r = ((x[k + 1] / d) | 0) + (x[k + 1] % d);
    return d === 0 ? r : r * 2;
  }),
  'indices out of range in threads that are not there': integers((k, x) => {
    const at = x[k] & 1023;
    let s = 0;
    if (at < 200) s += x[at];
    s += at < 100 ? x[at + 50] & 7 : 1;
    for (let i = at; i < 203; i += 40) s ^= x[i];
    return s;
  }),
  'functions of NaN and infinity in threads that are not there': parted((v) => {
    let r = v;
    if (v > 0) r = Math.floor(v * 4) / 4;
    if (v < -1) r = Math.max(v, -3) - Math.round(v);
    return r + (v > 2 ? v * v : v < -2 ? -v : 0);
  }),
  'floats in loops of different lengths': parted((v, k) => {
    let s = v;
    for (let i = 0; i < k % 9; i++) {
      if (s > 4) s -= 3;
      else if (s < -4) break;
      else s += 0.5;
    }
    return s;
  }),
  'conversions under a mask': async () => {
    const kernel = cuda.jit((y: Vec<f64>, x: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      const v = x[k];
      let r = 0.5;
      if (v & 1) r = f32(v) / f32(3);
      else if (v & 2) r = f64(u32(v)) / 3;
      else if (v & 4) r = i32(f64(v) * 0.75) + u8(v);
      if (v & 8) y[k] = r;
      else y[k] = i16(v) + r;
    });
    const x = mixedIntegers().subarray(0, N);
    const y = cuda.deviceArray(N, 'float64');
    await launch(kernel, { threads: N, block: 50 }, y, cuda.toDevice(x));
    const expected = Float64Array.from(x, (v) => {
      let r = 0.5;
      if (v & 1) r = Math.fround(Math.fround(v) / 3);
      else if (v & 2) r = (v >>> 0) / 3;
      else if (v & 4) r = Math.trunc(v * 0.75) + (v & 255);
      return v & 8 ? r : ((v << 16) >> 16) + r;
    });
    sameElements(await read(y), expected);
  },
  'conversions under a mask, without f64': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      const v = x[k];
      let r = f32(0.5);
      if (v & 1) r = f32(v) / f32(4);
      else if (v & 2) r = f32(u32(v)) / f32(8);
      else if (v & 4) r = f32(i32(f32(v) * f32(0.75)) + u8(v));
      if (v & 8) y[k] = r;
      else y[k] = f32(i16(v)) + r;
    });
    const x = mixedIntegers().subarray(0, N);
    const y = cuda.deviceArray(N, 'float32');
    await launch(kernel, { threads: N, block: 50 }, y, cuda.toDevice(x));
    const expected = Float32Array.from(x, (v) => {
      let r = 0.5;
      if (v & 1) r = Math.fround(v) / 4;
      else if (v & 2) r = Math.fround(v >>> 0) / 8;
      else if (v & 4) r = Math.fround(Math.trunc(Math.fround(Math.fround(v) * 0.75)) + (v & 255));
      return v & 8 ? r : ((v << 16) >> 16) + r;
    });
    sameElements(await read(y), expected);
  },
  'booleans under a mask': integers((k, x) => {
    let seen = false;
    let all = true;
    for (let i = 0; i < 6; i++) {
      if (x[k + i] === 7) continue;
      if (x[k + i] < -5000) {
        seen = !seen;
        break;
      }
      all = all && x[k + i] > 0;
      seen = seen || x[k + i] > 40;
    }
    return (seen ? 1 : 0) + (all ? 2 : 0);
  }),
  'local arrays under a mask': integers((k, x) => {
    const own = [0, 0, 0];
    let [a, b, c] = own;
    for (let i = 0; i < (x[k] & 15); i++) {
      if (i % 3 === 0) a += i;
      else if (i % 3 === 1) b -= i;
      else c ^= i;
      [a, b] = a > 5 ? [b, a] : [a, b];
    }
    return a * 10000 + b * 100 + c;
  }),
  'stores of several threads into one place: one of them wins': async () => {
    const kernel = cuda.jit(
      (to: Vec<i32>, at: In<Vec<i32>>) => {
        const k = cuda.grid(1);
        if (k < at.length) cuda.atomic.exch(to, at[k] & 3, k + 1);
      },
      { name: 'contend' },
    );
    const to = zeros(4, 'int32');
    await launch(kernel, { threads: N, block: 50 }, to, cuda.toDevice(scattered));
    const winners = await read(to);
    for (let n = 0; n < 4; n++) sameElements([scattered[winners[n] - 1] & 3], [n], 'place');
  },
  'nested functions with returns, in loops that part': integers((k, x) => {
    const find = (v: number, from: number) => {
      for (let i = from; i < from + 8; i++) {
        if (x[i] === v) return i;
        if (x[i] > 1000 && v < 20) return -i;
      }
      return -1;
    };
    let s = 0;
    for (let i = 0; i < 3; i++) {
      const at = find(x[k] & 31, k + i);
      if (at === -1) continue;
      if (at < 0) return at;
      s += at - k;
    }
    return s;
  }),
  'threads that return one after another from a long loop': integers((k, x) => {
    let s = 0;
    for (let i = 0; i < 300; i++) {
      s = (Math.imul(s, 31) + i + x[k]) & 0xffff;
      if (s % 97 === k % 13) return i * 1000 + (s & 511);
    }
    return -1;
  }),
  'uniform and divergent conditions mixed': async () => {
    const body = (k: number, x: Vec<i32>, mode: number) => {
      let s = 0;
      for (let i = 0; i < mode; i++) {
        if (mode > 2) {
          if (x[k + i] > 0) s += i;
          else continue;
        }
        if (i === 2) break;
        s += 100;
      }
      return mode % 2 ? s : -s;
    };
    const x = mixedIntegers();
    const kernel = cuda.jit((y: Vec<i32>, v: Vec<i32>, mode: number) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(k, v, mode);
    });
    const dx = cuda.toDevice(x);
    for (const mode of [0, 1, 2, 3, 6]) {
      const y = cuda.deviceArray(N, 'int32');
      await launch(kernel, { threads: N, block: 50 }, y, dx, mode);
      sameElements(
        await read(y),
        Int32Array.from({ length: N }, (_, k) => body(k, asVec(x), mode)),
        `mode ${mode}, thread`,
      );
    }
  },
  'several stores to neighbouring elements': async () => {
    const kernel = cuda.jit((to: Vec<f32>, x: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      to[3 * k] = k;
      if (x[k] & 1) {
        to[3 * k + 1] = k * 2;
        if (x[k] & 2) return;
      }
      to[3 * k + 2] = k * 3;
    });
    const x = mixedIntegers().subarray(0, N);
    const to = zeros(3 * N, 'float32');
    await launch(kernel, { threads: N, block: 50 }, to, cuda.toDevice(x));
    const expected = Array.from(x, (v, k) => [k, v & 1 ? k * 2 : 0, (v & 3) === 3 ? 0 : k * 3]).flat();
    sameElements(await read(to), expected);
  },
  'values that threads store to shared memory where they compare well': async () => {
    const kernel = cuda.jit((to: Vec<f32>, x: In<Vec<f32>>, j: i32) => {
      const [own, others] = [cuda.shared.array(64, f32), cuda.shared.array(64, f32)];
      const t = cuda.threadIdx.x;
      own[t] = -1;
      others[t] = -2;
      cuda.syncThreads();
      const [a, b] = [x[cuda.grid(1)]!, x[cuda.blockIdx.x * 64 + (t ^ j)]!];
      let n = 0;
      if (a > b) {
        own[t] = a;
        others[t ^ j] = b;
        n = 1;
      }
      if (t !== 5) {
        if (a < 0.25) others[t ^ j] = n;
        else own[t] = b + n;
      }
      cuda.syncThreads();
      to[2 * cuda.grid(1)] = own[t]!;
      to[2 * cuda.grid(1) + 1] = others[t]!;
    });
    // Blocks in which all threads, none, and some compare well.
    const value = (block: number, t: number): number => [t / 64, 0.5, ((t * 37) % 64) / 64, Number.NaN][block]!;
    const x = Float32Array.from({ length: 256 }, (_, k) => value(k >> 6, k & 63));
    for (const j of [1, 6, 40]) {
      const expected = new Float32Array(512);
      for (let k = 0; k < 256; k++) {
        const [a, b, other] = [x[k]!, x[k ^ j]!, x[k ^ j]! > x[k]!];
        // Thread k ^ j compares its own value, b, with a.
        const [n, m] = [a > b ? 1 : 0, other ? 1 : 0];
        const [isFive, otherIsFive] = [(k & 63) === 5, ((k ^ j) & 63) === 5];
        expected[2 * k] = !isFive && !(a < 0.25) ? b + n : a > b ? a : -1;
        expected[2 * k + 1] = !otherIsFive && b < 0.25 ? m : other ? a : -2;
      }
      const to = cuda.deviceArray(512, 'float32');
      await launch(kernel, { grid: 4, block: 64 }, to, cuda.toDevice(x), cuda.scalar(i32, j) as never);
      sameElements(await read(to), expected, `${j}, element`);
    }
  },
});
