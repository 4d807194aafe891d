/**
 * Live ranges: splits each local variable into the sets of assignments and reads that belong together.
 *
 * Two assignments are in one range when some read can see either of them; a name that is used again for something else
 * (as ES5 output and minifiers do) thus gets a second range, which may have another type. A structured reaching-definitions
 * analysis in one walk.
 */
import type { Label } from '../ir/ops.ts';
import type { Type } from './lattice.ts';
import { expressionsOf, walkExpression, walkStatements } from './parts.ts';
import type { Local, Range, TExpr, TStmt } from './tree.ts';

export type Definition = Extract<TStmt, { k: 'assign' | 'atomic' | 'barrier' | 'warp' | 'extern' }>;

/**
 * A place where several definitions of a local may be current: the top of a loop, or where ways meet. Its operands are added while
 * the walk goes on, so that a loop is walked once, however deep it stands in others.
 */
interface Meeting {
  readonly k: 'meeting';
  readonly operands: (Definition | Meeting)[];
}

/** What each local may be at a point. Missing: not assigned yet. */
type State = Map<Local, Definition | Meeting>;

/** Undefined: this point is not reached. */
type Flow = State | undefined;

function merge(a: Flow, b: Flow): Flow {
  if (a === undefined) return b;
  if (b === undefined) return a;
  const out: State = new Map(a);
  for (const [local, theirs] of b) {
    const mine = out.get(local);
    if (mine === theirs) continue;
    out.set(local, mine === undefined ? theirs : { k: 'meeting', operands: [mine, theirs] });
  }
  return out;
}

interface Target {
  breaks: Flow;
  continues: Flow;
}

type Loop = Extract<TStmt, { k: 'loop' }>;
type Read = Extract<TExpr, { k: 'local' }>;

/** Reaching definitions: joins those that one read can see. */
class Reaching {
  /** What each read sees, where anything reaches it. */
  readonly #reads = new Map<Read, Definition | Meeting>();
  /** A forest: definitions, and meetings that are read, with one root belong together. */
  readonly #parent = new Map<Definition | Meeting, Definition | Meeting>();
  readonly #targets = new Map<Label, Target>();
  readonly #assigned: ReadonlyMap<Loop, ReadonlySet<Local>>;

  constructor(body: readonly TStmt[]) {
    this.#assigned = assignedInLoops(body);
    this.#run(body, new Map());
    this.#joinWhatIsRead();
  }

  /** What stands for all definitions that belong together with this one. */
  rootOf(d: Definition | Meeting): Definition | Meeting {
    let root = d;
    for (let p = this.#parent.get(root); p !== undefined && p !== root; p = this.#parent.get(root)) root = p;
    for (let at = d; at !== root; ) {
      const next = this.#parent.get(at) ?? root;
      this.#parent.set(at, root);
      at = next;
    }
    return root;
  }

  /** What stands for the definitions that a read sees; undefined where it sees none. */
  rootOfRead(e: Read): Definition | Meeting | undefined {
    const seen = this.#reads.get(e);
    const root = seen && this.rootOf(seen);
    return root?.k === 'meeting' ? undefined : root;
  }

  /** Meetings that nobody reads join nothing. A definition stands for a group wherever there is one. */
  #joinWhatIsRead(): void {
    const todo: Meeting[] = [];
    const done = new Set<Meeting>();
    const want = (x: Definition | Meeting): void => {
      if (x.k !== 'meeting' || done.has(x)) return;
      done.add(x);
      todo.push(x);
    };
    for (const seen of this.#reads.values()) want(seen);
    for (let meeting = todo.pop(); meeting !== undefined; meeting = todo.pop()) {
      for (const x of meeting.operands) {
        want(x);
        const [a, b] = [this.rootOf(meeting), this.rootOf(x)];
        if (a.k === 'meeting') this.#parent.set(a, b);
        else this.#parent.set(b, a);
      }
    }
  }

  #read(e: TExpr, state: State): void {
    walkExpression(e, (x) => {
      const seen = x.k === 'local' ? state.get(x.local) : undefined;
      if (x.k === 'local' && seen !== undefined) this.#reads.set(x, seen);
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
      case 'extern':
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

  #loop(s: Loop, state: State): Flow {
    const target = this.#target(s.label);
    const head: State = new Map(state);
    const meetings = new Map<Local, Meeting>();
    for (const local of this.#assigned.get(s) ?? []) {
      const before = state.get(local);
      const meeting: Meeting = { k: 'meeting', operands: before === undefined ? [] : [before] };
      meetings.set(local, meeting);
      head.set(local, meeting);
    }
    const end = merge(this.#run(s.body, head), target.continues);
    const again = end === undefined ? undefined : this.#run(s.update, end);
    for (const [local, meeting] of meetings) {
      const last = again?.get(local);
      if (last !== undefined && last !== meeting) meeting.operands.push(last);
    }
    return target.breaks;
  }

  #target(label: Label): Target {
    const target: Target = { breaks: undefined, continues: undefined };
    this.#targets.set(label, target);
    return target;
  }
}

function define(s: Definition, local: Local | undefined, state: State): State {
  return local === undefined ? state : state.set(local, s);
}

/** The locals that each loop assigns, those of inner loops among them. */
function assignedInLoops(body: readonly TStmt[]): Map<Loop, Set<Local>> {
  const found = new Map<Loop, Set<Local>>();
  const walk = (list: readonly TStmt[], assigned: Set<Local>): void => {
    for (const s of list) {
      if (s.k === 'assign') assigned.add(s.local);
      else if ('result' in s && s.result !== undefined) assigned.add(s.result);
      else if (s.k === 'if') {
        walk(s.then, assigned);
        walk(s.else, assigned);
      } else if (s.k === 'block') walk(s.body, assigned);
      else if (s.k === 'loop') {
        const own = new Set<Local>();
        found.set(s, own);
        walk(s.body, own);
        walk(s.update, own);
        for (const local of own) assigned.add(local);
      }
    }
  };
  walk(body, new Set());
  return found;
}

/** Sets `range` on every read and assignment in the tree; returns the ranges. `resultType` types atomics, barriers and calls of other languages. */
export function assignRanges(body: readonly TStmt[], resultType: (s: Definition) => Type): Range[] {
  const reaching = new Reaching(body);
  const ranges: Range[] = [];
  /** Of definitions that belong together by what stands for them; of a variable by itself the first. */
  const known = new Map<Definition | Meeting | Local, Range>();
  const rangeOf = (key: Definition | Meeting | Local, local: Local): Range => {
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
    } else if ('result' in s && s.result !== undefined) {
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
        x.range = rangeOf(reaching.rootOfRead(x) ?? x.local, x.local);
      });
    }
  });
  return ranges;
}
