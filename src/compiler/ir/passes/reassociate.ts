/**
 * Reassociation: sums of integers in the order in which their terms change, what is the same in all rounds of a loop first.
 *
 * `row * n + (start + column)` is `(row * n + column) + start` where only `start` changes: one addition a round. Integers
 * wrap, so that every order gives the same sum.
 */
import { add, constant, sub } from '../builder.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { isInt } from '../ops.ts';
import { assignedIn, exprParts, mapLists, mapParts, mapTopExprs } from './walk.ts';

/** The same kernel when it has no such sums. */
export function reassociate(kernel: Kernel): Kernel {
  return { ...kernel, body: inList(kernel.body, []) };
}

/** `loops`: the variables that each loop around assigns, outermost first. */
function inList(list: readonly Stmt[], loops: readonly ReadonlySet<number>[]): readonly Stmt[] {
  return list.map((s) => {
    const own = loops.length === 0 ? s : mapTopExprs(s, (e) => ordered(e, loops));
    const inner = s.op === 'loop' ? [...loops, assignedIn([...s.body, ...s.update])] : loops;
    return mapLists(own, (l) => inList(l, inner));
  });
}

interface Term {
  readonly e: Expr;
  readonly negative: boolean;
}

function ordered(e: Expr, loops: readonly ReadonlySet<number>[]): Expr {
  if (isSum(e)) {
    const terms: Term[] = [];
    collect(e, false, terms);
    if (terms.length > 2) {
      const levels = terms.map((t) => levelOf(t.e, loops));
      const order = terms.map((_, k) => k).sort((a, b) => (levels[a] ?? 0) - (levels[b] ?? 0) || a - b);
      if (order.some((k, i) => k !== i))
        return total(
          order.flatMap((k) => terms[k] ?? []),
          e.type,
          loops,
        );
    }
  }
  return mapOperands(e, (part) => ordered(part, loops));
}

function isSum(e: Expr): e is Expr & { op: 'binary' } {
  return e.op === 'binary' && (e.fn === 'add' || e.fn === 'sub') && isInt(e.type);
}

function collect(e: Expr, negative: boolean, into: Term[]): void {
  if (!isSum(e)) {
    into.push({ e, negative });
    return;
  }
  collect(e.a, negative, into);
  collect(e.b, e.fn === 'sub' ? !negative : negative, into);
}

/** The depth of the innermost loop in which a term changes. Loads may change in any; constants go last, into addresses. */
function levelOf(e: Expr, loops: readonly ReadonlySet<number>[]): number {
  if (e.op === 'const') return loops.length + 1;
  const own = e.op === 'load' ? loops.length : e.op === 'var' ? 1 + loops.findLastIndex((l) => l.has(e.var.id)) : 0;
  return exprParts(e).reduce((most, part) => Math.max(most, part.op === 'const' ? 0 : levelOf(part, loops)), own);
}

function total(terms: readonly Term[], type: Expr['type'], loops: readonly ReadonlySet<number>[]): Expr {
  let sum: Expr | undefined;
  for (const { e, negative } of terms) {
    const term = mapOperands(e, (part) => ordered(part, loops));
    if (sum === undefined) sum = negative ? sub(constant(type, 0), term) : term;
    else sum = negative ? sub(sum, term) : add(sum, term);
  }
  return sum ?? constant(type, 0);
}

/** An expression over changed operands; those of loads keep their checks. */
function mapOperands(e: Expr, change: (e: Expr) => Expr): Expr {
  return e.op === 'load' ? { ...e, mem: { ...e.mem, index: change(e.mem.index) } } : mapParts(e, change);
}
