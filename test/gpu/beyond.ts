/**
 * Primitives and sums of products over more than 2³¹ elements: indices, offsets and counts of 64 bits.
 */
import { cuda, f32, u8 } from '../../src/index.ts';
import {
  argmax,
  bincount,
  collect,
  countIf,
  gather,
  inclusiveScan,
  reduce,
  reverse,
  segmentedReduce,
  select,
} from '../../src/parallel/index.ts';
import { same, sameElements } from '../../testsuite/assert.ts';

/** Of bytes; two of them are not 0, one on either side of 2³¹. */
export function primitivesBeyond32Bits(length: number = 2 ** 31 + 12_345): string {
  const x = cuda.deviceArray(length, u8);
  x.set(0);
  const [near, far] = [77, length - 5];
  x.set(3, near);
  x.set(200, far);
  same(reduce(x, 'sum'), 203, 'sum');
  same(argmax(x), far, 'place of the greatest');
  same(
    countIf(x, (v) => v === 0),
    length - 2,
    'zeros',
  );
  sameElements(select(x, (v) => v > 0).copyToHost() as never, [3, 200]);
  sameElements(gather(x, BigInt64Array.of(BigInt(far), 0n, BigInt(near))).copyToHost(), [200, 0, 3]);
  const offsets = BigInt64Array.of(0n, 78n, BigInt(far), BigInt(length));
  sameElements(segmentedReduce(x, offsets, 'sum').copyToHost() as never, [3n, 0n, 200n]);
  const counts = Array.from(bincount(x, { length: 256 }).copyToHost() as ArrayLike<number | bigint>, Number);
  sameElements([counts[0], counts[3], counts[200]], [length - 2, 1, 1]);
  // In place: another array would take as much again.
  inclusiveScan(x, (a, b) => Math.max(a, b), { out: x });
  sameElements(
    [near - 1, near, far - 1, far, length - 1].map((k) => x.get(k)),
    [0, 3, 3, 200, 200],
  );
  const backwards = collect(reverse(x));
  sameElements(
    [0, 4, 5, length - 1 - near, length - near].map((k) => backwards.get(k)),
    [200, 200, 3, 3, 0],
  );
  return `${length} elements`;
}

/** Two rows of more than 2³⁰ floats: the second one ends beyond 2³¹. */
export function productsBeyond32Bits(columns: number = 2 ** 30 + 64): string {
  const a = cuda.deviceArray([2, columns], f32);
  a.set(0);
  const v = cuda.deviceArray(columns, f32);
  v.set(1);
  a.set(1, 0, 0);
  a.set(2, 1, 5);
  a.set(3, 1, columns - 1);
  sameElements(cuda.matmul(a, v).copyToHost(), [1, 5]);
  sameElements(cuda.einsum('ij,j->i', a, v).copyToHost(), [1, 5]);
  sameElements(cuda.einsum('ij->i', a).copyToHost(), [1, 5]);
  same(a.sum().get(), 6, 'sum');
  const columnSums = cuda.einsum('ij->j', a);
  sameElements(
    [0, 5, columns - 1].map((k) => columnSums.get(k)),
    [1, 2, 3],
  );
  return `2 × ${columns} elements`;
}
