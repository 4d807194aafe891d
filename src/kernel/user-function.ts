/**
 * A function of the user that the library's kernels call, as `reduce` and `vectorize` take it: the function, or a factory of it with `captures`.
 */
import { deviceFunction, hostOnlyOf, KERNEL } from '../compiler/intrinsics.ts';
import { TsambaTypeError } from '../errors.ts';
import { isPlainObject } from '../options.ts';
import { show } from '../show.ts';

/** What says how a function is read. */
export interface UserFunctionOptions {
  /**
   * What the function takes from outside, where closures cannot be read (Bun, browsers): then the first argument is a factory,
   * `({ gain }) => (x) => gain * x`.
   */
  readonly captures?: Readonly<Record<string, unknown>> | undefined;
  /** The name in messages. Default: the function's. */
  readonly name?: string | undefined;
}

type AnyFunction = (...args: never[]) => unknown;

export interface UserFunction {
  readonly fn: AnyFunction;
  readonly name: string;
}

/** Checks a function and its options; `what` is the call. Throws TypeError. */
export function userFunction(what: string, given: unknown, { captures, name }: UserFunctionOptions): UserFunction {
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw new TsambaTypeError('E_OPTION', `${what}: name must be a string, got ${show(name)}`);
  }
  if (typeof given !== 'function')
    throw new TsambaTypeError('E_FUNCTION', `${what} takes a function, got ${show(given)}`);
  if (KERNEL in given || hostOnlyOf(given) !== undefined) {
    throw new TsambaTypeError(
      'E_FUNCTION',
      `${what} takes a function that kernels can call, and ${given.name} is not one`,
    );
  }
  const fn = captures === undefined ? (given as AnyFunction) : fromFactory(what, given as AnyFunction, captures);
  return { fn, name: name ?? (fn.name || given.name || what) };
}

function fromFactory(what: string, factory: AnyFunction, captures: unknown): AnyFunction {
  if (!isPlainObject(captures)) {
    throw new TsambaTypeError(
      'E_OPTION',
      `${what}: captures must be an object such as { gain }, got ${show(captures)}`,
    );
  }
  const made = (): unknown => (factory as (captures: object) => unknown)(captures);
  if (typeof made() !== 'function') {
    throw new TsambaTypeError(
      'E_FUNCTION',
      `${what} with captures takes a factory that gives the function: ({ gain }) => (x) => gain * x`,
    );
  }
  return deviceFunction(factory as (captures: never) => AnyFunction, captures as never);
}
