/**
 * `segmentedSort`: many stretches of one array, each sorted by itself.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { inputOf } from './input.ts';
import { offsetsOf } from './offsets.ts';
import { placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { sortingSegments } from './segment-sorting.ts';
import type { SortOptions } from './sort.ts';
import { sortedInto } from './sort-arrays.ts';
import { readOrder } from './sorting.ts';
import { outOf } from './transform.ts';
import type { Elements, InKernels, Sequence } from './types.ts';

/** The type of `segmentedSort`. */
export interface SegmentedSort {
  <const X extends Sequence>(
    x: X,
    offsets: Sequence,
    options?: SortOptions<InKernels<X>>,
  ): DeviceNDArray<Elements<X>, 1>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(
    x: X,
    offsets: Sequence,
    options?: SortOptions<InKernels<X>>,
  ) => Promise<DeviceNDArray<Elements<X>, 1>>;
}

/**
 * Sorts the elements from `offsets[s]` up to `offsets[s + 1]` of each segment `s` by themselves. `offsets` are integers that do not fall, one more than there
 * are segments; segments may be empty, and elements before the first and behind the last one stay as they are. Stable; options and order as for `sort`.
 * CUB: `DeviceSegmentedSort`.
 *
 * @throws TypeError for offsets that are not integers.
 * @example
 * import { segmentedSort } from 'tsamba/parallel';
 *
 * const x = Float32Array.of(3, 1, 2, 9, 7, 8);
 * console.log(segmentedSort(x, Int32Array.of(0, 3, 6)).copyToHost()); // Float32Array(6) [ 1, 2, 3, 7, 8, 9 ]
 */
export const segmentedSort: SegmentedSort = /* @__PURE__ */ primitive(
  'segmentedSort',
  planSegmentedSort,
) as unknown as SegmentedSort;

function planSegmentedSort(x: unknown, offsets: unknown, options: unknown): Plan<DeviceNDArray> {
  const order = readOrder('segmentedSort', options, ['out']);
  const place = placeOf('segmentedSort', [x, offsets, order.out], order.stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const results = sortedInto(place, outOf(place, order.out), input.length, input.dtype, input.arrays);
    return {
      ...results,
      steps: sortingSegments(place, input, offsetsOf(place, offsets, input.length), order, results.written),
    };
  });
}
