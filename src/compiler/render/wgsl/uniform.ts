/**
 * What WGSL's own analysis finds to be the same in all threads of a block. It decides whether a barrier may stand behind a condition, and is stricter than
 * ours: what was read from memory is different for it, whatever the index. This is a part of what it finds, never more.
 */
import { exitOf } from '../../ir/loops.ts';
import type { Expr, Label, Special, Stmt } from '../../ir/ops.ts';
import { exprParts, hasBarrier, someStmt } from '../../ir/passes/walk.ts';

const DIVERGENT: ReadonlySet<Special> = new Set(['threadIdx.x', 'threadIdx.y', 'threadIdx.z', 'laneId']);

export function isUniform(e: Expr, vars: ReadonlySet<number>): boolean {
  if (e.op === 'load') return false;
  if (e.op === 'var') return vars.has(e.var.id);
  if (e.op === 'special') return !DIVERGENT.has(e.name);
  return exprParts(e).every((part) => isUniform(part, vars));
}

/** Variables that are the same in all threads wherever they are read. */
export function uniformVars(body: readonly Stmt[], all: readonly { readonly id: number }[]): ReadonlySet<number> {
  const vars = new Set(all.map(({ id }) => id));
  for (let known = -1; known !== vars.size; ) {
    known = vars.size;
    drop(body, true, vars);
  }
  return vars;
}

/** Takes out of the set what is assigned where threads part, or from what differs. */
function drop(list: readonly Stmt[], together: boolean, vars: Set<number>): void {
  for (const s of list) {
    switch (s.op) {
      case 'assign':
        if (!together || !isUniform(s.value, vars)) vars.delete(s.var.id);
        break;
      case 'atomic':
      case 'barrier':
      case 'warp':
      case 'extern':
        if (s.result !== undefined) vars.delete(s.result.id);
        break;
      case 'if': {
        const inside = together && isUniform(s.cond, vars);
        drop(s.then, inside, vars);
        drop(s.else, inside, vars);
        break;
      }
      case 'loop':
      case 'block': {
        const inside = together && leftTogether(s.body, vars);
        drop(s.body, inside, vars);
        if (s.op === 'loop') drop(s.update, inside, vars);
        break;
      }
    }
  }
}

/** Whether every jump stands behind conditions that are the same in all threads. */
function leftTogether(list: readonly Stmt[], vars: ReadonlySet<number>): boolean {
  return list.every((s) => {
    if (s.op === 'if') {
      if (isUniform(s.cond, vars)) return leftTogether(s.then, vars) && leftTogether(s.else, vars);
      return !someStmt([s], (x) => x.op === 'break' || x.op === 'continue' || x.op === 'return');
    }
    if (s.op === 'loop') return leftTogether(s.body, vars) && leftTogether(s.update, vars);
    return s.op === 'block' ? leftTogether(s.body, vars) : true;
  });
}

/** Constructs that hold barriers: a jump out of one, or to its next round, is all threads'. */
export function collectiveLabels(body: readonly Stmt[]): ReadonlySet<Label> {
  const labels = new Set<Label>();
  const look = (list: readonly Stmt[]): void => {
    for (const s of list) {
      if (s.op === 'if') {
        look(s.then);
        look(s.else);
      } else if (s.op === 'loop' || s.op === 'block') {
        if (hasBarrier(s.body) || (s.op === 'loop' && hasBarrier(s.update))) labels.add(s.label);
        look(s.body);
      }
    }
  };
  look(body);
  return labels;
}

/** Whether all threads have to go the same way at a condition, for what stands behind it or is left by it. */
export function isCollective(s: Stmt & { readonly op: 'if' }, labels: ReadonlySet<Label>): boolean {
  return (
    hasBarrier([s]) ||
    someStmt([s], (x) => ((x.op === 'break' || x.op === 'continue') && labels.has(x.label)) || false) ||
    [...labels].some((label) => exitOf(s, label) !== undefined)
  );
}
