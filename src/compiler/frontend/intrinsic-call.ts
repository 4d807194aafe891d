/**
 * What the handlers of intrinsics get: the call, and the reading of its arguments.
 */
import type { CallExpression } from 'acorn';
import { spelled } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import type { Scope, Value } from './values.ts';

/** A call of an intrinsic. */
export interface Call {
  readonly ctx: Evaluation;
  readonly name: string;
  readonly args: readonly Value[];
  readonly node: CallExpression;
  readonly scope: Scope;
  readonly pos: Pos;
  readonly discarded: boolean;
}

export type Handler = (call: Call) => Value;

/** Fails unless there are `n`, or `n` to `m`, arguments. */
export function count(call: Call, n: number, m: number = n): void {
  if (call.args.length >= n && call.args.length <= m) return;
  fail(
    'K316',
    call.pos,
    `${spelled(call.name)} takes ${n === m ? n : `${n} to ${m}`} argument${m === 1 ? '' : 's'}, not ${call.args.length}`,
  );
}

/** An operand of which the bits count: any integer, and no float. `what` is what messages call it. */
export function word(to: 'u32' | 'i32', a: TExpr, what: string): TExpr {
  return { k: 'word', to, a, what, pos: a.pos };
}

/** Argument `k` as a scalar. */
export function number(call: Call, k: number): TExpr {
  const v = call.args[k];
  if (v === undefined) return fail('K316', call.pos, `${spelled(call.name)} needs argument ${k + 1}`);
  return call.ctx.scalar(v, call.pos);
}
