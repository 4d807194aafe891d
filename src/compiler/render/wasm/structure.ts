/**
 * Questions about expressions: whether two are the same computation, what they are made of, how often they change.
 */
import type { Expr, Stmt, Var } from '../../ir/ops.ts';
import { exprParts } from '../../ir/passes/walk.ts';

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

/**
 * How often the value of an expression changes: 0 with the launch, 1 with threadIdx.z, 2 with y, 3 with x, 4 and more with a
 * loop of the kernel, by its depth. Sums are built up in this order, so that the optimiser can move the steady part of an
 * address out of the loops in which it does not change.
 */
export function ranking(body: readonly Stmt[]): (e: Expr) => number {
  const assigned = new Map<number, { depth: number; values: Expr[]; multiple: boolean }>();
  const note = (v: Var, depth: number, value: Expr | undefined): void => {
    const known = assigned.get(v.id);
    if (known === undefined) {
      assigned.set(v.id, { depth, values: value ? [value] : [], multiple: value === undefined });
      return;
    }
    known.depth = Math.max(known.depth, depth);
    known.multiple = true;
  };
  const walk = (list: readonly Stmt[], depth: number): void => {
    for (const s of list) {
      if (s.op === 'assign') note(s.var, depth, s.value);
      else if ((s.op === 'atomic' || s.op === 'barrier') && s.result) note(s.result, depth, undefined);
      else if (s.op === 'if') {
        walk(s.then, depth);
        walk(s.else, depth);
      } else if (s.op === 'loop') {
        walk(s.body, depth + 1);
        walk(s.update, depth + 1);
      } else if (s.op === 'block') walk(s.body, depth);
    }
  };
  walk(body, 3);
  const ranks = new Map<number, number>();
  const rank = (e: Expr): number => {
    switch (e.op) {
      case 'const':
      case 'param':
        return 0;
      case 'special':
        return e.name === 'threadIdx.x' || e.name === 'laneId'
          ? 3
          : e.name === 'threadIdx.y'
            ? 2
            : e.name === 'threadIdx.z'
              ? 1
              : 0;
      case 'var': {
        const known = ranks.get(e.var.id);
        if (known !== undefined) return known;
        const facts = assigned.get(e.var.id);
        const [value] = facts?.values ?? [];
        ranks.set(e.var.id, facts?.depth ?? 0);
        if (facts !== undefined && !facts.multiple && value !== undefined) ranks.set(e.var.id, rank(value));
        return ranks.get(e.var.id) ?? 0;
      }
      case 'load':
        // As often as the memory may: the depth is not known here.
        return 3 + Math.max(0, ...exprParts(e).map(rank));
      default:
        return Math.max(0, ...exprParts(e).map(rank));
    }
  };
  return rank;
}
