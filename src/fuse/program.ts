/**
 * An expression as one function of the elements of its arrays and of its numbers: what a kernel is compiled of.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';

type AnyFunction = (...args: never[]) => unknown;
type Value = never;

/** One operation: of values by their numbers. Arrays and numbers come first, then what operations give. */
export interface Operation {
  /** Tells operations apart. */
  readonly name: string;
  readonly fn: AnyFunction;
  readonly of: readonly number[];
}

const last = (...values: readonly Value[]): Value => values[values.length - 1] as Value;

/** Does one operation, and hands all values on. */
function link({ fn, of }: Operation, next: AnyFunction): AnyFunction {
  const own = {
    fn: fn as (...args: readonly Value[]) => Value,
    of,
    next: next as (...args: readonly Value[]) => Value,
  };
  return deviceFunction(
    ({ fn, of, next }: typeof own) =>
      (...values: readonly Value[]) =>
        next(...values, fn(...of.map((k) => values[k] as Value))),
    own,
  ) as AnyFunction;
}

/** The function that gives the last of the operations; without any, its last argument. */
export function functionOf(operations: readonly Operation[]): AnyFunction {
  return operations.reduceRight<AnyFunction>((next, operation) => link(operation, next), last as AnyFunction);
}

/** What programs of the same operations have in common. */
export function keyOf(operations: readonly Operation[]): string {
  return operations.map(({ name, of }) => `${name}(${of})`).join(' ');
}
