/**
 * Puts a load straight into the atomic operation whose index it makes: `v = x[i] & 255; atomic.add bins[v]`.
 *
 * As a variable the loaded values would pass through a vector and be taken apart again; atomics go lane by lane anyhow.
 */
import type { BinaryOp, Expr, Kernel, MemRef, Stmt } from '../../ir/ops.ts';
import { eachStmt, exprParts, mapExpr, mapLists, stmtExprs } from '../../ir/passes/walk.ts';

/** The one load of which an index is made by cheap operations; undefined for other values. */
export function loadWithin(e: Expr): (Expr & { op: 'load' }) | undefined {
  if (e.op === 'load') return e;
  if (e.op !== 'binary' || e.type !== 'i32' || !CHEAP.has(e.fn)) return undefined;
  if (isPlain(e.b)) return loadWithin(e.a);
  return isPlain(e.a) ? loadWithin(e.b) : undefined;
}

const CHEAP: ReadonlySet<BinaryOp> = new Set<BinaryOp>(['add', 'sub', 'mul', 'and', 'or', 'xor', 'shl', 'shr']);

const isPlain = (e: Expr): boolean => e.op === 'const' || e.op === 'param';

/** The kernel with loads that only the next statement, an atomic operation, uses as its index moved into that. */
export function fuseIndexLoads(kernel: Kernel): Kernel {
  const reads = new Map<number, number>();
  const writes = new Map<number, number>();
  const count = (map: Map<number, number>, id: number): void => void map.set(id, (map.get(id) ?? 0) + 1);
  const countReads = (e: Expr): void => {
    if (e.op === 'var') count(reads, e.var.id);
    for (const part of exprParts(e)) countReads(part);
  };
  let atomics = false;
  eachStmt(kernel.body, (s) => {
    if (s.op === 'assign') count(writes, s.var.id);
    else if (s.op === 'atomic') {
      atomics = true;
      if (s.result) count(writes, s.result.id);
    }
    for (const e of stmtExprs(s)) countReads(e);
  });
  if (!atomics) return kernel;

  const fuse = (list: readonly Stmt[]): readonly Stmt[] => {
    const out: Stmt[] = [];
    for (const s of list) {
      const last = out.at(-1);
      const fused = s.op === 'atomic' && last?.op === 'assign' ? together(last, s) : undefined;
      if (fused !== undefined) out[out.length - 1] = fused;
      else out.push(mapLists(s, fuse));
    }
    return out;
  };

  const together = (load: Stmt & { op: 'assign' }, s: Stmt & { op: 'atomic' }): Stmt | undefined => {
    const { id } = load.var;
    if (loadWithin(load.value) === undefined || s.mem.index.op !== 'var' || s.mem.index.var.id !== id) return undefined;
    let here = 0;
    const visit = (e: Expr): void => {
      if (e.op === 'var' && e.var.id === id) here++;
      for (const part of exprParts(e)) visit(part);
    };
    for (const e of stmtExprs(s)) visit(e);
    if (writes.get(id) !== 1 || reads.get(id) !== here) return undefined;
    const put = (e: Expr): Expr => mapExpr(e, (x) => (x.op === 'var' && x.var.id === id ? load.value : x));
    const mem: MemRef = {
      ...s.mem,
      index: load.value,
      checks: s.mem.checks.map((c) => ({ ...c, index: put(c.index), extent: put(c.extent) })),
    };
    return { ...s, mem, args: s.args.map(put) };
  };

  return { ...kernel, body: fuse(kernel.body) };
}
