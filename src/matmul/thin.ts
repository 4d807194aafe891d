/**
 * The kernels of thin products for GPUs, in the kernel language: few rows by a matrix, which takes as long as reading the matrix. Products with few columns are the turned ones.
 *
 * A thread adds some columns over a part of k, all rows at once, so that each element of the matrix is read once; neighbouring threads read neighbours, be these columns or steps along k. The
 * threads of a block that have the same columns are added in shared memory. Where there are too few columns for all multiprocessors, k is cut into parts, whose sums a second
 * kernel adds: always in the same order, so that the bits are the same each time.
 */
import { i32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import { type ProductKernel, THREADS } from './tiles.ts';
import { type Construct, type SumSpec, upTo, type Value, wordsFor } from './words.ts';

/** Rows and columns up to which a product is thin. */
export const THIN = 8;

/** Blocks of thin products for each multiprocessor, and steps along k of a thread in the shortest part. */
const THIN_BLOCKS = 4;
const SHORTEST_PART = 16;
/** A thread adds all of them. */
const MOST_PARTS = 512;

/** What a kernel is compiled for. */
export interface ThinSpec extends SumSpec {
  /** Rows at most: 1, 2, 4 or 8. */
  readonly rows: number;
  /** Whether neighbouring threads have neighbouring columns, else neighbouring steps along k. */
  readonly across: boolean;
}

/** How the threads of a block are spread: threads with different columns, and columns of a thread. */
export interface Spread {
  readonly wide: number;
  readonly columns: number;
}

/** Fewer columns a thread where elements take many registers. */
export function spreadOf({ across, sum }: Pick<ThinSpec, 'across' | 'sum'>): Spread {
  return { wide: across ? 32 : 8, columns: sum.itemSize > 8 ? 2 : 4 };
}

/** Sizes and steps in elements, and how many steps along k a block takes. */
export interface ThinSizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly part: number;
  readonly aRow: number;
  readonly aK: number;
  readonly aNext: number;
  readonly bK: number;
  readonly bColumn: number;
  readonly bNext: number;
  readonly cRow: number;
  readonly cColumn: number;
  readonly cPart: number;
  readonly cNext: number;
}

/** How many steps along k a block takes of a thin product, and how many parts that makes: as many as keep all multiprocessors busy, and no short ones. */
export function partsOf(
  multiprocessors: number,
  k: number,
  blocks: number,
  deep: number,
): { readonly part: number; readonly parts: number } {
  const wanted = Math.ceil((THIN_BLOCKS * multiprocessors) / blocks);
  const most = Math.max(1, Math.floor(k / (deep * SHORTEST_PART)));
  const whole = Math.ceil(k / Math.max(1, Math.min(wanted, most, MOST_PARTS)));
  const part = Math.ceil(whole / deep) * deep;
  return { part, parts: Math.ceil(k / part) };
}

/** `C[z, part] = A[z] · B[z]` over a part of k. The grid: columns along x, parts along y, matrices along z. */
export function thinProduct(jit: Jit, spec: ThinSpec): ProductKernel {
  const { rows, sum, result } = spec;
  const { wide, columns } = spreadOf(spec);
  const captures = {
    ...wordsFor({ result, sum }),
    rows,
    across: spec.across,
    wide,
    deep: THREADS / wide,
    columns,
    threads: THREADS,
    // Loads that are under way at the same time.
    steps: upTo(sum.itemSize > 8 ? 1 : sum.itemSize > 4 ? 2 : 4),
  };
  return jit(thin, { captures, name: 'matmul', launchBounds: [THREADS, 1] }) as unknown as ProductKernel;
}

interface Captures {
  readonly threadIdx: { readonly x: number };
  readonly block: { readonly x: number; readonly y: number; readonly z: number };
  readonly syncThreads: () => void;
  readonly shared: <T>(length: number, dtype: unknown) => Vec<T>;
  readonly local: <T>(length: number, dtype: unknown) => Vec<T>;
  readonly i32: (x: number) => number;
  readonly type: Construct;
  readonly typeOut: Construct;
  readonly complex: boolean;
  readonly same: boolean;
  readonly rows: number;
  readonly across: boolean;
  readonly wide: number;
  readonly deep: number;
  readonly columns: number;
  readonly threads: number;
  readonly steps: readonly number[];
}

function thin(own: Captures): (A: Vec<Value>, B: Vec<Value>, C: Vec<Value>, sizes: ThinSizes) => void {
  const { threadIdx, block, syncThreads, shared, local, i32, type, typeOut, complex, same } = own;
  const { rows, across, wide, deep, columns, threads, steps } = own;

  return (A: Vec<Value>, B: Vec<Value>, C: Vec<Value>, sizes: ThinSizes): void => {
    // In the kernel and not around it: nobody sees what surrounds it where there is no inspector.
    const zero = (): Value => (complex ? type(0 as Value, 0 as Value) : type(0 as Value));
    const value = (x: Value): Value => (complex ? x : type(x));
    const add = (a: Value, b: Value): Value => ((a as unknown as number) + (b as unknown as number)) as Value;

    const [m, n] = [i32(sizes.m), i32(sizes.n)];
    const [aRow, aK, bK, bColumn] = [i32(sizes.aRow), i32(sizes.aK), i32(sizes.bK), i32(sizes.bColumn)];
    const at = across ? threadIdx.x % wide : Math.floor(threadIdx.x / deep);
    const along = across ? Math.floor(threadIdx.x / wide) : threadIdx.x % deep;
    const column0 = block.x * (wide * columns) + at;
    const begin = block.y * i32(sizes.part);
    const end = Math.min(begin + i32(sizes.part), i32(sizes.k));
    const startA = block.z * i32(sizes.aNext);
    const startB = block.z * i32(sizes.bNext);

    // What lies beyond the edges is read again at the edge, and not stored.
    const fromA = local<number>(rows, i32);
    for (let i = 0; i < rows; i++) fromA[i] = startA + Math.min(i, m - 1) * aRow;
    const fromB = local<number>(columns, i32);
    for (let q = 0; q < columns; q++) fromB[q] = startB + Math.min(column0 + q * wide, n - 1) * bColumn;
    const sums = local<Value>(rows * columns, type);
    for (let i = 0; i < rows * columns; i++) sums[i] = zero();
    const x = local<Value>(rows * steps.length, type);
    const y = local<Value>(columns * steps.length, type);

    let k = begin + along;
    for (; k + (steps.length - 1) * deep < end; k += steps.length * deep) {
      for (const s of steps) {
        for (let q = 0; q < columns; q++)
          y[s * columns + q] = value(B[(fromB[q] as number) + (k + s * deep) * bK] as Value);
        for (let i = 0; i < rows; i++) x[s * rows + i] = value(A[(fromA[i] as number) + (k + s * deep) * aK] as Value);
      }
      for (const s of steps)
        for (let i = 0; i < rows; i++)
          for (let q = 0; q < columns; q++)
            sums[i * columns + q] = ((sums[i * columns + q] as unknown as number) +
              (x[s * rows + i] as unknown as number) * (y[s * columns + q] as unknown as number)) as Value;
    }
    for (; k < end; k += deep) {
      for (let q = 0; q < columns; q++) y[q] = value(B[(fromB[q] as number) + k * bK] as Value);
      for (let i = 0; i < rows; i++) {
        const a = value(A[(fromA[i] as number) + k * aK] as Value);
        for (let q = 0; q < columns; q++)
          sums[i * columns + q] = ((sums[i * columns + q] as unknown as number) +
            (a as unknown as number) * (y[q] as unknown as number)) as Value;
      }
    }

    // A column at a time: of each row and column the threads along k, in their order.
    const parts = shared<Value>(rows * threads, type);
    const [row, other] = [Math.floor(threadIdx.x / wide), threadIdx.x % wide];
    const startC = block.z * i32(sizes.cNext) + block.y * i32(sizes.cPart) + row * i32(sizes.cRow);
    for (let q = 0; q < columns; q++) {
      for (let i = 0; i < rows; i++) parts[i * threads + along * wide + at] = sums[i * columns + q] as Value;
      syncThreads();
      const column = block.x * (wide * columns) + q * wide + other;
      if (row < Math.min(rows, m) && column < n) {
        let sum = parts[row * threads + other] as Value;
        for (let g = 1; g < deep; g++) sum = add(sum, parts[row * threads + g * wide + other] as Value);
        C[startC + column * i32(sizes.cColumn)] = same ? sum : typeOut(sum);
      }
      syncThreads();
    }
  };
}

/** `C[z] = Σ P[z, part]`, of parts that lie in a piece each. A thread for each element of C. */
export function partsSum(jit: Jit, { sum, result }: SumSpec): ProductKernel {
  const captures = {
    ...WORDS,
    i32,
    typeOut: result as unknown as Construct,
    same: result.name === sum.name,
  };
  return jit(
    ({ grid, i32, typeOut, same }: typeof captures) =>
      (P: Vec<Value>, C: Vec<Value>, sizes: PartSizes): void => {
        const [m, n, parts] = [i32(sizes.m), i32(sizes.n), i32(sizes.parts)];
        const id = grid(1);
        const z = Math.floor(id / (m * n));
        if (z >= i32(sizes.count)) return;
        const within = id % (m * n);
        const start = z * parts * m * n + within;
        let sum = P[start] as Value;
        for (let p = 1; p < parts; p++)
          sum = ((sum as unknown as number) + (P[start + p * m * n] as unknown as number)) as Value;
        const [row, column] = [Math.floor(within / n), within % n];
        C[z * i32(sizes.cNext) + row * i32(sizes.cRow) + column * i32(sizes.cColumn)] = same ? sum : typeOut(sum);
      },
    { captures, name: 'matmul' },
  ) as unknown as ProductKernel;
}

/** Sizes of parts, and steps of C in elements. */
export interface PartSizes {
  readonly m: number;
  readonly n: number;
  readonly parts: number;
  readonly count: number;
  readonly cRow: number;
  readonly cColumn: number;
  readonly cNext: number;
}
