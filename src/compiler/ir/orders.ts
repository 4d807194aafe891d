/**
 * Orders of atomic operations as fences around relaxed ones, for devices that have no other word for them (C++'s fence-atomic
 * synchronisation: at least as strong as the order itself).
 */
import type { MemoryOrder, MemoryScope, Stmt } from './ops.ts';

/** The fences that an atomic operation needs before and after itself. */
export interface Around {
  readonly before: MemoryScope | undefined;
  readonly after: MemoryScope | undefined;
}

const RELEASES: ReadonlySet<MemoryOrder> = new Set(['release', 'acq_rel', 'seq_cst']);
const ACQUIRES: ReadonlySet<MemoryOrder> = new Set(['acquire', 'acq_rel', 'seq_cst']);

export function fencesAround({ order, scope = 'device' }: Stmt & { readonly op: 'atomic' }): Around {
  if (order === undefined) return { before: undefined, after: undefined };
  return { before: RELEASES.has(order) ? scope : undefined, after: ACQUIRES.has(order) ? scope : undefined };
}
