/**
 * Lists of expressions: the arguments of a call, the parts of a tuple.
 */
import type { Expression, SpreadElement } from 'acorn';
import type { Pos } from '../source.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { isSequence, itemOf, namedLength } from './sequences.ts';
import { describeValue, literal, type Scope, type Value } from './values.ts';

/** Arrays of more elements are not spread. */
const MOST_SPREAD = 64;

/** The elements of an array whose length is known, read now. */
function spreadView(ctx: Evaluation, v: Extract<Value, { kind: 'view' }>, pos: Pos): Value {
  const n = isSequence(v) ? namedLength(v, pos) : undefined;
  if (n === undefined || n > MOST_SPREAD) return v;
  return { kind: 'tuple', items: Array.from({ length: n }, (_, k) => itemOf(ctx, v.view, literal(k, pos), pos)) };
}

/** The values of a list of expressions, in order; `...tuple` gives the parts of a tuple. */
export function elements(
  ctx: Evaluation,
  list: readonly (Expression | SpreadElement | null)[],
  scope: Scope,
  pos: Pos,
): Value[] {
  const spread = list.some((e) => e?.type === 'SpreadElement');
  const values = ctx.sequence(
    list.map((e) => () => {
      if (e === null) return fail('K101', pos, 'a hole in an array literal has no meaning in a kernel');
      if (e.type !== 'SpreadElement') return ctx.parts.evaluate(ctx, e, scope);
      const v = ctx.parts.evaluate(ctx, e.argument, scope);
      return v.kind === 'view' ? spreadView(ctx, v, ctx.pos(e, scope)) : v;
    }),
  );
  if (!spread) return values;
  return values.flatMap((v, k) => {
    const e = list[k];
    if (e?.type !== 'SpreadElement') return [v];
    if (v.kind !== 'tuple')
      return fail('K222', ctx.pos(e, scope), `only a tuple can be spread here, not ${describeValue(v)}`, {
        help: v.kind === 'view' ? `write a loop: for (const v of ${v.view.name}) …` : undefined,
      });
    return [...v.items];
  });
}
