/**
 * `sortByKey`: values in the order of keys that stand beside them.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { DType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Step } from '../kernel/steps.ts';
import { isPlainObject, readOptions } from '../options.ts';
import { show } from '../show.ts';
import { inputOf } from './input.ts';
import { placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { contiguous, sortedInto } from './sort-arrays.ts';
import { alongKeys, argsorting, gathering, type Order, placeType, readOrder } from './sorting.ts';
import { outOf } from './transform.ts';
import type { Elements, InKernels, Sequence } from './types.ts';

/** Options of `sortByKey`. */
export interface SortByKeyOptions<T> extends Order<T> {
  /** Device arrays for the results; the arrays that are sorted, to sort in place. Default: new ones. */
  readonly out?:
    | {
        /** For the keys in order. */
        readonly keys?: DeviceNDArray<never, number> | DeviceNDArray | undefined;
        /** For the values in the order of the keys. */
        readonly values?: DeviceNDArray<never, number> | DeviceNDArray | undefined;
      }
    | undefined;
}

/** Keys in their order, and the values that stood beside them. */
export interface Sorted<K, V> {
  /** The keys in order. */
  readonly keys: DeviceNDArray<K, 1>;
  /** The values in the order of the keys. */
  readonly values: DeviceNDArray<V, 1>;
}

/** The type of `sortByKey`. */
export interface SortByKey {
  <const K extends Sequence, const V extends Sequence>(
    keys: K,
    values: V,
    options?: SortByKeyOptions<InKernels<K>>,
  ): Sorted<Elements<K>, Elements<V>>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const K extends Sequence, const V extends Sequence>(
    keys: K,
    values: V,
    options?: SortByKeyOptions<InKernels<K>>,
  ) => Promise<Sorted<Elements<K>, Elements<V>>>;
}

/**
 * Sorts keys, and values of any type along with them: `{ keys, values }`. Stable; options and order as for `sort`. Does not wait. Thrust: `sort_by_key`.
 *
 * @throws RangeError if there are not as many keys as values.
 * @example
 * import { sortByKey } from 'tsamba/parallel';
 *
 * const { keys, values } = sortByKey(Float32Array.of(3, 1, 2), Int32Array.of(30, 10, 20));
 * console.log(keys.copyToHost(), values.copyToHost()); // Float32Array(3) [ 1, 2, 3 ] Int32Array(3) [ 10, 20, 30 ]
 */
export const sortByKey: SortByKey = /* @__PURE__ */ primitive('sortByKey', planSortByKey) as unknown as SortByKey;

function planSortByKey(k: unknown, v: unknown, options: unknown): Plan<Sorted<unknown, unknown>> {
  const order = readOrder('sortByKey', options, ['out']);
  const out = outsOf(order.out);
  const place = placeOf('sortByKey', [k, v, out.keys, out.values], order.stream);
  return planned(place, () => {
    const keys = inputOf(place, k, 'keys');
    const values = inputOf(place, v, 'values');
    if (keys.length !== values.length) {
      throw new TsambaRangeError(
        'E_PARALLEL',
        `sortByKey: there are ${keys.length} keys and ${values.length} values: there must be a value for each key`,
      );
    }
    const steps: Step[] = [];
    const toKeys = sortedInto(place, outOf(place, out.keys), keys.length, keys.dtype, keys.arrays);
    const toValues = sortedInto(place, outOf(place, out.values), values.length, values.dtype, values.arrays);
    const fromValues = contiguous(place, values, steps);
    if (order.key === undefined && order.compare === undefined) {
      const fromKeys = contiguous(place, keys, steps);
      const { written } = toKeys;
      steps.push(...alongKeys(place, fromKeys, written, fromValues, toValues.written, order.descending));
    } else {
      const places = place.temporary([keys.length], placeType(keys.length) as DType);
      steps.push(...argsorting(place, keys, order, places));
      steps.push(...gathering(place, contiguous(place, keys, steps), places, toKeys.written));
      steps.push(...gathering(place, fromValues, places, toValues.written));
    }
    const after = (): void => {
      toKeys.after?.();
      toValues.after?.();
    };
    const results = [...(toKeys.results ?? []), ...(toValues.results ?? [])];
    return { steps, after, results, give: () => ({ keys: toKeys.give() as never, values: toValues.give() as never }) };
  });
}

function outsOf(out: unknown): { readonly keys?: unknown; readonly values?: unknown } {
  if (out === undefined || out === null) return {};
  if (isPlainObject(out)) {
    const own = readOptions('out of sortByKey', out as { keys?: unknown; values?: unknown }, ['keys', 'values']);
    if (own.keys === undefined || own.keys !== own.values) return own;
    throw new TsambaTypeError('E_PARALLEL', 'sortByKey: keys and values need separate arrays');
  }
  throw new TsambaTypeError('E_PARALLEL', `sortByKey: out must be { keys, values }, got ${show(out)}`);
}
