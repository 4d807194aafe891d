/**
 * Objects that functions which call themselves return: each call has variables of its own for what it gets.
 */
import type { Pos } from '../source.ts';
import type { Evaluation } from './evaluation.ts';
import { makeObject } from './objects.ts';
import { withFlag } from './optionals.ts';
import { resultSite } from './recursion.ts';
import type { FunctionValue, Value } from './values.ts';

/** What a caller gets: objects of its own of what the call, whose frame is number `at`, has left. */
export function objectsOf(ctx: Evaluation, fn: FunctionValue, at: number, v: Value, pos: Pos): Value {
  const each = (x: Value): Value => objectsOf(ctx, fn, at, x, pos);
  if (v.kind === 'tuple') return { ...v, items: v.items.map(each) };
  if (v.kind !== 'record') return v;
  if (ctx.hints.isChanged(ctx.hints.site(pos))) ctx.hints.change(resultSite(ctx, fn, at));
  const fields = new Map([...v.fields].map(([name, x]) => [name, each(x)]));
  const object = makeObject(ctx, fields, v.type, pos);
  return v.present === undefined ? object : withFlag(ctx, object, v.present, pos);
}
