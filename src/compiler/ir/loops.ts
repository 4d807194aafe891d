/**
 * Loops with a test at the top of each round, or at its end: the one place that reads `if (c) break;` as a loop's test.
 *
 * `while (a) body` is `loop { if (!a) break; body }`. Jumps that passes make end up in that form as well as the author's own, so that
 * it is recognised where it is asked about, and not kept beside the statements, where it would have to be kept true.
 */
import { negate } from './builder.ts';
import type { Expr, Label, Stmt } from './ops.ts';

export type Loop = Stmt & { readonly op: 'loop' };

export interface TestedLoop {
  /** The condition under which the loop is left at the start of a round. */
  readonly exit: Expr;
  /** The body behind the test. */
  readonly body: readonly Stmt[];
}

/** A loop as one that tests before each round; undefined for any other. */
export function testedLoop(loop: Loop): TestedLoop | undefined {
  const [first, ...body] = loop.body;
  const exit = exitOf(first, loop.label);
  return exit && { exit, body };
}

/** The condition under which a statement leaves the construct with this label, if it does nothing else. */
export function exitOf(s: Stmt | undefined, label: Label): Expr | undefined {
  if (s?.op !== 'if') return undefined;
  if (s.else.length === 0 && isExit(s.then, label)) return s.cond;
  return s.then.length === 0 && isExit(s.else, label) ? negate(s.cond) : undefined;
}

function isExit(list: readonly Stmt[], label: Label): boolean {
  const [jump] = list;
  return list.length === 1 && jump?.op === 'break' && jump.label === label;
}
