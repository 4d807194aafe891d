/**
 * The operands of expressions: the one place that knows where each kind of expression keeps them.
 *
 * Everything that goes through expressions without changing them starts here; rebuilding is in `passes/walk.ts`.
 */
import type { Expr, MemRef } from './ops.ts';

/** The expressions a memory access evaluates: the index, then the indices and extents of its checks. */
export function memParts(mem: MemRef): readonly Expr[] {
  const parts = [mem.index];
  for (const { index, extent } of mem.checks) parts.push(index, extent);
  return parts;
}

/** The operands of an expression. */
export function exprParts(e: Expr): readonly Expr[] {
  switch (e.op) {
    case 'const':
    case 'var':
    case 'param':
    case 'special':
      return [];
    case 'unary':
    case 'cast':
    case 'bitcast':
      return [e.a];
    case 'binary':
    case 'compare':
      return [e.a, e.b];
    case 'select':
      return [e.cond, e.a, e.b];
    case 'fma':
      return [e.a, e.b, e.c];
    case 'call':
    case 'intrinsic':
      return e.args;
    case 'load':
      return memParts(e.mem);
  }
}
