/**
 * Chapter: digests, ciphers and hashes of 64 bits as they stand on the web, unchanged: kernels call what JavaScript calls.
 */
import { cuda, type In, i32, u32, type u64, type Vec } from '../src/index.ts';
import { same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { asVec } from './support.ts';
import { launch, read } from './waiting.ts';

type Words = { [index: number]: number; readonly length: number };

type Digest = (out: Words, to: number, data: Words, from: number) => void;

const N = 67;

/** Blocks of 16 words each. */
const blocks = Uint32Array.from({ length: 16 * N }, (_, k) => Math.imul(k + 1, 0x9e3779b1) ^ (k << 7));

/** Hands each thread 16 words and some to write, in i32 and in u32, and compares with JavaScript. */
function digest(words: number, body: Digest, onHost: Digest = body): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((y: Vec<number>, x: In<Vec<number>>) => {
      const k = cuda.grid(1);
      if (k < N) body(y, words * k, x, 16 * k);
    });
    for (const Words of [Uint32Array, Int32Array]) {
      const x = Words.from(blocks);
      const expected = new Words(words * N);
      for (let k = 0; k < N; k++) onHost(asVec<number>(expected), words * k, asVec<number>(x), 16 * k);
      const y = cuda.deviceArray(words * N, Words === Uint32Array ? 'uint32' : 'int32');
      await launch(kernel, { threads: N, block: 32 }, y, cuda.toDevice(x));
      sameElements(await read(y), expected, Words.name);
    }
  };
}

// ---------------------------------------------------------------- MD5

function safeAdd(x: number, y: number): number {
  const lsw = (x & 0xffff) + (y & 0xffff);
  const msw = (x >> 16) + (y >> 16) + (lsw >> 16);
  return (msw << 16) | (lsw & 0xffff);
}

function bitRotateLeft(num: number, cnt: number): number {
  return (num << cnt) | (num >>> (32 - cnt));
}

function md5cmn(q: number, a: number, b: number, x: number, s: number, t: number): number {
  return safeAdd(bitRotateLeft(safeAdd(safeAdd(a, q), safeAdd(x, t)), s), b);
}
const md5ff = (a: number, b: number, c: number, d: number, x: number, s: number, t: number): number =>
  md5cmn((b & c) | (~b & d), a, b, x, s, t);
const md5gg = (a: number, b: number, c: number, d: number, x: number, s: number, t: number): number =>
  md5cmn((b & d) | (c & ~d), a, b, x, s, t);
const md5hh = (a: number, b: number, c: number, d: number, x: number, s: number, t: number): number =>
  md5cmn(b ^ c ^ d, a, b, x, s, t);
const md5ii = (a: number, b: number, c: number, d: number, x: number, s: number, t: number): number =>
  md5cmn(c ^ (b | ~d), a, b, x, s, t);

const MD5_SINES = Int32Array.from({ length: 64 }, (_, k) => Math.floor(Math.abs(Math.sin(k + 1)) * 2 ** 32) | 0);
const MD5_SHIFTS = Uint8Array.of(7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21);

function md5(out: Words, to: number, x: Words, i: number): void {
  let a = 1732584193;
  let b = -271733879;
  let c = -1732584194;
  let d = 271733878;
  const [olda, oldb, oldc, oldd] = [a, b, c, d];
  a = md5ff(a, b, c, d, x[i], 7, -680876936);
  d = md5ff(d, a, b, c, x[i + 1], 12, -389564586);
  c = md5ff(c, d, a, b, x[i + 2], 17, 606105819);
  b = md5ff(b, c, d, a, x[i + 3], 22, -1044525330);
  for (let k = 4; k < 64; k++) {
    const s = MD5_SHIFTS[(k >> 4) * 4 + (k & 3)];
    const t = MD5_SINES[k];
    let f = 0;
    if (k < 16) f = md5ff(a, b, c, d, x[i + k], s, t);
    else if (k < 32) f = md5gg(a, b, c, d, x[i + ((5 * k + 1) & 15)], s, t);
    else if (k < 48) f = md5hh(a, b, c, d, x[i + ((3 * k + 5) & 15)], s, t);
    else f = md5ii(a, b, c, d, x[i + ((7 * k) & 15)], s, t);
    [a, d, c, b] = [d, c, b, f];
  }
  out[to] = safeAdd(a, olda);
  out[to + 1] = safeAdd(b, oldb);
  out[to + 2] = safeAdd(c, oldc);
  out[to + 3] = safeAdd(d, oldd);
}

// ---------------------------------------------------------------- SHA-256

const K = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
];

function sha256(out: Words, to: number, data: Words, from: number, w: Words): void {
  let h0 = 0x6a09e667;
  let h1 = 0xbb67ae85;
  let h2 = 0x3c6ef372;
  let h3 = 0xa54ff53a;
  let h4 = 0x510e527f;
  let h5 = 0x9b05688c;
  let h6 = 0x1f83d9ab;
  let h7 = 0x5be0cd19;
  for (let i = 0; i < 16; i++) w[i] = data[from + i];
  for (let i = 16; i < 64; i++) {
    const s0 = ((w[i - 15] >>> 7) | (w[i - 15] << 25)) ^ ((w[i - 15] >>> 18) | (w[i - 15] << 14)) ^ (w[i - 15] >>> 3);
    const s1 = ((w[i - 2] >>> 17) | (w[i - 2] << 15)) ^ ((w[i - 2] >>> 19) | (w[i - 2] << 13)) ^ (w[i - 2] >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let a = h0;
  let b = h1;
  let c = h2;
  let d = h3;
  let e = h4;
  let f = h5;
  let g = h6;
  let h = h7;
  for (let i = 0; i < 64; i++) {
    const S1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const ch = (e & f) ^ (~e & g);
    const temp1 = (h + S1 + ch + K[i] + w[i]) | 0;
    const S0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const maj = (a & b) ^ (a & c) ^ (b & c);
    const temp2 = (S0 + maj) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + temp1) | 0;
    d = c;
    c = b;
    b = a;
    a = (temp1 + temp2) | 0;
  }
  h0 = (h0 + a) | 0;
  h1 = (h1 + b) | 0;
  h2 = (h2 + c) | 0;
  h3 = (h3 + d) | 0;
  h4 = (h4 + e) | 0;
  h5 = (h5 + f) | 0;
  h6 = (h6 + g) | 0;
  h7 = (h7 + h) | 0;
  out[to] = h0;
  out[to + 1] = h1;
  out[to + 2] = h2;
  out[to + 3] = h3;
  out[to + 4] = h4;
  out[to + 5] = h5;
  out[to + 6] = h6;
  out[to + 7] = h7;
}

// ---------------------------------------------------------------- AES

/** The S-box and the first table of encryption, computed as CryptoJS does. */
const [SBOX, SUB_MIX] = (() => {
  const d: number[] = Array.from({ length: 256 }, (_, i) => (i < 128 ? i << 1 : (i << 1) ^ 0x11b));
  const [sbox, mix] = [new Uint8Array(256), new Int32Array(256)];
  let x = 0;
  let xi = 0;
  for (let i = 0; i < 256; i++) {
    let sx = xi ^ (xi << 1) ^ (xi << 2) ^ (xi << 3) ^ (xi << 4);
    sx = (sx >>> 8) ^ (sx & 0xff) ^ 0x63;
    sbox[x] = sx;
    const x2 = d[x] ?? 0;
    const x4 = d[x2] ?? 0;
    const x8 = d[x4] ?? 0;
    mix[x] = ((d[sx] ?? 0) * 0x101) ^ (sx * 0x1010100);
    if (!x) x = xi = 1;
    else {
      x = x2 ^ (d[d[d[x8 ^ x2] ?? 0] ?? 0] ?? 0);
      xi ^= d[d[xi] ?? 0] ?? 0;
    }
  }
  return [sbox, mix] as const;
})();

const RCON = Uint8Array.of(0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36);

/** AES-128: the second four words are the key, the first four the text. */
function aes(out: Words, to: number, data: Words, from: number, keys: Words): void {
  for (let row = 0; row < 44; row++) {
    if (row < 4) keys[row] = data[from + 4 + row];
    else {
      let t = keys[row - 1];
      if (row % 4 === 0) {
        t = (t << 8) | (t >>> 24);
        t = (SBOX[t >>> 24] << 24) | (SBOX[(t >>> 16) & 0xff] << 16) | (SBOX[(t >>> 8) & 0xff] << 8) | SBOX[t & 0xff];
        t ^= RCON[(row / 4) | 0] << 24;
      }
      keys[row] = keys[row - 4] ^ t;
    }
  }
  const mixed = (byte: number, by: number): number => (SUB_MIX[byte] << (32 - by)) | (SUB_MIX[byte] >>> by);
  let s0 = data[from] ^ keys[0];
  let s1 = data[from + 1] ^ keys[1];
  let s2 = data[from + 2] ^ keys[2];
  let s3 = data[from + 3] ^ keys[3];
  let row = 4;
  for (let round = 1; round < 10; round++) {
    const t0 =
      mixed(s0 >>> 24, 8) ^
      mixed((s1 >>> 16) & 0xff, 16) ^
      mixed((s2 >>> 8) & 0xff, 24) ^
      SUB_MIX[s3 & 0xff] ^
      keys[row++];
    const t1 =
      mixed(s1 >>> 24, 8) ^
      mixed((s2 >>> 16) & 0xff, 16) ^
      mixed((s3 >>> 8) & 0xff, 24) ^
      SUB_MIX[s0 & 0xff] ^
      keys[row++];
    const t2 =
      mixed(s2 >>> 24, 8) ^
      mixed((s3 >>> 16) & 0xff, 16) ^
      mixed((s0 >>> 8) & 0xff, 24) ^
      SUB_MIX[s1 & 0xff] ^
      keys[row++];
    const t3 =
      mixed(s3 >>> 24, 8) ^
      mixed((s0 >>> 16) & 0xff, 16) ^
      mixed((s1 >>> 8) & 0xff, 24) ^
      SUB_MIX[s2 & 0xff] ^
      keys[row++];
    s0 = t0;
    s1 = t1;
    s2 = t2;
    s3 = t3;
  }
  const last = (a: number, b: number, c: number, d: number, key: number): number =>
    ((SBOX[a >>> 24] << 24) | (SBOX[(b >>> 16) & 0xff] << 16) | (SBOX[(c >>> 8) & 0xff] << 8) | SBOX[d & 0xff]) ^ key;
  out[to] = last(s0, s1, s2, s3, keys[row]);
  out[to + 1] = last(s1, s2, s3, s0, keys[row + 1]);
  out[to + 2] = last(s2, s3, s0, s1, keys[row + 2]);
  out[to + 3] = last(s3, s0, s1, s2, keys[row + 3]);
}

// ---------------------------------------------------------------- 64 bits

const P1 = 11400714785074694791n;
const P2 = 14029467366897019727n;
const P3 = 1609587929392839161n;
const P4 = 9650029242287828579n;
const P5 = 2870177450012600261n;
const MASK = 0xffffffffffffffffn;

const u64of = (x: bigint): bigint => BigInt.asUintN(64, x);
const rotl64 = (x: bigint, r: bigint): bigint => u64of(x << r) | (x >> (64n - r));
const round64 = (acc: bigint, input: bigint): bigint => u64of(rotl64(u64of(acc + u64of(input * P2)), 31n) * P1);
const merge64 = (acc: bigint, v: bigint): bigint => u64of((acc ^ round64(0n, v)) * P1 + P4);

type Bytes = { readonly [index: number]: number; readonly length: number };

const word64 = (data: Bytes, at: number): bigint => {
  let value = 0n;
  for (let i = 7; i >= 0; i--) value = (value << 8n) | BigInt(data[at + i]);
  return value;
};

/** xxHash64 of the bytes between two places. */
function xxHash64(data: Bytes, from: number, to: number, seed: bigint): bigint {
  let p = from;
  let h = 0n;
  if (to - from >= 32) {
    let v1 = u64of(seed + P1 + P2);
    let v2 = u64of(seed + P2);
    let v3 = seed;
    let v4 = u64of(seed - P1);
    for (; p + 32 <= to; p += 32) {
      v1 = round64(v1, word64(data, p));
      v2 = round64(v2, word64(data, p + 8));
      v3 = round64(v3, word64(data, p + 16));
      v4 = round64(v4, word64(data, p + 24));
    }
    h = u64of(rotl64(v1, 1n) + rotl64(v2, 7n) + rotl64(v3, 12n) + rotl64(v4, 18n));
    h = merge64(h, v1);
    h = merge64(h, v2);
    h = merge64(h, v3);
    h = merge64(h, v4);
  } else h = u64of(seed + P5);
  h = u64of(h + BigInt(to - from));
  for (; p + 8 <= to; p += 8) h = u64of(rotl64(h ^ round64(0n, word64(data, p)), 27n) * P1 + P4);
  for (; p < to; p++) h = u64of(rotl64(h ^ u64of(BigInt(data[p]) * P5), 11n) * P1);
  h = u64of((h ^ (h >> 33n)) * P2);
  h = u64of((h ^ (h >> 29n)) * P3);
  return h ^ (h >> 32n);
}

function fnv64(data: Bytes, from: number, to: number): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let i = from; i < to; i++) {
    hash ^= BigInt(data[i]);
    hash = (hash * 0x100000001b3n) & MASK;
  }
  return hash;
}

function splitmix64(seed: bigint): bigint {
  let z = BigInt.asUintN(64, seed + 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

const bytes = Uint8Array.from({ length: N + 80 }, (_, k) => (k * 167 + (k >> 3) * 13) & 255);

function hash64(body: (data: Bytes, from: number, to: number) => bigint): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((y: Vec<u64>, data: In<Vec<number>>) => {
      const k = cuda.grid(1);
      if (k < N) y[k] = body(data, k, k + k) as u64;
    });
    const y = cuda.deviceArray(N, 'uint64');
    await launch(kernel, { threads: N, block: 32 }, y, cuda.toDevice(bytes));
    const got = await read(y);
    for (let k = 0; k < N; k++) same(got[k], body(asVec<number>(bytes), k, k + k), `hash ${k}`);
  };
}

export const ciphers: readonly ConformanceTest[] = chapter('ciphers', {
  MD5: digest(4, md5),
  'SHA-256': digest(
    8,
    (out, to, data, from) => sha256(out, to, data, from, cuda.local.array(64, i32)),
    (out, to, data, from) => sha256(out, to, data, from, asVec<number>(new Int32Array(64))),
  ),
  'SHA-256 with words of u32': digest(
    8,
    (out, to, data, from) => sha256(out, to, data, from, cuda.local.array(64, u32)),
    (out, to, data, from) => sha256(out, to, data, from, asVec<number>(new Uint32Array(64))),
  ),
  'AES-128': digest(
    4,
    (out, to, data, from) => aes(out, to, data, from, cuda.local.array(44, u32)),
    (out, to, data, from) => aes(out, to, data, from, asVec<number>(new Uint32Array(44))),
  ),
  xxHash64: hash64((data, from, to) => xxHash64(data, from, to, 0n)),
  'FNV-1a of 64 bits': hash64(fnv64),
  splitmix64: hash64((_, from) => splitmix64(BigInt(from))),
});
