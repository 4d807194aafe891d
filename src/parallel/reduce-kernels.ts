/**
 * The kernels of `reduce`: a first one leaves a partial result for each block, a last one combines what one block can.
 *
 * Which elements meet depends on their number and on the device alone, so that the same reduction gives the same bits again.
 */
import type { DType } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Read } from './input.ts';
import type { Operator, Value } from './operator.ts';

/** Threads of a block: eight warps. */
export const BLOCK = 256;
const WARP = 32;
/** Vectors that a thread of the fast kernel loads before it combines them. */
const IN_FLIGHT = 4;
/** Partial results that a thread loads before it combines them: each takes as long as memory, and nothing else runs meanwhile. */
const FINISH_PLACES: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** Two or four elements. */
interface Vector {
  readonly x: Value;
  readonly y: Value;
  readonly z: Value;
  readonly w: Value;
}

/** Reads `n` elements of an argument and leaves `parts[b]` of block b. */
export type Partials = Kernel<[x: Value, n: number, parts: Vec<Value>]>;
/** Reads `n` elements and stores what they come to; with `init` before it. */
export type Finish = Kernel<[x: Value, n: number, result: Vec<Value>, init: Value | undefined]>;

/**
 * For whatever can be read. Each thread has an element: the grid has at most as many threads as there are elements. `inFlight`: threads load four elements
 * before they combine them, which pays on GPUs.
 */
export function partialsOf(jit: Jit, { op, cast, type, name }: Operator, read: Read, inFlight: boolean): Partials {
  const captures = { ...WORDS, op, cast, type, read, inFlight, block: BLOCK };
  return jit(
    (words: typeof captures) => {
      const { grid, gridSize, threadIdx, blockIdx, syncThreads, shared } = words;
      const { op, cast, type, read, inFlight, block } = words;
      return (x: Value, n: number, parts: Vec<Value>) => {
        const part = shared<Value>(block, type);
        const t = threadIdx.x;
        const step = gridSize(1);
        const load = (i: number): Value => cast(read(x, i));
        let i = grid(1);
        let value = load(i);
        i += step;
        for (; inFlight && i + 3 * step < n; i += 4 * step) {
          const [a, b, c, d] = [load(i), load(i + step), load(i + 2 * step), load(i + 3 * step)];
          value = cast(op(value, cast(op(cast(op(a, b)), cast(op(c, d))))));
        }
        for (; i < n; i += step) value = cast(op(value, load(i)));
        part[t] = value;
        syncThreads();
        for (let half = block >> 1; half > 0; half >>= 1) {
          if (t < half) part[t] = cast(op(part[t] as Value, part[t + half] as Value));
          syncThreads();
        }
        if (t === 0) parts[blockIdx.x] = part[0] as Value;
      };
    },
    { captures, name },
  ) as unknown as Partials;
}

/** A vector type and the number of its lanes. */
export interface Lanes {
  readonly vector: DType;
  readonly lanes: number;
}

/** Elements that a block of the fast kernel takes at a time. */
export function tileOf({ lanes }: Lanes): number {
  return BLOCK * IN_FLIGHT * lanes;
}

/**
 * For arrays of 32 or 64 bits that are contiguous and aligned as vectors, on devices where every thread loads by itself: some vectors are in flight, and
 * lanes exchange. A block takes tiles; there are at least as many whole ones as blocks.
 */
export function partialsOfTiles(jit: Jit, { op, cast, type, name }: Operator, { vector, lanes }: Lanes): Partials {
  const sizes = { block: BLOCK, warp: WARP, warps: BLOCK / WARP, all: 0xffffffff };
  const captures = { ...WORDS, ...sizes, op, cast, type, vector, lanes, aligned: vector.alignment };
  return jit(
    (words: typeof captures) => {
      const { grid, gridSize, threadIdx, blockIdx, gridDim, syncThreads, shared, shflDownSync } = words;
      const { assumeAligned, op, cast, type, vector, lanes, aligned, block, warp, warps, all } = words;
      return (x: Vec<Value>, _n: number, parts: Vec<Value>) => {
        const vectors = assumeAligned(x, aligned).view(vector);
        const part = shared<Value>(warps, type);
        const t = threadIdx.x;
        const load = (i: number): Value => {
          const v = vectors[i] as Vector;
          const low = cast(op(cast(v.x), cast(v.y)));
          return lanes === 4 ? cast(op(low, cast(op(cast(v.z), cast(v.w))))) : low;
        };
        const tile = (i: number): Value => {
          const [a, b, c, d] = [load(i), load(i + block), load(i + 2 * block), load(i + 3 * block)];
          return cast(op(cast(op(a, b)), cast(op(c, d))));
        };
        const tiles = Math.floor(vectors.length / (4 * block));
        let value = tile(4 * block * blockIdx.x + t);
        for (let k = blockIdx.x + gridDim.x; k < tiles; k += gridDim.x)
          value = cast(op(value, tile(4 * block * k + t)));
        // What is left is less than a tile of vectors, and less than a vector.
        for (let i = 4 * block * tiles + grid(1); i < vectors.length; i += gridSize(1))
          value = cast(op(value, load(i)));
        const last = lanes * vectors.length + grid(1);
        if (last < x.length) value = cast(op(value, cast(x[last] as Value)));

        for (let by = warp >> 1; by > 0; by >>= 1) value = cast(op(value, shflDownSync<Value>(all, value, by)));
        if (t % warp === 0) part[Math.floor(t / warp)] = value;
        syncThreads();
        for (let half = warps >> 1; half > 0; half >>= 1) {
          if (t < half) part[t] = cast(op(part[t] as Value, part[t + half] as Value));
          syncThreads();
        }
        if (t === 0) parts[blockIdx.x] = part[0] as Value;
      };
    },
    { captures, name },
  ) as unknown as Partials;
}

/** How partial results are combined. */
export interface Finishing {
  readonly read: Read;
  /** Brings the result to the type that it is stored in. */
  readonly to: Operator['cast'];
  /** Whether threads load several elements before they combine them. */
  readonly inFlight: boolean;
  /** Threads of the block. */
  readonly block: number;
}

/** Combines all that one block goes through quickly, and partial results. */
export function finishOf(jit: Jit, { op, cast, type, name }: Operator, finishing: Finishing): Finish {
  const captures = { ...WORDS, ...finishing, op, cast, type, places: FINISH_PLACES };
  const threads = finishing.block > BLOCK ? { launchBounds: finishing.block } : {};
  return jit(
    ({ threadIdx, syncThreads, shared, op, cast, type, read, to, inFlight, block, places }: typeof captures) =>
      (x: Value, n: number, result: Vec<Value>, init: Value | undefined) => {
        const part = shared<Value>(block, type);
        const t = threadIdx.x;
        const filled = Math.min(n, block);
        if (t < filled) {
          let value = cast(read(x, t));
          if (inFlight) {
            for (let i = t + block; i < n; i += places.length * block) {
              const more = places.map((k) => cast(read(x, Math.min(i + k * block, n - 1))));
              more.forEach((one, k) => {
                if (i + k * block < n) value = cast(op(value, one));
              });
            }
          } else for (let i = t + block; i < n; i += block) value = cast(op(value, cast(read(x, i))));
          part[t] = value;
        }
        syncThreads();
        for (let half = block >> 1; half > 0; half >>= 1) {
          if (t < half && t + half < filled) part[t] = cast(op(part[t] as Value, part[t + half] as Value));
          syncThreads();
        }
        if (t > 0) return;
        if (init === undefined) result[0] = to(part[0] as Value);
        else result[0] = to(cast(op(cast(init), part[0] as Value)));
      },
    { captures, name, ...threads },
  ) as unknown as Finish;
}
