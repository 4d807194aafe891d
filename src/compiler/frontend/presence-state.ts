/**
 * What is known of variables at one point of a program: which of them may lack a value, and what that depends on.
 *
 * States are never changed; a step makes a new one. `presence.ts` walks the program with them.
 */
import type { Local, Recursion, TStmt } from '../types/tree.ts';

export type PresenceStmt = Extract<TStmt, { k: 'presence' }>;

/** What a variable may be, as bits. */
export const VALUE = 1;
export const UNDEFINED_BIT = 2;
export const NULL_BIT = 4;

export interface Presence {
  readonly bits: number;
  /** One of the places that it has no value from. */
  readonly why: PresenceStmt | undefined;
}

/** By flag. One that is not there has not been assigned: its variable is undefined. */
export type Flags = ReadonlyMap<Local, Presence>;

/** What holds when a variable that was tested is true, and when it is false; undefined where it cannot be. */
interface Fact {
  readonly yes: Flags | undefined;
  readonly no: Flags | undefined;
}

export interface State {
  readonly flags: Flags;
  readonly facts: ReadonlyMap<Local, Fact>;
  /** Flags that are copies, and what of: they say the same until either is assigned again. */
  readonly copies: ReadonlyMap<Local, Local>;
}

/** Undefined: this point is not reached. */
export type Flow = State | undefined;

export const START: State = { flags: new Map(), facts: new Map(), copies: new Map() };
const UNASSIGNED: Presence = { bits: UNDEFINED_BIT, why: undefined };

export function presenceOf(flags: Flags, flag: Local): Presence {
  return flags.get(flag) ?? UNASSIGNED;
}

/** The state in which a flag has some of these bits; undefined if there is none. */
export function narrow(state: State, flag: Local, bits: number): Flow {
  const now = presenceOf(state.flags, flag);
  const left = now.bits & bits;
  if (left === now.bits) return state;
  if (left === 0) return undefined;
  const flags = new Map(state.flags).set(flag, { bits: left, why: now.why });
  const origin = state.copies.get(flag) ?? flag;
  for (const other of [origin, ...[...state.copies].filter(([, of]) => of === origin).map(([copy]) => copy)]) {
    const { bits: known, why } = presenceOf(flags, other);
    if ((known & bits) === 0) return undefined;
    flags.set(other, { bits: known & bits, why });
  }
  return { ...state, flags };
}

/** Assigns to a flag: here, and in what is known under conditions. */
export function setFlag(state: State, flag: Local, value: Presence | Local): State {
  const assigned = (flags: Flags): Presence => ('bits' in value ? value : presenceOf(flags, value));
  const copies = new Map([...state.copies].filter(([copy, of]) => copy !== flag && of !== flag));
  if (!('bits' in value) && value !== flag) copies.set(flag, state.copies.get(value) ?? value);
  const set = (flags: Flags): Flags => new Map(flags).set(flag, assigned(flags));
  const facts = new Map<Local, Fact>();
  for (const [local, { yes, no }] of state.facts) facts.set(local, { yes: yes && set(yes), no: no && set(no) });
  return { flags: set(state.flags), facts, copies };
}

/** What the states have in common. */
function meet(a: Flags, b: Flags | undefined): Flags | undefined {
  if (b === undefined || a === b) return b;
  const out = new Map<Local, Presence>();
  for (const flag of new Set([...a.keys(), ...b.keys()])) {
    const mine = presenceOf(a, flag);
    const bits = mine.bits & presenceOf(b, flag).bits;
    if (bits === 0) return undefined;
    out.set(flag, { bits, why: mine.why });
  }
  return out;
}

function join(a: Flags | undefined, b: Flags | undefined): Flags | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  const out = new Map<Local, Presence>();
  for (const flag of new Set([...a.keys(), ...b.keys()])) {
    const [mine, other] = [presenceOf(a, flag), presenceOf(b, flag)];
    out.set(flag, { bits: mine.bits | other.bits, why: mine.why ?? other.why });
  }
  return out;
}

/** The states in which a variable is true, and in which it is false. */
export function split(state: State, local: Local): readonly [Flow, Flow] {
  const fact = state.facts.get(local);
  const yes = fact === undefined ? state.flags : meet(state.flags, fact.yes);
  const no = fact === undefined ? state.flags : meet(state.flags, fact.no);
  const only = (flags: Flags | undefined, known: Fact): Flow =>
    flags && { ...state, flags, facts: new Map(state.facts).set(local, known) };
  return [only(yes, { yes, no: undefined }), only(no, { yes: undefined, no })];
}

/** Assigns to a variable that is tested somewhere. */
export function setFact(state: State, local: Local, yes: Flow, no: Flow): State {
  const says = yes?.flags !== no?.flags;
  if (!says && !state.facts.has(local)) return state;
  const facts = new Map(state.facts);
  if (says) facts.set(local, { yes: yes?.flags, no: no?.flags });
  else facts.delete(local);
  return { ...state, facts };
}

export function merge(a: Flow, b: Flow): Flow {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  const facts = new Map<Local, Fact>();
  for (const local of new Set([...a.facts.keys(), ...b.facts.keys()])) {
    const [p, q] = [factOf(a, local), factOf(b, local)];
    facts.set(local, { yes: join(p.yes, q.yes), no: join(p.no, q.no) });
  }
  const copies = new Map([...a.copies].filter(([copy, of]) => b.copies.get(copy) === of));
  return { flags: join(a.flags, b.flags) ?? a.flags, facts, copies };
}

/** The state behind a call of a function that calls itself: of the caller's own variables what was before it, of all others what calls end with. */
export function afterCall(before: State, end: State, { first, last, results }: Recursion): State {
  const isOwn = (local: Local): boolean => local.id >= first && local.id < last && !results.has(local);
  const flags = new Map([...end.flags].filter(([flag]) => !isOwn(flag)));
  for (const [flag, presence] of before.flags) if (isOwn(flag)) flags.set(flag, presence);
  return { flags, facts: new Map(), copies: new Map() };
}

function factOf(state: State, local: Local): Fact {
  const fact = state.facts.get(local);
  if (fact === undefined) return { yes: state.flags, no: state.flags };
  return { yes: meet(state.flags, fact.yes), no: meet(state.flags, fact.no) };
}

/** Whether two states say the same. */
export function same(a: Flow, b: Flow): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  if (!sameFlags(a.flags, b.flags) || a.facts.size !== b.facts.size || a.copies.size !== b.copies.size) return false;
  for (const [local, fact] of a.facts) {
    const other = b.facts.get(local);
    if (other === undefined || !sameFlags(fact.yes, other.yes) || !sameFlags(fact.no, other.no)) return false;
  }
  return true;
}

function sameFlags(a: Flags | undefined, b: Flags | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  if (a.size !== b.size) return false;
  for (const [flag, { bits }] of a) if (b.get(flag)?.bits !== bits) return false;
  return true;
}
