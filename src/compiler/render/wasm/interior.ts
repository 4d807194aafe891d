/**
 * Interior blocks: code for the blocks in which every work item takes the common way, written beside the code for all blocks.
 *
 * What a block as a whole can be asked ahead: whether its indices are within bounds, its guards hold, its coordinates need
 * no clamping and do not wrap around the edge of a grid. Where all of that is so, the region is run without checks, guards
 * and remainders, and what is then a consecutive index is loaded as one vector. In the other blocks, perhaps only because
 * an access is not reached, everything stays in its place. `sums.ts` knows what an index may be in a block.
 */
import { and, bool, compare, i32, sub } from '../../ir/builder.ts';
import { type Loop, testedLoop } from '../../ir/loops.ts';
import { canFail, MIRRORED, OPPOSITE, size } from '../../ir/measures.ts';
import type { CompareOp, Expr, MemRef, Stmt } from '../../ir/ops.ts';
import { mapParts } from '../../ir/parts.ts';
import { foldNode } from '../../ir/passes/fold.ts';
import { assignedIn, defined, mapTopExprs, someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { type Gen, type Shapes, shapeOf, varShape } from './gen.ts';
import {
  addSums,
  atLeast,
  type Box,
  below,
  type EndTest,
  isPlaced,
  mayLieWithin,
  rangeSum,
  type Sum,
  scaleSum,
  steadySum,
  subtractSums,
  type Test,
  Tests,
  threadSum,
  varies,
} from './sums.ts';

export interface Interior {
  /** What a work item of an interior block does. */
  readonly body: readonly Stmt[];
  /** Whether a block is one: the same for the block, and to be evaluated ahead of it; the constant true where all are. */
  readonly holds: Expr;
  /** Whether vectors of a row, of another block, may be like those of interior blocks; and whether one of such a row is. */
  readonly mayHoldInRow: Expr;
  readonly holdsForVector: Expr;
  /** Whether all items of a part of a block may be run like those of an interior one. */
  holdsIn(box: Box): Expr;
  /** Whether more is asked for than checks: items that are not like these do something else. */
  readonly chooses: boolean;
}

/** What has been found out of the kernel. */
type Facts = Shapes & Pick<Gen, 'kernel' | 'variant' | 'ranges' | 'eliminated'>;

/** More tests than this are not worth it. */
const MOST_TESTS = 24;
/** Vectors in a block from which on it pays to make tests ahead, and to have code for both. */
const WORTH_TESTING = 4;
/** Places below this are taken for edges, others for what is before the far edge. */
const FAR_OUT = 32;
/** Larger index expressions are not repeated at each use. */
const LARGEST = 40;

/** The region as interior blocks run it; undefined where that is no different, or not worth it: a test is for `blocks` of them. */
export function findInterior(g: Facts, body: readonly Stmt[], blocks = 1): Interior | undefined {
  const [width, height, depth] = g.variant.block;
  if (g.lanes === 1 || width * height * depth * blocks < WORTH_TESTING * g.lanes) return undefined;
  const walk = new Specialiser(g, body);
  const inside = walk.list(body);
  const { tests } = walk;
  if (inside === body) return undefined;
  const inVector = tests.conditions({ lanes: g.lanes });
  return {
    body: inside,
    holds: all(tests.conditions('block')),
    mayHoldInRow: all(inVector.filter((e) => !isOfVector(e))),
    holdsForVector: all(inVector.filter(isOfVector)),
    holdsIn: (box) => all(tests.conditions({ box })),
    chooses: walk.chooses,
  };
}

const all = (conditions: readonly Expr[]): Expr => conditions.reduce(and, bool(true));

const isOfVector = (e: Expr): boolean => someExpr(e, (x) => x.op === 'special' && x.name === 'threadIdx.x');

/** What is known at a place, by `Var.id`. */
interface Place {
  /** What variables may be in the block. */
  readonly sums: Map<number, Sum>;
  /** Variables whose values are sums of which nothing is known. */
  readonly loose: Set<number>;
  /** Variables that have become consecutive or the same for a vector: their values, to be used in their place. */
  readonly values: Map<number, Expr>;
}

class Specialiser {
  readonly tests: Tests;
  chooses = false;
  readonly #g: Facts;
  readonly #assigned: ReadonlySet<number>;
  #at: Place = { sums: new Map(), loose: new Set(), values: new Map() };

  constructor(g: Facts, body: readonly Stmt[]) {
    this.#g = g;
    this.#assigned = assignedIn(body);
    this.tests = new Tests(MOST_TESTS, (e) => g.ranges.of(e)?.[0]);
  }

  // -------------------------------------------------------------- statements

  list(list: readonly Stmt[]): readonly Stmt[] {
    const out = list.flatMap((s) => this.#statement(s));
    return out.length === list.length && out.every((s, k) => s === list[k]) ? list : out;
  }

  #statement(s: Stmt): readonly Stmt[] {
    if (s.op === 'loop') return [this.#loop(s)];
    const own = this.#own(s);
    switch (own.op) {
      case 'if': {
        if (own.cond.op === 'const') return this.list(own.cond.value ? own.then : own.else);
        const then = this.#aside(own.then);
        const otherwise = this.#aside(own.else);
        this.#forget(assignedIn([...own.then, ...own.else]));
        const same = then === own.then && otherwise === own.else;
        return [same ? own : { ...own, then, else: otherwise }];
      }
      case 'block': {
        const body = this.#aside(own.body);
        this.#forget(assignedIn(own.body));
        return [this.#inPlaceOf(s, body === own.body ? own : { ...own, body })];
      }
      case 'assign':
        this.#assign(own);
        return [this.#inPlaceOf(s, own)];
      default: {
        const id = defined(own);
        if (id !== undefined) this.#forget([id]);
        return [this.#inPlaceOf(s, own)];
      }
    }
  }

  /** A statement with the expressions that it evaluates itself as interior blocks have them. */
  #own(s: Stmt): Stmt {
    const writes = s.op === 'store' || s.op === 'atomic';
    const own = mapTopExprs(writes ? withMemory(s, this.#proven(s.mem)) : s, (e) => this.#rewrite(e));
    return own.op === 'store' || own.op === 'atomic' ? withMemory(own, this.#unchecked(own.mem)) : own;
  }

  /** A list that is perhaps not gone through to its end. */
  #aside(list: readonly Stmt[]): readonly Stmt[] {
    const before = this.#at;
    this.#at = { sums: new Map(before.sums), loose: new Set(before.loose), values: new Map(before.values) };
    const out = this.list(list);
    this.#at = before;
    return out;
  }

  #loop(s: Loop): Stmt {
    const asked = this.tests.list.length;
    const counter = this.#counter(s) ?? this.#strided(s);
    this.#forget(assignedIn([...s.body, ...s.update]));
    // The test is where the counter leaves its range.
    const tests = counter === undefined ? 0 : 1;
    const before = this.#at;
    if (counter !== undefined) this.#at = { ...before, sums: new Map([...before.sums, counter]) };
    const rest = s.body.slice(tests);
    const inside = this.#aside(rest);
    this.#at = before;
    if (inside === rest) this.tests.list.splice(asked);
    const update = this.#aside(s.update);
    if (inside === rest && update === s.update) return s;
    return this.#inPlaceOf(s, { ...s, body: [...s.body.slice(0, tests), ...inside], update });
  }

  /** The counter of a loop, and what it may be in the body: from where it starts, by ones, to its bound. */
  #counter(s: Loop): [number, Sum] | undefined {
    const known = this.#g.ranges.counter(s);
    if (known !== undefined) {
      const [id, [least, most]] = known;
      const sum = least <= most ? rangeSum(i32(least), i32(most)) : undefined;
      return sum && [id, sum];
    }
    const exit = testedLoop(s)?.exit;
    const step = s.update.length === 1 ? s.update[0] : undefined;
    if (exit?.op !== 'compare' || exit.fn !== 'ge' || exit.a.op !== 'var' || step?.op !== 'assign') return undefined;
    const { var: v } = exit.a;
    const { value } = step;
    const byOne =
      value.op === 'binary' &&
      value.fn === 'add' &&
      value.a.op === 'var' &&
      value.a.var.id === v.id &&
      isNumber(value.b, 1);
    if (v.type !== 'i32' || step.var.id !== v.id || !byOne || assignedIn(s.body).has(v.id)) return undefined;
    const start = this.#at.sums.get(v.id);
    if (start === undefined || varies(start) || !this.#isSteady(exit.b)) return undefined;
    const [only, ...others] = start.terms;
    if (others.length > 0) return undefined;
    const first = only === undefined ? start.base : isNumber(start.base, 0) ? only.least : undefined;
    const sum = first && rangeSum(first, sub(exit.b, i32(1)));
    return sum && [v.id, sum];
  }

  /** A counter in other steps, which is not to wrap before it reaches its bound. */
  #strided(s: Loop): [number, Sum] | undefined {
    const counter = this.#g.ranges.strided(s);
    if (counter === undefined || !this.#isSteady(counter.bound)) return undefined;
    const { id, least, bound, over, step } = counter;
    // One that has been something else may have let the counter wrap before.
    if (someExpr(bound, (e) => e.op === 'var')) return undefined;
    const sum = rangeSum(i32(least), sub(bound, i32(1 + over)));
    const room: Test = { kind: 'holds', cond: compare('le', bound, i32(2 ** 31 - step + Math.min(over, 0))) };
    return sum && this.tests.add([room]) ? [id, sum] : undefined;
  }

  #assign(s: Stmt & { op: 'assign' }): void {
    const sum = this.#sum(s.value);
    this.#forget([s.var.id]);
    if (sum !== undefined) this.#at.sums.set(s.var.id, sum);
    else if (isArithmetic(s.value)) this.#at.loose.add(s.var.id);
    const g = this.#g;
    const better = s.var.type === 'i32' && varShape(g, s.var) === 'V' && shapeOf(g, s.value) !== 'V';
    if (better && size(s.value) <= LARGEST && !someExpr(s.value, (e) => canFail(e) || isRead(e, s.var.id)))
      this.#at.values.set(s.var.id, s.value);
  }

  /** Variables are assigned: what is known of them, or said in terms of them, is no longer so. */
  #forget(ids: Iterable<number>): void {
    const { sums, loose, values } = this.#at;
    for (const id of ids) {
      sums.delete(id);
      loose.delete(id);
      values.delete(id);
      for (const [other, e] of values) if (someExpr(e, (x) => isRead(x, id))) values.delete(other);
    }
  }

  /** A statement that analyses have not seen: what they say of the one that it stands for holds of it. */
  #inPlaceOf(old: Stmt, s: Stmt): Stmt {
    if (s !== old) this.#g.uniformity.inPlaceOf(old, s);
    return s;
  }

  // -------------------------------------------------------------- expressions

  #rewrite(e: Expr): Expr {
    const known = e.op === 'load' ? withMemory(e, this.#proven(e.mem)) : e;
    const inner = mapParts(known, (part) => this.#rewrite(part));
    const own = this.#node(inner);
    if (own !== inner && own.op !== 'load' && inner.op !== 'var') this.chooses = true;
    return own === e ? e : foldNode(own);
  }

  #node(e: Expr): Expr {
    switch (e.op) {
      case 'var':
        return this.#at.values.get(e.var.id) ?? e;
      case 'compare':
        return this.#compare(e) ?? e;
      case 'binary':
        return (e.type === 'i32' ? this.#wrapped(e) : undefined) ?? e;
      case 'load':
        return withMemory(e, this.#unchecked(e.mem, true));
      default:
        return e;
    }
  }

  /**
   * Memory with the checks that are left to each item. Whether a table that is read has a row for each byte is one of them: where it has, a vector
   * finds that out in one comparison, and where it has not, all else should be as in other blocks.
   */
  #unchecked(mem: MemRef, reads = false): MemRef {
    if (!this.#g.kernel.checked || mem.checks.length === 0) return mem;
    const checks = mem.checks.filter((check) => {
      if (check.extent.type !== 'i32' || !this.#isSteady(check.extent)) return true;
      const [least, most] = this.#g.ranges.of(check.index) ?? [0, 0];
      if (reads && most - least === 2 ** 8 - 1) return true;
      const index = this.#sum(check.index);
      return index === undefined || !this.tests.add([...atLeast(index, i32(0)), ...below(index, check.extent)]);
    });
    return checks.length === mem.checks.length ? mem : { ...mem, checks };
  }

  /** Memory without the checks that always hold: afterwards their objects are others. */
  #proven(mem: MemRef): MemRef {
    const { eliminated } = this.#g;
    if (!mem.checks.some((check) => eliminated.has(check))) return mem;
    return { ...mem, checks: mem.checks.filter((check) => !eliminated.has(check)) };
  }

  /** A comparison that comes out the same way in all of an interior block. */
  #compare(e: Expr & { op: 'compare' }): Expr | undefined {
    if (e.a.type !== 'i32') return undefined;
    const [a, b] = [this.#sum(e.a), this.#sum(e.b)];
    if (a !== undefined && varies(a) && this.#isSteady(e.b)) return this.#decide(e.fn, e.a, a, e.b);
    if (b !== undefined && varies(b) && this.#isSteady(e.a)) return this.#decide(MIRRORED[e.fn], e.b, b, e.a);
    return undefined;
  }

  /** Where blocks are expected: beyond small constants, before anything else. */
  #decide(fn: CompareOp, e: Expr, a: Sum, limit: Expr): Expr | undefined {
    if (!isPlaced(a)) return undefined;
    const whole = this.#unwrapped(e, a);
    const above = limit.op === 'const' && Number(limit.value) < FAR_OUT;
    if (fn === 'eq' || fn === 'ne') {
      const apart = [...atLeast(a, limit, 1), ...below(a, limit)];
      const ends = apart.filter((t): t is EndTest => t.kind === 'least' || t.kind === 'below');
      const signs = apart.filter((t) => t.kind === 'holds');
      const oneSide = above ? atLeast(a, limit, 1) : undefined;
      const holds =
        (oneSide !== undefined && this.tests.add([...whole, ...oneSide])) ||
        this.tests.add([...whole, ...signs, { kind: 'either', of: ends }]);
      return holds ? { op: 'const', type: 'bool', value: fn === 'ne' } : undefined;
    }
    const expected = above ? fn === 'gt' || fn === 'ge' : fn === 'lt' || fn === 'le';
    const strict = (expected ? fn : OPPOSITE[fn]) === (above ? 'gt' : 'lt');
    const tests = above ? atLeast(a, limit, strict ? 1 : 0) : below(a, limit, strict ? 0 : 1);
    return this.tests.add([...whole, ...tests]) ? { op: 'const', type: 'bool', value: expected } : undefined;
  }

  /** That an i32 and all that the sum for it can be are the same. */
  #unwrapped(e: Expr, a: Sum): Test[] {
    if (this.#g.ranges.of(e) !== undefined) return [];
    return [...atLeast(a, i32(-(2 ** 31))), ...below(a, i32(2 ** 31 - 1), 1)];
  }

  /** Clamps, remainders and masks of what is within their range. */
  #wrapped(e: Expr & { op: 'binary' }): Expr | undefined {
    switch (e.fn) {
      case 'min':
      case 'max': {
        const [x, limit] = this.#isSteady(e.b) ? [e.a, e.b] : [e.b, e.a];
        const a = this.#isSteady(limit) ? this.#sum(x) : undefined;
        if (a === undefined || !varies(a) || !isPlaced(a)) return undefined;
        const tests = e.fn === 'max' ? atLeast(a, limit) : below(a, limit, 1);
        return this.tests.add([...this.#unwrapped(x, a), ...tests]) ? x : undefined;
      }
      case 'rem':
        return this.#isSteady(e.b) ? this.#remainder(e) : undefined;
      case 'and': {
        const a = this.#isSteady(e.b) ? this.#sum(e.a) : undefined;
        if (a === undefined || !varies(a) || !isPlaced(a) || !mayLieWithin(a, e.b, 1)) return undefined;
        const more: Expr = { op: 'binary', type: 'i32', fn: 'add', a: e.b, b: i32(1) };
        const ones: Expr = { op: 'binary', type: 'i32', fn: 'and', a: e.b, b: more };
        const allOnes: Test = { kind: 'holds', cond: compare('eq', ones, i32(0)) };
        return this.tests.add([allOnes, ...atLeast(a, i32(0)), ...below(a, e.b, 1)]) ? e.a : undefined;
      }
      default:
        return undefined;
    }
  }

  /** `x % n` as x, and `(x + n) % n` as well. */
  #remainder(e: Expr & { op: 'binary' }): Expr | undefined {
    const once = without(e.a, e.b);
    const x = once ?? e.a;
    const a = this.#sum(x);
    if (a === undefined || !varies(a) || !isPlaced(a) || !mayLieWithin(a, e.b, 0)) return undefined;
    // x + n does not wrap then either.
    const room: Test[] = once === undefined ? [] : [{ kind: 'holds', cond: compare('le', e.b, i32(2 ** 30)) }];
    return this.tests.add([...room, ...atLeast(a, i32(0)), ...below(a, e.b)]) ? x : undefined;
  }

  // -------------------------------------------------------------- sums

  /** What an i32 may be in the block. */
  #sum(e: Expr): Sum | undefined {
    if (e.type !== 'i32') return undefined;
    const sum = this.#ownSum(e);
    if (sum !== undefined) return sum;
    // Of `2 * (t - k) + k` a range says too little: what is asked of it would hardly ever hold.
    const loose = e.op === 'var' ? this.#at.loose.has(e.var.id) : isArithmetic(e);
    const range = loose ? undefined : this.#g.ranges.of(e);
    // Of an element of 16 bits it says that tables should have room for all there are: few have.
    if (range !== undefined && range[1] - range[0] === 2 ** 16 - 1) return undefined;
    return range && rangeSum(i32(range[0]), i32(range[1]));
  }

  #ownSum(e: Expr): Sum | undefined {
    switch (e.op) {
      case 'special': {
        const axis = ['threadIdx.x', 'threadIdx.y', 'threadIdx.z'].indexOf(e.name);
        if (axis === 0 || axis === 1 || axis === 2) return threadSum(axis, this.#g.variant.block[axis]);
        break;
      }
      case 'var': {
        const known = this.#at.sums.get(e.var.id);
        if (known !== undefined) return known;
        break;
      }
      case 'binary': {
        if (e.fn === 'and') return this.#masked(e);
        if (!isArithmetic(e)) break;
        if (this.#isSteady(e)) break;
        const a = this.#sum(e.a);
        if (e.fn === 'mul') {
          if (a !== undefined && this.#isSteady(e.b)) return scaleSum(a, e.b);
          const b = this.#isSteady(e.a) ? this.#sum(e.b) : undefined;
          return b && scaleSum(b, e.a);
        }
        const b = a && this.#sum(e.b);
        return b && (e.fn === 'add' ? addSums(a, b) : subtractSums(a, b));
      }
    }
    return this.#isSteady(e) ? steadySum(e) : undefined;
  }

  /** `t & (half - 1)` is anything up to the mask. */
  #masked(e: Expr & { op: 'binary' }): Sum | undefined {
    if (this.#isSteady(e)) return steadySum(e);
    const [mask] = [e.b, e.a].filter((x) => x.op !== 'const' && this.#isSteady(x));
    if (mask === undefined) return undefined;
    const sum = rangeSum(i32(0), mask);
    return sum && this.tests.add(atLeast(rangeSum(mask, mask) ?? sum, i32(0))) ? sum : undefined;
  }

  /** Whether a value is the same for the block, and can be had before the block is run. */
  #isSteady(e: Expr): boolean {
    return !someExpr(e, (x) => {
      switch (x.op) {
        case 'call':
          return true;
        case 'var':
          return this.#assigned.has(x.var.id) || !this.#g.uniformity.isKeptOnce(x.var);
        case 'special':
          return x.name.startsWith('threadIdx') || x.name === 'laneId';
        default:
          return canFail(x);
      }
    });
  }
}

function withMemory<T extends { readonly mem: MemRef }>(of: T, mem: MemRef): T {
  return mem === of.mem ? of : { ...of, mem };
}

const isArithmetic = (e: Expr): boolean => e.op === 'binary' && (e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul');

const isRead = (e: Expr, id: number): boolean => e.op === 'var' && e.var.id === id;

const isNumber = (e: Expr, value: number): boolean => e.op === 'const' && e.value === value;

/** A sum without one of its terms, where it has it. */
function without(e: Expr, term: Expr): Expr | undefined {
  if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
  if (e.fn === 'add' && sameExpr(e.b, term)) return e.a;
  if (e.fn === 'add' && sameExpr(e.a, term)) return e.b;
  const a = without(e.a, term);
  if (a !== undefined) return { ...e, a };
  const b = e.fn === 'add' ? without(e.b, term) : undefined;
  return b && { ...e, b };
}
