/**
 * What collectives are written with: the words of kernels that they need, and the groups of threads that they are made for.
 */
import { deviceFunction, intrinsic, intrinsicNumber, intrinsicObject } from '../../compiler/intrinsics.ts';
import { i32 } from '../../dtype/index.ts';

interface Three {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** Any value that a kernel computes. These functions are compiled for what they meet. */
export type Value = never;
/** The items of a thread, in a tuple: what is done with them is unrolled. */
export type Items = readonly Value[];
export type Op = (a: Value, b: Value) => Value;
type Shuffle = (mask: number, value: Value, by: number) => Value;
/** An array for each number that a value is made of. */
export type Memory = readonly { [i: number]: Value }[];
export type Counts = { [i: number]: number; readonly length: number };

/** Captured by device functions: all that these are made of. */
type Captured = Readonly<Record<string, unknown>>;

export interface Words {
  readonly threadIdx: Three;
  readonly blockDim: Three;
  readonly laneId: number;
  /** The barrier that no thread may have passed by with a return. */
  readonly syncThreads: () => void;
  readonly syncWarp: () => void;
  readonly shflSync: Shuffle;
  readonly shflUpSync: Shuffle;
  readonly atomicAdd: (array: Counts, i: number, value: number) => void;
  /** `compiler/frontend/value-calls.ts` says what these are. */
  readonly parts: (value: Value) => Items;
  readonly like: (value: Value, parts: Items) => Value;
  readonly shared: (length: number, value: Value) => Memory;
  readonly itemsOf: (value: Value) => Items | undefined;
  readonly before: (a: Value, b: Value) => boolean;
  readonly threads: () => number;
  /** The dtype of counts. */
  readonly int: unknown;
  /** All lanes. */
  readonly all: number;
}

const WORDS: Words = /* @__PURE__ */ Object.freeze({
  threadIdx: intrinsicObject<Three>('threadIdx', ['x', 'y', 'z']),
  blockDim: intrinsicObject<Three>('blockDim', ['x', 'y', 'z']),
  laneId: intrinsicNumber('laneId'),
  syncThreads: intrinsic<() => void>('syncBlock'),
  syncWarp: intrinsic<() => void>('syncWarp'),
  shflSync: intrinsic<Shuffle>('shflSync'),
  shflUpSync: intrinsic<Shuffle>('shflUpSync'),
  atomicAdd: intrinsic<Words['atomicAdd']>('atomic.add'),
  parts: intrinsic<Words['parts']>('value.parts'),
  like: intrinsic<Words['like']>('value.like'),
  shared: intrinsic<Words['shared']>('value.shared'),
  itemsOf: intrinsic<Words['itemsOf']>('value.items'),
  before: intrinsic<Words['before']>('value.before'),
  threads: intrinsic<Words['threads']>('value.threads'),
  int: i32,
  all: 0xffffffff,
});

/** A device function that captures these words, and `more` beside them. */
export function written<M extends object, F extends (...args: never[]) => unknown>(
  factory: (captures: Words & M) => F,
  more: M,
): F {
  return deviceFunction(factory as unknown as (captures: Captured) => F, { ...WORDS, ...more } as Captured);
}

/** The number of the thread in its block, x first, and how many there are. */
export const numbered: () => readonly [t: number, count: number] = /* @__PURE__ */ written(
  ({ threadIdx, blockDim }) =>
    (): readonly [number, number] => [
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
      blockDim.x * blockDim.y * blockDim.z,
    ],
  {},
);

/** Threads that compute something together. Device functions. */
export interface Group {
  /** The number of the thread in its group, how many there are, and the number of the first one in the block. */
  readonly place: () => readonly [t: number, count: number, first: number];
  /** How many there are at most: the same number for all threads of a block. */
  readonly most: () => number;
  /** Waits for all of the group. */
  readonly sync: () => void;
}

export const BLOCK: Group = /* @__PURE__ */ Object.freeze({
  place: written(
    ({ numbered }) =>
      (): readonly [number, number, number] => {
        const [t, count] = numbered();
        return [t, count, 0];
      },
    { numbered },
  ),
  most: written(
    ({ numbered }) =>
      () =>
        numbered()[1],
    { numbered },
  ),
  sync: WORDS.syncThreads,
});

/** So many neighbouring threads of a block; in the last group there may be fewer. */
function groupOf(size: number, sync: () => void): Group {
  const most = written(
    ({ size }) =>
      () =>
        size,
    { size },
  );
  const place = written(
    ({ numbered, size }) =>
      (): readonly [number, number, number] => {
        const [own, count] = numbered();
        const t = own & (size - 1);
        return [t, Math.min(size, count - (own - t)), own - t];
      },
    { numbered, size },
  );
  return Object.freeze({ place, most, sync });
}

export const WARP: Group = /* @__PURE__ */ groupOf(32, WORDS.syncWarp);
/** AMD's wavefront, of 64 threads on every device, as for all of `roc`. Its barrier is that of the block. */
export const WAVE: Group = /* @__PURE__ */ groupOf(64, WORDS.syncThreads);
