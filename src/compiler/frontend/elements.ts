/**
 * Lists of expressions: the arguments of a call, the parts of a tuple.
 */
import type { Expression, SpreadElement } from 'acorn';
import type { Pos } from '../source.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { isSequence, itemOf, namedLength, withCharacters } from './sequences.ts';
import { describeValue, literal, type Scope, type Value } from './values.ts';

/** Arrays of more elements are not spread. */
const MOST_SPREAD = 64;

/** The elements from number `from` on of an array whose length is known, read now; any other value as it is. */
export function spread(ctx: Evaluation, v: Value, pos: Pos, from = 0): Value {
  if (v.kind !== 'view') return withCharacters(v);
  const n = isSequence(v) ? namedLength(v, pos) : undefined;
  if (n === undefined || n > MOST_SPREAD) return v;
  const items = Array.from({ length: Math.max(0, n - from) }, (_, k) =>
    itemOf(ctx, v.view, literal(from + k, pos), pos),
  );
  return { kind: 'tuple', items };
}

/** The values of a list of expressions, in order; `...tuple` gives the parts of a tuple. */
export function elements(
  ctx: Evaluation,
  list: readonly (Expression | SpreadElement | null)[],
  scope: Scope,
  pos: Pos,
): Value[] {
  const spreads = list.some((e) => e?.type === 'SpreadElement');
  const values = ctx.sequence(
    list.map((e) => () => {
      if (e === null) return fail('K101', pos, 'a hole in an array literal has no meaning in a kernel');
      if (e.type !== 'SpreadElement') return ctx.parts.evaluate(ctx, e, scope);
      return spread(ctx, ctx.parts.evaluate(ctx, e.argument, scope), ctx.pos(e, scope));
    }),
  );
  if (!spreads) return values;
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
