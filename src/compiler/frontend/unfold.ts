/**
 * Functions that call themselves become loops, where there are any.
 */
import { walkStatements } from '../types/parts.ts';
import type { TStmt } from '../types/tree.ts';
import type { Evaluation } from './evaluation.ts';
import { unfolded } from './unfolding.ts';

/** The program without functions that call themselves. */
export function unfoldRecursion(ctx: Evaluation, body: readonly TStmt[]): readonly TStmt[] {
  let any = false;
  walkStatements(body, (s) => {
    any ||= s.k === 'recursive';
  });
  return any ? unfolded(ctx, body) : body;
}
