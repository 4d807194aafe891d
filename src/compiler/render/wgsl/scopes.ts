/**
 * Where variables can be declared. Most are assigned once, before all that reads them: these are constants of the list of statements that they are in, and counters belong to their loops.
 */
import type { Loop } from '../../ir/loops.ts';
import type { Stmt, Var } from '../../ir/ops.ts';
import { defined, eachPart, stmtExprs, stmtLists } from '../../ir/passes/walk.ts';

type Assign = Stmt & { readonly op: 'assign' };

/** A list of statements, and the one that it is in. */
interface Scope {
  readonly parent: Scope | undefined;
  readonly depth: number;
}

interface Named {
  /** The innermost list that has all statements in it which name the variable. */
  scope: Scope;
  /** The first of these statements, in the order of the text. */
  readonly first: Stmt;
  assigned: number;
  named: number;
}

export interface Scopes {
  /** Whether a statement gives a variable the only value that it ever has, and nothing outside of its list, or before, knows the variable. */
  isConstant(s: Assign): boolean;
  /** Whether a variable is only known in the loop that follows, and in this statement before it. */
  isCounterOf(s: Assign, loop: Loop): boolean;
}

/** `elsewhere`: variables that are named outside of all statements. */
export function scopesOf(body: readonly Stmt[], elsewhere: readonly Var[]): Scopes {
  const names = new Map<number, Named>();
  const scopes = new Map<Stmt, Scope>();
  const walk = (list: readonly Stmt[], scope: Scope): void => {
    for (const s of list) {
      scopes.set(s, scope);
      for (const id of namesIn(s)) note(names, id, s, scope);
      const id = defined(s);
      if (id !== undefined) (names.get(id) as Named).assigned++;
      for (const inner of stmtLists(s)) walk(inner, { parent: scope, depth: scope.depth + 1 });
    }
  };
  walk(body, { parent: undefined, depth: 0 });
  return {
    isConstant: (s) => {
      const { scope, first, assigned } = names.get(s.var.id) as Named;
      if (elsewhere.includes(s.var)) return false;
      return first === s && assigned === 1 && scope === scopes.get(s);
    },
    isCounterOf: (s, loop) => {
      let inside = 0;
      const count = (list: readonly Stmt[]): void => {
        for (const each of list) {
          for (const id of namesIn(each)) if (id === s.var.id) inside++;
          for (const inner of stmtLists(each)) count(inner);
        }
      };
      count([s, loop]);
      return inside === names.get(s.var.id)?.named;
    },
  };
}

/** Variables that a statement itself names, once for each time. */
function namesIn(s: Stmt): number[] {
  const ids: number[] = [];
  for (const e of stmtExprs(s)) {
    eachPart(e, (part) => {
      if (part.op === 'var') ids.push(part.var.id);
    });
  }
  const id = defined(s);
  if (id !== undefined) ids.push(id);
  return ids;
}

function note(names: Map<number, Named>, id: number, s: Stmt, scope: Scope): void {
  const known = names.get(id);
  if (known === undefined) {
    names.set(id, { scope, first: s, assigned: 0, named: 1 });
    return;
  }
  known.named++;
  known.scope = common(known.scope, scope);
}

/** The innermost list that both are in. */
function common(a: Scope, b: Scope): Scope {
  let [x, y] = [a, b];
  while (x !== y) {
    if (x.depth >= y.depth) x = x.parent as Scope;
    else y = y.parent as Scope;
  }
  return x;
}
