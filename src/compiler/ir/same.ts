/**
 * Whether two expressions are the same computation.
 */
import type { Expr } from './ops.ts';
import { exprParts } from './parts.ts';

/** Whether two expressions compute the same thing (from the same memory). */
export function sameExpr(a: Expr, b: Expr): boolean {
  if (a === b) return true;
  if (a.op !== b.op || a.type !== b.type) return false;
  switch (a.op) {
    case 'const':
      return Object.is(a.value, (b as typeof a).value);
    case 'var':
      return a.var.id === (b as typeof a).var.id;
    case 'param':
      return a.param === (b as typeof a).param;
    case 'special':
      return a.name === (b as typeof a).name;
    case 'unary':
    case 'binary':
    case 'compare':
    case 'call':
    case 'intrinsic':
      if (a.fn !== (b as typeof a).fn) return false;
      break;
    case 'cast':
    case 'fma':
      if (a.to !== (b as typeof a).to) return false;
      break;
    case 'load': {
      const other = (b as typeof a).mem;
      const { mem } = a;
      return (
        mem.array === other.array &&
        mem.elem === other.elem &&
        mem.scale === other.scale &&
        mem.disp === other.disp &&
        sameExpr(mem.index, other.index)
      );
    }
  }
  const [x, y] = [exprParts(a), exprParts(b)];
  return x.length === y.length && x.every((part, i) => sameExpr(part, y[i] as Expr));
}
