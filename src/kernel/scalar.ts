/**
 * Scalar arguments: `cuda.scalar(dtype, x)`, and the check that a value fits the type that it has in a kernel.
 *
 * Numba wraps and truncates silently here. Tsamba never does: a value that its type cannot hold is an error at the launch,
 * naming the argument. Rounding a number to a narrower float is no error.
 */
import { hostOnly } from '../compiler/intrinsics.ts';
import { type ElemType, isFloat, type ValueType } from '../compiler/ir/ops.ts';
import {
  asDType,
  type Complex,
  type ComplexName,
  c64,
  c128,
  countOf,
  type DateLike,
  type DType,
  type DTypeLike,
  datetime64,
  elemOf,
  integerRange,
  isTimeDType,
  isVectorDType,
  type Plain,
  SCALAR_TOKENS,
  type TimeToken,
  type ValueOf,
  type VectorParts,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

/** What a scalar argument is by the time it goes to the driver. */
export type ScalarValue = number | bigint | boolean;

const SCALAR: unique symbol = Symbol.for('tsamba.scalar') as never;

/** A kernel argument whose type has been decided by the caller. Created by `cuda.scalar`. */
export interface ScalarArgument<T = unknown> {
  readonly [SCALAR]: ElemType | ComplexName | 'time' | 'vector';
  /** The type that the caller has stated. */
  readonly dtype: DType<T>;
  /** The value. */
  readonly value: Plain<T>;
}

function typed<const D extends DTypeLike>(
  dtype: D,
  x: number | bigint | boolean | Complex | VectorParts | DateLike,
): ScalarArgument<ValueOf<D>> {
  const type = asDType(dtype);
  if (type.kind === 'c') {
    const value = Object.freeze((type.name === 'c64' ? c64 : c128)(x as Complex));
    return Object.freeze({ [SCALAR]: type.name as ComplexName, dtype: type, value: value as Plain<ValueOf<D>> });
  }
  if (isVectorDType(type)) {
    const value = type(x as VectorParts) as Plain<ValueOf<D>>;
    return Object.freeze({ [SCALAR]: 'vector', dtype: type as DType<ValueOf<D>>, value });
  }
  if (isTimeDType(type)) {
    const count = countOf(type, x);
    return Object.freeze({ [SCALAR]: 'time', dtype: type as DType<ValueOf<D>>, value: count as Plain<ValueOf<D>> });
  }
  const elem = elemOf(type);
  const value = checkScalar(x, elem, (wanted) => `cuda.scalar(${elem}, ${show(x)}): ${wanted}`);
  return Object.freeze({ [SCALAR]: elem, dtype: type, value: value as Plain<ValueOf<D>> });
}

/**
 * A kernel argument with an explicit type: `cuda.scalar(f32, 2)`, `cuda.scalar(c64, { re: 0, im: 1 })`, `cuda.scalar(timedelta64('s'), 90n)`. Without it, the type of a number is inferred from its uses in the kernel.
 * Throws TypeError or RangeError when `x` is not a value of the type. Numba: a NumPy scalar such as `np.float32(2)`.
 * @example
 * const y = new Float32Array(1);
 * cuda.jit((y: Vec<f32>, k: f32) => { y[0] = k / 2; }).launch({ grid: 1, block: 1 }, y, cuda.scalar(f32, 3));
 * console.log(y[0]); // 1.5
 */
export const scalar: typeof typed = /* @__PURE__ */ hostOnly('cuda.scalar', typed);

/** The element type of a `cuda.scalar`, or undefined when the value is none. */
export function scalarType(value: object): ElemType | undefined {
  const type = (value as { [SCALAR]?: ElemType | ComplexName | 'time' | 'vector' })[SCALAR];
  return type === 'c64' || type === 'c128' || type === 'time' || type === 'vector' ? undefined : type;
}

/** A date or duration as an argument: a `Date`, in milliseconds, or a `cuda.scalar` of one; undefined for all else. */
export function timeScalar(value: object): { readonly count: bigint; readonly type: TimeToken } | undefined {
  if (value instanceof Date) return { count: countOf(MILLISECONDS, value), type: MILLISECONDS };
  if ((value as { [SCALAR]?: unknown })[SCALAR] !== 'time') return undefined;
  const { dtype, value: count } = value as { readonly dtype: TimeToken; readonly value: bigint };
  return { count, type: dtype };
}

/** The vector in a `cuda.scalar(f32x4, v)`; undefined for all else. */
export function vectorScalar(value: object): object | undefined {
  return (value as { [SCALAR]?: unknown })[SCALAR] === 'vector'
    ? (value as { readonly value: object }).value
    : undefined;
}

const MILLISECONDS = datetime64('ms') as TimeToken;

/** The number in a `cuda.scalar(c64, z)`, and the type of its parts; undefined when the value is none. */
export function complexScalar(value: object): { readonly value: Complex; readonly part: 'f32' | 'f64' } | undefined {
  const type = (value as { [SCALAR]?: ElemType | ComplexName | 'time' | 'vector' })[SCALAR];
  if (type !== 'c64' && type !== 'c128') return undefined;
  return { value: (value as { value: Complex }).value, part: type === 'c64' ? 'f32' : 'f64' };
}

/**
 * `value` as an argument of type `elem`, or an error: TypeError for the wrong kind or a fraction, RangeError when it is out of
 * range. `say` makes the message from what is wrong.
 */
export function checkScalar(value: unknown, elem: ElemType, say: (wrong: string) => string): ScalarValue {
  switch (elem) {
    case 'bool':
      if (typeof value !== 'boolean') throw wrongKind(say, value, 'true or false');
      return value;
    case 'i64':
    case 'u64':
      return checkLong(value, elem, say);
    default:
      return isFloat(elem) ? checkFloat(value, elem, say) : checkInteger(value, elem, say);
  }
}

function checkFloat(value: unknown, elem: ElemType, say: (wrong: string) => string): number {
  if (typeof value === 'number') return SCALAR_TOKENS[elem](value) as number;
  throw wrongKind(say, value, typeof value === 'bigint' ? `a number: write Number(${value})` : 'a number');
}

function checkInteger(value: unknown, elem: ElemType, say: (wrong: string) => string): number {
  if (typeof value === 'bigint') throw wrongKind(say, value, `a number: write Number(${value})`);
  if (typeof value !== 'number') throw wrongKind(say, value, 'a number');
  if (!Number.isInteger(value)) {
    throw new TsambaTypeError('E_ARGUMENT_INTEGER', say(`${show(value)} is not an integer`));
  }
  const [low, high] = integerRange(elem) ?? [0, 0];
  if (value < low || value > high) {
    throw new TsambaRangeError('E_ARGUMENT_RANGE', say(`${value} is out of range, which is ${low} to ${high}`));
  }
  return value + 0;
}

function checkLong(value: unknown, elem: 'i64' | 'u64', say: (wrong: string) => string): number | bigint {
  if (typeof value === 'bigint') {
    const wrapped = elem === 'i64' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
    if (wrapped === value) return value;
    const range = elem === 'i64' ? '-2^63 to 2^63 - 1' : '0 to 2^64 - 1';
    throw new TsambaRangeError('E_ARGUMENT_RANGE', say(`${value}n is out of range, which is ${range}`));
  }
  if (typeof value !== 'number') throw wrongKind(say, value, 'a bigint or a whole number');
  if (!Number.isInteger(value)) {
    throw new TsambaTypeError('E_ARGUMENT_INTEGER', say(`${show(value)} is not an integer`));
  }
  if (!Number.isSafeInteger(value)) {
    throw new TsambaRangeError(
      'E_ARGUMENT_RANGE',
      say(`${value} is beyond 2^53, where numbers are not exact: pass a bigint`),
    );
  }
  if (elem === 'u64' && value < 0) {
    throw new TsambaRangeError('E_ARGUMENT_RANGE', say(`${value} is out of range, which is 0 to 2^64 - 1`));
  }
  return value;
}

function wrongKind(say: (wrong: string) => string, value: unknown, wanted: string): TsambaTypeError {
  return new TsambaTypeError('E_ARGUMENT_TYPE', say(`${show(value)} is not ${wanted}`));
}

/**
 * Whether `value` can be handed to a parameter of this type as it is: the test of the launch's fast path, which must not
 * allocate. False is no error yet; `checkScalar` says whether it is one.
 */
export function fits(value: unknown, type: ValueType): boolean {
  switch (type) {
    case 'f32':
    case 'f64':
      return typeof value === 'number';
    case 'i32':
      return typeof value === 'number' && (value | 0) === value;
    case 'u32':
      return typeof value === 'number' && value >>> 0 === value;
    case 'bool':
      return typeof value === 'boolean';
    case 'i64':
      return typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);
    case 'u64':
      return typeof value === 'bigint'
        ? BigInt.asUintN(64, value) === value
        : typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  }
}
