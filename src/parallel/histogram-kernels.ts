/**
 * The kernels of histograms. Each block counts in its shared memory, in several copies of the bins where they are few: lanes that count the same value at
 * the same time then count in different banks. What does not fit is counted in global memory.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import { type DType, u32, u32x4 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Read } from './input.ts';
import type { Value } from './operator.ts';

/** Threads of a block. */
export const BLOCK = 512;
/** Counters that a block has. */
const MOST_COUNTERS = 8192;
const MOST_COPIES = 32;

/** How bins are found, as device functions. */
export interface Bins {
  /** What a thread reads of the edges once. */
  readonly prepare: (edges: Value) => Value;
  /** The number of the bin that a value is in; what is in none has -1. */
  readonly binOf: (value: Value, prepared: Value) => number;
}

/** Counts what is read of `n` elements into `counts`, which has been filled with zeros. */
export type Counting = Kernel<[x: Value, n: number, bins: Value, counts: Vec<number>]>;

const atomicAdd = /* @__PURE__ */ intrinsic<(array: Vec<number>, i: number, value: number) => number>('atomic.add');
const words = { ...WORDS, atomicAdd, u32, block: BLOCK };

/** How many copies of the bins fit: a power of two; 0 where not even one does. */
export function copiesOf(bins: number, most: number = MOST_COPIES): number {
  if (bins > MOST_COUNTERS) return 0;
  let copies = 1;
  while (copies < most && 2 * copies * bins <= MOST_COUNTERS) copies *= 2;
  return copies;
}

/** For whatever can be read, four loads at a time. */
export function countAny(jit: Jit, name: string, read: Read, by: Bins, bins: number, copies: number): Counting {
  const captures = { ...words, ...by, read, bins, copies };
  return jit(
    (all: typeof captures) => {
      const {
        grid,
        gridSize,
        threadIdx,
        syncThreads,
        shared,
        atomicAdd,
        u32,
        block,
        read,
        prepare,
        binOf,
        bins,
        copies,
      } = all;
      return (x: Value, n: number, edges: Value, counts: Vec<number>) => {
        const counters = shared<number>(bins * copies, u32);
        const t = threadIdx.x;
        const copy = t % copies;
        for (let k = t; k < bins * copies; k += block) counters[k] = 0;
        syncThreads();
        const prepared = prepare(edges);
        const count = (value: Value): void => {
          const bin = binOf(value, prepared);
          if (bin >= 0) atomicAdd(counters, bin * copies + copy, 1);
        };
        const step = gridSize(1);
        let i = grid(1);
        for (; i + 3 * step < n; i += 4 * step) {
          const [a, b, c, d] = [read(x, i), read(x, i + step), read(x, i + 2 * step), read(x, i + 3 * step)];
          count(a);
          count(b);
          count(c);
          count(d);
        }
        for (; i < n; i += step) count(read(x, i));
        syncThreads();
        for (let bin = t; bin < bins; bin += block) {
          let sum = 0;
          // Neighbours begin at different copies, which are in different banks.
          for (let k = 0; k < copies; k++) sum += counters[bin * copies + ((bin + k) % copies)] as number;
          if (sum > 0) atomicAdd(counts, bin, sum);
        }
      };
    },
    { captures, name },
  ) as unknown as Counting;
}

/** For bins that do not fit into shared memory. */
export function countGlobally(jit: Jit, name: string, read: Read, by: Bins): Counting {
  const captures = { ...words, ...by, read };
  return jit(
    ({ grid, gridSize, atomicAdd, read, prepare, binOf }: typeof captures) =>
      (x: Value, n: number, edges: Value, counts: Vec<number>) => {
        const prepared = prepare(edges);
        for (let i = grid(1); i < n; i += gridSize(1)) {
          const bin = binOf(read(x, i), prepared);
          if (bin >= 0) atomicAdd(counts, bin, 1);
        }
      },
    { captures, name },
  ) as unknown as Counting;
}

/** Four elements. */
interface Four {
  readonly x: Value;
  readonly y: Value;
  readonly z: Value;
  readonly w: Value;
}

/** For arrays of 32 bits that are contiguous and aligned as vectors of four, on GPUs. */
export function countVectors(jit: Jit, name: string, vector: DType, by: Bins, bins: number, copies: number): Counting {
  const captures = { ...words, vector, aligned: 16, ...by, bins, copies };
  return jit(
    (all: typeof captures) => {
      const { grid, gridSize, threadIdx, syncThreads, shared, assumeAligned, atomicAdd } = all;
      const { u32, block, vector, aligned, prepare, binOf, bins, copies } = all;
      return (x: Vec<Value>, n: number, edges: Value, counts: Vec<number>) => {
        const counters = shared<number>(bins * copies, u32);
        const t = threadIdx.x;
        const copy = t % copies;
        for (let k = t; k < bins * copies; k += block) counters[k] = 0;
        syncThreads();
        const prepared = prepare(edges);
        const count = (value: Value): void => {
          const bin = binOf(value, prepared);
          if (bin >= 0) atomicAdd(counters, bin * copies + copy, 1);
        };
        const countFour = ({ x, y, z, w }: Four): void => {
          count(x);
          count(y);
          count(z);
          count(w);
        };
        const vectors = assumeAligned(x, aligned).view(vector);
        const step = gridSize(1);
        let i = grid(1);
        for (; i + step < vectors.length; i += 2 * step) {
          const [a, b] = [vectors[i] as Four, vectors[i + step] as Four];
          countFour(a);
          countFour(b);
        }
        if (i < vectors.length) countFour(vectors[i] as Four);
        const rest = 4 * vectors.length + grid(1);
        if (rest < n) count(x[rest] as Value);
        syncThreads();
        for (let bin = t; bin < bins; bin += block) {
          let sum = 0;
          for (let k = 0; k < copies; k++) sum += counters[bin * copies + ((bin + k) % copies)] as number;
          if (sum > 0) atomicAdd(counts, bin, sum);
        }
      };
    },
    { captures, name },
  ) as unknown as Counting;
}

/** Counts all 256 values of bytes, of arrays that are contiguous and aligned to 16 bytes, on GPUs. */
export function countBytes(jit: Jit, name: string): Counting {
  const captures = { ...words, u32x4, copies: MOST_COPIES };
  return jit(
    (all: typeof captures) => {
      const { grid, gridSize, threadIdx, syncThreads, shared, assumeAligned, atomicAdd, u32, u32x4, block, copies } =
        all;
      return (x: Vec<Value>, n: number, _edges: Value, counts: Vec<number>) => {
        const counters = shared<number>(256 * copies, u32);
        const t = threadIdx.x;
        const copy = t % copies;
        for (let k = t; k < 256 * copies; k += block) counters[k] = 0;
        syncThreads();
        const countWord = (word: number): void => {
          atomicAdd(counters, (word & 255) * copies + copy, 1);
          atomicAdd(counters, ((word >>> 8) & 255) * copies + copy, 1);
          atomicAdd(counters, ((word >>> 16) & 255) * copies + copy, 1);
          atomicAdd(counters, (word >>> 24) * copies + copy, 1);
        };
        const countFour = ({ x, y, z, w }: Four): void => {
          countWord(x);
          countWord(y);
          countWord(z);
          countWord(w);
        };
        const vectors = assumeAligned(x, 16).view(u32x4);
        const step = gridSize(1);
        let i = grid(1);
        for (; i + step < vectors.length; i += 2 * step) {
          const [a, b] = [vectors[i] as unknown as Four, vectors[i + step] as unknown as Four];
          countFour(a);
          countFour(b);
        }
        if (i < vectors.length) countFour(vectors[i] as unknown as Four);
        const rest = 16 * vectors.length + grid(1);
        if (rest < n) atomicAdd(counters, ((x[rest] as unknown as number) & 255) * copies + copy, 1);
        syncThreads();
        for (let bin = t; bin < 256; bin += block) {
          let sum = 0;
          for (let k = 0; k < copies; k++) sum += counters[bin * copies + ((bin + k) % copies)] as number;
          if (sum > 0) atomicAdd(counts, bin, sum);
        }
      };
    },
    { captures, name },
  ) as unknown as Counting;
}

/** Adds how often each of 256 bytes was there to the bins that they are in as integers of 8 bits. */
export function spreadBytes(jit: Jit, name: string, by: Bins, signed: boolean): Counting {
  const captures = { ...words, ...by, signed };
  return jit(
    ({ grid, atomicAdd, prepare, binOf, signed }: typeof captures) =>
      (times: Vec<number>, n: number, edges: Value, counts: Vec<number>) => {
        const k = grid(1);
        if (k >= n) return;
        const bin = binOf((signed && k > 127 ? k - 256 : k) as Value, prepare(edges));
        if (bin >= 0) atomicAdd(counts, bin, times[k] as number);
      },
    { captures, name },
  ) as unknown as Counting;
}
