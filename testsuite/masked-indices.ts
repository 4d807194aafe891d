/**
 * Chapter: indices that are masked, reduced or narrowed, in loops that go once around what is left. LLVM's vectoriser has taken them
 * for plain strides, in every space and with elements of every size (llvm-project 156849).
 */
import { cuda, type DType, f32, f64, i8, i16, i32, ndarray, u8, u16, u32, type Vec } from '../src/index.ts';
import { elementsOf, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read } from './waiting.ts';

const SIZE = 64;
const ROOM = 64;

type Index = (k: number) => number;

/** Each with how many rounds its loop makes. */
const FORMS: readonly (readonly [rounds: number, index: Index])[] = [
  [16, (k) => (k + 4 * (k & 3)) & 15],
  [16, (k) => (5 * k) & 15],
  [32, (k) => (3 * k + 5) & 31],
  [16, (k) => (6 * k) & 31],
  [8, (k) => (7 * k) & 15],
  [64, (k) => (3 * k) & 63],
  [32, (k) => (5 * k + 31) % 32],
  [16, (k) => ((3 * k) ^ 5) & 15],
  [16, (k) => (5 * k) & 14],
  [16, (k) => ((7 * k) << 28) >>> 28],
  [16, (k) => 5 * k - ((5 * k) >> 4) * 16],
  [16, (k) => (15 - 3 * k) & 15],
];
const [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11] = FORMS.map(([, index]) => index) as [
  Index,
  Index,
  Index,
  Index,
  Index,
  Index,
  Index,
  Index,
  Index,
  Index,
  Index,
  Index,
];

/** One loop after another, over whichever array. */
function gather(out: Vec<i32>, s: Vec<i32>): void {
  for (let k = 0; k < 16; k++) out[k] = s[f0(k)];
  for (let k = 0; k < 16; k++) out[64 + k] = s[f1(k)];
  for (let k = 0; k < 32; k++) out[128 + k] = s[f2(k)];
  for (let k = 0; k < 16; k++) out[192 + k] = s[f3(k)];
  for (let k = 0; k < 8; k++) out[256 + k] = s[f4(k)];
  for (let k = 0; k < 64; k++) out[320 + k] = s[f5(k)];
  for (let k = 0; k < 32; k++) out[384 + k] = s[f6(k)];
  for (let k = 0; k < 16; k++) out[448 + k] = s[f7(k)];
  for (let k = 0; k < 16; k++) out[512 + k] = s[f8(k)];
  for (let k = 0; k < 16; k++) out[576 + k] = s[f9(k)];
  for (let k = 0; k < 16; k++) out[640 + k] = s[f10(k)];
  for (let k = 0; k < 16; k++) out[704 + k] = s[f11(k)];
}

const VALUES = Int32Array.from({ length: SIZE }, (_, k) => (k * 7 + 3) % 64);

function expected(): Int32Array {
  const all = new Int32Array(ROOM * FORMS.length);
  FORMS.forEach(([rounds, index], form) => {
    for (let k = 0; k < rounds; k++) all[ROOM * form + k] = VALUES[index(k)] ?? Number.NaN;
  });
  return all;
}

/** Runs a kernel on results and values of a type. */
async function run(body: (out: Vec<i32>, from: Vec<i32>) => void, dtype: DType<i32>, block = 1): Promise<void> {
  const kernel = cuda.jit(body, { boundsCheck: false });
  const from = cuda.toDevice(ndarray([...VALUES], { dtype, shape: [SIZE] }));
  const out = zeros(ROOM * FORMS.length, dtype);
  await launch(kernel, { grid: 1, block }, out as never, from as never);
  sameElements(elementsOf(await read(out)).map(Number), expected());
}

function inGlobal(dtype: DType<i32>): () => Promise<void> {
  return async () => await run((out, from) => gather(out, from), dtype);
}

function inShared(dtype: DType<i32>): () => Promise<void> {
  return async () =>
    await run(
      (out, from) => {
        const s = cuda.shared.array(SIZE, dtype);
        for (let k = cuda.threadIdx.x; k < SIZE; k += cuda.blockDim.x) s[k] = from[k];
        cuda.syncThreads();
        if (cuda.threadIdx.x === 0) gather(out, s);
      },
      dtype,
      16,
    );
}

function inLocal(dtype: DType<i32>): () => Promise<void> {
  return async () =>
    await run((out, from) => {
      const s = cuda.local.array(SIZE, dtype);
      for (let k = 0; k < SIZE; k++) s[k] = from[k];
      gather(out, s);
    }, dtype);
}

/** The loop is the one over the threads of a block. */
function byThreads(dtype: DType<i32>): () => Promise<void> {
  return async () => {
    for (const block of [8, 16, 32, 64]) {
      const kernel = cuda.jit(
        (out: Vec<i32>, from: Vec<i32>) => {
          const t = cuda.threadIdx.x;
          out[t] = from[(3 * t) & (block - 1)];
          out[ROOM + t] = from[(5 * t + 1) & (block - 1)];
          out[2 * ROOM + t] = from[(7 * t) % block];
        },
        { boundsCheck: false },
      );
      const from = cuda.toDevice(ndarray([...VALUES], { dtype, shape: [SIZE] }));
      const out = zeros(3 * ROOM, dtype);
      await launch(kernel, { grid: 1, block }, out as never, from as never);
      const all = new Int32Array(3 * ROOM);
      for (let t = 0; t < block; t++) {
        all[t] = VALUES[(3 * t) & (block - 1)] ?? 0;
        all[ROOM + t] = VALUES[(5 * t + 1) & (block - 1)] ?? 0;
        all[2 * ROOM + t] = VALUES[(7 * t) % block] ?? 0;
      }
      sameElements(elementsOf(await read(out)).map(Number), all, `block ${block}, element`);
    }
  };
}

/** Stores and updates go round likewise. */
async function stores(): Promise<void> {
  const kernel = cuda.jit(
    (out: Vec<i32>, from: Vec<i32>) => {
      for (let k = 0; k < 16; k++) out[f1(k)] = from[k];
      for (let k = 0; k < 64; k++) out[64 + (k & 15)] ^= from[k];
      for (let k = 0; k < 32; k++) out[128 + f2(k)] += from[k];
    },
    { boundsCheck: false },
  );
  const from = cuda.toDevice(VALUES);
  const out = zeros(192, i32);
  await launch(kernel, { grid: 1, block: 1 }, out, from);
  const all = new Int32Array(192);
  for (let k = 0; k < 16; k++) all[f1(k)] = VALUES[k] ?? 0;
  for (let k = 0; k < 64; k++) all[64 + (k & 15)] = (all[64 + (k & 15)] ?? 0) ^ (VALUES[k] ?? 0);
  for (let k = 0; k < 32; k++) all[128 + f2(k)] = (all[128 + f2(k)] ?? 0) + (VALUES[k] ?? 0);
  sameElements(await read(out), all);
}

const TYPES = { i8, u8, i16, u16, i32, u32, f32, f64 } as unknown as Readonly<Record<string, DType<i32>>>;

export const maskedIndices: readonly ConformanceTest[] = chapter('masked indices', {
  ...Object.fromEntries(Object.entries(TYPES).map(([name, dtype]) => [`global memory, ${name}`, inGlobal(dtype)])),
  'shared memory, i32': inShared(i32),
  'shared memory, f64': inShared(f64 as unknown as DType<i32>),
  'local memory, i32': inLocal(i32),
  'local memory, i16': inLocal(i16 as unknown as DType<i32>),
  'by the threads of a block, i32': byThreads(i32),
  'stores and updates': stores,
});
