/**
 * Calls of functions of other languages: arguments of the declared types, pointers to what arrays are made of, and the fallback as the other way.
 */
import type { CallExpression } from 'acorn';
import { describeElement } from '../elements.ts';
import { type ExternalFunction, type ExternalParam, showExternal } from '../intrinsics/external.ts';
import { ELEM_SIZE } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Local, TExpr, TMem } from '../types/tree.ts';
import { element } from './arrays.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { writable } from './stores.ts';
import { isMisaligned } from './unaligned.ts';
import { describeValue, isLiteral, readLocal, type Scope, scalar, UNDEFINED, type Value, type View } from './values.ts';

export function callExternal(
  ctx: Evaluation,
  fn: ExternalFunction,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
  discarded: boolean,
): Value {
  const given = elements(ctx, node.arguments, scope, pos);
  const { params, fallback } = fn;
  if (given.length !== params.length) {
    fail(
      'K316',
      pos,
      `${fn.name} takes ${params.length} argument${params.length === 1 ? '' : 's'}, not ${given.length}`,
      {
        help: showExternal(fn),
      },
    );
  }
  const held = given.map((value, k): Value => {
    if (params[k]?.pointer === true) return value;
    return scalar(ctx.hold(ctx.scalar(value, pos), `%${fn.name}.${k}`));
  });
  const args = held.map((value, k) => argument(ctx, fn, k, value, pos));
  const result =
    discarded || fn.result === undefined ? undefined : ctx.newLocal(`%${fn.name}`, pos, fallback === undefined);
  const call = { k: 'extern', fn, args, result, pos } as const;
  if (fallback === undefined) ctx.emit(call);
  else {
    const otherwise = ctx.branch(() => runFallback(ctx, fn, fallback, held, { scope, pos, result }));
    ctx.emit({ k: 'if', cond: { k: 'available', fn, pos }, then: [call], else: otherwise, pos });
  }
  return result === undefined ? UNDEFINED : scalar(readLocal(result, pos));
}

interface Site {
  readonly scope: Scope;
  readonly pos: Pos;
  readonly result: Local | undefined;
}

/** The fallback, with numbers of the declared types. */
function runFallback(
  ctx: Evaluation,
  fn: ExternalFunction,
  fallback: NonNullable<ExternalFunction['fallback']>,
  held: readonly Value[],
  { scope, pos, result }: Site,
): void {
  const captured = scope.captured.read(fallback, pos);
  const args = held.map((value, k): Value => {
    const { elem, pointer } = fn.params[k] as ExternalParam;
    return pointer
      ? value
      : scalar(ctx.hold({ k: 'cast', to: elem, a: ctx.scalar(value, pos), pos }, `%${fn.name}.${k}`));
  });
  const value = ctx.parts.call(ctx, { name: fn.name, node: captured.node, captured, scope: undefined }, args, pos);
  if (result === undefined || fn.result === undefined) return;
  const cast: TExpr = { k: 'cast', to: fn.result, a: ctx.scalar(value, pos), pos };
  ctx.emit({ k: 'assign', local: result, value: cast, pos });
}

function argument(ctx: Evaluation, fn: ExternalFunction, k: number, value: Value, pos: Pos): TExpr {
  const { elem, pointer } = fn.params[k] as ExternalParam;
  if (!pointer) return ctx.scalar(value, pos);
  const what = `argument ${k + 1} of ${fn.name}`;
  if (value.kind !== 'view') {
    return fail('K338', pos, `${what} is a pointer to ${elem}, and ${describeValue(value)} is not an array`, {
      help: `pass an array of ${elem}, or a part of one: a.slice('8:')`,
    });
  }
  const { view } = value;
  if (view.element.record !== undefined || view.element.elem !== elem) {
    return fail(
      'K338',
      pos,
      `${what} is a pointer to ${elem}, and ${view.name} has elements of ${describeElement(view.element)}`,
    );
  }
  if (!isDense(view)) {
    return fail(
      'K338',
      pos,
      `${what} is a pointer, and ${view.name} may have gaps between neighbours on its fastest axis`,
      {
        help: 'pass an array that is contiguous there, or copy the elements into a local array first',
      },
    );
  }
  const first: TMem = { ...element(view, pos), checks: [] };
  if (isMisaligned(first)) fail('K338', pos, `${what} is a pointer to ${elem}, and ${view.name} is not aligned`);
  return { k: 'address', mem: writable(first, pos), pos };
}

/** Whether neighbours on the last axis, or on the first, follow each other in memory. */
function isDense({ axes, unit, element: { elem } }: View): boolean {
  const single = ({ stride }: View['axes'][number]): boolean =>
    isLiteral(stride) && Number(stride.value) * unit === ELEM_SIZE[elem];
  const [first, last] = [axes[0], axes.at(-1)];
  return first === undefined || last === undefined || single(last) || single(first);
}
