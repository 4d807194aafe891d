/**
 * Integers of the work items of a block as sums whose ends are known: what `x + j - 3` is at least and at most in the whole block.
 *
 * A sum stands for an i32 modulo 2^32: a base that is the same for the block, plus terms that are each anywhere between two
 * ends. It is worth something once its least and most, counted in 64 bits, have been found to lie within 32: then nothing
 * has wrapped. `interior.ts` decides what to ask.
 */
import { add, cast, compare, i32, i64, mul, or, special, sub } from '../../ir/builder.ts';
import { size } from '../../ir/measures.ts';
import type { Expr } from '../../ir/ops.ts';
import { foldExpr } from '../../ir/passes/fold.ts';
import { someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { split } from './relations.ts';

/** factor * v for a v between two ends, all three the same for the block. */
interface Term {
  readonly factor: Expr;
  readonly least: Expr;
  readonly most: Expr;
}

/** factor * threadIdx of an axis. */
interface ThreadTerm {
  readonly axis: Axis;
  readonly extent: number;
  readonly factor: Expr;
}

type Axis = 0 | 1 | 2;

export interface Sum {
  readonly base: Expr;
  /** One an axis at most. */
  readonly threads: readonly ThreadTerm[];
  /** At most one of them has the factor 1 and constant ends: the constants of the sum are in it. */
  readonly terms: readonly Term[];
}

/** Larger expressions are not worth evaluating for each block. */
const LARGEST = 40;
/** Constants up to this leave room for a product with 32 bits, and for several of those, in 64. */
const FAR = 2 ** 26;

const ONE = i32(1);
const ZERO = i32(0);
const numberOf = (e: Expr): number | undefined => (e.op === 'const' ? Number(e.value) : undefined);
const isOne = (e: Expr): boolean => numberOf(e) === 1;

/** A value that is the same for the block; undefined when it is too large an expression. */
export function steadySum(e: Expr): Sum | undefined {
  if (size(e) > LARGEST) return undefined;
  const { base, offset } = split(e);
  return normal(base ?? ZERO, [], [between(i32(offset), i32(offset))]);
}

/** threadIdx of an axis. */
export function threadSum(axis: Axis, extent: number): Sum | undefined {
  return normal(ZERO, [{ axis, extent, factor: ONE }], []);
}

/** Anything from one value to another. */
export function rangeSum(least: Expr, most: Expr): Sum | undefined {
  return normal(ZERO, [], [between(least, most)]);
}

const between = (least: Expr, most: Expr): Term => ({ factor: ONE, least, most });

export function addSums(a: Sum, b: Sum): Sum | undefined {
  const [left, right] = [withOffset(a, b), withOffset(b, a)];
  const terms = [...left.terms, ...right.terms];
  return normal(foldExpr(add(left.base, right.base)), [...a.threads, ...b.threads], terms);
}

export function subtractSums(a: Sum, b: Sum): Sum | undefined {
  const { base, terms } = withOffset(b, a);
  const negative: Term[] = [];
  for (const { factor, least, most } of terms) {
    const [low, high] = [numberOf(least), numberOf(most)];
    if (low === undefined || high === undefined) return undefined;
    negative.push({ factor, least: i32(-high), most: i32(-low) });
  }
  const threads = b.threads.map((t) => ({ ...t, factor: foldExpr(sub(ZERO, t.factor)) }));
  if (threads.some((t) => t.factor.op !== 'const')) return undefined;
  return normal(foldExpr(sub(a.base, base)), [...a.threads, ...threads], [...a.terms, ...negative]);
}

/** Whether all that a sum is in a block may lie in 0 … limit - 1 + more: not where the threads alone are further apart, as of `(x + y) % 2`. */
export function mayLieWithin(a: Sum, limit: Expr, more: number): boolean {
  const most = numberOf(limit);
  if (most === undefined) return true;
  const apart = a.threads.reduce((sum, { factor, extent }) => sum + Math.abs(numberOf(factor) ?? 0) * (extent - 1), 0);
  return apart < most + more;
}

/**
 * A value that comes from the launch, added to what differs in the block, as a term: `i - w`, `i` and `i + w` then have one
 * base, and what is asked about them is one test.
 */
function withOffset(a: Sum, other: Sum): Sum {
  const isOffset = a.threads.length === 0 && other.threads.length > 0 && a.base.op !== 'const';
  if (!isOffset || someExpr(a.base, (e) => e.op === 'special' || e.op === 'var')) return a;
  const { factor, times } = multiple(a.base);
  return { ...a, base: ZERO, terms: [...a.terms, { factor, least: i32(times), most: i32(times) }] };
}

/** A product with a constant as so many times something: of planes of n * n elements, one after another, each begins at a multiple of the same. */
function multiple(e: Expr): { readonly factor: Expr; readonly times: number } {
  const [value, times] = e.op === 'binary' && e.fn === 'mul' ? [e.a, numberOf(e.b)] : [e, undefined];
  return times === undefined || Math.abs(times) > FAR ? { factor: e, times: 1 } : { factor: value, times };
}

/** A sum times a value that is the same for the block. */
export function scaleSum(a: Sum, by: Expr): Sum | undefined {
  if (size(by) > LARGEST) return undefined;
  const scaled = <T extends { readonly factor: Expr }>(t: T): T => ({ ...t, factor: foldExpr(mul(t.factor, by)) });
  return normal(foldExpr(mul(a.base, by)), a.threads.map(scaled), a.terms.map(scaled));
}

/** Constants multiplied out, and terms of one factor together. */
function normal(base: Expr, threads: readonly ThreadTerm[], terms: readonly Term[]): Sum | undefined {
  if (size(base) > LARGEST) return undefined;
  const axes: ThreadTerm[] = [];
  for (const t of [...threads].sort((a, b) => a.axis - b.axis)) {
    const last = axes.at(-1);
    const factor = last?.axis === t.axis ? foldExpr(add(last.factor, t.factor)) : t.factor;
    if (last?.axis === t.axis) axes.pop();
    if (Math.abs((numberOf(factor) ?? 0) * t.extent) > FAR || size(factor) > LARGEST) return undefined;
    if (numberOf(factor) !== 0 && t.extent > 1) axes.push({ ...t, factor });
  }
  const constant = split(base);
  const out: Term[] = [];
  const own = i32(constant.offset);
  for (let t of [between(own, own), ...terms]) {
    const [factor, low, high] = [t.factor, t.least, t.most].map(numberOf);
    if (low !== undefined && high !== undefined) {
      const by = factor ?? 1;
      const ends = [low * by, high * by];
      if (ends.some((end) => Math.abs(end) > FAR)) return undefined;
      if (low === 0 && high === 0) continue;
      t = {
        factor: factor === undefined ? t.factor : ONE,
        least: i32(Math.min(...ends)),
        most: i32(Math.max(...ends)),
      };
    } else if (factor !== undefined && factor < 0) return undefined;
    const twin = out.findIndex((o) => sameExpr(o.factor, t.factor) && isNumeric(o) && isNumeric(t));
    const other = out[twin];
    if (other === undefined) out.push(t);
    else out[twin] = { ...t, least: foldExpr(add(other.least, t.least)), most: foldExpr(add(other.most, t.most)) };
  }
  // Two products of 32 bits by 32 may be too much for 64.
  if (out.filter((t) => !isNumeric(t)).length > 1) return undefined;
  return { base: constant.base ?? ZERO, threads: axes, terms: out };
}

const isNumeric = (t: Term): boolean => t.least.op === 'const' && t.most.op === 'const';

/** Whether a sum is not one value for the block. */
export function varies(a: Sum): boolean {
  return a.threads.length > 0 || a.terms.some((t) => !sameExpr(t.least, t.most));
}

/** Whether a sum depends on where the block is, or on the launch: of any other it is known beforehand how it compares. */
export function isPlaced(a: Sum): boolean {
  return a.base.op !== 'const';
}

// ---------------------------------------------------------------- tests

interface EndTerm {
  readonly factor: Expr;
  readonly end: Expr;
}

/** `base + factor * end + ...` is at least a limit, or less than it. */
export interface EndTest {
  readonly kind: 'least' | 'below';
  readonly base: Expr;
  readonly threads: readonly ThreadTerm[];
  readonly terms: readonly EndTerm[];
  readonly limit: Expr;
}

/** Of each axis, the first and the last thread of a part of a block. */
export type Box = readonly [Ends, Ends, Ends];
export interface Ends {
  readonly first: Expr;
  readonly last: Expr;
}

/** What a test is about: all work items of the block, those of a part of it, or the vector of so many lanes that begins at threadIdx. */
export type Scope = 'block' | { readonly box: Box } | { readonly lanes: number };

/** The end of threadIdx of an axis on the side that a test asks about. */
function threadEnd(t: ThreadTerm, kind: EndTest['kind'], scope: Scope): Expr {
  const upper = (kind === 'below') === (numberOf(t.factor) ?? 1) > 0;
  if (scope !== 'block' && 'box' in scope) return upper ? scope.box[t.axis].last : scope.box[t.axis].first;
  const span = scope === 'block' ? t.extent - 1 : t.axis === 0 ? scope.lanes - 1 : 0;
  const past = i32(upper ? span : 0);
  return scope === 'block' ? past : foldExpr(add(special(THREAD[t.axis]), past));
}

const THREAD = ['threadIdx.x', 'threadIdx.y', 'threadIdx.z'] as const;

/** Something to find out once for the block. */
export type Test =
  | EndTest
  | { readonly kind: 'holds'; readonly cond: Expr }
  | { readonly kind: 'either'; readonly of: readonly EndTest[] };

/** The least that a sum can be is `limit + more`, or more. The sum does not wrap. */
export function atLeast(a: Sum, limit: Expr, more = 0): Test[] {
  return endTests('least', a, limit, more);
}

/** The most that a sum can be is below `limit + more`. The sum does not wrap. */
export function below(a: Sum, limit: Expr, more = 0): Test[] {
  return endTests('below', a, limit, more);
}

const isNatural = (e: Expr): Test => ({ kind: 'holds', cond: compare('ge', e, ZERO) });

function endTests(kind: EndTest['kind'], a: Sum, limit: Expr, more: number): Test[] {
  const parts = split(limit);
  // `x < n - 1` says that n - 1 has not wrapped; `x < n + 1` says nothing of n + 1.
  const apart = kind === 'below' ? parts.offset <= 0 : parts.offset >= 0;
  const { base, offset } = apart || limit.op === 'const' ? parts : { base: limit, offset: 0 };
  const ends = together(a.terms.map((t) => ({ factor: t.factor, end: kind === 'least' ? t.least : t.most })));
  const at = ends.findIndex((t) => isOne(t.factor) && t.end.op === 'const');
  const own = at < 0 ? 0 : (numberOf(ends[at]?.end ?? ZERO) ?? 0);
  const others = ends.filter((_, k) => k !== at);
  const ranged = a.terms.filter((t) => !sameExpr(t.least, t.most));
  const test: EndTest = {
    kind,
    base: a.base,
    threads: a.threads,
    terms: [{ factor: ONE, end: i64(own - offset - more) }, ...others],
    limit: base ?? ZERO,
  };
  const signs = [...a.threads, ...ranged].filter((t) => t.factor.op !== 'const');
  return [...signs.map((t) => isNatural(t.factor)), test];
}

/** Numbers of one factor as one: of `k - 9`, with k from 0 to n, the least has two. `joined` takes one number for each factor. */
function together(ends: readonly EndTerm[]): readonly EndTerm[] {
  const out: EndTerm[] = [];
  for (const t of ends) {
    const same = out.findIndex((o) => o.end.op === 'const' && t.end.op === 'const' && sameExpr(o.factor, t.factor));
    const other = out[same];
    if (other === undefined) out.push(t);
    else out[same] = { ...t, end: foldExpr(add(other.end, t.end)) };
  }
  return out;
}

/** What an i32 is at least, where that is known. */
type LeastOf = (e: Expr) => number | undefined;

/** Tests to be made together, without those that are known beforehand or said by others. */
export class Tests {
  readonly list: Test[] = [];
  readonly #most: number;
  readonly #least: LeastOf;

  /** At most so many, without those that follow from the `least` that values can be. */
  constructor(most: number, least: LeastOf = numberOf) {
    this.#most = most;
    this.#least = least;
  }

  /** Adds tests, or none of them where one can not hold or they would be too many. */
  add(tests: readonly Test[]): boolean {
    const open: Test[] = [];
    for (const t of tests) {
      const known = decided(t, this.#least);
      if (known === false) return false;
      if (known === undefined) open.push(t);
    }
    const exact = merged(this.list, open, false);
    const added = exact.length > this.#most ? merged([], exact, true) : exact;
    if (added.length > this.#most) return false;
    this.list.splice(0, this.list.length, ...added);
    return true;
  }

  /**
   * That all of them hold, as conditions. Vectors are asked about one limit on either side; that others lie no nearer is the same for
   * all of them.
   */
  conditions(scope: Scope): readonly Expr[] {
    return this.list.map((t, k) => {
      const first =
        scope === 'block' || 'box' in scope ? undefined : this.list.slice(0, k).find((other) => isParallel(other, t));
      return first === undefined ? asCondition(t, scope) : isNearer(first as EndTest, t as EndTest);
    });
  }
}

/** Tests, and more of them, as few as they can be: `asking` also whether factors are negative, where that saves tests. */
function merged(list: readonly Test[], more: readonly Test[], asking: boolean): readonly Test[] {
  const out = [...list];
  const asked: Test[] = [];
  const isKnown = (e: Expr): boolean => [...out, ...asked].some((other) => isAlike(other, isNatural(e)));
  for (const t of more) {
    const needed: Expr[] = [];
    const natural = (e: Expr): boolean => {
      if (asking && !isKnown(e)) needed.push(e);
      return asking || isKnown(e);
    };
    const at = out.findIndex((other) => isAlike(other, t) || joined(other, t, natural) !== undefined);
    const other = out[at];
    if (other === undefined) {
      out.push(t);
      continue;
    }
    needed.length = 0;
    out[at] = joined(other, t, natural) ?? other;
    for (const e of needed) if (!isKnown(e)) asked.push(isNatural(e));
  }
  return [...asked, ...out];
}

/** A test as a condition, counted in 64 bits. */
function asCondition(t: Test, scope: Scope): Expr {
  if (t.kind === 'holds') return t.cond;
  if (t.kind === 'either') return t.of.map((one) => asCondition(one, scope)).reduce(or);
  const threads = t.threads.map((x) => ({ factor: x.factor, end: threadEnd(x, t.kind, scope) }));
  const ends = [...threads, ...t.terms].map(({ factor, end }) =>
    isOne(factor) ? long(end) : mul(long(end), long(factor)),
  );
  const value = foldExpr([...ends, long(t.base)].reduce(add));
  return compare(t.kind === 'least' ? 'ge' : 'lt', value, long(t.limit));
}

/** Whether two tests ask on the same side about sums that differ by a constant. */
function isParallel(a: Test, b: Test): boolean {
  if (a.kind === 'holds' || a.kind === 'either' || a.kind !== b.kind) return false;
  const isSame = (x: EndTerm, y: EndTerm): boolean => sameExpr(x.factor, y.factor) && sameExpr(x.end, y.end);
  const [mine, theirs] = [a, b].map((t) => t.terms.filter((x) => !isConstant(x))) as [EndTerm[], EndTerm[]];
  return (
    sameExpr(a.base, b.base) &&
    isSameAxes(a.threads, b.threads) &&
    mine.length === theirs.length &&
    mine.every((x, k) => isSame(x, theirs[k] as EndTerm))
  );
}

const isConstant = (t: EndTerm): boolean => isOne(t.factor) && t.end.op === 'const';

/** That what is within the limit of `a` is within that of `b`, which is parallel. */
function isNearer(a: EndTest, b: EndTest): Expr {
  const constantOf = (t: EndTest): number =>
    t.terms.filter(isConstant).reduce((sum, { end }) => sum + (numberOf(end) ?? 0), 0);
  const limit = foldExpr(add(long(a.limit), i64(constantOf(b) - constantOf(a))));
  return foldExpr(compare(a.kind === 'least' ? 'ge' : 'le', limit, long(b.limit)));
}

function isSameAxes(a: readonly ThreadTerm[], b: readonly ThreadTerm[]): boolean {
  return a.length === b.length && a.every((x, k) => x.axis === b[k]?.axis && sameExpr(x.factor, b[k].factor));
}

function long(e: Expr): Expr {
  return e.op === 'const' ? i64(Number(e.value)) : cast('i64', e);
}

/** Whether a test holds wherever the block is; undefined where that is not known. */
function decided(t: Test, least: LeastOf): boolean | undefined {
  if (t.kind === 'holds') {
    const cond = foldExpr(t.cond);
    return cond.op === 'const' ? cond.value === true : undefined;
  }
  if (t.kind === 'either') {
    const known = t.of.map((one) => decided(one, least));
    if (known.includes(true)) return true;
    return known.includes(undefined) ? undefined : false;
  }
  const threads = t.threads.map((x) => ({ factor: x.factor, end: threadEnd(x, t.kind, 'block') }));
  const base = numberOf(t.base);
  let value = base ?? (t.kind === 'least' ? least(t.base) : undefined) ?? Number.NaN;
  for (const { factor, end } of [...threads, ...t.terms])
    value += (numberOf(factor) ?? Number.NaN) * (numberOf(end) ?? Number.NaN);
  const limit = numberOf(t.limit) ?? Number.NaN;
  if (Number.isNaN(value - limit)) return undefined;
  if (t.kind === 'below') return value < limit;
  return value >= limit ? true : base === undefined ? undefined : false;
}

/** Whether two tests of conditions are the same. */
function isAlike(a: Test, b: Test): boolean {
  return a.kind === 'holds' && b.kind === 'holds' && sameExpr(a.cond, b.cond);
}

/** One test that says what two of the same base do, or more: the ends of each term as far out as in either. */
function joined(a: Test, b: Test, natural: (factor: Expr) => boolean): EndTest | undefined {
  if (a.kind === 'holds' || a.kind === 'either' || b.kind === 'either' || b.kind !== a.kind) return undefined;
  if (!sameExpr(a.base, b.base) || !sameExpr(a.limit, b.limit) || !isSameAxes(a.threads, b.threads)) return undefined;
  const open = [a, b].map((t) => t.terms.filter(({ end }) => end.op !== 'const'));
  const [first = [], second = []] = open;
  const alike = (x: EndTerm, y: EndTerm | undefined): boolean =>
    y !== undefined && sameExpr(x.factor, y.factor) && sameExpr(x.end, y.end);
  if (first.length !== second.length || !first.every((x, k) => alike(x, second[k]))) return undefined;
  const terms: EndTerm[] = [...first];
  const endOf = (t: EndTest, factor: Expr): number =>
    numberOf(t.terms.find((x) => x.end.op === 'const' && sameExpr(x.factor, factor))?.end ?? ZERO) ?? 0;
  for (const { factor, end } of [...a.terms, ...b.terms]) {
    if (end.op !== 'const' || terms.some((t) => t.end.op === 'const' && sameExpr(t.factor, factor))) continue;
    const [x, y] = [endOf(a, factor), endOf(b, factor)];
    if (x !== y && factor.op !== 'const' && !natural(factor)) return undefined;
    terms.push({ factor, end: i64(a.kind === 'least' ? Math.min(x, y) : Math.max(x, y)) });
  }
  return { ...a, terms };
}
