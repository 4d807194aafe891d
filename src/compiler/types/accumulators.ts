/**
 * Finds the variables that grow by themselves: `s += j`, `f *= j`, `[a, b] = [b, a + b]`.
 *
 * What they are made of may be counters and indices alone, which are integers of 32 bits. A sum or product of them must not
 * be one for that reason: it takes the type of what it meets, as `acc += x[i]` does, and is an integer of 32 bits only if nothing
 * wider asks for it (kernel-semantics, rule 2).
 */
import { rangeRead } from './parts.ts';
import type { Range, TExpr } from './tree.ts';

/** The ranges that depend on themselves through at least one addition, subtraction or multiplication. */
export function accumulators(ranges: readonly Range[]): Set<Range> {
  const found = new Set<Range>();
  for (const range of ranges) if (range.defs.length > 1 && reaches(range, range)) found.add(range);
  return found;
}

/** Whether `from` is computed from `to`, with arithmetic on the way. */
function reaches(from: Range, to: Range): boolean {
  const seen = new Map<Range, boolean>();
  const visit = (range: Range, grew: boolean): boolean => {
    const before = seen.get(range);
    if (before === true || before === grew) return false;
    seen.set(range, grew);
    return range.defs.some((def) => 'expr' in def && expression(def.expr, grew));
  };
  const expression = (e: TExpr, grew: boolean): boolean => {
    switch (e.k) {
      case 'local':
      case 'load': {
        const range = rangeRead(e);
        return range !== undefined && ((range === to && grew) || visit(range, grew));
      }
      case 'arith':
        // `s = (s * 16807) % m`: what is reduced has grown before.
        if (e.fn === 'rem') return expression(e.a, grew);
        if (e.fn !== 'add' && e.fn !== 'sub' && e.fn !== 'mul') return false;
        return expression(e.a, true) || expression(e.b, true);
      case 'neg':
      case 'plus':
      case 'abs':
      case 'uniform':
        return expression(e.a, grew);
      case 'minmax':
      case 'select':
        return expression(e.a, grew) || expression(e.b, grew);
      default:
        return false;
    }
  };
  return visit(from, false);
}
