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

/** What `typeof` says of a number of the kernel. */
export type Kind = 'number' | 'bigint' | 'boolean';

/** What a variable, or the elements of an array, are given: a value, or the result of a statement. */
export type Given = TExpr | Extract<TStmt, { k: 'atomic' | 'barrier' | 'warp' | 'extern' }>;

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
  /** What variables and the elements of JavaScript arrays are given. */
  readonly #given = new Map<Local, Given[]>();
  /** Those of which the program has asked what they are. */
  readonly asked: Set<Local> = new Set();

  constructor(hints: Hints) {
    this.hints = hints;
  }

  newLabel(): Label {
    return this.#labels++;
  }

  newLocal(name: string, pos: Pos, stable: boolean, is?: TExpr): Local {
    return { id: this.#locals++, name, pos, stable, is };
  }

  /** The number that the next variable gets. */
  get nextLocal(): number {
    return this.#locals;
  }

  emit(s: TStmt): void {
    this.list.push(s);
    if (s.k === 'assign') this.#note(s.local, s.value);
    else if (s.k === 'store' && s.mem.root.open !== undefined) this.#note(s.mem.root.open.local, s.value);
    else if ('result' in s && s.result !== undefined) this.#note(s.result, s);
  }

  #note(local: Local, given: Given): void {
    const known = this.#given.get(local);
    if (known === undefined) this.#given.set(local, [given]);
    else known.push(given);
  }

  /** What a variable, or the elements of an array that the kernel made, have been given so far. */
  givenTo(local: Local): readonly Given[] {
    return this.#given.get(local) ?? [];
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
    const local = this.newLocal(name, expr.pos, true, isStable(expr) ? expr : undefined);
    this.emit({ k: 'assign', local, value: expr, pos: expr.pos });
    return readLocal(local, expr.pos);
  }

  /** An expression that gives the same value whenever it is read later. */
  hold(expr: TExpr, name?: string): TExpr {
    return isStable(expr) && size(expr) <= 3 ? expr : this.temp(expr, name);
  }
}
