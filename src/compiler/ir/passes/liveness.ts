/**
 * Live variables: which ones may still be read, with the value they have now, at a point of a kernel.
 *
 * The usual backward analysis on the structured tree, for one thread. It asks each path alone; that a later region is
 * guarded by the same flag as an earlier one it does not see.
 */
import type { Label, Stmt } from '../ops.ts';
import { BitSet } from './bitset.ts';
import { addReads, defined, stmtExprs } from './walk.ts';

/** Ids of variables. */
export interface VarSet extends Iterable<number> {
  has(id: number): boolean;
}

export type Construct = Stmt & { op: 'if' | 'loop' | 'block' };

export interface Liveness {
  /** At the start of the list analysed: variables that may be read before anything was assigned to them. */
  readonly entry: VarSet;
  /** Just before an `if`, loop or block; just after it, where its paths have met again. */
  before(s: Construct): VarSet;
  after(s: Construct): VarSet;
  /** At the start of the else part of an `if`. */
  elseEntry(s: Stmt & { op: 'if' }): VarSet;
  /** At the start of the update of a loop, where `continue` goes. */
  updateEntry(s: Stmt & { op: 'loop' }): VarSet;
}

interface Targets {
  readonly break: BitSet;
  readonly continue: BitSet;
}

const NONE = new BitSet();

/** Analyses a list of statements after which no variable is live. */
export function analyseLiveness(list: readonly Stmt[]): Liveness {
  const before = new Map<Stmt, BitSet>();
  const after = new Map<Stmt, BitSet>();
  const middle = new Map<Stmt, BitSet>();
  const targets = new Map<Label, Targets>();

  /** Of the sets passed around, only the one that this function is making is ever changed. */
  function listBefore(stmts: readonly Stmt[], out: BitSet): BitSet {
    let live = out.copy();
    for (let i = stmts.length - 1; i >= 0; i--) {
      const s = stmts[i];
      if (s === undefined) continue;
      switch (s.op) {
        case 'return':
        case 'trap':
          live = new BitSet();
          break;
        case 'break':
          live = (targets.get(s.label)?.break ?? NONE).copy();
          break;
        case 'continue':
          live = (targets.get(s.label)?.continue ?? NONE).copy();
          break;
        case 'if':
        case 'loop':
        case 'block': {
          after.set(s, live);
          const top = constructBefore(s, live);
          before.set(s, top);
          live = top.copy();
          break;
        }
        default: {
          const id = defined(s);
          if (id !== undefined) live.delete(id);
          for (const e of stmtExprs(s)) addReads(e, live);
        }
      }
    }
    return live;
  }

  function constructBefore(s: Construct, out: BitSet): BitSet {
    switch (s.op) {
      case 'block':
        targets.set(s.label, { break: out, continue: NONE });
        return listBefore(s.body, out);
      case 'if': {
        const otherwise = listBefore(s.else, out);
        middle.set(s, otherwise);
        const live = listBefore(s.then, out);
        live.addAll(otherwise);
        addReads(s.cond, live);
        return live;
      }
      case 'loop': {
        // The update may leave the loop as well.
        targets.set(s.label, { break: out, continue: NONE });
        // Around the loop until nothing is added: what is live at its top is live at the end of its update.
        for (const top = new BitSet(); ; ) {
          const update = listBefore(s.update, top);
          middle.set(s, update);
          targets.set(s.label, { break: out, continue: update });
          if (!top.addAll(listBefore(s.body, update))) return top;
        }
      }
    }
  }

  const entry = listBefore(list, NONE);
  return {
    entry,
    before: (s) => before.get(s) ?? NONE,
    after: (s) => after.get(s) ?? NONE,
    elseEntry: (s) => middle.get(s) ?? NONE,
    updateEntry: (s) => middle.get(s) ?? NONE,
  };
}
