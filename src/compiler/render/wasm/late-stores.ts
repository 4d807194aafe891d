/**
 * Stores to members of records wait for what is computed after them: `c[9 * t] = s; …; c[9 * t + 1] = s; …` of a small matrix that is written out. What then stands
 * side by side is stored as one (`interleave.ts`, `record-stores.ts`), and what is loaded in between is loaded together (`records.ts`).
 *
 * They wait for assignments that load nothing which they may change, in code whose checks have been made: nothing can fail in between.
 */
import { ELEM_SIZE, type Stmt } from '../../ir/ops.ts';
import { addReads, loadsOf, memParts } from '../../ir/passes/walk.ts';
import { cannotFail } from './checks.ts';
import { type Gen, isVector } from './gen.ts';
import { MOST_MEMBERS, mayBeSame } from './interleave.ts';

type Store = Stmt & { op: 'store' };
type Assign = Stmt & { op: 'assign' };

/** The list with its stores where they are made; the same list when none waits. */
export function withLateStores(g: Gen, list: readonly Stmt[]): readonly Stmt[] {
  if (g.lanes === 1 || g.mask !== null || g.variant.quick === true) return list;
  if (!list.some((s, k) => s.op === 'store' && list[k + 1]?.op === 'assign')) return list;
  // What stands together there has been found to.
  if (g.parallel.size > 0 && list.some((s) => g.parallel.has(s))) return list;
  const out: Stmt[] = [];
  const waiting: Store[] = [];
  const read = new Set<number>();
  const settle = (): void => {
    out.push(...waiting.splice(0));
    read.clear();
  };
  for (const s of list) {
    if (s.op === 'store' && mayWait(g, s) && (waiting.length === 0 || waiting[0]?.mem.array === s.mem.array)) {
      if (waiting.length === MOST_MEMBERS) settle();
      waiting.push(s);
      for (const e of [s.value, ...memParts(s.mem)]) addReads(e, read);
      continue;
    }
    if (s.op !== 'assign' || read.has(s.var.id) || waiting.some(({ mem }) => !isApart(g, s, mem.array))) settle();
    out.push(s);
  }
  settle();
  return out.every((s, k) => s === list[k]) ? list : out;
}

/** Whether a store is of lanes that do not lie side by side, and has been found to be within bounds. */
function mayWait(g: Gen, s: Store): boolean {
  return s.mem.array.space === 'global' && ELEM_SIZE[s.mem.elem] < 8 && isVector(g, s.mem.index) && cannotFail(g, [s]);
}

/** Whether an assignment loads nothing that is stored to an array, and cannot fail. */
function isApart(g: Gen, s: Assign, array: Store['mem']['array']): boolean {
  return loadsOf(s).every((e) => !mayBeSame(g, e.mem.array, array)) && cannotFail(g, [s]);
}
