/**
 * The kernel of matrix products for devices whose threads are lanes of vectors: the CPU device, and the simulator. A thread computes a few rows of one column, so that
 * neighbouring threads read neighbours of B, and all the same element of A.
 */
import type { Jit } from '../kernel/jit.ts';
import type { Vec } from '../kernel/types.ts';
import type { ProductKernel, Sizes } from './tiles.ts';
import { type SumSpec, type Value, wordsFor } from './words.ts';

/** Columns of a block, and rows of a thread. */
export const STRIP_COLUMNS = 64;
export const STRIP_ROWS = 8;

/** `C[z] = A[z] · B[z]`; B and C have their rows contiguous. The grid: strips of rows along x, columns along y, matrices along z. */
export function stripProduct(jit: Jit, spec: SumSpec): ProductKernel {
  const captures = {
    ...wordsFor(spec),
    rows: STRIP_ROWS,
    columns: STRIP_COLUMNS,
  };
  return jit(
    ({ threadIdx, block, local, i32, type, typeOut, complex, same, rows, columns }: typeof captures) =>
      (A: Vec<Value>, B: Vec<Value>, C: Vec<Value>, sizes: Sizes): void => {
        const [m, n, k] = [i32(sizes.m), i32(sizes.n), i32(sizes.k)];
        const [aRow, aK, bK] = [i32(sizes.aRow), i32(sizes.aK), i32(sizes.bK)];
        const row = block.x * rows;
        const column = block.y * columns + threadIdx.x;
        if (column >= n) return;
        const startA = block.z * i32(sizes.aNext);
        const startB = block.z * i32(sizes.bNext) + column;
        const sums = local<Value>(rows, type);
        const from = local<number>(rows, i32);
        // What is beyond the last row is computed, and not stored.
        for (let r = 0; r < rows; r++) from[r] = startA + Math.min(row + r, m - 1) * aRow;
        for (let r = 0; r < rows; r++) sums[r] = complex ? type(0 as Value, 0 as Value) : type(0 as Value);
        for (let q = 0; q < k; q++) {
          const y = complex ? (B[startB + q * bK] as Value) : type(B[startB + q * bK] as Value);
          for (let r = 0; r < rows; r++) {
            const given = A[(from[r] as number) + q * aK] as Value;
            const x = complex ? given : type(given);
            sums[r] = ((sums[r] as unknown as number) + (x as number) * (y as number)) as Value;
          }
        }
        const startC = block.z * i32(sizes.cNext) + column;
        for (let r = 0; r < rows; r++) {
          const sum = sums[r] as Value;
          if (row + r < m) C[startC + (row + r) * i32(sizes.cRow)] = same ? sum : typeOut(sum);
        }
      },
    { captures, name: 'matmul' },
  ) as unknown as ProductKernel;
}
