/**
 * Guard peeling: turns the guard of a region, `decls; if (conjunction) { body }`, into bounds on threadIdx.x.
 *
 * Parts of the conjunction that are the same for a row of work items become one test per row; comparisons of a consecutive
 * value with a uniform one become the first and last work item to run, so that full vectors run without a mask. The
 * renderer decides what to make of it.
 */
import { add, and, binary, bool, cast, compare, constant, i32, select, sub } from '../builder.ts';
import { canFail, conjuncts, MIRRORED, mayFail, OPPOSITE, size } from '../measures.ts';
import type { CompareOp, Expr, Stmt } from '../ops.ts';
import { foldExpr } from './fold.ts';
import type { Uniformity } from './uniformity.ts';
import { mapExpr, someExpr } from './walk.ts';

export interface PeeledGuard {
  /** Assignments before the guard, without effects: run them at the start of each item that runs `body`. */
  readonly decls: readonly (Stmt & { op: 'assign' })[];
  /** Test per row (threadIdx.x is not in it): when false, no item of the row runs. Evaluate before the decls. */
  readonly row: Expr | undefined;
  /** i32, free of threadIdx.x: outside `lo <= threadIdx.x < hi` the guard is false; 0 <= lo, hi <= blockDim.x. */
  readonly lo: Expr;
  readonly hi: Expr;
  /** Whether `bounded` holds for all threadIdx.x in [lo, hi). False when base + lane wraps there; lo..hi is then the whole row. */
  readonly exact: Expr;
  /** Whether at most one item is within the bounds, where they are exact. */
  readonly single: boolean;
  /** The part of the guard that the bounds stand for: what to test where `exact` is false. */
  readonly bounded: Expr | undefined;
  /** The part that stays a test (or mask) for each item, even where `exact` holds. */
  readonly rest: Expr | undefined;
  readonly body: readonly Stmt[];
}

/** Undefined when the region has no guard of that form, or nothing of it can be peeled. */
export function peelGuard(body: readonly Stmt[], uniformity: Uniformity, blockDimX: number): PeeledGuard | undefined {
  const guard = body.at(-1);
  const decls = body.slice(0, -1);
  if (guard?.op !== 'if' || guard.else.length > 0 || !decls.every(isDeclaration)) return undefined;
  const outside = inTermsOf(decls);
  const along: Along = { axis: 'threadIdx.x', extent: blockDimX, isSteady: (e) => rowValue(e, uniformity) };
  const parts = { row: [] as Expr[], bounds: [] as Bound[], bounded: [] as Expr[], rest: [] as Expr[] };
  for (const part of conjuncts(guard.cond)) {
    const full = outside(part);
    const bound = full && boundOf(full, along);
    if (full && rowValue(full, uniformity)) parts.row.push(full);
    else if (bound && (bound.lo === undefined || !uniformity.isAligned())) {
      parts.bounds.push(bound);
      parts.bounded.push(part);
    } else parts.rest.push(part);
  }
  if (parts.row.length + parts.bounds.length === 0) return undefined;
  const exact = foldExpr(conjunction(parts.bounds.map((b) => b.exact)) ?? bool(true));
  const lo = parts.bounds.flatMap((b) => b.lo ?? []).reduce(max, i32(0));
  const his = parts.bounds.flatMap((b) => b.hi ?? []);
  const hi = his.length > 0 ? his.reduce(min) : i32(blockDimX);
  return {
    decls,
    row: conjunction(parts.row),
    lo: foldExpr(select(exact, lo, i32(0))),
    hi: foldExpr(select(exact, hi, i32(blockDimX))),
    exact,
    // As only an equation has both.
    single: parts.bounds.some((b) => b.lo !== undefined && b.hi !== undefined),
    bounded: conjunction(parts.bounded),
    rest: conjunction(parts.rest),
    body: guard.then,
  };
}

/** A function that writes an expression in terms of what there is ahead of declarations; undefined where that is too large, or not to be had. */
export function inTermsOf(decls: readonly (Stmt & { op: 'assign' })[]): (e: Expr) => Expr | undefined {
  const values = new Map<number, Expr>();
  // A variable that is assigned twice, or read before it is assigned here, has no one value to put in its place.
  const assigned = new Set<number>();
  const unclear = new Set<number>();
  for (const s of decls) {
    const value = mapExpr(s.value, (e) => (e.op === 'var' ? (values.get(e.var.id) ?? e) : e));
    if (assigned.has(s.var.id) || size(value) > LARGEST) unclear.add(s.var.id);
    assigned.add(s.var.id);
    values.set(s.var.id, value);
  }
  for (const id of unclear) values.delete(id);
  return (e) => {
    const full = mapExpr(e, (x) => (x.op === 'var' ? (values.get(x.var.id) ?? x) : x));
    return someExpr(e, (x) => x.op === 'var' && unclear.has(x.var.id)) || size(full) > LARGEST ? undefined : full;
  };
}

/** More than this, and evaluating a bound costs more than it saves. */
const LARGEST = 40;

export function isDeclaration(s: Stmt): s is Stmt & { op: 'assign' } {
  // An assertion that a value is uniform is one that those who run the body make.
  return s.op === 'assign' && !someExpr(s.value, (e) => canFail(e) && e.op !== 'unary');
}

export function conjunction(parts: readonly Expr[]): Expr | undefined {
  return parts.length === 0 ? undefined : parts.reduce((a, b) => and(a, b));
}

/** Whether a value is the same for a row and may be computed ahead of everything else in the region. */
function rowValue(e: Expr, uniformity: Uniformity): boolean {
  const shape = uniformity.shape(e);
  return (shape === 'G' || shape === 'U') && !someExpr(e, (x) => needsItem(x, uniformity));
}

/** What only a work item can evaluate. Loads may depend on what earlier items of the row stored. */
export function needsItem(e: Expr, uniformity: Uniformity): boolean {
  switch (e.op) {
    case 'var':
      return !uniformity.isKeptOnce(e.var);
    case 'special':
      return e.name === 'threadIdx.x' || e.name === 'laneId';
    default:
      return canFail(e);
  }
}

export interface Bound {
  readonly lo?: Expr;
  readonly hi?: Expr;
  readonly exact: Expr;
}

/** Threads along an axis, and what they all have in common. */
export interface Along {
  readonly axis: 'threadIdx.x' | 'threadIdx.y' | 'threadIdx.z';
  /** How many there are, at most; `span`: how many, where that is not known. */
  readonly extent: number;
  readonly span?: Expr | undefined;
  isSteady(e: Expr): boolean;
}

/** `base + threadIdx.x < limit` and its like, in 32-bit integers. */
export function boundOf(e: Expr, along: Along): Bound | undefined {
  if (e.op === 'unary' && e.fn === 'not' && e.a.op === 'compare') {
    return boundOf({ ...e.a, fn: OPPOSITE[e.a.fn] }, along);
  }
  if (e.op !== 'compare' || e.fn === 'ne') return undefined;
  if (e.a.type !== 'i32' && e.a.type !== 'u32') return undefined;
  const consecutive = baseOf(e.a, along);
  if (consecutive && along.isSteady(e.b)) return limits(e.fn, consecutive, e.b, along);
  const mirrored = baseOf(e.b, along);
  if (mirrored && along.isSteady(e.a)) return limits(MIRRORED[e.fn], mirrored, e.a, along);
  const [steps, others] = [stepsOf(e.a, along), stepsOf(e.b, along)];
  if (steps && along.isSteady(e.b)) return limits(e.fn, steps.base, e.b, along, steps.step);
  if (others && along.isSteady(e.a)) return limits(MIRRORED[e.fn], others.base, e.a, along, others.step);
  return undefined;
}

/** Of an expression that grows by the same number with each thread: that number, from 2 on, and the value at the first thread. */
function stepsOf(e: Expr, along: Along): { readonly base: Expr; readonly step: number } | undefined {
  if (e.op !== 'binary') return undefined;
  if (e.fn === 'add' || e.fn === 'sub') {
    const a = stepsOf(e.a, along);
    if (a && along.isSteady(e.b)) return { ...a, base: binary(e.fn, a.base, e.b) };
    const b = e.fn === 'add' ? stepsOf(e.b, along) : undefined;
    return b && along.isSteady(e.a) ? { ...b, base: binary('add', e.a, b.base) } : undefined;
  }
  if (e.fn !== 'mul' || e.b.op !== 'const') return undefined;
  const [base, step] = [baseOf(e.a, along), Number(e.b.value)];
  return base && step >= 2 && step * along.extent < 2 ** 30 ? { base: binary('mul', base, e.b), step } : undefined;
}

/** The value at the first thread of an expression that grows by one with each (mod 2^32). */
function baseOf(e: Expr, along: Along): Expr | undefined {
  switch (e.op) {
    case 'special':
      return e.name === along.axis ? i32(0) : undefined;
    case 'binary': {
      if (e.fn !== 'add' && e.fn !== 'sub') return undefined;
      const a = baseOf(e.a, along);
      if (a && along.isSteady(e.b)) return binary(e.fn, a, e.b);
      const b = e.fn === 'add' ? baseOf(e.b, along) : undefined;
      return b && along.isSteady(e.a) ? binary('add', e.a, b) : undefined;
    }
    case 'cast':
    case 'bitcast': {
      if (e.op === 'cast' && (e.checked || e.to !== e.type)) return undefined;
      if (e.type !== 'i32' && e.type !== 'u32') return undefined;
      if (e.a.type !== 'i32' && e.a.type !== 'u32') return undefined;
      const a = baseOf(e.a, along);
      return a && cast(e.type, a);
    }
    default:
      return undefined;
  }
}

/**
 * The x in [0, n) for which base + step * x compares with the limit as asked, counted in 64 bits, where nothing wraps. Where
 * that would wrap in its own 32 bits, within the row, the bounds do not hold: `exact` says so.
 */
function limits(fn: CompareOp, base: Expr, limit: Expr, { extent: n, span }: Along, step = 1): Bound {
  const end = span === undefined ? constant('i64', n) : cast('i64', span);
  const most = constant(base.type, (base.type === 'u32' ? 2 ** 32 : 2 ** 31) - 1 - step * (n - 1));
  const exact = compare('le', base, most);
  const apart = sub(cast('i64', limit), cast('i64', base));
  const clamp = (x: Expr): Expr => cast('i32', max(min(x, end), constant('i64', 0)));
  /** How many steps there are in so much, none of which is broken off. */
  const steps = (x: Expr): Expr => (step === 1 ? x : binary('floordiv', x, constant('i64', step)));
  const distance = steps(step === 1 ? apart : add(apart, constant('i64', step - 1)));
  const past = add(steps(apart), constant('i64', 1));
  switch (fn) {
    case 'lt':
      return { hi: clamp(distance), exact };
    case 'le':
      return { hi: clamp(past), exact };
    case 'ge':
      return { lo: clamp(distance), exact };
    case 'gt':
      return { lo: clamp(past), exact };
    default:
      return { lo: clamp(distance), hi: clamp(past), exact };
  }
}

function min(a: Expr, b: Expr): Expr {
  return binary('min', a, b);
}

function max(a: Expr, b: Expr): Expr {
  return binary('max', a, b);
}

/** `if (a) { if (b) body }` at the end as `if (a && b) body`, where b may be evaluated although a is false. */
export function mergeGuards(list: readonly Stmt[]): readonly Stmt[] {
  const last = list.at(-1);
  if (last?.op !== 'if' || last.else.length > 0 || last.then.length !== 1) return list;
  const [inner] = mergeGuards(last.then);
  if (inner?.op !== 'if' || inner.else.length > 0 || mayFail(inner.cond)) return list;
  const cond: Expr = { op: 'binary', type: 'bool', fn: 'and', a: last.cond, b: inner.cond };
  return [...list.slice(0, -1), { ...last, cond, then: inner.then }];
}
