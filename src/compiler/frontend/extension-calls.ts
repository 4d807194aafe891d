/**
 * Calls of what libraries add to kernels: intrinsics that some devices have instructions for, and functions of the host that something else stands for.
 */
import type { CallExpression } from 'acorn';
import { type ArgumentKind, type NativeIntrinsic, overloadsOf } from '../intrinsics/native.ts';
import type { Pos } from '../source.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { describeValue, type Scope, scalar, type Value } from './values.ts';

/** Both ways of an intrinsic: its expansion is inlined, and a device with an instruction takes that. */
export function callNative(ctx: Evaluation, fn: NativeIntrinsic, node: CallExpression, scope: Scope, pos: Pos): Value {
  const given = elements(ctx, node.arguments, scope, pos);
  if (given.length !== fn.arity) {
    fail('K316', pos, `${fn.name} takes ${fn.arity} argument${fn.arity === 1 ? '' : 's'}, not ${given.length}`);
  }
  const args = given.map((value, k) => ctx.hold(ctx.scalar(value, pos), `%${fn.name}.${k}`));
  const { expand } = fn;
  if (expand === undefined) return scalar({ k: 'native', fn, args, pos });
  const captured = scope.captured.read(expand, pos);
  const device = { name: fn.name, node: captured.node, captured, scope: undefined };
  const otherwise = ctx.scalar(ctx.parts.call(ctx, device, args.map(scalar), pos), pos);
  return scalar({ k: 'native', fn, args, otherwise, pos });
}

/** What stands for a function of the host in kernels, called; undefined where nothing does. */
export function callOverload(
  ctx: Evaluation,
  fn: object,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
): Value | undefined {
  const known = overloadsOf(fn);
  if (known.length === 0) return undefined;
  const args = elements(ctx, node.arguments, scope, pos);
  const found = known.find(({ when }) => when === undefined || fits(args, when));
  if (found === undefined) {
    const name = (fn as { readonly name?: string }).name || 'this function';
    return fail(
      'K339',
      pos,
      `${name} is not defined in kernels for ${args.map(describeValue).join(', ') || 'no arguments'}`,
      {
        help: `overload(${name}, …) defines it for other types`,
      },
    );
  }
  const captured = scope.captured.read(found.body, pos);
  const { name } = captured.source;
  return ctx.parts.call(ctx, { name, node: captured.node, captured, scope: undefined }, args, pos);
}

function fits(args: readonly Value[], when: readonly ArgumentKind[]): boolean {
  return args.length === when.length && args.every((arg, k) => isOfKind(arg, when[k] as ArgumentKind));
}

function isOfKind(value: Value, kind: ArgumentKind): boolean {
  const { view } = value.kind === 'view' ? value : {};
  switch (kind) {
    case 'number':
      return value.kind === 'scalar';
    case 'array':
      return view !== undefined && (view.axes.length > 0 || view.element.record === undefined);
    case 'function':
      return value.kind === 'function' || (value.kind === 'host' && typeof value.value === 'function');
    case 'object':
      return value.kind === 'object' || value.kind === 'record' || value.kind === 'tuple';
    default:
      return view !== undefined && view.axes.length === 0 && view.element.record === kind;
  }
}
