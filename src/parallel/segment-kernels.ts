/**
 * The kernels of segmented reductions: a thread, some lanes of a warp, or a block for each segment, by how long they are.
 *
 * Segment `s` is from `bound(s)` to `bound(s + 1)`. The order of its elements depends on its length and the kernel alone.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Packed } from './accesses.ts';
import type { Read } from './input.ts';
import type { Operator, Value } from './operator.ts';

/** Threads of a block. */
export const BLOCK = 256;
/** Blocks of a multiprocessor that hide from each other how long memory takes, where the registers of numbers leave room for them. */
const BLOCKS = 8;
export const WARP = 32;

/** Of segments that take a block, the numbers; how many there are, before them. */
type Queue = Vec<number>;

/** Reduces segments into `out`; what is longer than `most` it only notes in the queue. */
export type Segments = Kernel<
  [
    x: Value,
    offsets: Value,
    out: Vec<Value>,
    empty: Value | undefined,
    init: Value | undefined,
    long: Queue,
    most: number,
  ]
>;

/** What all these kernels are made for. */
export interface Segmented {
  readonly operator: Operator;
  readonly read: Read;
  readonly bound: Read;
  /** Brings a result to the type that it is stored in. */
  readonly to: Operator['cast'];
  /** Where elements lie as vectors: how these are read. */
  readonly packed?: Pick<Packed, 'count' | 'load'> | undefined;
}

const atomicAdd = /* @__PURE__ */ intrinsic<(array: Vec<number>, i: number, value: number) => number>('atomic.add');

/** A thread for each segment. */
export function threadSegments(jit: Jit, { operator, read, bound, to }: Segmented): Segments {
  const { op, cast, name } = operator;
  const captures = { ...WORDS, op, cast, read, bound, to, atomicAdd };
  return jit(
    ({ grid, op, cast, read, bound, to, atomicAdd }: typeof captures) =>
      (
        x: Value,
        offsets: Value,
        out: Vec<Value>,
        empty: Value | undefined,
        init: Value | undefined,
        long: Queue,
        most: number,
      ) => {
        const s = grid(1);
        if (s >= out.length) return;
        let i: number = bound(offsets, s);
        const end: number = bound(offsets, s + 1);
        if (end - i > most) {
          long[atomicAdd(long, 0, 1) + 1] = s;
          return;
        }
        if (i >= end) {
          if (empty !== undefined) out[s] = to(cast(empty));
          return;
        }
        let value = cast(read(x, i));
        if (init !== undefined) value = cast(op(cast(init), value));
        for (i++; i < end; i++) value = cast(op(value, cast(read(x, i))));
        out[s] = to(value);
      },
    { captures, name },
  ) as unknown as Segments;
}

/**
 * `lanes` lanes of a warp, a power of two, for each segment; the grid goes through all in rounds in which every warp is whole. Long segments are read as vectors, where
 * elements lie so and a whole warp has each.
 */
export function warpSegments(jit: Jit, { operator, read, bound, to, packed }: Segmented, lanes: number): Segments {
  const { op, cast, name } = operator;
  const wide = { isWide: packed !== undefined && lanes === WARP, count: packed?.count ?? 1, loadAll: packed?.load };
  const captures = { ...WORDS, ...wide, op, cast, read, bound, to, lanes, atomicAdd, all: 0xffffffff };
  return jit(
    (words: typeof captures) => {
      const { grid, gridSize, shflDownSync, atomicAdd, op, cast, read, bound, to, lanes, all } = words;
      const { isWide, count, loadAll } = words;
      return (
        x: Value,
        offsets: Value,
        out: Vec<Value>,
        empty: Value | undefined,
        init: Value | undefined,
        long: Queue,
        most: number,
      ) => {
        const first = Math.floor(grid(1) / lanes);
        const lane = grid(1) % lanes;
        const groups = Math.floor(gridSize(1) / lanes);
        const rounds = Math.floor((out.length + groups - 1) / groups);
        const load = (i: number): Value => cast(read(x, i));
        // One vector, or what stands there: its number, counted from the first element of the array.
        const loadVector = (v: number): Value => {
          const parts = (loadAll as Packed['load'])(x, v * count).map((part) => cast(part));
          if (count === 4)
            return cast(
              op(cast(op(parts[0] as Value, parts[1] as Value)), cast(op(parts[2] as Value, parts[3] as Value))),
            );
          return cast(op(parts[0] as Value, parts[1] as Value));
        };
        for (let round = 0; round < rounds; round++) {
          const s = round * groups + first;
          let start: number = 0;
          let end: number = 0;
          if (s < out.length) {
            start = bound(offsets, s);
            end = bound(offsets, s + 1);
          }
          const isLong = end - start > most;
          if (isLong) {
            if (lane === 0) long[atomicAdd(long, 0, 1) + 1] = s;
            end = start;
          }
          const filled = Math.min(end - start, lanes);
          // Lanes without an element hold another's, which counts for nothing.
          let value = load(Math.max(0, Math.min(start + lane, end - 1)));
          let i = start + lane + lanes;
          if (isWide && end - start >= 2 * lanes * count) {
            // Each lane has a vector; what is before and behind the vectors has a few of them.
            const [from, until] = [Math.floor((start + (count - 1)) / count), Math.floor(end / count)];
            let v = from + lane;
            const after = until * count + lane;
            if (start + lane < from * count) value = cast(op(value, loadVector(v)));
            else value = loadVector(v);
            for (v += lanes; v + 3 * lanes < until; v += 4 * lanes) {
              const [a, b, c, d] = [
                loadVector(v),
                loadVector(v + lanes),
                loadVector(v + 2 * lanes),
                loadVector(v + 3 * lanes),
              ];
              value = cast(op(value, cast(op(cast(op(a, b)), cast(op(c, d))))));
            }
            for (; v < until; v += lanes) value = cast(op(value, loadVector(v)));
            if (after < end) value = cast(op(value, load(after)));
            i = end;
          }
          for (; i + 3 * lanes < end; i += 4 * lanes) {
            const [a, b, c, d] = [load(i), load(i + lanes), load(i + 2 * lanes), load(i + 3 * lanes)];
            value = cast(op(value, cast(op(cast(op(a, b)), cast(op(c, d))))));
          }
          for (; i < end; i += lanes) value = cast(op(value, load(i)));
          for (let by = lanes >> 1; by > 0; by >>= 1) {
            const other = shflDownSync<Value>(all, value, by);
            if (lane + by < filled) value = cast(op(value, other));
          }
          if (lane === 0 && s < out.length && !isLong) {
            if (filled === 0) {
              if (empty !== undefined) out[s] = to(cast(empty));
            } else if (init === undefined) out[s] = to(value);
            else out[s] = to(cast(op(cast(init), value)));
          }
        }
      };
    },
    { captures, name },
  ) as unknown as Segments;
}

/** A block for each segment in the queue; `queued` false: for each there is. Long ones are read as vectors, where elements lie so. */
export function blockSegments(jit: Jit, made: Segmented, queued: boolean): Segments {
  const { operator, read, bound, to, packed } = made;
  const { op, cast, type, name } = operator;
  const wide = { isWide: packed !== undefined, count: packed?.count ?? 1, loadAll: packed?.load };
  const hasRoom = type.fields === undefined && type.itemSize <= 4;
  const sizes = { block: BLOCK, warp: WARP, warps: BLOCK / WARP, all: 0xffffffff, lanesBy: [16, 8, 4, 2, 1] };
  const captures = { ...WORDS, ...wide, ...sizes, op, cast, type, read, bound, to, queued };
  return jit(
    (words: typeof captures) => {
      const { threadIdx, blockIdx, gridDim, syncThreads, shared, shflDownSync, op, cast, type, read, bound, to } =
        words;
      const { block, warp, warps, all, lanesBy, isWide, count, loadAll, queued } = words;
      return (
        x: Value,
        offsets: Value,
        out: Vec<Value>,
        empty: Value | undefined,
        init: Value | undefined,
        long: Queue,
        _most: number,
      ) => {
        const part = shared<Value>(warps, type);
        const t = threadIdx.x;
        const lane = t % warp;
        const load = (i: number): Value => cast(read(x, i));
        // One vector, or what stands there: its number, counted from the first element of the array.
        const loadVector = (v: number): Value => {
          const parts = (loadAll as Packed['load'])(x, v * count).map((part) => cast(part));
          const low = cast(op(parts[0] as Value, parts[1] as Value));
          return count === 4 ? cast(op(low, cast(op(parts[2] as Value, parts[3] as Value)))) : low;
        };
        const loadFour = (v: number): Value => {
          const [a, b] = [loadVector(v), loadVector(v + block)];
          const [c, d] = [loadVector(v + 2 * block), loadVector(v + 3 * block)];
          return cast(op(cast(op(a, b)), cast(op(c, d))));
        };
        const blocks: number = queued ? (long[0] as number) : out.length;
        for (let k: number = blockIdx.x; k < blocks; k += gridDim.x) {
          const s: number = queued ? (long[k + 1] as number) : k;
          const start: number = bound(offsets, s);
          const end: number = bound(offsets, s + 1);
          const filled = Math.min(end - start, block);
          const isLong = isWide && end - start >= 2 * block * count;
          const [from, until] = [Math.floor((start + (count - 1)) / count), Math.floor(end / count)];
          // Threads without an element hold another's, which counts for nothing.
          let value = load(Math.max(0, Math.min(start + t, isLong ? from * count - 1 : end - 1)));
          let i = start + t + block;
          if (isLong) {
            // Each thread has a vector; what is before and behind the vectors has a few of them.
            const isBefore = start + t < from * count;
            let v = from + t;
            let some = loadVector(v);
            v += block;
            if (v + 2 * block < until) {
              const [b, c, d] = [loadVector(v), loadVector(v + block), loadVector(v + 2 * block)];
              some = cast(op(cast(op(some, b)), cast(op(c, d))));
              v += 3 * block;
            }
            value = isBefore ? cast(op(value, some)) : some;
            for (; v + 3 * block < until; v += 4 * block) value = cast(op(value, loadFour(v)));
            for (; v < until; v += block) value = cast(op(value, loadVector(v)));
            i = until * count + t;
          }
          for (; i + 3 * block < end; i += 4 * block) {
            const [a, b, c, d] = [load(i), load(i + block), load(i + 2 * block), load(i + 3 * block)];
            value = cast(op(value, cast(op(cast(op(a, b)), cast(op(c, d))))));
          }
          for (; i < end; i += block) value = cast(op(value, load(i)));
          lanesBy.forEach((by) => {
            const other = shflDownSync<Value>(all, value, by);
            if (lane + by < warp && t + by < filled) value = cast(op(value, other));
          });
          if (lane === 0) part[Math.floor(t / warp)] = value;
          syncThreads();
          if (t === 0) {
            for (let w = 1; w * warp < filled; w++) value = cast(op(value, part[w] as Value));
            if (filled <= 0) {
              if (empty !== undefined) out[s] = to(cast(empty));
            } else if (init === undefined) out[s] = to(value);
            else out[s] = to(cast(op(cast(init), value)));
          }
          syncThreads();
        }
      };
    },
    { captures, name, launchBounds: hasRoom ? [BLOCK, BLOCKS] : BLOCK },
  ) as unknown as Segments;
}
