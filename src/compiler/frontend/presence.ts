/**
 * Variables that may have no value: finds where each of them has one, refuses uses where it may not, and leaves flags in the
 * program for what only the run can tell.
 *
 * Elaboration notes where a variable gets or loses its value (`presence`) and where the program asks (`absent`). Here the notes
 * are followed along all paths: conditions narrow, loops are walked until nothing new reaches their head. Questions with one
 * answer are answered; flags that nobody asks at run time leave no code.
 */
import type { Label } from '../ir/ops.ts';
import { expressionsOf, operands, rewriteStatement, walkExpression, walkStatements } from '../types/parts.ts';
import type { Local, Recursion, TExpr, TStmt } from '../types/tree.ts';
import { refuseAbsent, refuseMixture } from './absence.ts';
import {
  afterCall,
  type Flow,
  merge,
  NULL_BIT,
  narrow,
  type Presence,
  type PresenceStmt,
  presenceOf,
  START,
  type State,
  same,
  setFact,
  setFlag,
  split,
  UNDEFINED_BIT,
  VALUE,
} from './presence-state.ts';

type AbsentExpr = Extract<TExpr, { k: 'absent' }>;
type SelectExpr = Extract<TExpr, { k: 'select' }>;
type LoopStmt = Extract<TStmt, { k: 'loop' }>;
type RecursiveStmt = Extract<TStmt, { k: 'recursive' }>;
type IfStmt = Extract<TStmt, { k: 'if' }>;

/** Bits of what a test for absence finds. */
const FOUND = { undefined: UNDEFINED_BIT, null: NULL_BIT, either: UNDEFINED_BIT | NULL_BIT } as const;
const BITS = { undefined: UNDEFINED_BIT, null: NULL_BIT, present: VALUE } as const;

/** The program without notes of presence; what was asked of variables is answered or left to flags. */
export function resolvePresence(body: readonly TStmt[]): readonly TStmt[] {
  const asked = flagsAsked(body);
  if (asked.size === 0) return new Rewriting(new Map(), new Set()).list(body);
  const walk = new Walk(asked, testedLocals(body));
  walk.check(body);
  const atRunTime = new Set<Local>();
  walkStatements(body, (s) => {
    for (const e of expressionsOf(s)) {
      walkExpression(e, (x) => {
        if (x.k !== 'absent') return;
        const answers = walk.answers.get(x);
        if (answers === 'both') atRunTime.add(x.a.local);
        else x.known = answers === 'yes';
      });
    }
  });
  const rewritten = new Rewriting(walk.taken, withSources(body, atRunTime)).list(body);
  const decided = [...walk.chosen].filter(([, arm]) => arm !== 'both');
  for (const [select, arm] of decided) if (arm !== 'both') select.only = arm;
  return decided.length === 0 ? rewritten : withoutDeadArms(rewritten);
}

/** What is never evaluated has no say in types and need not be right: the arms of selections, as the branches of `if`. */
function withoutDeadArms(list: readonly TStmt[]): readonly TStmt[] {
  const pick = (e: TExpr): TExpr => (e.k === 'select' && e.only !== undefined ? e[e.only] : e);
  return list.map((s) => rewriteStatement(s, pick, withoutDeadArms));
}

/** Flags that a question or a use depends on. */
function flagsAsked(body: readonly TStmt[]): ReadonlySet<Local> {
  const asked = new Set<Local>();
  walkStatements(body, (s) => {
    for (const e of expressionsOf(s)) {
      walkExpression(e, (x) => {
        if (x.k === 'absent') asked.add(x.a.local);
        else if (x.k === 'local' && x.flag !== undefined) asked.add(x.flag);
      });
    }
  });
  return asked.size === 0 ? asked : withSources(body, asked);
}

/** These flags and all that they are copied from. */
function withSources(body: readonly TStmt[], flags: ReadonlySet<Local>): ReadonlySet<Local> {
  const copies = new Map<Local, Local[]>();
  walkStatements(body, (s) => {
    if (s.k !== 'presence' || typeof s.is === 'string') return;
    const from = copies.get(s.flag);
    if (from === undefined) copies.set(s.flag, [s.is]);
    else from.push(s.is);
  });
  const all = new Set(flags);
  for (const flag of all) for (const source of copies.get(flag) ?? []) all.add(source);
  return all;
}

/** Variables that decide a branch, and those that they are computed from: what they say of flags is worth keeping. */
function testedLocals(body: readonly TStmt[]): ReadonlySet<Local> {
  const tested = new Set<Local>();
  const values = new Map<Local, TExpr[]>();
  const visit = (e: TExpr): void => {
    if (e.k === 'local') tested.add(e.local);
    else if (e.k === 'not' || e.k === 'truth' || e.k === 'logic' || e.k === 'select') operands(e).forEach(visit);
  };
  walkStatements(body, (s) => {
    if (s.k === 'if') visit(s.cond);
    else if (s.k === 'assign') {
      const list = values.get(s.local);
      if (list === undefined) values.set(s.local, [s.value]);
      else list.push(s.value);
    }
  });
  for (const local of tested) values.get(local)?.forEach(visit);
  return tested;
}

function assigned(s: PresenceStmt): Presence | Local {
  if (typeof s.is !== 'string') return s.is;
  return { bits: BITS[s.is], why: s.is === 'present' ? undefined : s };
}

interface Target {
  breaks: Flow;
  continues: Flow;
}

/**
 * The walk along all paths. States only ever grow: a loop inside a loop is walked again when something new reaches it, and not
 * otherwise, so that nesting costs no more than length.
 */
class Walk {
  readonly answers: Map<AbsentExpr, 'yes' | 'no' | 'both'> = new Map();
  /** Conditions that always come out the same way. */
  readonly taken: Map<IfStmt, 'then' | 'else'> = new Map();
  /** The arms that selections take. */
  readonly chosen: Map<SelectExpr, 'a' | 'b' | 'both'> = new Map();
  readonly #asked: ReadonlySet<Local>;
  readonly #tested: ReadonlySet<Local>;
  readonly #targets = new Map<Label, Target>();
  readonly #calls = new Map<Recursion, { start: Flow; end: Flow }>();
  readonly #heads = new Map<LoopStmt, Flow>();
  /** What comes back to the head from the end of a round. */
  readonly #backs = new Map<LoopStmt, Flow>();
  /** The last walk, in which all states are final: it answers and refuses. */
  #final = false;

  constructor(asked: ReadonlySet<Local>, tested: ReadonlySet<Local>) {
    this.#asked = asked;
    this.#tested = tested;
  }

  check(body: readonly TStmt[]): void {
    this.#run(body, START);
    this.#final = true;
    this.#run(body, START);
  }

  #run(list: readonly TStmt[], start: Flow): Flow {
    let state = start;
    for (const s of list) {
      if (state === undefined) return undefined;
      state = this.#step(s, state);
    }
    return state;
  }

  #step(s: TStmt, state: State): Flow {
    switch (s.k) {
      case 'presence':
        return this.#asked.has(s.flag) ? setFlag(state, s.flag, assigned(s)) : state;
      case 'assign': {
        const [yes, no] = this.#test(s.value, state);
        return this.#tested.has(s.local) ? setFact(state, s.local, yes, no) : state;
      }
      case 'if':
        return this.#if(s, state);
      case 'block': {
        const target = this.#target(s.label);
        const end = this.#run(s.body, state);
        return merge(end, target.breaks);
      }
      case 'loop':
        return this.#loop(s, state);
      case 'recursive':
        return this.#recursive(s, state);
      case 'recurse': {
        const calls = this.#calls.get(s.of);
        const given = this.#run(s.body, state);
        if (calls === undefined || given === undefined) return undefined;
        calls.start = merge(calls.start, given);
        return calls.end && afterCall(state, calls.end, s.of);
      }
      case 'break':
      case 'continue': {
        const target = this.#target(s.label);
        if (s.k === 'break') target.breaks = merge(target.breaks, state);
        else target.continues = merge(target.continues, state);
        return undefined;
      }
      case 'return':
      case 'trap':
        return undefined;
      default: {
        for (const e of expressionsOf(s)) this.#test(e, state);
        const result = 'result' in s ? s.result : undefined;
        return result !== undefined && this.#tested.has(result) ? setFact(state, result, state, state) : state;
      }
    }
  }

  #if(s: IfStmt, state: State): Flow {
    const [yes, no] = this.#test(s.cond, state);
    if (this.#final && s.always !== true && (yes === undefined) !== (no === undefined)) {
      this.taken.set(s, no === undefined ? 'then' : 'else');
    }
    const then = this.#run(s.then, yes);
    return merge(then, s.always === true ? undefined : this.#run(s.else, no));
  }

  #loop(s: LoopStmt, state: State): Flow {
    const target = this.#target(s.label);
    const known = this.#heads.get(s);
    let head = merge(known, state);
    if (this.#final) {
      this.#round(s, head, target);
      return target.breaks;
    }
    if (known !== undefined && same(head, known)) return target.breaks;
    for (;;) {
      this.#heads.set(s, head);
      const next = merge(head, this.#round(s, head, target));
      if (same(next, head)) return target.breaks;
      head = next;
    }
  }

  /** All calls are one: what any of them starts and ends with, until nothing new comes of it. */
  #recursive(s: RecursiveStmt, state: State): Flow {
    const calls = this.#calls.get(s.of) ?? { start: undefined, end: undefined };
    this.#calls.set(s.of, calls);
    calls.start = merge(calls.start, state);
    for (;;) {
      const { start, end } = calls;
      calls.end = merge(end, this.#run(s.body, start));
      if (this.#final || (same(start, calls.start) && same(end, calls.end))) return calls.end;
    }
  }

  /** One round; what comes back to the head. */
  #round(s: LoopStmt, head: Flow, target: Target): Flow {
    const [exit, ...rest] = s.body;
    if (s.entered !== true || exit?.k !== 'if' || head === undefined) {
      const end = merge(this.#run(s.body, head), target.continues);
      return this.#run(s.update, end);
    }
    // The first round is entered: the condition is a way out after a round only.
    const end = merge(this.#run(rest, this.#test(exit.cond, head)[1]), target.continues);
    const back = merge(this.#backs.get(s), this.#run(s.update, end));
    this.#backs.set(s, back);
    if (back !== undefined) this.#run(exit.then, this.#test(exit.cond, back)[0]);
    return back;
  }

  #target(label: Label): Target {
    let target = this.#targets.get(label);
    if (target === undefined) {
      target = { breaks: undefined, continues: undefined };
      this.#targets.set(label, target);
    }
    return target;
  }

  /** The states in which an expression is true, and in which it is false. Uses in it need their values. */
  #test(e: TExpr, state: State): readonly [Flow, Flow] {
    switch (e.k) {
      case 'lit':
        return e.value ? [state, undefined] : [undefined, state];
      case 'not': {
        const [yes, no] = this.#test(e.a, state);
        return [no, yes];
      }
      case 'truth':
        return this.#test(e.a, state);
      case 'logic': {
        const [yes, no] = this.#test(e.a, state);
        const first = e.fn === 'and' ? yes : no;
        const [yes2, no2] = first === undefined ? [undefined, undefined] : this.#test(e.b, first);
        return e.fn === 'and' ? [yes2, merge(no, no2)] : [merge(yes, yes2), no2];
      }
      case 'select': {
        const [yes, no] = this.#test(e.cond, state);
        if (this.#final) {
          const arm = no === undefined ? 'a' : yes === undefined ? 'b' : 'both';
          const earlier = this.chosen.get(e);
          this.chosen.set(e, earlier === undefined || earlier === arm ? arm : 'both');
        }
        const [a, notA] = yes === undefined ? [undefined, undefined] : this.#test(e.a, yes);
        const [b, notB] = no === undefined ? [undefined, undefined] : this.#test(e.b, no);
        return [merge(a, b), merge(notA, notB)];
      }
      case 'absent':
        return this.#absent(e, state);
      case 'local': {
        if (e.flag !== undefined && this.#final) {
          const presence = presenceOf(state.flags, e.flag);
          if (presence.bits !== VALUE) refuseAbsent(e.local.name, e.pos, presence);
        }
        return this.#tested.has(e.local) ? split(state, e.local) : [state, state];
      }
      default:
        for (const x of operands(e)) this.#test(x, state);
        return [state, state];
    }
  }

  #absent(e: AbsentExpr, state: State): readonly [Flow, Flow] {
    const flag = e.a.local;
    const { bits } = presenceOf(state.flags, flag);
    if (this.#final && e.as !== 'either' && (bits & FOUND.either) === FOUND.either) refuseMixture(e.pos);
    const yes = narrow(state, flag, FOUND[e.as]);
    const no = narrow(state, flag, ~FOUND[e.as]);
    if (this.#final) {
      const answer = yes === undefined ? 'no' : no === undefined ? 'yes' : 'both';
      const earlier = this.answers.get(e);
      this.answers.set(e, earlier === undefined || earlier === answer ? answer : 'both');
    }
    return [yes, no];
  }
}

/** Writes the program anew: without notes, without branches never taken, without jumps to where control goes anyway. */
class Rewriting {
  readonly #taken: ReadonlyMap<IfStmt, 'then' | 'else'>;
  readonly #flags: ReadonlySet<Local>;

  constructor(taken: ReadonlyMap<IfStmt, 'then' | 'else'>, flags: ReadonlySet<Local>) {
    this.#taken = taken;
    this.#flags = flags;
  }

  list(list: readonly TStmt[]): TStmt[] {
    const out: TStmt[] = [];
    for (const s of list) {
      out.push(...this.#statement(s));
      const last = out.at(-1)?.k;
      if (last === 'break' || last === 'continue' || last === 'return' || last === 'trap') return out;
    }
    return out;
  }

  #statement(s: TStmt): readonly TStmt[] {
    switch (s.k) {
      case 'presence':
        return this.#flags.has(s.flag) ? [assignment(s)] : [];
      case 'break':
        return s.moot === true ? [] : [s];
      case 'if': {
        const taken = this.#taken.get(s);
        if (taken !== undefined) return this.list(s[taken]);
        const [then, otherwise] = [this.list(s.then), this.list(s.else)];
        const emptied = then.length + otherwise.length === 0 && s.then.length + s.else.length > 0;
        return emptied ? [] : [{ ...s, then, else: otherwise }];
      }
      case 'block': {
        const body = this.list(s.body);
        return body.length === 0 && s.body.length > 0 ? [] : [{ ...s, body }];
      }
      case 'recursive':
      case 'recurse':
        return [{ ...s, body: this.list(s.body) }];
      case 'loop':
        return [{ ...s, body: this.list(s.body), update: this.list(s.update) }];
      default:
        return [s];
    }
  }
}

/** A note that the run needs: an assignment to the flag. */
function assignment({ flag, is, pos }: PresenceStmt): TStmt {
  const value: TExpr =
    typeof is === 'string' ? { k: 'lit', value: is === 'present', pos } : { k: 'local', local: is, pos };
  return { k: 'assign', local: flag, value, pos };
}
