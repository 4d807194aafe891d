/**
 * `sort`, `argsort` and `sortByKey`.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { i32 } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import type { AllElements, AlongAxis } from './axis.ts';
import { sortedAlong } from './axis-sort.ts';
import { inputOf } from './input.ts';
import { placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { sortedInto } from './sort-arrays.ts';
import { argsorting, type Order, placeType, readOrder, sorting } from './sorting.ts';
import { outOf } from './transform.ts';
import type { ElementTypes, InKernels, Sequence } from './types.ts';

export type { Order } from './sorting.ts';

/** Options of `sort`. */
export interface SortOptions<T> extends Order<T> {
  /** A device array for the result; the array that is sorted, to sort in place. Default: a new one. */
  readonly out?: DeviceNDArray<never, number> | DeviceNDArray | undefined;
}

type Given<L extends boolean, T> = L extends true ? Promise<T> : T;
type Along = Pick<AlongAxis, 'axis'>;
type Whole = Pick<AllElements, 'axis'>;

/** Calls of `sort`: all elements along one axis, or with `axis` each line separately, in an array of the same shape. `L`: whether they give a promise. */
export interface SortCall<L extends boolean> {
  <const X extends Sequence>(
    x: X,
    options: SortOptions<InKernels<X>> & Along,
  ): Given<L, DeviceNDArray<ElementTypes<X>>>;
  <const X extends Sequence>(
    x: X,
    options?: SortOptions<InKernels<X>> & Whole,
  ): Given<L, DeviceNDArray<ElementTypes<X>, 1>>;
}

/** The type of `sort`. */
export interface Sort extends SortCall<false> {
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: SortCall<true>;
}

/**
 * The elements in order, as a device array: ascending unless `descending`, `key` or `compare` say otherwise. Stable: equal elements stay in the
 * order they came in. -0 goes before 0 and NaN last, as in `TypedArray.prototype.sort`, also in descending order; all NaNs come back with the same
 * bits. Numbers and keys are radix-sorted, in linear time; structs need `key` or `compare`. Does not wait. With `axis` each line along it is sorted separately,
 * and the result has the shape of `x`; else all elements, along one axis. Thrust: `sort`, `stable_sort`.
 *
 * @throws TypeError for elements without a natural order if there is neither `key` nor `compare`, and for an `out` of another dtype; RangeError for one of another length.
 * @example
 * import { sort } from 'tsamba/parallel';
 *
 * const x = Float32Array.of(3, NaN, -1, 2);
 * console.log(sort(x).copyToHost()); // Float32Array(4) [ -1, 2, 3, NaN ]
 * console.log(sort(x, { key: (v) => -v }).copyToHost()); // Float32Array(4) [ 3, 2, -1, NaN ]
 */
export const sort: Sort = /* @__PURE__ */ primitive('sort', (x: unknown, options: unknown) =>
  planSort('sort', x, options),
) as unknown as Sort;

/** `sort`, which is stable, under Thrust's name. */
export const stableSort: Sort = sort;

function planSort(name: string, x: unknown, options: unknown): Plan<DeviceNDArray> {
  const order = readOrder(name, options, ['out', 'axis']);
  const place = placeOf(name, [x, order.out], order.stream);
  return planned(place, () => {
    if (order.axis !== undefined) return sortedAlong(place, x, order, 'values');
    const input = inputOf(place, x, 'x');
    const steps: Step[] = [];
    const results = sortedInto(place, outOf(place, order.out), input.length, input.dtype, input.arrays);
    steps.push(...sorting(place, input, order, results.written));
    return { ...results, steps };
  });
}

/** Calls of `argsort`: the places among all elements, or with `axis` along each line. `L`: whether they give a promise. */
export interface ArgsortCall<L extends boolean> {
  <const X extends Sequence>(x: X, options: SortOptions<InKernels<X>> & Along): Given<L, DeviceNDArray<i32>>;
  <const X extends Sequence>(x: X, options?: SortOptions<InKernels<X>> & Whole): Given<L, DeviceNDArray<i32, 1>>;
}

/** The type of `argsort`. */
export interface Argsort extends ArgsortCall<false> {
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: ArgsortCall<true>;
}

/**
 * The indices that would sort the elements: `x[at[0]]` is the first one. i32, and u32 beyond 2³¹ elements. With `axis`: where along it. Options as for `sort`. NumPy: `argsort(kind='stable')`.
 *
 * @example
 * import { argsort } from 'tsamba/parallel';
 *
 * console.log(argsort(Float32Array.of(3, 1, 2)).copyToHost()); // Int32Array(3) [ 1, 2, 0 ]
 */
export const argsort: Argsort = /* @__PURE__ */ primitive('argsort', planArgsort) as unknown as Argsort;

function planArgsort(x: unknown, options: unknown): Plan<DeviceNDArray> {
  const order = readOrder('argsort', options, ['out', 'axis']);
  const place = placeOf('argsort', [x, order.out], order.stream);
  return planned(place, () => {
    if (order.axis !== undefined) return sortedAlong(place, x, order, 'places');
    const input = inputOf(place, x, 'x');
    const results = sortedInto(place, outOf(place, order.out), input.length, placeType(input.length), []);
    return { ...results, steps: argsorting(place, input, order, results.written) };
  });
}
