/**
 * Counter-based generators in kernels: random words as a function of a key and a counter, with no state. Random123's, bit for bit.
 *
 * These are functions of the kernel language. Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { u32, u64 } from '../dtype/index.ts';

/** Two words. */
export type Two<T> = readonly [T, T];
/** Four words. */
export type Four<T> = readonly [T, T, T, T];

const TOKENS: { readonly u32: typeof u32; readonly u64: typeof u64 } = { u32, u64 };

/** Philox4x32-10: four u32 of a key of two and a counter of four. */
export type Philox32 = (key: Two<number>, counter: Four<number>) => [number, number, number, number];
/** Philox4x64-10. */
export type Philox64 = (key: Two<bigint>, counter: Four<bigint>) => [bigint, bigint, bigint, bigint];
/** Threefry2x32-20. */
export type Threefry2x32 = (key: Two<number>, counter: Two<number>) => [number, number];
/** Threefry4x32-20. */
export type Threefry4x32 = (key: Four<number>, counter: Four<number>) => [number, number, number, number];
/** Threefry2x64-20. */
export type Threefry2x64 = (key: Two<bigint>, counter: Two<bigint>) => [bigint, bigint];
/** Threefry4x64-20. */
export type Threefry4x64 = (key: Four<bigint>, counter: Four<bigint>) => [bigint, bigint, bigint, bigint];

export const philox4x32: Philox32 = /* @__PURE__ */ deviceFunction(
  ({ u32, u64 }) =>
    ([k0, k1]: Two<number>, [c0, c1, c2, c3]: Four<number>) => {
      let [a, b] = [u32(k0), u32(k1)];
      let [x0, x1, x2, x3] = [u32(c0), u32(c1), u32(c2), u32(c3)];
      for (let round = 0; round < 10; round++) {
        const p = u64(x0) * u64(0xd2511f53);
        const q = u64(x2) * u64(0xcd9e8d57);
        x0 = u32(q >> 32n) ^ x1 ^ a;
        x1 = u32(q);
        x2 = u32(p >> 32n) ^ x3 ^ b;
        x3 = u32(p);
        a = (a + u32(0x9e3779b9)) >>> 0;
        b = (b + u32(0xbb67ae85)) >>> 0;
      }
      return [x0, x1, x2, x3] as [number, number, number, number];
    },
  TOKENS,
);

/** The upper 64 bits of a product. */
export const mulHigh: (a: bigint, b: bigint) => bigint = /* @__PURE__ */ deviceFunction(
  ({ u64 }) =>
    (a: bigint, b: bigint) => {
      const low = u64(0xffffffff);
      const [aLow, aHigh, bLow, bHigh] = [a & low, a >> 32n, b & low, b >> 32n];
      const middle = aHigh * bLow + ((aLow * bLow) >> 32n);
      return aHigh * bHigh + (middle >> 32n) + ((aLow * bHigh + (middle & low)) >> 32n);
    },
  TOKENS,
);

export const philox4x64: Philox64 = /* @__PURE__ */ deviceFunction(
  ({ u64, mulHigh }) =>
    ([k0, k1]: Two<bigint>, [c0, c1, c2, c3]: Four<bigint>) => {
      let [a, b] = [u64(k0), u64(k1)];
      let [x0, x1, x2, x3] = [u64(c0), u64(c1), u64(c2), u64(c3)];
      const [m0, m1] = [u64(0xd2e7470ee14c6c93n), u64(0xca5a826395121157n)];
      for (let round = 0; round < 10; round++) {
        const [pHigh, pLow, qHigh, qLow] = [mulHigh(m0, x0), m0 * x0, mulHigh(m1, x2), m1 * x2];
        x0 = qHigh ^ x1 ^ a;
        x1 = qLow;
        x2 = pHigh ^ x3 ^ b;
        x3 = pLow;
        a += u64(0x9e3779b97f4a7c15n);
        b += u64(0xbb67ae8584caa73bn);
      }
      return [x0, x1, x2, x3] as [bigint, bigint, bigint, bigint];
    },
  { ...TOKENS, mulHigh },
);

/** Five rounds of four, after each of which the next part of the key is added. */
export const threefry2x32: Threefry2x32 = /* @__PURE__ */ deviceFunction(
  ({ u32 }) =>
    ([k0, k1]: Two<number>, [c0, c1]: Two<number>) => {
      let [a, b, c] = [u32(k0), u32(k1), u32(0x1bd11bda) ^ u32(k0) ^ u32(k1)];
      let x0 = (u32(c0) + a) >>> 0;
      let x1 = (u32(c1) + b) >>> 0;
      for (let group = 0; group < 5; group++) {
        for (let round = 0; round < 4; round++) {
          const even = round === 0 ? 13 : round === 1 ? 15 : round === 2 ? 26 : 6;
          const odd = round === 0 ? 17 : round === 1 ? 29 : round === 2 ? 16 : 24;
          const by = group % 2 === 0 ? even : odd;
          x0 = (x0 + x1) >>> 0;
          x1 = ((x1 << by) | (x1 >>> (32 - by))) ^ x0;
        }
        [a, b, c] = [b, c, a];
        x0 = (x0 + a) >>> 0;
        x1 = (x1 + b + u32(group + 1)) >>> 0;
      }
      return [x0, x1] as [number, number];
    },
  TOKENS,
);

export const threefry2x64: Threefry2x64 = /* @__PURE__ */ deviceFunction(
  ({ u64 }) =>
    ([k0, k1]: Two<bigint>, [c0, c1]: Two<bigint>) => {
      let [a, b, c] = [u64(k0), u64(k1), u64(0x1bd11bdaa9fc1a22n) ^ u64(k0) ^ u64(k1)];
      let [x0, x1] = [u64(c0) + a, u64(c1) + b];
      for (let group = 0; group < 5; group++) {
        for (let round = 0; round < 4; round++) {
          const even = round === 0 ? 16 : round === 1 ? 42 : round === 2 ? 12 : 31;
          const odd = round === 0 ? 16 : round === 1 ? 32 : round === 2 ? 24 : 21;
          const by = group % 2 === 0 ? even : odd;
          x0 += x1;
          x1 = ((x1 << u64(by)) | (x1 >> u64(64 - by))) ^ x0;
        }
        [a, b, c] = [b, c, a];
        x0 += a;
        x1 += b + u64(group + 1);
      }
      return [x0, x1] as [bigint, bigint];
    },
  TOKENS,
);

export const threefry4x32: Threefry4x32 = /* @__PURE__ */ deviceFunction(
  ({ u32 }) =>
    ([k0, k1, k2, k3]: Four<number>, [c0, c1, c2, c3]: Four<number>) => {
      let [a, b, c, d] = [u32(k0), u32(k1), u32(k2), u32(k3)];
      let e = u32(0x1bd11bda) ^ a ^ b ^ c ^ d;
      let x0 = (u32(c0) + a) >>> 0;
      let x1 = (u32(c1) + b) >>> 0;
      let x2 = (u32(c2) + c) >>> 0;
      let x3 = (u32(c3) + d) >>> 0;
      for (let group = 0; group < 5; group++) {
        for (let round = 0; round < 4; round++) {
          const even = group % 2 === 0;
          const p0 = round === 0 ? 10 : round === 1 ? 11 : round === 2 ? 13 : 23;
          const q0 = round === 0 ? 26 : round === 1 ? 21 : round === 2 ? 27 : 5;
          const p1 = round === 0 ? 6 : round === 1 ? 17 : round === 2 ? 25 : 18;
          const q1 = round === 0 ? 20 : round === 1 ? 11 : round === 2 ? 10 : 20;
          const [p, q] = [even ? p0 : p1, even ? q0 : q1];
          x0 = (x0 + x1) >>> 0;
          x1 = ((x1 << p) | (x1 >>> (32 - p))) ^ x0;
          x2 = (x2 + x3) >>> 0;
          x3 = ((x3 << q) | (x3 >>> (32 - q))) ^ x2;
          // In the next round the two change places.
          [x1, x3] = [x3, x1];
        }
        [a, b, c, d, e] = [b, c, d, e, a];
        x0 = (x0 + a) >>> 0;
        x1 = (x1 + b) >>> 0;
        x2 = (x2 + c) >>> 0;
        x3 = (x3 + d + u32(group + 1)) >>> 0;
      }
      return [x0, x1, x2, x3] as [number, number, number, number];
    },
  TOKENS,
);

export const threefry4x64: Threefry4x64 = /* @__PURE__ */ deviceFunction(
  ({ u64 }) =>
    ([k0, k1, k2, k3]: Four<bigint>, [c0, c1, c2, c3]: Four<bigint>) => {
      let [a, b, c, d] = [u64(k0), u64(k1), u64(k2), u64(k3)];
      let e = u64(0x1bd11bdaa9fc1a22n) ^ a ^ b ^ c ^ d;
      let [x0, x1, x2, x3] = [u64(c0) + a, u64(c1) + b, u64(c2) + c, u64(c3) + d];
      for (let group = 0; group < 5; group++) {
        for (let round = 0; round < 4; round++) {
          const even = group % 2 === 0;
          const p0 = round === 0 ? 14 : round === 1 ? 52 : round === 2 ? 23 : 5;
          const q0 = round === 0 ? 16 : round === 1 ? 57 : round === 2 ? 40 : 37;
          const p1 = round === 0 ? 25 : round === 1 ? 46 : round === 2 ? 58 : 32;
          const q1 = round === 0 ? 33 : round === 1 ? 12 : round === 2 ? 22 : 32;
          const [p, q] = [even ? p0 : p1, even ? q0 : q1];
          x0 += x1;
          x1 = ((x1 << u64(p)) | (x1 >> u64(64 - p))) ^ x0;
          x2 += x3;
          x3 = ((x3 << u64(q)) | (x3 >> u64(64 - q))) ^ x2;
          [x1, x3] = [x3, x1];
        }
        [a, b, c, d, e] = [b, c, d, e, a];
        x0 += a;
        x1 += b;
        x2 += c;
        x3 += d + u64(group + 1);
      }
      return [x0, x1, x2, x3] as [bigint, bigint, bigint, bigint];
    },
  TOKENS,
);
