/**
 * Live ranges: splits each local variable into the sets of assignments and reads that belong together.
 *
 * Two assignments are in one range when some read can see either of them; a name that is used again for something else
 * (as ES5 output and minifiers do) thus gets a second range, which may have another type. A structured reaching-definitions
 * analysis; loops are walked until nothing new reaches their head.
 */
import type { Label } from '../ir/ops.ts';
import type { Type } from './lattice.ts';
import { type Def, expressionsOf, type Local, type Range, type TExpr, type TStmt, walkExpression } from './tree.ts';

type DefStmt = Extract<TStmt, { k: 'assign' | 'atomic' | 'barrier' }>;

/** Which definitions of each local may be current. Missing: not assigned yet. */
type State = Map<Local, ReadonlySet<DefStmt>>;

/** Undefined: this point is not reached. */
type Flow = State | undefined;

function merge(a: Flow, b: Flow): Flow {
  if (a === undefined) return b;
  if (b === undefined) return a;
  const out: State = new Map(a);
  for (const [local, defs] of b) {
    const mine = out.get(local);
    out.set(local, mine === undefined ? defs : new Set([...mine, ...defs]));
  }
  return out;
}

function sameState(a: Flow, b: Flow): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.size !== b.size) return false;
  for (const [local, defs] of a) {
    const other = b.get(local);
    if (other === undefined || other.size !== defs.size) return false;
    for (const d of defs) if (!other.has(d)) return false;
  }
  return true;
}

interface Target {
  breaks: Flow;
  continues: Flow;
}

/** Sets `range` on every read and assignment in the tree; returns the ranges. `resultType` types atomics and barriers. */
export function assignRanges(body: readonly TStmt[], resultType: (s: DefStmt) => Type): Range[] {
  const parent = new Map<DefStmt, DefStmt>();
  const find = (d: DefStmt): DefStmt => {
    const p = parent.get(d);
    if (p === undefined || p === d) return d;
    const root = find(p);
    parent.set(d, root);
    return root;
  };
  /** All reads, with one definition that reaches each (or the local alone when none does). */
  const reads = new Map<Extract<TExpr, { k: 'local' }>, DefStmt | undefined>();
  const targets = new Map<Label, Target>();

  const read = (e: TExpr, state: State): void =>
    walkExpression(e, (x) => {
      if (x.k !== 'local') return;
      let first = reads.get(x);
      for (const d of state.get(x.local) ?? []) {
        if (first === undefined) first = d;
        else parent.set(find(d), find(first));
      }
      reads.set(x, first);
    });

  const run = (list: readonly TStmt[], start: Flow): Flow => {
    let state = start;
    for (const s of list) {
      if (state === undefined) return undefined;
      state = step(s, state);
    }
    return state;
  };

  const define = (s: DefStmt, local: Local | undefined, state: State): State => {
    if (local === undefined) return state;
    const out: State = new Map(state);
    out.set(local, new Set([s]));
    return out;
  };

  const step = (s: TStmt, state: State): Flow => {
    for (const e of expressionsOf(s)) read(e, state);
    switch (s.k) {
      case 'assign':
        return define(s, s.local, state);
      case 'atomic':
      case 'barrier':
        return define(s, s.result, state);
      case 'if':
        return merge(run(s.then, state), run(s.else, state));
      case 'block': {
        const target: Target = { breaks: undefined, continues: undefined };
        targets.set(s.label, target);
        return merge(run(s.body, state), target.breaks);
      }
      case 'loop': {
        let head: Flow = state;
        const target: Target = { breaks: undefined, continues: undefined };
        targets.set(s.label, target);
        for (;;) {
          const end = merge(run(s.body, head), target.continues);
          const next = merge(head, end === undefined ? undefined : run(s.update, end));
          if (sameState(next, head)) return target.breaks;
          head = next;
        }
      }
      case 'break':
      case 'continue': {
        const target = targets.get(s.label);
        if (target !== undefined) {
          if (s.k === 'break') target.breaks = merge(target.breaks, state);
          else target.continues = merge(target.continues, state);
        }
        return undefined;
      }
      case 'return':
      case 'trap':
        return undefined;
      default:
        return state;
    }
  };
  run(body, new Map());

  const ranges: Range[] = [];
  const ofRoot = new Map<DefStmt, Range>();
  const fresh = (local: Local): Range => {
    const range: Range = { id: ranges.length, local, defs: [], type: undefined, demand: undefined };
    ranges.push(range);
    return range;
  };
  const rangeOf = (d: DefStmt, local: Local): Range => {
    const root = find(d);
    let range = ofRoot.get(root);
    if (range === undefined) {
      range = fresh(local);
      ofRoot.set(root, range);
    }
    return range;
  };
  const visit = (list: readonly TStmt[]): void => {
    for (const s of list) {
      if (s.k === 'assign') {
        s.range = rangeOf(s, s.local);
        const def: Def = { expr: s.value };
        s.range.defs.push(def);
      } else if ((s.k === 'atomic' || s.k === 'barrier') && s.result !== undefined) {
        s.range = rangeOf(s, s.result);
        s.range.defs.push({ type: resultType(s) });
      } else if (s.k === 'if') {
        visit(s.then);
        visit(s.else);
      } else if (s.k === 'loop') {
        visit(s.body);
        visit(s.update);
      } else if (s.k === 'block') {
        visit(s.body);
      }
    }
  };
  visit(body);
  // Statements that are never reached still have reads; those, and reads before any assignment, get a range of their own.
  const unreached = new Map<Local, Range>();
  const finish = (list: readonly TStmt[]): void => {
    for (const s of list) {
      for (const e of expressionsOf(s)) {
        walkExpression(e, (x) => {
          if (x.k !== 'local') return;
          const d = reads.get(x);
          if (d !== undefined) {
            x.range = rangeOf(d, x.local);
            return;
          }
          let range = unreached.get(x.local);
          if (range === undefined) {
            range = fresh(x.local);
            unreached.set(x.local, range);
          }
          x.range = range;
        });
      }
      if (s.k === 'if') {
        finish(s.then);
        finish(s.else);
      } else if (s.k === 'loop') {
        finish(s.body);
        finish(s.update);
      } else if (s.k === 'block') {
        finish(s.body);
      }
    }
  };
  finish(body);
  return ranges;
}
