/**
 * `if (c) a[i] = x; else a[i] = y`: each lane stores once, whichever way it goes. Under masks, each branch would store its lanes one by one,
 * as a vector cannot be written back where another thread may write in the meantime; both together are a whole vector.
 */
import type { MemRef, Stmt } from '../../ir/ops.ts';
import { assignedIn, someExpr, someStmt } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { boundsHazards } from './checks.ts';
import { type Gen, shapeOf } from './gen.ts';

type Store = Stmt & { op: 'store' };

export interface JointStore {
  readonly mem: MemRef;
  /** Both branches up to the store that ends them, and that store. */
  readonly branches: readonly [JointBranch, JointBranch];
}

export interface JointBranch {
  readonly list: readonly Stmt[];
  readonly store: Store;
}

/** What both branches of an `if` end with: a store to the same place, consecutive in the lanes, with nothing left to be checked. */
export function jointStore(g: Gen, s: Stmt & { op: 'if' }): JointStore | undefined {
  const [yes, no] = [s.then.at(-1), s.else.at(-1)];
  if (yes?.op !== 'store' || no?.op !== 'store' || !isSamePlace(yes.mem, no.mem)) return undefined;
  const { index } = yes.mem;
  if (shapeOf(g, index) !== 'C' || boundsHazards(g, yes.mem).length + boundsHazards(g, no.mem).length > 0) {
    return undefined;
  }
  const [then, otherwise] = [s.then.slice(0, -1), s.else.slice(0, -1)];
  const before = [...then, ...otherwise];
  // Lanes that leave early do not store.
  if (someStmt(before, (x) => x.op === 'break' || x.op === 'continue')) return undefined;
  const assigned = assignedIn(before);
  if (someExpr(index, (e) => e.op === 'load' || (e.op === 'var' && assigned.has(e.var.id)))) return undefined;
  return {
    mem: yes.mem,
    branches: [
      { list: then, store: yes },
      { list: otherwise, store: no },
    ],
  };
}

function isSamePlace(a: MemRef, b: MemRef): boolean {
  if (a.array !== b.array || a.elem !== b.elem || a.scale !== b.scale || a.disp !== b.disp) return false;
  return sameExpr(a.index, b.index);
}
