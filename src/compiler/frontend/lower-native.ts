/**
 * Calls of libraries' intrinsics, once types are known: all operands of the one type that the result has.
 */
import type { Expr, ValueType } from '../ir/ops.ts';
import type { TExpr } from '../types/tree.ts';
import { fail } from './diagnostics.ts';

/** The call in type `m`. `to` converts an operand, which messages call what it is told. */
export function lowerNative(
  { fn, args, otherwise, pos }: TExpr & { k: 'native' },
  m: ValueType,
  to: (e: TExpr, m: ValueType, use?: { readonly what: string }) => Expr,
): Expr {
  if (!fn.types.some((t) => t === m)) {
    fail('K339', pos, `${fn.name} is defined for ${fn.types.join(', ')}, not for ${m}`, {
      help: `cast what it is given: ${fn.types[0]}(…)`,
    });
  }
  const given = args.map((a) => to(a, m, { what: fn.name }));
  return { op: 'native', type: m, fn, args: given, otherwise: otherwise && to(otherwise, m) };
}
