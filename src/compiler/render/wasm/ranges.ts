/**
 * Bounds checks that can not fail, found when the block shape is known.
 *
 * Intervals of i32 values that do not wrap: thread indices, constants, sums and products of such, variables all of whose
 * assignments are such, and counters: `i = a; loop { if (i >= b) break; ... } update { i = i + c }`, where the body sees
 * a <= i < b. Where the extent of an array is not known, the conditions around an access may compare its index with it.
 */
import { type Loop, testedLoop } from '../../ir/loops.ts';
import type { Check, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { assignedIn, eachStmt, exprParts, neverEnds, someExpr, stmtExprs } from '../../ir/passes/walk.ts';
import { type Fact, factsOf, isBelow, isNatural } from './relations.ts';

type Interval = readonly [least: number, most: number];

/** Intervals that hold in a place, by `Var.id`. */
type Known = ReadonlyMap<number, Interval>;

interface Place {
  readonly known: Known;
  readonly facts: readonly Fact[];
}

interface Assignments {
  readonly values: Expr[];
  /** Assigned by an atomic or a barrier too. */
  opaque: boolean;
}

const LEAST = -(2 ** 31);
const MOST = 2 ** 31 - 1;

/** The checks of a kernel that always hold. */
export function eliminatedChecks(kernel: Kernel, block: readonly [number, number, number]): ReadonlySet<Check> {
  const eliminated = new Set<Check>();
  if (!kernel.checked) return eliminated;
  const ranges = new Ranges(kernel, block);
  /** Facts about what `list` does not assign, where a condition is true or false. */
  const learn = (cond: Expr, truth: boolean, place: Place, list: readonly Stmt[]): Place => {
    const found = factsOf(cond, truth, (e) => ranges.of(e, place.known) !== undefined);
    if (found.length === 0) return place;
    const assigned = assignedIn(list);
    const lasting = found.filter((f) => !someExpr(f.base, (e) => e.op === 'var' && assigned.has(e.var.id)));
    return lasting.length === 0 ? place : { ...place, facts: [...place.facts, ...lasting] };
  };
  const walk = (list: readonly Stmt[], from: Place): void => {
    let place = from;
    for (const [k, s] of list.entries()) {
      for (const e of stmtExprs(s)) proveIn(e, place);
      if (s.op === 'store' || s.op === 'atomic') prove(s.mem.checks, place);
      if (s.op === 'if') {
        walk(s.then, learn(s.cond, true, place, s.then));
        walk(s.else, learn(s.cond, false, place, s.else));
        if (s.else.length === 0 && neverEnds(s.then)) place = learn(s.cond, false, place, list.slice(k + 1));
      } else if (s.op === 'block') walk(s.body, place);
      else if (s.op === 'loop') {
        const counter = ranges.counter(s);
        const known = counter === undefined ? place.known : new Map([...place.known, counter]);
        // The guard itself is outside of what it guards, but it holds no access to speak of.
        walk(s.body, { ...place, known });
        walk(s.update, place);
      }
    }
  };
  const prove = (checks: readonly Check[], { known, facts }: Place): void => {
    for (const check of checks) {
      const extent = ranges.of(check.extent, known);
      const index = extent && ranges.of(check.index, known);
      if (extent === undefined || index === undefined || !isNatural(check.index, index[0], facts)) continue;
      if (index[1] < extent[0] || isBelow(check.index, check.extent, facts)) eliminated.add(check);
    }
  };
  const proveIn = (e: Expr, place: Place): void => {
    if (e.op === 'load') prove(e.mem.checks, place);
    for (const part of exprParts(e)) proveIn(part, place);
  };
  walk(kernel.body, { known: new Map(), facts: [] });
  return eliminated;
}

class Ranges {
  readonly #block: readonly [number, number, number];
  readonly #extents: ReadonlySet<number>;
  /** Whether no place in the grid exceeds 32 bits: else the launch wants a kernel of 64-bit indices. */
  readonly #narrow: boolean;
  readonly #assigned = new Map<number, Assignments>();
  /** Intervals that hold everywhere; null while being worked out, or when nothing is known. */
  readonly #everywhere = new Map<number, Interval | null>();
  readonly #guards = new Map<number, { readonly bound: Expr; readonly step: number }>();

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
      this.#guards.set(guard.v.id, { bound: guard.bound, step: stepOf(step, guard.v) ?? 0 });
    });
  }

  /** The counter of a loop, and what the body sees of it after the guard. */
  counter(loop: Loop): [number, Interval] | undefined {
    const guard = guardOf(loop);
    if (guard === undefined || this.#guards.get(guard.v.id)?.bound !== guard.bound) return undefined;
    const whole = this.#variable(guard.v);
    const bound = this.of(guard.bound, new Map());
    if (whole === undefined || bound === undefined) return undefined;
    return [guard.v.id, [whole[0], bound[1] - 1]];
  }

  of(e: Expr, known: Known): Interval | undefined {
    const interval = this.#raw(e, known);
    return interval !== undefined && interval[0] >= LEAST && interval[1] <= MOST ? interval : undefined;
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
    const facts = this.#assigned.get(v.id);
    if (v.type !== 'i32' || facts === undefined || facts.opaque) return undefined;
    const guard = this.#guards.get(v.id);
    // Zero before the first assignment.
    let joined: Interval = [0, 0];
    for (const value of facts.values) {
      if (guard !== undefined && stepOf(value, v) !== undefined) continue;
      const interval = this.of(value, new Map());
      if (interval === undefined) return undefined;
      joined = [Math.min(joined[0], interval[0]), Math.max(joined[1], interval[1])];
    }
    if (guard === undefined) return joined;
    const bound = this.of(guard.bound, new Map());
    const most = bound && bound[1] - 1 + guard.step;
    return most === undefined || most > MOST || guard.step <= 0 ? undefined : [joined[0], Math.max(joined[1], most)];
  }

  #raw(e: Expr, known: Known): Interval | undefined {
    if (e.op === 'const' && e.type !== 'f32' && e.type !== 'f64') return [Number(e.value), Number(e.value)];
    if (e.type !== 'i32') return undefined;
    switch (e.op) {
      case 'special':
        return this.#special(e.name);
      case 'param':
        return this.#extents.has(e.param) ? [0, MOST] : undefined;
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
    const b = this.of(e.b, known);
    if (b === undefined) return undefined;
    const [low, high] = b;
    // Masks and remainders bound anything.
    if (e.fn === 'and' && low >= 0) return [0, high];
    const a = this.of(e.a, known);
    if (a === undefined) return undefined;
    switch (e.fn) {
      case 'add':
        return [a[0] + low, a[1] + high];
      case 'sub':
        return [a[0] - high, a[1] - low];
      case 'mul': {
        const corners = [a[0] * low, a[0] * high, a[1] * low, a[1] * high];
        return [Math.min(...corners), Math.max(...corners)];
      }
      case 'rem':
        return a[0] >= 0 && low > 0 ? [0, Math.min(a[1], high - 1)] : undefined;
      case 'div':
      case 'floordiv':
        return a[0] >= 0 && low > 0 ? [0, Math.floor(a[1] / low)] : undefined;
      case 'shr':
        return low === high && low >= 0 && low < 32 ? [a[0] >> low, a[1] >> low] : undefined;
      case 'min':
        return [Math.min(a[0], low), Math.min(a[1], high)];
      case 'max':
        return [Math.max(a[0], low), Math.max(a[1], high)];
      default:
        return undefined;
    }
  }
}

/** `v + c` with a constant c: what it adds. */
function stepOf(value: Expr, v: Var): number | undefined {
  if (value.op !== 'binary' || value.fn !== 'add' || value.a.op !== 'var' || value.a.var.id !== v.id) return undefined;
  return value.b.op === 'const' ? Number(value.b.value) : undefined;
}

/** The first statement of a loop, where it is `if (!(v < bound)) break`. */
function guardOf(loop: Loop): { readonly v: Var; readonly bound: Expr } | undefined {
  let cond = testedLoop(loop)?.exit;
  if (cond === undefined) return undefined;
  let wanted = 'ge';
  if (cond.op === 'unary' && cond.fn === 'not') {
    cond = cond.a;
    wanted = 'lt';
  }
  if (cond.op !== 'compare' || cond.fn !== wanted || cond.a.op !== 'var' || cond.a.type !== 'i32') return undefined;
  // A bound in memory may have an access whose own check would be eliminated by the guard that it is part of.
  if (someExpr(cond.b, (e) => e.op === 'load')) return undefined;
  return { v: cond.a.var, bound: cond.b };
}
