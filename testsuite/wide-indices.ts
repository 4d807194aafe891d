/**
 * Chapter: indices of 64 bits that meet data of fewer, on an array of more than 2³² elements which is one byte of memory: its stride is 0.
 */
import { cuda, type In, type i32, u8, type u32, type Vec } from '../src/index.ts';
import { same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read } from './waiting.ts';

const LENGTH = 2 ** 32 + 12_345;

/** Of a length, an i32, a u32 and a u8. */
type Form = (n: number, i: number, u: number, b: number) => number;

/** What is beyond 32 bits is brought back by what follows, so that every device can store it. */
const FORMS: readonly Form[] = [
  (n, i) => Math.floor((n + i) / 4096),
  (n, i) => Math.min(n, i),
  (n, i) => Math.floor(Math.max(i, n) / 4096),
  (n, _, u) => (n - u) % 1009,
  (n, _, u) => Math.floor((n - 1 - (n - u)) / 4096),
  (n, i) => (n > i ? 1 : 2) + (n + i === i ? 4 : 0),
  (n, _, u) => (u - n < 0 ? 1 : 2),
  (n, i) => (n + i) | 0,
  (n, i, u) => (((u + i) | 0) + n) & 0x7fffffff,
  (n, _, u) => ((n + u) >>> 0) % 65_521,
  (n, _, __, b) => (n * b) % 65_521,
  (n, i) => (i < 0 ? n : i) % 65_521,
  (n, i) => Math.imul(n + i, 5),
  (n, i) => (n + i) >> 3,
];
const [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] = FORMS as Form[] & Record<number, Form>;

export const wideIndices: readonly ConformanceTest[] = chapter('wide indices', {
  'keep 64 bits when they meet data, and are cut where JavaScript cuts': async () => {
    const forms = [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13] as const;
    const kernel = cuda.jit((out: Vec<i32>, x: In<Vec<u8>>, i: In<Vec<i32>>, u: In<Vec<u32>>, b: In<Vec<u8>>) => {
      const k = cuda.threadIdx.x;
      for (let f = 0; f < forms.length; f++) out[k * forms.length + f] = forms[f](x.length, i[k], u[k], b[k]);
    });
    const [i, u, b] = [
      Int32Array.of(-7, 2 ** 31 - 1, -(2 ** 31), 12),
      Uint32Array.of(5, 2 ** 32 - 1, 2 ** 31, 0),
      Uint8Array.of(255, 1, 0, 100),
    ];
    const x = cuda.deviceArray(LENGTH, u8, { strides: [0] });
    const out = zeros(i.length * FORMS.length, 'int32');
    await launch(kernel, { grid: 1, block: i.length }, out, x, cuda.toDevice(i), cuda.toDevice(u), cuda.toDevice(b));
    const expected = [...i].flatMap((one, k) => FORMS.map((f) => f(LENGTH, one, u[k]!, b[k]!) | 0));
    sameElements(await read(out), expected);
  },

  'reach elements beyond 2³² by offsets, and by bigints': async () => {
    const kernel = cuda.jit((x: Vec<u8>, off: In<Vec<i32>>, far: In<Vec<bigint>>, out: Vec<i32>) => {
      const last = x.length - 1;
      x[last + off[0]] = 40;
      let at = last;
      at += off[0];
      out[0] = x[at] + 1;
      out[1] = x[Number(far[0])] + 2;
      out[2] = x[Math.min(last, off[1])] + 3;
    });
    const x = cuda.deviceArray(LENGTH, u8, { strides: [0] });
    const out = zeros(3, 'int32');
    const far = cuda.toDevice(BigInt64Array.of(2n ** 32n + 7n));
    await launch(kernel, { grid: 1, block: 1 }, x, cuda.toDevice(Int32Array.of(-3, 9)), far, out);
    same((await read(out)).join(), '41,42,43');
  },
});
