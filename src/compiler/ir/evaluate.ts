/**
 * The exact meaning of every scalar operation, on JavaScript values: number, bigint (64-bit integers) and boolean.
 *
 * Constant folding, the reference interpreter and the simulator all ask this file, so it is written to be right in every
 * corner rather than fast. Values come in and go out in the representation of ops.ts: f32 already rounded, i32 in range.
 */
import type { BinaryOp, CompareOp, ElemType, MathFn, UnaryOp, ValueType } from './ops.ts';

export type Value = number | bigint | boolean;

export function evalUnary(fn: UnaryOp, type: ValueType, a: Value): Value {
  throw new Error(`${fn}${type}${a}`);
}
export function evalBinary(fn: BinaryOp, type: ValueType, a: Value, b: Value): Value {
  throw new Error(`${fn}${type}${a}${b}`);
}
export function evalCompare(fn: CompareOp, a: Value, b: Value): boolean {
  throw new Error(`${fn}${a}${b}`);
}
export function evalCast(from: ValueType, to: ElemType, a: Value): Value {
  throw new Error(`${from}${to}${a}`);
}
export function evalBitcast(from: ValueType, to: ValueType, a: Value): Value {
  throw new Error(`${from}${to}${a}`);
}
export function evalFma(type: 'f32' | 'f64', a: number, b: number, c: number): number {
  throw new Error(`${type}${a}${b}${c}`);
}
/** `Math.*` where it has the function, else our own formula; f32 results are the f64 result rounded. */
export function evalCall(fn: MathFn, type: 'f32' | 'f64', args: readonly number[]): number {
  throw new Error(`${fn}${type}${args.length}`);
}
export function zero(type: ValueType): Value {
  throw new Error(type);
}
/** Reads an element (little-endian) and widens it. */
export function readElement(view: DataView, address: number, elem: ElemType): Value {
  throw new Error(`${view}${address}${elem}`);
}
/** Narrows a value of the widened type and writes it. */
export function writeElement(view: DataView, address: number, elem: ElemType, value: Value): void {
  throw new Error(`${view}${address}${elem}${value}`);
}
