/**
 * Loops over integers of 32 and 64 bits that take different times in each thread: random numbers, Collatz sequences, hashes of strings.
 */
import { cuda, f32, type In, type i32, type u8, type u32, type Vec } from 'tsamba';
import { type Case, random, randomBytes } from '../case.ts';

const SAMPLES = 64;

/** Points of a square that are in a circle, by xorshift; each thread has a sequence of its own. */
const monteCarlo: Case = {
  name: 'monte-carlo',
  size: '16K × 64 points u32',
  setUp() {
    const hits = new Int32Array(2 ** 14);
    return {
      launches: [{ kernel: monteCarloKernel, threads: hits.length, block: 256, args: [hits, 12345] }],
      plain: () => monteCarloPlain(hits, 12345),
      c: ['monte_carlo', hits.length, hits, 12345],
      results: [hits],
      // f32 and f64 decide differently about some points.
      outliers: 0.01,
    };
  },
};

const monteCarloKernel = (hits: Vec<i32>, seed: number) => {
  const i = cuda.grid(1);
  if (i >= hits.length) return;
  let state = Math.imul(i + seed, 2654435761) >>> 0;
  let count = 0;
  for (let k = 0; k < SAMPLES; k++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const x = f32(state >>> 8) / 16777216;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const y = f32(state >>> 8) / 16777216;
    if (x * x + y * y < 1) count++;
  }
  hits[i] = count;
};

function monteCarloPlain(hits: Int32Array, seed: number): void {
  for (let i = 0; i < hits.length; i++) {
    let state = Math.imul(i + seed, 2654435761);
    let count = 0;
    for (let k = 0; k < SAMPLES; k++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      const x = (state >>> 8) / 16777216;
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      const y = (state >>> 8) / 16777216;
      if (x * x + y * y < 1) count++;
    }
    hits[i] = count;
  }
}

/** How many steps until the sequence of a number comes to 1. */
const collatz: Case = {
  name: 'collatz',
  size: '32K i64',
  setUp() {
    const steps = new Int32Array(2 ** 15);
    return {
      launches: [{ kernel: collatzKernel, threads: steps.length, block: 256, args: [steps] }],
      plain: () => collatzPlain(steps),
      c: ['collatz', steps.length, steps],
      results: [steps],
    };
  },
};

const collatzKernel = (steps: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i >= steps.length) return;
  let n = BigInt(i + 1);
  let count = 0;
  while (n !== 1n) {
    n = n % 2n === 0n ? n / 2n : 3n * n + 1n;
    count++;
  }
  steps[i] = count;
};

function collatzPlain(steps: Int32Array): void {
  for (let i = 0; i < steps.length; i++) {
    let n = i + 1;
    let count = 0;
    while (n !== 1) {
      n = n % 2 === 0 ? n / 2 : 3 * n + 1;
      count++;
    }
    steps[i] = count;
  }
}

/** FNV-1a of strings that lie one after another. */
const fnv: Case = {
  name: 'fnv-1a',
  size: '64K strings u8',
  setUp() {
    const count = 2 ** 16;
    const starts = new Int32Array(count + 1);
    random(count).forEach((v, k) => {
      starts[k + 1] = starts[k] + 4 + Math.floor(v * 36);
    });
    const [text, hashes] = [randomBytes(starts[count], 2), new Uint32Array(count)];
    return {
      launches: [{ kernel: fnvKernel, threads: count, block: 256, args: [text, starts, hashes] }],
      plain: () => fnvPlain(text, starts, hashes),
      c: ['fnv', count, text, starts, hashes],
      results: [hashes],
    };
  },
};

const fnvKernel = (text: In<Vec<u8>>, starts: In<Vec<i32>>, hashes: Vec<u32>) => {
  const i = cuda.grid(1);
  if (i >= hashes.length) return;
  let hash = 0x811c9dc5 | 0;
  for (let k = starts[i]; k < starts[i + 1]; k++) hash = Math.imul(hash ^ text[k], 0x01000193);
  hashes[i] = hash >>> 0;
};

function fnvPlain(text: Uint8Array, starts: Int32Array, hashes: Uint32Array): void {
  for (let i = 0; i < hashes.length; i++) {
    let hash = 0x811c9dc5 | 0;
    for (let k = starts[i]; k < starts[i + 1]; k++) hash = Math.imul(hash ^ text[k], 0x01000193);
    hashes[i] = hash >>> 0;
  }
}

export const integers: readonly Case[] = [monteCarlo, collatz, fnv];
