/**
 * Unroll and jam: runs a vector of several rows (threadIdx.y, y + 1, …) of a region together, statement by statement.
 *
 * What does not depend on the row is loaded and computed once for all of them: the tile of a matrix product that each row
 * multiplies by an element of its own. Regions that store are jammed where rows go along columns of memory, as those of a
 * transpose: what a vector has far apart lies side by side for four rows, and is turned in registers (`records.ts`). Nothing
 * can fail in a jammed region, and all rows take the same way; what a variable is in each of the rows becomes a variable of
 * its own. Rows are other threads, whose order nothing says between barriers; each keeps its own.
 */
import { add, i32, read } from '../../ir/builder.ts';
import type { Expr, MemRef, Stmt, Var } from '../../ir/ops.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { eachStmt, exprParts, mapExpr, someExpr, someStmt, stmtExprs } from '../../ir/passes/walk.ts';
import { boundsHazards, expressionHazard } from './checks.ts';
import { type Gen, partCount, shapeOf, varShape } from './gen.ts';
import { apart, SIZE, stepOfMember } from './records.ts';

export interface Jam {
  /** Rows that are run together; the height of the block is a multiple. */
  readonly rows: number;
  /** The region for all of them. Neighbouring assignments that stand for one are noted in `Gen.together`. */
  readonly body: readonly Stmt[];
  /** A variable in a row; its own where all rows share one. */
  inRow(v: Var, row: number): Var;
}

/** Vector registers for the values of the rows; the rest of sixteen is for operands. */
const REGISTERS = 12;
/** Expressions in the jammed body, times the parts of a vector. */
const LARGEST = 4000;

/** The jammed region, where there is something to gain. */
export function jamRows(g: Gen, node: WorkItemLoop): Jam | undefined {
  const together = togetherOf(g, node);
  return together && new Copier(g, together.own, together.rows).jam(node.body);
}

/** Whether a region that stores would be jammed. */
export function isJammedStore(g: Gen, node: WorkItemLoop): boolean {
  return hasStore(node) && togetherOf(g, node) !== undefined;
}

/** How many rows may be run together, and the variables that may differ from row to row. */
function togetherOf(g: Gen, node: WorkItemLoop): { rows: number; own: ReadonlySet<number> } | undefined {
  const [width, height] = g.variant.block;
  if (g.lanes === 1 || height === 1 || width % g.lanes !== 0 || node.reduce !== undefined) return undefined;
  const stores = hasStore(node);
  if (!isPlain(g, node.body) || (stores && !isAlongColumns(g, node.body))) return undefined;
  const own = rowVariables(node);
  if (g.blockVars.some((v) => own.has(v.id)) || !isJoint(g, node.body, own)) return undefined;
  const { shared, nodes } = sharing(node.body, own);
  if (shared === 0 && !stores) return undefined;
  const assigned = new Map<number, Var>();
  eachStmt(node.body, (s) => {
    if (s.op === 'assign' && own.has(s.var.id) && varShape(g, s.var) === 'V') assigned.set(s.var.id, s.var);
  });
  const parts = [...assigned.values()].reduce((sum, v) => sum + partCount(g, v.type), 0);
  const most = Math.min(Math.floor(REGISTERS / Math.max(parts, 1)), Math.floor(LARGEST / (nodes * (g.lanes / 4))));
  const rows = [4, 3, 2].find((n) => n <= most && height % n === 0);
  return rows === undefined ? undefined : { rows, own };
}

const hasStore = ({ body }: WorkItemLoop): boolean => someStmt(body, (s) => s.op === 'store');

/** Whether a body only assigns and stores, and nothing in it can fail. */
function isPlain(g: Gen, body: readonly Stmt[]): boolean {
  const others = someStmt(body, (s) => {
    const control = s.op === 'if' || s.op === 'loop' || s.op === 'block' || s.op === 'break' || s.op === 'continue';
    if (s.op === 'store') return s.mem.array.space === 'local' || boundsHazards(g, s.mem).length > 0;
    return s.op !== 'assign' && !control;
  });
  if (others) return false;
  let plain = true;
  const seen = new Set<Expr>();
  const visit = (e: Expr): void => {
    if (!plain || seen.has(e)) return;
    seen.add(e);
    if (e.op === 'load') plain = e.mem.array.space !== 'local' && boundsHazards(g, e.mem).length === 0;
    else if (e.op === 'special') plain = e.name !== 'laneId';
    else plain = !(e.op === 'unary' && e.fn === 'uniform') && expressionHazard(g, e) === undefined;
    for (const part of operands(e)) visit(part);
  };
  eachStmt(body, (s) => {
    for (const e of stmtExprs(s)) visit(e);
  });
  return plain;
}

/** What is evaluated of an expression in a region whose checks all hold. */
function operands(e: Expr): readonly Expr[] {
  return e.op === 'load' ? [e.mem.index] : exprParts(e);
}

/** Variables that may differ from row to row, by `Var.id`. */
function rowVariables(node: WorkItemLoop): ReadonlySet<number> {
  const own = new Set([...node.loads, ...node.saves].map((v) => v.id));
  for (let before = -1; before !== own.size; ) {
    before = own.size;
    eachStmt(node.body, (s) => {
      if (s.op === 'assign' && dependsOnRow(s.value, own)) own.add(s.var.id);
    });
  }
  return own;
}

function dependsOnRow(e: Expr, own: ReadonlySet<number>): boolean {
  if (e.op === 'var') return own.has(e.var.id);
  if (e.op === 'special') return e.name === 'threadIdx.y';
  return operands(e).some((part) => dependsOnRow(part, own));
}

/** Whether all lanes of all rows take the same way. */
function isJoint(g: Gen, body: readonly Stmt[], own: ReadonlySet<number>): boolean {
  return !someStmt(body, (s) => {
    if (s.op === 'if') return dependsOnRow(s.cond, own) || shapeOf(g, s.cond) === 'V';
    return (s.op === 'loop' || s.op === 'block') && g.uniformity.divergence(s) === 'V';
  });
}

/** Whether what neighbouring threads of a row access far apart lies side by side for those of a column. */
function isAlongColumns(g: Gen, body: readonly Stmt[]): boolean {
  const isSo = (mem: MemRef): boolean => {
    if (stepOfMember(g, mem) === undefined) return false;
    return apart(mem, { ...mem, index: mapExpr(mem.index, (x) => ofRow(x, 1)) }) === SIZE;
  };
  const loads = (e: Expr): boolean => someExpr(e, (x) => x.op === 'load' && isSo(x.mem));
  return someStmt(body, (s) => (s.op === 'store' && isSo(s.mem)) || stmtExprs(s).some(loads));
}

/** threadIdx.y of a row further on. */
const ofRow = (e: Expr, row: number): Expr => (e.op === 'special' && e.name === 'threadIdx.y' ? add(e, i32(row)) : e);

/** Loads that all rows share, and all expressions, without the checks that hold. */
function sharing(body: readonly Stmt[], own: ReadonlySet<number>): { shared: number; nodes: number } {
  let [shared, nodes] = [0, 0];
  const visit = (e: Expr): void => {
    nodes++;
    if (e.op === 'load' && !dependsOnRow(e.mem.index, own)) shared++;
    for (const part of operands(e)) visit(part);
  };
  eachStmt(body, (s) => {
    for (const e of stmtExprs(s)) visit(e);
  });
  return { shared, nodes };
}

class Copier implements Omit<Jam, 'body'> {
  readonly rows: number;
  readonly #g: Gen;
  readonly #own: ReadonlySet<number>;
  /** By `Var.id`: the variable in the second row and those after it. */
  readonly #copies = new Map<number, readonly Var[]>();

  constructor(g: Gen, own: ReadonlySet<number>, rows: number) {
    this.#g = g;
    this.#own = own;
    this.rows = rows;
  }

  jam(body: readonly Stmt[]): Jam {
    const jammed = this.#list(body);
    return { rows: this.rows, body: jammed, inRow: (v, row) => this.inRow(v, row) };
  }

  inRow(v: Var, row: number): Var {
    if (row === 0 || !this.#own.has(v.id)) return v;
    let copies = this.#copies.get(v.id);
    if (copies === undefined) {
      copies = Array.from({ length: this.rows - 1 }, () => this.#g.uniformity.another(v));
      this.#copies.set(v.id, copies);
    }
    return copies[row - 1] ?? v;
  }

  #list(list: readonly Stmt[]): readonly Stmt[] {
    return list.flatMap((s): readonly Stmt[] => {
      switch (s.op) {
        case 'assign':
          return this.#own.has(s.var.id) ? this.#assignments(s) : [{ ...s, value: unchecked(s.value) }];
        case 'store':
          return this.#stores(s);
        // Partings are known by statement, and here there are none: a copy will do.
        case 'if':
          return [{ ...s, then: this.#list(s.then), else: this.#list(s.else) }];
        case 'loop':
          return [{ ...s, body: this.#list(s.body), update: this.#list(s.update) }];
        case 'block':
          return [{ ...s, body: this.#list(s.body) }];
        default:
          return [s];
      }
    });
  }

  #assignments(s: Stmt & { op: 'assign' }): readonly Stmt[] {
    const value = unchecked(s.value);
    const out = Array.from({ length: this.rows }, (_, row) => ({
      ...s,
      var: this.inRow(s.var, row),
      value: row === 0 ? value : this.#inRow(value, row),
    }));
    const [first] = out;
    if (first !== undefined && someExpr(first.value, (e) => e.op === 'load')) this.#g.parallel.set(first, out.length);
    return out;
  }

  #stores(s: Stmt & { op: 'store' }): readonly Stmt[] {
    const [index, value] = [unchecked(s.mem.index), unchecked(s.value)];
    const out = Array.from({ length: this.rows }, (_, row) => ({
      ...s,
      mem: { ...s.mem, index: row === 0 ? index : this.#inRow(index, row), checks: [] },
      value: row === 0 ? value : this.#inRow(value, row),
    }));
    this.#g.parallel.set(out[0] as Stmt, out.length);
    return out;
  }

  /** What an expression is in a row. What does not depend on the row stays the same object. */
  #inRow(e: Expr, row: number): Expr {
    return mapExpr(e, (x) =>
      x.op === 'var' && this.#own.has(x.var.id) ? read(this.inRow(x.var, row)) : ofRow(x, row),
    );
  }
}

/** Checks always hold here, though it might not be seen from what their indices become. */
function unchecked(e: Expr): Expr {
  return mapExpr(e, (x) => (x.op === 'load' && x.mem.checks.length > 0 ? { ...x, mem: { ...x.mem, checks: [] } } : x));
}
