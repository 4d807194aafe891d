/**
 * Removes what has no effect: assignments that nobody reads, statements that cannot be reached, empty constructs.
 *
 * What may fail in checked mode is an effect, also when its value is not wanted.
 */
import { ifElse } from '../builder.ts';
import { mayFail } from '../measures.ts';
import type { Label, Stmt } from '../ops.ts';
import { BitSet } from './bitset.ts';
import { analyseLiveness, type Construct, type VarSet } from './liveness.ts';
import { addReads, defined, jumpsTo, stmtExprs } from './walk.ts';

/** `failing`: whether checks are compiled in, so that a load that fails shows. */
export function removeDead(list: readonly Stmt[], failing: boolean): readonly Stmt[] {
  const liveness = analyseLiveness(list);
  const constructs = new Map<Label, Construct>();
  return walk(list, []);

  /** Backwards through a list: what of it is kept, and what is live before it. */
  function walk(stmts: readonly Stmt[], out: Iterable<number>): readonly Stmt[] {
    let live = new BitSet(out);
    const kept: Stmt[] = [];
    let changed = false;
    for (let i = stmts.length - 1; i >= 0; i--) {
      const s = stmts[i];
      if (s === undefined) continue;
      const t = s.op === 'if' || s.op === 'loop' || s.op === 'block' ? construct(s) : simple(s, live);
      if (t !== s) changed = true;
      if (t === undefined) continue;
      if (endsHere(t)) {
        // Nothing after a jump is ever reached.
        if (kept.length > 0) changed = true;
        kept.length = 0;
      }
      kept.unshift(t);
      live = liveBefore(s, live);
    }
    return changed ? kept : stmts;
  }

  function liveBefore(s: Stmt, live: BitSet): BitSet {
    switch (s.op) {
      case 'return':
      case 'trap':
        return new BitSet();
      case 'break': {
        const target = constructs.get(s.label);
        return new BitSet(target ? liveness.after(target) : []);
      }
      case 'continue': {
        const target = constructs.get(s.label);
        return new BitSet(target?.op === 'loop' ? liveness.updateEntry(target) : []);
      }
      case 'if':
      case 'loop':
      case 'block':
        return new BitSet(liveness.before(s));
      default: {
        const id = defined(s);
        if (id !== undefined) live.delete(id);
        for (const e of stmtExprs(s)) addReads(e, live);
        return live;
      }
    }
  }

  function simple(s: Stmt, live: VarSet): Stmt | undefined {
    if (s.op === 'assign' && !live.has(s.var.id)) {
      return failing && mayFail(s.value) ? s : undefined;
    }
    if (s.op === 'atomic' && s.result && !live.has(s.result.id)) return { ...s, result: undefined };
    return s;
  }

  function construct(s: Construct): Stmt | undefined {
    switch (s.op) {
      case 'if': {
        const after = liveness.after(s);
        const [then, otherwise] = [walk(s.then, after), walk(s.else, after)];
        if (then.length + otherwise.length === 0 && !(failing && mayFail(s.cond))) return undefined;
        if (then === s.then && otherwise === s.else) return s;
        return ifElse(s.cond, then, otherwise, s.pos);
      }
      case 'block': {
        constructs.set(s.label, s);
        const kept = walk(s.body, liveness.after(s));
        if (kept.length === 0) return undefined;
        return kept === s.body ? s : { ...s, body: kept };
      }
      case 'loop': {
        constructs.set(s.label, s);
        const body = walk(s.body, liveness.updateEntry(s));
        const last = body.at(-1);
        if (last?.op === 'break' && last.label === s.label && body.length === 1) return undefined;
        const comesRound = last === undefined || !endsHere(last) || jumpsTo(body, s.label) || s.update.length === 0;
        const update = comesRound ? walk(s.update, liveness.before(s)) : [];
        return body === s.body && update === s.update ? s : { ...s, body, update };
      }
    }
  }
}

/** Whether a statement is a jump, or stops the thread. */
function endsHere(s: Stmt): boolean {
  return s.op === 'break' || s.op === 'continue' || s.op === 'return' || s.op === 'trap';
}
