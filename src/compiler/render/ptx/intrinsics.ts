/**
 * Operations of the table of intrinsics: by the instruction that a row names, else by the row's expansion.
 */
import type { Expr } from '../../ir/ops.ts';
import type { Operand } from './code.ts';
import { type Gen, inRegister, isWide, TYPES } from './gen.ts';

export function intrinsicOp(g: Gen, e: Expr & { op: 'intrinsic' }): Operand {
  const { fn, args } = e;
  const type = fn.types.find((t) => t === e.type);
  const instruction = type && fn.native?.ptx?.(type, g.target.capability);
  if (instruction === undefined) {
    if (fn.expand === undefined) throw new Error(`internal error: PTX has no ${fn.name} of ${e.type}`);
    return g.value(fn.expand(...args));
  }
  const operands = args.map((a) => inRegister(g, e.type, g.value(a)));
  if (instruction.includes('$')) return placed(g, TYPES[e.type].reg, instruction, operands);
  if (!fn.native?.ptxGives32 || !isWide(e.type)) return g.code.value(TYPES[e.type].reg, instruction, operands);
  return g.code.value('rd', 'cvt.u64.u32', [g.code.value('r', instruction, operands)]);
}

/** The result of a text with `$0` where it belongs, and `$1 $2 …` for the operands. */
export function placed(
  g: Gen,
  reg: Parameters<Gen['code']['reg']>[0],
  text: string,
  operands: readonly Operand[],
): Operand {
  const result = g.code.reg(reg);
  const filled = text.replace(/\$(\d)/g, (_, k: string) =>
    String(k === '0' ? result : (operands[Number(k) - 1] ?? '')),
  );
  g.code.directive('\t{');
  g.code.directive(`\t${filled.trim().replace(/[^;}]$/, '$&;')}`);
  g.code.directive('\t}');
  return result;
}
