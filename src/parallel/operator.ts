/**
 * Operators of two values: a name such as `'sum'`, or a function of the user.
 */
import {
  type Complex,
  type DType,
  describeDType,
  f32,
  i32,
  i64,
  integerRange,
  rowOf,
  SCALAR_TOKENS,
  type ScalarName,
  u32,
  u64,
} from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { userFunction } from '../kernel/user-function.ts';
import { show } from '../show.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { canonical } from './canonical.ts';

/** Operators that have a name. */
export type OperatorName = 'sum' | 'prod' | 'min' | 'max';

/** A value of whatever type: kernels are compiled for each. */
export type Value = never;

/** What combines two values, and in which type. */
export interface Operator {
  /** The same object for operators that are the same: a key of `remember`. */
  readonly op: (a: Value, b: Value) => Value;
  /** The type it computes in. What is read of an array goes through `cast` first. */
  readonly type: DType;
  /** Brings an element, and what the operator gives, to `type`. Of structs a copy, which does not change with the element. */
  readonly cast: (value: Value) => Value;
  /** What changes nothing, of operators with a name. */
  readonly identity: number | bigint | boolean | Complex | undefined;
  /** Of kernels, in messages. */
  readonly name: string;
  /** Whether the order of its values does not matter; unknown of functions. */
  readonly commutative: boolean;
}

/** How the type is chosen. */
export interface OperatorOptions {
  /** Sums and products of integers of up to 32 bits are computed in 64. */
  readonly exact?: boolean | undefined;
  /** The type to compute in, whatever else would be. */
  readonly dtype?: DType | undefined;
}

type AnyOperator = (a: unknown, b: unknown) => unknown;
const add = ((a: number, b: number) => a + b) as AnyOperator;
const multiply = ((a: number, b: number) => a * b) as AnyOperator;
// Of floats: NaN if one is, -0 before 0.
const leastFloat = ((a: number, b: number) => Math.min(a, b)) as AnyOperator;
const greatestFloat = ((a: number, b: number) => Math.max(a, b)) as AnyOperator;
// biome-ignore lint/complexity/useMathMinMax: bigints are compared, too
const least = ((a: number, b: number) => (b < a ? b : a)) as AnyOperator;
// biome-ignore lint/complexity/useMathMinMax: as above
const greatest = ((a: number, b: number) => (b > a ? b : a)) as AnyOperator;
const both = ((a: boolean, b: boolean) => a && b) as AnyOperator;
const either = ((a: boolean, b: boolean) => a || b) as AnyOperator;

/** By kind of number: booleans, integers, floats, complex numbers. */
const NAMED: Readonly<Record<OperatorName, Readonly<Record<'b' | 'i' | 'f' | 'c', AnyOperator | undefined>>>> = {
  sum: { b: add, i: add, f: add, c: add },
  prod: { b: multiply, i: multiply, f: multiply, c: multiply },
  min: { b: both, i: least, f: leastFloat, c: undefined },
  max: { b: either, i: greatest, f: greatestFloat, c: undefined },
};

const NAMES = "'sum', 'prod', 'min', 'max'";

/** The operator for elements of a dtype. Throws TypeError for what is none, or has no meaning for the elements. */
export function operatorOf(
  { name: call }: Workplace,
  given: unknown,
  dtype: DType,
  options: OperatorOptions = {},
): Operator {
  if (typeof given === 'string') return named(call, given, dtype, options);
  if (typeof given !== 'function') {
    throw new TsambaTypeError(
      'E_PARALLEL',
      `${call} takes an operator, ${NAMES}, or a function of two values, got ${show(given)}`,
    );
  }
  const { fn, name } = userFunction(call, given, {});
  const type = options.dtype ?? widened(dtype);
  const op = canonical(fn) as Operator['op'];
  return { op, type, cast: castTo(type), identity: undefined, name, commutative: false };
}

function named(call: string, given: string, dtype: DType, options: OperatorOptions): Operator {
  if (!Object.hasOwn(NAMED, given)) {
    throw new TsambaTypeError(
      'E_PARALLEL',
      `${call} has no operator ${show(given)}: it takes ${NAMES}, or a function of two values`,
    );
  }
  const name = given as OperatorName;
  const type = options.dtype ?? typeOf(name, dtype, options.exact ?? false);
  const kind = kindOf(type);
  const op = kind && NAMED[name][kind];
  if (op === undefined) {
    throw new TsambaTypeError(
      'E_PARALLEL',
      `${call}: '${name}' is not defined for elements of ${describeDType(dtype)}: pass a function of two of them`,
    );
  }
  const identity = identityOf(name, type);
  return { op: op as unknown as Operator['op'], type, cast: castTo(type), identity, name, commutative: true };
}

/** What an operator with a name computes in. */
function typeOf(name: OperatorName, dtype: DType, exact: boolean): DType {
  const counts = (name === 'sum' || name === 'prod') && 'biu'.includes(dtype.kind) && dtype.fields === undefined;
  if (!counts) return widened(dtype);
  const signed = dtype.kind !== 'u';
  if (exact) return signed ? i64 : u64;
  return dtype.itemSize > 2 ? dtype : signed ? i32 : u32;
}

/** Narrow numbers are what they are in expressions: sums of bytes wrap once, at the end, and those of f16 are rounded once. */
export function widened(dtype: DType): DType {
  if (dtype.fields !== undefined || !'iuf'.includes(dtype.kind) || dtype.itemSize > 2) return dtype;
  return dtype.kind === 'f' || rowOf(dtype.name as ScalarName).value === 'f32' ? f32 : i32;
}

function kindOf({ kind, fields }: DType): 'b' | 'i' | 'f' | 'c' | undefined {
  if (kind === 'c') return 'c';
  if (fields !== undefined) return undefined;
  return kind === 'u' ? 'i' : kind === 'b' || kind === 'i' || kind === 'f' ? kind : undefined;
}

const asIs: Operator['cast'] = (value) => value;
const copied: Operator['cast'] = (value) => ({ ...(value as object) }) as never;

/** Brings a value to a type in kernels; structs are copied, so that they do not change with the element. */
export function castTo(type: DType): Operator['cast'] {
  if (type.kind === 'c' || type.kind === 'b') return asIs;
  if (type.fields !== undefined) return copied;
  return (SCALAR_TOKENS[type.name as ScalarName] as unknown as Operator['cast'] | undefined) ?? asIs;
}

function identityOf(name: OperatorName, type: DType): Operator['identity'] {
  const { kind, itemSize } = type;
  const big = (kind === 'i' || kind === 'u') && itemSize === 8;
  if (name === 'sum' || name === 'prod') {
    const value = name === 'sum' ? 0 : 1;
    return kind === 'c' ? { re: value, im: 0 } : big ? BigInt(value) : value;
  }
  const isLeast = name === 'min';
  if (kind === 'b') return isLeast;
  if (big) return kind === 'u' ? (isLeast ? 2n ** 64n - 1n : 0n) : isLeast ? 2n ** 63n - 1n : -(2n ** 63n);
  const infinite = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
  return (integerRange(type.name as ScalarName) ?? infinite)[isLeast ? 1 : 0];
}
