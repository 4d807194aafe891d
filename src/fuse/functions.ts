/**
 * What expressions of whole arrays do to elements, in the kernel language: a function for each operation.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, SCALAR_TOKENS, type ScalarName } from '../dtype/index.ts';

type AnyFunction = (...args: never[]) => unknown;

/** A complex number in kernels. */
interface Parts {
  readonly re: number;
  readonly im: number;
}

const real = (names: string): Record<string, AnyFunction> =>
  Object.fromEntries(
    names.split(' ').map((name) => [name, (Math as unknown as Record<string, AnyFunction>)[name] as AnyFunction]),
  );

/** By the names of methods. Functions of `Math` are themselves: kernels know them. */
export const FUNCTIONS: Readonly<Record<string, AnyFunction>> = {
  ...real('abs sqrt cbrt exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh'),
  ...real('floor ceil trunc sign pow atan2 hypot'),
  isNaN: Number.isNaN as AnyFunction,
  isFinite: Number.isFinite as AnyFunction,
  round: Math.round as AnyFunction,
  add: (a: number, b: number) => a + b,
  sub: (a: number, b: number) => a - b,
  mul: (a: number, b: number) => a * b,
  div: (a: number, b: number) => a / b,
  rem: (a: number, b: number) => a % b,
  mod: (a: number, b: number) => {
    const rest = a % b;
    return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  },
  minimum: (a: number, b: number) => Math.min(a, b),
  maximum: (a: number, b: number) => Math.max(a, b),
  clip: (a: number, low: number, high: number) => Math.min(Math.max(a, low), high),
  equal: (a: number, b: number) => a === b,
  notEqual: (a: number, b: number) => a !== b,
  less: (a: number, b: number) => a < b,
  lessEqual: (a: number, b: number) => a <= b,
  greater: (a: number, b: number) => a > b,
  greaterEqual: (a: number, b: number) => a >= b,
  logicalAnd: (a: number, b: number) => a !== 0 && b !== 0,
  logicalOr: (a: number, b: number) => a !== 0 || b !== 0,
  logicalNot: (a: number) => a === 0,
  where: (a: number, yes: number, no: number) => (a !== 0 ? yes : no),
  bitAnd: (a: number, b: number) => a & b,
  bitOr: (a: number, b: number) => a | b,
  bitXor: (a: number, b: number) => a ^ b,
  neg: (a: number) => -a,
  square: (a: number) => a * a,
  real: (a: Parts) => a.re,
  imag: (a: Parts) => a.im,
  // Inside: what reductions make of elements.
  flag: (a: number) => (a !== 0 ? 1 : 0),
  truth: (a: number) => a !== 0,
  // biome-ignore lint/suspicious/noSelfCompare: NaN, which is the smallest and the largest
  best: (a: number, b: number) => a === b || a !== a,
};

/** The same for operands that are bool, where it reads otherwise: they are compared with false. */
export const OF_BOOL: Readonly<Record<string, AnyFunction>> = {
  logicalNot: (a: boolean) => !a,
  where: (a: boolean, yes: number, no: number) => (a ? yes : no),
  flag: (a: boolean) => (a ? 1 : 0),
  truth: (a: boolean) => a,
};

/** Conversion to a dtype, of real numbers or complex ones. */
export function conversion(to: DType, from: DType): AnyFunction {
  const own = { token: to as unknown as (...args: readonly unknown[]) => never };
  if (to.kind !== 'c') return SCALAR_TOKENS[to.name as ScalarName] as unknown as AnyFunction;
  return from.kind === 'c'
    ? deviceFunction(
        ({ token }: typeof own) =>
          (z: Parts) =>
            token(z.re, z.im),
        own,
      )
    : deviceFunction(
        ({ token }: typeof own) =>
          (x: number) =>
            token(x, 0),
        own,
      );
}
