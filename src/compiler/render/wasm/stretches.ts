/**
 * Stretches of a row: vectors whose threads all have the same quotient, one after another, of a row whose coordinates are made of a running number.
 *
 * `splitQuotients` has written what a vector of one quotient does beside what any vector does. For as long as the quotient stays the same, much of it
 * does, too: what is made of the quotient, where rows begin in memory, and whether a whole stretch is within bounds. That is computed once for the
 * stretch, and a quotient is carried on to the next one, by comparing instead of dividing. Nothing is lost where a stretch would leave the bounds: its
 * vectors run what any vector does, with all checks in their places.
 */

import { canFail } from '../../ir/measures.ts';
import type { Check, Expr, MemRef, Stmt, Var } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { defined, eachStmt, exprParts, hasLoad, mapExpr, memParts, someExpr, stmtExprs } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { boundsHazards, cannotFail } from './checks.ts';
import { type Gen, shapeOf, varShape } from './gen.ts';
import { withHoisted } from './scope.ts';

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

type Assign = Stmt & { readonly op: 'assign' };

/** Undefined where the items of a region have no such coordinates. */
export function findStretches(g: Gen, node: WorkItemLoop, body: readonly Stmt[]): Stretches | undefined {
  const choice = body.at(-1);
  if (g.lanes === 1 || g.warps || g.variant.quick === true || choice?.op !== 'if') return undefined;
  if (node.reduce !== undefined || node.loads.length + node.saves.length > 0) return undefined;
  const before = body.slice(0, -1);
  if (!before.every(isPlain)) return undefined;
  const quotients: Quotient[] = [];
  let end = before.length;
  for (; end >= 3; end -= 3) {
    const one = quotientOf(g, before.slice(end - 3, end));
    if (one === undefined) break;
    quotients.unshift(one);
  }
  if (quotients.length === 0 || !isAbout(choice.cond, quotients)) return undefined;
  const numbers = before.filter((s) => s.op === 'assign' && quotients.some((q) => q.first === s.var));
  const decls = before.slice(0, end) as readonly Assign[];
  const times = new Map<number, number>();
  eachStmt(body, (s) => {
    const id = defined(s);
    if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
  });
  const entry = analyseLiveness(body).entry;
  if ([...entry].some((id) => times.has(id))) return undefined;
  if (before.some((s) => times.get(defined(s) ?? -1) !== 1)) return undefined;
  const steadyVars = new Set(g.kernel.vars.flatMap((v) => (!times.has(v.id) && isOneValue(g, v) ? [v.id] : [])));
  /** Values in terms of what is assigned before the choice, or not at all. */
  const values = new Map<number, Expr>();
  const isSteady = (e: Expr): boolean => {
    if (e.op === 'special') return e.name !== 'threadIdx.x' && e.name !== 'laneId';
    if (e.op === 'var') return steadyVars.has(e.var.id);
    return e.op !== 'load' && !canFail(e) && exprParts(e).every(isSteady);
  };
  const split = (list: readonly Stmt[]): [Stmt[], Stmt[]] => {
    const [steady, moving]: [Stmt[], Stmt[]] = [[], []];
    for (const s of list) {
      const stays = s.op === 'assign' && times.get(s.var.id) === 1 && isOneValue(g, s.var) && isSteady(s.value);
      if (stays) steadyVars.add(s.var.id);
      (stays ? steady : moving).push(s);
    }
    return [steady, moving];
  };
  const [steady, moving] = split(decls);
  for (const s of decls) if (!steady.includes(s)) values.set(s.var.id, s.value);
  if (!quotients.every(({ by }) => isSteady(by))) return undefined;
  const inRow = new Set(steadyVars);
  for (const { quotient, start } of quotients) for (const v of [quotient, start]) steadyVars.add(v.id);
  const [common, own] = split(choice.then);
  for (const s of own) if (s.op === 'assign' && times.get(s.var.id) === 1 && isPlain(s)) values.set(s.var.id, s.value);
  /** How much the value grows from item to item; undefined where it is something else. */
  const growth = (e: Expr): number | undefined => {
    if (isSteady(e)) return 0;
    if (e.op === 'special') return e.name === 'threadIdx.x' ? 1 : undefined;
    if (e.type !== 'i32') return undefined;
    if (e.op === 'var') {
      const value = values.get(e.var.id);
      return value && growth(value);
    }
    if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
    const [a, b] = [growth(e.a), growth(e.b)];
    return a === undefined || b === undefined ? undefined : e.fn === 'add' ? a + b : a - b;
  };
  /** In terms of what there is before a stretch. */
  const early = (e: Expr): Expr =>
    mapExpr(e, (x) => {
      const value = x.op === 'var' && !moving.some((s) => defined(s) === x.var.id) ? values.get(x.var.id) : undefined;
      return value ? early(value) : x;
    });
  const only = quotients.length === 1 ? quotients[0] : undefined;
  /** Whether a value is a sum of multiples of the quotient and of what the row has in common. */
  const isEven = (e: Expr): boolean => {
    if (e.op === 'special' || (e.op === 'var' && (e.var === only?.quotient || e.var === only?.start))) return true;
    if (isFixed(e)) return true;
    if (e.op === 'var') {
      const s = [...common, ...moving].find((t) => defined(t) === e.var.id);
      return s?.op === 'assign' && isEven(s.value);
    }
    if (e.op !== 'binary' || e.type !== 'i32') return false;
    if (e.fn === 'mul') return (isFixed(e.a) && isEven(e.b)) || (isFixed(e.b) && isEven(e.a));
    return (e.fn === 'add' || e.fn === 'sub') && isEven(e.a) && isEven(e.b);
  };
  /** Whether a value is not the same for all quotients. */
  const turns = (e: Expr): boolean =>
    someExpr(e, (x) => {
      if (x.op !== 'var' || inRow.has(x.var.id)) return false;
      const value = values.get(x.var.id);
      return value === undefined || turns(value);
    });
  const isFixed = (e: Expr): boolean =>
    !someExpr(e, (x) => (x.op === 'var' ? !inRow.has(x.var.id) : x.op === 'special' && !isSteady(x)));
  const checks: Stretches['checks'][number][] = [];
  const accesses: Stretches['accesses'][number][] = [];
  let inRows = true;
  const visit = (mem: MemRef): void => {
    const { index, array } = mem;
    inRows &&= growth(index) === 0 || growth(index) === 1;
    if (g.kernel.checked && boundsHazards(g, mem).length > 0) {
      for (const check of mem.checks) {
        const grows = growth(check.index);
        const known = grows === 0 || (grows === 1 && shapeOf(g, check.index) === 'C');
        if (!known || check.index.type !== 'i32' || check.extent.type !== 'i32' || !isSteady(check.extent)) continue;
        if (checks.length < MOST_CHECKS)
          checks.push({ check, index: early(check.index), moves: grows === 1, turns: turns(check.index) });
      }
    }
    const isRow = growth(index) === 1 && shapeOf(g, index) === 'C' && !g.variant.memory64;
    if (isRow && array.space !== 'local' && accesses.length < MOST_POINTERS)
      accesses.push({ mem, index: early(index) });
  };
  const inExpr = (e: Expr): void => {
    if (e.op === 'load') visit(e.mem);
    for (const part of exprParts(e)) inExpr(part);
  };
  // What any vector comes to: nothing else has to be within bounds.
  for (const s of own) {
    if (s.op !== 'assign' && s.op !== 'store') break;
    for (const e of stmtExprs(s)) inExpr(e);
    if (s.op === 'store') visit(s.mem);
  }
  const [width, height, depth] = g.variant.block;
  const all = [...before, ...choice.then];
  let goesOn = height * depth === 1 && width % g.lanes === 0 && isOfNumber(g, choice.cond);
  eachStmt(all, (s) => {
    goesOn &&= stmtExprs(s).every((e) => isOfNumber(g, e));
  });
  let quiet = false;
  withHoisted(g, hoistedIn(g, checks), () => {
    quiet = cannotFail(g, choice.then);
  });
  goesOn &&= quiet;
  const found = { steady, moving, numbers, quotients, mixed: choice.else, common, own };
  const even = only !== undefined && [...checks, ...accesses].every(({ index }) => isEven(index));
  const isPlainOwn = own.every((s) => s.op === 'assign' || s.op === 'store');
  return { ...found, checks, accesses, even, all: even && quiet && inRows && isPlainOwn, goesOn };
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

const isOneValue = (g: Gen, v: Var): boolean => varShape(g, v) === 'U' || varShape(g, v) === 'G';

function isPlain(s: Stmt): s is Assign {
  return s.op === 'assign' && !hasLoad(s.value) && !canFail(s.value);
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
