/**
 * Parameters of which a specialisation knows the values, such as lengths that launches have in common.
 */
import { constant } from '../builder.ts';
import type { Expr, Kernel } from '../ops.ts';
import { mapLists, mapStmtExprs } from './walk.ts';

/** The kernel with constants for these parameters, which are given by number. */
export function withValues(kernel: Kernel, values: ReadonlyMap<number, number | bigint>): Kernel {
  const change = (e: Expr): Expr => {
    const value = e.op === 'param' ? values.get(e.param) : undefined;
    return value === undefined ? e : constant(e.type, value);
  };
  const inList = (list: Kernel['body']): Kernel['body'] => list.map((s) => mapStmtExprs(mapLists(s, inList), change));
  return { ...kernel, body: inList(kernel.body) };
}
