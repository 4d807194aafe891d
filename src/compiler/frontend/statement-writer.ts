/**
 * The statement list that is being written, and how deep in conditional code and loops it stands. Makes labels, variables and
 * temporaries. Knows nothing of scopes and of what is inlined: that is `evaluation.ts`.
 */
import type { Label } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Local, TExpr, TStmt } from '../types/tree.ts';
import type { Hints } from './hints.ts';
import { isStable, size } from './measures.ts';
import { type Branch, readLocal } from './values.ts';

export class StatementWriter {
  readonly hints: Hints;
  list: TStmt[] = [];
  /** Nesting of conditional constructs. */
  depth = 0;
  /** Nesting of loops. */
  loops = 0;
  inBranch: Branch = { outer: undefined };
  #labels = 0;
  #locals = 0;

  constructor(hints: Hints) {
    this.hints = hints;
  }

  newLabel(): Label {
    return this.#labels++;
  }

  newLocal(name: string, pos: Pos, stable: boolean): Local {
    return { id: this.#locals++, name, pos, stable };
  }

  emit(s: TStmt): void {
    this.list.push(s);
  }

  /** Runs `body` with a fresh statement list and returns what it wrote. */
  collect(body: () => void): TStmt[] {
    const saved = this.list;
    const list: TStmt[] = [];
    this.list = list;
    try {
      body();
    } finally {
      this.list = saved;
    }
    return list;
  }

  /** As `collect`, for code that may not run. */
  branch(body: () => void): TStmt[] {
    this.depth++;
    try {
      return this.stretch(() => this.collect(body));
    } finally {
      this.depth--;
    }
  }

  /** Runs `body` as a stretch of the program of its own: what it assigns may not be assigned behind it. */
  stretch<T>(body: () => T): T {
    const outer = this.inBranch;
    this.inBranch = { outer };
    try {
      return body();
    } finally {
      this.inBranch = outer;
    }
  }

  /** Assigns to a fresh temporary that is never assigned again. */
  temp(expr: TExpr, name = '%t'): TExpr {
    const local: Local = { ...this.newLocal(name, expr.pos, true), is: isStable(expr) ? expr : undefined };
    this.emit({ k: 'assign', local, value: expr, pos: expr.pos });
    return readLocal(local, expr.pos);
  }

  /** An expression that gives the same value whenever it is read later. */
  hold(expr: TExpr, name?: string): TExpr {
    return isStable(expr) && size(expr) <= 3 ? expr : this.temp(expr, name);
  }
}
