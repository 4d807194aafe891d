/**
 * Live variables: which ones may still be read, with the value they have now, at a point of a kernel.
 *
 * The usual backward analysis on the structured tree, for one thread. It asks each path alone; that a later region is
 * guarded by the same flag as an earlier one it does not see.
 */
import type { Label, Stmt } from '../ops.ts';
import { addReads, defined, stmtExprs } from './walk.ts';

/** Ids of variables. */
export type VarSet = ReadonlySet<number>;

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
  readonly break: VarSet;
  readonly continue: VarSet;
}

const NONE: VarSet = new Set();

/** Analyses a list of statements after which the variables `exit` are live. */
export function analyseLiveness(list: readonly Stmt[], exit: VarSet = NONE): Liveness {
  const before = new Map<Stmt, VarSet>();
  const after = new Map<Stmt, VarSet>();
  const middle = new Map<Stmt, VarSet>();
  const targets = new Map<Label, Targets>();

  /** Of the sets passed around, only the one that this function is making is ever changed. */
  function listBefore(stmts: readonly Stmt[], out: VarSet): VarSet {
    let live = new Set(out);
    for (let i = stmts.length - 1; i >= 0; i--) {
      const s = stmts[i];
      if (s === undefined) continue;
      switch (s.op) {
        case 'return':
        case 'trap':
          live = new Set();
          break;
        case 'break':
          live = new Set(targets.get(s.label)?.break);
          break;
        case 'continue':
          live = new Set(targets.get(s.label)?.continue);
          break;
        case 'if':
        case 'loop':
        case 'block': {
          after.set(s, live);
          const top = constructBefore(s, live);
          before.set(s, top);
          live = new Set(top);
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

  function constructBefore(s: Construct, out: VarSet): VarSet {
    switch (s.op) {
      case 'block':
        targets.set(s.label, { break: out, continue: NONE });
        return listBefore(s.body, out);
      case 'if': {
        const otherwise = listBefore(s.else, out);
        middle.set(s, otherwise);
        const live = new Set(listBefore(s.then, out));
        for (const id of otherwise) live.add(id);
        addReads(s.cond, live);
        return live;
      }
      case 'loop': {
        // The update may leave the loop as well.
        targets.set(s.label, { break: out, continue: NONE });
        // Around the loop until nothing is added: what is live at its top is live at the end of its update.
        for (let top: VarSet = NONE; ; ) {
          const update = listBefore(s.update, top);
          middle.set(s, update);
          targets.set(s.label, { break: out, continue: update });
          const again = new Set(listBefore(s.body, update));
          for (const id of top) again.add(id);
          if (again.size === top.size) return top;
          top = again;
        }
      }
    }
  }

  const entry = listBefore(list, exit);
  return {
    entry,
    before: (s) => before.get(s) ?? NONE,
    after: (s) => after.get(s) ?? NONE,
    elseEntry: (s) => middle.get(s) ?? NONE,
    updateEntry: (s) => middle.get(s) ?? NONE,
  };
}
