/**
 * The kernel of matrix products for GPUs, in the kernel language: a block computes a tile of the result, a thread a part of it in registers.
 *
 * Tiles of both operands come through shared memory, twice over: while one pair is multiplied the next is on its way. Threads of a warp are 8 × 4, so that a step along k
 * reads vectors of shared memory that all lanes of a row or column have in common. What lies beyond the operands' edges is read again at the edge and not stored, and zero
 * beyond the end of k.
 */
import type { DType } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { type Construct, upTo, type Value, wordsFor } from './words.ts';

/** Two or four elements. */
interface Vector {
  readonly x: Value;
  readonly y: Value;
  readonly z: Value;
  readonly w: Value;
}

/** Threads of a block: eight warps of 8 × 4. */
export const THREADS = 256;
/** Rows of tiles that neighbouring blocks share, so that what they read is in the cache. */
const GROUP = 8;

/** How a tile of an operand is read: vectors along k or along the other axis, or elements, with neighbouring threads along one of these. */
export type Reading = 'vectors-k' | 'vectors' | 'k' | 'other';

/** What a kernel is compiled for. */
export interface TileSpec {
  readonly a: Reading;
  readonly b: Reading;
  /** The result's rows are stored as vectors. */
  readonly vectorsOut: boolean;
  /** The types of elements in memory, and what they are multiplied and added in. */
  readonly element: Elements;
  readonly result: Elements;
  readonly sum: Elements;
  readonly tile: Tile;
}

/** A type, and vectors of it: of one lane if there are none. */
export interface Elements {
  readonly type: DType;
  readonly vector: DType;
  readonly lanes: 1 | 2 | 4;
}

/** The parts of a block and a thread. */
export interface Tile {
  /** Rows and columns that a thread computes: multiples of the lanes. A block has 16 times as many of both. */
  readonly rows: number;
  readonly columns: number;
  /** How far a tile goes along k. */
  readonly depth: number;
  /** Steps along k that are written out one after another. */
  readonly unrolled: number;
  /** Blocks that a multiprocessor holds. */
  readonly blocks: number;
}

/** The sizes of a product and where operands begin: steps from element to element, counted in vectors where these are read. */
export interface Sizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** From row to row, along k, and from matrix to matrix. */
  readonly aRow: number;
  readonly aK: number;
  readonly aNext: number;
  readonly bK: number;
  readonly bColumn: number;
  readonly bNext: number;
  readonly cRow: number;
  readonly cColumn: number;
  readonly cNext: number;
}

/** `C[z] = A[z] · B[z]` of memory seen as arrays of one axis. The grid: tiles along x, matrices along y. */
export type ProductKernel = Kernel<readonly unknown[]>;

/** How a tile of one operand is read: what is known when the kernel is compiled. */
interface Side {
  readonly reading: Reading;
  readonly lanes: number;
  /** 0, 1 … of the lanes. */
  readonly each: readonly number[];
  /** Vectors, or elements, of each thread. */
  readonly parts: number;
  /** Vectors, or elements, that lie side by side: a power of two, as it is and as a shift. */
  readonly mask: number;
  readonly shift: number;
  /** Elements from one step along k to the next in shared memory. */
  readonly pitch: number;
}

function sideOf(reading: Reading, size: number, { lanes }: Elements, depth: number): Side {
  const wide = reading === 'vectors' || reading === 'vectors-k' ? lanes : 1;
  const count = reading === 'vectors' || reading === 'other' ? size / wide : depth / wide;
  const parts = (size * depth) / wide / THREADS;
  // Rows begin in different banks.
  return {
    reading,
    lanes: wide,
    each: upTo(wide),
    parts,
    mask: count - 1,
    shift: Math.log2(count),
    pitch: size + lanes,
  };
}

/** What a kernel captures. */
function capturesOf({ a, b, vectorsOut, element, result, sum, tile }: TileSpec) {
  const [tileRows, tileColumns] = [16 * tile.rows, 16 * tile.columns];
  return {
    ...wordsFor({ result: result.type, sum: sum.type }),
    tile,
    tileRows,
    tileColumns,
    warpsAcross: tileColumns / (4 * tile.columns),
    threads: THREADS,
    group: GROUP,
    left: sideOf(a, tileRows, element, tile.depth),
    right: sideOf(b, tileColumns, element, tile.depth),
    steps: upTo(tile.unrolled),
    lanes: sum.lanes,
    each: upTo(sum.lanes),
    vector: sum.vector as unknown as Construct,
    vectorIn: element.vector,
    bytesIn: element.lanes * element.type.itemSize,
    vectorOut: result.vector as unknown as Construct,
    bytesOut: result.lanes * result.type.itemSize,
    vectorsOut,
  };
}

/** The kernel for one way of reading and one type. */
export function tiledProduct(jit: Jit, spec: TileSpec): ProductKernel {
  const captures = capturesOf(spec);
  const launchBounds = [THREADS, spec.tile.blocks] as const;
  return jit(product, { captures, name: 'matmul', launchBounds }) as unknown as ProductKernel;
}

function product(own: ReturnType<typeof capturesOf>) {
  const { threadIdx, block, syncThreads, shared, assumeAligned, local, i32 } = own;
  const { tile, tileRows, tileColumns, warpsAcross, group, threads, left, right, steps } = own;
  const { lanes, each, complex, type, vector, vectorIn, bytesIn, vectorOut, bytesOut, vectorsOut, typeOut, same } = own;
  const { depth, rows, columns, unrolled } = tile;

  return (A: Vec<Value>, B: Vec<Value>, C: Vec<Value>, sizes: Sizes): void => {
    // In the kernel and not around it: nobody sees what surrounds it where there is no inspector.
    const zero = (): Value => (complex ? type(0 as Value, 0 as Value) : type(0 as Value));
    const value = (x: Value): Value => (complex ? x : type(x));
    const stored = (x: Value): Value => (same ? x : typeOut(x));
    const lane = (v: Value, j: number): Value => {
      if (lanes === 1) return v;
      const { x, y } = v as Vector;
      return j === 0 ? x : j === 1 ? y : j === 2 ? (v as Vector).z : (v as Vector).w;
    };

    /** The places of a part in its tile: across k, and along it. */
    const across = ({ reading, lanes, mask, shift }: Side, id: number): number =>
      reading === 'vectors' ? lanes * (id & mask) : reading === 'other' ? id & mask : id >> shift;
    const along = ({ reading, lanes, mask, shift }: Side, id: number): number =>
      reading === 'vectors-k' ? lanes * (id & mask) : reading === 'k' ? id & mask : id >> shift;

    /** Reads a thread's parts of a tile that begins at `outer` and `k0`. */
    const fetch = (side: Side, from: Vec<Value>, to: Vec<Value>, place: Place, k0: number): void => {
      const { outer, end, endK, step, stepK, start } = place;
      for (let p = 0; p < side.parts; p++) {
        const id = threadIdx.x + p * threads;
        const o = outer + across(side, id);
        const k = k0 + along(side, id);
        const by = side.reading === 'vectors' ? side.lanes : 1;
        const at = Math.min(Math.floor(o / by), end - 1) * step;
        const atK = (side.reading === 'vectors-k' ? Math.floor(k / side.lanes) : k) * stepK;
        if (side.lanes === 1) {
          to[p] = zero();
          if (k < endK) to[p] = value(from[start + at + atK] as Value);
        } else {
          for (const j of side.each) to[p * side.lanes + j] = zero();
          if (k < endK) {
            const v = from[start + at + atK] as Value;
            for (const j of side.each) to[p * side.lanes + j] = value(lane(v, j));
          }
        }
      }
    };

    /** Keeps them in shared memory. */
    const keep = (side: Side, from: Vec<Value>, to: Vec<Value>, vectors: Vec<Value>, begin: number): void => {
      for (let p = 0; p < side.parts; p++) {
        const id = threadIdx.x + p * threads;
        const [o, k] = [across(side, id), along(side, id)];
        if (side.reading === 'vectors') {
          const at = ((begin + k) * side.pitch) / lanes + Math.floor(o / lanes);
          const q = p * lanes;
          vectors[at] = (
            lanes === 4
              ? vector(from[q] as Value, from[q + 1] as Value, from[q + 2] as Value, from[q + 3] as Value)
              : vector(from[q] as Value, from[q + 1] as Value)
          ) as Value;
        } else {
          for (const j of side.each) to[(begin + k + j) * side.pitch + o] = from[p * side.lanes + j] as Value;
        }
      }
    };

    const [m, n, k] = [i32(sizes.m), i32(sizes.n), i32(sizes.k)];
    const z = block.y;
    // Which tile: down through some rows of tiles, then on to the next column.
    const [high, wide] = [Math.floor((m + tileRows - 1) / tileRows), Math.floor((n + tileColumns - 1) / tileColumns)];
    const first = group * Math.floor(block.x / (group * wide));
    const inGroup = Math.min(high - first, group);
    const within = block.x % (group * wide);
    const row0 = tileRows * (first + (within % inGroup));
    const column0 = tileColumns * Math.floor(within / inGroup);

    const As = shared<Value>((2 * depth * left.pitch) / lanes, vector);
    const Bs = shared<Value>((2 * depth * right.pitch) / lanes, vector);
    const As1 = lanes === 1 ? As : (As as unknown as Viewing).view(type);
    const Bs1 = lanes === 1 ? Bs : (Bs as unknown as Viewing).view(type);
    const readA = left.lanes === 1 ? A : (assumeAligned(A, bytesIn) as unknown as Viewing).view(vectorIn);
    const readB = right.lanes === 1 ? B : (assumeAligned(B, bytesIn) as unknown as Viewing).view(vectorIn);
    const a = local<Value>(left.parts * left.lanes, type);
    const b = local<Value>(right.parts * right.lanes, type);
    const sums = local<Value>(rows * columns, type);
    for (let i = 0; i < rows * columns; i++) sums[i] = zero();
    const endA = left.reading === 'vectors' ? Math.floor(m / left.lanes) : m;
    const endB = right.reading === 'vectors' ? Math.floor(n / right.lanes) : n;
    const placeA = {
      outer: row0,
      end: endA,
      endK: k,
      step: i32(sizes.aRow),
      stepK: i32(sizes.aK),
      start: z * i32(sizes.aNext),
    };
    const placeB = {
      outer: column0,
      end: endB,
      endK: k,
      step: i32(sizes.bColumn),
      stepK: i32(sizes.bK),
      start: z * i32(sizes.bNext),
    };

    // A warp has 8 rows of threads, and 4 columns.
    const [warp, inWarp] = [threadIdx.x >> 5, threadIdx.x & 31];
    const row = Math.floor(warp / warpsAcross) * 8 * rows + (inWarp >> 2) * lanes;
    const column = (warp % warpsAcross) * 4 * columns + (inWarp & 3) * lanes;
    const [rowAt, columnAt] = [Math.floor(row / lanes), Math.floor(column / lanes)];

    fetch(left, readA, a, placeA, 0);
    fetch(right, readB, b, placeB, 0);
    keep(left, a, As1, As, 0);
    keep(right, b, Bs1, Bs, 0);
    syncThreads();
    let begin = 0;
    for (let k0 = depth; k0 - depth < k; k0 += depth) {
      if (k0 < k) {
        fetch(left, readA, a, placeA, k0);
        fetch(right, readB, b, placeB, k0);
      }
      for (let s0 = 0; s0 < depth; s0 += unrolled) {
        for (const s of steps) {
          const fromA = (begin + s0 + s) * (left.pitch / lanes) + rowAt;
          const fromB = (begin + s0 + s) * (right.pitch / lanes) + columnAt;
          const x = local<Value>(rows, type);
          const y = local<Value>(columns, type);
          for (let g = 0; g < rows / lanes; g++) {
            const v = As[fromA + 8 * g] as Value;
            for (const j of each) x[g * lanes + j] = lane(v, j);
          }
          for (let g = 0; g < columns / lanes; g++) {
            const v = Bs[fromB + 4 * g] as Value;
            for (const j of each) y[g * lanes + j] = lane(v, j);
          }
          for (let i = 0; i < rows; i++)
            for (let j = 0; j < columns; j++)
              sums[i * columns + j] = ((sums[i * columns + j] as unknown as number) +
                (x[i] as unknown as number) * (y[j] as unknown as number)) as Value;
        }
      }
      begin = depth - begin;
      if (k0 < k) {
        keep(left, a, As1, As, begin);
        keep(right, b, Bs1, Bs, begin);
      }
      syncThreads();
    }

    const into = vectorsOut ? (assumeAligned(C, bytesOut) as unknown as Viewing).view(vectorOut) : C;
    for (let i = 0; i < rows; i++) {
      const r = row0 + row + 8 * lanes * Math.floor(i / lanes) + (i % lanes);
      if (r < m) {
        const start = z * i32(sizes.cNext) + r * i32(sizes.cRow);
        for (let g = 0; g < columns / lanes; g++) {
          const c = column0 + column + 4 * lanes * g;
          const q = i * columns + g * lanes;
          if (vectorsOut) {
            if (c < n)
              into[start + Math.floor(c / lanes)] = (
                lanes === 4
                  ? vectorOut(
                      stored(sums[q] as Value),
                      stored(sums[q + 1] as Value),
                      stored(sums[q + 2] as Value),
                      stored(sums[q + 3] as Value),
                    )
                  : vectorOut(stored(sums[q] as Value), stored(sums[q + 1] as Value))
              ) as Value;
          } else {
            for (const j of each)
              if (c + j < n) into[start + (c + j) * i32(sizes.cColumn)] = stored(sums[q + j] as Value);
          }
        }
      }
    }
  };
}

/** Where a tile is read: from `outer` on, before the `end`, with steps in what is read. */
interface Place {
  readonly outer: number;
  readonly end: number;
  readonly endK: number;
  readonly step: number;
  readonly stepK: number;
  readonly start: number;
}

interface Viewing {
  view(type: unknown): Vec<Value>;
}
