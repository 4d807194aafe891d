/**
 * Chapter: hashes, checksums and generators as they stand on the web, unchanged: each is a function that a kernel calls and that JavaScript
 * calls with the same input.
 *
 * They mix i32 with u32 freely, since JavaScript's bit operations do not care, and say what they want with `| 0` and `>>> 0`.
 */
import { cuda, type DeviceNDArray, type f32, type f64, type In, type i32, type u32, type Vec } from '../src/index.ts';
import { closeElements, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { asVec, eachType } from './support.ts';
import { type Launched, launch, read } from './waiting.ts';

/** The bytes that are hashed, from some place on. */
type Bytes = { readonly [index: number]: number; readonly length: number };

const N = 131;

/** Bytes of all values; more of them than there are threads. */
const text = Uint8Array.from({ length: N + 40 }, (_, k) => (k * 167 + (k >> 3) * 13) & 255);

/** What of the results is compared: numbers as f64, or what other types hold of them. */
type Result = 'wide' | 'narrow';
const RESULTS: readonly Result[] = ['wide', 'narrow'];
type Stores<T> = Launched<[y: DeviceNDArray<T, 1>, ...rest: readonly unknown[]]>;

/** The bits of a whole number, and on which side of 0 and of the limit of i32 it is. */
const wordsOf = (y: Vec<i32>, k: number, v: number): void => {
  y[2 * k] = v | 0;
  y[2 * k + 1] = (v < 0 ? 1 : 0) + (v > 2147483647 ? 2 : 0);
};

/** Fractions in f32, where nothing else says of which type they are. */
const SINGLE = { defaultFloat: 'f32' } as const;

/** Runs a kernel that stores N results, and compares them. */
async function compare(
  result: Result,
  kernels: { readonly wide: Stores<f64>; readonly words: Stores<i32>; readonly single: Stores<f32> },
  args: readonly unknown[],
  expected: (k: number) => number,
  what?: string,
): Promise<void> {
  const numbers = Float64Array.from({ length: N }, (_, k) => expected(k));
  if (result === 'wide') {
    const y = cuda.deviceArray(N, 'float64');
    await launch(kernels.wide, { threads: N, block: 50 }, y, ...args);
    sameElements(await read(y), numbers, what);
  } else if (numbers.every(Number.isInteger)) {
    const y = cuda.deviceArray(2 * N, 'int32');
    await launch(kernels.words, { threads: N, block: 50 }, y, ...args);
    const words = new Int32Array(2 * N);
    for (let k = 0; k < N; k++) wordsOf(asVec(words), k, numbers[k]!);
    sameElements(await read(y), words, what);
  } else {
    const y = cuda.deviceArray(N, 'float32');
    await launch(kernels.single, { threads: N, block: 50 }, y, ...args);
    closeElements(await read(y), numbers, 1e-6, what);
  }
}

/** Compares what a function gives of the bytes from `k` to `k + k % 37` on the device with what JavaScript says. */
function hash(body: (data: Bytes, from: number, to: number) => number): () => Promise<void> {
  return () =>
    eachType(RESULTS, (result) => {
      const wide = cuda.jit((y: Vec<f64>, data: In<Vec<number>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(data, k, k + (k % 37));
      });
      const words = cuda.jit((y: Vec<i32>, data: In<Vec<number>>) => {
        const k = cuda.grid(1);
        if (2 * k < y.length) wordsOf(y, k, body(data, k, k + (k % 37)));
      });
      const single = cuda.jit((y: Vec<f32>, data: In<Vec<number>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(data, k, k + (k % 37));
      }, SINGLE);
      return compare(result, { wide, words, single } as never, [cuda.toDevice(text)], (k) =>
        body(asVec<number>(text), k, k + (k % 37)),
      );
    });
}

/** Compares what a generator gives on the device and in JavaScript for each seed, in arrays of i32 and of u32. */
function generator(body: (seed: number) => number): () => Promise<void> {
  const seeds = Array.from({ length: N }, (_, k) => Math.imul(k, 0x9e3779b1) ^ (k << 3));
  const inputs = RESULTS.flatMap((result) =>
    [Int32Array, Uint32Array].map((Elements) => [result, Elements.from(seeds)] as const),
  );
  return () =>
    eachType(inputs, ([result, array]) => {
      const wide = cuda.jit((y: Vec<f64>, seed: In<Vec<number>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(seed[k]);
      });
      const words = cuda.jit((y: Vec<i32>, seed: In<Vec<number>>) => {
        const k = cuda.grid(1);
        if (2 * k < y.length) wordsOf(y, k, body(seed[k]));
      });
      const single = cuda.jit((y: Vec<f32>, seed: In<Vec<number>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(seed[k]);
      }, SINGLE);
      const args = [cuda.toDevice(array)];
      return compare(result, { wide, words, single } as never, args, (k) => body(array[k]), array.constructor.name);
    });
}

/** As `generator`, with the number of each thread for a seed. */
function counted(body: (seed: number) => number): () => Promise<void> {
  return () =>
    eachType(RESULTS, (result) => {
      const wide = cuda.jit((y: Vec<f64>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(k);
      });
      const words = cuda.jit((y: Vec<i32>) => {
        const k = cuda.grid(1);
        if (2 * k < y.length) wordsOf(y, k, body(k));
      });
      const single = cuda.jit((y: Vec<f32>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(k);
      }, SINGLE);
      return compare(result, { wide, words, single } as never, [], body);
    });
}

const CRC_TABLE = (() => {
  const table = new Uint32Array(256);
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    table[n] = c;
  }
  return table;
})();

const SIGNED_CRC_TABLE = Int32Array.from(CRC_TABLE);

export const hashes: readonly ConformanceTest[] = chapter('hashes', {
  'CRC-32, bit by bit': hash((data, from, to) => {
    let crc = 0xffffffff;
    for (let i = from; i < to; i++) {
      crc ^= data[i];
      for (let j = 0; j < 8; j++) {
        if (crc & 1) crc = (crc >>> 1) ^ 0xedb88320;
        else crc = crc >>> 1;
      }
    }
    return (crc ^ 0xffffffff) >>> 0;
  }),
  'CRC-32, bit by bit, with a mask': hash((data, from, to) => {
    let crc = -1;
    for (let i = from; i < to; i++) {
      crc = crc ^ data[i];
      for (let j = 7; j >= 0; j--) {
        const mask = -(crc & 1);
        crc = (crc >>> 1) ^ (0xedb88320 & mask);
      }
    }
    return ~crc >>> 0;
  }),
  'CRC-32, by a table': hash((data, from, to) => {
    let crc = 0 ^ -1;
    for (let i = from; i < to; i++) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ data[i]) & 0xff];
    return (crc ^ -1) >>> 0;
  }),
  'CRC-32, by a table of signed numbers': hash((data, from, to) => {
    let C = ~0;
    for (let i = from; i < to; ) C = SIGNED_CRC_TABLE[(C ^ data[i++]) & 0xff] ^ (C >>> 8);
    return ~C;
  }),
  'Adler-32': hash((data, from, to) => {
    let a = 1;
    let b = 0;
    for (let i = from; i < to; i++) {
      a = (a + data[i]) % 65521;
      b = (b + a) % 65521;
    }
    return ((b << 16) | a) >>> 0;
  }),
  'FNV-1a': hash((data, from, to) => {
    let hash = 0x811c9dc5;
    for (let i = from; i < to; i++) {
      hash ^= data[i];
      hash = Math.imul(hash, 0x01000193);
    }
    return hash >>> 0;
  }),
  'FNV-1a by shifts': hash((data, from, to) => {
    let h = 2166136261;
    for (let i = from; i < to; i++) {
      h ^= data[i];
      h += (h << 1) + (h << 4) + (h << 7) + (h << 8) + (h << 24);
    }
    return h >>> 0;
  }),
  'djb2, sdbm and the hash of Java': hash((data, from, to) => {
    let djb = 5381;
    let sdbm = 0;
    let java = 0;
    for (let i = from; i < to; i++) {
      djb = ((djb << 5) + djb + data[i]) & 0xffffffff;
      sdbm = data[i] + (sdbm << 6) + (sdbm << 16) - sdbm;
      java = (java << 5) - java + data[i];
      java |= 0;
    }
    return (djb ^ java ^ sdbm) >>> 0;
  }),
  'one at a time': hash((data, from, to) => {
    let hash = 0;
    for (let i = from; i < to; i++) {
      hash += data[i];
      hash += hash << 10;
      hash ^= hash >>> 6;
    }
    hash += hash << 3;
    hash ^= hash >>> 11;
    hash += hash << 15;
    return hash >>> 0;
  }),
  murmur3: hash((key, from, to) => {
    let remainder: number, bytes: number, h1: number, h1b: number, c1: number, c2: number, k1: number, i: number;
    remainder = (to - from) & 3;
    bytes = to - from - remainder;
    h1 = 0x9747b28c;
    c1 = 0xcc9e2d51;
    c2 = 0x1b873593;
    i = from;
    while (i < from + bytes) {
      k1 = (key[i] & 0xff) | ((key[++i] & 0xff) << 8) | ((key[++i] & 0xff) << 16) | ((key[++i] & 0xff) << 24);
      ++i;
      k1 = ((k1 & 0xffff) * c1 + ((((k1 >>> 16) * c1) & 0xffff) << 16)) & 0xffffffff;
      k1 = (k1 << 15) | (k1 >>> 17);
      k1 = ((k1 & 0xffff) * c2 + ((((k1 >>> 16) * c2) & 0xffff) << 16)) & 0xffffffff;
      h1 ^= k1;
      h1 = (h1 << 13) | (h1 >>> 19);
      h1b = ((h1 & 0xffff) * 5 + ((((h1 >>> 16) * 5) & 0xffff) << 16)) & 0xffffffff;
      h1 = (h1b & 0xffff) + 0x6b64 + ((((h1b >>> 16) + 0xe654) & 0xffff) << 16);
    }
    k1 = 0;
    switch (remainder) {
      case 3:
        k1 ^= (key[i + 2] & 0xff) << 16;
      case 2:
        k1 ^= (key[i + 1] & 0xff) << 8;
      case 1:
        k1 ^= key[i] & 0xff;
        k1 = ((k1 & 0xffff) * c1 + ((((k1 >>> 16) * c1) & 0xffff) << 16)) & 0xffffffff;
        k1 = (k1 << 15) | (k1 >>> 17);
        k1 = ((k1 & 0xffff) * c2 + ((((k1 >>> 16) * c2) & 0xffff) << 16)) & 0xffffffff;
        h1 ^= k1;
    }
    h1 ^= to - from;
    h1 ^= h1 >>> 16;
    h1 = ((h1 & 0xffff) * 0x85ebca6b + ((((h1 >>> 16) * 0x85ebca6b) & 0xffff) << 16)) & 0xffffffff;
    h1 ^= h1 >>> 13;
    h1 = ((h1 & 0xffff) * 0xc2b2ae35 + ((((h1 >>> 16) * 0xc2b2ae35) & 0xffff) << 16)) & 0xffffffff;
    h1 ^= h1 >>> 16;
    return h1 >>> 0;
  }),
  'murmur3 with Math.imul': hash((key, from, to) => {
    let h = 0xdeadbeef;
    let k = 0;
    let i = from;
    for (; i + 4 <= to; i += 4) {
      k = key[i] | (key[i + 1] << 8) | (key[i + 2] << 16) | (key[i + 3] << 24);
      k = Math.imul(k, 3432918353);
      k = (k << 15) | (k >>> 17);
      h ^= Math.imul(k, 461845907);
      h = (h << 13) | (h >>> 19);
      h = (Math.imul(h, 5) + 3864292196) | 0;
    }
    k = 0;
    for (let at = 0; i < to; i++, at += 8) k ^= key[i] << at;
    h ^= Math.imul(((k = Math.imul(k, 3432918353)) << 15) | (k >>> 17), 461845907);
    h ^= to - from;
    h ^= h >>> 16;
    h = Math.imul(h, 2246822507);
    h ^= h >>> 13;
    h = Math.imul(h, 3266489909);
    h ^= h >>> 16;
    return h >>> 0;
  }),
  xxHash32: hash((input, from, to) => {
    const P1 = 2654435761;
    const P2 = 2246822519;
    const P3 = 3266489917;
    const P4 = 668265263;
    const P5 = 374761393;
    const rotl = (x: number, r: number) => (x << r) | (x >>> (32 - r));
    const word = (at: number) => input[at] | (input[at + 1] << 8) | (input[at + 2] << 16) | (input[at + 3] << 24);
    const round = (acc: number, lane: number) => Math.imul(rotl((acc + Math.imul(lane, P2)) | 0, 13), P1);
    const seed = 0x9e3779b1;
    const len = to - from;
    let p = from;
    let h32 = 0;
    if (len >= 16) {
      let v1 = seed + P1 + P2;
      let v2 = seed + P2;
      let v3 = seed;
      let v4 = seed - P1;
      while (p <= to - 16) {
        v1 = round(v1, word(p));
        v2 = round(v2, word(p + 4));
        v3 = round(v3, word(p + 8));
        v4 = round(v4, word(p + 12));
        p += 16;
      }
      h32 = rotl(v1, 1) + rotl(v2, 7) + rotl(v3, 12) + rotl(v4, 18);
    } else h32 = seed + P5;
    h32 = (h32 + len) | 0;
    while (p <= to - 4) {
      h32 = h32 + Math.imul(word(p), P3);
      h32 = Math.imul(rotl(h32, 17), P4);
      p += 4;
    }
    while (p < to) {
      h32 = h32 + Math.imul(input[p++], P5);
      h32 = Math.imul(rotl(h32, 11), P1);
    }
    h32 ^= h32 >>> 15;
    h32 = Math.imul(h32, P2);
    h32 ^= h32 >>> 13;
    h32 = Math.imul(h32, P3);
    h32 ^= h32 >>> 16;
    return h32 >>> 0;
  }),
  cyrb53: hash((data, from, to) => {
    let h1 = 0xdeadbeef ^ 7;
    let h2 = 0x41c6ce57 ^ 7;
    for (let i = from, ch: number; i < to; i++) {
      ch = data[i];
      h1 = Math.imul(h1 ^ ch, 2654435761);
      h2 = Math.imul(h2 ^ ch, 1597334677);
    }
    h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507);
    h1 ^= Math.imul(h2 ^ (h2 >>> 13), 3266489909);
    h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507);
    h2 ^= Math.imul(h1 ^ (h1 >>> 13), 3266489909);
    return 4294967296 * (2097151 & h2) + (h1 >>> 0);
  }),
  mulberry32: generator((seed) => {
    const mulberry32 = (a: number) => () => {
      let t = (a += 0x6d2b79f5);
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    const random = mulberry32(seed);
    return random() + 2 * random() + 4 * random();
  }),
  splitmix32: generator((seed) => {
    const splitmix32 = (a: number) => () => {
      a |= 0;
      a = (a + 0x9e3779b9) | 0;
      let t = a ^ (a >>> 16);
      t = Math.imul(t, 0x21f0aaad);
      t = t ^ (t >>> 15);
      t = Math.imul(t, 0x735a2d97);
      return ((t = t ^ (t >>> 15)) >>> 0) / 4294967296;
    };
    const random = splitmix32(seed);
    return random() + 2 * random() + 4 * random();
  }),
  sfc32: generator((seed) => {
    let a = 0x9e3779b9;
    let b = 0x243f6a88;
    let c = 0xb7e15162;
    let d = seed ^ 0xdeadbeef;
    let t = 0;
    for (let i = 0; i < 15; i++) {
      a |= 0;
      b |= 0;
      c |= 0;
      d |= 0;
      t = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (c << 21) | (c >>> 11);
      c = (c + t) | 0;
    }
    return (t >>> 0) / 4294967296;
  }),
  jsf32: generator((seed) => {
    const jsf32 = (a: number, b: number, c: number, d: number) => () => {
      a |= 0;
      b |= 0;
      c |= 0;
      d |= 0;
      const t = (a - ((b << 27) | (b >>> 5))) | 0;
      a = b ^ ((c << 17) | (c >>> 15));
      b = (c + d) | 0;
      c = (d + t) | 0;
      d = (a + t) | 0;
      return (d >>> 0) / 4294967296;
    };
    const random = jsf32(0xf1ea5eed, seed, seed, seed);
    let last = 0;
    for (let i = 0; i < 20; i++) last = random();
    return last;
  }),
  'PCG, seeded by the thread': counted((seed) => {
    let state = seed * 747796405 + 2891336453;
    const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737);
    state = (word >>> 22) ^ word;
    return state >>> 0;
  }),
  'PCG with Math.imul': generator((seed) => {
    let state = seed;
    let last = 0;
    for (let i = 0; i < 3; i++) {
      state = (Math.imul(state, 747796405) + 2891336453) >>> 0;
      const word = Math.imul(((state >>> ((state >>> 28) + 4)) ^ state) >>> 0, 277803737);
      last = ((word >>> 22) ^ word) >>> 0;
    }
    return last / 2 ** 32;
  }),
  xorshift32: generator((seed) => {
    let x = seed | 1;
    for (let i = 0; i < 3; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
    }
    return (x >>> 0) / 4294967296;
  }),
  'a linear congruential generator': generator((seed) => {
    let s = seed;
    for (let i = 0; i < 3; i++) s = (Math.imul(1664525, s) + 1013904223) | 0;
    return (s >>> 0) / 0x100000000;
  }),
  'a linear congruential generator with a remainder': generator((seed) => {
    seed >>>= 0;
    seed = (1664525 * seed + 1013904223) % 4294967296;
    seed = (1664525 * seed + 1013904223) % 4294967296;
    return seed / 4294967296;
  }),
  'seeds that are arguments, of either sign': async () => {
    const body = (seed: number, k: number): number => {
      let t = (seed + Math.imul(k, 0x6d2b79f5)) | 0;
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    const kernel = (options: object) =>
      cuda.jit((y: Vec<f64>, seed: number) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = body(seed, k);
      }, options);
    await eachType(['float64', 'float32'] as const, async (type) => {
      for (const seed of [7, 0xdeadbeef, -7, 2 ** 32 - 1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31)]) {
        const y = cuda.deviceArray(N, type as 'float64');
        await launch(kernel(type === 'float32' ? SINGLE : {}), { threads: N, block: 50 }, y, seed);
        const expected = Float64Array.from({ length: N }, (_, k) => body(seed, k));
        closeElements(await read(y), expected, type === 'float64' ? 0 : 1e-7, `seed ${seed}, thread`);
      }
    });
  },
  'counts of bits go with either sign': () =>
    eachType([Float64Array, Int32Array], async (Elements) => {
      const kernel = cuda.jit((y: Vec<f64>, i: In<Vec<i32>>, u: In<Vec<u32>>) => {
        const k = cuda.grid(1);
        if (k >= i.length) return;
        y[k] = cuda.popc(i[k]) < u[k] % 33 ? cuda.popc(u[k]) - 40 : i[k] - cuda.clz(u[k]);
      });
      const [i, u] = [Int32Array.from(text, (v) => v * -77), Uint32Array.from(text, (v) => v * 16843009)];
      const bits = (v: number): number => (v >>> 0).toString(2).replaceAll('0', '').length;
      const y = cuda.toDevice(new Elements(i.length) as Float64Array);
      await launch(kernel, { threads: i.length, block: 50 }, y, cuda.toDevice(i), cuda.toDevice(u));
      sameElements(
        await read(y),
        Array.from(i, (v, k) => (bits(v) < u[k] % 33 ? bits(u[k]) - 40 : v - Math.clz32(u[k]))),
        Elements.name,
      );
    }),
  'an i32 is a u32 where JavaScript says so': () =>
    eachType([Float64Array, Int32Array], async (Elements) => {
      const kernel = cuda.jit((y: Vec<f64>, i: In<Vec<i32>>, u: In<Vec<u32>>) => {
        const k = cuda.grid(1);
        if (k < y.length) y[k] = (i[k] === u[k] ? 1 : 0) + (u[k] !== i[k] ? 2 : 0) + ((i[k] ^ u[k]) === -1 ? 4 : 0);
      });
      const i = Int32Array.of(1, -1, 5, -5, 0, -(2 ** 31), 7);
      const u = Uint32Array.of(1, 2 ** 32 - 1, 6, 4, 0, 2 ** 31, 2 ** 32 - 8);
      const y = cuda.toDevice(new Elements(i.length) as Float64Array);
      await launch(kernel, { threads: i.length, block: 3 }, y, cuda.toDevice(i), cuda.toDevice(u));
      sameElements(
        await read(y),
        Array.from(i, (v, k) => (v === u[k] ? 1 : 2) + ((v ^ u[k]) === -1 ? 4 : 0)),
        Elements.name,
      );
    }),
  'the hash of Wang': generator((seed) => {
    seed = seed ^ 61 ^ (seed >>> 16);
    seed += seed << 3;
    seed ^= seed >>> 4;
    seed = Math.imul(seed, 0x27d4eb2d);
    seed ^= seed >>> 15;
    return seed >>> 0;
  }),
  'the hash of Knuth': generator((seed) => Math.imul(seed, 2654435761) >>> 0),
  'the hash of Knuth by a product': counted((k) => (k * 2654435761) >>> 0),
  'a hash of two coordinates': counted((k) => {
    const [x, y] = [k % 16, (k / 16) | 0];
    let h = x * 374761393 + y * 668265263;
    h = Math.imul(h ^ (h >> 13), 1274126177);
    return ((h ^ (h >> 16)) & 0x7fffffff) / 0x7fffffff;
  }),
});
