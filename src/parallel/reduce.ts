/**
 * `reduce` and `reduceInto`: all elements combined into one value.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceOf, isBorrowed } from '../array/device-create.ts';
import {
  asDType,
  type DType,
  type DTypeLike,
  type i8,
  type i16,
  type i32,
  type i64,
  type u8,
  type u16,
  type u32,
  type u64,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { type AllElements, type AlongAxes, axesIn, madeFlat, withoutAxis } from './axis.ts';
import { reducingLines } from './axis-reduce.ts';
import { arrayInput, type Input, inputOf, raveled } from './input.ts';
import { type Operator, operatorOf } from './operator.ts';
import { placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { initOf, withoutElements } from './reduce-values.ts';
import { reducing } from './reducing.ts';
import type { Elements, ElementTypes, OnStream, OperatorLike, Sequence } from './types.ts';

/** Options of `reduce`. */
export interface ReduceOptions<T> extends OnStream {
  /** A value that is combined with all elements, once, before them. Without elements it is the result. */
  readonly init?: T | undefined;
  /** What to compute in, such as `f64` for sums of f32. Default: integers of up to 32 bits exactly, for `'sum'` and `'prod'`; else the type of the elements. */
  readonly dtype?: DTypeLike | undefined;
  /** The same bits every time. It always is so on one device: the order depends on the number of elements alone. */
  readonly deterministic?: boolean | undefined;
}

/** What `reduce` is: `L`, whether it gives a promise. */
export interface ReduceCall<L extends boolean> {
  <const X extends Sequence, const O extends OperatorLike<Elements<X>>>(
    x: X,
    op: O,
    options: ReduceOptions<Elements<X>> & AlongAxes,
  ): Given<L, DeviceNDArray<Reduced<X, O>>>;
  <const X extends Sequence>(
    x: X,
    op: OperatorLike<Elements<X>>,
    options?: ReduceOptions<Elements<X>> & AllElements,
  ): Given<L, Elements<X>>;
}
/** Sums and products of integers have 64 bits. */
type Reduced<X, O> = O extends 'sum' | 'prod'
  ? ElementTypes<X> extends i8 | i16 | i32
    ? i64
    : ElementTypes<X> extends u8 | u16 | u32
      ? u64
      : ElementTypes<X>
  : ElementTypes<X>;
type Given<L extends boolean, T> = L extends true ? Promise<T> : T;

/** The result of `reduce`. */
export interface Reduce extends ReduceCall<false> {
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: ReduceCall<true>;
}

const OPTIONS = ['init', 'dtype', 'deterministic', 'axis', 'keepDims', 'out', 'stream'] as const;
interface Own {
  readonly axis?: number | readonly number[] | undefined;
  readonly keepDims?: boolean | undefined;
  readonly out?: unknown;
  readonly init?: unknown;
  readonly dtype?: DTypeLike | undefined;
  readonly stream?: StreamLike;
}

/**
 * Combines all elements into one value, and waits for it. `op` is `'sum'`, `'prod'`, `'min'`, `'max'`, or an associative and commutative function of two
 * elements, structs included. Sums and products of integers of up to 32 bits are exact up to 2⁵³. Arrays may have any layout.
 *
 * With `axis`, reduces each line along it, or along several axes: the result is a device array with the other axes (`keepDims`: all axes, these with
 * length 1), new or `out`, and nothing waits. Sums of integers are i64 or u64 then. NumPy: `sum(axis=…, out=…)`.
 *
 * @throws RangeError if there are no elements and neither `init` nor an operator with an identity; KernelError for a function that does not compile.
 * @example
 * import { reduce } from 'tsamba/parallel';
 *
 * const x = Float32Array.of(3, 1, 2);
 * console.log(reduce(x, 'sum'), reduce(x, (a, b) => Math.max(a, b))); // 6 3
 */
export const reduce: Reduce = /* @__PURE__ */ primitive('reduce', planReduce) as unknown as Reduce;

function planReduce(x: unknown, op: unknown, options: unknown): Plan<unknown> {
  const own: Own = readOptions('reduce', options, OPTIONS);
  const place = placeOf('reduce', [x, own.out], own.stream);
  return planned(place, () => {
    if (own.axis === undefined) withoutAxis(place, own);
    const lines = own.axis === undefined ? undefined : axesIn(place, x, own);
    const input = lines === undefined ? inputOf(place, x, 'x') : arrayInput(raveled(place, lines.array));
    const operator = operatorOf(place, op, input.dtype, optionsOf(own));
    const type = resultType(operator, input, own);
    if (lines !== undefined) {
      const { made, flat, ...rest } = madeFlat(place, lines.shape, type, own.out, lines.array);
      const steps = reducingLines(place, operator, input, lines, flat, own.init);
      return { ...rest, steps, give: () => made };
    }
    const counts = type !== input.dtype && type.itemSize === 8 && 'iu'.includes(type.kind);
    const give = (value: unknown): unknown => (counts ? Number(value) : value);
    if (input.length === 0) {
      const value = withoutElements(place, operator, own.init);
      return { steps: [], give: () => give(value) };
    }
    const result = place.temporary([1], type);
    const steps = reducing(place, operator, input, result, initOf(own.init, operator.type));
    return { steps, reads: [result], give };
  });
}

/** Options of `reduceInto`. */
export type ReduceIntoOptions<T> = Pick<ReduceOptions<T>, 'init' | 'deterministic' | 'stream'>;

/** Calls of `reduceInto` that give `R`. */
export type ReduceIntoCall<R> = <const X extends Sequence>(
  x: X,
  op: OperatorLike<Elements<X>>,
  out: DeviceNDArray | DeviceNDArray<never>,
  options?: ReduceIntoOptions<Elements<X>>,
) => R;

/** The type of `reduceInto`. */
export type ReduceInto = ReduceIntoCall<void> & { readonly async: ReduceIntoCall<Promise<void>> };

/**
 * As `reduce`, but stores the value in the first element of a device array, in its type; does not wait.
 *
 * @example
 * import { cuda } from 'tsamba';
 * import { counting, reduceInto } from 'tsamba/parallel';
 *
 * const total = cuda.deviceArray(1, 'float64');
 * reduceInto(counting(101), 'sum', total);
 * console.log(total.get(0)); // 5050
 */
export const reduceInto: ReduceInto = /* @__PURE__ */ primitive('reduceInto', planInto) as unknown as ReduceInto;

function planInto(x: unknown, op: unknown, out: unknown, options: unknown): Plan<void> {
  const own: Own = readOptions('reduceInto', options, ['init', 'deterministic', 'stream']);
  const place = placeOf('reduceInto', [x, out], own.stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const target = targetOf(place, out);
    const operator = operatorOf(place, op, input.dtype, { exact: true });
    const give = (): void => undefined;
    if (input.length > 0) {
      return { steps: reducing(place, operator, input, target, initOf(own.init, operator.type)), give };
    }
    const value = withoutElements(place, operator, own.init);
    const big = 'iu'.includes(target.dtype.kind) && target.itemSize === 8;
    target.set((big ? BigInt(value as number) : typeof value === 'bigint' ? Number(value) : value) as never);
    return { steps: [], give };
  });
}

function targetOf(place: Workplace, out: unknown): DeviceNDArray {
  const there = deviceOf(out, place.context);
  if (there === undefined) {
    throw new TsambaTypeError('E_PARALLEL', `${place.name}: out must be a device array, got ${show(out)}`);
  }
  if (isBorrowed(there, out as object)) place.own(there);
  there.checkUsable();
  if (there.size === 0) throw new TsambaRangeError('E_PARALLEL', `${place.name}: out has no elements`);
  return place.view(there, [1], [there.itemSize]);
}

const optionsOf = ({ dtype }: Own): { exact: true; dtype: DType | undefined } => ({
  exact: true,
  dtype: dtype === undefined ? undefined : asDType(dtype),
});

/** Narrow integers and floats are stored as what the elements are, unless another type was asked for, or sums need a wider one. */
function resultType({ type, identity }: Operator, { dtype }: Input, own: Own): DType {
  if (own.dtype !== undefined || (identity !== undefined && type.itemSize === 8)) return type;
  return dtype;
}
