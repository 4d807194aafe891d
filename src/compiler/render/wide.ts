/**
 * Wide accesses: statements that load or store neighbours one by one, side by side, which a device may do at once (`Wide` in `ir/ops.ts`).
 */
import type { Expr, MemRef, Stmt } from '../ir/ops.ts';
import { ELEM_SIZE } from '../ir/ops.ts';
import { someExpr } from '../ir/passes/walk.ts';
import { sameExpr } from '../ir/same.ts';

type Store = Stmt & { readonly op: 'store' };
type Load = Stmt & { readonly op: 'assign'; readonly value: Expr & { readonly op: 'load' } };

/** The stores from `list[k]` on that are all of one wide access, of values that read no memory; else none. */
export function wideStores(list: readonly Stmt[], k: number): readonly Store[] {
  const first = list[k];
  if (first?.op !== 'store' || first.mem.wide?.lane !== 0) return [];
  const stores: Store[] = [];
  for (const s of list.slice(k, k + first.mem.wide.lanes)) {
    if (s.op !== 'store' || !follows(first.mem, s.mem, stores.length) || someExpr(s.value, (e) => e.op === 'load'))
      break;
    stores.push(s);
  }
  return stores.length === first.mem.wide.lanes ? stores : [];
}

/** The assignments from `list[k]` on that are all of one wide access; else none. */
export function wideLoads(list: readonly Stmt[], k: number): readonly Load[] {
  const first = list[k];
  const wide = loadOf(first)?.wide;
  if (wide?.lane !== 0) return [];
  const loads = list.slice(k, k + wide.lanes).filter((s, n): s is Load => {
    const mem = loadOf(s);
    return mem !== undefined && follows(loadOf(first) as MemRef, mem, n);
  });
  return loads.length === wide.lanes ? loads : [];
}

function loadOf(s: Stmt | undefined): MemRef | undefined {
  return s?.op === 'assign' && s.value.op === 'load' ? s.value.mem : undefined;
}

/** Whether a reference is the lane `lane` of the access that `first` begins. */
function follows(first: MemRef, mem: MemRef, lane: number): boolean {
  return (
    mem.wide?.lane === lane &&
    mem.wide.lanes === first.wide?.lanes &&
    mem.array === first.array &&
    mem.elem === first.elem &&
    mem.scale === first.scale &&
    mem.disp === first.disp + lane * ELEM_SIZE[mem.elem] &&
    sameExpr(mem.index, first.index)
  );
}
