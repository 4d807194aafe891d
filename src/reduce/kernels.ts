/**
 * The kernels of a reduction, in the kernel language: a first one leaves a partial result for each block, a last one combines what one block can.
 *
 * Which elements meet depends on their number and on the device alone, so that the same reduction gives the same bits again. The operator must
 * be associative and commutative, as Numba's.
 */
import type { DeviceInfo } from '../driver/driver.ts';
import type { DType } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';

/** Threads of a block: eight warps. */
export const BLOCK = 256;
const WARP = 32;
/** Vectors that a thread of the fast kernel loads before it combines them. */
const IN_FLIGHT = 4;
/** Partial results that a thread loads before it combines them: each takes as long as memory, and nothing else runs meanwhile. */
const FINISH_PLACES: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];
/** Threads of the block that combines partial results on GPUs; some, most of them in pages, have room for fewer. */
const FINISH_BLOCK = 512;

/** How many the GPU has room for: eight warps are the least of all. */
export function finishBlockOn({ limits }: DeviceInfo): number {
  return limits.maxThreadsPerBlock < FINISH_BLOCK ? BLOCK : FINISH_BLOCK;
}

/** An element of whatever type: these kernels are compiled for each. */
type Value = never;

/** Two or four of them. */
interface Vector {
  readonly x: Value;
  readonly y: Value;
  readonly z: Value;
  readonly w: Value;
}

/** What a reduction computes with. */
export interface Operation {
  readonly op: (a: Value, b: Value) => Value;
  /** Brings what the operator gives back to the type that is reduced in. */
  readonly cast: (value: Value) => Value;
  /** That type. */
  readonly type: DType;
  /** Of the kernels, in messages. */
  readonly name: string;
}

/** Leaves `partials[b]` of block b. */
export type Partials = Kernel<[x: Vec<Value>, partials: Vec<Value>]>;

/** For any type and layout. Each thread has an element: the grid has at most as many threads as there are elements. */
export function partialsOf(jit: Jit, { op, cast, type, name }: Operation): Partials {
  const captures = { ...WORDS, op, cast, type, block: BLOCK };
  return jit(
    ({ grid, gridSize, threadIdx, blockIdx, syncThreads, shared, op, cast, type, block }: typeof captures) =>
      (x: Vec<Value>, partials: Vec<Value>) => {
        const part = shared<Value>(block, type);
        const t = threadIdx.x;
        const step = gridSize(1);
        let i = grid(1);
        let value = cast(x[i] as Value);
        for (i += step; i < x.length; i += step) value = cast(op(value, x[i] as Value));
        part[t] = value;
        syncThreads();
        for (let half = block >> 1; half > 0; half >>= 1) {
          if (t < half) part[t] = cast(op(part[t] as Value, part[t + half] as Value));
          syncThreads();
        }
        if (t === 0) partials[blockIdx.x] = part[0] as Value;
      },
    { captures, name },
  );
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
export function partialsOfTiles(jit: Jit, { op, cast, type, name }: Operation, { vector, lanes }: Lanes): Partials {
  const sizes = { block: BLOCK, warp: WARP, warps: BLOCK / WARP, all: 0xffffffff };
  const captures = { ...WORDS, ...sizes, op, cast, type, vector, lanes, aligned: vector.alignment };
  return jit(
    (words: typeof captures) => {
      const { grid, gridSize, threadIdx, blockIdx, gridDim, syncThreads, shared, shflDownSync } = words;
      const { assumeAligned, op, cast, type, vector, lanes, aligned, block, warp, warps, all } = words;
      return (x: Vec<Value>, partials: Vec<Value>) => {
        const vectors = assumeAligned(x, aligned).view(vector);
        const part = shared<Value>(warps, type);
        const t = threadIdx.x;
        const load = (i: number): Value => {
          const v = vectors[i] as Vector;
          const low = cast(op(v.x, v.y));
          return lanes === 4 ? cast(op(low, cast(op(v.z, v.w)))) : low;
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
        if (last < x.length) value = cast(op(value, x[last] as Value));

        for (let by = warp >> 1; by > 0; by >>= 1) value = cast(op(value, shflDownSync<Value>(all, value, by)));
        if (t % warp === 0) part[Math.floor(t / warp)] = value;
        syncThreads();
        for (let half = warps >> 1; half > 0; half >>= 1) {
          if (t < half) part[t] = cast(op(part[t] as Value, part[t + half] as Value));
          syncThreads();
        }
        if (t === 0) partials[blockIdx.x] = part[0] as Value;
      };
    },
    { captures, name },
  );
}

/** Combines all elements of an array in one block and stores the result; with `init` before it. */
export type Finish = Kernel<[x: Vec<Value>, result: Vec<Value>, init: Value | undefined]>;

/**
 * For arrays that one block goes through quickly, and for partial results. `inFlight`: for GPUs, where threads load several elements before they
 * combine them.
 */
export function finishOf(jit: Jit, { op, cast, type, name }: Operation, inFlight: boolean, block: number): Finish {
  const captures = { ...WORDS, op, cast, type, inFlight, block, places: FINISH_PLACES };
  return jit(
    ({ threadIdx, syncThreads, shared, op, cast, type, inFlight, block, places }: typeof captures) =>
      (x: Vec<Value>, result: Vec<Value>, init: Value | undefined) => {
        const part = shared<Value>(block, type);
        const t = threadIdx.x;
        const n = x.length;
        const filled = Math.min(n, block);
        if (t < filled) {
          let value = cast(x[t] as Value);
          if (inFlight) {
            for (let i = t + block; i < n; i += places.length * block) {
              const more = places.map((k) => cast(x[Math.min(i + k * block, n - 1)] as Value));
              more.forEach((one, k) => {
                if (i + k * block < n) value = cast(op(value, one));
              });
            }
          } else for (let i = t + block; i < n; i += block) value = cast(op(value, x[i] as Value));
          part[t] = value;
        }
        syncThreads();
        for (let half = block >> 1; half > 0; half >>= 1) {
          if (t < half && t + half < filled) part[t] = cast(op(part[t] as Value, part[t + half] as Value));
          syncThreads();
        }
        if (t > 0) return;
        if (init === undefined) result[0] = part[0] as Value;
        else result[0] = cast(op(cast(init), part[0] as Value));
      },
    { captures, name, ...(inFlight ? { launchBounds: block } : {}) },
  );
}
