/**
 * Live variables: which ones may still be read, with the value they have now, at a point of a kernel.
 *
 * The usual backward analysis on the structured tree, for one thread. It asks each path alone; that a later region is
 * guarded by the same flag as an earlier one it does not see. The whole tree is walked again while anything is added at the
 * top of a loop: a fixed point for each loop on its own would take time exponential in the depth of nesting.
 */
import type { Label, Stmt } from '../ops.ts';
import { BitSet } from './bitset.ts';
import { addReads, defined, stmtExprs, stmtLists } from './walk.ts';

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

interface LoopFacts {
  /** What is live at the top, as far as it is known. */
  readonly top: BitSet;
  /** Variables that are assigned somewhere inside. */
  readonly assigned: BitSet;
  /** Whether something inside breaks out of it. */
  readonly left: boolean;
}

const NONE = new BitSet();

/** Analyses a list of statements after which no variable is live. */
export function analyseLiveness(list: readonly Stmt[]): Liveness {
  const before = new Map<Stmt, BitSet>();
  const after = new Map<Stmt, BitSet>();
  const middle = new Map<Stmt, BitSet>();
  const targets = new Map<Label, Targets>();
  const loops = factsOfLoops(list);
  let grew = false;

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
        const facts = loops.get(s);
        if (facts === undefined) throw new Error('internal error: a loop that is not in the tree');
        const { top, assigned, left } = facts;
        // What the loop leaves alone comes through it: known at once, it need not wait for a round for each level of nesting.
        if (left) top.addAll(out, assigned);
        // The update may leave the loop as well.
        targets.set(s.label, { break: out, continue: NONE });
        const update = listBefore(s.update, top);
        middle.set(s, update);
        targets.set(s.label, { break: out, continue: update });
        if (top.addAll(listBefore(s.body, update))) grew = true;
        return top.copy();
      }
    }
  }

  let entry: BitSet;
  do {
    grew = false;
    entry = listBefore(list, NONE);
  } while (grew);
  return {
    entry,
    before: (s) => before.get(s) ?? NONE,
    after: (s) => after.get(s) ?? NONE,
    elseEntry: (s) => middle.get(s) ?? NONE,
    updateEntry: (s) => middle.get(s) ?? NONE,
  };
}

/** One walk that finds what each loop assigns, inner loops before outer ones. */
function factsOfLoops(list: readonly Stmt[]): Map<Stmt, LoopFacts> {
  const facts = new Map<Stmt, LoopFacts>();
  const broken = new Set<Label>();
  const walk = (stmts: readonly Stmt[], assigned: BitSet): void => {
    for (const s of stmts) {
      const id = defined(s);
      if (id !== undefined) assigned.add(id);
      if (s.op === 'break') broken.add(s.label);
      if (s.op !== 'loop') {
        for (const inner of stmtLists(s)) walk(inner, assigned);
        continue;
      }
      const own = new BitSet();
      walk(s.body, own);
      walk(s.update, own);
      facts.set(s, { top: new BitSet(), assigned: own, left: broken.has(s.label) });
      assigned.addAll(own);
    }
  };
  walk(list, new BitSet());
  return facts;
}
