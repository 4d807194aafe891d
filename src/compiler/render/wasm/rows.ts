/**
 * Bounds checks that can be made once for a row of work items, ahead of its vectors.
 *
 * A check whose index is a value of the row plus threadIdx.x, or a value of the row alone, holds for all items of a stretch
 * of the row if it holds at both ends. Where all such checks hold, the vectors of the stretch are run without them; where
 * one does not, perhaps only because an access is not reached, the row is run with every check in its place.
 */
import type { Check, Expr, Stmt } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { assignedIn, eachStmt, exprParts, mapExpr, someExpr, stmtExprs } from '../../ir/passes/walk.ts';
import type { Local } from './assembler.ts';
import { scalar } from './expr.ts';
import type { Gen } from './gen.ts';
import { sameExpr } from './structure.ts';

/** `0 <= base + slope * threadIdx.x < extent`, with base and extent the same along a row. */
interface RowCheck {
  readonly base: Expr;
  readonly slope: 0 | 1;
  readonly extent: Expr;
}

export interface RowChecks {
  /** What need not be checked again where `pushHolds` pushed true. */
  readonly covered: ReadonlySet<Check>;
  /** Pushes whether all of them hold for `from <= threadIdx.x < to`. */
  pushHolds(from: Local, to: Local): void;
}

/** More than this many different checks, or larger indices, are not worth it. */
const MOST_CHECKS = 12;
const LARGEST = 40;

/** The checks in the body of a region that can be made for a row at once; undefined when there are none. */
export function findRowChecks(g: Gen, body: readonly Stmt[]): RowChecks | undefined {
  if (!g.kernel.checked || g.lanes === 1) return undefined;
  const row = new Row(g, body);
  const found: RowCheck[] = [];
  const covered = new Set<Check>();
  const visit = (check: Check): void => {
    if (g.proven.has(check) || covered.has(check)) return;
    const index = row.linear(row.expand(check.index));
    const extent = row.expand(check.extent);
    if (index === undefined || extent.type !== 'i32' || !row.isSteady(extent)) return;
    const known = found.some(
      (c) => c.slope === index.slope && sameExpr(c.base, index.base) && sameExpr(c.extent, extent),
    );
    if (!known) {
      if (found.length === MOST_CHECKS) return;
      found.push({ ...index, extent });
    }
    covered.add(check);
  };
  const seen = new Set<Expr>();
  const visitExpr = (e: Expr): void => {
    if (seen.has(e)) return;
    seen.add(e);
    if (e.op === 'load') for (const check of e.mem.checks) visit(check);
    for (const operand of exprParts(e)) visitExpr(operand);
  };
  eachStmt(body, (s) => {
    for (const e of stmtExprs(s)) visitExpr(e);
    if (s.op === 'store' || s.op === 'atomic') for (const check of s.mem.checks) visit(check);
  });
  if (found.length === 0) return undefined;
  return { covered, pushHolds: (from, to) => pushHolds(g, found, from, to) };
}

function pushHolds(g: Gen, checks: readonly RowCheck[], from: Local, to: Local): void {
  const { f } = g;
  const index = f.temp('i32');
  for (const [i, { base, slope, extent }] of checks.entries()) {
    scalar(g, base);
    if (slope === 0) {
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

/** What the body of a region makes of the values of a row. */
class Row {
  readonly #g: Gen;
  readonly #assigned: ReadonlySet<number>;
  /** Variables with one value a work item, by `Var.id`: that value. */
  readonly #values = new Map<number, Expr>();

  constructor(g: Gen, body: readonly Stmt[]) {
    this.#g = g;
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

  /** base + slope * threadIdx.x. */
  linear(e: Expr): { base: Expr; slope: 0 | 1 } | undefined {
    if (e.type !== 'i32') return undefined;
    if (size(e) <= LARGEST && this.isSteady(e)) return { base: e, slope: 0 };
    if (e.op === 'special' && e.name === 'threadIdx.x')
      return { base: { op: 'const', type: 'i32', value: 0 }, slope: 1 };
    if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
    const [a, b] = [this.linear(e.a), this.linear(e.b)];
    if (a === undefined || b === undefined || (e.fn === 'sub' && b.slope === 1) || a.slope + b.slope !== 1)
      return undefined;
    return { base: { op: 'binary', type: 'i32', fn: e.fn, a: a.base, b: b.base }, slope: 1 };
  }

  /** Whether a value is the same along a row, and can be had before the row is run. */
  isSteady(e: Expr): boolean {
    return !someExpr(e, (x) => {
      switch (x.op) {
        case 'load':
        case 'call':
          return true;
        case 'var':
          return this.#assigned.has(x.var.id) || !this.#g.uniformity.isKeptOnce(x.var);
        case 'special':
          return x.name === 'threadIdx.x' || x.name === 'laneId';
        case 'cast':
          return x.checked === true;
        case 'unary':
          return x.fn === 'uniform';
        default:
          return x.op === 'binary' && x.fn === 'ipow';
      }
    });
  }
}

function size(e: Expr): number {
  return exprParts(e).reduce((sum, part) => sum + size(part), 1);
}
