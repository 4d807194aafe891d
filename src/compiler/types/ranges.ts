/**
 * Live ranges: splits each local variable into the sets of assignments and reads that belong together.
 *
 * Two assignments are in one range when some read can see either of them; a name that is used again for something else
 * (as ES5 output and minifiers do) thus gets a second range, which may have another type. A structured reaching-definitions
 * analysis; loops are walked until nothing new reaches their head.
 */
import type { Label } from '../ir/ops.ts';
import type { Type } from './lattice.ts';
import {
  expressionsOf,
  type Local,
  type Range,
  type TExpr,
  type TStmt,
  walkExpression,
  walkStatements,
} from './tree.ts';

export type Definition = Extract<TStmt, { k: 'assign' | 'atomic' | 'barrier' | 'warp' }>;

/** Which definitions of each local may be current. Missing: not assigned yet. */
type State = Map<Local, ReadonlySet<Definition>>;

/** Undefined: this point is not reached. */
type Flow = State | undefined;

function merge(a: Flow, b: Flow): Flow {
  if (a === undefined) return b;
  if (b === undefined) return a;
  const out: State = new Map(a);
  for (const [local, defs] of b) {
    const mine = out.get(local);
    if (mine !== defs) out.set(local, mine === undefined ? defs : new Set([...mine, ...defs]));
  }
  return out;
}

function sameState(a: Flow, b: Flow): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.size !== b.size) return false;
  for (const [local, defs] of a) {
    const other = b.get(local);
    if (other === defs) continue;
    if (other === undefined || other.size !== defs.size) return false;
    for (const d of defs) if (!other.has(d)) return false;
  }
  return true;
}

interface Target {
  breaks: Flow;
  continues: Flow;
}

type Read = Extract<TExpr, { k: 'local' }>;

/** Reaching definitions: joins those that one read can see. */
class Reaching {
  /** All reads, with one definition that reaches each; undefined when none does. */
  readonly reads: Map<Read, Definition | undefined> = new Map();
  /** A forest: definitions with one root belong together. */
  readonly #parent = new Map<Definition, Definition>();
  readonly #targets = new Map<Label, Target>();

  constructor(body: readonly TStmt[]) {
    this.#run(body, new Map());
  }

  /** What stands for all definitions that belong together with this one. */
  rootOf(d: Definition): Definition {
    const p = this.#parent.get(d);
    if (p === undefined || p === d) return d;
    const root = this.rootOf(p);
    this.#parent.set(d, root);
    return root;
  }

  #read(e: TExpr, state: State): void {
    walkExpression(e, (x) => {
      if (x.k !== 'local') return;
      let first = this.reads.get(x);
      for (const d of state.get(x.local) ?? []) {
        if (first === undefined) first = d;
        else this.#parent.set(this.rootOf(d), this.rootOf(first));
      }
      this.reads.set(x, first);
    });
  }

  /** The state is copied at the start of a list, and changed in place from there on. */
  #run(list: readonly TStmt[], start: Flow): Flow {
    let state: Flow = start && new Map(start);
    for (const s of list) {
      if (state === undefined) return undefined;
      state = this.#step(s, state);
    }
    return state;
  }

  #step(s: TStmt, state: State): Flow {
    for (const e of expressionsOf(s)) this.#read(e, state);
    switch (s.k) {
      case 'assign':
        return define(s, s.local, state);
      case 'atomic':
      case 'barrier':
      case 'warp':
        return define(s, s.result, state);
      case 'if':
        return merge(this.#run(s.then, state), this.#run(s.else, state));
      case 'block': {
        const target = this.#target(s.label);
        return merge(this.#run(s.body, state), target.breaks);
      }
      case 'loop':
        return this.#loop(s, state);
      case 'break':
      case 'continue': {
        const target = this.#targets.get(s.label);
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
  }

  #loop(s: Extract<TStmt, { k: 'loop' }>, state: State): Flow {
    const target = this.#target(s.label);
    let head: Flow = state;
    for (;;) {
      const end = merge(this.#run(s.body, head), target.continues);
      const next = merge(head, end === undefined ? undefined : this.#run(s.update, end));
      if (sameState(next, head)) return target.breaks;
      head = next;
    }
  }

  /** A fresh target of jumps: a construct inside a loop is walked more than once. */
  #target(label: Label): Target {
    const target: Target = { breaks: undefined, continues: undefined };
    this.#targets.set(label, target);
    return target;
  }
}

function define(s: Definition, local: Local | undefined, state: State): State {
  return local === undefined ? state : state.set(local, new Set([s]));
}

/** Sets `range` on every read and assignment in the tree; returns the ranges. `resultType` types atomics and barriers. */
export function assignRanges(body: readonly TStmt[], resultType: (s: Definition) => Type): Range[] {
  const reaching = new Reaching(body);
  const ranges: Range[] = [];
  /** Of definitions that belong together by what stands for them; of a variable by itself the first. */
  const known = new Map<Definition | Local, Range>();
  const rangeOf = (key: Definition | Local, local: Local): Range => {
    let range = known.get(key);
    if (range === undefined) {
      range = { id: ranges.length, local, defs: [], type: undefined, demand: undefined };
      ranges.push(range);
      known.set(key, range);
      if (!known.has(local)) known.set(local, range);
    }
    return range;
  };
  walkStatements(body, (s) => {
    if (s.k === 'assign') {
      s.range = rangeOf(reaching.rootOf(s), s.local);
      s.range.defs.push({ expr: s.value });
    } else if ((s.k === 'atomic' || s.k === 'barrier' || s.k === 'warp') && s.result !== undefined) {
      s.range = rangeOf(reaching.rootOf(s), s.result);
      const value = s.k === 'warp' && s.fn.startsWith('shfl') ? s.args[0] : undefined;
      s.range.defs.push(value === undefined ? { type: resultType(s) } : { expr: value });
    }
  });
  walkStatements(body, (s) => {
    for (const e of expressionsOf(s)) {
      walkExpression(e, (x) => {
        if (x.k !== 'local') return;
        // What nothing reaches must have a type too: in code that never runs any will do, and before its first assignment a
        // variable is zero in all of its ranges.
        const d = reaching.reads.get(x);
        x.range = rangeOf(d === undefined ? x.local : reaching.rootOf(d), x.local);
      });
    }
  });
  return ranges;
}
