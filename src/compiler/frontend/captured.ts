/**
 * A function as the compiler sees it: its text, its syntax tree, and a way to look up the names it takes from outside.
 *
 * This is the seam between reading a function (`capture.ts`, `parse.ts`, which know Node and the inspector) and giving it a
 * meaning (partial evaluation and inference, which only ask `lookup`).
 */
import type { ArrowFunctionExpression, FunctionDeclaration, FunctionExpression } from 'acorn';
import type { Pos, SourceText } from '../source.ts';

export type FunctionNode = (ArrowFunctionExpression | FunctionExpression | FunctionDeclaration) & {
  start: number;
  end: number;
};

/** The value of a captured name. */
export type Captured = { readonly found: true; readonly value: unknown } | { readonly found: false };

/** A function that was read once and is frozen. Node positions are offsets into `source.text`. */
export interface CapturedFunction {
  readonly source: SourceText;
  readonly node: FunctionNode;
  readonly fn: (...args: never[]) => unknown;
  /** Every name that is free in the function, as it was read; lets a later reading find out what has changed. */
  readonly captures: ReadonlyMap<string, Captured>;
  /**
   * The value of a name that is free in the function. Falls back to the globals a kernel may use (Math, Number, BigInt,
   * Infinity, NaN, undefined, console, Error …). Throws a KernelError that names the remedies when the name cannot be
   * resolved, or is not yet initialised. `pos` is where the name is used.
   */
  lookup(name: string, pos: Pos): unknown;
  /** A function found among captured values, read in the same way. Throws a KernelError for native and bound functions. */
  read(fn: (...args: never[]) => unknown, pos: Pos): CapturedFunction;
}
