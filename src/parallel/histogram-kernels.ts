/**
 * The kernels of histograms. Each block counts in its shared memory, in several copies of the bins where they are few: lanes that count the same value at
 * the same time then count in different banks. What does not fit is counted in global memory.
 */
import { deviceFunction, intrinsic } from '../compiler/intrinsics.ts';
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

/** What `quickBins` gives, as device functions: of values of f32, in bins of equal width. */
export interface QuickBins {
  readonly prepare: (edges: Value) => Value;
  /** What the others take. */
  readonly estimate: (value: Value, prepared: Value) => Value;
  /** Whether the bin of an estimate is that of the value. */
  readonly isSure: (estimate: Value, prepared: Value) => boolean;
  readonly binIn: (estimate: Value) => number;
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

/** Adds what the threads of a block have counted in copies of the bins to the counts. */
function addingUp(bins: number, copies: number) {
  const captures = { atomicAdd, bins, copies, block: BLOCK };
  return deviceFunction(
    ({ atomicAdd, bins, copies, block }: typeof captures) =>
      (counters: Vec<number>, counts: Vec<number>, t: number): void => {
        for (let bin = t; bin < bins; bin += block) {
          let sum = 0;
          // Neighbours begin at different copies, which are in different banks.
          for (let k = 0; k < copies; k++) sum += counters[bin * copies + ((bin + k) % copies)] as number;
          if (sum > 0) atomicAdd(counts, bin, sum);
        }
      },
    captures,
  );
}

/** For whatever can be read, four loads at a time. */
export function countAny(jit: Jit, name: string, read: Read, by: Bins, bins: number, copies: number): Counting {
  const captures = { ...words, ...by, read, bins, copies, addUp: addingUp(bins, copies) };
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
        addUp,
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
        addUp(counters, counts, t);
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

/**
 * For arrays of 32 bits that are contiguous and aligned as vectors of four, on GPUs. With quick bins four values at a time are tried together, and one by one
 * only if that fails.
 */
export function countVectors(
  jit: Jit,
  name: string,
  vector: DType,
  by: Bins & { readonly quick: QuickBins | undefined },
  bins: number,
  copies: number,
): Counting {
  const { prepare, binOf, quick } = by;
  const sizes = { bins, copies, aligned: 16, hasQuick: quick !== undefined };
  const addUp = addingUp(bins, copies);
  const captures = { ...words, ...sizes, vector, prepare, binOf, quick: quick as QuickBins, addUp };
  return jit(
    (all: typeof captures) => {
      const { grid, gridSize, threadIdx, syncThreads, shared, assumeAligned, atomicAdd, u32, block } = all;
      const { vector, aligned, prepare, binOf, bins, copies, hasQuick, quick, addUp } = all;
      return (x: Vec<Value>, n: number, edges: Value, counts: Vec<number>) => {
        const counters = shared<number>(bins * copies, u32);
        const t = threadIdx.x;
        const copy = t % copies;
        for (let k = t; k < bins * copies; k += block) counters[k] = 0;
        syncThreads();
        const prepared = prepare(edges);
        const quickly = hasQuick ? quick.prepare(edges) : edges;
        const count = (value: Value): void => {
          const bin = binOf(value, prepared);
          if (bin >= 0) atomicAdd(counters, bin * copies + copy, 1);
        };
        const countFour = ({ x, y, z, w }: Four): void => {
          const values = [x, y, z, w];
          if (hasQuick) {
            const estimates = values.map((value) => quick.estimate(value, quickly));
            const sure = estimates.map((estimate) => quick.isSure(estimate, quickly));
            if (sure[0] && sure[1] && sure[2] && sure[3]) {
              estimates.forEach((estimate) => {
                atomicAdd(counters, quick.binIn(estimate) * copies + copy, 1);
              });
              return;
            }
          }
          values.forEach((value) => count(value));
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
        addUp(counters, counts, t);
      };
    },
    { captures, name, launchBounds: [BLOCK, 4] },
  ) as unknown as Counting;
}

/**
 * Counts all 256 values of bytes, of arrays that are contiguous and aligned to 16 bytes, on GPUs; and adds them to the bins that they are in as integers of 8 bits.
 */
export function countBytes(jit: Jit, name: string, by: Bins, signed: boolean): Counting {
  const captures = { ...words, ...by, signed, u32x4, copies: MOST_COPIES };
  return jit(
    (all: typeof captures) => {
      const { grid, gridSize, threadIdx, syncThreads, shared, assumeAligned, atomicAdd, u32, u32x4, block } = all;
      const { copies, prepare, binOf, signed } = all;
      return (x: Vec<Value>, n: number, edges: Value, counts: Vec<number>) => {
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
        const prepared = prepare(edges);
        for (let byte = t; byte < 256; byte += block) {
          let sum = 0;
          for (let k = 0; k < copies; k++) sum += counters[byte * copies + ((byte + k) % copies)] as number;
          const bin = binOf((signed && byte > 127 ? byte - 256 : byte) as Value, prepared);
          if (bin >= 0 && sum > 0) atomicAdd(counts, bin, sum);
        }
      };
    },
    { captures, name, launchBounds: [BLOCK, 4] },
  ) as unknown as Counting;
}
