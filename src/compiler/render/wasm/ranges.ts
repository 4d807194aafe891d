/**
 * Bounds checks that can not fail, found when the block shape is known.
 *
 * Intervals of i32 values that do not wrap: thread indices, constants, sums and products of such, variables all of whose
 * assignments are such, or the last one before a place in its list, and counters: `i = a; loop { if (i >= b) break; ... } update { i = i + c }`,
 * where the body sees a <= i < b, also where i is doubled. A variable that is halved stays between zero and where it started. Conditions narrow the
 * intervals of what they compare; where the extent of an array is not known, they may compare the index with it.
 */
import { i32, read } from '../../ir/builder.ts';
import { type Loop, testedLoop } from '../../ir/loops.ts';
import { OPPOSITE } from '../../ir/measures.ts';
import type { Check, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { ANY, binaryRange } from '../../ir/passes/integer-ranges.ts';
import { assignedIn, defined, eachStmt, exprParts, neverEnds, someExpr, stmtExprs } from '../../ir/passes/walk.ts';
import { type Cap, type Fact, factsOf, isBelow, isNatural, split } from './relations.ts';

type Interval = readonly [least: number, most: number];

/** Intervals that hold in a place, by `Var.id`, by the name of a special value or by `extentKey`. */
type Known = ReadonlyMap<number | string, Interval>;

interface Place {
  readonly known: Known;
  readonly facts: readonly Fact[];
}

interface Assignments {
  readonly values: Expr[];
  /** Assigned by an atomic or a barrier too. */
  opaque: boolean;
}

const NOTHING: Known = new Map();
const LEAST = -(2 ** 31);
const MOST = 2 ** 31 - 1;

const extentKey = (param: number): string => `param ${param}`;

/** The checks of a kernel that always hold. */
export function eliminatedChecks(
  kernel: Kernel,
  block: readonly [number, number, number],
  ranges: Ranges = new Ranges(kernel, block),
): ReadonlySet<Check> {
  const eliminated = new Set<Check>();
  /** Copies of a statement share their checks, which may hold in one place only. */
  const needed = new Set<Check>();
  if (!kernel.checked) return eliminated;
  /** Facts about what `list` does not assign, where a condition is true or false. */
  const learn = (cond: Expr, truth: boolean, place: Place, list: readonly Stmt[]): Place => {
    const known = ranges.given(cond, truth, place.known);
    const found = factsOf(cond, truth, (e) => ranges.of(e, place.known) !== undefined);
    if (found.length === 0) return { ...place, known };
    const assigned = assignedIn(list);
    const lasting = found.filter((f) => !someExpr(f.base, (e) => e.op === 'var' && assigned.has(e.var.id)));
    return { known, facts: [...place.facts, ...lasting] };
  };
  const walk = (list: readonly Stmt[], from: Place): void => {
    const known = new Map(from.known);
    let place: Place = { ...from, known };
    const forget = (inner: readonly Stmt[]): void => {
      const assigned = assignedIn(inner);
      for (const id of assigned) known.delete(id);
      const lasting = place.facts.filter((f) => !someExpr(f.base, (e) => e.op === 'var' && assigned.has(e.var.id)));
      if (lasting.length < place.facts.length) place = { ...place, facts: lasting };
    };
    for (const [k, s] of list.entries()) {
      for (const e of stmtExprs(s)) proveIn(e, place);
      if (s.op === 'store' || s.op === 'atomic') prove(s.mem.checks, place);
      if (s.op === 'assign') {
        const value = s.var.type === 'i32' ? ranges.of(s.value, known) : undefined;
        const caps = value === undefined ? [] : ranges.caps(s.value, known);
        forget([s]);
        if (value !== undefined) known.set(s.var.id, value);
        const base = read(s.var);
        const found = caps.map((cap): Fact => ({ kind: 'below', base, ...cap }));
        if (found.length > 0) place = { ...place, facts: [...place.facts, ...found] };
      } else if (s.op === 'if') {
        walk(s.then, learn(s.cond, true, place, s.then));
        walk(s.else, learn(s.cond, false, place, s.else));
        forget([s]);
        if (s.else.length === 0 && neverEnds(s.then)) {
          const rest = learn(s.cond, false, place, list.slice(k + 1));
          for (const [key, interval] of rest.known) known.set(key, interval);
          place = { ...rest, known };
        }
      } else if (s.op === 'block') {
        walk(s.body, place);
        forget(s.body);
      } else if (s.op === 'loop') {
        const halved = shrinking(s, known);
        forget([s]);
        for (const [id, interval] of halved) known.set(id, interval);
        const counter = ranges.counter(s);
        // The guard itself is outside of what it guards, but it holds no access to speak of.
        walk(s.body, counter === undefined ? place : { ...place, known: new Map([...known, counter]) });
        walk(s.update, place);
      } else forget([s]);
    }
  };
  const prove = (checks: readonly Check[], { known, facts }: Place): void => {
    for (const check of checks) {
      const extent = ranges.of(check.extent, known);
      const index = extent && ranges.of(check.index, known);
      const natural = extent !== undefined && index !== undefined && isNatural(check.index, index[0], facts);
      const capped = (): boolean => ranges.caps(check.index, known).some((cap) => isWithin(cap, check.extent));
      const holds = natural && (index[1] < extent[0] || isBelow(check.index, check.extent, facts) || capped());
      (holds ? eliminated : needed).add(check);
    }
  };
  const proveIn = (e: Expr, place: Place): void => {
    if (e.op === 'load') prove(e.mem.checks, place);
    for (const part of exprParts(e)) proveIn(part, place);
  };
  walk(kernel.body, { known: NOTHING, facts: [] });
  for (const check of needed) eliminated.delete(check);
  return eliminated;
}

const isWithin = ({ limit, slack }: Cap, extent: Expr): boolean =>
  extent.op === 'param' && extent.param === limit && slack <= 0;

/** What is known of variables that a loop does nothing to but bring them nearer to zero. */
function shrinking(loop: Loop, known: Known): [number, Interval][] {
  const others = new Set<number>();
  eachStmt([loop], (s) => {
    const id = defined(s);
    if (id !== undefined && !(s.op === 'assign' && shrinks(s.value, s.var))) others.add(id);
  });
  return [...assignedIn([loop])].flatMap((id) => {
    const before = others.has(id) ? undefined : known.get(id);
    return before === undefined ? [] : [[id, [Math.min(before[0], 0), Math.max(before[1], 0)]]];
  });
}

export interface Strided {
  /** `Var.id` of the counter. */
  readonly id: number;
  readonly least: number;
  /** The body sees it less than `bound - over`. */
  readonly bound: Expr;
  readonly over: number;
  readonly step: number;
}

/** What integers may be wherever they are evaluated. */
export class Ranges {
  readonly #block: readonly [number, number, number];
  readonly #extents: ReadonlySet<number>;
  /** Whether no place in the grid exceeds 32 bits: else the launch wants a kernel of 64-bit indices. */
  readonly #narrow: boolean;
  readonly #assigned = new Map<number, Assignments>();
  /** Intervals that hold everywhere; null while being worked out, or when nothing is known. */
  readonly #everywhere = new Map<number, Interval | null>();
  readonly #guards = new Map<number, LoopGuard & { readonly loop: Loop; readonly step: Step }>();

  constructor(kernel: Kernel, block: readonly [number, number, number]) {
    this.#block = block;
    this.#extents = new Set(kernel.params.filter((p) => p.origin.kind === 'extent').map((p) => p.index));
    this.#narrow = kernel.indexBits === 32;
    const note = (v: Var): Assignments => {
      const facts = this.#assigned.get(v.id) ?? { values: [], opaque: false };
      this.#assigned.set(v.id, facts);
      return facts;
    };
    eachStmt(kernel.body, (s) => {
      if (s.op === 'assign') note(s.var).values.push(s.value);
      else if ((s.op === 'atomic' || s.op === 'barrier') && s.result) note(s.result).opaque = true;
    });
    eachStmt(kernel.body, (s) => {
      const guard = s.op === 'loop' ? guardOf(s) : undefined;
      if (guard === undefined) return;
      const steps =
        this.#assigned.get(guard.v.id)?.values.filter((value) => stepOf(value, guard.v) !== undefined) ?? [];
      const [step] = steps;
      if (s.op !== 'loop' || step === undefined || steps.length !== 1) return;
      // The one step must be in this loop's own update, and the body must leave the counter alone.
      const inUpdate = s.update.some((u) => u.op === 'assign' && u.value === step);
      if (!inUpdate || assignedIn(s.body).has(guard.v.id)) return;
      const by = stepOf(step, guard.v);
      if (by !== undefined) this.#guards.set(guard.v.id, { ...guard, loop: s, step: by });
    });
  }

  /** The counter of a loop, and what the body sees of it after the guard. */
  counter(loop: Loop): [number, Interval] | undefined {
    const guard = guardOf(loop);
    if (guard === undefined || this.#guards.get(guard.v.id)?.loop !== loop) return undefined;
    const whole = this.#variable(guard.v);
    const bound = this.of(guard.bound, new Map());
    if (whole === undefined || bound === undefined) return undefined;
    return [guard.v.id, [whole[0], bound[1] - 1 - guard.over]];
  }

  /** The counter of a loop which stays within `least` and its bound as long as `bound + step` does not wrap. */
  strided(loop: Loop): Strided | undefined {
    const guard = guardOf(loop);
    const own = guard && this.#guards.get(guard.v.id);
    if (guard === undefined || own?.loop !== loop || own.step.factor !== 1 || own.step.by <= 0) return undefined;
    const starts = this.#starts(guard.v);
    return starts && { id: guard.v.id, least: starts[0], bound: guard.bound, over: guard.over, step: own.step.by };
  }

  /** What is known where a condition is true, or false: values that it compares are within their bounds there. */
  given(cond: Expr, truth: boolean, known: Known): Known {
    if (cond.op === 'unary' && cond.fn === 'not') return this.given(cond.a, !truth, known);
    if (cond.op === 'binary' && cond.fn === (truth ? 'and' : 'or'))
      return this.given(cond.b, truth, this.given(cond.a, truth, known));
    if (cond.op !== 'compare') return known;
    const fn = truth ? cond.fn : OPPOSITE[cond.fn];
    const [a, b] = [this.of(cond.a, known), this.of(cond.b, known)];
    if (a === undefined || b === undefined || fn === 'ne') return known;
    const apart = fn === 'lt' || fn === 'gt' ? 1 : 0;
    const narrowed = new Map(known);
    /** No part of either side wraps. */
    const within = (e: Expr, [least, most]: Interval): void => {
      const { base, offset } = split(e);
      const own = base && this.of(base, known);
      if (own === undefined || (base?.op !== 'var' && base?.op !== 'special' && base?.op !== 'param')) return;
      const key = base.op === 'var' ? base.var.id : base.op === 'param' ? extentKey(base.param) : base.name;
      narrowed.set(key, [Math.max(own[0], least - offset), Math.min(own[1], most - offset)]);
    };
    const isLess = fn === 'lt' || fn === 'le' || fn === 'eq';
    const isMore = fn === 'gt' || fn === 'ge' || fn === 'eq';
    within(cond.a, [isMore ? b[0] + apart : LEAST, isLess ? b[1] - apart : MOST]);
    within(cond.b, [isLess ? a[0] + apart : LEAST, isMore ? a[1] - apart : MOST]);
    return narrowed;
  }

  of(e: Expr, known: Known = NOTHING): Interval | undefined {
    const interval = this.#raw(e, known);
    return interval !== undefined && interval[0] >= LEAST && interval[1] <= MOST ? interval : undefined;
  }

  /** What an i32 is less than because it is a minimum or a remainder. */
  caps(e: Expr, known: Known): readonly Cap[] {
    if (e.op === 'binary' && e.fn === 'min') return [...this.caps(e.a, known), ...this.caps(e.b, known)];
    const isKnown = this.of(e, known) !== undefined;
    // Of a remainder something is known where x >= 0 and n > 0; x % 0 is 0, which is not below 0.
    if (e.op === 'binary' && e.fn === 'rem')
      return isKnown && e.b.op === 'param' ? [{ limit: e.b.param, slack: 0 }] : [];
    const { base, offset } = split(e);
    return isKnown && base?.op === 'param' ? [{ limit: base.param, slack: offset + 1 }] : [];
  }

  #variable(v: Var): Interval | undefined {
    const found = this.#everywhere.get(v.id);
    if (found !== undefined) return found ?? undefined;
    this.#everywhere.set(v.id, null);
    const interval = this.#join(v);
    this.#everywhere.set(v.id, interval ?? null);
    return interval;
  }

  #join(v: Var): Interval | undefined {
    const guard = this.#guards.get(v.id);
    const starts = this.#starts(v);
    if (guard === undefined || starts === undefined) return starts;
    const bound = this.of(guard.bound, new Map());
    const { factor, by } = guard.step;
    // Doubled, what is below zero goes on downwards.
    if (bound === undefined || by < 0 || (factor > 1 && starts[0] < 0)) return undefined;
    const most = (bound[1] - 1 - guard.over) * factor + by;
    return most > MOST ? undefined : [starts[0], Math.max(starts[1], most)];
  }

  /** What a variable is assigned otherwise than by the step of its loop. */
  #starts(v: Var): Interval | undefined {
    const facts = this.#assigned.get(v.id);
    if (v.type !== 'i32' || facts === undefined || facts.opaque) return undefined;
    const isCounter = this.#guards.has(v.id);
    // Zero before the first assignment.
    let joined: Interval = [0, 0];
    for (const value of facts.values) {
      if ((isCounter && stepOf(value, v) !== undefined) || shrinks(value, v)) continue;
      const interval = this.of(value, new Map());
      if (interval === undefined) return undefined;
      joined = [Math.min(joined[0], interval[0]), Math.max(joined[1], interval[1])];
    }
    return joined;
  }

  #raw(e: Expr, known: Known): Interval | undefined {
    if (e.op === 'const' && e.type !== 'f32' && e.type !== 'f64') return [Number(e.value), Number(e.value)];
    if (e.type !== 'i32') return undefined;
    switch (e.op) {
      case 'special':
        return known.get(e.name) ?? this.#special(e.name);
      case 'param':
        return this.#extents.has(e.param) ? (known.get(extentKey(e.param)) ?? [0, MOST]) : undefined;
      case 'var':
        return known.get(e.var.id) ?? this.#variable(e.var);
      case 'binary':
        return this.#binary(e, known);
      case 'load':
        return e.mem.elem === 'u8' ? [0, 0xff] : e.mem.elem === 'u16' ? [0, 0xffff] : undefined;
      default:
        return undefined;
    }
  }

  #special(name: (Expr & { op: 'special' })['name']): Interval | undefined {
    const axis = name.endsWith('.x') ? 0 : name.endsWith('.y') ? 1 : 2;
    const extent = this.#block[axis];
    if (name.startsWith('threadIdx')) return [0, extent - 1];
    if (name.startsWith('blockDim')) return [extent, extent];
    const blocks = Math.floor(MOST / extent);
    if (this.#narrow && name.startsWith('blockIdx')) return [0, blocks - 1];
    if (this.#narrow && name.startsWith('gridDim')) return [1, blocks];
    return name === 'laneId' ? [0, 31] : undefined;
  }

  #binary(e: Expr & { op: 'binary' }, known: Known): Interval | undefined {
    // What is clamped may be any i32, also one that has wrapped.
    const any: Interval | undefined = e.fn === 'min' || e.fn === 'max' ? [LEAST, MOST] : undefined;
    const b = this.of(e.b, known) ?? any;
    if (b === undefined) return undefined;
    // Masks bound anything.
    const a = this.of(e.a, known) ?? any ?? (e.fn === 'and' && b[0] >= 0 ? ANY : undefined);
    return a && binaryRange(e.fn, a, b);
  }
}

/** What a variable becomes in each round: `v * factor + by`. */
interface Step {
  readonly factor: number;
  readonly by: number;
}

/** `v + c`, `v << c` and `v * c` with a constant c that changes something. */
function stepOf(value: Expr, v: Var): Step | undefined {
  if (value.op !== 'binary' || value.a.op !== 'var' || value.a.var.id !== v.id || value.b.op !== 'const')
    return undefined;
  const c = Number(value.b.value);
  if (value.fn === 'add') return { factor: 1, by: c };
  if (value.fn === 'shl') return c > 0 && c < 31 ? { factor: 2 ** c, by: 0 } : undefined;
  return value.fn === 'mul' && c > 1 ? { factor: c, by: 0 } : undefined;
}

/** `v >> c` and `v / c` with a constant c: no farther from zero than v, which may be zero from the start. */
function shrinks(value: Expr, v: Var): boolean {
  if (value.op !== 'binary' || value.a.op !== 'var' || value.a.var.id !== v.id || value.b.op !== 'const') return false;
  const by = Number(value.b.value);
  return value.fn === 'shr' ? by >= 0 && by < 32 : (value.fn === 'div' || value.fn === 'floordiv') && by > 0;
}

interface LoopGuard {
  readonly v: Var;
  /** The body sees `v + over < bound`, in integers that do not wrap. */
  readonly bound: Expr;
  readonly over: number;
}

/** The first statement of a loop, where it is `if (!(v < bound)) break` or the same with `<=`, also of `v + over` in 64 bits. */
function guardOf(loop: Loop): LoopGuard | undefined {
  let cond = testedLoop(loop)?.exit;
  if (cond === undefined) return undefined;
  let denied = false;
  if (cond.op === 'unary' && cond.fn === 'not') {
    cond = cond.a;
    denied = true;
  }
  if (cond.op !== 'compare') return undefined;
  const fn = denied ? OPPOSITE[cond.fn] : cond.fn;
  if (fn !== 'ge' && fn !== 'gt') return undefined;
  const { base, offset } = cond.a.type === 'i64' ? split(cond.a) : { base: cond.a, offset: 0 };
  const [v, bound] = [base && asInt32(base), asInt32(cond.b)];
  if (v?.op !== 'var' || bound === undefined || offset < 0 || offset > MOST) return undefined;
  // A bound in memory may have an access whose own check would be eliminated by the guard that it is part of.
  if (someExpr(bound, (e) => e.op === 'load')) return undefined;
  return { v: v.var, bound, over: offset - (fn === 'gt' ? 1 : 0) };
}

/** The i32 that an integer is, in 64 bits or not. */
function asInt32(e: Expr): Expr | undefined {
  if (e.type === 'i32') return e;
  if (e.op === 'cast' && e.type === 'i64') return e.a.type === 'i32' ? e.a : undefined;
  return e.op === 'const' && e.type === 'i64' && fits(Number(e.value)) ? i32(Number(e.value)) : undefined;
}

const fits = (x: number): boolean => x >= LEAST && x <= MOST;
