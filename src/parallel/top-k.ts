/**
 * `topK`: the greatest elements, or the least, with their places.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import type { DType, i32 } from '../dtype/index.ts';
import { TsambaRangeError } from '../errors.ts';
import type { Step } from '../kernel/steps.ts';
import { show } from '../show.ts';
import type { Workplace } from '../ufunc/operands.ts';
import { inputOf } from './input.ts';
import { remember } from './memo.ts';
import { jitOn, placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { copyOf } from './radix-counts.ts';
import { contiguous } from './sort-arrays.ts';
import { argsorting, gathering, type Order, placeType, readOrder } from './sorting.ts';
import type { ElementTypes, InKernels, Sequence } from './types.ts';

/** Options of `topK`. */
export interface TopKOptions<T> extends Order<T> {
  /** The greatest first; false for the least first. Default: true. */
  readonly descending?: boolean | undefined;
}

/** The result of `topK`. */
export interface Top<T> {
  /** The elements, in order. */
  readonly values: DeviceNDArray<T, 1>;
  /** Where they are: i32, and u32 beyond 2³¹ elements. */
  readonly indices: DeviceNDArray<i32, 1>;
}

/** The type of `topK`. */
export interface TopK {
  <const X extends Sequence>(x: X, k: number, options?: TopKOptions<InKernels<X>>): Top<ElementTypes<X>>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(
    x: X,
    k: number,
    options?: TopKOptions<InKernels<X>>,
  ) => Promise<Top<ElementTypes<X>>>;
}

/**
 * The `k` largest elements in descending order, or with `descending: false` the smallest in ascending order, and their indices. Of equal elements,
 * the first ones. NaN comes after all numbers in both. Fewer than `k` if there are fewer elements. Options as for `sort`. CUB: `DeviceTopK`.
 *
 * @throws RangeError for a `k` that is not a non-negative integer.
 * @example
 * import { topK } from 'tsamba/parallel';
 *
 * const { values, indices } = topK(Float32Array.of(3, 9, 2, 7), 2);
 * console.log(values.copyToHost(), indices.copyToHost()); // Float32Array(2) [ 9, 7 ] Int32Array(2) [ 1, 3 ]
 */
export const topK: TopK = /* @__PURE__ */ primitive('topK', planTopK) as unknown as TopK;

function planTopK(x: unknown, k: unknown, options: unknown): Plan<Top<unknown>> {
  const read = readOrder('topK', options, []);
  const asked = (options as { readonly descending?: unknown } | undefined)?.descending;
  const order = { ...read, descending: asked === undefined ? true : read.descending };
  if (!Number.isSafeInteger(k) || (k as number) < 0) {
    throw new TsambaRangeError('E_PARALLEL', `topK: k must be 0 or a positive integer, got ${show(k)}`);
  }
  const place = placeOf('topK', [x], order.stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const count = Math.min(k as number, input.length);
    const type = placeType(input.length);
    const make = (dtype: DType): DeviceNDArray =>
      place.own(newArray(place.context, count, dtype, { stream: place.stream }));
    const [values, indices] = [make(input.dtype), make(type)];
    const steps: Step[] = [];
    if (count > 0) {
      const all = place.temporary([input.length], type);
      steps.push(...argsorting(place, input, order, all));
      const first = place.view(all, [count], [all.itemSize]);
      steps.push(...copying(place, first, indices));
      steps.push(...gathering(place, contiguous(place, input, steps), indices, values));
    }
    return { steps, results: [values, indices], give: () => ({ values: values as never, indices: indices as never }) };
  });
}

function copying(place: Workplace, from: DeviceNDArray, to: DeviceNDArray): Step[] {
  const jit = jitOn(place.context);
  const kernel = remember(['copy', jit, to.dtype.name], () => copyOf(jit)) as unknown as Step['kernel'];
  const grid = Math.min(4096, Math.ceil(to.size / 256));
  return [{ kernel, shape: { grid, block: 256, stream: place.stream }, args: [from, to] }];
}
