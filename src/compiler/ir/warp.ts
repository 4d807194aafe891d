/**
 * What the lanes of a warp give each other: the meaning of every `WarpOp`, as a function from what each lane brings to what
 * each lane gets. The interpreter and the simulator both go by it.
 */
import type { Value } from './evaluate.ts';
import type { WarpOp } from './ops.ts';

export const WARP_SIZE = 32;

/** A lane that takes part, and its operands. */
export interface LaneEntry {
  readonly lane: number;
  readonly args: readonly Value[];
}

/** The result of each entry, in their order. Lanes that take no part give nothing: asked for their value, a lane gets its own. */
export function exchangeLanes(fn: WarpOp, entries: readonly LaneEntry[]): readonly Value[] {
  const byLane = new Map(entries.map((entry) => [entry.lane, entry]));
  const valueAt = (lane: number, own: LaneEntry): Value => (byLane.get(lane) ?? own).args[0] ?? 0;
  const lanes = (takes: (entry: LaneEntry) => boolean): number =>
    entries.reduce((mask, entry) => (takes(entry) ? mask | (1 << entry.lane) : mask), 0) >>> 0;
  const holds = (entry: LaneEntry): boolean => entry.args[0] === true;
  const source = (entry: LaneEntry): number => sourceLane(fn, entry.lane, Number(entry.args[1] ?? 0));
  switch (fn) {
    case 'shfl':
    case 'shflUp':
    case 'shflDown':
    case 'shflXor':
      return entries.map((entry) => valueAt(source(entry), entry));
    case 'all':
      return entries.map(() => entries.every(holds));
    case 'any':
      return entries.map(() => entries.some(holds));
    case 'eq':
      return entries.map(() => entries.every(holds) || !entries.some(holds));
    case 'ballot':
      return entries.map(() => lanes(holds));
    case 'matchAny':
      return entries.map((entry) => lanes((other) => Object.is(other.args[0], entry.args[0])));
    case 'matchAll': {
      const same = entries.every((entry) => Object.is(entry.args[0], entries[0]?.args[0]));
      return entries.map(() => (same ? lanes(() => true) : 0));
    }
    case 'activeMask':
      return entries.map(() => lanes(() => true));
    case 'sync':
      return entries.map(() => 0);
  }
}

/** The lane whose value a shuffle asks for; the own lane where that leaves the warp. `by` is an i32 whose low bits count. */
function sourceLane(fn: WarpOp, lane: number, by: number): number {
  switch (fn) {
    case 'shfl':
      return by & (WARP_SIZE - 1);
    case 'shflXor':
      return lane ^ (by & (WARP_SIZE - 1));
    default: {
      const from = fn === 'shflUp' ? lane - (by & (WARP_SIZE - 1)) : lane + (by & (WARP_SIZE - 1));
      return from >= 0 && from < WARP_SIZE ? from : lane;
    }
  }
}
