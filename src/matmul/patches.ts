/**
 * The kernel of matrix products for GPUs that are processors, in the kernel language: a thread computes some rows of some columns in registers, without shared memory, at whose barriers such devices
 * change from one group of lanes to the next. Neighbouring threads read neighbours of B, and all the same element of A.
 *
 * What lies beyond the edges is read again at the edge, and not stored.
 */
import type { Jit } from '../kernel/jit.ts';
import type { Vec } from '../kernel/types.ts';
import type { ProductKernel, Sizes } from './tiles.ts';
import { type SumSpec, upTo, type Value, wordsFor } from './words.ts';

/** Threads of a block, and rows of a thread. */
export const PATCH_THREADS = 64;
export const PATCH_ROWS = 8;

/** What a kernel is compiled for. B and C have their rows contiguous. */
export interface PatchSpec extends SumSpec {
  /** Columns of a thread, as many apart as a block has threads. */
  readonly columns: number;
}

/** `C[z] = A[z] · B[z]`. The grid: patches of rows along x, columns along y, matrices along z. */
export function patchProduct(jit: Jit, { columns, result, sum }: PatchSpec): ProductKernel {
  const captures = {
    ...wordsFor({ result, sum }),
    rows: upTo(PATCH_ROWS),
    columns: upTo(columns),
    threads: PATCH_THREADS,
  };
  return jit(
    ({ threadIdx, block, local, i32, type, typeOut, complex, same, rows, columns, threads }: typeof captures) =>
      (A: Vec<Value>, B: Vec<Value>, C: Vec<Value>, sizes: Sizes): void => {
        const [m, n, k] = [i32(sizes.m), i32(sizes.n), i32(sizes.k)];
        const [aRow, aK, bK] = [i32(sizes.aRow), i32(sizes.aK), i32(sizes.bK)];
        const wide = columns.length;
        const row = block.x * rows.length;
        const column = block.y * (threads * wide) + threadIdx.x;
        const startA = block.z * i32(sizes.aNext);
        const startB = block.z * i32(sizes.bNext);
        const fromA = local<number>(rows.length, i32);
        const fromB = local<number>(wide, i32);
        const sums = local<Value>(rows.length * wide, type);
        const y = local<Value>(wide, type);
        for (const r of rows) fromA[r] = startA + Math.min(row + r, m - 1) * aRow;
        for (const c of columns) fromB[c] = startB + Math.min(column + c * threads, n - 1);
        for (const r of rows)
          for (const c of columns) sums[r * wide + c] = complex ? type(0 as Value, 0 as Value) : type(0 as Value);
        for (let q = 0; q < k; q++) {
          for (const c of columns) {
            const given = B[(fromB[c] as number) + q * bK] as Value;
            y[c] = complex ? given : type(given);
          }
          for (const r of rows) {
            const given = A[(fromA[r] as number) + q * aK] as Value;
            const x = complex ? given : type(given);
            for (const c of columns)
              sums[r * wide + c] = ((sums[r * wide + c] as unknown as number) +
                (x as number) * (y[c] as unknown as number)) as Value;
          }
        }
        for (const r of rows) {
          const startC = block.z * i32(sizes.cNext) + (row + r) * i32(sizes.cRow) + column;
          for (const c of columns) {
            const sum = sums[r * wide + c] as Value;
            if (row + r < m && column + c * threads < n) C[startC + c * threads] = same ? sum : typeOut(sum);
          }
        }
      },
    { captures, name: 'matmul' },
  ) as unknown as ProductKernel;
}
