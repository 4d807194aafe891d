/**
 * What a function gives for arguments of some types: the dtype of the array that its results go to.
 */
import type { ArgType, CompileOptions } from '../compiler/contract.ts';
import { captureFunction, resultTypes } from '../compiler/front.ts';
import { intrinsic } from '../compiler/intrinsics.ts';
import { c64, c128, type DType, SCALAR_TOKENS } from '../dtype/index.ts';
import type { UserFunction } from './user-function.ts';

const OPTIONS: Omit<CompileOptions, 'name'> = {
  checked: false,
  contract: false,
  fastMath: false,
  debug: false,
  defaultFloat: 'f64',
  indexBits: 32,
};

const takeResult = /* @__PURE__ */ intrinsic<(value: unknown) => void>('takeResult');

/** The dtype of what a function gives: numbers as they are in expressions; undefined where it is not a number. Throws KernelError. */
export function resultTypeOf({ fn, name }: UserFunction, args: readonly ArgType[]): DType | undefined {
  const captures = { takeResult, op: fn };
  const probe =
    ({ takeResult, op }: typeof captures) =>
    (...given: never[]): void =>
      takeResult(op(...given));
  const types = resultTypes(captureFunction(probe, { captures, name }), args, { ...OPTIONS, name });
  const [first, second] = types;
  if (first === undefined) return undefined;
  if (second !== undefined) return first === 'f32' ? c64 : c128;
  return SCALAR_TOKENS[first];
}
