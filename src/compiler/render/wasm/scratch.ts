/**
 * Where things lie in the scratch memory that each worker owns.
 *
 * In order: fault record, static shared arrays, the renderer's own (variables kept across barriers, local arrays, print
 * slots, copies of global arrays), and last the dynamic shared memory, whose size only the launch knows.
 */
import { type ArraySym, ELEM_SIZE, type Kernel, type Var } from '../../ir/ops.ts';
import type { Regions } from '../../ir/passes/regions.ts';
import { hasExchange } from '../../ir/passes/warps.ts';
import { FAULT_BYTES } from './module.ts';

export interface ScratchLayout {
  /** Byte offsets of static shared and local arrays; dynamic shared arrays stand at `dynamic`. */
  readonly arrays: ReadonlyMap<ArraySym, number>;
  /** Byte offsets of context slots, by `Var.id`; one element a work item, 8 bytes for wide types and 4 for others. */
  readonly slots: ReadonlyMap<number, number>;
  /** Room for the index vector of a failed check. */
  readonly faultLanes: number;
  readonly printSlots: number;
  /** Room for the values of a warp, with as much before and behind them; in kernels that exchange any. */
  readonly exchange: number;
  /** Byte offsets of copies of global arrays. */
  readonly own: ReadonlyMap<ArraySym, number>;
  readonly dynamic: number;
  /** Work items of a block, with room for a vector that reaches over the end. */
  readonly items: number;
  readonly bytes: number;
  readonly perItem: ReadonlySet<ArraySym>;
}

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** `own`: bytes of copies of global arrays. */
export function layOutScratch(
  kernel: Kernel,
  regions: Regions,
  block: readonly [number, number, number],
  lanes: number,
  printValues: number,
  own: ReadonlyMap<ArraySym, number> = new Map(),
): ScratchLayout {
  const items = block[0] * block[1] * block[2] + lanes;
  const arrays = new Map<ArraySym, number>();
  const slots = new Map<number, number>();
  let at = FAULT_BYTES;
  const take = (bytes: number, align: number): number => {
    at = roundUp(at, align);
    const start = at;
    at += bytes;
    return start;
  };
  for (const array of kernel.arrays) {
    if (array.space === 'shared' && !array.dynamic) {
      arrays.set(array, take((array.length ?? 0) * ELEM_SIZE[array.elem], Math.max(16, array.align)));
    }
  }
  // A vector at the last element of a shared array may reach over its end: nothing that lies there is lost by reading.
  at += 64;
  for (const slot of regions.slots) slots.set(slot.id, take(items * slotSize(slot), 16));
  for (const array of kernel.arrays) {
    if (array.space !== 'local') continue;
    const copies = regions.perItemArrays.has(array) ? items : lanes;
    arrays.set(array, take((array.length ?? 0) * ELEM_SIZE[array.elem] * copies + 64, 16));
  }
  const faultLanes = take(8 * lanes, 16);
  const printSlots = take(8 * printValues, 16);
  const exchange = hasExchange(kernel) ? take(3 * 8 * lanes, 16) + 8 * lanes : 0;
  const copies = new Map<ArraySym, number>();
  for (const [array, bytes] of own) copies.set(array, take(bytes, 16));
  const dynamic = roundUp(at, 16);
  for (const array of kernel.arrays) if (array.space === 'shared' && array.dynamic) arrays.set(array, dynamic);
  return {
    arrays,
    slots,
    faultLanes,
    printSlots,
    exchange,
    own: copies,
    dynamic,
    items,
    // A vector that is stored under a mask reaches over the end of dynamic memory.
    bytes: dynamic + Math.max(64, 8 * lanes),
    perItem: regions.perItemArrays,
  };
}

export function slotSize(v: Var): number {
  return v.type === 'i64' || v.type === 'u64' || v.type === 'f64' ? 8 : 4;
}
