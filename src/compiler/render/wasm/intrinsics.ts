/**
 * Operations of the table of intrinsics, by the instructions that a row names. Those that it names none for have been expanded.
 */
import type { Expr } from '../../ir/ops.ts';
import type { FunctionBuilder } from './assembler.ts';
import { wasmType } from './gen.ts';
import type { PlainOp } from './opcodes.ts';
import type { Push } from './scalar.ts';
import { lanesOf } from './vector.ts';

type Call = Expr & { readonly op: 'intrinsic' };

export function isNative({ fn }: Call): boolean {
  return fn.native?.wasm !== undefined;
}

export function scalarIntrinsic(f: FunctionBuilder, { fn, type }: Call, args: readonly Push[]): void {
  const instruction = fn.native?.wasm;
  if (instruction === undefined) throw new Error(`internal error: ${fn.name} was not expanded`);
  for (const push of args) push();
  f.op(`${wasmType(type)}.${instruction}` as PlainOp);
}

/** Returns false where there is nothing better than lane by lane. */
export function vectorIntrinsic(f: FunctionBuilder, { fn, type }: Call, args: readonly Push[]): boolean {
  const lanes = lanesOf(type);
  const instructions = lanes === 'i32x4' || lanes === 'i64x2' ? fn.native?.simd?.(lanes) : undefined;
  if (instructions === undefined) return false;
  for (const push of args) push();
  f.op(...(instructions as readonly PlainOp[]));
  return true;
}
