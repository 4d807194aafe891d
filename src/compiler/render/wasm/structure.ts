/**
 * How often the values of expressions change, and what variables are made of.
 */
import type { Expr, Stmt, Var } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { defined, eachStmt, exprParts } from '../../ir/passes/walk.ts';

/**
 * Sums and products of threadIdx.x with what does not change while an item runs: integers of 32 bits that are assigned once, and not read
 * before. By `Var.id`; the values of `steady` variables do not change either.
 */
export function definitionsOf(
  body: readonly Stmt[],
  steady: ReadonlySet<number> = new Set(),
): ReadonlyMap<number, Expr> {
  const values = new Map<number, Expr | undefined>();
  eachStmt(body, (s) => {
    const id = defined(s);
    if (id === undefined) return;
    const once = s.op === 'assign' && s.var.type === 'i32' && !values.has(id);
    values.set(id, once ? s.value : undefined);
  });
  for (const id of analyseLiveness(body).entry) values.delete(id);
  /** Whether a value is made of threadIdx.x: undefined where it may change. */
  const fromThread = (e: Expr): boolean | undefined => {
    if (e.type !== 'i32') return undefined;
    switch (e.op) {
      case 'const':
      case 'param':
        return false;
      case 'special':
        return e.name === 'laneId' ? undefined : e.name === 'threadIdx.x';
      case 'var': {
        if (steady.has(e.var.id)) return false;
        const value = values.get(e.var.id);
        return value === undefined ? undefined : fromThread(value);
      }
      case 'binary': {
        if (e.fn !== 'add' && e.fn !== 'sub' && e.fn !== 'mul') return undefined;
        const [a, b] = [fromThread(e.a), fromThread(e.b)];
        return a === undefined || b === undefined ? undefined : a || b;
      }
      default:
        return undefined;
    }
  };
  const definitions = new Map<number, Expr>();
  for (const [id, value] of values) if (value !== undefined && fromThread(value) === true) definitions.set(id, value);
  return definitions;
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
