/**
 * From a row of the table to the function that users call, and back.
 */
import { intrinsic } from '../intrinsics.ts';
import type { Expr } from '../ir/ops.ts';
import type { Intrinsic } from './row.ts';

/** A row over expressions of the IR. */
export type Row = Intrinsic<Expr>;

/** An integer in, one of the same type out. */
export interface SameInteger {
  (x: number): number;
  (x: bigint): bigint;
}

/** Two integers of one type in, one of that type out. */
export interface SameIntegers {
  (a: number, b: number): number;
  (a: bigint, b: bigint): bigint;
}

/** Three of them. */
export interface SameIntegers3 {
  (a: number, b: number, c: number): number;
  (a: bigint, b: bigint, c: bigint): bigint;
}

const rows = new WeakMap<object, Row>();

/** The function of a row, as kernels know it. `F` is what the editor shows. */
export function define<F extends (...args: never[]) => unknown>(row: Row): F {
  const value = intrinsic<F>(row.name);
  rows.set(value, row);
  return value;
}

/** The rows of functions that `define` made. */
export function rowsOf(functions: readonly object[]): readonly Row[] {
  return functions.flatMap((fn) => rows.get(fn) ?? []);
}
