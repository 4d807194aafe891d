/**
 * Stores of lanes that lie side by side in another order, known while the code is written: those of `t ^ 1`, or of `n - t`.
 */
import { ELEM_SIZE, type MemRef } from '../../ir/ops.ts';
import type { Local } from './assembler.ts';
import type { Gen } from './gen.ts';
import type { Offsets } from './lane-facts.ts';

/** Whether each four lanes of 4 bytes are four neighbours in some order, which may be written back as a whole. */
export function isPermuted({ mask }: Gen, { elem, array }: MemRef, distances: Offsets): boolean {
  if (ELEM_SIZE[elem] !== 4 || (mask !== null && array.space === 'global')) return false;
  return distances.every((_, lane) => lane % 4 > 0 || orderOf(distances, lane) !== undefined);
}

/** In the order of memory, which of the four lanes from `first` on are where; undefined where these are not neighbours. */
function orderOf(distances: Offsets, first: number): readonly number[] | undefined {
  const own = distances.slice(first, first + 4);
  const order = own.map((_, lane) => lane).sort((a, b) => (own[a] ?? 0) - (own[b] ?? 0));
  const least = own[order[0] ?? 0] ?? 0;
  return order.every((lane, k) => own[lane] === least + 4 * k) ? order : undefined;
}

/** Stores the active lanes of vectors, each as a whole: what inactive ones hold is written back. */
export function storePermuted(
  g: Gen,
  address: (lane: number) => number,
  offset: number,
  parts: readonly Local[],
  distances: Offsets,
): void {
  const { f, mask } = g;
  for (const [p, local] of parts.entries()) {
    const order = orderOf(distances, 4 * p) ?? [];
    const push = (): number => offset + address(4 * p + (order[0] ?? 0));
    const inOrder = (vector: Local): void => {
      f.get(vector);
      if (order.every((lane, k) => lane === k)) return;
      f.get(vector);
      f.shuffle(order.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte)));
    };
    const at = push();
    inOrder(local);
    if (mask !== null) {
      push();
      f.memory('v128.load', 2, at);
      inOrder(mask.parts[p] ?? 0);
      f.op('v128.bitselect');
    }
    f.memory('v128.store', 2, at);
  }
}
