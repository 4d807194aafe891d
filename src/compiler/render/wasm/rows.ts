/**
 * Bounds checks that can be made once for a row of work items, or for all rows of a block, ahead of the vectors.
 *
 * A check whose index is a value of the row plus threadIdx.x, or a value of the row alone, holds for all items of a stretch
 * of the row if it holds at both ends. Where all such checks hold, the vectors of the stretch are run without them; where
 * one does not, perhaps only because an access is not reached, the row is run with every check in its place. The same goes
 * for a block, with threadIdx.y beside threadIdx.x.
 */

import { i32 } from '../../ir/builder.ts';
import { canFail, size } from '../../ir/measures.ts';
import type { Check, Expr, Stmt } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { assignedIn, eachStmt, exprParts, mapExpr, someExpr, stmtExprs, stmtLists } from '../../ir/passes/walk.ts';
import type { Local } from './assembler.ts';
import { scalar } from './expr.ts';
import { type Gen, isVector } from './gen.ts';
import { sameExpr } from './structure.ts';

/** base + x * threadIdx.x + y * threadIdx.y, with a base that is the same for the row (y is 0 then) or the block. */
interface Linear {
  readonly base: Expr;
  readonly x: 0 | 1;
  readonly y: 0 | 1;
}

/** `0 <= index < extent`, the extent being as steady as the base of the index. */
interface LinearCheck extends Linear {
  readonly extent: Expr;
}

export interface RowChecks {
  /** What need not be checked again where `pushHolds` pushed true. */
  readonly hoisted: ReadonlySet<Check>;
  /** Pushes whether all of them hold for `from <= threadIdx.x < to`. */
  pushHolds(from: Local, to: Local): void;
}

/** More than this many different checks, or larger indices, are not worth it. */
const MOST_CHECKS = 12;
const LARGEST = 40;

export interface BlockChecks {
  readonly hoisted: ReadonlySet<Check>;
  /** Pushes whether all of them hold for the whole block. */
  pushHolds(): void;
}

/** The checks in the body of a region that can be made for a row at once; undefined when there are none. */
export function findRowChecks(g: Gen, body: readonly Stmt[]): RowChecks | undefined {
  const { found, hoisted } = findChecks(g, body, 'row');
  if (found.length === 0) return undefined;
  return { hoisted: new Set([...g.hoisted, ...hoisted]), pushHolds: (from, to) => pushHolds(g, found, from, to) };
}

/** The same for the block: undefined when they would not be all that there are. */
export function findBlockChecks(g: Gen, body: readonly Stmt[]): BlockChecks | undefined {
  const { found, hoisted, all } = findChecks(g, body, 'block');
  if (found.length === 0 || !all) return undefined;
  return { hoisted, pushHolds: () => pushHoldsForBlock(g, found) };
}

interface Found {
  readonly found: readonly LinearCheck[];
  readonly hoisted: ReadonlySet<Check>;
  /** Whether no check is left over. */
  readonly all: boolean;
}

function findChecks(g: Gen, body: readonly Stmt[], scope: Scope): Found {
  const found: LinearCheck[] = [];
  const hoisted = new Set<Check>();
  if (!g.kernel.checked || g.lanes === 1) return { found, hoisted, all: false };
  let made: Values | undefined;
  let all = true;
  const visit = (check: Check): void => {
    if (g.eliminated.has(check) || g.hoisted.has(check) || hoisted.has(check)) return;
    made ??= new Values(g, body, scope);
    const values = made;
    const index = values.linear(values.expand(check.index));
    const extent = values.expand(check.extent);
    if (index === undefined || extent.type !== 'i32' || !values.isSteady(extent)) {
      all = false;
      return;
    }
    const known = found.some(
      (c) => c.x === index.x && c.y === index.y && sameExpr(c.base, index.base) && sameExpr(c.extent, extent),
    );
    if (!known) {
      if (found.length === MOST_CHECKS) {
        all = false;
        return;
      }
      found.push({ ...index, extent });
    }
    hoisted.add(check);
  };
  const seen = new Set<Expr>();
  const visitExpr = (e: Expr): void => {
    if (seen.has(e)) return;
    seen.add(e);
    if (e.op === 'load') for (const check of e.mem.checks) visit(check);
    for (const operand of exprParts(e)) visitExpr(operand);
  };
  const walk = (list: readonly Stmt[]): void => {
    for (const s of list) {
      for (const e of stmtExprs(s)) visitExpr(e);
      if (s.op === 'store' || s.op === 'atomic') for (const check of s.mem.checks) visit(check);
      // What only some of the items come to may well not hold for the others.
      if (s.op === 'if' && isVector(g, s.cond)) all = false;
      else for (const inner of stmtLists(s)) walk(inner);
    }
  };
  walk(body);
  return { found, hoisted, all };
}

function pushHoldsForBlock(g: Gen, checks: readonly LinearCheck[]): void {
  const { f } = g;
  const [width, height] = g.variant.block;
  for (const [i, { base, x, y, extent }] of checks.entries()) {
    const span = x * (width - 1) + y * (height - 1);
    scalar(g, base);
    scalar(g, extent);
    if (span === 0) f.op('i32.lt_u');
    else {
      // base >= 0 and base + span < extent, without overflow: extents are not negative.
      f.i32(span);
      f.op('i32.sub', 'i32.lt_s');
      scalar(g, base);
      f.i32(0);
      f.op('i32.ge_s', 'i32.and');
    }
    if (i > 0) f.op('i32.and');
  }
}

function pushHolds(g: Gen, checks: readonly LinearCheck[], from: Local, to: Local): void {
  const { f } = g;
  const index = f.temp('i32');
  for (const [i, { base, x, extent }] of checks.entries()) {
    scalar(g, base);
    if (x === 0) {
      scalar(g, extent);
      f.op('i32.lt_u');
    } else {
      f.get(from);
      f.op('i32.add');
      f.tee(index);
      f.i32(0);
      f.op('i32.ge_s');
      // index + (to - from) <= extent, without overflow: extents are not negative.
      f.get(index);
      scalar(g, extent);
      f.get(to, from);
      f.op('i32.sub', 'i32.sub', 'i32.le_s', 'i32.and');
    }
    if (i > 0) f.op('i32.and');
  }
  f.release('i32', index);
}

/** What the work items are that share a base. */
type Scope = 'row' | 'block';

/** What the body of a region makes of the values of a row or block. */
class Values {
  readonly #g: Gen;
  readonly #scope: Scope;
  readonly #assigned: ReadonlySet<number>;
  /** Variables with one value a work item, by `Var.id`: that value. */
  readonly #values = new Map<number, Expr>();

  constructor(g: Gen, body: readonly Stmt[], scope: Scope) {
    this.#g = g;
    this.#scope = scope;
    this.#assigned = assignedIn(body);
    const times = new Map<number, number>();
    eachStmt(body, (s) => {
      const id = s.op === 'assign' ? s.var.id : s.op === 'atomic' ? s.result?.id : undefined;
      if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
    });
    const { entry } = analyseLiveness(body);
    for (const s of body) {
      if (s.op !== 'assign' || times.get(s.var.id) !== 1 || entry.has(s.var.id)) continue;
      const value = this.expand(s.value);
      if (size(value) <= LARGEST && !someExpr(value, (e) => e.op === 'load')) this.#values.set(s.var.id, value);
    }
  }

  /** With the variables of the item replaced by their values. */
  expand(e: Expr): Expr {
    return mapExpr(e, (x) => (x.op === 'var' ? (this.#values.get(x.var.id) ?? x) : x));
  }

  linear(e: Expr): Linear | undefined {
    if (e.type !== 'i32') return undefined;
    if (size(e) <= LARGEST && this.isSteady(e)) return { base: e, x: 0, y: 0 };
    if (e.op === 'special' && e.name === 'threadIdx.x') return { base: i32(0), x: 1, y: 0 };
    if (e.op === 'special' && e.name === 'threadIdx.y') return { base: i32(0), x: 0, y: 1 };
    if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
    const [a, b] = [this.linear(e.a), this.linear(e.b)];
    if (a === undefined || b === undefined || (e.fn === 'sub' && b.x + b.y > 0)) return undefined;
    if (a.x + b.x > 1 || a.y + b.y > 1) return undefined;
    const base: Expr = { op: 'binary', type: 'i32', fn: e.fn, a: a.base, b: b.base };
    return { base, x: a.x === 1 ? 1 : b.x, y: a.y === 1 ? 1 : b.y };
  }

  /** Whether a value is the same along the row or for the block, and can be had before that is run. */
  isSteady(e: Expr): boolean {
    return !someExpr(e, (x) => {
      switch (x.op) {
        case 'load':
        case 'call':
          return true;
        case 'var':
          return this.#assigned.has(x.var.id) || !this.#g.uniformity.isKeptOnce(x.var);
        case 'special':
          if (this.#scope === 'block' && x.name.startsWith('threadIdx')) return true;
          return x.name === 'threadIdx.x' || x.name === 'laneId';
        default:
          return canFail(x);
      }
    });
  }
}
