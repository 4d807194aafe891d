/**
 * Stretches of a row: vectors whose threads all have the same quotient, one after another, of a row whose coordinates are made of a running number.
 *
 * `splitQuotients` has written what a vector of one quotient does beside what any vector does. For as long as the quotient stays the same, much of it
 * does, too: what is made of the quotient, where rows begin in memory, and whether a whole stretch is within bounds. That is computed once for the
 * stretch, and a quotient is carried on to the next one, by comparing instead of dividing. Nothing is lost where a stretch would leave the bounds: its
 * vectors run what any vector does, with all checks in their places.
 */

import type { Check, Expr, MemRef, Stmt, Var } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { defined, eachStmt, exprParts, memParts, someExpr, someStmt, stmtExprs } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { boundsHazards, cannotFail } from './checks.ts';
import { type Gen, shapeOf, varShape } from './gen.ts';
import { withHoisted } from './scope.ts';
import { type Assign, isPlain, StretchTerms } from './stretch-terms.ts';

/** A running number at the first thread of a vector, its quotient, and the product of that with the divisor. */
export interface Quotient {
  readonly first: Var;
  readonly quotient: Var;
  readonly start: Var;
  readonly by: Expr;
  /** The statements that divide. */
  readonly divide: readonly Stmt[];
}

export interface Stretches {
  /** Before the choice: what the whole row has in common, and what each vector has. */
  readonly steady: readonly Stmt[];
  readonly moving: readonly Stmt[];
  /** The running numbers. */
  readonly numbers: readonly Stmt[];
  readonly quotients: readonly Quotient[];
  /** What any vector does. */
  readonly mixed: readonly Stmt[];
  /** What a vector of one quotient does: what the whole stretch has in common, and the rest. */
  readonly common: readonly Stmt[];
  readonly own: readonly Stmt[];
  /** What is asked for all of a stretch: of an index that grows with threadIdx.x or not, and with the quotient or not. */
  readonly checks: readonly {
    readonly check: Check;
    readonly index: Expr;
    readonly moves: boolean;
    readonly turns: boolean;
  }[];
  readonly accesses: readonly { readonly mem: MemRef; readonly index: Expr }[];
  /** Whether those grow by the same from each quotient to the next. */
  readonly even: boolean;
  /** Whether stretches ask for all there is to ask, and all accesses are in rows or the same for a stretch. */
  readonly all: boolean;
  /** Whether the next block goes on where this one ends: threadIdx.x may be counted on through several. */
  readonly goesOn: boolean;
}

/** Places in memory that are kept for a stretch. */
const MOST_POINTERS = 8;
/** Checks that are made for a stretch. */
const MOST_CHECKS = 12;

/** Undefined where the items of a region have no such coordinates. */
export function findStretches(g: Gen, node: WorkItemLoop, body: readonly Stmt[]): Stretches | undefined {
  const choice = body.at(-1);
  if (g.lanes === 1 || g.warps || g.variant.quick === true || choice?.op !== 'if') return undefined;
  if (node.reduce !== undefined || node.loads.length + node.saves.length > 0) return undefined;
  const before = body.slice(0, -1);
  if (!before.every(isPlain)) return undefined;
  const { quotients, decls } = quotientsOf(g, before);
  if (quotients.length === 0 || !isAbout(choice.cond, quotients)) return undefined;
  const times = timesAssigned(body);
  if ([...analyseLiveness(body).entry].some((id) => times.has(id))) return undefined;
  if (before.some((s) => times.get(s.var.id) !== 1)) return undefined;
  const terms = new StretchTerms(g, times);
  const [steady, moving] = terms.ofRow(decls);
  if (!quotients.every(({ by }) => terms.isSteady(by))) return undefined;
  const [common, own] = terms.ofStretch(choice.then, quotients);
  const { checks, accesses, inRows } = askedOf(g, terms, own);
  let quiet = false;
  withHoisted(g, hoistedIn(g, checks), () => {
    quiet = cannotFail(g, choice.then);
  });
  const only = quotients.length === 1 ? quotients[0] : undefined;
  const even = only !== undefined && [...checks, ...accesses].every(({ index }) => terms.isEven(index, only));
  const isPlainOwn = own.every((s) => s.op === 'assign' || s.op === 'store');
  return {
    steady,
    moving,
    numbers: before.filter((s) => quotients.some((q) => q.first === s.var)),
    quotients,
    mixed: choice.else,
    common,
    own,
    checks,
    accesses,
    even,
    all: even && quiet && inRows && isPlainOwn,
    goesOn: quiet && isInGrid(g, [...before, ...choice.then], choice.cond),
  };
}

/** The quotients that a region begins with, and what stands before them. */
function quotientsOf(g: Gen, before: readonly Assign[]) {
  const quotients: Quotient[] = [];
  let end = before.length;
  for (; end >= 3; end -= 3) {
    const one = quotientOf(g, before.slice(end - 3, end));
    if (one === undefined) break;
    quotients.unshift(one);
  }
  return { quotients, decls: before.slice(0, end) };
}

/** How many statements give a variable a value, by `Var.id`. */
function timesAssigned(list: readonly Stmt[]): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  eachStmt(list, (s) => {
    const id = defined(s);
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  });
  return times;
}

/** Whether nothing but its place in the grid tells an item of a row from those of other blocks, and rows of blocks are whole vectors. */
function isInGrid(g: Gen, all: readonly Stmt[], cond: Expr): boolean {
  const [width, height, depth] = g.variant.block;
  if (height * depth !== 1 || width % g.lanes !== 0 || !isOfNumber(g, cond)) return false;
  return !someStmt(all, (s) => !stmtExprs(s).every((e) => isOfNumber(g, e)));
}

/** What is asked ahead of a stretch, of what any vector of it comes to, and where it accesses memory in rows; whether it accesses nothing else. */
function askedOf(g: Gen, terms: StretchTerms, own: readonly Stmt[]) {
  const checks: Stretches['checks'][number][] = [];
  const accesses: Stretches['accesses'][number][] = [];
  let inRows = true;
  const visit = (mem: MemRef): void => {
    const { index, array } = mem;
    const growth = terms.growth(index);
    inRows &&= growth === 0 || growth === 1;
    if (g.kernel.checked && boundsHazards(g, mem).length > 0) {
      for (const check of mem.checks) {
        const grows = terms.growth(check.index);
        const known = grows === 0 || (grows === 1 && shapeOf(g, check.index) === 'C');
        if (!known || check.index.type !== 'i32' || check.extent.type !== 'i32' || !terms.isSteady(check.extent))
          continue;
        if (checks.length === MOST_CHECKS) continue;
        checks.push({ check, index: terms.early(check.index), moves: grows === 1, turns: terms.turns(check.index) });
      }
    }
    const isRow = growth === 1 && shapeOf(g, index) === 'C' && !g.variant.memory64;
    if (isRow && array.space !== 'local' && accesses.length < MOST_POINTERS)
      accesses.push({ mem, index: terms.early(index) });
  };
  const inExpr = (e: Expr): void => {
    if (e.op === 'load') visit(e.mem);
    for (const part of exprParts(e)) inExpr(part);
  };
  for (const s of own) {
    if (s.op !== 'assign' && s.op !== 'store') break;
    for (const e of stmtExprs(s)) inExpr(e);
    if (s.op === 'store') visit(s.mem);
  }
  return { checks, accesses, inRows };
}

export const hoistedIn = (g: Gen, checks: Stretches['checks']): ReadonlySet<Check> =>
  new Set([...g.hoisted, ...checks.map(({ check }) => check)]);

/** Whether the places of items in a row and of blocks are in an expression only as those of items in the grid. */
export function isOfNumber(g: Gen, e: Expr): boolean {
  const [width] = g.variant.block;
  /** Factors of threadIdx.x and blockIdx.x in a sum; undefined where they are in something else, each by itself. */
  const factors = (x: Expr): readonly [number, number] | undefined => {
    if (x.op === 'special') {
      if (x.name === 'laneId') return undefined;
      return x.name === 'threadIdx.x' ? [1, 0] : x.name === 'blockIdx.x' ? [0, 1] : [0, 0];
    }
    // A vector begins at a multiple of its lanes.
    if (isLane(g, x)) return [1, 0];
    const parts = x.op === 'load' ? memParts(x.mem) : exprParts(x);
    const [a, b] = parts.map(factors);
    if (x.op === 'binary' && x.type === 'i32' && a !== undefined && b !== undefined) {
      if (x.fn === 'add') return [a[0] + b[0], a[1] + b[1]];
      if (x.fn === 'sub') return [a[0] - b[0], a[1] - b[1]];
      const times = x.b.op === 'const' ? Number(x.b.value) : Number.NaN;
      if (x.fn === 'mul' && Math.abs(times) < 2 ** 20) return [a[0] * times, a[1] * times];
      if (x.fn === 'shl' && times >= 0 && times < 20) return [a[0] * 2 ** times, a[1] * 2 ** times];
    }
    return parts.every((part) => isOne(factors(part))) ? [0, 0] : undefined;
  };
  const isOne = (of: readonly [number, number] | undefined): boolean => of !== undefined && of[1] === width * of[0];
  return isOne(factors(e));
}

/** Whether a choice asks nothing but whether a vector has one of each of these quotients, and that of all of them: what stretches find out otherwise. */
function isAbout(cond: Expr, quotients: readonly Quotient[]): boolean {
  const isKnown = (e: Expr): boolean =>
    quotients.some(({ first, start, by }) => sameExpr(e, by) || isRead(e, first) || isRead(e, start)) ||
    (e.op !== 'var' && e.op !== 'param' && e.op !== 'special' && e.op !== 'load' && exprParts(e).every(isKnown));
  const isRest = (e: Expr, { first, start }: Quotient): boolean =>
    e.op === 'binary' && e.fn === 'sub' && isRead(e.a, first) && isRead(e.b, start);
  return isKnown(cond) && quotients.every((q) => someExpr(cond, (e) => isRest(e, q)));
}

const isRead = (e: Expr, v: Var): boolean => e.op === 'var' && e.var === v;

/** Three statements of `splitQuotients`, where its vectors are those that are being written: variables of these names are no program's. */
function quotientOf(g: Gen, [a, b, c]: readonly Stmt[]): Quotient | undefined {
  if (a?.op !== 'assign' || b?.op !== 'assign' || c?.op !== 'assign') return undefined;
  if (a.var.name !== '%first' || b.var.name !== '%quotient' || c.var.name !== '%start') return undefined;
  if ([a, b, c].some((s) => s.var.type !== 'i32' || varShape(g, s.var) === 'V' || varShape(g, s.var) === 'C'))
    return undefined;
  const lane = (e: Expr): boolean => isLane(g, e);
  const others = someExpr(a.value, isThread) && !someExpr(a.value, lane);
  if (others || !someExpr(a.value, lane)) return undefined;
  if (b.value.op !== 'binary' || b.value.fn !== 'div' || !isRead(b.value.a, a.var)) return undefined;
  const { b: by } = b.value;
  if (c.value.op !== 'binary' || c.value.fn !== 'mul') return undefined;
  const { a: one, b: other } = c.value;
  if (
    ![
      [one, other],
      [other, one],
    ].some(([x, y]) => isRead(x as Expr, b.var) && sameExpr(y as Expr, by))
  )
    return undefined;
  return { first: a.var, quotient: b.var, start: c.var, by, divide: [b, c] };
}

const isThread = (e: Expr): boolean => e.op === 'special' && e.name === 'threadIdx.x';

/** Where the vector begins. */
const isLane = (g: Gen, e: Expr): boolean =>
  e.op === 'binary' && e.fn === 'and' && isThread(e.a) && e.b.op === 'const' && e.b.value === -g.lanes;
